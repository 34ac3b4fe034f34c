//! The default load of a URL without steps: commands on random keys, like redis-benchmark.

use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;

use super::step::RedisStep;
use crate::step::{Step, Workload, WorkloadSize};

/// Commands of redis-benchmark with their arguments. `K` is replaced by a random key, `E` by a random element, and `V` by data.
const COMMANDS: &[(&str, &str)] = &[
    ("set", "SET key:K V"),
    ("get", "GET key:K"),
    ("ping", "PING"),
    ("incr", "INCR counter:K"),
    ("lpush", "LPUSH mylist V"),
    ("rpush", "RPUSH mylist V"),
    ("lpop", "LPOP mylist"),
    ("rpop", "RPOP mylist"),
    ("sadd", "SADD myset element:E"),
    ("spop", "SPOP myset"),
    ("hset", "HSET myhash element:E V"),
    ("hget", "HGET myhash element:E"),
    ("zadd", "ZADD myzset 0 element:E"),
    ("zpopmin", "ZPOPMIN myzset"),
    ("lrange", "LRANGE mylist 0 99"),
    ("del", "DEL key:K"),
];

/// The commands that a load on a URL without steps can have.
pub(super) static WORKLOAD: Workload =
    Workload { default: "set,get", names, keys_default: 100_000, data_bytes_default: 3, step };

fn names() -> Vec<&'static str> {
    COMMANDS.iter().map(|(name, _)| *name).collect()
}

/// Step for the command `name`, with the variable of random keys. `None` if the command is unknown.
fn step(name: &str, size: &WorkloadSize<'_>) -> Option<Arc<dyn Step>> {
    let (_, line) = COMMANDS.iter().find(|(known, _)| known.eq_ignore_ascii_case(name))?;
    let title: String = line.split(' ').next().unwrap_or_default().into();
    Some(Arc::new(RedisStep::of(size.words(line), title)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn command_has_random_key_and_data_of_given_size() {
        let size = WorkloadSize { key: "key", data_bytes: 4 };
        let step = step("SET", &size).expect("a step");
        assert_eq!((step.title().as_str(), step.message()), ("SET", &b"SET key:{key} xxxx"[..]));
        assert!(super::step("flushall", &size).is_none());
    }
}
