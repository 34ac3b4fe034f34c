//! What events cost, in JSON.

use std::collections::BTreeMap;

use serde::Serialize;
use stats::Repeated;
use store::{Cost, Recovery};

use super::{microseconds, thousandths};
use crate::event_costs::Pooled;
use crate::study::event_costs::Difference;

/// What one event cost. Times are in seconds since the load began.
#[derive(Serialize)]
pub(super) struct CostObject {
    from_s: f64,
    to_s: f64,
    planned: u64,
    errors: u64,
    lost: u64,
    lost_by_class: BTreeMap<&'static str, u64>,
    outage_us: f64,
    outage_is_open: bool,
    worst_response_us: Option<f64>,
    excess_wait_s: f64,
    /// `yes`, `no` or `unconfirmed`.
    recovered: &'static str,
    recovery_us: Option<f64>,
    before: BeforeObject,
}

#[derive(Serialize)]
struct BeforeObject {
    from_s: f64,
    ok_per_s: f64,
    response_mean_us: f64,
    percentile: Option<f64>,
    percentile_us: Option<f64>,
    bin_s: f64,
    longest_gap_us: f64,
}

impl CostObject {
    pub(super) fn of(cost: &Cost) -> Self {
        let seconds = |at_ns: u64| thousandths(at_ns as f64 / 1e9);
        let (recovered, recovery_ns) = match cost.recovery {
            Recovery::After(ns) => ("yes", Some(ns)),
            Recovery::NotWithin(_) => ("no", None),
            Recovery::Unconfirmed(ns) => ("unconfirmed", Some(ns)),
        };
        let before = &cost.before;
        Self {
            from_s: seconds(cost.from_ns),
            to_s: seconds(cost.to_ns),
            planned: cost.planned,
            errors: cost.errors,
            lost: cost.lost.total(),
            lost_by_class: cost.lost.classes().into_iter().collect(),
            outage_us: microseconds(cost.outage_ns as f64),
            outage_is_open: cost.outage_is_open,
            worst_response_us: cost.worst_response_ns.map(|ns| microseconds(ns as f64)),
            excess_wait_s: thousandths(cost.excess_wait_ns / 1e9),
            recovered,
            recovery_us: recovery_ns.map(|ns| microseconds(ns as f64)),
            before: BeforeObject {
                from_s: seconds(before.from_ns),
                ok_per_s: thousandths(before.ok_per_s),
                response_mean_us: microseconds(before.response_mean_ns),
                percentile: before.percentile_ppm.map(|ppm| f64::from(ppm) / 1e4),
                percentile_us: before.percentile_ns.map(microseconds),
                bin_s: before.bin_ns as f64 / 1e9,
                longest_gap_us: microseconds(before.longest_gap_ns as f64),
            },
        }
    }
}

/// What an event of a variant cost over all blocks.
#[derive(Serialize)]
pub(super) struct PooledObject<'a> {
    event: &'a str,
    /// Runs in which its cost is known.
    runs: usize,
    runs_unknown: usize,
    not_recovered: usize,
    lost: Option<RepeatedObject>,
    stale_reuse: Option<RepeatedObject>,
    outage_us: Option<RepeatedObject>,
    worst_response_us: Option<RepeatedObject>,
    excess_wait_s: Option<RepeatedObject>,
    recovery_us: Option<RepeatedObject>,
}

/// A figure over runs, and what it lies in with a confidence of 95 %.
#[derive(Serialize)]
struct RepeatedObject {
    middle: f64,
    low: Option<f64>,
    high: Option<f64>,
    runs: usize,
}

impl RepeatedObject {
    fn of(figure: Option<Repeated>, unit: f64) -> Option<Self> {
        figure.map(|figure| Self {
            middle: thousandths(figure.middle / unit),
            low: figure.interval.map(|[low, _]| thousandths(low / unit)),
            high: figure.interval.map(|[_, high]| thousandths(high / unit)),
            runs: figure.runs,
        })
    }
}

/// By how much more an event cost in a variant than in another; `runs` of each figure are blocks.
#[derive(Serialize)]
pub(super) struct DifferenceObject<'a> {
    event: &'a str,
    blocks: usize,
    blocks_unknown: usize,
    lost: Option<RepeatedObject>,
    outage_us: Option<RepeatedObject>,
    excess_wait_s: Option<RepeatedObject>,
    recovery_us: Option<RepeatedObject>,
}

impl<'a> DifferenceObject<'a> {
    pub(super) fn of(difference: &Difference<'a>) -> Self {
        let of = RepeatedObject::of;
        Self {
            event: difference.name,
            blocks: difference.blocks[0],
            blocks_unknown: difference.blocks[1] - difference.blocks[0],
            lost: of(difference.lost, 1.0),
            outage_us: of(difference.outage_ns, 1e3),
            excess_wait_s: of(difference.excess_wait_ns, 1e9),
            recovery_us: of(difference.recovery_ns, 1e3),
        }
    }
}

impl<'a> PooledObject<'a> {
    pub(super) fn of(pooled: &Pooled<'a>) -> Self {
        let of = RepeatedObject::of;
        Self {
            event: pooled.name,
            runs: pooled.runs[0],
            runs_unknown: pooled.runs[1] - pooled.runs[0],
            not_recovered: pooled.not_recovered,
            lost: of(pooled.lost, 1.0),
            stale_reuse: of(pooled.stale_reuse, 1.0),
            outage_us: of(pooled.outage_ns, 1e3),
            worst_response_us: of(pooled.worst_response_ns, 1e3),
            excess_wait_s: of(pooled.excess_wait_ns, 1e9),
            recovery_us: of(pooled.recovery_ns, 1e3),
        }
    }
}
