//! Sentences and figures that several formats share.

use evidence::{
    Decision, Distorted, Failure, GateResult, Generator, Level, NewRun, Output, SliceRules, ThreadRule,
    Validity, Verdict,
};
use judge::MetricKind;
use judge::words::LASTS;
use record::Counts;

use crate::breaches;
use crate::figures::Figures;
use crate::text::{shortened, visible};
use crate::times;
use crate::units::{count, decimal, duration, gibibytes, percent_of, percent_with, rate};
use crate::view::View;

/// Maximum number of lines of output.
const OUTPUT_LINES_MAX: usize = 6;
/// Number of bytes at the end of an output that are searched for lines.
const OUTPUT_BYTES_MAX: usize = 8 << 10;
/// Maximum number of cores in a line.
const CORES_MAX: usize = 16;

/// Equation of all counts, on two lines. Figures of a tool have one line.
pub(crate) fn identity(figures: &Figures) -> Vec<String> {
    let Counts { planned, sent, not_sent, ok, rejected, failed, timed_out, unfinished } = figures.counts;
    if figures.is_of_tool {
        let [sent, ok, rejected] = [sent, ok, rejected].map(count);
        let rest = format!("failed {} + timed out {}", count(failed), count(timed_out));
        let unfinished =
            if unfinished > 0 { format!(" + unfinished {}", count(unfinished)) } else { String::new() };
        return vec![format!("reported {sent} = ok {ok} + rejected {rejected} + {rest}{unfinished}")];
    }
    vec![
        format!("planned {} = sent {} + not sent {}", count(planned), count(sent), count(not_sent)),
        format!(
            "sent {} = ok {} + rejected {} + failed {} + timed out {} + unfinished {}",
            count(sent),
            count(ok),
            count(rejected),
            count(failed),
            count(timed_out),
            count(unfinished)
        ),
    ]
}

/// The load and its actual duration.
pub(crate) fn load(view: &View<'_>) -> String {
    load_for(&view.run.new, view.duration_s())
}

/// The load and its planned duration.
pub(crate) fn planned_load(new: &NewRun) -> String {
    judge::words::planned_load(&new.load_in_words(), new.planned_duration_ns, new.warm_up_ns)
}

/// The load of a study in slices, with the lengths of slices.
pub(crate) fn load_in_slices(new: &NewRun, rules: &SliceRules) -> String {
    let SliceRules { slice_s, settle_s, warm_up_s, .. } = rules;
    format!(
        "{}{LASTS}slices of {} s after {} s, the first of a start after {} s of warm-up",
        new.load_in_words(),
        decimal(*slice_s, 1),
        decimal(*settle_s, 2),
        decimal(*warm_up_s, 1)
    )
}

fn load_for(new: &NewRun, duration_s: Option<f64>) -> String {
    judge::words::load_for(&new.load_in_words(), duration_s, new.warm_up_ns)
}

/// Verdict and validity in a clause.
pub(crate) fn verdict(view: &View<'_>) -> String {
    let sentence = match view.verdict {
        Verdict::Complete => "complete",
        Verdict::Degraded if view.whole.counts.ok == 0 && !is_degraded_by_outage(view) => {
            "degraded: no request ended ok"
        }
        Verdict::Degraded if is_for_some_users(view) => {
            "degraded: users were without an answer for much longer than others"
        }
        Verdict::Degraded => "degraded: the system was unavailable for part of the time",
        Verdict::Partial => "partial: it ended early",
        Verdict::Aborted => "aborted: it was cut off before its end",
        Verdict::Invalid => return "invalid: its figures must not be used".to_owned(),
    };
    let level = view.validity.verdict;
    format!("{sentence} · {level}{}", doubtful_figures(&figures_at(&view.validity, level)))
}

/// Whether outages lasted so long that the run is degraded.
fn is_degraded_by_outage(view: &View<'_>) -> bool {
    view.measured.outage.as_ref().is_some_and(|outage| outage.is_degraded())
}

/// Whether users of a closed load waited in vain while other users were answered all the time.
pub(crate) fn is_for_some_users(view: &View<'_>) -> bool {
    view.measured_run().is_gone_for_some_users()
}

