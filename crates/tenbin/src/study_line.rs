//! Progress of a study: a line for each finished run and, on a terminal, a live line for the current run.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use evidence::{Decision, Level, SteadyStart, StudyPlace, Verdict, stage};
use judge::words::{decimal, duration, percent_of};
use progress::{Brief, Finding, RemainingStudy, RunEvent, Stream};
use runner::CompletedRun;

use crate::live_line::LiveLine;
use crate::output;

/// Shows progress on stderr.
///
/// Lines of finished runs and remarks are printed on the publishing thread, between loads, so that none is lost if stderr is a
/// file.
pub(crate) struct StudyLine<'a> {
    stream: &'a Stream,
    /// Number of the current run and, if known, of all runs.
    number: String,
    line: Arc<Mutex<Option<LiveLine>>>,
    /// Notes printed so far. A note that applies to many runs is printed once.
    printed_notes: BTreeSet<String>,
}

impl<'a> StudyLine<'a> {
    /// Subscribes to the events of a study.
    pub(crate) fn of(stream: &'a Stream) -> Self {
        let line = Arc::<Mutex<Option<LiveLine>>>::default();
        let shown = Arc::clone(&line);
        stream.listen(move |frame| match &frame.event {
            RunEvent::LoadEnded => close(&shown),
            RunEvent::Remark(remark) => print_remark(remark),
            RunEvent::Steady(steady) => print_remark(&steady_words(steady)),
            RunEvent::Finding(Finding::Bottleneck { limit, variants }) => {
                print_remark(&format!("likely bottleneck so far: {limit}: {}", variants.join(", ")));
            }
            _ => {}
        });
        Self { stream, number: String::new(), line, printed_notes: BTreeSet::new() }
    }

    /// Shows the live line of a run that begins.
    pub(crate) fn show_run(&mut self, place: &StudyPlace, ahead: &RemainingStudy) {
        self.number = of(ahead);
        let at_most = if ahead.is_at_most { "max " } else { "" };
        let left = ahead.left.map_or(String::new(), |left| format!(", {at_most}{} left", rounded_time(left)));
        let budget =
            ahead.budget.map_or(String::new(), |left| format!(", {} of --within left", rounded_time(left)));
        let title = format!("{} {}{left}{budget}", self.number, name(place));
        *lock_line(&self.line) = LiveLine::show(self.stream, title, Some("starting"));
    }

    /// Prints the result of a run that has ended and is stored.
    pub(crate) fn print_result(&mut self, place: &StudyPlace, made: &CompletedRun) {
        close(&self.line);
        let figures = made.brief.as_ref().map_or(String::new(), figures);
        let verdict = made.ending.verdict;
        let suspect = if made.ending.validity.verdict == Level::Suspect && made.brief.is_some() {
            ", suspect"
        } else {
            ""
        };
        // Dozens of slices end per minute, so only those with a problem are printed.
        if !stage::is_slice(&place.stage) || verdict != Verdict::Complete || !suspect.is_empty() {
            output::remark(&format!("{:>5} {}{figures}  {verdict}{suspect}", self.number, name(place)));
        }
        if let Some(failure) = &made.ending.failure {
            let process = failure.process.as_ref().map_or(String::new(), |process| format!("{process}: "));
            output::remark(&format!("        {}", report::visible(&format!("{process}{}", failure.what))));
            output::remark(&format!("        help: {}", report::visible(&failure.way_out)));
        }
        for note in &made.ending.notes {
            if self.printed_notes.insert(note.clone()) {
                output::remark(&format!("        note: {}", report::visible(note)));
            }
        }
        for gate in made.gates.iter().filter(|gate| !gate.holds()) {
            let failed = match gate.decision {
                _ if !judge::is_judged(&made.ending, gate) => "not judged",
                Decision::Undecided => "undecided",
                Decision::Holds | Decision::Fails => "failed",
            };
            output::remark(&format!("        gate {failed}: {}", report::visible(&gate.text)));
        }
    }
}

