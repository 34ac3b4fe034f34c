//! Pace of a run: speed and evenness of the answers. It distinguishes a queue, a rate limiter, and an uncontended wait.

use evidence::Run;
use record::{Histogram, Percentile, Tally};

/// Min number of answers for percentiles.
const ANSWERS_MIN: u64 = 30;
/// Multiple of the median above which a first answer counts as slow.
const SLOW_MULTIPLE: f64 = 1.5;
/// Divisor of the number of connections: the system started cold if this fraction of connections has a slow first
/// answer.
const COLD_START_DIVISOR: u64 = 4;

/// Pace of one run, all steps together. Times are service times in nanoseconds; `None` with too few answers.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Pace {
    /// Shortest time of all ok answers, warm-up included, because users who start together do not wait for each other
    /// yet.
    pub fastest_ns: Option<f64>,
    /// Whether the first answers were slower than later ones, as in a program that is still compiling. No answer was
    /// then undisturbed.
    pub is_cold_start: bool,
    /// p10, p50, and p90 of ok answers.
    pub ok_ns: Option<[f64; 3]>,
    /// p10, p50, and p90 of rejected answers.
    pub rejected_ns: Option<[f64; 3]>,
    /// Mean time from sending to the first byte of the answer.
    pub first_byte_ns: Option<f64>,
    /// Mean number of bytes received per answer.
    pub bytes_per_answer: Option<f64>,
    /// p5 of ok answers.
    pub quick_ns: Option<f64>,
}

impl Pace {
    /// Returns the pace of a run, from the tallies of its two phases.
    pub fn of(run: &Run, warm_up: &Tally, measured: &Tally) -> Self {
        let [before, ok] = [&warm_up.service.ok, &measured.service.ok];
        let fastest = [before.min_ns(), ok.min_ns()].into_iter().flatten().min();
        let ok_ns = spread(ok);
        let connections = run.ending.as_ref().and_then(|ending| ending.spread.as_ref());
        let connections = connections.map_or(1, |spread| spread.connections);
        let first = if before.is_empty() { ok } else { before };
        let slow: u64 = first
            .counters()
            .filter(|(ns, _)| ok_ns.is_some_and(|[_, median, _]| *ns as f64 > SLOW_MULTIPLE * median))
            .fold(0, |sum, (_, count)| sum.saturating_add(count));
        let answers = measured.counts.ok.saturating_add(measured.counts.rejected);
        Self {
            fastest_ns: fastest.map(|ns| ns as f64),
            is_cold_start: slow >= connections.div_ceil(COLD_START_DIVISOR).max(1),
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