/// Figures of a run that are in doubt at this level.
pub(crate) fn figures_at(validity: &Validity, level: Level) -> Vec<Distorted> {
    let has_level = |figure: &Distorted| level != Level::Valid && validity.of(*figure) == level;
    Distorted::ALL.into_iter().filter(has_level).collect()
}

/// Formats doubtful figures: ` in mean and tail`. Empty if all figures are doubtful, or if it is unknown which.
pub(crate) fn doubtful_figures(figures: &[Distorted]) -> String {
    let names: Vec<&str> = figures.iter().map(|figure| figure.name()).collect();
    match &names[..] {
        all if all.len() == Distorted::ALL.len() => String::new(),
        [] => String::new(),
        [one] => format!(" in {one}"),
        [rest @ .., last] => format!(" in {} and {last}", rest.join(", ")),
    }
}

/// Reason for the number of generator threads.
fn because(rule: ThreadRule) -> String {
    match rule {
        ThreadRule::Requested => "as requested".to_owned(),
        ThreadRule::PerConnection => "one per connection: the database is in this process".to_owned(),
        ThreadRule::PinnedCores { .. } => "one per core that it is pinned to".to_owned(),
        ThreadRule::AllCores { .. } => "one per core: the system is on another machine".to_owned(),
        ThreadRule::HalfOfCores { cores: 1 } => "the only core is shared with the system".to_owned(),
        ThreadRule::HalfOfCores { cores } => format!("half of {cores} cores: the system is on this machine"),
        ThreadRule::FewConnections => "one per connection".to_owned(),
    }
}

/// Resource usage of the load generator.
pub(crate) fn generator(view: &View<'_>, generator: &Generator) -> String {
    let threads = match (&generator.tool, generator.threads) {
        (Some(tool), _) => {
            let version = tool.version.as_ref().map_or_else(String::new, |version| format!(" {version}"));
            format!("{}{version}", tool.name)
        }
        (None, threads) => {
            let because =
                generator.thread_rule.map_or_else(String::new, |rule| format!(" ({})", because(rule)));
            let noun = if threads == 1 { "thread" } else { "threads" };
            format!("{threads} {noun}{because}")
        }
    };
    let mut words = format!(
        "{threads}, {} s CPU (user {} + system {})",
        decimal(generator.cpu_user_s + generator.cpu_sys_s, 2),
        decimal(generator.cpu_user_s, 2),
        decimal(generator.cpu_sys_s, 2)
    );
    if let Some(us) = view.generator_us_per_request() {
        words.push_str(&format!(", {} µs per {}", decimal(us, 1), view.noun().one));
    }
    if let Some(us) = generator.wake_lag_p99_us {
        words.push_str(&format!(", wake-up delay p99 {}", duration(us * 1e3)));
    }
    words
}

/// Number of connections, and the time to open them. Most are opened in the warm-up, if there is one.
pub(crate) fn connection_words(view: &View<'_>) -> Vec<String> {
    let times = |figures: &Figures| {
        let connections = figures.connections?;
        let log_in = if view.unit().connects_with_log_in() { ", log-in included" } else { "" };
        let made = times::summary_words(&figures.connect)
            .map_or_else(String::new, |words| format!("{log_in}, {words}"));
        let s = if connections == 1 { "" } else { "s" };
        Some(format!("{} time{s}{made}", count(connections)))
    };
    let mut lines: Vec<String> = times(&view.whole).into_iter().collect();
    if view.warm_up.connections > Some(0) {
        lines.extend(times(&view.warm_up).map(|times| format!("in the warm-up {times}")));
    }
    lines
}

/// Number of requests that were sent once more: `3 requests sent once more on a new connection`. `None` if none was.
pub(crate) fn retried(figures: &Figures) -> Option<String> {
    let retried = Some(figures.retried()).filter(|retried| *retried > 0)?;
    Some(format!("{} sent once more on a new connection", figures.noun().counted(retried)))
}

