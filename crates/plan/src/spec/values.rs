//! Kinds of values: documentation and parser of each.

use judge::{ComparedBy, MetricKind};
use load::ThinkTime;
use load::open::{PROCESSES, Process, Stage};
use sql::Mode;
use sql::script::Distribution;
use sql::workload::Style;
use wire::SHARD_HASHES;

use super::{AskedBaseline, InvalidText, Spanned, Variable};
use crate::file::tree::{Entry, Node};
use crate::file::{ValueKind, form, tables};
use crate::plan::{Pin, Stacks};
use crate::recording::AskedRecording;
use crate::scripts::read_distribution;
use crate::study::{Find, Interleave};
use crate::units;

type ReadNode<T> = fn(&Node) -> Result<T, InvalidText>;

/// A kind of value.
pub(crate) struct ValueFormat<T> {
    /// Description for the reference, the JSON Schema, and the check of a plan's shape.
    pub(crate) kind: ValueKind,
    /// Parses a text, from a command line or a plan file.
    pub(crate) read: fn(&str) -> Result<T, InvalidText>,
    /// Parses a list or a mapping of a plan file. `None` if the value is always a single text.
    pub(crate) read_node: Option<ReadNode<T>>,
}

const fn single<T>(kind: ValueKind, read: fn(&str) -> Result<T, InvalidText>) -> ValueFormat<T> {
    ValueFormat { kind, read, read_node: None }
}

pub(crate) const TEXT: ValueFormat<String> = single(ValueKind::One(&form::TEXT), |text| Ok(text.to_owned()));
pub(crate) const TRUTH: ValueFormat<bool> = single(ValueKind::One(&form::TRUTH), |text| Ok(text == "true"));
pub(crate) const COUNT: ValueFormat<u64> =
    single(ValueKind::One(&form::COUNT), |text| Ok(units::count(text)?));
pub(crate) const DURATION: ValueFormat<u64> =
    single(ValueKind::One(&form::DURATION), |text| Ok(units::duration_ns(text)?));
pub(crate) const CONNECTIONS: ValueFormat<u64> = ValueFormat {
    kind: ValueKind::Either(&[COUNT.kind, ValueKind::Table(&tables::CONNECTIONS)]),
    read: COUNT.read,
    read_node: Some(|node| (COUNT.read)(node.text_of("count").or(node.text()).unwrap_or_default())),
};
pub(crate) const REPLAY: ValueFormat<String> = ValueFormat {
    kind: ValueKind::Either(&[TEXT.kind, ValueKind::Table(&tables::replay::REPLAY)]),
    read: TEXT.read,
    read_node: Some(|node| (TEXT.read)(node.text_of("log").or(node.text()).unwrap_or_default())),
};
pub(crate) const RATE: ValueFormat<f64> =
    single(ValueKind::One(&form::RATE), |text| Ok(units::rate_per_s(text)?));
pub(crate) const THINK: ValueFormat<ThinkTime> = single(ValueKind::One(&form::THINK), think_time);
pub(crate) const ARRIVALS: ValueFormat<&Process> = single(ValueKind::Word(&PROCESS_NAMES), arrivals);
pub(crate) const STAGES: ValueFormat<Vec<Stage>> =
    ValueFormat { kind: ValueKind::List(&STAGE), read: stages, read_node: Some(stages_of_node) };
pub(crate) const RECORDING: ValueFormat<AskedRecording> =
    single(ValueKind::One(&form::TEXT), |text| Ok(AskedRecording::File(text.to_owned())));
pub(crate) const SEED: ValueFormat<u64> = single(ValueKind::One(&form::SEED), seed);
pub(crate) const STACKS: ValueFormat<Option<Stacks>> = single(ValueKind::One(&form::STACKS), stacks);
pub(crate) const PIN: ValueFormat<Pin> = single(ValueKind::One(&form::TEXT), pin);

const STAGE: ValueKind = ValueKind::Table(&tables::STAGE);

pub(crate) const MIN_EFFECT: ValueFormat<AskedMinEffect> =
    single(ValueKind::One(&form::MIN_EFFECT), |text| Ok(AskedMinEffect::from_text(text)?));
pub(crate) const METRIC: ValueFormat<ComparedBy> =
    single(ValueKind::WordOr(judge::COMPARED, &form::FURTHER_METRIC), metric);
