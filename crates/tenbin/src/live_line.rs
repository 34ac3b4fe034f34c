//! Live line on a terminal during a run. Without a terminal, nothing is shown.

use std::fmt::Write as _;
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use judge::words::duration;
use progress::{Began, Detail, Figures, Filling, RunEvent, Stream, Subscription};

use crate::output;

/// Max wait for the last line to appear.
const LAST_LINE_TIMEOUT: Duration = Duration::from_millis(200);
/// Max frames queued for a terminal that does not read. A full queue loses its oldest frame: each newer one replaces it.
const FRAMES: usize = 8;

/// Shows the progress of a load. A separate thread prints it, because a terminal that does not read must not block the run.
pub(crate) struct LiveLine {
    frames: Arc<Subscription>,
    printer: JoinHandle<()>,
}

impl LiveLine {
    /// Shows each event from now on in a line that begins with `title`, until the load ends. Shows `words` before the first event.
    ///
    /// `None` if stderr is not a terminal.
    pub(crate) fn show(stream: &Stream, title: String, words: Option<&'static str>) -> Option<Self> {
        if !output::is_watched() {
            return None;
        }
        let frames = Arc::new(stream.subscribe(FRAMES, Detail::Figures));
        let receiver = Arc::clone(&frames);
        let print = move || {
            words.iter().for_each(|words| output::show_line(&format!("{title}  {words}")));
            while let Some(received) = receiver.recv() {
                match &received.frame.event {
                    RunEvent::LoadEnded => break,
                    event => {
                        let words = event_words(event);
                        words.iter().for_each(|words| output::show_line(&format!("{title}  {words}")));
                    }
                }
            }
            receiver.close();
            output::erase_line();
        };
        // If the thread cannot start, the live line is not shown, and the run continues.
        let printer = thread::Builder::new().name("live-line".to_owned()).spawn(print).ok()?;
        Some(Self { frames, printer })
    }

    /// Waits until the line is erased. Gives up on a terminal that does not read.
    pub(crate) fn close(self) {
        self.frames.close();
        let until = Instant::now() + LAST_LINE_TIMEOUT;
        while !self.printer.is_finished() && Instant::now() < until {
            thread::sleep(Duration::from_millis(5));
        }
    }
}

/// Text that shows an event. `None` if the event is not shown.
fn event_words(event: &RunEvent) -> Option<String> {
    match event {
        RunEvent::Filling(filling) => Some(filling_words(filling)),
        RunEvent::Began(began) => Some(began_words(began)),
        RunEvent::Second(second) => second.figures.as_ref().map(line),
        _ => None,
    }
}

fn filling_words(filling: &Filling) -> String {
    const TABLES: &str = "filling tables";
    match filling {
        Filling::Begins => TABLES.to_owned(),
        Filling::Rows { rows, rows_all } => format!("{TABLES}: {}", runner::format_rows(*rows, *rows_all)),
        Filling::Step(step) => format!("{TABLES}: {step}"),
    }
}

fn began_words(began: &Began) -> String {
    let load = &began.load;
    match began.memory_bound_bytes.map(|bytes| bytes.div_ceil(1 << 20)) {
        // The memory use of another load generator is unknown.
        None => format!("{load}: running"),
        Some(mib) => format!("{load}; at most {mib} MiB of memory: opening connections"),
    }
}

fn line(live: &Figures) -> String {
    let mut line = format!("{} {:>9}/s", progress(live), live.answered);
    for (name, ns) in [("p50", live.p50_ns), ("p99", live.p99_ns), ("late p99", live.send_delay_p99_ns)] {
        if let Some(ns) = ns {
            let _ = write!(line, "  {name} {}", duration(ns as f64));
        }
    }
    let _ = write!(line, "  errors {}  in flight {}", live.errors, live.in_flight);
    if live.is_warm_up {
        line.push_str("  (warm-up)");
    }
    line
}

fn progress(live: &Figures) -> String {
    const CELLS: usize = 20;
    let in_s = |ns: u64| ns as f64 / 1e9;
    let (elapsed_s, planned_s) = (in_s(live.elapsed_ns), live.planned_ns.map(in_s));
    let share = match (planned_s, live.planned_requests) {
        (Some(planned_s), _) => elapsed_s / planned_s,
        (None, Some(requests)) => live.ended as f64 / requests as f64,
        (None, None) => 0.0,
    };
    let full = (share.clamp(0.0, 1.0) * CELLS as f64) as usize;
    let bar = "█".repeat(full) + &"░".repeat(CELLS - full);
    let of = planned_s.map_or(String::new(), |planned_s| format!("/{planned_s:.0}"));
    format!("{bar} {:.0}{of}s", elapsed_s)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn live_line_shows_only_known_figures() {
        let live = Figures {
            elapsed_ns: 5_000_000_000,
            planned_ns: Some(10_000_000_000),
            planned_requests: None,
            is_warm_up: false,
            ended: 0,
            answered: 1234,
            p50_ns: Some(1_500_000),
            p99_ns: None,
            send_delay_p99_ns: None,
            errors: 0,
            in_flight: 0,
        };
        assert_eq!(line(&live), "██████████░░░░░░░░░░ 5/10s      1234/s  p50 1.50 ms  errors 0  in flight 0");
    }
}
