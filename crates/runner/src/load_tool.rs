//! Loads by other load generators: runs the command, and turns its output into the accounts of the run.

use std::collections::VecDeque;
use std::io;
use std::sync::mpsc::RecvTimeoutError;
use std::time::{Duration, Instant};

use engine::{Message, WorkerEnd};
use lab::{LoadTool, ToolUsage};
use load::Share;
use loadtools::{Figures, Tool, ToolError};
use plan::{Fault, LaunchCommand, Plan, ToolAction};
use record::{ClassName, Counts, Interval, LedgerEntry, Outcome, Phase, Tally, WindowCounts};
use url::Url;

use crate::consent::PublicLoads;
use crate::database_check::DatabaseFacts;
use crate::generator::{Ready, RunningLoad};
use crate::prepare::{Prepared, Refusal, cores};
use crate::recipe;
use crate::resolve;
use crate::stopper::StopLevel;
use crate::systems::{Lab, LocalLab};
use crate::usage::Usage;

/// Interval at which the memory of a tool is read.
const INTERVAL: Duration = Duration::from_secs(1);
/// Number of output lines in an error message, and maximum length of each.
const LINES_SHOWN: usize = 3;
const LINE_CHARACTERS_MAX: usize = 200;

/// Checks all conditions that can fail before the tool starts. Connects to nothing.
pub(crate) fn prepare(plan: &Plan, tool: &ToolAction, public: &PublicLoads) -> Result<Prepared, Refusal> {
    if matches!(public, PublicLoads::WithConsent(_)) {
        let what = "another load generator keeps to no highest rate of a public server";
        let help = "leave out --allow-public, or let Tenbin make the load";
        return Err(Refusal::Plan(Fault::new("load: tool", what, help)));
    }
    let cores = cores(&plan.pin)?;
    check_addresses(tool, public)?;
    let ready = ToolLoad { plan: plan.clone(), cores: cores.clone() };
    Ok(Prepared {
        threads: 1,
        thread_rule: None,
        cores,
        endpoints: Vec::new(),
        memory_bound_bytes: 0,
        resolved: None,
        tls: None,
        is_certificate_missing: false,
        learnt: DatabaseFacts::default(),
        discovered: None,
        running: None,
        replayed: None,
        ready: Box::new(ready),
    })
}

/// Rejects URLs in the command that must not be loaded.
fn check_addresses(tool: &ToolAction, public: &PublicLoads) -> Result<(), Refusal> {
    for url in tool.measured.argv.iter().filter_map(|word| find_url(word)) {
        if let Some(host) = url.host_str() {
            let host = host.trim_start_matches('[').trim_end_matches(']');
            resolve::resolve(host, url.port_or_known_default().unwrap_or(80), public)?;
        }
    }
    Ok(())
}

/// URL at the end of a word, such as `--url=http://127.0.0.1:8080/`.
fn find_url(word: &str) -> Option<Url> {
    let scheme_ends = word.find("://")?;
    let is_of_scheme = |byte: &u8| byte.is_ascii_alphanumeric() || b"+-.".contains(byte);
    let scheme = word.as_bytes()[..scheme_ends].iter().rev().take_while(|byte| is_of_scheme(byte)).count();
    Url::parse(&word[scheme_ends - scheme..]).ok()
}

/// A tool that is ready to be started.
#[derive(Debug)]
struct ToolLoad {
    plan: Plan,
    cores: Vec<usize>,
}

impl Ready for ToolLoad {
    fn with_quoted_replies(self: Box<Self>) -> Box<dyn Ready> {
        self
    }

    fn start(self: Box<Self>, _share: Share) -> io::Result<Box<dyn RunningLoad>> {
        let Self { plan, cores } = *self;
        let Some(action) = plan.tool().cloned() else {
            return Err(io::Error::other("the plan has no tool"));
        };
        let keeper = recipe::keeper(&LocalLab.tenbin().map_err(io::Error::other)?);
        let tool = LoadTool::hold(action.tool.name, keeper, cores).map_err(io::Error::other)?;
        Ok(Box::new(RunningTool {
            tool,
            warm_up_ns: plan.warm_up_ns,
            // The planned time includes startup and end of the tool.
            within: Duration::from_nanos(plan.planned_ns().unwrap_or(0).saturating_add(plan.timeout_ns)),
            action,
            stage: Stage::Waiting,
            news: VecDeque::new(),
            begun: None,
            looked: None,
            started: None,
            ran: Duration::ZERO,
            used: ToolUsage::default(),
            before: ToolUsage::default(),
            rss_peak_bytes: 0,
            told: None,
            level: StopLevel::Go,
        }))
    }
}

/// Stage of a tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    Waiting,
    WarmUp,
    Measured,
    Over,
}

/// A tool in progress.
#[derive(Debug)]
struct RunningTool {
    tool: LoadTool,
    action: ToolAction,
    warm_up_ns: u64,
    /// Time limit of its commands together.
    within: Duration,
    stage: Stage,
    news: VecDeque<Message>,
    begun: Option<Instant>,
    looked: Option<Instant>,
    /// Start of the current command, and run time of the last one.
    started: Option<Instant>,
    ran: Duration,
    /// CPU time of all its commands, and of the commands before the measured one.
    used: ToolUsage,
    before: ToolUsage,
    rss_peak_bytes: u64,
    told: Option<Figures>,
    level: StopLevel,
}

