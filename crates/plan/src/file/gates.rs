//! The section `gates`: `STEP: p(99)<200ms from 10s to 20s`.

use load::SECOND_NS;

use super::form;
use super::reading::Reading;
use super::tree::Node;
use crate::plan::PlannedStep;
use crate::study::{Gate, GateMetric, StudyLoad};
use crate::units;

const METRICS: &str = "p(99)<200ms, mean<50ms, max<1s, errors<0.1%, outage<500ms or throughput>500/s";
const NAMES: [&str; 6] = ["p(99)", "mean", "max", "errors", "outage", "throughput"];

/// What is wrong with a gate: the bytes, what, and the way out or the names that are known.
struct Wrong {
    start: usize,
    end: usize,
    what: String,
    way_out: String,
    known: Option<(String, Vec<String>)>,
}

impl Wrong {
    fn new(part: (usize, usize), what: impl Into<String>, way_out: impl Into<String>) -> Self {
        Self { start: part.0, end: part.1, what: what.into(), way_out: way_out.into(), known: None }
    }
}

/// Reads every gate. `loads` are there to see whether a part of the time is within them.
pub(crate) fn read(
    node: Option<&Node>,
    steps: &[PlannedStep],
    loads: &[StudyLoad],
    reading: &mut Reading<'_>,
) -> Vec<Gate> {
    let mut gates = Vec::new();
    for node in node.map_or(&[][..], Node::items) {
        let Some(text) = node.text() else { continue };
        match gate(text, steps, loads) {
            Ok(gate) => gates.push(gate),
            Err(wrong) => {
                let at = node.part(reading.source, wrong.start, wrong.end);
                match wrong.known {
                    Some((name, known)) => {
                        let known = known.iter().map(String::as_str);
                        reading.findings.unknown(at, wrong.what, &name, known, &wrong.way_out);
                    }
                    None => reading.at(at, wrong.what, wrong.way_out),
                }
            }
        }
    }
    gates
}

/// Leaves out gates on parts of the time that the loads of a quick run do not have.
pub(crate) fn keep_those_within(loads: &[StudyLoad], gates: &mut Vec<Gate>) {
    let is_within = |load: &StudyLoad, window: (u64, u64)| {
        let measured_ns = load.run_ns.map(|run_ns| run_ns.saturating_sub(load.warm_up_ns));
        measured_ns.is_none_or(|measured_ns| window.1 <= measured_ns) && has_whole_second(load, window)
    };
    gates.retain(|gate| gate.window_ns.is_none_or(|window| loads.iter().all(|load| is_within(load, window))));
}

/// What is measured is kept second by second, counted from the start of the load: of a part of the measured time, only whole
/// seconds can be judged.
fn has_whole_second(load: &StudyLoad, (from_ns, to_ns): (u64, u64)) -> bool {
    let first = load.warm_up_ns.saturating_add(from_ns).div_ceil(SECOND_NS);
    let end = load.warm_up_ns.saturating_add(to_ns) / SECOND_NS;
    first < end
}

fn gate(text: &str, steps: &[PlannedStep], loads: &[StudyLoad]) -> Result<Gate, Wrong> {
    let (text_end, window) = match text.rfind(" from ") {
        Some(at) => (at, Some(window(text, at + 6, loads)?)),
        None => (text.len(), None),
    };
    let (metric_start, step) = match text[..text_end].rfind(": ") {
        Some(at) => (at + 2, Some(step(&text[..at], steps)?)),
        None => (0, None),
    };
    let condition = &text[metric_start..text_end];
    let Some(sign) = condition.find(['<', '>']) else {
        let what = "a gate compares a figure with a limit by < or >";
        return Err(Wrong::new((metric_start, text_end), what, format!("write it like {METRICS}")));
    };
    let is_below = condition[sign..].starts_with('<');
    let limit_start = metric_start + sign + 1;
    let limit = &text[limit_start..text_end];
    if limit.starts_with('=') {
        let what = "only < and > are known";
        return Err(Wrong::new((limit_start - 1, limit_start + 1), what, "leave out the ="));
    }
    let name = condition[..sign].trim();
    let lead = condition.len() - condition.trim_start().len();
    let metric = metric(name, metric_start + lead)?;
    let blank = limit.len() - limit.trim_start().len();
    let limit = limit_of(metric, limit.trim())
        .map_err(|(what, way_out)| Wrong::new((limit_start + blank, text_end), what, way_out))?;
    if is_below && limit == 0.0 {
        let way_out = "write a small limit, such as errors<0.01%";
        return Err(Wrong::new((limit_start + blank, text_end), "nothing is below 0", way_out));
    }
    Ok(Gate { text: text.to_owned(), step, metric, is_below, limit, window_ns: window })
}

