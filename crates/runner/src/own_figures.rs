//! Reads the figures that a plan defines: before and after each load, and during it if the plan requests it.
//!
//! [`OwnFigures::begin`] reads each figure once before the load, so that an unreadable figure fails the run before any request is sent.
//! [`OwnFigures::start`] starts a thread for each figure that is read during the load, [`OwnFigures::stop`] ends them, and
//! [`OwnFigures::end`] reads each figure once more and computes its value.

mod exporter;
mod source;

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use evidence::{Failure, Reading};
use judge::{FIGURE_EACH, FIGURE_SUBJECT, FIGURE_VALUE};
use plan::{FigureSummary, PlannedFigure};
use progress::Readings;
use store::StoreError;

use crate::feed::Feed;
use source::Source;

/// Max number of readings per figure that are stored.
const READINGS_MAX: usize = 100_000;

/// Figures of one run.
#[derive(Debug, Default)]
pub(crate) struct OwnFigures {
    figures: Vec<OwnFigure>,
    origin: Option<Instant>,
    warm_up: Duration,
}

/// Figure of the plan, and the values that were read.
#[derive(Debug)]
struct OwnFigure {
    planned: PlannedFigure,
    source: Source,
    before: f64,
    course: Arc<Mutex<ReadingsDuringLoad>>,
    /// Dropped to end the thread.
    pauses: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
    is_canceled: Arc<AtomicBool>,
}

/// Readings during the load.
#[derive(Debug, Default)]
struct ReadingsDuringLoad {
    readings: Vec<(Instant, f64)>,
    /// Reason why a reading failed; the figure is not read any more.
    failed: Option<String>,
}

impl OwnFigures {
    /// Reads every figure before the load. `keeper` is the command that runs processes.
    ///
    /// # Errors
    ///
    /// A figure cannot be read.
    pub(crate) fn begin(
        planned: &[PlannedFigure],
        keeper: &[std::ffi::OsString],
        is_stopped: &dyn Fn() -> bool,
    ) -> Result<Self, Failure> {
        let mut figures = Vec::with_capacity(planned.len());
        for figure in planned {
            let mut source = Source::of(&figure.source, keeper);
            let before = source.read(is_stopped).map_err(|why| failure(figure, &why))?;
            figures.push(OwnFigure {
                planned: figure.clone(),
                before: before * figure.figure.unit_size(),
                source,
                course: Arc::default(),
                pauses: None,
                thread: None,
                is_canceled: Arc::default(),
            });
        }
        Ok(Self { figures, ..Self::default() })
    }

    /// Starts to read figures during the load, which began at `origin`.
    pub(crate) fn start(&mut self, origin: Instant, warm_up: Duration) {
        (self.origin, self.warm_up) = (Some(origin), warm_up);
        for figure in &mut self.figures {
            if let Some(every_ns) = figure.planned.every_ns {
                figure.start(origin, Duration::from_nanos(every_ns));
            }
        }
    }

    /// Stops reading during the load.
    pub(crate) fn stop(&mut self) {
        self.figures.iter_mut().for_each(OwnFigure::stop);
    }

    /// Reads every figure after the load, and stores all readings and the values of the run. Returns a failure if one could not be
    /// read.
    pub(crate) fn end(
        mut self,
        feed: Feed<'_>,
        is_stopped: &dyn Fn() -> bool,
    ) -> Result<Option<Failure>, StoreError> {
        self.stop();
        let origin = self.origin.unwrap_or_else(Instant::now);
        let mut failed = None;
        for figure in &mut self.figures {
            if let Err(why) = figure.end(origin, self.warm_up, feed, is_stopped)? {
                failed.get_or_insert_with(|| failure(&figure.planned, &why));
            }
        }
        Ok(failed)
    }
}

