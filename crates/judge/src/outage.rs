//! How long the system was gone: which times without an ok answer are outages, and what share of the time they and the users
//! who waited in vain make up. `docs/measurement.md` has the definitions.

use evidence::{Model, Outage, OutageTime, Starvation};
use record::{Counts, Gap, Gaps, Pulse, Pulses, Waits};

use crate::words::decimal;

/// A gap is an outage above the largest of a quarter of a second, so many times the usual response time, and the time in which
/// so many ok answers usually come.
const USUAL_RESPONSES: f64 = 10.0;
const USUAL_REQUESTS: f64 = 10.0;
/// One answer that takes this long, and longer than so many usual ones, left its user alone. A long tail does not.
const SLOW_NS: f64 = 1e9;
const SLOW_RESPONSES: f64 = 100.0;
/// Users who wait while others are answered are starved as long as they are no larger a share of all users. Where more of them wait,
/// such as half of the connections of a server with two processes of which one hangs, part of the system is gone.
const STARVED_USERS_MAX_SHARE: f64 = 0.25;

/// What is known of a load that is over.
pub struct Evidence<'a> {
    /// Users or arrivals.
    pub model: Model,
    /// The measured window, in nanoseconds since the load began.
    pub window_ns: (u64, u64),
    /// In order of time, within the window.
    pub gaps: Vec<Gap>,
    /// The course of the load, over all workers.
    pub pulses: &'a Pulses,
    /// Of users, how long each went without an ok answer.
    pub waits: &'a Waits,
    /// Connections; of a closed load its users, unless they share them.
    pub connections: u64,
    /// Of requests intended in the window.
    pub counts: Counts,
    /// Whether somebody asked the load to stop.
    pub was_stopped: bool,
}

/// How long the system was gone; `None` if there was no window.
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