pub(crate) const METRICS: ValueFormat<Vec<Spanned<ComparedBy>>> = ValueFormat {
    kind: ValueKind::OneOrList(&METRIC.kind),
    read: |text| Ok(vec![metric(text)?.into()]),
    read_node: Some(|node| Ok(node.items().iter().filter_map(metric_at).collect())),
};
pub(crate) const BASELINE: ValueFormat<AskedBaseline> = ValueFormat {
    kind: ValueKind::Either(&[TEXT.kind, ValueKind::Table(&tables::BASELINE)]),
    read: |text| Ok(AskedBaseline::Variant(text.to_owned())),
    read_node: Some(|node| {
        let variant = node.text().map(|text| AskedBaseline::Variant(text.to_owned()));
        Ok(variant.unwrap_or_else(|| AskedBaseline::from_node(node)))
    }),
};
pub(crate) const FIND: ValueFormat<Find> = single(ValueKind::Word(&Find::NAMES), |text| {
    let at = Find::NAMES.iter().position(|name| *name == text);
    at.map(|at| Find::ALL[at]).ok_or_else(|| unknown_word(text, &Find::NAMES))
});
pub(crate) const INTERLEAVE: ValueFormat<Interleave> = single(ValueKind::Word(&Interleave::NAMES), |text| {
    let at = Interleave::NAMES.iter().position(|name| *name == text);
    at.map(|at| Interleave::ALL[at]).ok_or_else(|| unknown_word(text, &Interleave::NAMES))
});
pub(crate) const PAUSED: ValueFormat<bool> = single(ValueKind::Word(&PAUSES), |text| match text {
    "idle" => Ok(true),
    "none" => Ok(false),
    other => Err(unknown_word(other, &PAUSES)),
});
pub(crate) const CONTROL: ValueFormat<bool> = single(ValueKind::Word(&CONTROLS), |text| match text {
    "neighbors" => Ok(true),
    "none" => Ok(false),
    other => Err(unknown_word(other, &CONTROLS)),
});
pub(crate) const UNLIKE: ValueFormat<bool> = single(ValueKind::Word(&UNLIKES), |text| match text {
    "ok" => Ok(true),
    "named" => Ok(false),
    other => Err(unknown_word(other, &UNLIKES)),
});
pub(crate) const DIRECTION: ValueFormat<bool> = single(ValueKind::Word(&DIRECTIONS), |text| match text {
    "higher" => Ok(true),
    "lower" => Ok(false),
    other => Err(unknown_word(other, &DIRECTIONS)),
});

const PAUSES: [&str; 2] = ["idle", "none"];
const CONTROLS: [&str; 2] = ["neighbors", "none"];
const UNLIKES: [&str; 2] = ["ok", "named"];
const DIRECTIONS: [&str; 2] = ["higher", "lower"];

fn unknown_word(text: &str, known: &[&str]) -> InvalidText {
    InvalidText::new(format!("unknown value {text:?}"), format!("write one of {}", known.join(", ")))
}

/// Smallest relevant difference, as it was written.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum AskedMinEffect {
    /// Fraction: 0.03 for `3%`.
    Share(f64),
    /// Time in nanoseconds: `20ms`.
    TimeNs(u64),
    /// Number of requests: `5`.
    Requests(u64),
}

impl AskedMinEffect {
    /// Parses a percentage, a duration, or a whole number.
    pub(crate) fn from_text(text: &str) -> Result<Self, String> {
        if text.contains('%') {
            return units::percent(text).map(Self::Share);
        }
        match units::count(text) {
            Ok(requests) => Ok(Self::Requests(requests)),
            Err(_) => units::duration_ns(text).map(Self::TimeNs),
        }
    }

    /// Size in the unit of a metric. `None` if the units do not match.
    pub(crate) fn size_for(self, by: &ComparedBy) -> Option<f64> {
        match (self, by.is_of_events(), by.metric.kind) {
            (Self::Share(share), false, _) => Some(share),
            (Self::TimeNs(ns), true, MetricKind::Time) => Some(ns as f64),
            (Self::Requests(requests), true, MetricKind::Count) => Some(requests as f64),
            _ => None,
        }
    }
}

fn metric(text: &str) -> Result<ComparedBy, InvalidText> {
    ComparedBy::named(text).ok_or_else(|| unknown_word(text, judge::COMPARED))
}

