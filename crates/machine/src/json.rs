//! Findings as a JSON object for other programs. Keys may be added, but never renamed.

use serde_json::{Value, json};

use crate::figure::{Figure, Findings, Missing};

/// Returns `{figures: [{key, unit, more_is_better, median, min, max, samples}], missing: [{key, why}], …}`.
pub fn json(findings: &Findings) -> Value {
    json!({
        "took_s": findings.took_s,
        "is_partial": findings.is_partial,
        "file_system": findings.file_system,
        "file_bytes": findings.file_bytes,
        "figures": findings.figures.iter().map(figure).collect::<Vec<_>>(),
        "missing": findings.missing.iter().map(missing).collect::<Vec<_>>(),
    })
}

fn figure(figure: &Figure) -> Value {
    let (definition, (min, max)) = (figure.definition(), figure.range());
    json!({
        "key": figure.key,
        "unit": definition.map(|found| found.unit.name()),
        "more_is_better": definition.map(|found| found.is_higher_better),
        "median": figure.median(),
        "min": min,
        "max": max,
        "samples": figure.samples,
    })
}

fn missing(missing: &Missing) -> Value {
    json!({ "key": missing.key, "why": missing.why })
}