impl OwnFigure {
    fn start(&mut self, origin: Instant, every: Duration) {
        let (pauses, ends) = mpsc::channel();
        let mut source = self.source.for_other_thread();
        let (course, is_canceled) = (Arc::clone(&self.course), Arc::clone(&self.is_canceled));
        let work = move || {
            let mut next = origin;
            loop {
                next += every;
                let now = Instant::now();
                // A reading that took longer than the interval omits those that it missed.
                while next < now {
                    next += every;
                }
                match ends.recv_timeout(next.saturating_duration_since(now)) {
                    Err(RecvTimeoutError::Timeout) => {}
                    _ => return,
                }
                let read = source.read(&|| is_canceled.load(Ordering::Relaxed));
                let mut course = course.lock().unwrap_or_else(PoisonError::into_inner);
                match read {
                    Ok(value) if course.readings.len() < READINGS_MAX => {
                        course.readings.push((Instant::now(), value));
                    }
                    Ok(_) => return,
                    // A reading that was interrupted by the end of the load is not a failure.
                    Err(_) if is_canceled.load(Ordering::Relaxed) => return,
                    Err(why) => {
                        course.failed = Some(why);
                        return;
                    }
                }
            }
        };
        match thread::Builder::new().name("figure".into()).spawn(work) {
            Ok(thread) => (self.pauses, self.thread) = (Some(pauses), Some(thread)),
            Err(error) => {
                let mut course = self.course.lock().unwrap_or_else(PoisonError::into_inner);
                course.failed = Some(format!("no thread can be started for it: {error}"));
            }
        }
    }

    fn stop(&mut self) {
        self.is_canceled.store(true, Ordering::Relaxed);
        self.pauses = None;
        if let Some(thread) = self.thread.take() {
            // A panic in the thread was reported already. Its readings are kept.
            let _ = thread.join();
        }
    }

    /// Stores all readings. The inner error states why the figure has no value.
    fn end(
        &mut self,
        origin: Instant,
        warm_up: Duration,
        feed: Feed<'_>,
        is_stopped: &dyn Fn() -> bool,
    ) -> Result<Result<(), String>, StoreError> {
        let size = self.planned.figure.unit_size();
        let after = self.source.read(is_stopped).map(|value| value * size);
        let ReadingsDuringLoad { readings, failed } =
            std::mem::take(&mut *self.course.lock().unwrap_or_else(PoisonError::into_inner));
        let since = |at: Instant| at.saturating_duration_since(origin);
        let during: Vec<(Duration, f64)> =
            readings.into_iter().map(|(at, value)| (since(at), value * size)).collect();
        self.keep(feed, Duration::ZERO, FIGURE_EACH, self.before)?;
        for (at, value) in &during {
            self.keep(feed, *at, FIGURE_EACH, *value)?;
        }
        let after = match (after, failed) {
            (Err(why), _) | (Ok(_), Some(why)) => return Ok(Err(why)),
            (Ok(after), None) => after,
        };
        let end = since(Instant::now());
        self.keep(feed, end, FIGURE_EACH, after)?;
        match self.value(after, during.into_iter().filter(|(at, _)| *at >= warm_up).map(|(_, value)| value)) {
            Some(value) if value.is_finite() => self.keep(feed, end, FIGURE_VALUE, value).map(Ok),
            Some(_) => Ok(Err("its value is too large".to_owned())),
            None => Ok(Err("it was not read in the measured time, which is shorter than `every`".to_owned())),
        }
    }

    /// Value of the run. `None` if it needs readings during the measured time, and there are none.
    fn value(&self, after: f64, during: impl Iterator<Item = f64>) -> Option<f64> {
        let during: Vec<f64> = during.collect();
        match self.planned.summary {
            FigureSummary::After => Some(after),
            FigureSummary::Change => Some(after - self.before),
            FigureSummary::Mean if during.is_empty() => None,
            FigureSummary::Mean => Some(during.iter().sum::<f64>() / during.len() as f64),
            FigureSummary::Max => during.into_iter().reduce(f64::max),
        }
    }

    fn keep(&self, feed: Feed<'_>, at: Duration, label: &str, value: f64) -> Result<(), StoreError> {
        let reading = Reading {
            subject: FIGURE_SUBJECT.to_owned(),
            metric: self.planned.figure.name.clone(),
            label: label.to_owned(),
            value,
        };
        let readings = vec![reading];
        feed.readings(Readings { at_ns: at.as_nanos() as u64, second: at.as_secs(), readings })
    }
}

impl Drop for OwnFigure {
    fn drop(&mut self) {
        self.stop();
    }
}

fn failure(figure: &PlannedFigure, why: &str) -> Failure {
    let (what, help) = why.split_once("; ").map_or((why, None), |(what, help)| (what, Some(help)));
    Failure {
        stage: "figure".to_owned(),
        process: None,
        what: plan::mask_secrets(&format!("the figure `{}` cannot be read: {what}", figure.figure.name)),
        way_out: help.unwrap_or("try its source by hand, and correct `figures` in the plan").to_owned(),
    }
}