fn metric_at(node: &Node) -> Option<Spanned<ComparedBy>> {
    Some(Spanned::with_node(metric(node.text()?), node))
}

/// Parses `100ms`, `50ms..150ms`, `exp:100ms`, or `18s+exp:12s`.
fn think_time(text: &str) -> Result<ThinkTime, InvalidText> {
    let read = || -> Result<ThinkTime, String> {
        if let Some(mean) = text.strip_prefix("exp:") {
            return Ok(ThinkTime::Exponential { constant_ns: 0, mean_ns: units::duration_ns(mean)? });
        }
        if let Some((constant, mean)) = text.split_once("+exp:") {
            let (constant_ns, mean_ns) = (units::duration_ns(constant)?, units::duration_ns(mean)?);
            return Ok(ThinkTime::Exponential { constant_ns, mean_ns });
        }
        let Some((min, max)) = text.split_once("..") else {
            return Ok(ThinkTime::Constant { ns: units::duration_ns(text)? });
        };
        let (min_ns, max_ns) = (units::duration_ns(min)?, units::duration_ns(max)?);
        if min_ns > max_ns {
            return Err(format!("{text:?} has its end before its start"));
        }
        Ok(ThinkTime::Uniform { min_ns, max_ns })
    };
    read().map_err(|what| {
        InvalidText::from_units(
            what,
            "write 100ms, 50ms..150ms (uniform), exp:100ms (exponential), or 18s+exp:12s (both)",
        )
    })
}

fn arrivals(text: &str) -> Result<&'static Process, InvalidText> {
    let process = PROCESSES.iter().find(|process| process.name == text).copied();
    process.ok_or_else(|| {
        InvalidText::new(format!("unknown arrivals {text:?}"), format!("write {}", arrival_processes()))
    })
}

/// Names of the arrival processes: `even or poisson`.
pub fn arrival_processes() -> String {
    match PROCESS_NAMES.as_slice() {
        [all @ .., last] if !all.is_empty() => format!("{} or {last}", all.join(", ")),
        names => names.concat(),
    }
}

/// Parses `10s:100/s,30s:500/s`: a ramp to 100/s within 10 s, then a ramp to 500/s within 30 s.
fn stages(text: &str) -> Result<Vec<Stage>, InvalidText> {
    let stage = |part: &str| {
        let (for_, to) = part.split_once(':').ok_or_else(|| format!("{part:?} has no colon"))?;
        Ok(Stage { for_ns: units::duration_ns(for_)?, to_per_s: units::rate_per_s(to)? })
    };
    let stages = text.split(',').map(stage).collect::<Result<Vec<_>, String>>();
    stages.map_err(|what| {
        InvalidText::from_units(what, "write TIME:RATE,TIME:RATE such as 10s:100/s,30s:500/s")
    })
}

/// Parses a list of mappings with `for` and `to`.
fn stages_of_node(node: &Node) -> Result<Vec<Stage>, InvalidText> {
    let stage = |stage: &Node| {
        let text = |key: &str| stage.text_of(key).ok_or_else(|| format!("a stage has no `{key}`"));
        Ok(Stage { for_ns: units::duration_ns(text("for")?)?, to_per_s: units::rate_per_s(text("to")?)? })
    };
    Ok(node.items().iter().map(stage).collect::<Result<Vec<_>, String>>()?)
}

fn seed(text: &str) -> Result<u64, InvalidText> {
    let wrong = |_| InvalidText::new(format!("{text:?} is not a whole number below 2^64"), "write --seed 42");
    text.trim().parse().map_err(wrong)
}

fn stacks(text: &str) -> Result<Option<Stacks>, InvalidText> {
    match text {
        "true" => Ok(Some(Stacks::FramePointers)),
        "dwarf" => Ok(Some(Stacks::Dwarf)),
        "false" => Ok(None),
        _ => {
            Err(InvalidText::new(format!("{text:?} is no way to read stacks"), "write true, false, or dwarf"))
        }
    }
}

/// Parses `auto`, or cores such as `1,2`.
fn pin(text: &str) -> Result<Pin, InvalidText> {
    if text == "auto" {
        return Ok(Pin::Auto);
    }
    let cores = text.split(',').map(|core| core.trim().parse()).collect::<Result<_, _>>();
    cores.map(Pin::Cores).map_err(|_| {
        InvalidText::new(format!("{text:?} is not a list of cores"), "write --pin auto or --pin 1,2")
    })
}

