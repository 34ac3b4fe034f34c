//! Tests of costs whose true values are known, in simulated time.

mod noise;

use std::collections::BTreeMap;

use evidence::{Cost, Judged, Lost, Recovery};
use record::{Loss, Moment, Moments, OpenParts, Presence};

use super::{Times, judge};

const MS: u64 = 1_000_000;
const SECOND: u64 = 1_000 * MS;
const WINDOW: (u64, u64) = (2 * SECOND, 40 * SECOND);
const AT: u64 = 20 * SECOND + 30 * MS;

/// Disturbance of the server.
#[derive(Clone, Copy)]
enum Trouble {
    Nothing,
    /// The server serves nothing for the given time.
    Freeze(u64),
    /// Resets requests in flight, and requests that arrive within the given time.
    Reset(u64),
    /// Answers all requests with 503 for the given time.
    Reject(u64),
    /// Service takes three times as long, and returns to normal linearly over the given time.
    Slow(u64),
    /// Service takes twice as long from now on.
    SlowForGood,
}

/// Source of requests.
#[derive(Clone, Copy)]
enum LoadSource {
    /// Number of users without think time.
    Users(usize),
    /// Random arrivals, at this mean rate per second.
    Arrivals(f64),
}

struct Chance(u64);

impl Chance {
    fn exponential_ns(&mut self, mean_ns: f64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        let unit = ((mixed ^ (mixed >> 31)) >> 11) as f64 / (1u64 << 53) as f64;
        (-mean_ns * (1.0 - unit).ln()) as u64
    }
}

/// Server with four workers, each of which serves a request in 2 ms on average.
struct Server {
    free_ns: [u64; 4],
    trouble: Trouble,
    chance: Chance,
}

impl Server {
    /// Returns the end and the loss of a request that arrives at `intended_ns`.
    fn serve(&mut self, intended_ns: u64) -> (u64, Option<Loss>) {
        let to_ns = |for_ns: u64| (AT..AT + for_ns).contains(&intended_ns);
        match self.trouble {
            Trouble::Reset(for_ns) if to_ns(for_ns) => return (intended_ns + MS, Some(Loss::Reset)),
            Trouble::Reject(for_ns) if to_ns(for_ns) => return (intended_ns + MS, Some(Loss::Rejected)),
            _ => {}
        }
        let worker = (0..4).min_by_key(|worker| self.free_ns[*worker]).unwrap();
        let mut from_ns = self.free_ns[worker].max(intended_ns);
        if let Trouble::Freeze(for_ns) = self.trouble
            && (AT..AT + for_ns).contains(&from_ns)
        {
            from_ns = AT + for_ns;
        }
        let factor = match self.trouble {
            Trouble::Slow(for_ns) if (AT..AT + for_ns).contains(&from_ns) => {
                3.0 - 2.0 * (from_ns - AT) as f64 / for_ns as f64
            }
            Trouble::SlowForGood if from_ns >= AT => 2.0,
            _ => 1.0,
        };
        let mut done_ns = from_ns + (self.chance.exponential_ns(2e6) as f64 * factor) as u64;
        if let Trouble::Freeze(for_ns) = self.trouble
            && from_ns < AT
            && done_ns > AT
        {
            done_ns += for_ns;
        }
        self.free_ns[worker] = done_ns;
        let is_broken = matches!(self.trouble, Trouble::Reset(_)) && intended_ns < AT && done_ns > AT;
        if is_broken { (AT, Some(Loss::Reset)) } else { (done_ns, None) }
    }
}

/// Simulates requests, with ends and losses, in order of intended times.
fn play(who: LoadSource, trouble: Trouble, seed: u64) -> Vec<(u64, u64, Option<Loss>)> {
    let mut server = Server { free_ns: [0; 4], trouble, chance: Chance(seed) };
    let mut requests = Vec::new();
    match who {
        LoadSource::Arrivals(per_s) => {
            let mut chance = Chance(!seed);
            let mut at_ns = 0;
            while at_ns < WINDOW.1 {
                let (ended_ns, loss) = server.serve(at_ns);
                requests.push((at_ns, ended_ns, loss));
                at_ns += chance.exponential_ns(1e9 / per_s);
            }
        }
        LoadSource::Users(users) => {
            let mut ready: BTreeMap<(u64, usize), ()> =
                (0..users).map(|user| ((user as u64, user), ())).collect();
            while let Some(((at_ns, user), ())) = ready.pop_first()
                && at_ns < WINDOW.1
            {
                let (ended_ns, loss) = server.serve(at_ns);
                requests.push((at_ns, ended_ns, loss));
                ready.insert((ended_ns + 1, user), ());
            }
        }
    }
    requests
}