impl RunningTool {
    fn run(&mut self, command: &LaunchCommand, stage: Stage) {
        self.before = self.used;
        self.started = Some(Instant::now());
        match self.tool.start(&recipe::command(command, self.within)) {
            Ok(()) => self.stage = stage,
            Err(what) => {
                let Tool { name, install, .. } = self.action.tool;
                self.fail(format!("{name} could not be started: {what}; if it is missing: {install}"));
            }
        }
    }

    fn fail(&mut self, words: String) {
        self.stage = Stage::Over;
        self.news.push_back(Message::Unrecoverable(plan::mask_secrets(&words)));
    }

    /// Reports the end of the load at this time.
    fn end(&mut self, stopped_at_ns: u64) {
        let end = WorkerEnd { stopped_at_ns: Some(stopped_at_ns), ..WorkerEnd::default() };
        self.news.push_back(Message::Ended(Box::new(end)));
        self.stage = Stage::Over;
    }

    fn begin(&mut self) {
        let now = Instant::now();
        self.begun = Some(now);
        self.news.push_back(Message::Begins(now));
        match self.action.warm_up.clone() {
            Some(command) => self.run(&command, Stage::WarmUp),
            None => self.run(&self.action.measured.clone(), Stage::Measured),
        }
    }

    /// Waits for the command, and starts the next one when it has ended.
    fn poll(&mut self, wait: Duration) {
        self.read_memory();
        let ended = self.tool.wait(wait);
        let is_late = self.begun.is_some_and(|begun| begun.elapsed() > self.within);
        let name = self.action.tool.name;
        if self.level != StopLevel::Go {
            self.end_command();
            self.end(self.elapsed_ns());
            return;
        }
        match ended {
            None if is_late => {
                let output = self.end_command();
                let within = self.within.as_secs();
                self.fail(format!(
                    "{name} did not end within {within} s, and was stopped{}",
                    last_lines(&output)
                ));
            }
            None => {}
            Some(Err(how)) => {
                let output = self.end_command();
                self.fail(format!("{name} {how}{}", last_lines(&output)));
            }
            Some(Ok(())) if self.stage == Stage::WarmUp => {
                self.end_command();
                self.run(&self.action.measured.clone(), Stage::Measured);
            }
            Some(Ok(())) => {
                let output = self.end_command();
                self.take(&output);
            }
        }
    }

    /// Parses the output of the measured command.
    fn take(&mut self, output: &str) {
        let name = self.action.tool.name;
        match (self.action.tool.read)(output) {
            Ok(figures) => {
                let interval = interval(&figures, self.warm_up_ns);
                self.news.push_back(Message::Interval { step: 0, interval: Box::new(interval) });
                self.end(self.warm_up_ns.saturating_add(figures.measured_ns));
                self.told = Some(figures);
            }
            Err(why) => {
                self.fail(format!("the output of {name} cannot be read: {why}{}", last_lines(output)))
            }
        }
    }

    /// Ends the command, and returns its output.
    fn end_command(&mut self) -> String {
        self.rss_peak_bytes = self.rss_peak_bytes.max(self.tool.rss_peak_bytes());
        let output = self.tool.end_command();
        self.ran = self.started.take().map_or(self.ran, |started| started.elapsed());
        self.used = self.tool.usage();
        String::from_utf8_lossy(&output.text).into_owned()
    }

    fn read_memory(&mut self) {
        if self.looked.is_none_or(|looked| looked.elapsed() >= INTERVAL) {
            self.looked = Some(Instant::now());
            self.rss_peak_bytes = self.rss_peak_bytes.max(self.tool.rss_peak_bytes());
        }
    }

    fn elapsed_ns(&self) -> u64 {
        self.begun.map_or(0, |begun| begun.elapsed().as_nanos() as u64)
    }
}

impl RunningLoad for RunningTool {
    fn next(&mut self, wait: Duration) -> Result<Message, RecvTimeoutError> {
        if self.news.is_empty() {
            match self.stage {
                Stage::Waiting => self.begin(),
                Stage::WarmUp | Stage::Measured => self.poll(wait),
                Stage::Over => return Err(RecvTimeoutError::Disconnected),
            }
        }
        self.news.pop_front().ok_or(RecvTimeoutError::Timeout)
    }

    fn stop(&mut self, level: StopLevel) {
        self.level = self.level.max(level);
    }

    fn join(self: Box<Self>) -> Result<(), Vec<String>> {
        Ok(())
    }

    fn keeper_pid(&self) -> Option<u32> {
        Some(self.tool.keeper_pid())
    }

    fn usage(&self) -> Option<Usage> {
        Some(Usage {
            cpu_user_s: (self.used.cpu_user_s - self.before.cpu_user_s).max(0.0),
            cpu_sys_s: (self.used.cpu_sys_s - self.before.cpu_sys_s).max(0.0),
            rss_peak_bytes: self.rss_peak_bytes,
        })
    }

