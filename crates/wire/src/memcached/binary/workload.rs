//! The default load of a URL without steps: operations on random keys.

use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;

use super::super::step::MemcachedStep;
use crate::step::{Step, Workload, WorkloadSize};

/// Operations with their arguments. `K` is replaced by a random key, and `V` by data.
const OPERATIONS: &[(&str, &str)] = &[
    ("set", "set key:K V"),
    ("get", "get key:K"),
    ("add", "add key:K V"),
    ("replace", "replace key:K V"),
    ("append", "append key:K V"),
    ("delete", "delete key:K"),
    ("touch", "touch key:K 0"),
    ("incr", "incr counter:K 1 0 0"),
    ("noop", "noop"),
];

/// The operations that a load on a URL without steps can have.
pub(super) static WORKLOAD: Workload =
    Workload { default: "set,get", names, keys_default: 100_000, data_bytes_default: 32, step };

fn names() -> Vec<&'static str> {
    OPERATIONS.iter().map(|(name, _)| *name).collect()
}

/// Step for the operation `name`, with the variable of random keys. `None` if the operation is unknown.
fn step(name: &str, size: &WorkloadSize<'_>) -> Option<Arc<dyn Step>> {
    let (name, line) = OPERATIONS.iter().find(|(known, _)| known.eq_ignore_ascii_case(name))?;
    let step = MemcachedStep::binary(size.words(line), String::from(*name));
    step.ok().map(|step| Arc::new(step) as _)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_operation_is_a_step() {
        let size = WorkloadSize { key: "key", data_bytes: 4 };
        assert!(names().into_iter().all(|name| step(name, &size).is_some()));
        assert!(step("quit", &size).is_none());
    }
}
