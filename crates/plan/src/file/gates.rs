//! Reads the section `gates`: `STEP: p99<200ms from 10s to 20s`. [`Condition`] defines the grammar.

use judge::{Condition, ConditionError};
use load::SECOND_NS;

use super::reading::Reading;
use super::span::Span;
use super::tree::Node;
use crate::plan::PlannedStep;
use crate::study::{FigureText, StudyEvent, StudyLoad};
use crate::units;

/// Reads every gate, with its place. `loads` decide whether a gate's part of the time is within them.
pub(crate) fn read(
    node: Option<&Node>,
    steps: &[PlannedStep],
    events: &[StudyEvent],
    (loads, figures): (&[StudyLoad], &[FigureText]),
    reading: &mut Reading<'_>,
) -> Vec<(Condition, Span)> {
    let mut gates = Vec::new();
    for node in node.map_or(&[][..], Node::items) {
        let Some(text) = node.text() else { continue };
        let names = steps.iter().map(|step| step.name.as_str());
        let checked = |gate: &Condition| {
            gate.check_step(names.clone())?;
            gate.check_event(events.iter().map(|event| event.name.as_str()))
        };
        let read = Condition::parse_gate(text).and_then(|gate| checked(&gate).map(|()| gate));
        match read.and_then(|gate| convert_unit(gate, figures)) {
            Ok(gate) => match part_error(&gate, loads) {
                None => gates.push((gate, node.at)),
                Some((what, help)) => {
                    let (start, end) = gate.part_at().unwrap_or((0, text.len()));
                    reading.at(node.part(reading.source, start, end), what, help);
                }
            },
            Err(error) => {
                let at = node.part(reading.source, error.part.0, error.part.1);
                match error.unknown {
                    Some(unknown) => {
                        let own = figures.iter().map(|figure| figure.figure.name.as_str());
                        let known = unknown.known.iter().map(String::as_str).chain(own);
                        reading.findings.unknown(at, error.what, &unknown.name, known, &error.way_out);
                    }
                    None => reading.at(at, error.what, error.way_out),
                }
            }
        }
    }
    gates
}

/// A condition on a figure of the plan in the unit of the figure. An error if the plan does not define it, or if its limit has
/// another unit.
fn convert_unit(gate: Condition, figures: &[FigureText]) -> Result<Condition, ConditionError> {
    let Some(own) = &gate.own else { return Ok(gate) };
    let known: Vec<String> = figures.iter().map(|figure| figure.figure.name.clone()).collect();
    match figures.iter().find(|figure| figure.figure.name == *own) {
        Some(figure) => gate.in_unit_of(&figure.figure),
        None => Err(gate.unknown_figure(known)),
    }
}

/// Reason why a condition cannot apply to its part of the time, and the help. `None` if it can, for every load.
pub(crate) fn part_error(condition: &Condition, loads: &[StudyLoad]) -> Option<(String, &'static str)> {
    let part = condition.part_ns?;
    loads.iter().find_map(|load| {
        let measured_ns = load.run_ns.map(|run_ns| run_ns.saturating_sub(load.warm_up_ns));
        if let Some(measured_ns) = measured_ns.filter(|measured_ns| part.1 > *measured_ns) {
            let measured = units::show_duration(measured_ns);
            let what = format!(
                "the load {:?} is measured for {measured}, which ends before this part does",
                load.name
            );
            return Some((what, "write a part of the measured time, such as `from 10s to 20s`"));
        }
        (!has_whole_second(load, part)).then(|| {
            let begins = units::show_duration(load.warm_up_ns);
            let what = format!(
                "this part contains no whole second of the load {:?}, whose warm-up takes {begins}",
                load.name
            );
            (what, "write a longer part, or a warm-up of whole seconds: results are stored per second")
        })
    })
}

/// Removes gates on parts of the time that the loads of a quick run do not have.
pub(crate) fn retain_within(loads: &[StudyLoad], gates: &mut Vec<Condition>) {
    gates.retain(|gate| part_error(gate, loads).is_none());
}

/// Whether part of the measured time has a whole second. Results are stored per second since the start of the load, so only whole seconds
/// can be judged.
fn has_whole_second(load: &StudyLoad, (from_ns, to_ns): (u64, u64)) -> bool {
    let first = load.warm_up_ns.saturating_add(from_ns).div_ceil(SECOND_NS);
    let end = load.warm_up_ns.saturating_add(to_ns) / SECOND_NS;
    first < end
}
