//! Differences between the environments of two measurements.

use serde_json::Value;

use crate::words::rounded;

/// Environment of a measurement.
pub(crate) struct Conditions<'a> {
    pub(crate) host: &'a Value,
    pub(crate) tenbin_version: &'a str,
}

/// Differences, one sentence each. The array has the names of the two sides.
pub(crate) fn differences(first: &Conditions<'_>, second: &Conditions<'_>, [a, b]: [&str; 2]) -> Vec<String> {
    let mut notes = Vec::new();
    // The record of a host may include its load and free memory, which always differ.
    let named = |host: &Value, key: &str| host.get(key).map(Value::to_string);
    let differing: Vec<&str> = ["name", "hostname", "cpu", "cpus", "cores", "kernel", "os"]
        .into_iter()
        .filter(|key| named(first.host, key) != named(second.host, key))
        .collect();
    if !differing.is_empty() {
        notes.push(format!(
            "{a} and {b} were measured on machines that differ ({}): a difference may be that of the machines.",
            differing.join(", ")
        ));
    }
    notes.extend(differing_figures(first.host, second.host, [a, b]));
    if first.tenbin_version != second.tenbin_version {
        notes.push(format!(
            "{a} was measured by Tenbin {}, {b} by {}.",
            first.tenbin_version, second.tenbin_version
        ));
    }
    notes
}

/// Smallest ratio of two medians that is worth a warning.
const NOTABLE_RATIO: f64 = 1.2;
/// Maximum number of figures of a host that are read.
const FIGURES_MAX: usize = 32;

/// Result of a machine benchmark: trials right before a study.
pub(crate) struct MachineFigure<'a> {
    /// Identifier, equal in all stores. Any text is possible.
    pub(crate) key: &'a str,
    /// Name for display. Any text is possible.
    pub(crate) title: &'a str,
    /// Unit. Arbitrary text.
    pub(crate) unit: &'a str,
    /// Median of the trials.
    pub(crate) median: f64,
    /// Lowest trial.
    pub(crate) min: f64,
    /// Highest trial.
    pub(crate) max: f64,
}

/// Reads the stored benchmark results of a host. Older stores have none.
pub(crate) fn figures(host: &Value) -> Vec<MachineFigure<'_>> {
    let list = host["can"]["figures"].as_array().map_or(&[][..], Vec::as_slice);
    let read = |figure: &'_ Value| -> Option<(f64, f64, f64)> {
        let number = |key: &str| figure[key].as_f64().filter(|number| number.is_finite());
        Some((number("median")?, number("min")?, number("max")?))
    };
    let figures = list.iter().take(FIGURES_MAX).filter_map(|figure| {
        let (median, min, max) = read(figure)?;
        let text = |key: &str| figure[key].as_str();
        Some(MachineFigure {
            key: text("key")?,
            title: text("title")?,
            unit: text("unit")?,
            median,
            min,
            max,
        })
    });
    figures.collect()
}

/// Results that differ by a fifth or more, and whose trial ranges do not overlap.
fn differing_figures(first: &Value, second: &Value, [a, b]: [&str; 2]) -> Option<String> {
    let second_figures = figures(second);
    let apart = figures(first).into_iter().filter_map(|ours| {
        let other = second_figures.iter().find(|other| other.key == ours.key && other.unit == ours.unit)?;
        let ratio = ours.median.max(other.median) / ours.median.min(other.median);
        let is_apart = ratio >= NOTABLE_RATIO && (ours.min > other.max || ours.max < other.min);
        let [of_a, of_b] = [ours.median, other.median].map(rounded);
        is_apart.then(|| format!("{} {of_a} and {of_b} {}", ours.title, ours.unit))
    });
    let apart: Vec<String> = apart.collect();
    (!apart.is_empty())
        .then(|| format!("The machines of {a} and {b} differed in what they can do: {}.", apart.join(", ")))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn host(median: f64) -> Value {
        let figure = json!({ "key": "loopback_bytes", "title": "loopback, bulk", "unit": "GB/s", "median": median,
                             "min": median * 0.95, "max": median * 1.05 });
        json!({ "name": "m", "can": { "boot": "x", "figures": [figure, { "key": 1 }, null] } })
    }

    #[test]
    fn differing_figures_are_named_with_both_values() {
        let of = |first: &Value, second: &Value| {
            let [first, second] = [first, second].map(|host| Conditions { host, tenbin_version: "1" });
            differences(&first, &second, ["A", "B"])
        };
        let note = "The machines of A and B differed in what they can do: loopback, bulk 1.00 and 2.00 GB/s.";
        assert_eq!(of(&host(1.0), &host(2.0)), [note]);
        assert!(of(&host(1.0), &host(1.1)).is_empty(), "a tenth is nothing");
        assert!(of(&host(1.0), &json!({ "name": "m" })).is_empty(), "older stores have none");
        assert!(of(&host(0.0), &host(0.0)).is_empty());
    }
}