/// Returns the windows that a worker would record.
fn windows(requests: &[(u64, u64, Option<Loss>)]) -> Vec<Moment> {
    let mut moments = Moments::default();
    // Starts and ends of requests, in order of time.
    let mut course: Vec<(u64, Option<usize>)> = requests.iter().map(|request| (request.0, None)).collect();
    course.extend(requests.iter().enumerate().map(|(place, request)| (request.1, Some(place))));
    course.sort_unstable();
    let (mut open, mut number, mut presence) = (0u64, 0, Presence::default());
    let mut asked_ns = None;
    for (at_ns, end) in course {
        while at_ns / Moment::WINDOW_NS > number {
            end_window(&mut moments, number, presence, asked_ns);
            number += 1;
            (presence, asked_ns) = (Presence::default(), (open > 0).then_some(number * Moment::WINDOW_NS));
        }
        let window = moments.window(number);
        match end {
            None => {
                (window.planned, window.sent) = (window.planned + 1, window.sent + 1);
                open += 1;
                asked_ns = asked_ns.or(Some(at_ns));
            }
            Some(place) => {
                open -= 1;
                let (intended_ns, _, loss) = requests[place];
                if let Some(loss) = loss {
                    window.note_lost(loss, intended_ns);
                    continue;
                }
                window.note_ok(at_ns - intended_ns, at_ns);
                if presence.first_ok_ns.is_none() {
                    (presence.first_ok_ns, presence.asked_ns) = (Some(at_ns), asked_ns);
                }
                presence.last_ok_ns = Some(at_ns);
                asked_ns = (open > 0).then_some(at_ns);
            }
        }
    }
    end_window(&mut moments, number, presence, asked_ns);
    moments.into_windows()
}

fn end_window(moments: &mut Moments, number: u64, presence: Presence, asked_ns: Option<u64>) {
    let presence = Presence { asked: OpenParts::ALL, ..presence };
    moments.window(number).presence = match presence.last_ok_ns {
        Some(_) => Presence { asked_again_ns: asked_ns, ..presence },
        None => Presence { asked_ns, ..presence },
    };
}

fn events() -> [Times; 1] {
    [Times { begun_ns: AT, ended_ns: Some(AT + 5 * MS) }]
}

#[track_caller]
fn cost(who: LoadSource, trouble: Trouble, seed: u64) -> Cost {
    let windows = windows(&play(who, trouble, seed));
    match judge(WINDOW, &events(), &windows).remove(0) {
        Judged::Cost(cost) => *cost,
        Judged::Unknown(why) => panic!("{why}"),
    }
}

const CLOSED: LoadSource = LoadSource::Users(8);
const OPEN: LoadSource = LoadSource::Arrivals(1_000.0);

fn outage_ms(cost: &Cost) -> u64 {
    cost.outage_ns / MS
}

#[track_caller]
fn recovered_ms(cost: &Cost) -> u64 {
    let Recovery::After(ns) = cost.recovery else { panic!("{:?}", cost.recovery) };
    ns / MS
}

#[test]
fn freeze_of_800_ms_is_an_outage_without_losses() {
    let closed = cost(CLOSED, Trouble::Freeze(800 * MS), 1);
    assert!((795..=815).contains(&outage_ms(&closed)), "{closed:?}");
    assert!((700..=900).contains(&recovered_ms(&closed)), "{closed:?}");
    assert_eq!((closed.lost, closed.errors), (Lost::default(), 0));
    // Eight users wait for 0.8 s each. Thousands of later answers are slightly faster or slower at random.
    assert!((closed.excess_wait_ns / 1e9 - 6.4).abs() < 0.64, "{closed:?}");
    assert!(closed.worst_response_ns.is_some_and(|ns| (800 * MS..830 * MS).contains(&ns)), "{closed:?}");

    let open = cost(OPEN, Trouble::Freeze(800 * MS), 1);
    assert!((795..=815).contains(&outage_ms(&open)), "{open:?}");
    // When service resumes, 800 requests wait. Capacity is twice the arrival rate, so they take another 0.8 s.
    assert!((1_450..=1_800).contains(&recovered_ms(&open)), "{open:?}");
    assert_eq!(open.lost, Lost::default());
    assert!((open.excess_wait_ns / 1e9 / 640.0 - 1.0).abs() < 0.15, "{open:?}");
}

