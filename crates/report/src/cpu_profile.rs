//! CPU profiles in tables and sentences.

use evidence::FrameKind;
use judge::cpu_profile::{COVERED_MIN_SHARE, Difference, Frame, Function, Profile, SAMPLES_MIN};
use judge::words::percent;

use crate::item::{Escape, Item, Tone};
use crate::table::{Cell, Table};
use crate::text::{listed, sanitize};
use crate::units::{count, decimal, duration};
use crate::view::View;

/// Name of the probe that reports a failed profile.
const PROBE_NAME: &str = "CPU profile";
const WHY_COLUMNS_MAX: usize = 300;
/// Maximum number of functions in a table.
const FUNCTIONS_MAX: usize = 10;
/// Maximum width in columns of a function's name, and of its module.
const NAME_COLUMNS_MAX: usize = 40;
const MODULE_COLUMNS_MAX: usize = 16;
/// Module name for functions of the system's own executable.
const OWN_PROGRAM: &str = "own program";
/// Maximum number of process spaces in a sentence.
const SPACES_MAX: usize = 3;

/// Items about the profile of a run. Empty if none was requested.
pub(crate) fn of_run(view: &View<'_>, escape: Escape) -> Vec<Item> {
    match profile_of(view) {
        Some(profile) => items("CPU time by function", &profile, escape),
        None => missing_reason([view], escape),
    }
}

/// Reason why a requested profile is missing. Empty if none is missing.
pub(crate) fn missing_reason<'v, 'a: 'v>(
    views: impl IntoIterator<Item = &'v View<'a>>,
    escape: Escape,
) -> Vec<Item> {
    let endings = views.into_iter().filter_map(|view| view.run.ending.as_ref());
    let mut all = endings.flat_map(|ending| &ending.not_available);
    let why =
        all.find(|(probe, _)| probe == PROBE_NAME).map(|(_, why)| escape(&sanitize(why, WHY_COLUMNS_MAX)));
    why.map(|why| Item::Text(Tone::Doubtful, format!("No CPU profile: {why}"))).into_iter().collect()
}

/// Profile of a run. `None` if it was not profiled.
pub(crate) fn profile_of(view: &View<'_>) -> Option<Profile> {
    Profile::of([(view.run, &view.measured)])
}

/// Heading, table of the functions with the most samples, and notes.
pub(crate) fn items(head: &str, profile: &Profile, escape: Escape) -> Vec<Item> {
    let runs = if profile.runs > 1 { format!(" of {} runs", profile.runs) } else { String::new() };
    let rates: Vec<String> = profile.frequencies_hz.iter().map(u32::to_string).collect();
    let head = format!(
        "{head}: {} samples{runs}, {} per second of CPU time",
        count(profile.samples),
        rates.join(" and ")
    );
    let mut items = vec![Item::Head(head)];
    if profile.is_enough() {
        items.push(Item::Table(functions(profile, escape)));
        items.push(Item::Text(Tone::Plain, spaces(profile, escape)));
    }
    items.extend(doubts(profile).into_iter().map(|line| Item::Text(Tone::Doubtful, line)));
    items
}

fn functions(profile: &Profile, escape: Escape) -> Table {
    let frames: Vec<&Frame> = profile.functions().take(FUNCTIONS_MAX).collect();
    let mut table = Table::of_names("function", frames.iter().map(|frame| name(&frame.function, escape)));
    table.words("in", frames.iter().map(|frame| module(&frame.function, escape)));
    let share = |samples: u64| {
        Cell::figure(profile.share(samples).map(|(share, _)| share), |share| percent(share, 1))
    };
    table.column("self", "", frames.iter().map(|frame| share(frame.own)));
    let interval = |frame: &&Frame| Cell {
        text: profile.share(frame.own).map_or_else(String::new, |(_, [low, high])| {
            format!("{} to {}", percent(low, 1), percent(high, 1))
        }),
        value: None,
    };
    table.column("95 % interval", "", frames.iter().map(interval));
    table.column("total", "", frames.iter().map(|frame| share(frame.total)));
    if profile.us_per_request.is_some() {
        let us = |frame: &&Frame| Cell::figure(profile.us(frame.own).map(|us| us * 1e3), duration);
        table.column("self", "/request", frames.iter().map(us));
    }
    table.column("n", "", frames.iter().map(|frame| Cell::count(frame.own)));
    table
}

/// Split of CPU time between user space and kernel, by process.
fn spaces(profile: &Profile, escape: Escape) -> String {
    let space = |space: &judge::cpu_profile::Space| {
        let share = profile.share(space.samples).map_or_else(String::new, |(share, _)| percent(share, 1));
        format!("{share} {}", space_name(&space.process, space.kind, escape))
    };
    let most = listed(profile.spaces.iter().map(space), SPACES_MAX, ", ");
    match profile.us_per_request {
        Some(us) => format!("{} of CPU time per request: {most}.", duration(us * 1e3)),
        None if profile.has_kernel => format!("CPU time: {most}."),
        None => format!("CPU time in user space: {most}."),
    }
}

