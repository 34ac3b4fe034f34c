//! Blocked event loop: the only thread that takes requests sleeps in a call instead of waiting for events.

use super::cause::{Bottleneck, Scope, suspected};
use super::evidence::Evidence;
use super::words::{cpu_in_brackets, percent};
use super::{Coverage, Rule, Rung};
use crate::causes::Resource;
use crate::waits::Workers;
use crate::words::{decimal, many};

/// Min number of requests in flight. With fewer, none waits for another.
const IN_FLIGHT_MIN: f64 = 2.0;
/// Max share of time for which a blocked event loop waits for events.
const WAITS_MAX_SHARE: f64 = 0.2;
/// Min share of time for which it sleeps in another call.
const BLOCKED_MIN_SHARE: f64 = 0.5;

impl Resource {
    /// The thread of an event loop, asleep in a call.
    pub const EVENT_LOOP: Self = Self::new("event_loop", "a blocked event loop").next(
        "find the call that blocks it (`--why` samples its functions; look for `execSync`, `readFileSync`, `Atomics.wait`, or a driver that waits), \
         then make it asynchronous or move it to a worker thread",
    );
}

pub(super) const BLOCKED: Rule = Rule {
    finds: &[Resource::EVENT_LOOP],
    when: "two requests in flight or more, and the event loops of a process of Node.js slept in other calls than the wait for events half of the time or \
           more, and waited for events 20 % of the time or less",
    why: "all requests of such a process go through one thread. While it sleeps in a call, none proceeds. An event loop without work waits for events",
    refuted_by: &[],
    rung: Rung::Kernel,
    covers: Coverage::Runs,
    find: blocked,
};

/// Returns the shares of time for which the event loops of a process waited for events and slept otherwise; `None` if
/// none ran lately.
fn shares(workers: &Workers) -> Option<[f64; 2]> {
    let loops = workers.event_loops;
    let waits = workers.in_state("poll") / loops;
    // Threads that did not run lately are not counted as workers, so an idle event loop is not one.
    let has_run = loops >= 1.0 && workers.all() >= loops;
    has_run.then(|| [waits, 1.0 - waits - workers.computing() / loops])
}

fn blocked(evidence: &Evidence<'_>) -> Option<Bottleneck> {
    let in_flight = evidence.in_flight().filter(|in_flight| *in_flight >= IN_FLIGHT_MIN)?;
    let all = evidence.workers();
    let shares = all.iter().filter_map(|(name, workers)| Some((name, shares(workers)?)));
    let (name, [waits, sleeps]) = shares.max_by(|(_, one), (_, other)| one[1].total_cmp(&other[1]))?;
    if waits > WAITS_MAX_SHARE || sleeps < BLOCKED_MIN_SHARE {
        return None;
    }
    let because = format!(
        "the event loop of {name} waited for events {} of the time, and slept in another call {}, while {} {} were in flight on average{}",
        percent(waits),
        percent(sleeps),
        decimal(in_flight, 1),
        many(evidence.together.unit),
        cpu_in_brackets(evidence)
    );
    Some(suspected(Resource::EVENT_LOOP, Scope::Process(name.clone()), because).direct(Some(sleeps)))
}

#[cfg(test)]
mod tests {
    use super::super::planted::Planted;
    use super::*;

    /// Plants sixteen users of `loops` event loops, plus threads in the given states.
    fn looping(loops: f64, states: &[(&str, f64)]) -> Planted {
        let mut planted = Planted::closed(16, 156.0, 6.0);
        planted.threads(states).event_loops = loops;
        planted
    }

    #[test]
    fn loop_that_sleeps_in_a_call_is_blocked() {
        let causes = looping(1.0, &[("futex", 4.95), ("on_cpu", 0.04), ("runnable", 0.02)]).causes();
        let expected = "the event loop of app waited for events 0.0 % of the time, and slept in another call 94 %, while 16.0 requests were \
                        in flight on average (the system used 0.10 of 2 cores)";
        assert_eq!((causes[0].resource, causes[0].because.as_str()), (Resource::EVENT_LOOP, expected));
    }

    #[test]
    fn loop_that_waits_for_events_or_computes_is_not_blocked() {
        let is_named = |planted: Planted| planted.said().contains(&"event_loop");
        assert!(!is_named(looping(1.0, &[("futex", 4.0), ("poll", 0.95), ("on_cpu", 0.05)])));
        assert!(!is_named(looping(1.0, &[("futex", 4.0), ("on_cpu", 0.9)])));
        assert!(!is_named(looping(4.0, &[("futex", 16.0), ("poll", 3.2), ("on_cpu", 0.2)])));
        assert!(!is_named(looping(1.0, &[])), "it did not run lately");
        assert!(!is_named(looping(0.0, &[("futex", 16.0)])), "threads take requests");
    }
}
