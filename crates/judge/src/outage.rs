//! Decides which periods without an ok answer are outages, and for which share of the time the system was unavailable,
//! including users without an answer. `docs/measurement.md` has the definitions.

use evidence::{Model, Outage, OutageTime, Starvation};
use record::{Counts, Gap, Gaps, Pulse, Pulses, Waits};

use crate::words::decimal;

/// Min length of an outage, as a multiple of the usual response time. A gap is an outage if it is also longer than a
/// quarter of a second, and than the time in which `OUTAGE_MIN_REQUESTS` ok answers usually arrive.
const OUTAGE_MIN_USUAL_RESPONSES: f64 = 10.0;
/// Min length of an outage, as a number of ok answers that usually arrive in that time.
const OUTAGE_MIN_REQUESTS: f64 = 10.0;
/// Min wait for one answer, in nanoseconds, that counts as unavailable time of its user.
const SLOW_WAIT_MIN_NS: f64 = 1e9;
/// Min wait for one answer, as a multiple of the usual response time, so that a long tail does not count.
const SLOW_WAIT_MIN_RESPONSES: f64 = 100.0;
/// Max share of all users that may count as starved while others are answered. If more users wait, such as half of the
/// connections of a server of which one of two processes hangs, part of the system is unavailable.
const STARVED_USERS_MAX_SHARE: f64 = 0.25;

/// Facts about a finished load.
pub struct Evidence<'a> {
    /// Whether the load is closed (users) or open (arrivals).
    pub model: Model,
    /// The measured window, in nanoseconds since the load began.
    pub window_ns: (u64, u64),
    /// Gaps without ok answers within the window, in order of time.
    pub gaps: Vec<Gap>,
    /// Time series of the load, over all workers.
    pub pulses: &'a Pulses,
    /// Times for which each user had no ok answer.
    pub waits: &'a Waits,
    /// Number of connections. In a closed load this is the number of users, unless they share connections.
    pub connections: u64,
    /// Counts of requests intended in the window.
    pub counts: Counts,
    /// Whether the load was asked to stop.
    pub was_stopped: bool,
    /// Whether the system is in the process of the generator. No part of it can be unavailable, so all users who wait
    /// while others are answered count as starved.
    pub is_in_process: bool,
}

/// Returns the outages of the system, and the share of unavailable time; `None` if there was no window.
pub fn judge(evidence: &Evidence<'_>) -> Option<Outage> {
    let (from_ns, to_ns) = evidence.window_ns;
    let length_ns = to_ns.checked_sub(from_ns).filter(|ns| *ns > 0)?;
    let usual_ns = usual_response_ns(evidence.pulses);
    let is_outage = |gap: &&Gap| gap.lasting_ns as f64 >= shortest_ns(evidence.pulses, usual_ns, gap);
    let times: Vec<OutageTime> = evidence
        .gaps
        .iter()
        .filter(is_outage)
        .map(|gap| OutageTime {
            from_s: seconds(gap.from_ns.saturating_sub(from_ns)),
            to_s: seconds(gap.to_ns.saturating_sub(from_ns)),
            lasting_s: seconds(gap.lasting_ns),
            is_open: gap.is_open,
        })
        .collect();
    let longest_s = times.iter().map(|time| time.lasting_s).fold(0.0, f64::max);
    let (unanswered, starvation) = match evidence.model {
        Model::Closed => waited_share(evidence, usual_ns, length_ns as f64),
        Model::Open => (unanswered_share(evidence), None),
    };
    let found = Outage { longest_s, gone_share: unanswered.min(1.0), times, starvation };
    let gone_share = found.gone_share.max(found.out_share(length_ns));
    Some(Outage { gone_share, ..found })
}

/// Returns the share of user time spent waiting for an answer that did not come, or came very late. Users who were
/// starved while others were answered do not count, and are returned separately.
fn waited_share(evidence: &Evidence<'_>, usual_ns: Option<f64>, length_ns: f64) -> (f64, Option<Starvation>) {
    let times_usual = |times: f64| usual_ns.map_or(0.0, |usual_ns| times * usual_ns);
    let broken_ns = times_usual(OUTAGE_MIN_USUAL_RESPONSES).max(Gaps::SHORTEST_NS as f64) as u64;
    let slow_ns = times_usual(SLOW_WAIT_MIN_RESPONSES).max(SLOW_WAIT_MIN_NS) as u64;
    let users = evidence.connections.max(1) as f64;
    let failed_share = evidence.waits.failed_ns(broken_ns) as f64 / (users * length_ns);
    let unanswered_ns = evidence.waits.unanswered_ns(broken_ns, slow_ns) as f64;
    let unanswered_share = unanswered_ns / (users * length_ns);
    // Number of users that wait concurrently, assuming that each waits as long as the longest wait.
    let longest_ns = evidence.waits.longest_unanswered_ns().max(1) as f64;
    let waiting = unanswered_ns / longest_ns;
    let is_served = evidence.counts.ok > 0;
    let starved_max = match evidence.is_in_process {
        true => users - 0.5,
        false => STARVED_USERS_MAX_SHARE * users,
    };
    if unanswered_ns > 0.0 && is_served && waiting <= starved_max {
        let starvation = Starvation {
            users: (waiting.round() as u64).max(1),
            of_users: evidence.connections,
            longest_s: longest_ns / 1e9,
            time_share: unanswered_share.min(1.0),
        };
        return (failed_share, Some(starvation));
    }
    (failed_share + unanswered_share, None)
}

