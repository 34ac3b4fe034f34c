//! Simulated runs: flat series of every kind are steady, and planted changes are found.

use stats::{Series, SteadyVerdict, Unsteady, Window, steady};

use crate::support::Chance;

const WINDOW_S: f64 = 0.25;
const RUNS: usize = 40;

/// Simulates a system under random arrivals. With `queues`, it serves one request after another, otherwise all at once. `service_s`
/// draws the service time at a given time.
fn open(
    chance: &mut Chance,
    rate_per_s: f64,
    windows: usize,
    queues: bool,
    service_s: &dyn Fn(&mut Chance, f64) -> f64,
) -> Vec<Window> {
    let mut series = vec![Window::default(); windows];
    let (mut now_s, mut free_s) = (0.0, 0.0f64);
    loop {
        now_s += chance.exponential() / rate_per_s;
        if now_s >= windows as f64 * WINDOW_S {
            return series;
        }
        let start_s = if queues { free_s.max(now_s) } else { now_s };
        let end_s = start_s + service_s(chance, start_s);
        free_s = end_s;
        let (first, last) = ((now_s / WINDOW_S) as usize, (end_s / WINDOW_S) as usize);
        if let Some(window) = series.get_mut(last) {
            window.ended += 1;
            window.response_sum_ns += ((end_s - now_s) * 1e9) as u64;
        }
        for (place, window) in series.iter_mut().enumerate().take(last + 1).skip(first) {
            let (from_s, to_s) = (place as f64 * WINDOW_S, (place + 1) as f64 * WINDOW_S);
            window.in_flight += (end_s.min(to_s) - now_s.max(from_s)) / WINDOW_S;
        }
    }
}

/// Simulates a closed load at full speed: a level with autocorrelated noise between windows.
fn closed(
    chance: &mut Chance,
    windows: usize,
    noise: f64,
    inherited: f64,
    level: &dyn Fn(f64) -> f64,
) -> Vec<Window> {
    let mut stray = 0.0;
    let window = |place: usize| {
        stray = inherited * stray + (1.0f64 - inherited * inherited).sqrt() * noise * chance.normal();
        let ended = 5_000.0 * level(place as f64 * WINDOW_S) * (1.0 + stray);
        Window { ended: ended.max(0.0) as u64, response_sum_ns: 25_000_000_000, in_flight: 100.0 }
    };
    (0..windows).map(window).collect()
}

/// Returns the number of [`RUNS`] runs whose verdict satisfies `is`.
fn count(make: impl FnMut() -> Vec<Window>, warm: usize, is: impl Fn(SteadyVerdict) -> bool) -> usize {
    std::iter::repeat_with(make).take(RUNS).filter(|series| is(steady(series, warm).verdict)).count()
}

fn is_steady(verdict: SteadyVerdict) -> bool {
    verdict == SteadyVerdict::Steady
}

#[test]
fn flat_noise_of_any_size_is_steady() {
    let mut chance = Chance::seeded(1);
    for (windows, noise, inherited, least) in [
        (32, 0.02, 0.0, 39),
        (60, 0.1, 0.0, 39),
        (120, 0.3, 0.0, 37),
        (60, 0.1, 0.5, 38),
        (120, 0.1, 0.9, 36),
        (240, 0.05, 0.97, 36),
    ] {
        let steady = count(|| closed(&mut chance, windows, noise, inherited, &|_| 1.0), 8, is_steady);
        assert!(steady >= least, "{windows} windows, noise {noise}, inherited {inherited}: {steady}");
    }
}

#[test]
fn wandering_queue_is_steady() {
    let mut chance = Chance::seeded(2);
    for (busy, least) in [(0.3, 38), (0.8, 35), (0.9, 34)] {
        let mut make =
            || open(&mut chance, busy * 100.0, 120, true, &|chance, _| 0.01 * chance.exponential());
        let steady = count(&mut make, 8, is_steady);
        assert!(steady >= least, "busy {busy}: {steady}");
    }
    let few =
        count(|| open(&mut chance, 2.0, 120, false, &|chance, _| 0.05 * chance.exponential()), 8, is_steady);
    assert!(few >= 38, "hardly any requests: {few}");
}

#[test]
fn warm_up_is_cut_at_its_end() {
    let mut chance = Chance::seeded(3);
    let cold = |time_s: f64| if time_s < 20.0 { 3.0 } else { 1.0 };
    let is_cut = |verdict| matches!(verdict, SteadyVerdict::WarmingUp { cut: 80..=96 });
    let held = count(|| open(&mut chance, 200.0, 240, false, &|_, time_s| 0.01 * cold(time_s)), 8, is_cut);
    let noisy = count(
        || open(&mut chance, 200.0, 240, false, &|chance, time_s| 0.01 * cold(time_s) * chance.exponential()),
        8,
        is_cut,
    );
    let full = count(|| closed(&mut chance, 240, 0.05, 0.3, &|time_s| 1.0 / cold(time_s)), 8, is_cut);
    assert!(held == RUNS && noisy >= 37 && full >= 37, "{held} {noisy} {full}");
    // A warm-up that was planned long enough is not reported.
    let planned = count(|| closed(&mut chance, 240, 0.05, 0.3, &|time_s| 1.0 / cold(time_s)), 88, is_steady);
    let fading = count(
        || closed(&mut chance, 160, 0.05, 0.3, &|time_s| 1.0 - 0.5 * (-time_s / 5.0).exp()),
        80,
        is_steady,
    );
    assert!(planned >= 38 && fading >= 38, "{planned} {fading}");
}

