//! Sources of figures: a command, a statement, or an exporter. Each gives one finite number, within a time limit.

use std::ffi::OsString;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use loading::HeldSession;
use plan::FigureSource;

use super::exporter;
use crate::recipe;

/// Time limit of a reading.
const WITHIN: Duration = Duration::from_secs(10);
/// Interval at which a wait checks for a stop of the run.
const PAUSE: Duration = Duration::from_millis(20);
/// Max length of a text that a message repeats.
const SHOWN_MAX: usize = 60;

/// Source of a figure in one run.
#[derive(Debug)]
pub(super) struct Source {
    of: FigureSource,
    keeper: Vec<OsString>,
}

impl Source {
    pub(super) fn of(of: &FigureSource, keeper: &[OsString]) -> Self {
        Self { of: of.clone(), keeper: keeper.to_vec() }
    }

    /// The source for another thread.
    pub(super) fn for_other_thread(&self) -> Self {
        Self { of: self.of.clone(), keeper: self.keeper.clone() }
    }

    /// Reads the number once, in the unit of the plan. `is_stopped` ends the wait. The error is a sentence, with its help after a
    /// semicolon.
    pub(super) fn read(&mut self, is_stopped: &dyn Fn() -> bool) -> Result<f64, String> {
        match &self.of {
            FigureSource::Command(command) => {
                let command = recipe::command(command, WITHIN);
                number(&lab::first_line_or_reason(&command, &self.keeper, is_stopped)?)
            }
            FigureSource::Sql { database, query } => {
                let (database, query) = (database.clone(), query.clone());
                within(move |is_canceled| answer(&database, &query, is_canceled), is_stopped)
            }
            FigureSource::Prometheus { url, name } => {
                let (url, name) = (url.clone(), name.clone());
                within(move |_| exporter::read(&url, &name, WITHIN), is_stopped)
            }
        }
    }
}

/// Runs work on a separate thread with a time limit. After the limit, the flag is set, and the thread ends soon.
fn within(
    work: impl FnOnce(&Arc<AtomicBool>) -> Result<f64, String> + Send + 'static,
    is_stopped: &dyn Fn() -> bool,
) -> Result<f64, String> {
    let is_canceled = Arc::new(AtomicBool::new(false));
    let (result, results) = mpsc::channel();
    let flag = Arc::clone(&is_canceled);
    let spawned = thread::Builder::new().name("figure".into()).spawn(move || {
        // The receiver is dropped after the time limit.
        let _ = result.send(work(&flag));
    });
    spawned.map_err(|error| format!("no thread can be started for it: {error}"))?;
    let mut waited = Duration::ZERO;
    loop {
        if let Ok(result) = results.recv_timeout(PAUSE) {
            return result;
        }
        waited += PAUSE;
        if is_stopped() || waited >= WITHIN {
            is_canceled.store(true, Ordering::Relaxed);
            let limit = WITHIN.as_secs();
            return Err(match is_stopped() {
                true => "the run was stopped".to_owned(),
                false => format!("it gave no answer within {limit} s; read something cheaper"),
            });
        }
    }
}

/// First value of the first row of an answer.
fn answer(database: &plan::Database, query: &str, is_canceled: &Arc<AtomicBool>) -> Result<f64, String> {
    let place = crate::load_data::place(database).map_err(|refusal| refusal.to_string())?;
    let mut session =
        HeldSession::open(&place, Arc::clone(is_canceled)).map_err(|error| error.to_string())?;
    let rows = session.ask(query).map_err(|error| error.to_string())?;
    let first = rows.first().and_then(|row| row.first());
    match first {
        Some(Some(text)) => number(text),
        Some(None) => Err("the statement returned NULL; write coalesce(…, 0) if that means 0".to_owned()),
        None => Err("the statement returned no row; write one that returns one number".to_owned()),
    }
}

/// Parses a finite number.
pub(super) fn number(text: &str) -> Result<f64, String> {
    let text = text.trim();
    let shown: String = text.chars().filter(|sign| !sign.is_control()).take(SHOWN_MAX).collect();
    match text.parse::<f64>() {
        Ok(number) if number.is_finite() => Ok(number),
        Ok(_) => Err(format!("{shown:?} is not a finite number; read a figure that has a value")),
        Err(_) => Err(format!("{shown:?} is not a number; print the number alone, without its unit")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_finite_numbers_are_read() {
        assert_eq!(number(" 12.5\n"), Ok(12.5));
        assert_eq!(number("-3e2"), Ok(-300.0));
        for wrong in ["", "12 kB", "NaN", "inf", "1e999", "0x10", "1,000"] {
            assert!(number(wrong).is_err(), "{wrong}");
        }
        assert!(number(&"9x".repeat(1_000_000)).unwrap_err().len() < 200, "a message is short");
    }

    #[test]
    fn wait_ends_when_the_run_is_stopped() {
        let hangs = |is_canceled: &Arc<AtomicBool>| {
            while !is_canceled.load(Ordering::Relaxed) {
                thread::sleep(PAUSE);
            }
            Ok(1.0)
        };
        assert_eq!(within(hangs, &|| true), Err("the run was stopped".to_owned()));
    }
}
