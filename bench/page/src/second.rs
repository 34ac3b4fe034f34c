//! Creates the intervals that load threads would record in one second of a synthetic load.

use record::{ErrorClass, Finish, Interval, Outcome, Phase, Tally};

use crate::chance::Chance;

/// Behavior of a system under load.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Behavior {
    /// Responses per second.
    pub(crate) per_s: f64,
    /// Median service time, in milliseconds.
    pub(crate) median_ms: f64,
    /// Standard deviation of the logarithm of service times.
    pub(crate) sigma: f64,
    /// Rejected requests per thousand.
    pub(crate) refused_permille: f64,
}

const SECOND_NS: u64 = 1_000_000_000;
/// Share of seconds with a stall, which delays every request.
const STALLS: f64 = 1.0 / 60.0;

/// Returns one interval per thread for a second. Each request ends in the second in which it was sent.
pub(crate) fn of(
    behavior: &Behavior,
    second: u64,
    threads: u64,
    phase: Phase,
    chance: &mut Chance,
) -> Vec<Interval> {
    let stall_ms = if chance.share() < STALLS { 20.0 + 200.0 * chance.share() } else { 0.0 };
    let wander = 1.0 + 0.03 * chance.normal() - stall_ms / 1_000.0;
    let requests = (behavior.per_s * wander.max(0.0) / threads as f64) as u64;
    let interval = |_| {
        let mut tally = Tally::default();
        if second == 0 {
            tally.connections = 50;
            (0..50).for_each(|_| tally.connect.record((chance.log_normal(0.1, 0.4) * 1e6) as u64));
        }
        for place in 0..requests {
            let intended_ns = second * SECOND_NS + place * (SECOND_NS / 2) / requests.max(1);
            request(behavior, intended_ns, stall_ms, chance, &mut tally);
        }
        Interval { second, phase, tally, sampled: Vec::new() }
    };
    (0..threads).map(interval).collect()
}

fn request(behavior: &Behavior, intended_ns: u64, stall_ms: f64, chance: &mut Chance, tally: &mut Tally) {
    let sent_ns = intended_ns + (chance.log_normal(0.02, 0.8) * 1e6) as u64;
    let service_ms = chance.log_normal(behavior.median_ms, behavior.sigma) + stall_ms * chance.share();
    let service_ns = ((service_ms * 1e6) as u64).min(SECOND_NS / 3);
    let is_refused = chance.share() * 1_000.0 < behavior.refused_permille;
    tally.note_sent(sent_ns);
    tally.note_finished(&Finish {
        intended_ns,
        sent_ns,
        first_byte_ns: Some(sent_ns + service_ns * 9 / 10),
        finished_ns: sent_ns + service_ns,
        outcome: if is_refused { Outcome::Rejected } else { Outcome::Ok },
        status: if is_refused { 503 } else { 200 },
    });
    if is_refused {
        tally.errors.note(ErrorClass::Status, 503, || "503 Service Unavailable".to_owned());
    }
    tally.received_bytes += 1_240;
    tally.sent_bytes += 118;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_sent_is_accounted_for() {
        let behavior = Behavior { per_s: 500.0, median_ms: 4.0, sigma: 0.5, refused_permille: 20.0 };
        let intervals = of(&behavior, 3, 2, Phase::Measured, &mut Chance::new(1));
        assert_eq!(intervals.len(), 2);
        for Interval { second, tally, .. } in intervals {
            assert_eq!(second, 3);
            tally.counts.check_settled().unwrap();
            assert!((150..350).contains(&tally.counts.sent), "{:?}", tally.counts);
            assert_eq!(tally.last_finished_ns.map(|last_ns| last_ns / SECOND_NS), Some(3));
            assert_eq!(tally.errors.total(), tally.counts.rejected);
        }
    }
}
