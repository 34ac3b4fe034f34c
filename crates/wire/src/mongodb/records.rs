//! Records as documents of the collection `usertable`, as the MongoDB client of YCSB writes them.

use alloc::format;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;

use crate::step::{Records, members};

pub(super) static RECORDS: Records = Records { insert, read, update, scan };

fn insert(fields: u32) -> Vec<String> {
    let document = format!(r#"{{"_id":"{{new}}",{}}}"#, members(fields));
    vec![format!(r#"{{"mongo":{{"insert":"usertable","documents":[{document}]}},"expect":{{"matched":1}}}}"#)]
}

fn read(_: u32) -> Vec<String> {
    let find = r#"{"find":"usertable","filter":{"_id":"{key}"},"limit":1,"singleBatch":true}"#;
    vec![format!(r#"{{"mongo":{find},"expect":{{"documents":1}}}}"#)]
}

/// Replaces the first field, because a field name cannot contain a variable.
fn update(_: u32) -> Vec<String> {
    let update = r#"{"q":{"_id":"{key}"},"u":{"$set":{"field0":"{value}"}}}"#;
    vec![format!(r#"{{"mongo":{{"update":"usertable","updates":[{update}]}},"expect":{{"matched":1}}}}"#)]
}

fn scan(_: u32) -> Vec<String> {
    let filter = r#"{"_id":{"$gte":"{key}"}}"#;
    vec![format!(
        r#"{{"mongo":{{"find":"usertable","filter":{filter},"sort":{{"_id":1}},"limit":"{{length:raw}}","batchSize":100,"singleBatch":true}}}}"#
    )]
}