/// The share of user time in which users waited for an answer that did not come, or hardly, without the time in which few of them
/// did while others were answered.
fn waited_share(evidence: &Evidence<'_>, usual_ns: Option<f64>, length_ns: f64) -> (f64, Option<Starvation>) {
    let times_usual = |times: f64| usual_ns.map_or(0.0, |usual_ns| times * usual_ns);
    let broken_ns = times_usual(USUAL_RESPONSES).max(Gaps::SHORTEST_NS as f64) as u64;
    let slow_ns = times_usual(SLOW_RESPONSES).max(SLOW_NS) as u64;
    let users = evidence.connections.max(1) as f64;
    let failed_share = evidence.waits.failed_ns(broken_ns) as f64 / (users * length_ns);
    let unanswered_ns = evidence.waits.unanswered_ns(broken_ns, slow_ns) as f64;
    let unanswered_share = unanswered_ns / (users * length_ns);
    // Users who wait at a time, if all of them wait as long as one did.
    let longest_ns = evidence.waits.longest_unanswered_ns().max(1) as f64;
    let waiting = unanswered_ns / longest_ns;
    let is_served = evidence.counts.ok > 0;
    if unanswered_ns > 0.0 && is_served && waiting <= STARVED_USERS_MAX_SHARE * users {
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

/// The share of arrivals that were sent and got no answer. Those that were never sent say nothing of the system. Whoever stops a run
/// leaves requests unanswered himself.
fn unanswered_share(evidence: &Evidence<'_>) -> f64 {
    let Counts { planned, failed, timed_out, unfinished, .. } = evidence.counts;
    let left = if evidence.was_stopped { 0 } else { unfinished };
    let without = failed.saturating_add(timed_out).saturating_add(left);
    if planned == 0 { 0.0 } else { without as f64 / planned as f64 }
}

/// The usual response time: of the windows with ok answers, the mean of those; over windows the lowest tenth, so that catching up
/// after outages does not make them look usual, however many there are. Windows within an outage have no ok answers, and requests
/// that timed out are none.
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

/// How long a gap lasts that is an outage.
fn shortest_ns(pulses: &Pulses, usual_ns: Option<f64>, gap: &Gap) -> f64 {
    let is_apart =
        |pulse: &&Pulse| pulse.at_ns + pulses.window_ns() <= gap.from_ns || pulse.at_ns >= gap.to_ns;
    let apart = || pulses.windows().iter().filter(is_apart);
    let answered: u64 = apart().map(|pulse| pulse.ok).sum();
    let lasting_ns = apart().count() as f64 * pulses.window_ns() as f64;
    let per_request_ns = if answered > 0 { lasting_ns / answered as f64 } else { 0.0 };
    let usual_ns = usual_ns.unwrap_or(0.0);
    (USUAL_RESPONSES * usual_ns).max(USUAL_REQUESTS * per_request_ns).max(Gaps::SHORTEST_NS as f64)
}

/// What to say of the first outage, where steadiness is judged.
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

    /// Windows of a quarter of a second with so many ok answers, each after so long.
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
        }
    }

    #[test]
    fn a_time_without_answers_is_an_outage_where_answers_usually_come_sooner() {
        let (quick, waits) = (pulses(&[50; 16], MS), Waits::default());
        let outage = judge(&evidence(&quick, &waits, vec![gap(1_000, 1_300)])).unwrap();
        assert_eq!((outage.longest_s, outage.gone_share), (0.3, 0.075));
        assert!(outage.is_degraded());
        // Half a second for an answer, one at a time: gaps of that length are how it works.
        let slow = pulses(&[0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1], 500 * MS);
        let outage = judge(&evidence(&slow, &waits, vec![gap(1_000, 1_500), gap(1_500, 2_000)])).unwrap();
        assert_eq!(outage, Outage::default());
    }

    #[test]
    fn a_long_outage_does_not_look_usual_to_itself() {
        // Answers for 750 ms, and never again: five in all.
        let mut ended = [0; 16];
        ended[..3].copy_from_slice(&[2, 2, 1]);
        let (dead, waits) = (pulses(&ended, MS), Waits::default());
        let outage = judge(&evidence(&dead, &waits, vec![gap(700, 4_000)])).unwrap();
        assert_eq!(outage.longest_s, 3.3);
        // Of an open load most arrivals wait for the end of the outage, and the catching up is quick.
        let mut ended = [50; 16];
        ended[4..12].fill(0);
        ended[12] = 450;
        let frozen = pulses(&ended, MS);
        let outage = judge(&evidence(&frozen, &waits, vec![gap(1_000, 3_000)])).unwrap();
        assert_eq!((outage.longest_s, outage.gone_share), (2.0, 0.5));
    }

    #[test]
    fn half_of_the_users_waiting_in_vain_is_half_gone() {
        let (quick, mut waits) = (pulses(&[50; 16], MS), Waits::default());
        waits.note(4_000 * MS, WaitEnd::Failure);
        waits.note(4_000 * MS, WaitEnd::Silence);
        // A long tail: answered after 900 ms.
        (0..10).for_each(|_| waits.note(900 * MS, WaitEnd::Answer));
        let outage = judge(&evidence(&quick, &waits, Vec::new())).unwrap();
        assert_eq!((outage.longest_s, outage.gone_share), (0.0, 0.5));
    }

    #[test]
    fn one_of_ten_users_who_waits_while_others_are_served_is_starved_and_nothing_is_gone() {
        let (quick, mut waits) = (pulses(&[50; 16], MS), Waits::default());
        waits.note(4_000 * MS, WaitEnd::Silence);
        let counts = Counts { ok: 800, ..Counts::default() };
        let ten = Evidence { connections: 10, counts, ..evidence(&quick, &waits, Vec::new()) };
        let outage = judge(&ten).unwrap();
        assert_eq!((outage.gone_share, outage.is_degraded()), (0.0, false));
        let starvation = Starvation { users: 1, of_users: 10, longest_s: 4.0, time_share: 0.1 };
        assert_eq!(outage.starvation, Some(starvation));
        // A request that failed is no wait for others.
        let mut failed = Waits::default();
        failed.note(4_000 * MS, WaitEnd::Failure);
        let outage = judge(&Evidence { waits: &failed, ..ten }).unwrap();
        assert_eq!((outage.gone_share, outage.starvation), (0.1, None));
    }

    #[test]
    fn arrivals_without_an_answer_are_gone_unless_somebody_stopped_the_run() {
        let (quick, waits) = (pulses(&[50; 16], MS), Waits::default());
        let counts =
            Counts { planned: 100, failed: 4, timed_out: 2, unfinished: 1, not_sent: 3, ..Counts::default() };
        let open = Evidence { model: Model::Open, counts, ..evidence(&quick, &waits, Vec::new()) };
        assert_eq!(judge(&open).unwrap().gone_share, 0.07, "3 were never sent");
        assert_eq!(judge(&Evidence { was_stopped: true, ..open }).unwrap().gone_share, 0.06);
    }
}
