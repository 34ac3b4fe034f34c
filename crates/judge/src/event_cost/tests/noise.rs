//! Tests of the false positive rate: costs of events without effect, on machines that disturb the measurement.

use evidence::{Cost, Judged, Recovery};
use record::{Moment, OpenParts, Presence};

use super::{Chance, MS, SECOND, Times, judge};

/// Number of runs for each kind of noise.
const RUNS: u64 = 200;
const WINDOW: (u64, u64) = (SECOND, 11 * SECOND);
const AT: u64 = 6 * SECOND;
const RATE: f64 = 500.0;
const HOLD_NS: f64 = 20e6;

/// Kind of noise.
#[derive(Clone, Copy, Debug)]
enum Noise {
    /// Only the normal variation of response times.
    Quiet,
    /// Some responses take much longer: a Pareto distribution with infinite variance.
    LongTail,
    /// The whole machine stalls occasionally, sometimes for long.
    Stalls,
    /// Other programs take cores from generator and server for a few milliseconds, many times a second, from a random
    /// time on.
    Neighbors,
    /// The server pauses regularly, as for garbage collection.
    Pauses,
}

const ALL: [Noise; 5] = [Noise::Quiet, Noise::LongTail, Noise::Stalls, Noise::Neighbors, Noise::Pauses];

/// A period in which the generator, the server, or both are stalled.
#[derive(Clone, Copy)]
struct Stall {
    from_ns: u64,
    to_ns: u64,
    /// Whether the generator stalls; it notices when it resumes.
    hits_generator: bool,
    hits_server: bool,
}

impl Chance {
    fn unit(&mut self) -> f64 {
        (-(self.exponential_ns(1e9) as f64) / 1e9).exp()
    }

    /// Returns a Pareto-distributed time: at least `least`, and longer than `x` with probability (least ÷ x)^shape.
    fn pareto_ns(&mut self, least: f64, shape: f64) -> u64 {
        (least * self.unit().max(1e-9).powf(-1.0 / shape)) as u64
    }
}

fn stalls(noise: Noise, chance: &mut Chance) -> Vec<Stall> {
    let mut all = Vec::new();
    let mut at_ns = 0;
    let begun_ns = (chance.unit() * WINDOW.1 as f64) as u64;
    let ended_ns = begun_ns + chance.exponential_ns(4e9);
    while at_ns < WINDOW.1 {
        let (pause_ns, length_ns, hits) = match noise {
            Noise::Quiet | Noise::LongTail => break,
            Noise::Stalls => {
                (chance.exponential_ns(1e9), chance.pareto_ns(3e6, 1.2).min(400 * MS), (true, true))
            }
            Noise::Neighbors => {
                let who = chance.unit();
                let is_begun = (begun_ns..ended_ns).contains(&at_ns);
                let length_ns = if is_begun { chance.pareto_ns(3e6, 1.5).min(40 * MS) } else { 0 };
                (chance.exponential_ns(4e7), length_ns, (who < 0.7, who > 0.3))
            }
            Noise::Pauses => (700 * MS + chance.exponential_ns(1e8), 25 * MS, (false, true)),
        };
        at_ns += pause_ns;
        let to_ns = at_ns + length_ns;
        all.push(Stall { from_ns: at_ns, to_ns, hits_generator: hits.0, hits_server: hits.1 });
        at_ns = to_ns;
    }
    all
}

/// Adds a stall of the server alone at the start of the event.
fn plant(stalls: &mut Vec<Stall>, length_ns: u64) {
    let planted = Stall { from_ns: AT, to_ns: AT + length_ns, hits_generator: false, hits_server: true };
    stalls.retain(|stall| stall.to_ns <= planted.from_ns || stall.from_ns >= planted.to_ns);
    let place = stalls.partition_point(|stall| stall.to_ns <= planted.from_ns);
    stalls.insert(place, planted);
}

/// Returns the time at which a component affected by `is_hit` resumes: the end of a stall that contains `at_ns`, or
/// else `at_ns`.
fn on_ns(stalls: &[Stall], is_hit: impl Fn(&Stall) -> bool, at_ns: u64) -> u64 {
    let next = stalls.partition_point(|stall| stall.to_ns <= at_ns);
    match stalls.get(next) {
        Some(stall) if is_hit(stall) && stall.from_ns <= at_ns => stall.to_ns,
        _ => at_ns,
    }
}

