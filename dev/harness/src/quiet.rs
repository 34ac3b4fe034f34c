//! Detects whether the machine was quiet during a measurement, and repeats the measurement if it was not.
//!
//! A [`MachineObserver`] thread repeats short sleeps during the measurement. If a compiler, other tests, or a hypervisor takes a core from
//! the measurement, these sleeps are late too. [`measured`] repeats a failed attempt only if the witness was disturbed. A failure
//! on a quiet machine, or of the last attempt, is final.

use std::any::Any;
use std::fmt;
use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use crate::say::print_progress;

/// Maximum number of attempts.
pub const ATTEMPTS: u32 = 5;
/// Maximum delay of a sleep on a quiet machine.
const LATE_MAX: Duration = Duration::from_millis(5);
/// Maximum total delay of sleeps on a quiet machine, as a share of the elapsed time.
const LATE_SHARE_MAX: f64 = 0.1;
/// Length of each sleep of the witness: long enough that a dozen witnesses do not disturb the measurement.
const NAP: Duration = Duration::from_millis(5);
/// Maximum wait for a quiet period before the next attempt, and the length of this period.
const CALM_TIMEOUT: Duration = Duration::from_secs(5);
const CALM: Duration = Duration::from_millis(200);
/// Nice value of measurements: a program with normal priority gets 3 % of a shared core.
const NICE: i32 = -15;
/// Clock ticks per second in `/proc/stat`.
const TICKS_PER_S: f64 = 100.0;

/// Disturbance of a measurement by other processes and machines.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Disturbance {
    /// Length of the measurement.
    pub over: Duration,
    /// Maximum delay of a sleep.
    pub late_max: Duration,
    /// Sum of the delays of all sleeps.
    pub late: Duration,
    /// Time in which threads of this process were runnable but had no core. Excludes threads that have ended.
    pub waited: Duration,
    /// CPU time that the hypervisor gave to other machines.
    pub stolen: Duration,
}

impl Disturbance {
    /// Returns true if other processes cannot be the cause of a failure during the measurement.
    pub fn is_quiet(&self) -> bool {
        self.late_max <= LATE_MAX && self.late.as_secs_f64() <= LATE_SHARE_MAX * self.over.as_secs_f64()
    }

    fn note_nap(&mut self, took: Duration) {
        let late = took.saturating_sub(NAP);
        self.late += late;
        self.late_max = self.late_max.max(late);
    }
}

impl fmt::Display for Disturbance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ms = |time: Duration| time.as_secs_f64() * 1e3;
        write!(
            f,
            "within {:.0} ms, sleeps were {:.0} ms late, one of them {:.1} ms; this process waited {:.0} ms for a core; \
             {:.0} ms were stolen",
            ms(self.over),
            ms(self.late),
            ms(self.late_max),
            ms(self.waited),
            ms(self.stolen)
        )
    }
}

/// Thread that observes the machine until [`MachineObserver::end`].
#[derive(Debug)]
pub struct MachineObserver {
    is_over: Arc<AtomicBool>,
    thread: Option<JoinHandle<Disturbance>>,
}

impl MachineObserver {
    /// Begins to observe.
    pub fn begin() -> Self {
        let is_over = Arc::new(AtomicBool::new(false));
        let asked = Arc::clone(&is_over);
        Self { is_over, thread: Some(thread::spawn(move || observe(&asked))) }
    }

    /// Ends the observation.
    pub fn end(mut self) -> Disturbance {
        self.stop()
    }

    fn stop(&mut self) -> Disturbance {
        self.is_over.store(true, Ordering::Relaxed);
        self.thread.take().and_then(|thread| thread.join().ok()).unwrap_or_default()
    }
}

impl Drop for MachineObserver {
    fn drop(&mut self) {
        self.stop();
    }
}

fn observe(is_over: &AtomicBool) -> Disturbance {
    /// Number of sleeps between two checks of the threads.
    const NAPS_PER_LOOK: u32 = 20;
    // Uses the normal priority even if the measurement has a higher one, to detect other processes that compete for the cores.
    let _ = rustix::process::setpriority_process(None, 0);
    let (begun, stolen, waited) = (Instant::now(), stolen(), waited());
    let mut seen = Disturbance::default();
    for nap in 1u32.. {
        let at = Instant::now();
        thread::sleep(NAP);
        seen.note_nap(at.elapsed());
        let is_last = is_over.load(Ordering::Relaxed);
        if is_last || nap.is_multiple_of(NAPS_PER_LOOK) {
            // The wait time of a thread disappears when it ends, so the largest sum is the best estimate.
            seen.waited = seen.waited.max(self::waited().saturating_sub(waited));
        }
        if is_last {
            break;
        }
    }
    Disturbance { over: begun.elapsed(), stolen: self::stolen().saturating_sub(stolen), ..seen }
}

/// Returns the time in which threads of this process were runnable but did not run: the second field of their `schedstat`.
fn waited() -> Duration {
    let tasks = fs::read_dir("/proc/self/task").into_iter().flatten().flatten();
    let stats = tasks.filter_map(|task| fs::read_to_string(task.path().join("schedstat")).ok());
    Duration::from_nanos(stats.filter_map(|stat| stat.split(' ').nth(1)?.parse::<u64>().ok()).sum())
}

/// Returns the CPU time that the hypervisor has given to other machines: the eighth field of `/proc/stat`.
fn stolen() -> Duration {
    let stat = fs::read_to_string("/proc/stat").unwrap_or_default();
    let ticks = stat.lines().next().and_then(|line| line.split_whitespace().nth(8)?.parse::<u64>().ok());
    Duration::from_secs_f64(ticks.unwrap_or_default() as f64 / TICKS_PER_S)
}

