//! Reads the baseline of a comparison: a variant of the plan, or a stored run or study. Checks gates that need one.

use judge::{Condition, NamedVariant, shown_names, words};

use super::compare::Compared;
use super::reading::Reading;
use super::span::Span;
use crate::spec::{AskedBaseline, CompareSpec};
use crate::study::{Compare, Find, StoredBaseline};

/// Min number of runs on either side that gives an interval.
const SIDE_RUNS_MIN: u32 = judge::baseline::RUNS_MIN as u32;
const NO_BASELINE: &str = "the plan names no baseline";
const NO_BASELINE_HELP: &str =
    "add one, such as `compare: { baseline: { label: main } }`, or write a limit without `of baseline`";

/// Number of the variant with this name: `puma workers=8`, or `workers=8` if there is only one system. A quick study may lack the
/// variant.
pub(crate) fn variant(
    spec: &CompareSpec,
    compared: &Compared<'_>,
    is_quick: bool,
    reading: &mut Reading<'_>,
) -> Option<usize> {
    let named = spec.baseline.as_ref()?;
    let (AskedBaseline::Variant(name), at) = (named.get()?, named.at()?.value) else { return None };
    let Compared { systems, variants, .. } = compared;
    let rows: Vec<String> = variants
        .iter()
        .map(|variant| match (systems.len(), variant.name.as_str()) {
            (_, "") => systems[variant.system].name.clone(),
            (1, variant) => variant.to_owned(),
            (_, name) => format!("{} {name}", systems[variant.system].name),
        })
        .collect();
    let of_system = |row: &String| {
        systems.iter().any(|system| name.strip_prefix(&system.name).map(str::trim_start) == Some(row))
    };
    // Reports name variants by the parameters that differ.
    let named = variants.iter().map(|variant| NamedVariant {
        system: &systems[variant.system].name,
        variant: &variant.name,
        knobs: &variant.knobs,
    });
    let shown = shown_names(&named.collect::<Vec<_>>());
    let found = rows.iter().position(|row| row == name || of_system(row));
    let found = found.or_else(|| shown.iter().position(|shown| shown == name));
    if found.is_none() && !is_quick {
        let what = format!("unknown baseline {name:?}");
        let help = "write { label: LABEL } for a stored run or study, or one of";
        reading.findings.unknown(at, what, name, rows.iter().map(String::as_str), help);
    }
    found
}

/// Stored run or study. Exactly one key selects it.
pub(crate) fn stored(
    spec: &CompareSpec,
    find: Find,
    is_quick: bool,
    reading: &mut Reading<'_>,
) -> Option<StoredBaseline> {
    let asked = spec.baseline.as_ref()?;
    let (AskedBaseline::Stored { label, file, run }, at) = (asked.get()?, asked.at()?) else { return None };
    let stored = match (label, file, run) {
        (Some(label), None, None) => StoredBaseline::Label(label.clone()),
        (None, None, Some(run)) => StoredBaseline::Run(run.clone()),
        (None, Some(file), None) => {
            let path = reading.folder.path.join(file);
            if !path.is_file() && !is_quick {
                let what = format!("the baseline {file:?} is no file in {}", reading.folder.path.display());
                reading.at(at.value, what, "write one with tenbin export NAME -o FILE, or name its path");
            }
            StoredBaseline::File { name: file.clone(), path }
        }
        _ => {
            let what = "a stored baseline requires one of `label`, `file`, and `run`";
            reading.at(at.point, what, "write one of them, such as { label: main }");
            return None;
        }
    };
    if find != Find::Every && !is_quick {
        let find = match find {
            Find::Failures => "a plan that compares nothing".to_owned(),
            find => format!("`find: {}`", find.name()),
        };
        let help = "name a variant of the plan, or leave out `find`";
        reading.at(at.point, format!("{find} has no use for a stored baseline"), help);
    }
    Some(stored)
}

/// Checks that conditions relative to a baseline can be decided.
pub(crate) fn check_gates(
    gates: &[(Condition, Span)],
    spec: Option<&CompareSpec>,
    compare: &Compare,
    variants: usize,
    reading: &mut Reading<'_>,
) {
    let of_baseline = |gate: &&(Condition, Span)| gate.0.of_baseline.is_some();
    let has_baseline = spec.is_some_and(|spec| spec.baseline.is_some());
    for (gate, at) in gates.iter().filter(of_baseline) {
        if !has_baseline {
            reading.at(*at, format!("{:?}: {NO_BASELINE}", gate.text), NO_BASELINE_HELP);
        } else if compare.find != Find::Every {
            let what = "a condition of a baseline requires that every variant is compared";
            reading.at(*at, what, "remove it, or `find`");
        } else if let Some(least) =
            min_blocks(gates, compare, variants).filter(|least| compare.blocks < *least)
        {
            let what =
                format!("{} cannot decide a condition of a baseline", words::blocks(compare.blocks as usize));
            reading.at(*at, what, format!("write `blocks: {least}` or more"));
        }
    }
}

/// Min blocks that can decide the conditions relative to a baseline. `None` if there is no baseline.
fn min_blocks(gates: &[(Condition, Span)], compare: &Compare, variants: usize) -> Option<u32> {
    if compare.stored.is_some() {
        return Some(SIDE_RUNS_MIN);
    }
    compare.baseline?;
    let conditions = gates.iter().filter(|(gate, _)| gate.of_baseline.is_some()).count();
    let together = conditions.saturating_mul(variants.saturating_sub(1));
    let family = u32::try_from(together.div_ceil(2)).unwrap_or(u32::MAX).max(1);
    Some(stats::min_blocks(family))
}

/// Removes conditions relative to a baseline if a quick run has none.
pub(crate) fn remove_undecidable_gates(compare: &Compare, gates: &mut Vec<Condition>) {
    let has_baseline = compare.baseline.is_some() || compare.stored.is_some();
    gates.retain(|gate| has_baseline || gate.of_baseline.is_none());
}

impl AskedBaseline {
    /// Reads a mapping such as `{ label: main }`.
    pub(crate) fn from_node(node: &super::tree::Node) -> Self {
        let text = |key: &str| node.text_of(key).map(str::to_owned);
        Self::Stored { label: text("label"), file: text("file"), run: text("run") }
    }
}