    fn tool_ran(&self) -> Option<Duration> {
        Some(self.ran)
    }

    fn notes(&self) -> Vec<String> {
        let name = self.action.tool.name;
        let notes = self.told.iter().flat_map(|figures| &figures.notes);
        notes.map(|note| format!("{name} reports {note}")).collect()
    }

    fn tool(&self) -> Option<evidence::LoadTool> {
        let Tool { name, times, .. } = self.action.tool;
        let figures = self.told.clone().unwrap_or_default();
        let command = self.action.measured.argv.iter().map(|word| plan::mask_secrets(word)).collect();
        Some(evidence::LoadTool {
            name: (*name).to_owned(),
            version: figures.version,
            command,
            times: (*times).to_owned(),
            resolution_ns: figures.times.resolution_ns,
            min_ns: figures.times.min_ns,
            mean_ns: figures.times.mean_ns,
            max_ns: figures.times.max_ns,
            percentiles_ns: figures.times.percentiles,
            received_bytes: figures.received_bytes,
        })
    }
}

/// Converts the report of a tool to an interval. Every reported request counts as planned and sent.
fn interval(figures: &Figures, warm_up_ns: u64) -> Interval {
    let end_ns = warm_up_ns.saturating_add(figures.measured_ns);
    let mut tally = Tally { last_finished_ns: Some(end_ns), ..Tally::default() };
    let mut counts = Counts { ok: figures.ok, unfinished: figures.unfinished, ..Counts::default() };
    for ToolError { class, code, message, count } in &figures.errors {
        match class.outcome() {
            Some(Outcome::Rejected) => counts.rejected += count,
            Some(Outcome::TimedOut) => counts.timed_out += count,
            _ => counts.failed += count,
        }
        let class = ClassName::Known(*class);
        tally.errors.insert(LedgerEntry { class, code: *code, message: message.clone(), count: *count });
    }
    counts.sent = counts.ok + counts.rejected + counts.failed + counts.timed_out + counts.unfinished;
    counts.planned = counts.sent;
    figures.statuses.iter().for_each(|(status, count)| tally.statuses.add(*status, *count));
    tally.received_bytes = figures.received_bytes.unwrap_or(0);
    let other = counts.failed + counts.timed_out;
    tally.window = WindowCounts { ok: counts.ok, rejected: counts.rejected, other, after: 0 };
    tally.counts = counts;
    Interval { second: end_ns / 1_000_000_000, phase: Phase::Measured, tally, sampled: Vec::new() }
}

/// Last lines of an output, which usually explain why a tool failed.
fn last_lines(output: &str) -> String {
    let lines: Vec<&str> = output.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let shown = lines[lines.len().saturating_sub(LINES_SHOWN)..].iter();
    let shown: Vec<String> = shown.map(|line| line.chars().take(LINE_CHARACTERS_MAX).collect()).collect();
    if shown.is_empty() { "; it printed nothing".to_owned() } else { format!(": {}", shown.join(" | ")) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use record::ErrorClass;

    #[test]
    fn counts_of_a_tool_add_up() {
        let error = |class, count| ToolError { class, code: 0, message: "m".to_owned(), count };
        let errors = vec![
            error(ErrorClass::Status, 3),
            error(ErrorClass::ConnectRefused, 2),
            error(ErrorClass::ToolError, 4),
            error(ErrorClass::ToolTimeout, 1),
        ];
        let figures =
            Figures { measured_ns: 2_500_000_000, ok: 90, errors, unfinished: 5, ..Figures::default() };
        let interval = interval(&figures, 1_000_000_000);
        let Counts { planned, sent, not_sent, ok, rejected, failed, timed_out, unfinished } =
            interval.tally.counts;
        assert_eq!((planned, sent, not_sent, unfinished), (105, 105, 0, 5));
        assert_eq!([ok, rejected, failed, timed_out], [90, 3, 6, 1]);
        assert_eq!((interval.second, interval.tally.errors.total()), (3, 10));
        let mut whole = record::Whole::default();
        whole.absorb(&interval.tally).expect("it adds up");
        assert!(whole.settle().is_ok());
    }

    #[test]
    fn finds_urls_in_options() {
        let host = |word: &str| Some(find_url(word)?.host_str()?.to_owned());
        assert_eq!(host("http://10.0.0.1:80/x").as_deref(), Some("10.0.0.1"));
        assert_eq!(host("--url=http://8.8.8.8/").as_deref(), Some("8.8.8.8"));
        assert_eq!(host("-Jé=https://[::1]:1/").as_deref(), Some("[::1]"));
        assert_eq!(host("-c10").or(host("://")).or(host("a:b")), None);
    }

    #[test]
    fn quoted_output_is_bounded() {
        assert_eq!(last_lines(""), "; it printed nothing");
        assert_eq!(last_lines("a\n\nb\nc\nd\n"), ": b | c | d");
        assert!(last_lines(&"x".repeat(1_000_000)).len() < 300);
    }
}