/// Returns the share of sent arrivals that got no answer. Unsent arrivals say nothing about the system. In a load that
/// was asked to stop, unanswered requests do not count against the system either.
fn unanswered_share(evidence: &Evidence<'_>) -> f64 {
    let Counts { planned, failed, timed_out, unfinished, .. } = evidence.counts;
    let left = if evidence.was_stopped { 0 } else { unfinished };
    let without = failed.saturating_add(timed_out).saturating_add(left);
    if planned == 0 { 0.0 } else { without as f64 / planned as f64 }
}

/// Returns the usual response time, in nanoseconds: the 10th percentile of the means of windows with ok answers. This
/// way, catching up after outages never looks usual, even after many outages. Windows within an outage have no ok
/// answers, and requests that timed out are not ok.
fn usual_response_ns(pulses: &Pulses) -> Option<f64> {
    let mut means: Vec<f64> = pulses
        .windows()
        .iter()
        .filter(|pulse| pulse.ok > 0)
        .map(|pulse| pulse.ok_response_sum_ns as f64 / pulse.ok as f64)
        .collect();
    means.sort_by(f64::total_cmp);
    means.get(means.len() / 10).copied()
}

/// Returns the min length at which `gap` is an outage, in nanoseconds.
fn shortest_ns(pulses: &Pulses, usual_ns: Option<f64>, gap: &Gap) -> f64 {
    let is_apart =
        |pulse: &&Pulse| pulse.at_ns + pulses.window_ns() <= gap.from_ns || pulse.at_ns >= gap.to_ns;
    let apart = || pulses.windows().iter().filter(is_apart);
    let answered: u64 = apart().map(|pulse| pulse.ok).sum();
    let lasting_ns = apart().count() as f64 * pulses.window_ns() as f64;
    let per_request_ns = if answered > 0 { lasting_ns / answered as f64 } else { 0.0 };
    let usual_ns = usual_ns.unwrap_or(0.0);
    (OUTAGE_MIN_USUAL_RESPONSES * usual_ns)
        .max(OUTAGE_MIN_REQUESTS * per_request_ns)
        .max(Gaps::SHORTEST_NS as f64)
}

/// Describes the longest outage, for the verdict on steadiness; `None` if there was none.
pub(crate) fn words(outage: &Outage) -> Option<String> {
    let longest = outage.longest()?;
    let until = if longest.is_open { ", to the end" } else { "" };
    Some(format!(
        "no ok answer for {} s from {} s on{until}",
        decimal(longest.lasting_s, 2),
        decimal(longest.from_s, 2)
    ))
}

fn seconds(ns: u64) -> f64 {
    ns as f64 / 1e9
}

#[cfg(test)]
mod tests {
    use record::WaitEnd;

    use super::*;

    const MS: u64 = 1_000_000;

    /// Builds windows of a quarter of a second with the given numbers of ok answers, each with a mean time of
    /// `response_ns`.
    fn pulses(ended: &[u64], response_ns: u64) -> Pulses {
        let mut pulses = Pulses::default();
        for (number, ended) in (0..).zip(ended) {
            pulses.note(&Pulse {
                at_ns: number * Pulse::WINDOW_NS,
                lasting_ns: Pulse::WINDOW_NS,
                ok: *ended,
                ok_response_sum_ns: ended * response_ns,
                ..Pulse::default()
            });
        }
        pulses
    }

    fn gap(from_ms: u64, to_ms: u64) -> Gap {
        let (from_ns, to_ns) = (from_ms * MS, to_ms * MS);
        Gap { from_ns, to_ns, lasting_ns: to_ns - from_ns, is_open: false }
    }

    fn evidence<'a>(pulses: &'a Pulses, waits: &'a Waits, gaps: Vec<Gap>) -> Evidence<'a> {
        Evidence {
            model: Model::Closed,
            window_ns: (0, 4_000 * MS),
            gaps,
            pulses,
            waits,
            connections: 4,
            counts: Counts::default(),
            was_stopped: false,
            is_in_process: false,
        }
    }