/// Number of rows of a workload's table, or tables of the plan with their own numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AskedRows {
    /// Number of rows.
    Count(u64),
    /// Tables, which are read as part of the plan file.
    OfTables,
}

const ROWS_OF_TABLE: ValueKind = ValueKind::Named(&ValueKind::Either(&[
    ValueKind::One(&form::COUNT),
    ValueKind::Named(&ValueKind::Table(&tables::COLUMN)),
]));
pub(crate) const ROWS: ValueFormat<AskedRows> = ValueFormat {
    kind: ValueKind::Either(&[ValueKind::One(&form::COUNT), ROWS_OF_TABLE, ValueKind::List(&ROWS_OF_TABLE)]),
    read: |text| Ok(AskedRows::Count(units::count(text)?)),
    read_node: Some(|node| match node.text() {
        Some(text) => Ok(AskedRows::Count(units::count(text)?)),
        None => Ok(AskedRows::OfTables),
    }),
};
pub(crate) const SQL_TEXTS: ValueFormat<()> =
    ValueFormat { kind: ValueKind::OneOrList(&TEXT.kind), read: |_| Ok(()), read_node: Some(|_| Ok(())) };
pub(crate) const CSV_FILES: ValueFormat<()> =
    ValueFormat { kind: ValueKind::Named(&TEXT.kind), read: |_| Ok(()), read_node: Some(|_| Ok(())) };

pub(crate) const MODE: ValueFormat<Mode> = single(ValueKind::Word(&MODES), |text| {
    let mode = named(Mode::NAMES, text);
    mode.ok_or_else(|| {
        InvalidText::new(format!("unknown query mode {text:?}"), "write simple, extended, or prepared")
    })
});
pub(crate) const STYLE: ValueFormat<Style> = single(ValueKind::Word(&STYLES), |text| {
    let help = format!("write {}", STYLES.join(", "));
    named(Style::NAMES, text).ok_or_else(|| InvalidText::new(format!("unknown style {text:?}"), help))
});
pub(crate) const DISTRIBUTION: ValueFormat<Distribution> = single(ValueKind::One(&form::TEXT), |text| {
    read_distribution(text)
        .map_err(|what| InvalidText::new(what, "write special, uniform, zipf:1.1, or pareto:0.2"))
});
pub(crate) const VARIABLES: ValueFormat<Vec<Variable>> =
    ValueFormat { kind: ValueKind::Named(&TEXT.kind), read: variable, read_node: Some(variables) };

static PROCESS_NAMES: [&str; PROCESSES.len()] = {
    let mut names = [""; PROCESSES.len()];
    let mut number = 0;
    while number < names.len() {
        names[number] = PROCESSES[number].name;
        number += 1;
    }
    names
};
pub(crate) static SHARD_HASH_NAMES: [&str; SHARD_HASHES.len()] = {
    let mut names = [""; SHARD_HASHES.len()];
    let mut number = 0;
    while number < names.len() {
        names[number] = SHARD_HASHES[number].name;
        number += 1;
    }
    names
};
static MODES: [&str; Mode::NAMES.len()] = names(Mode::NAMES);
static STYLES: [&str; Style::NAMES.len()] = names(Style::NAMES);

/// Names of a list of name–value pairs.
const fn names<T, const N: usize>(list: &[(&'static str, T)]) -> [&'static str; N] {
    let mut names = [""; N];
    let mut number = 0;
    while number < N {
        names[number] = list[number].0;
        number += 1;
    }
    names
}

fn named<T: Copy>(list: &[(&str, T)], name: &str) -> Option<T> {
    list.iter().find(|(known, _)| *known == name).map(|(_, value)| *value)
}

/// Parses one `name=value` of a command line.
fn variable(text: &str) -> Result<Vec<Variable>, InvalidText> {
    Ok(vec![Variable::from_text(text)])
}

fn variables(node: &Node) -> Result<Vec<Variable>, InvalidText> {
    let variable = |entry: &Entry| {
        Some(Variable { name: entry.key.clone(), value: Some(entry.value.text()?.to_owned()) })
    };
    Ok(node.entries().iter().filter_map(variable).collect())
}
