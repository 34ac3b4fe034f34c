//! Runs the events of one run, each on a separate thread. Threads that generate or measure load never wait for them.

use std::collections::BTreeMap;
use std::io;
use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use super::act::{ActionError, ActionOutput, Actor, Actors, RunningAction};
use super::{Event, Moment, Occurrence};
use crate::deadline::Deadline;
use crate::exit::Exit;
use crate::system::System;

/// Interval of searches for a text.
const SEARCH_INTERVAL: Duration = Duration::from_millis(20);

/// Events that are pending or in progress. Dropping it ends them, as [`Timeline::end`] does.
#[derive(Debug)]
pub struct Timeline {
    hall: Arc<TimelineState>,
    threads: Vec<JoinHandle<()>>,
    news: Receiver<Occurrence>,
}

/// State shared by the threads of a timeline.
#[derive(Debug)]
struct TimelineState {
    actors: Actors,
    /// Start of the load.
    origin: Instant,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    is_interrupted: bool,
    /// End of each event that has ended, by name.
    ended_ns: BTreeMap<String, u64>,
}

impl Timeline {
    /// Starts the events of a load that began at `origin`. All planned occurrences are available at once from [`Timeline::take`].
    ///
    /// # Errors
    ///
    /// A thread could not be started. No event takes place then.
    pub fn begin(system: &System, events: Vec<Event>, origin: Instant) -> io::Result<Timeline> {
        let hall = Arc::new(TimelineState {
            actors: system.actors(),
            origin,
            state: Mutex::default(),
            changed: Condvar::new(),
        });
        let (teller, news) = mpsc::channel();
        let mut timeline = Timeline { hall, threads: Vec::with_capacity(events.len()), news };
        for event in events {
            planned(&event).for_each(|happened| report(&teller, happened));
            let (hall, teller) = (Arc::clone(&timeline.hall), teller.clone());
            let thread = thread::Builder::new().name("event".to_owned());
            timeline.threads.push(thread.spawn(move || hall.run_event(event, &teller))?);
        }
        Ok(timeline)
    }

    /// Returns the changes since the last call.
    pub fn take(&mut self) -> Vec<Occurrence> {
        self.news.try_iter().collect()
    }

    /// Ends events in progress, and starts no more. Does not wait.
    pub fn interrupt(&self) {
        self.hall.state().is_interrupted = true;
        self.hall.changed.notify_all();
    }

    /// Ends events in progress, waits for them, and returns the changes that were not taken before.
    pub fn end(mut self) -> Vec<Occurrence> {
        self.join();
        self.take()
    }

    fn join(&mut self) {
        self.interrupt();
        for thread in self.threads.drain(..) {
            if let Err(panic) = thread.join() {
                std::panic::resume_unwind(panic);
            }
        }
    }
}

impl Drop for Timeline {
    fn drop(&mut self) {
        self.interrupt();
        for thread in self.threads.drain(..) {
            // The panic was printed when it occurred.
            let _ = thread.join();
        }
    }
}

impl System {
    fn actors(&self) -> Actors {
        let actor = |running: &crate::system::Running| Actor {
            kept: Arc::clone(&running.kept),
            process: Arc::clone(&running.process),
            busy: Mutex::default(),
        };
        Actors {
            setting: self.setting.clone(),
            processes: self.running.iter().map(actor).collect(),
            background: self.background.clone(),
            limits: self.limits.clone(),
            disk: self.disk.clone(),
            dir: self.folder.as_ref().map(|folder| folder.path().to_owned()).unwrap_or_default(),
        }
    }
}

/// Returns every occurrence of the event, with its time if the time is known in advance.
fn planned(event: &Event) -> impl Iterator<Item = Occurrence> {
    let times = if let Moment::At { times, .. } = event.moment { times } else { 1 };
    (0..times).map(|occurrence| Occurrence {
        name: event.name.clone(),
        occurrence,
        planned_ns: event.moment.time_of(occurrence).map(nanoseconds),
        ..Occurrence::default()
    })
}

impl Moment {
    /// Time since the load began. `None` if it depends on a text or another event.
    fn time_of(&self, occurrence: u32) -> Option<Duration> {
        match self {
            Moment::At { first, every, .. } => Some(first.saturating_add(every.saturating_mul(occurrence))),
            Moment::AfterText { .. } | Moment::AfterEvent { .. } => None,
        }
    }
}

fn nanoseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

