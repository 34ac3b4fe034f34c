//! Comparison of the rows that a run wrote with the outcomes of its requests, for lists of facts and for JSON.

use judge::{Written, WrittenCheck};
use serde::Serialize;

use crate::view::View;

/// Rows of a run, in JSON.
#[derive(Serialize)]
pub(crate) struct WrittenObject {
    rows: i64,
    rows_by_address: Vec<i64>,
    ok: u64,
    unknown: u64,
    lost: u64,
    surplus: u64,
    keys_doubled: u64,
}

/// Rows of a run, for JSON. `None` if they were not checked.
pub(crate) fn object(view: &View<'_>) -> Option<WrittenObject> {
    let written = view.written.as_ref()?;
    let check = written.check();
    let rows = |found: Option<u64>| found.unwrap_or(0);
    Some(WrittenObject {
        rows: written.rows(),
        rows_by_address: written.rows_by_server.clone(),
        ok: written.ok,
        unknown: written.unknown,
        lost: rows(if let WrittenCheck::Lost(rows) = check { Some(rows) } else { None }),
        surplus: rows(if let WrittenCheck::Surplus(rows) = check { Some(rows) } else { None }),
        keys_doubled: written.doubled,
    })
}

/// Formats a fact: `1,003 written: 1,000 ok and 3 of 5 without an answer; no key twice`. `None` if the keys were not checked.
pub(crate) fn words(view: &View<'_>) -> Option<String> {
    view.written.as_ref().map(Written::words)
}
