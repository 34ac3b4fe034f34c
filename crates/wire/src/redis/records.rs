//! Records as hashes. A sorted set has their names in order, like the index that the Redis client of YCSB maintains.

use alloc::format;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;

use crate::step::{Records, per_field};

/// Reads the hashes of a range of names in one command.
const SCAN: &str = "local found = {{}} for _, name in ipairs(redis.call('ZRANGEBYLEX', KEYS[1], '[' .. ARGV[1], '+', 'LIMIT', 0, ARGV[2])) \
                    do found[#found + 1] = redis.call('HGETALL', name) end return found";

pub(super) static RECORDS: Records = Records { insert, read, update, scan };

fn insert(fields: u32) -> Vec<String> {
    let words = per_field(fields, ",", |number| format!(r#""field{number}","{{value{number}}}""#));
    vec![
        format!(r#"{{"redis":["HSET","{{new}}",{words}],"expect":{{"type":"integer"}}}}"#),
        r#"{"redis":["ZADD","usertable","0","{new}"],"expect":{"type":"integer"}}"#.into(),
    ]
}

fn read(_: u32) -> Vec<String> {
    vec![r#"{"redis":["HGETALL","{key}"],"expect":{"contains":"field0"}}"#.into()]
}

fn update(_: u32) -> Vec<String> {
    vec![r#"{"redis":["HSET","{key}","field{field}","{value}"],"expect":{"reply":"0"}}"#.into()]
}

fn scan(_: u32) -> Vec<String> {
    vec![format!(
        r#"{{"redis":["EVAL","{SCAN}","1","usertable","{{key}}","{{length}}"],"expect":{{"contains":"field0"}}}}"#
    )]
}
