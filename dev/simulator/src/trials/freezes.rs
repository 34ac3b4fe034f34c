//! Trials of open loads on servers that freeze at random times: no figure may show more replies than requests.

use load::chance::Chance;
use load::open::Profile;
use load::{Load, Open, SECOND_NS, Schedule, Spacing};
use record::Backlog;

use super::seeds;
use crate::freeze::Freeze;
use crate::play::{LoadTimes, play_frozen};
use crate::played::Played;
use crate::queue::Queue;
use crate::service::Service;

/// Number of runs by result.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Freezes {
    /// Runs in which the number of ended requests is at most the number of scheduled requests plus the backlog.
    pub possible: u32,
    /// Runs whose counts add up, and match the recorder's replies and backlog.
    pub conserved: u32,
    /// Runs that would appear faster than their load if time counted from the first sent request to the last reply.
    pub fast_by_span: u32,
}

/// Runs `trials` loads with random rate, connections, service time, and freeze.
pub fn freezes(seed: u64, trials: u32) -> Freezes {
    let mut found = Freezes::default();
    for seed in seeds(seed, trials) {
        let mut chance = Chance::stream(seed, 0);
        let rate_per_s = chance.within(20, 500) as f64;
        let (load, queue) = draw(rate_per_s, seed, &mut chance);
        let times = LoadTimes { warm_up_ns: SECOND_NS, stop_ns: 4 * SECOND_NS };
        let from_ns = chance.within(0, 4 * SECOND_NS as i64) as u64;
        let freeze = Freeze { from_ns, to_ns: from_ns + chance.within(0, 3 * SECOND_NS as i64) as u64 };
        let played = play_frozen(&load, &queue, freeze, times, seed);
        let planned = played.tally.counts.planned;
        let per_s = played.throughput_per_s().unwrap_or(f64::NAN);
        // Number of scheduled requests, and the queue's backlog.
        let most_per_s = (planned + played.backlog) as f64 / 3.0;
        found.possible += u32::from(per_s <= most_per_s + 1e-9);
        found.conserved += u32::from(played.tally.counts.check_settled().is_ok() && is_recorded(&played));
        found.fast_by_span += u32::from(throughput_by_span_per_s(&played) > Some(most_per_s * 1.01));
    }
    found
}

fn draw(rate_per_s: f64, seed: u64, chance: &mut Chance) -> (Load, Queue) {
    let is_even = chance.unit() < 0.5;
    let spacing = if is_even { Spacing::EVEN } else { Spacing::poisson(seed) };
    let connections = chance.within(1, 100) as u32;
    let profile = Profile::constant(rate_per_s);
    let load =
        Load::Open(Open { schedule: Schedule::Rate(profile, spacing), connections, shed_after_ns: None });
    let mean_ns = chance.within(100_000, 20_000_000) as u64;
    (load, Queue { servers: 16, service: Service::Exponential { mean_ns } })
}

/// Returns true if the recorder's counts of the measured window equal those of the queue.
fn is_recorded(played: &Played) -> bool {
    let answers = played.warm_up.window.answers() + played.tally.window.answers();
    let backlog = Backlog::of(&played.warm_up, &played.tally);
    answers == played.answers && backlog.is_ok_and(|backlog| backlog.at_start == played.backlog)
}

fn throughput_by_span_per_s(played: &Played) -> Option<f64> {
    Some(played.tally.counts.ended() as f64 / (played.tally.span_ns()? as f64 / 1e9))
}