fn space_name(process: &str, kind: FrameKind, escape: Escape) -> String {
    let process = escape(&sanitize(process, NAME_COLUMNS_MAX));
    match kind {
        FrameKind::Kernel => format!("in the kernel for {process}"),
        FrameKind::User | FrameKind::Process => format!("in user space of {process}"),
    }
}

/// Limitations of a profile, one sentence each.
pub(crate) fn doubts(profile: &Profile) -> Vec<String> {
    let mut lines = Vec::new();
    if !profile.is_enough() {
        let samples = count(profile.samples);
        lines.push(format!("No shares: {samples} samples are fewer than {SAMPLES_MIN}; measure for longer."));
    }
    if let Some(covered) =
        profile.covered.filter(|covered| *covered < COVERED_MIN_SHARE && profile.is_enough())
    {
        let covered = percent(covered, 0);
        lines.push(format!(
            "Samples cover {covered} of the CPU time that the kernel counted: some of it was missed."
        ));
    }
    if !profile.has_kernel {
        lines.push(
            "Time in the kernel was not sampled: perf may not (sysctl kernel.perf_event_paranoid=1)."
                .to_owned(),
        );
    }
    if profile.is_cut {
        lines.push(
            "Sampling ended early, at the greatest size of its file: the shares are those of its beginning."
                .to_owned(),
        );
    }
    if profile.lost > 0 {
        lines.push(format!("perf lost {} samples.", count(profile.lost)));
    }
    lines
}

/// Profiles of two variants.
pub(crate) struct Compared<'a> {
    pub(crate) names: [&'a str; 2],
    pub(crate) profiles: [&'a Profile; 2],
}

impl Compared<'_> {
    /// Difference in CPU time per request, and its parts. `None` if a figure is missing.
    pub(crate) fn sentence(&self, escape: Escape) -> Option<String> {
        let [first, second] = self.profiles;
        let [a, b] = [first.us_per_request?, second.us_per_request?];
        let spaces = first.spaces_in(second)?;
        let share = (b / a - 1.0) * 100.0;
        let share = format!("{}{} %", sign(share), decimal(share.abs(), 1));
        let [first_name, second_name] = self.names;
        let what = format!(
            "CPU per request: {second_name} {}, {first_name} {} ({share})",
            duration(b * 1e3),
            duration(a * 1e3)
        );
        let clear: Vec<&Difference<(String, FrameKind)>> =
            spaces.iter().filter(|space| space.is_clear()).collect();
        let named = |space: &&Difference<(String, FrameKind)>| space_name(&space.of.0, space.of.1, escape);
        Some(match clear[..] {
            [] => format!("{what}; samples do not tell in what they differ"),
            [only] if is_whole_difference(only, b - a) => {
                format!("{what}, all of the difference {}", named(&only))
            }
            _ => {
                let part = |space: &&Difference<(String, FrameKind)>| {
                    format!("{} {}", signed(space.more_us), named(space))
                };
                format!("{what}: {}", listed(clear.iter().map(part), SPACES_MAX, ", "))
            }
        })
    }

    /// Functions that differ most in CPU time per request. `None` if a figure is missing, or if no function differs.
    pub(crate) fn table(&self, escape: Escape) -> Option<Table> {
        let [first, second] = self.profiles;
        let mut differences = first.functions_in(second)?;
        differences.retain(Difference::is_clear);
        differences.truncate(FUNCTIONS_MAX);
        if differences.is_empty() {
            return None;
        }
        let mut table = Table::of_names("function", differences.iter().map(|of| name(&of.of, escape)));
        let place = |of: &Difference<Function>| match of.of.module.as_str() {
            "" => OWN_PROGRAM.to_owned(),
            _ => module(&of.of, escape),
        };
        table.words("in", differences.iter().map(place));
        for (side, head) in self.names.into_iter().enumerate() {
            let cells =
                differences.iter().map(|of| Cell::figure(Some(of.us_per_request[side] * 1e3), duration));
            table.column(head, "", cells);
        }
        let more = |of: &Difference<Function>| Cell { text: signed(of.more_us), value: Some(of.more_us) };
        table.column("difference", "", differences.iter().map(more));
        let interval = |of: &Difference<Function>| {
            let [low, high] = of.interval_us;
            Cell::from(format!("{} to {}", signed(low), signed(high)))
        };
        table.column("95 % interval", "", differences.iter().map(interval));
        let samples = |of: &Difference<Function>| Cell::from(of.samples.map(count).join(", "));
        table.column("n", "", differences.iter().map(samples));
        Some(table)
    }
}

/// Whether a part accounts for the whole difference, within the sampling error.
fn is_whole_difference(part: &Difference<(String, FrameKind)>, more_us: f64) -> bool {
    let [low, high] = part.interval_us;
    (low..=high).contains(&more_us)
}

fn sign(figure: f64) -> &'static str {
    match figure {
        figure if figure > 0.0 => "+",
        figure if figure < 0.0 => "−",
        _ => "",
    }
}

fn signed(us: f64) -> String {
    format!("{}{}", sign(us), duration(us.abs() * 1e3))
}

fn name(function: &Function, escape: Escape) -> String {
    escape(&sanitize(&function.name, NAME_COLUMNS_MAX))
}

fn module(function: &Function, escape: Escape) -> String {
    escape(&sanitize(&function.module, MODULE_COLUMNS_MAX))
}
