//! Records as values: all fields are concatenated. An update replaces the whole value, and keys have no order.

use alloc::format;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;

use crate::step::{Records, per_field};

pub(super) static RECORDS: Records = Records { insert, read, update, scan: |_| Vec::new() };

fn insert(fields: u32) -> Vec<String> {
    stored("set", "{new}", fields)
}

fn read(_: u32) -> Vec<String> {
    vec![r#"{"memcached":["get","{key}"],"expect":{"type":"value"}}"#.into()]
}

fn update(fields: u32) -> Vec<String> {
    stored("replace", "{key}", fields)
}

fn stored(command: &str, key: &str, fields: u32) -> Vec<String> {
    let value = per_field(fields, "", |number| format!("{{value{number}}}"));
    vec![format!(r#"{{"memcached":["{command}","{key}","{value}"],"expect":{{"type":"stored"}}}}"#)]
}
