//! Thread that takes looks at their scheduled times, and samples in between.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use super::look_times::LookTimes;
use super::own_time::own_time;
use super::sheet::{Probe, Sheet};
use super::{GENERATOR, Look, NotAvailable, Subject};

/// Max number of looks that wait to be taken. Beyond it the oldest are dropped.
const PENDING_LOOKS_MAX: usize = 900;

/// Makes looks about once a second, until it is ended or dropped.
#[derive(Debug)]
pub struct Watch {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<Vec<NotAvailable>>>,
    never_began: Option<NotAvailable>,
}

#[derive(Debug, Default)]
struct Shared {
    state: Mutex<WatchState>,
    wake: Condvar,
}

#[derive(Debug, Default)]
struct WatchState {
    looks: VecDeque<Look>,
    is_ended: bool,
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, WatchState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn keep(&self, look: Look) {
        let mut state = self.state();
        if state.looks.len() >= PENDING_LOOKS_MAX {
            state.looks.pop_front();
        }
        state.looks.push_back(look);
    }

    /// Waits until `instant`, or until the watch ends. Returns whether it ends.
    fn wait_until(&self, instant: Instant) -> bool {
        let mut state = self.state();
        loop {
            let left = instant.saturating_duration_since(Instant::now());
            if state.is_ended || left.is_zero() {
                return state.is_ended;
            }
            state = self.wake.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}

impl Watch {
    /// Makes looks at whole seconds from now: see [`Self::begin_at`].
    pub fn begin(subject: Subject) -> Self {
        Self::begin_at(subject, LookTimes::every_second(Instant::now()))
    }

    /// Reads all values once as a baseline, and starts the thread, which takes a look at each of `times`. A late look is taken late; a
    /// missed look is skipped.
    pub fn begin_at(subject: Subject, times: LookTimes) -> Self {
        let shared = Arc::new(Shared::default());
        let mut probes = super::all(&subject);
        let (mut sheet, begun) = (Sheet::default(), Instant::now());
        sheet.at = Some(begun);
        look_at_all(&mut probes, &mut sheet);
        sheet.take(begun, Duration::ZERO);
        let theirs = Arc::clone(&shared);
        let spawned = thread::Builder::new()
            .name("watch".into())
            .spawn(move || run(&theirs, probes, sheet, begun, times));
        match spawned {
            Ok(thread) => Self { shared, thread: Some(thread), never_began: None },
            Err(error) => {
                let never_began = NotAvailable {
                    probe: "everything that is read once a second".into(),
                    because: format!("no thread could be started for it: {error}"),
                };
                Self { shared, thread: None, never_began: Some(never_began) }
            }
        }
    }

    /// Returns the looks since the last call, oldest first. Up to 900 are stored; then the oldest are dropped.
    pub fn take(&self) -> Vec<Look> {
        self.shared.state().looks.drain(..).collect()
    }

    /// Makes a last look and ends. Returns the looks that were not taken before, and the values that could not be read.
    pub fn end(mut self) -> (Vec<Look>, Vec<NotAvailable>) {
        let mut missing = self.join();
        missing.extend(self.never_began.take());
        (self.take(), missing)
    }

    fn join(&mut self) -> Vec<NotAvailable> {
        self.shared.state().is_ended = true;
        self.shared.wake.notify_all();
        let Some(thread) = self.thread.take() else { return Vec::new() };
        thread.join().unwrap_or_else(|_| {
            vec![NotAvailable {
                probe: "everything that is read once a second".into(),
                because: "the thread that reads it broke off".into(),
            }]
        })
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.join();
    }
}

fn look_at_all(probes: &mut [Box<dyn Probe>], sheet: &mut Sheet) {
    for probe in probes {
        probe.look(sheet);
    }
}

/// Takes samples. Returns the time of the next one. `None` if no probe takes samples.
fn sample_all(probes: &mut [Box<dyn Probe>], now: Instant) -> Option<Instant> {
    let pause = probes.iter_mut().filter_map(|probe| probe.sample(now)).min()?;
    now.checked_add(pause)
}

fn run(
    shared: &Shared,
    mut probes: Vec<Box<dyn Probe>>,
    mut sheet: Sheet,
    begun: Instant,
    times: LookTimes,
) -> Vec<NotAvailable> {
    let (mut last, mut next_sample) = (begun, sample_all(&mut probes, Instant::now()));
    let mut used_before = own_time();
    loop {
        let look_at = times.after(last);
        let is_ended = shared.wait_until(next_sample.map_or(look_at, |sample_at| sample_at.min(look_at)));
        let at = Instant::now();
        if !is_ended && at < look_at {
            next_sample = sample_all(&mut probes, at);
            continue;
        }
        let over = at.saturating_duration_since(last);
        (sheet.at, sheet.over, sheet.is_last) = (Some(at), Some(over), is_ended);
        look_at_all(&mut probes, &mut sheet);
        let used = own_time();
        sheet.add(GENERATOR, "watch_s", "", used.saturating_sub(used_before).as_secs_f64());
        used_before = used;
        shared.keep(sheet.take(at, over));
        if is_ended {
            return sheet.missing();
        }
        last = at;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dropping_a_watch_ends_its_thread() {
        let watch = Watch::begin(Subject::default());
        let shared = Arc::clone(&watch.shared);
        drop(watch);
        assert_eq!(Arc::strong_count(&shared), 1, "the thread is gone");
        assert_eq!(shared.state().looks.len(), 1);
    }

    #[test]
    fn number_of_untaken_looks_is_bounded() {
        let shared = Shared::default();
        let look = |at| Look::of(at, Duration::ZERO, Vec::new());
        let begun = Instant::now();
        for number in 0..1_000 {
            shared.keep(look(begun + Duration::from_secs(number)));
        }
        assert_eq!(shared.state().looks.len(), PENDING_LOOKS_MAX);
        assert_eq!(shared.state().looks[0].at, begun + Duration::from_secs(100));
    }

    #[test]
    fn ending_a_watch_makes_a_last_look() {
        let watch = Watch::begin(Subject::default());
        assert!(watch.take().is_empty());
        let (looks, _) = watch.end();
        assert_eq!(looks.len(), 1);
        assert!(looks[0].readings.iter().any(|reading| reading.label == "core0"));
    }
}
