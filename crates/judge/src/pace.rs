//! How fast and how evenly a run was answered: what tells a queue, a limiter, and a wait for nobody apart.

use evidence::Run;
use record::{Histogram, Percentile, Tally};

/// Answers that carry the places of a spread.
const ANSWERS_MIN: u64 = 30;
/// So many times the median is slow for one of the first answers.
const SLOW: f64 = 1.5;
/// Of the connections, those whose first answer is slow where a system begins cold.
const BEGIN_SLOWLY: u64 = 4;

/// Of one run, all steps together. Times are service times in nanoseconds; `None` where there are too few answers.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Pace {
    /// The shortest of all ok answers, those of the warm-up included: users who begin together do not yet wait for each other.
    pub fastest_ns: Option<f64>,
    /// Whether the first answers were slower than later ones, as of a program that still compiles: then none was undisturbed.
    pub began_slowly: bool,
    /// Of ok answers p10, p50, and p90.
    pub ok_ns: Option<[f64; 3]>,
    /// Of rejected answers the same.
    pub rejected_ns: Option<[f64; 3]>,
    /// Mean time from sent to the first byte of the answer.
    pub first_byte_ns: Option<f64>,
    /// Bytes that were received for each answer, on average.
    pub bytes_per_answer: Option<f64>,
    /// 5 % of the ok answers took at most as long.
    pub quick_ns: Option<f64>,
}

impl Pace {
    /// Of a run with the tallies of its two phases.
    pub fn of(run: &Run, warm_up: &Tally, measured: &Tally) -> Self {
        let [before, ok] = [&warm_up.service.ok, &measured.service.ok];
        let fastest = [before.min_ns(), ok.min_ns()].into_iter().flatten().min();
        let ok_ns = spread(ok);
        let connections = run.ending.as_ref().and_then(|ending| ending.spread.as_ref());
        let connections = connections.map_or(1, |spread| spread.connections);
        let first = if before.is_empty() { ok } else { before };
        let slow: u64 = first
            .counters()
            .filter(|(ns, _)| ok_ns.is_some_and(|[_, median, _]| *ns as f64 > SLOW * median))
            .fold(0, |sum, (_, count)| sum.saturating_add(count));
        let answers = measured.counts.ok.saturating_add(measured.counts.rejected);
        Self {
            fastest_ns: fastest.map(|ns| ns as f64),
            began_slowly: slow >= connections.div_ceil(BEGIN_SLOWLY).max(1),
            ok_ns,
            rejected_ns: spread(&measured.service.rejected),
            first_byte_ns: measured.first_byte.mean_ns(),
            bytes_per_answer: (answers > 0).then(|| measured.received_bytes as f64 / answers as f64),
            quick_ns: place(ok, 50_000).filter(|_| ok.count() >= ANSWERS_MIN),
        }
    }
}

fn spread(of: &Histogram) -> Option<[f64; 3]> {
    if of.count() < ANSWERS_MIN {
        return None;
    }
    Some([place(of, 100_000)?, place(of, 500_000)?, place(of, 900_000)?])
}

fn place(of: &Histogram, ppm: u32) -> Option<f64> {
    Some(of.value_at(Percentile::from_ppm(ppm)?)? as f64)
}
