//! One line on a terminal during a run; nothing without a terminal.

use std::fmt::Write as _;
use std::sync::mpsc::{self, SyncSender};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use judge::words::duration;
use runner::{Live, Observer};

use crate::output;

/// How long the last line may take to appear before it is given up.
const LAST_LINE: Duration = Duration::from_millis(200);

/// Shows progress from a thread of its own: a terminal that does not read must not hold up the run.
pub(crate) struct LiveLine {
    lines: Option<SyncSender<String>>,
    printer: Option<JoinHandle<()>>,
    on_begin: Box<dyn FnMut()>,
    /// What every line begins with.
    title: String,
}

impl LiveLine {
    /// Shows lines if stderr is a terminal. `on_begin` is called when the run begins.
    pub(crate) fn new(on_begin: impl FnMut() + 'static) -> Self {
        let on_begin = Box::new(on_begin);
        if !output::is_watched() {
            return Self { lines: None, printer: None, on_begin, title: String::new() };
        }
        let (lines, receiver) = mpsc::sync_channel::<String>(1);
        let print = move || {
            receiver.iter().for_each(|line| output::show_line(&line));
            output::wipe_line();
        };
        // Without a thread nothing is shown while the run goes on, and nothing else is different.
        let printer = thread::Builder::new().name("live-line".to_owned()).spawn(print).ok();
        Self { lines: printer.is_some().then_some(lines), printer, on_begin, title: String::new() }
    }

    /// Begins every line with a title.
    pub(crate) fn titled(self, title: String) -> Self {
        Self { title, ..self }
    }

    /// Shows a few words.
    pub(crate) fn say(&mut self, words: &str) {
        if let Some(lines) = &self.lines {
            // A line that finds no room is out of date anyway.
            let _ = lines.try_send(format!("{}  {words}", self.title));
        }
    }
}

impl Observer for LiveLine {
    fn fills(&mut self, words: &str) {
        self.say(words);
    }

    fn begins(&mut self, words: &str, memory_bound_bytes: u64) {
        (self.on_begin)();
        self.say(&match memory_bound_bytes.div_ceil(1 << 20) {
            // Another load generator takes what it takes.
            0 => format!("{words}: running"),
            mib => format!("{words}; at most {mib} MiB of memory: opening connections"),
        });
    }

    fn second(&mut self, live: &Live) {
        self.say(&line(live));
    }

    fn ends(&mut self) {
        self.lines = None;
        let Some(printer) = self.printer.take() else { return };
        let until = Instant::now() + LAST_LINE;
        while !printer.is_finished() && Instant::now() < until {
            thread::sleep(Duration::from_millis(5));
        }
    }
}

fn line(live: &Live) -> String {
    let mut line = format!("{} {:>9.0}/s", progress(live), live.per_s);
    for (name, ns) in [("p50", live.p50_ns), ("p99", live.p99_ns), ("late p99", live.late_p99_ns)] {
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

fn progress(live: &Live) -> String {
    const CELLS: usize = 20;
    let share = match (live.planned_s, live.planned_requests) {
        (Some(planned_s), _) => live.elapsed_s / planned_s,
        (None, Some(requests)) => live.ended as f64 / requests as f64,
        (None, None) => 0.0,
    };
    let full = (share.clamp(0.0, 1.0) * CELLS as f64) as usize;
    let bar = "█".repeat(full) + &"░".repeat(CELLS - full);
    let of = live.planned_s.map_or(String::new(), |planned_s| format!("/{planned_s:.0}"));
    format!("{bar} {:.0}{of}s", live.elapsed_s)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_shows_only_what_is_known() {
        let live = Live {
            elapsed_s: 5.0,
            planned_s: Some(10.0),
            per_s: 1234.0,
            p50_ns: Some(1_500_000),
            ..Live::default()
        };
        assert_eq!(line(&live), "██████████░░░░░░░░░░ 5/10s      1234/s  p50 1.50 ms  errors 0  in flight 0");
    }
}
