//! The default load of a URL without steps: commands on random keys.

use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;

use super::step::MemcachedStep;
use crate::step::{Step, Workload, WorkloadSize};

/// Commands with their arguments. `K` is replaced by a random key, and `V` by data.
const COMMANDS: &[(&str, &str)] = &[
    ("set", "set key:K V"),
    ("get", "get key:K"),
    ("gets", "gets key:K"),
    ("add", "add key:K V"),
    ("replace", "replace key:K V"),
    ("append", "append key:K V"),
    ("delete", "delete key:K"),
    ("touch", "touch key:K 0"),
    ("incr", "incr counter:K 1"),
    ("mg", "mg key:K v"),
    ("ms", "ms key:K V"),
    ("md", "md key:K"),
    ("mn", "mn"),
];

/// The commands that a load on a URL without steps can have. The data has the size that memtier_benchmark takes.
pub(super) static WORKLOAD: Workload =
    Workload { default: "set,get", names, keys_default: 100_000, data_bytes_default: 32, step };

fn names() -> Vec<&'static str> {
    COMMANDS.iter().map(|(name, _)| *name).collect()
}

/// Step for the command `name`, with the variable of random keys. `None` if the command is unknown.
fn step(name: &str, size: &WorkloadSize<'_>) -> Option<Arc<dyn Step>> {
    let (name, line) = COMMANDS.iter().find(|(known, _)| known.eq_ignore_ascii_case(name))?;
    let step = MemcachedStep::of(size.words(line), String::from(*name));
    step.ok().map(|step| Arc::new(step) as _)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn command_has_random_key_and_data_of_given_size() {
        let size = WorkloadSize { key: "key", data_bytes: 4 };
        let step = step("SET", &size).expect("a step");
        assert_eq!((step.title().as_str(), step.message()), ("set", &b"set key:{key} xxxx"[..]));
        assert!(names().into_iter().all(|name| super::step(name, &size).is_some()));
        assert!(super::step("quit", &size).is_none());
    }
}