/// Raises the priority of the calling thread and of threads that it starts later. Has no effect without root or `CAP_SYS_NICE`;
/// then only the witness detects a busy machine.
pub fn raise_priority() {
    let _ = rustix::process::setpriority_process(None, NICE);
}

/// Runs an attempt up to [`ATTEMPTS`] times, while it fails and the machine was not quiet.
///
/// `fault` returns the error of a result, or `None` if it is good. Returns the last result, and the disturbance during it.
pub fn measured<T>(mut attempt: impl FnMut() -> T, fault: impl Fn(&T) -> Option<String>) -> (T, Disturbance) {
    repeated(fault, |number| {
        if number > 1 {
            wait_for_calm();
        }
        let witness = MachineObserver::begin();
        let result = attempt();
        (result, witness.end())
    })
}

fn repeated<T>(
    fault: impl Fn(&T) -> Option<String>,
    mut watched: impl FnMut(u32) -> (T, Disturbance),
) -> (T, Disturbance) {
    let mut number = 1;
    loop {
        let (result, seen) = watched(number);
        match fault(&result) {
            Some(fault) if number < ATTEMPTS && !seen.is_quiet() => {
                print_progress(&format!("measured again ({number} of {}): {fault}; {seen}", ATTEMPTS - 1));
                number += 1;
            }
            _ => return (result, seen),
        }
    }
}

fn wait_for_calm() {
    let until = Instant::now() + CALM_TIMEOUT;
    while Instant::now() < until {
        let witness = MachineObserver::begin();
        thread::sleep(CALM);
        if witness.end().is_quiet() {
            break;
        }
    }
}

/// Runs the assertions of a test, and repeats them while they fail and the machine was not quiet.
///
/// # Panics
///
/// If the assertions panic on a quiet machine or in the last attempt.
pub fn assert_measured<T>(mut assertions: impl FnMut() -> T) -> T {
    let attempt = || catch_unwind(AssertUnwindSafe(&mut assertions));
    let (result, seen) = measured(attempt, |result| result.as_ref().err().map(|panic| words(&**panic)));
    result.unwrap_or_else(|panic| {
        print_progress(&format!("failed: {}; {seen}", words(&*panic)));
        resume_unwind(panic)
    })
}

fn words(panic: &(dyn Any + Send)) -> String {
    let words = panic.downcast_ref::<String>().map(String::as_str);
    let words = words.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("a panic");
    words.lines().map(str::trim).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    const BUSY: Disturbance = Disturbance {
        over: Duration::from_secs(1),
        late_max: Duration::from_millis(40),
        late: Duration::from_millis(60),
        waited: Duration::ZERO,
        stolen: Duration::ZERO,
    };
    const QUIET: Disturbance = Disturbance { late_max: Duration::from_millis(1), ..BUSY };

    /// Returns the number of attempts for a sequence of results, and whether the last attempt succeeded.
    fn attempts(results: &[(bool, Disturbance)]) -> (usize, bool) {
        let mut made = 0;
        let fault = |is_good: &bool| (!is_good).then(|| "wrong".to_owned());
        let watched = |number: u32| {
            made = number as usize;
            results[made - 1]
        };
        let (is_good, _) = repeated(fault, watched);
        (made, is_good)
    }

    #[test]
    fn failure_on_a_quiet_machine_is_final() {
        assert_eq!(attempts(&[(false, QUIET)]), (1, false));
        assert_eq!(attempts(&[(true, BUSY)]), (1, true));
    }

    #[test]
    fn failure_on_a_busy_machine_is_repeated_then_final() {
        assert_eq!(attempts(&[(false, BUSY), (true, BUSY)]), (2, true));
        assert_eq!(attempts(&[(false, BUSY), (false, QUIET)]), (2, false));
        assert_eq!(attempts(&[(false, BUSY); ATTEMPTS as usize]), (ATTEMPTS as usize, false));
    }

    #[test]
    fn late_sleeps_count_by_maximum_and_sum() {
        let of = |naps: &[u64]| {
            let mut seen = Disturbance::default();
            for ms in naps {
                seen.over += Duration::from_millis(*ms);
                seen.note_nap(Duration::from_millis(*ms));
            }
            seen
        };
        assert!(of(&[5; 100]).is_quiet());
        assert!(!of(&[5, 5, 11, 5]).is_quiet());
        assert!(!of(&[6; 100]).is_quiet());
        assert_eq!((of(&[5, 6, 12]).late, of(&[5, 6, 12]).late_max), (8 * (NAP / 5), 7 * (NAP / 5)));
    }

    #[test]
    fn busy_cores_are_detected() {
        let is_over = AtomicBool::new(false);
        let spinners = 8 * thread::available_parallelism().map_or(2, std::num::NonZero::get);
        let is_noticed = thread::scope(|scope| {
            for _ in 0..spinners {
                scope.spawn(|| {
                    while !is_over.load(Ordering::Relaxed) {
                        std::hint::spin_loop()
                    }
                });
            }
            let is_noticed = (0..50).any(|_| {
                let witness = MachineObserver::begin();
                thread::sleep(CALM);
                let seen = witness.end();
                !seen.is_quiet() && seen.waited > Duration::ZERO
            });
            is_over.store(true, Ordering::Relaxed);
            is_noticed
        });
        assert!(is_noticed);
    }

    #[test]
    #[should_panic(expected = "two and two")]
    fn assertions_that_always_fail_panic() {
        assert_measured(|| assert_eq!(2 + 2, 5, "two and two"));
    }
}
