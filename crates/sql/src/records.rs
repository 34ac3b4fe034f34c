//! Records as rows of the table `usertable`, as the JDBC client of YCSB has them.

use wire::step::{Records, per_field};

/// The operations on rows.
pub static RECORDS: Records = Records { insert, read, update, scan };

/// The operations on rows with all fields in one column of type jsonb, for PostgreSQL.
pub static JSONB: Records =
    Records { insert: insert_document, read: read_document, update: update_document, scan: scan_documents };

/// Name of the table.
pub const TABLE: &str = "usertable";
/// Name of the key.
pub const KEY: &str = "ycsb_key";

/// Statement that creates the table.
pub fn create_table(fields: u32, is_unlogged: bool) -> String {
    let kind = if is_unlogged { "UNLOGGED TABLE" } else { "TABLE" };
    let columns = per_field(fields, ", ", |number| format!("field{number} TEXT"));
    format!("CREATE {kind} {TABLE} ({KEY} VARCHAR(64) PRIMARY KEY, {columns})")
}

fn insert(fields: u32) -> Vec<String> {
    let columns = per_field(fields, ", ", |number| format!("field{number}"));
    let values = per_field(fields, ", ", |number| format!(":value{number}"));
    vec![format!(
        r#"{{"sql":"INSERT INTO {TABLE} ({KEY}, {columns}) VALUES (:new, {values})","expect":{{"rows":1}}}}"#
    )]
}

fn read(_: u32) -> Vec<String> {
    vec![format!(r#"{{"sql":"SELECT * FROM {TABLE} WHERE {KEY} = :key","expect":{{"rows":1}}}}"#)]
}

fn update(_: u32) -> Vec<String> {
    vec![format!(
        r#"{{"sql":"UPDATE {TABLE} SET field{{field}} = :value WHERE {KEY} = :key","expect":{{"rows":1}}}}"#
    )]
}

fn scan(_: u32) -> Vec<String> {
    vec![format!(r#"{{"sql":"SELECT * FROM {TABLE} WHERE {KEY} >= :key ORDER BY {KEY} LIMIT :length"}}"#)]
}

/// Statement that creates the table for [`JSONB`].
pub fn create_jsonb_table(is_unlogged: bool) -> String {
    let kind = if is_unlogged { "UNLOGGED TABLE" } else { "TABLE" };
    format!("CREATE {kind} {TABLE} ({KEY} VARCHAR(64) PRIMARY KEY, document JSONB NOT NULL)")
}

fn insert_document(fields: u32) -> Vec<String> {
    let members = per_field(fields, ", ", |number| format!("'field{number}', CAST(:value{number} AS text)"));
    vec![format!(
        r#"{{"sql":"INSERT INTO {TABLE} ({KEY}, document) VALUES (:new, jsonb_build_object({members}))","expect":{{"rows":1}}}}"#
    )]
}

fn read_document(_: u32) -> Vec<String> {
    vec![format!(r#"{{"sql":"SELECT document FROM {TABLE} WHERE {KEY} = :key","expect":{{"rows":1}}}}"#)]
}

fn update_document(_: u32) -> Vec<String> {
    let change = "document || jsonb_build_object('field' || CAST(:field AS text), CAST(:value AS text))";
    vec![format!(
        r#"{{"sql":"UPDATE {TABLE} SET document = {change} WHERE {KEY} = :key","expect":{{"rows":1}}}}"#
    )]
}

fn scan_documents(_: u32) -> Vec<String> {
    vec![format!(
        r#"{{"sql":"SELECT document FROM {TABLE} WHERE {KEY} >= :key ORDER BY {KEY} LIMIT :length"}}"#
    )]
}