/// Describes the machine on one line, not escaped. `None` if nothing is known about it.
pub(crate) fn machine(host: &serde_json::Value) -> Option<String> {
    let text = |key: &str| host[key].as_str().map(str::to_owned);
    let cores = host["cores"].as_u64().map(|cores| match cores {
        1 => "1 core".to_owned(),
        cores => format!("{} cores", count(cores)),
    });
    let memory = host["memory_bytes"].as_u64().map(|bytes| format!("{} GiB", gibibytes(bytes)));
    let known: Vec<String> =
        [text("name"), cores, text("cpu"), memory, text("system")].into_iter().flatten().collect();
    (!known.is_empty()).then(|| known.join(", "))
}

/// Benchmark results of the machine, not escaped. `None` if it was not measured.
pub(crate) fn machine_figures(host: &serde_json::Value) -> Option<String> {
    let figures = crate::compared::conditions::figures(host);
    let words = figures.iter().map(|figure| {
        let range = format!("{}–{}", rounded(figure.min), rounded(figure.max));
        format!("{} {} {} ({range})", figure.title, rounded(figure.median), figure.unit)
    });
    let words: Vec<String> = words.collect();
    (!words.is_empty()).then(|| words.join(", "))
}

/// Formats a number with three significant digits, or all digits of its integer part.
pub(crate) fn rounded(value: f64) -> String {
    let decimals = match value {
        value if value < 9.995 => 2,
        value if value < 99.95 => 1,
        _ => 0,
    };
    decimal(value, decimals)
}

/// Utilization of each core. `None` if it was not sampled.
pub(crate) fn cores(view: &View<'_>) -> Option<String> {
    let cores = &view.measured.resources.as_ref()?.cores;
    let each: Vec<String> = cores.iter().take(CORES_MAX).map(|core| percent_with(core.busy, 0)).collect();
    let more = if cores.len() > CORES_MAX { " …" } else { "" };
    (!each.is_empty()).then(|| format!("{}{more} busy (median of the seconds)", each.join(" / ")))
}

/// Failure of a system, not escaped.
pub(crate) fn failure(failure: &Failure) -> String {
    let process = failure.process.as_ref().map_or_else(String::new, |process| format!(" {process}"));
    format!("failed ({}{process}): {}", failure.stage, failure.what)
}

/// Result of a gate, not escaped.
pub(crate) fn gate(gate: &GateResult) -> String {
    match gate.decision {
        Decision::Holds => format!("{} held: {}{}", gate.text, observed(gate), breaches::bound(gate)),
        Decision::Fails => format!("{} failed: {}", gate.text, breaches::value_and_limit(gate)),
        Decision::Undecided => format!("{} undecided: {}", gate.text, breaches::why_undecided(gate, None)),
    }
}

/// Observed value of a gate in its unit, not escaped.
pub(crate) fn observed(gate: &GateResult) -> String {
    gate.observed.map_or_else(|| "no figure".to_owned(), |figure| figure_of_gate(gate, figure))
}

/// A figure in the unit of a gate, not escaped.
pub(crate) fn figure_of_gate(gate: &GateResult, figure: f64) -> String {
    match gate.unit.as_str() {
        "ns" => duration(figure),
        "share" => percent_of(figure),
        "per_s" | "/s" => format!("{}/s", rate(figure)),
        "bytes" => MetricKind::Size.writer()(figure),
        "number" => MetricKind::Number.writer()(figure),
        unit => format!("{} {}", decimal(figure, 3), shortened(unit, 20)).trim_end().to_owned(),
    }
}

/// Last lines of output of a system's processes, with control characters escaped. If a process failed, only its output is shown.
pub(crate) fn tail(outputs: &[Output], process: Option<&str>) -> Vec<String> {
    let is_meant = |output: &&Output| process.is_none_or(|process| output.process == process);
    let mut lines = Vec::new();
    for output in outputs.iter().filter(is_meant) {
        let end = output.text.len().saturating_sub(OUTPUT_BYTES_MAX);
        let text = String::from_utf8_lossy(&output.text[end..]);
        let of_output: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
        let from = of_output.len().saturating_sub(OUTPUT_LINES_MAX);
        let line = |line: &&str| {
            format!("{}: {}", visible(&output.process), visible(&line.trim_end().replace('\t', "  ")))
        };
        lines.extend(of_output[from..].iter().map(line));
    }
    let from = lines.len().saturating_sub(OUTPUT_LINES_MAX);
    lines.split_off(from)
}