#[test]
fn drift_is_found() {
    let mut chance = Chance::seeded(4);
    let drifts = |verdict| matches!(verdict, SteadyVerdict::NotSteady { why: Unsteady::Drifts(_) });
    let unsettled = |verdict| matches!(verdict, SteadyVerdict::NotSteady { .. });
    // One percent in ten seconds, of a service time and of a throughput.
    let slower = |_: &mut Chance, time_s: f64| 0.01 * (1.0 + 0.001 * time_s);
    assert_eq!(count(|| open(&mut chance, 200.0, 160, false, &slower), 8, drifts), RUNS);
    let falling = count(|| closed(&mut chance, 240, 0.02, 0.3, &|time_s| 1.0 - 0.001 * time_s), 8, unsettled);
    assert!(falling >= 28, "{falling}");
    // More arrivals than the system can serve.
    let grows = || open(&mut chance, 130.0, 160, true, &|chance, _| 0.01 * chance.exponential());
    assert_eq!(count(grows, 8, drifts), RUNS);
}

#[test]
fn step_is_found_within_two_windows() {
    let mut chance = Chance::seeded(5);
    // At 60 % of a minute.
    let is_there =
        |verdict| matches!(verdict, SteadyVerdict::NotSteady { why: Unsteady::Steps { at: 142..=146, .. } });
    let later = |time_s: f64| if time_s < 36.0 { 1.0 } else { 1.1 };
    assert_eq!(
        count(|| open(&mut chance, 200.0, 240, false, &|_, time_s| 0.01 * later(time_s)), 8, is_there),
        RUNS
    );
    let full = count(|| closed(&mut chance, 240, 0.02, 0.3, &|time_s| 1.0 / later(time_s)), 8, is_there);
    assert!(full >= 37, "{full}");
    let found = steady(&closed(&mut chance, 240, 0.01, 0.0, &|time_s| 1.0 / later(time_s)), 8);
    let SteadyVerdict::NotSteady { why: Unsteady::Steps { at, series: Series::Throughput } } = found.verdict
    else {
        panic!("{found:?}")
    };
    assert_eq!(found.step, Some(at));
    // The response time of closed users moves in the opposite direction.
    assert!((found.halves_share.abs() - 0.08).abs() < 0.02 && found.rho.abs() > 0.5, "{found:?}");
}

#[test]
fn hang_of_half_of_few_users_is_found() {
    // The noise of a run with few noisy windows must be estimated from these.
    let mut chance = Chance::seeded(7);
    let runs = 1000;
    let found = (0..runs).filter(|_| !is_steady(steady(&users_of_whom_half_hang(&mut chance), 4).verdict));
    let found = found.count();
    assert!(found >= 990, "{found} of {runs}");
}

/// Simulates four users with a service time of 20 ms and a think time of 5 ms. Two of them hang from second 3 of 6 on.
fn users_of_whom_half_hang(chance: &mut Chance) -> Vec<Window> {
    let mut series = vec![Window { in_flight: 4.0, ..Window::default() }; 24];
    for hangs in [true, true, false, false] {
        let mut now_s = 0.0;
        while now_s < if hangs { 3.0 } else { 6.0 } {
            let service_s = 0.02 * chance.exponential();
            if let Some(window) = series.get_mut(((now_s + service_s) / WINDOW_S) as usize) {
                window.ended += 1;
                window.response_sum_ns += (service_s * 1e9) as u64;
            }
            now_s += service_s + 0.005;
        }
    }
    series
}

#[test]
fn short_series_is_reported_as_too_short() {
    let mut chance = Chance::seeded(6);
    let series = closed(&mut chance, 27, 0.05, 0.0, &|_| 1.0);
    assert_eq!(steady(&series, 8).verdict, SteadyVerdict::TooShort { needed: 28 });
    assert_eq!(steady(&[], 0).verdict, SteadyVerdict::TooShort { needed: 20 });
    assert_eq!(steady(&series, usize::MAX).verdict, SteadyVerdict::TooShort { needed: usize::MAX });
}

#[test]
fn hostile_windows_do_not_panic() {
    let odd = [
        Window::default(),
        Window { ended: u64::MAX, response_sum_ns: u64::MAX, in_flight: f64::MAX },
        Window { ended: 1, response_sum_ns: 0, in_flight: f64::NAN },
        Window { ended: 1, response_sum_ns: 1, in_flight: f64::NEG_INFINITY },
        Window { ended: 0, response_sum_ns: u64::MAX, in_flight: 1e-300 },
    ];
    assert_eq!(steady(&[Window::default(); 60], 0).verdict, SteadyVerdict::Steady, "nothing changed");
    for (first, second) in (0..odd.len()).flat_map(|a| (0..odd.len()).map(move |b| (a, b))) {
        for split in [1, 30, 59] {
            let series: Vec<Window> =
                (0..60).map(|place| odd[if place < split { first } else { second }]).collect();
            let found = steady(&series, 5);
            assert!(found.drift_share.is_finite() && found.halves_share.is_finite() && found.rho.is_finite());
        }
    }
}

#[test]
fn empty_first_half_has_no_halves_share() {
    let window = |at: usize| {
        let ended = if at < 40 { 0 } else { 500 };
        Window { ended, response_sum_ns: ended * 1_000_000, in_flight: 1.0 }
    };
    // The planned warm-up leaves twenty quiet windows before twenty busy ones.
    let found = steady(&(0..60).map(window).collect::<Vec<_>>(), 20);
    assert!(matches!(found.verdict, SteadyVerdict::NotSteady { .. }), "{found:?}");
    assert!(found.halves_share.abs() < 1e6, "{found:?}");
}
