//! What was not the same for the two, though it should have been.

use serde_json::Value;

/// What two measurements were made with.
pub(crate) struct Conditions<'a> {
    pub(crate) host: &'a Value,
    pub(crate) tenbin_version: &'a str,
}

/// What differs, in sentences. `names`: what the two are called.
pub(crate) fn differences(first: &Conditions<'_>, second: &Conditions<'_>, [a, b]: [&str; 2]) -> Vec<String> {
    let mut notes = Vec::new();
    // What a machine says of itself may hold its load and free memory too, which always differ.
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
    if first.tenbin_version != second.tenbin_version {
        notes.push(format!(
            "{a} was measured by Tenbin {}, {b} by {}.",
            first.tenbin_version, second.tenbin_version
        ));
    }
    notes
}