fn step(name: &str, steps: &[PlannedStep]) -> Result<u16, Wrong> {
    match steps.iter().position(|step| step.name == name.trim()) {
        Some(place) => Ok(place as u16),
        None => Err(Wrong {
            start: 0,
            end: name.len(),
            what: format!("no step is named {:?}", name.trim()),
            way_out: "write one of".to_owned(),
            known: Some((name.trim().to_owned(), steps.iter().map(|step| step.name.clone()).collect())),
        }),
    }
}

fn metric(name: &str, start: usize) -> Result<GateMetric, Wrong> {
    let part = (start, start + name.len());
    let number = name.strip_prefix("p(").and_then(|rest| rest.strip_suffix(')'));
    if let Some(number) = number {
        return percentile(number).ok_or_else(|| {
            let what = format!("{name} is no percentile");
            Wrong::new(part, what, "write a number between 0 and 100, such as p(99) or p(99.9)")
        });
    }
    match name {
        "mean" => Ok(GateMetric::Mean),
        "max" => Ok(GateMetric::Max),
        "errors" => Ok(GateMetric::Errors),
        "throughput" => Ok(GateMetric::Throughput),
        "outage" => Ok(GateMetric::Outage),
        "median" => Err(Wrong::new(part, "the median is written p(50)", "write p(50)")),
        _ => {
            let number = name.strip_prefix('p').filter(|number| percentile(number).is_some());
            if let Some(number) = number {
                let way_out = format!("write p({number})");
                return Err(Wrong::new(part, format!("{name} lacks its parentheses"), way_out));
            }
            Err(Wrong {
                start: part.0,
                end: part.1,
                what: format!("nothing is measured that is called {name:?}"),
                way_out: "write one of".to_owned(),
                known: Some((name.to_owned(), NAMES.iter().map(|name| (*name).to_owned()).collect())),
            })
        }
    }
}

fn percentile(number: &str) -> Option<GateMetric> {
    let is_plain = number.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.') && !number.is_empty();
    let percent: f64 = number.parse().ok().filter(|_| is_plain)?;
    (percent > 0.0 && percent < 100.0).then(|| GateMetric::Percentile((percent * 10_000.0).round() as u32))
}

/// The limit in the unit of its metric, or what is wrong and the way out.
fn limit_of(metric: GateMetric, text: &str) -> Result<f64, (String, &'static str)> {
    match metric {
        GateMetric::Percentile(_) | GateMetric::Mean | GateMetric::Max | GateMetric::Outage => {
            let ns = units::duration_ns(text).map_err(|what| (what, "write a duration such as 200ms"))?;
            if ns == 0 {
                return Err(("nothing takes less than no time".to_owned(), "write a duration such as 200ms"));
            }
            Ok(ns as f64)
        }
        GateMetric::Errors => form::percent(text).map_err(|what| (what, "write a percentage such as 0.1%")),
        GateMetric::Throughput => {
            units::rate_per_s(text).map_err(|what| (what, "write a rate such as 500/s"))
        }
    }
}

/// `10s to 20s`, which begins at a byte of the text.
fn window(text: &str, start: usize, loads: &[StudyLoad]) -> Result<(u64, u64), Wrong> {
    let part = (start, text.len());
    let wrong =
        |what: String| Wrong::new(part, what, "write a part of the measured time, such as from 10s to 20s");
    let (from, to) = text[start..]
        .split_once(" to ")
        .ok_or_else(|| wrong("here are not both a beginning and an end".to_owned()))?;
    let from_ns = units::duration_ns(from).map_err(wrong)?;
    let to_ns = units::duration_ns(to).map_err(wrong)?;
    if from_ns >= to_ns {
        return Err(wrong("it ends before it begins".to_owned()));
    }
    for load in loads {
        let measured_ns = load.run_ns.map(|run_ns| run_ns.saturating_sub(load.warm_up_ns));
        if let Some(measured_ns) = measured_ns.filter(|measured_ns| to_ns > *measured_ns) {
            let measured = units::show_duration(measured_ns);
            return Err(wrong(format!("the load {:?} is measured for {measured} only", load.name)));
        }
        if !has_whole_second(load, (from_ns, to_ns)) {
            let begins = units::show_duration(load.warm_up_ns);
            let what = format!(
                "no whole second of the load {:?} is in this part: {begins} of warm-up are before it",
                load.name
            );
            return Err(Wrong::new(
                part,
                what,
                "write a longer part, or a warm-up of whole seconds: what is measured is kept second by second",
            ));
        }
    }
    Ok((from_ns, to_ns))
}
