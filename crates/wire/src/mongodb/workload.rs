//! The default load of a URL without steps: operations on documents with random keys.

use alloc::format;
use alloc::sync::Arc;
use alloc::vec::Vec;

use super::step::built_in;
use crate::step::{Step, Workload, WorkloadSize};

/// Operations with their commands. `K` is replaced by a random key, and `V` by data.
const COMMANDS: &[(&str, &str)] = &[
    ("find", r#"{"find":"tenbin","filter":{"_id":K},"limit":1,"singleBatch":true}"#),
    ("upsert", r#"{"update":"tenbin","updates":[{"q":{"_id":K},"u":{"$set":{"value":V}},"upsert":true}]}"#),
    ("insert", r#"{"insert":"tenbin_inserted","documents":[{"key":K,"value":V}]}"#),
    ("update", r#"{"update":"tenbin","updates":[{"q":{"_id":K},"u":{"$set":{"value":V}}}]}"#),
    ("delete", r#"{"delete":"tenbin","deletes":[{"q":{"_id":K},"limit":1}]}"#),
    (
        "increment",
        r#"{"update":"tenbin_counters","updates":[{"q":{"_id":K},"u":{"$inc":{"n":1}},"upsert":true}]}"#,
    ),
    ("ping", r#"{"ping":1}"#),
];

/// The operations that a load on a URL without steps can have.
pub(super) static WORKLOAD: Workload =
    Workload { default: "upsert,find", names, keys_default: 100_000, data_bytes_default: 100, step };

fn names() -> Vec<&'static str> {
    COMMANDS.iter().map(|(name, _)| *name).collect()
}

/// Step for the operation `name`, with the variable of random keys. `None` if the operation is unknown.
fn step(name: &str, size: &WorkloadSize<'_>) -> Option<Arc<dyn Step>> {
    let (_, json) = COMMANDS.iter().find(|(known, _)| known.eq_ignore_ascii_case(name))?;
    let key = format!("{{{}:raw}}", size.key);
    let data = "x".repeat(size.data_bytes as usize);
    built_in(&json.replace(":K", &format!(":{key}")).replace(":V", &format!(":\"{data}\"")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operation_has_random_key_and_data_of_given_size() {
        let size = WorkloadSize { key: "key", data_bytes: 4 };
        let step = step("UPDATE", &size).expect("a step");
        let expected =
            r#"{"update":"tenbin","updates":[{"q":{"_id":{key:raw}},"u":{"$set":{"value":"xxxx"}}}]}"#;
        assert_eq!((step.title().as_str(), step.message()), ("update tenbin", expected.as_bytes()));
        assert!(names().into_iter().all(|name| super::step(name, &size).is_some()));
        assert!(super::step("drop", &size).is_none());
    }
}