    #[test]
    fn gap_is_an_outage_only_if_answers_usually_come_sooner() {
        let (quick, waits) = (pulses(&[50; 16], MS), Waits::default());
        let outage = judge(&evidence(&quick, &waits, vec![gap(1_000, 1_300)])).unwrap();
        assert_eq!((outage.longest_s, outage.gone_share), (0.3, 0.075));
        assert!(outage.is_degraded());
        // A system that answers one request at a time, in half a second each, normally has gaps of that length.
        let slow = pulses(&[0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1], 500 * MS);
        let outage = judge(&evidence(&slow, &waits, vec![gap(1_000, 1_500), gap(1_500, 2_000)])).unwrap();
        assert_eq!(outage, Outage::default());
    }

    #[test]
    fn long_outage_does_not_change_the_usual_response_time() {
        // Answers arrive for the first 750 ms, then none: five in total.
        let mut ended = [0; 16];
        ended[..3].copy_from_slice(&[2, 2, 1]);
        let (dead, waits) = (pulses(&ended, MS), Waits::default());
        let outage = judge(&evidence(&dead, &waits, vec![gap(700, 4_000)])).unwrap();
        assert_eq!(outage.longest_s, 3.3);
        // In an open load, most arrivals wait for the end of the outage, and are then answered quickly.
        let mut ended = [50; 16];
        ended[4..12].fill(0);
        ended[12] = 450;
        let frozen = pulses(&ended, MS);
        let outage = judge(&evidence(&frozen, &waits, vec![gap(1_000, 3_000)])).unwrap();
        assert_eq!((outage.longest_s, outage.gone_share), (2.0, 0.5));
    }

    #[test]
    fn half_of_the_users_waiting_in_vain_is_half_unavailable() {
        let (quick, mut waits) = (pulses(&[50; 16], MS), Waits::default());
        waits.note(4_000 * MS, WaitEnd::Failure);
        waits.note(4_000 * MS, WaitEnd::Silence);
        // A long tail: answers after 900 ms.
        (0..10).for_each(|_| waits.note(900 * MS, WaitEnd::Answer));
        let outage = judge(&evidence(&quick, &waits, Vec::new())).unwrap();
        assert_eq!((outage.longest_s, outage.gone_share), (0.0, 0.5));
    }

    #[test]
    fn one_waiting_user_of_ten_is_starved_and_the_system_available() {
        let (quick, mut waits) = (pulses(&[50; 16], MS), Waits::default());
        waits.note(4_000 * MS, WaitEnd::Silence);
        let counts = Counts { ok: 800, ..Counts::default() };
        let ten = Evidence { connections: 10, counts, ..evidence(&quick, &waits, Vec::new()) };
        let outage = judge(&ten).unwrap();
        assert_eq!((outage.gone_share, outage.is_degraded()), (0.0, false));
        let starvation = Starvation { users: 1, of_users: 10, longest_s: 4.0, time_share: 0.1 };
        assert_eq!(outage.starvation, Some(starvation));
        // A failed request is no wait for others.
        let mut failed = Waits::default();
        failed.note(4_000 * MS, WaitEnd::Failure);
        let outage = judge(&Evidence { waits: &failed, ..ten }).unwrap();
        assert_eq!((outage.gone_share, outage.starvation), (0.1, None));
    }

    #[test]
    fn any_number_of_users_waiting_for_others_in_process_is_starved() {
        let (quick, mut waits) = (pulses(&[50; 16], MS), Waits::default());
        (0..3).for_each(|_| waits.note(4_000 * MS, WaitEnd::Silence));
        let counts = Counts { ok: 800, ..Counts::default() };
        let elsewhere = Evidence { counts, ..evidence(&quick, &waits, Vec::new()) };
        assert_eq!(judge(&elsewhere).unwrap().starvation, None, "part of a server may be gone");
        let here = judge(&Evidence { is_in_process: true, ..elsewhere }).unwrap();
        assert_eq!((here.gone_share, here.starvation.map(|starved| starved.users)), (0.0, Some(3)));
        waits.note(4_000 * MS, WaitEnd::Silence);
        let all = Evidence { counts, is_in_process: true, ..evidence(&quick, &waits, Vec::new()) };
        assert_eq!(judge(&all).unwrap().starvation, None, "nobody is served");
    }

    #[test]
    fn unanswered_arrivals_count_as_unavailable_unless_the_run_was_stopped() {
        let (quick, waits) = (pulses(&[50; 16], MS), Waits::default());
        let counts =
            Counts { planned: 100, failed: 4, timed_out: 2, unfinished: 1, not_sent: 3, ..Counts::default() };
        let open = Evidence { model: Model::Open, counts, ..evidence(&quick, &waits, Vec::new()) };
        assert_eq!(judge(&open).unwrap().gone_share, 0.07, "3 were never sent");
        assert_eq!(judge(&Evidence { was_stopped: true, ..open }).unwrap().gone_share, 0.06);
    }
}