/// Message about the wait for a steady system, before its load.
fn steady_words(steady: &SteadyStart) -> String {
    let processes = match steady.processes {
        1 => "1 process".to_owned(),
        count => format!("{count} processes"),
    };
    let waited = duration(steady.waited_s * 1e9);
    if steady.is_steady {
        return format!("waited {waited} until the system was steady ({processes})");
    }
    format!(
        "the system was not steady after {waited}: {processes}, {} came or went, {} cores used; the load begins all the same",
        steady.changes,
        decimal(steady.cores_used, 2)
    )
}

/// Prints a finding or a decision on one line.
pub(crate) fn print_remark(line: &str) {
    output::remark(&format!("        {}", report::visible(line)));
}

fn lock_line(line: &Mutex<Option<LiveLine>>) -> MutexGuard<'_, Option<LiveLine>> {
    line.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Erases the live line, if there is one.
fn close(line: &Mutex<Option<LiveLine>>) {
    let shown = lock_line(line).take();
    shown.into_iter().for_each(LiveLine::close);
}

/// Number of the current run: `3/8`, or `3/≤48` if there may be fewer.
fn of(ahead: &RemainingStudy) -> String {
    let number = ahead.number + 1;
    match ahead.of {
        Some(of) if ahead.is_at_most => format!("{number}/≤{of}"),
        Some(of) => format!("{number}/{of}"),
        None => number.to_string(),
    }
}

/// Name of a run: system, variant, load, and block. In a search, stage and level replace load and block.
fn name(place: &StudyPlace) -> String {
    let StudyPlace { system, variant, load, block, stage, .. } = place;
    let gap = if variant.is_empty() { "" } else { " " };
    if let Some(of) = &place.intervention {
        return report::visible(&format!(
            "{system}{gap}{variant} · experiment {} · {}",
            block + 1,
            of.name()
        ));
    }
    if let Some(level) = study::level_words(place) {
        return report::visible(&format!("{system}{gap}{variant} · {stage} · {level}"));
    }
    let stage = match stage.as_str() {
        stage::HALVING | stage::SEARCH | stage::SEARCH_SLICE | stage::BLOCK => "block",
        stage::CONFIRM_SLICE => stage::CONFIRM,
        other => other,
    };
    report::visible(&format!("{system}{gap}{variant} · {load} · {stage} {}", block + 1))
}

fn figures(brief: &Brief) -> String {
    let mut text = format!("  {} ok/s", decimal(brief.ok_per_s, 0));
    if let Some(ns) = brief.p50_ns {
        text += &format!("  p50 {}", duration(ns as f64));
    }
    match brief.errors_share {
        Some(share) if share > 0.0 => text += &format!("  errors {}", percent_of(share)),
        _ => {}
    }
    text
}

/// Remaining time, rounded, because it is only an estimate: in seconds, minutes, or hours.
fn rounded_time(time: Duration) -> String {
    let seconds = time.as_secs();
    match seconds {
        0..100 => format!("{seconds} s"),
        100..6_000 => format!("{} min", (seconds + 30) / 60),
        _ => format!("{:.1} h", seconds as f64 / 3600.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounds_remaining_time() {
        assert_eq!(rounded_time(Duration::from_secs(99)), "99 s");
        assert_eq!(rounded_time(Duration::from_secs(150)), "3 min");
        assert_eq!(rounded_time(Duration::from_secs(9_000)), "2.5 h");
    }

    #[test]
    fn names_run_by_system_variant_load_and_block() {
        let place = StudyPlace {
            block: 1,
            position: 7,
            system: "puma".to_owned(),
            variant: "workers=8".to_owned(),
            knobs: vec![("workers".to_owned(), "8".to_owned())],
            load: "100 users".to_owned(),
            stage: evidence::stage::BLOCK.to_owned(),
            users: None,
            rate_per_s: None,
            intervention: None,
        };
        assert_eq!(name(&place), "puma workers=8 · 100 users · block 2");
        let plain = StudyPlace { variant: String::new(), ..place };
        assert_eq!(name(&plain), "puma · 100 users · block 2");
        let level =
            StudyPlace { stage: evidence::stage::BISECT.to_owned(), rate_per_s: Some(412.0), ..plain };
        assert_eq!(name(&level), "puma · bisect · 412/s");
    }
}