/// Simulates a load at a constant rate on a server that holds each request for a while and stalls for `planted_ns`.
fn moments(noise: Noise, planted_ns: u64, seed: u64) -> Vec<Moment> {
    let mut chance = Chance(seed.wrapping_mul(0x9e37_79b9));
    let mut stalls = stalls(noise, &mut chance);
    if planted_ns > 0 {
        plant(&mut stalls, planted_ns);
    }
    let stalls = stalls;
    let generator = |at_ns| on_ns(&stalls, |stall| stall.hits_generator, at_ns);
    let server = |at_ns| on_ns(&stalls, |stall| stall.hits_server, at_ns);
    let mut ends: Vec<(u64, u64)> = Vec::new();
    let mut windows: Vec<Moment> = (0..WINDOW.1 / Moment::WINDOW_NS + 1).map(Moment::numbered).collect();
    let window = |at_ns: u64| (at_ns / Moment::WINDOW_NS) as usize;
    for number in 0..(RATE * WINDOW.1 as f64 / 1e9) as u64 {
        let intended_ns = (number as f64 * 1e9 / RATE) as u64;
        let hold_ns = match noise {
            Noise::LongTail => chance.pareto_ns(HOLD_NS / 3.0, 1.5),
            _ => HOLD_NS as u64 + chance.exponential_ns(3e5),
        };
        let ended_ns = generator(server(server(generator(intended_ns)) + hold_ns));
        let planned = &mut windows[window(intended_ns)];
        (planned.planned, planned.sent) = (planned.planned + 1, planned.sent + 1);
        if ended_ns < WINDOW.1 {
            ends.push((ended_ns, intended_ns));
        }
    }
    ends.sort_unstable();
    let mut last_ns = 0;
    for (at_ns, intended_ns) in ends {
        let window = &mut windows[window(at_ns)];
        window.note_ok(at_ns - intended_ns, at_ns);
        window.presence.first_ok_ns.get_or_insert(at_ns);
        window.presence.asked_ns.get_or_insert(last_ns.max(window.at_ns()));
        window.presence.last_ok_ns = Some(at_ns);
        last_ns = at_ns;
    }
    for stall in stalls.iter().filter(|stall| stall.hits_generator) {
        // The generator notices the delay in its next iteration and records it in the window of the previous one.
        if let Some(window) = windows.get_mut(window(stall.from_ns)) {
            window.late_ns = window.late_ns.max(stall.to_ns - stall.from_ns);
        }
    }
    for window in &mut windows {
        window.late_ns = window.late_ns.max(100_000);
        let presence = window.presence;
        window.presence = match presence.last_ok_ns {
            Some(last_ns) => Presence { asked_again_ns: Some(last_ns), asked: OpenParts::ALL, ..presence },
            None => Presence { asked_ns: Some(window.at_ns()), asked: OpenParts::ALL, ..presence },
        };
    }
    windows
}

fn judged(noise: Noise, planted_ns: u64, seed: u64) -> Cost {
    let event = Times { begun_ns: AT, ended_ns: Some(AT + 5 * MS) };
    match judge(WINDOW, &[event], &moments(noise, planted_ns, seed)).remove(0) {
        Judged::Cost(cost) => *cost,
        Judged::Unknown(why) => panic!("{why}"),
    }
}

#[test]
fn event_without_effect_has_a_cost_in_at_most_1_percent_of_noisy_runs() {
    for noise in ALL {
        let (mut costly, mut unconfirmed) = (0, 0);
        for seed in 0..RUNS {
            let cost = judged(noise, 0, seed);
            match cost.recovery {
                Recovery::After(0) if cost.outage_ns == 0 => {}
                Recovery::Unconfirmed(_) if cost.outage_ns == 0 => unconfirmed += 1,
                _ => costly += 1,
            }
        }
        assert!(costly * 100 <= RUNS, "{noise:?}: {costly} of {RUNS} have a cost");
        // A recovery is unconfirmed only if the generator itself was late.
        let most = if matches!(noise, Noise::Stalls | Noise::Neighbors) { RUNS / 3 } else { RUNS / 50 };
        assert!(unconfirmed <= most, "{noise:?}: {unconfirmed} of {RUNS} are not confirmed");
    }
}

#[test]
fn stall_is_found_under_every_kind_of_noise() {
    let (runs, truth_ns) = (40, 800 * MS);
    for noise in ALL {
        let costs: Vec<Cost> = (0..runs).map(|seed| judged(noise, truth_ns, seed)).collect();
        let is_close = |ns: u64| ns.abs_diff(truth_ns) <= 100 * MS;
        let found = costs.iter().filter(|cost| is_close(cost.outage_ns)).count();
        assert!(found * 20 >= costs.len() * 19, "{noise:?}: {found} of {runs} outages");
        let confirmed: Vec<u64> = costs
            .iter()
            .filter_map(|cost| if let Recovery::After(ns) = cost.recovery { Some(ns) } else { None })
            .collect();
        // With a long tail, some requests sent within the stall take much longer than the stall.
        let after_ns = if matches!(noise, Noise::LongTail) { 300 * MS } else { 100 * MS };
        let is_close = |ns: u64| (truth_ns - 100 * MS..=truth_ns + after_ns).contains(&ns);
        let found = confirmed.iter().filter(|ns| is_close(**ns)).count();
        // A later stall of the whole machine prolongs the recovery.
        let least = if matches!(noise, Noise::Stalls) { 17 } else { 19 };
        assert!(
            found * 20 >= confirmed.len() * least,
            "{noise:?}: {found} of {} recoveries",
            confirmed.len()
        );
        assert!(confirmed.len() * 2 > costs.len(), "{noise:?}: {} are confirmed", confirmed.len());
    }
}
