//! Timer trials: delay of wake-ups.

use std::thread;
use std::time::Duration;

use sockets::poll::Poll;

use crate::disk::percentile;
use crate::figure::Findings;
use crate::site::Site;
use crate::stopwatch::Stopwatch;

/// Duration of a wait.
const WAIT: Duration = Duration::from_millis(1);
/// Number of waits per trial. Five trials suffice for a 99th percentile.
const WAITS: u32 = 200;
/// Number of waits per trial of a plain sleep, for which no 99th percentile is reported.
const SLEEPS: u32 = 50;
const SAMPLES_P99_MIN: usize = 1_000;

/// Measures waits like the load generator's, and plain sleeps.
pub(crate) fn measure(site: &Site<'_>, findings: &mut Findings) {
    // A separate thread, because the timer slack that a poller sets belongs to its thread.
    let precise = thread::scope(|scope| scope.spawn(|| precise_waits(site)).join());
    let (p50s, p99) = precise.unwrap_or_else(|_| (Err("its thread ended early".to_owned()), None));
    findings.note("timer_late_p50", p50s);
    let too_few = || format!("the trials were stopped before {SAMPLES_P99_MIN} waits");
    findings.note("timer_late_p99", p99.map(|p99| vec![p99]).ok_or_else(too_few));
    let plainly = || {
        thread::sleep(WAIT);
        Ok(())
    };
    findings.note(
        "sleep_late_p50",
        site.repeat(|| wake_delays_us(SLEEPS, plainly).map(|late| percentile(&late, 0.5))),
    );
}

/// Measures only the median per trial of waits like the load generator's.
pub(crate) fn measure_brief(site: &Site<'_>, findings: &mut Findings) {
    let brief = Site { effort: crate::effort::Effort { repetitions: 1, ..site.effort }, ..*site };
    let late = thread::scope(|scope| scope.spawn(|| precise_waits(&brief)).join());
    findings.note(
        "timer_late_p50",
        late.map_or_else(|_| Err("its thread ended early".to_owned()), |(p50s, _)| p50s),
    );
}

/// Measures the median of each trial, and the 99th percentile over all trials.
fn precise_waits(site: &Site<'_>) -> (Result<Vec<f64>, String>, Option<f64>) {
    let mut all = Vec::new();
    let p50s = Poll::new().map_err(|errno| errno.to_string()).and_then(|mut poll| {
        site.repeat(|| {
            let wait = || poll.wait(WAIT.as_nanos() as u64).map(drop).map_err(|errno| errno.to_string());
            let late = wake_delays_us(WAITS, wait)?;
            all.extend_from_slice(&late);
            Ok(percentile(&late, 0.5))
        })
    });
    all.sort_unstable_by(f64::total_cmp);
    let p99 = (all.len() >= SAMPLES_P99_MIN).then(|| percentile(&all, 0.99));
    (p50s, p99)
}

/// Measures the delay of each wake-up beyond the requested wait, in microseconds, ascending.
fn wake_delays_us(waits: u32, mut wait: impl FnMut() -> Result<(), String>) -> Result<Vec<f64>, String> {
    let mut late = Vec::with_capacity(waits as usize);
    for _ in 0..waits {
        let watch = Stopwatch::start();
        wait()?;
        late.push((watch.elapsed_us() - WAIT.as_secs_f64() * 1e6).max(0.0));
    }
    late.sort_unstable_by(f64::total_cmp);
    Ok(late)
}
