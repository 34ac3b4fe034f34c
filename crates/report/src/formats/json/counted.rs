//! Unit that was counted, and figures that only transactions have.

use serde::Serialize;

use super::{microseconds, thousandths};
use crate::figures::Figures;
use crate::transactions::{Late, Tries};

#[derive(Serialize)]
pub(super) struct Counted {
    unit: &'static str,
    ok_per_s: Option<f64>,
    tries: Option<TriesObject>,
    late: Option<LateObject>,
}

#[derive(Serialize)]
struct TriesObject {
    retried: u64,
    retries: u64,
    most: u16,
}

#[derive(Serialize)]
struct LateObject {
    limit_us: f64,
    count: u64,
}

impl Counted {
    pub(super) fn of(figures: &Figures) -> Self {
        let tries = |Tries { retried, retries, most, .. }| TriesObject { retried, retries, most };
        let late = |Late { limit_ns, count }| LateObject { limit_us: microseconds(limit_ns as f64), count };
        Self {
            unit: figures.unit.name(),
            ok_per_s: figures.ok_per_s().map(thousandths),
            tries: figures.tries.map(tries),
            late: figures.late.map(late),
        }
    }
}

/// Rounds a share to four decimals.
pub(super) fn share(share: f64) -> f64 {
    (share * 1e4).round() / 1e4
}