#[test]
fn resets_are_counted_exactly() {
    for who in [CLOSED, OPEN] {
        let requests = play(who, Trouble::Reset(50 * MS), 2);
        let truth = requests.iter().filter(|request| request.2.is_some()).count() as u64;
        let cost = cost(who, Trouble::Reset(50 * MS), 2);
        assert!(truth > 20);
        assert_eq!(cost.lost, Lost { reset: truth, ..Lost::default() });
        assert_eq!((cost.errors, cost.lost.total()), (truth, truth));
        assert!((45..=70).contains(&outage_ms(&cost)), "{cost:?}");
    }
}

#[test]
fn recovery_from_rejections_begins_with_the_first_ok_answer() {
    // The last disturbed window of each case has enough answers to count as usual.
    for (for_ms, seed) in [(200, 3), (500, 4), (1_000, 5), (2_000, 6)] {
        for more_ms in [0, 10] {
            let cost = cost(OPEN, Trouble::Reject((for_ms + more_ms) * MS), seed);
            let truth_ms = for_ms + more_ms;
            assert!((truth_ms - 5..=truth_ms + 25).contains(&recovered_ms(&cost)), "{truth_ms}: {cost:?}");
        }
    }
}

#[test]
fn rejections_for_two_seconds_are_an_outage_of_two_seconds() {
    for who in [CLOSED, OPEN] {
        let truth =
            play(who, Trouble::Reject(2 * SECOND), 3).iter().filter(|request| request.2.is_some()).count();
        let cost = cost(who, Trouble::Reject(2 * SECOND), 3);
        assert!((1_980..=2_020).contains(&outage_ms(&cost)), "{cost:?}");
        assert_eq!(cost.lost, Lost { rejected: truth as u64, ..Lost::default() });
        assert!((1_900..=2_100).contains(&recovered_ms(&cost)), "{cost:?}");
    }
}

#[test]
fn gradual_recovery_is_measured_to_its_end() {
    let slow = cost(CLOSED, Trouble::Slow(5 * SECOND), 4);
    // Service is a tenth slower after 95 % of the time, and noise hides nearly twice that.
    assert!((3_900..=5_000).contains(&recovered_ms(&slow)), "{slow:?}");
    assert_eq!((outage_ms(&slow), slow.lost), (0, Lost::default()));
    assert!(slow.excess_wait_ns > 10e9, "{slow:?}");
    let never = cost(CLOSED, Trouble::SlowForGood, 4);
    assert!(matches!(never.recovery, Recovery::NotWithin(ns) if ns > 19 * SECOND), "{never:?}");
}

#[test]
fn event_without_effect_has_no_cost() {
    let mut costly = 0;
    let runs = 25;
    for seed in 0..runs {
        for who in [CLOSED, OPEN, LoadSource::Arrivals(60.0), LoadSource::Users(1)] {
            let cost = cost(who, Trouble::Nothing, 1_000 + seed);
            let is_free =
                cost.recovery == Recovery::After(0) && cost.outage_ns == 0 && cost.lost == Lost::default();
            costly += u64::from(!is_free);
        }
    }
    assert!(costly * 20 <= 4 * runs, "{costly} of {} events that did nothing have a cost", 4 * runs);
}

#[test]
fn only_losses_beyond_the_usual_are_a_cost() {
    let lossy = |seed: u64, share_percent: u64, more_percent: u64| {
        let mut requests = play(OPEN, Trouble::Nothing, seed);
        for (number, request) in (0u64..).zip(&mut requests) {
            let during = (AT..AT + SECOND).contains(&request.0);
            let percent = if during { share_percent + more_percent } else { share_percent };
            let drawn = (number ^ seed).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32;
            request.2 = (drawn % 100 < percent).then_some(Loss::Rejected);
        }
        let Judged::Cost(cost) = judge(WINDOW, &events(), &windows(&requests)).remove(0) else { panic!() };
        cost.lost.rejected
    };
    let costly = (0..40).filter(|seed| lossy(*seed, 1, 0) > 0).count();
    assert!(costly <= 2, "{costly}");
    let found = lossy(7, 1, 20);
    assert!((150..=260).contains(&found), "200 of 1,000 more: {found}");
}

#[test]
fn time_out_belongs_to_the_event_of_its_intended_time() {
    let mut requests = play(OPEN, Trouble::Nothing, 5);
    let (mut hanging, mut before) = (0, 0);
    for request in &mut requests {
        if (AT..AT + 500 * MS).contains(&request.0) && hanging < 7 {
            (request.1, request.2, hanging) = (request.0 + 15 * SECOND, Some(Loss::TimedOut), hanging + 1);
        } else if (AT - SECOND..AT - 900 * MS).contains(&request.0) && before < 3 {
            (request.1, request.2, before) = (AT + 2 * MS, Some(Loss::TimedOut), before + 1);
        }
    }
    let second = Times { begun_ns: 30 * SECOND, ended_ns: None };
    let costs = judge(WINDOW, &[events()[0], second], &windows(&requests));
    let lost = |judged: &Judged| match judged {
        Judged::Cost(cost) => cost.lost.timed_out,
        Judged::Unknown(why) => panic!("{why}"),
    };
    assert_eq!(costs.iter().map(lost).collect::<Vec<_>>(), [10, 0]);
}