fn report(teller: &Sender<Occurrence>, happened: Occurrence) {
    // Sending fails if the timeline was dropped.
    let _ = teller.send(happened);
}

impl TimelineState {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn is_interrupted(&self) -> bool {
        self.state().is_interrupted
    }

    /// Runs all occurrences of an event, one after another.
    fn run_event(&self, mut event: Event, teller: &Sender<Occurrence>) {
        let occurrences: Vec<Occurrence> = planned(&event).collect();
        for mut happened in occurrences {
            match self.wait_for(&event.moment, happened.occurrence) {
                Ok(planned_ns) => {
                    happened.planned_ns = Some(planned_ns);
                    happened.begun_ns = Some(Deadline::elapsed_ns(self.origin));
                    report(teller, happened.clone());
                    self.perform(&mut event, &mut happened);
                }
                Err(why) => {
                    happened.failure = Some(why);
                    happened.is_cut = true;
                }
            }
            report(teller, happened);
        }
    }

    fn perform(&self, event: &mut Event, happened: &mut Occurrence) {
        let mut act = RunningAction {
            actors: &self.actors,
            deadline: Deadline::after(event.within),
            is_interrupted: &|| self.is_interrupted(),
            trace: ActionOutput::default(),
        };
        let played = act.run_event(event);
        let ended_ns = Deadline::elapsed_ns(self.origin);
        happened.ended_ns = Some(ended_ns);
        let ActionOutput { exit, output, dropped_bytes } = act.trace;
        match exit {
            Some(Exit::Code(code)) => happened.exit = Some(code),
            Some(Exit::Signal(number)) => happened.signal = Some(number),
            None => {}
        }
        (happened.output, happened.dropped_bytes) = (output, dropped_bytes);
        if let Err(ActionError { what, is_cut }) = played {
            (happened.failure, happened.is_cut) = (Some(what), is_cut);
        }
        self.state().ended_ns.insert(event.name.clone(), ended_ns);
        self.changed.notify_all();
    }

    /// Waits for the time of an occurrence. Returns its planned time in nanoseconds, or the reason why it will not occur.
    fn wait_for(&self, moment: &Moment, occurrence: u32) -> Result<u64, String> {
        let (planned, delay) = match moment {
            Moment::At { .. } => (moment.time_of(occurrence).unwrap_or_default(), Duration::ZERO),
            Moment::AfterText { process, text, delay } => (self.wait_for_text(process, text)?, *delay),
            Moment::AfterEvent { name, delay } => (self.wait_for_event(name)?, *delay),
        };
        let planned = planned.saturating_add(delay);
        let until = Deadline::since(self.origin, planned);
        let state =
            self.changed.wait_timeout_while(self.state(), until.left(), |state| !state.is_interrupted);
        let (state, _) = state.unwrap_or_else(PoisonError::into_inner);
        if state.is_interrupted {
            return Err("the load ended before it began".to_owned());
        }
        Ok(nanoseconds(planned))
    }

    /// Waits until a process has written a text. Returns the time since the load began.
    fn wait_for_text(&self, process: &str, text: &str) -> Result<Duration, String> {
        let kept = &self.actors.find(process).map_err(|flaw| flaw.what)?.kept;
        let from_bytes = kept.state().capture.seen_bytes();
        let mut searched = from_bytes;
        while !self.is_interrupted() {
            let seen = {
                let state = kept.state();
                let seen = state.capture.seen_bytes();
                if seen != searched && state.capture.contains_since(text.as_bytes(), from_bytes) {
                    return Ok(Duration::from_nanos(Deadline::elapsed_ns(self.origin)));
                }
                seen
            };
            searched = seen;
            kept.wait(Deadline::after(SEARCH_INTERVAL), |state| state.capture.seen_bytes() != searched);
            // Limits CPU use if the process writes all the time or its keeper is lost.
            thread::sleep(SEARCH_INTERVAL / 10);
        }
        Err(format!("the load ended before {process} wrote {text:?}"))
    }

    /// Waits until another event has ended. Returns the time of its end.
    fn wait_for_event(&self, name: &str) -> Result<Duration, String> {
        let waits = |state: &mut State| !state.is_interrupted && !state.ended_ns.contains_key(name);
        let state = self.changed.wait_while(self.state(), waits);
        let state = state.unwrap_or_else(PoisonError::into_inner);
        match state.ended_ns.get(name) {
            Some(ended_ns) => Ok(Duration::from_nanos(*ended_ns)),
            None => Err(format!("the load ended before {name} had ended")),
        }
    }
}