#[test]
fn too_little_time_before_gives_a_reason_and_no_cost() {
    let windows = windows(&play(OPEN, Trouble::Nothing, 6));
    let at = |begun_ns: u64| Times { begun_ns, ended_ns: None };
    let judged =
        judge(WINDOW, &[at(4 * SECOND), at(11 * SECOND), at(12 * SECOND), at(41 * SECOND)], &windows);
    let words = |judged: &Judged| match judged {
        Judged::Cost(_) => String::new(),
        Judged::Unknown(why) => why.clone(),
    };
    let words: Vec<String> = judged.iter().map(words).collect();
    assert!(words[0].contains("2.0 s"), "{words:?}");
    // Observed for a second only, until the next event.
    assert_eq!(words[1], "");
    assert_eq!(words[2], "", "what is usual is known from before the event at 11 s");
    assert!(words[3].contains("the load was over"), "{words:?}");
    assert!(matches!(judge(WINDOW, &[at(AT)], &[]).remove(0), Judged::Unknown(_)));
}

/// Returns the costs of events at `seconds`, under a load whose requests are rejected in the given spans.
fn costs_at(seconds: &[f64], rejecting: &[(f64, f64)]) -> Vec<Cost> {
    let ns = |seconds: f64| (seconds * 1e9) as u64;
    let mut requests = play(OPEN, Trouble::Nothing, 9);
    for request in &mut requests {
        let is_rejected = rejecting.iter().any(|(from, to)| (ns(*from)..ns(*to)).contains(&request.0));
        request.2 = is_rejected.then_some(Loss::Rejected);
    }
    let times: Vec<Times> =
        seconds.iter().map(|at| Times { begun_ns: ns(*at), ended_ns: Some(ns(*at)) }).collect();
    let costs = judge(WINDOW, &times, &windows(&requests)).into_iter().map(|judged| match judged {
        Judged::Cost(cost) => *cost,
        Judged::Unknown(why) => panic!("{why}"),
    });
    costs.collect()
}

#[test]
fn occurrences_5_s_apart_each_have_a_cost() {
    let costs = costs_at(&[10.0, 15.0, 20.0], &[(10.0, 10.3), (15.0, 15.3), (20.0, 20.3)]);
    for cost in &costs {
        assert!((280..=320).contains(&outage_ms(cost)), "{cost:?}");
        assert!((290..=330).contains(&recovered_ms(cost)), "{cost:?}");
        assert!((200..=400).contains(&cost.lost.rejected), "{cost:?}");
    }
}

#[test]
fn recovery_from_a_kill_ends_with_recovery_after_the_start() {
    let costs = costs_at(&[10.0, 12.0], &[(10.0, 13.0)]);
    let recovered: Vec<u64> = costs.iter().map(recovered_ms).collect();
    assert!((2_990..=3_030).contains(&recovered[0]), "{costs:?}");
    assert!((990..=1_030).contains(&recovered[1]), "{costs:?}");
    let lost: Vec<u64> = costs.iter().map(|cost| cost.lost.rejected).collect();
    assert!((1_800..=2_200).contains(&lost[0]) && (850..=1_150).contains(&lost[1]), "each is lost once");
}

#[test]
fn simultaneous_events_each_have_the_cost_of_both() {
    let costs = costs_at(&[10.0, 10.000_2], &[(10.0, 10.5)]);
    for cost in &costs {
        assert!((480..=520).contains(&outage_ms(cost)), "{cost:?}");
        assert!(cost.lost.rejected > 400, "{cost:?}");
    }
}

#[test]
fn delay_of_the_generator_is_no_outage() {
    let mut windows = windows(&play(CLOSED, Trouble::Freeze(60 * MS), 8));
    let judged = |windows: &[Moment]| match judge(WINDOW, &events(), windows).remove(0) {
        Judged::Cost(cost) => outage_ms(&cost),
        Judged::Unknown(why) => panic!("{why}"),
    };
    assert!((58..=70).contains(&judged(&windows)));
    windows[200].late_ns = 60 * MS;
    windows[201].late_ns = 60 * MS;
    assert_eq!(judged(&windows), 0);
}
