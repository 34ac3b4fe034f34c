//! Reads `sql`, `csv`, and `rows` of `prepare`: own statements, and the rows of own tables.

use std::path::Path;
use std::sync::Arc;

use super::data;
use super::reading::Reading;
use super::span::Span;
use super::tree::{Entry, Node};
use crate::csv_text;
use crate::spec::{PrepareSpec, Spanned};
use crate::study::{Braced, OwnDataText, OwnRows, OwnTable, SqlFileText};
use crate::units;

const COLUMNS_MAX: usize = 1_000;
const TABLES_MAX: usize = 1_000;
const ROWS_MAX: u64 = 10_000_000_000;
/// Max size of a file of SQL in bytes.
const SQL_BYTES_MAX: u64 = 100 << 20;

/// Reads the keys of a system's `prepare`. `known` are the parameters that statements may have in braces.
pub(crate) fn read(node: &Node, known: &[String], reading: &mut Reading<'_>) -> Option<OwnDataText> {
    let node = node.get("prepare")?;
    let sql = node.get("sql").map_or(&[][..], Node::items);
    let sql: Vec<SqlFileText> = sql.iter().filter_map(|item| text(item, known, reading)).collect();
    let files = node.get("csv").map_or(&[][..], Node::entries);
    let mut tables: Vec<OwnTable> = files.iter().filter_map(|entry| csv_table(entry, reading)).collect();
    if let Some(rows) = node.get("rows").filter(|rows| rows.text().is_none()) {
        for item in rows.items().iter().take(TABLES_MAX) {
            let Some((table, at)) = generated_table(item, reading) else { continue };
            if tables.iter().any(|other| other.name == table.name) {
                let what = format!("`{}` is filled twice", table.name);
                reading.at(at, what, "remove one, or raise the number of rows of the other");
            }
            tables.push(table);
        }
    }
    if sql.is_empty() && tables.is_empty() {
        return None;
    }
    let spec = PrepareSpec::from_node(node);
    let value = |value: &Option<Spanned<u64>>| value.as_ref().and_then(Spanned::get).copied();
    Some(OwnDataText {
        sql,
        tables,
        jobs: value(&spec.jobs).map_or(4, |jobs| jobs.clamp(1, 256) as u32),
        seed: value(&spec.seed),
        drop: spec.drop.as_ref().and_then(Spanned::get) == Some(&true),
    })
}

/// Reads an item of `sql`: a file if it ends in `.sql`, else statements.
pub(crate) fn text(item: &Node, known: &[String], reading: &mut Reading<'_>) -> Option<SqlFileText> {
    let text = item.text()?;
    let is_file =
        Path::new(text.trim()).extension().is_some_and(|ending| ending == "sql") && !text.contains(';');
    if !text.contains(char::is_alphabetic) {
        reading.at(
            item.at,
            format!("{text:?} is neither SQL nor a file"),
            "write SQL such as \"CREATE TABLE items (id int)\", or schema.sql",
        );
        return None;
    }
    if !is_file {
        return Some(SqlFileText { file: None, text: reading.braced(item, text, known) });
    }
    let name = text.trim();
    let read = reading.folder.read(name, SQL_BYTES_MAX).and_then(|bytes| {
        String::from_utf8(bytes).map_err(|error| {
            let valid = &error.as_bytes()[..error.utf8_error().valid_up_to()];
            let line = valid.iter().filter(|byte| **byte == b'\n').count() + 1;
            (format!("{name}, line {line}: invalid UTF-8"), "save it as UTF-8".to_owned())
        })
    });
    match read {
        // Braces of a file that name no parameter are its own.
        Ok(text) => Some(SqlFileText { file: Some(name.to_owned()), text: Braced::read(&text) }),
        Err((what, help)) => {
            reading.at(item.at, what, help);
            None
        }
    }
}

fn csv_table(entry: &Entry, reading: &mut Reading<'_>) -> Option<OwnTable> {
    let name = entry.value.text()?;
    let read = reading
        .folder
        .read(name, csv_text::BYTES_MAX)
        .and_then(|bytes| csv_text::validate(bytes, name))
        .and_then(|bytes| Ok((read_columns(&bytes, name)?, bytes)));
    match read {
        Ok((columns, bytes)) => {
            let rows = OwnRows::Csv { file: name.to_owned(), bytes: Arc::from(bytes) };
            Some(OwnTable { name: entry.key.clone(), columns, rows })
        }
        Err((what, help)) => {
            reading.at(entry.value.at, what, help);
            None
        }
    }
}

/// Columns of a CSV file. Every row must have a value for each.
fn read_columns(bytes: &[u8], name: &str) -> Result<Vec<String>, (String, String)> {
    let mut lines = csv::ReaderBuilder::new().flexible(true).from_reader(bytes);
    let unreadable = |error: csv::Error| (format!("{name}: {error}"), csv_text::UNREADABLE_HELP.to_owned());
    let columns: Vec<String> =
        lines.headers().map_err(unreadable)?.iter().map(|column| column.trim().to_owned()).collect();
    if columns.is_empty() {
        return Err((
            format!("{name} is empty"),
            "write the names of the columns in the first line".to_owned(),
        ));
    }
    if columns.iter().any(String::is_empty) {
        let what = format!("{name}, line 1: a column has no name");
        return Err((what, "write the names of the columns in the first line".to_owned()));
    }
    let mut row = csv::StringRecord::new();
    while lines.read_record(&mut row).map_err(unreadable)? {
        if row.len() != columns.len() {
            let line = row.position().map_or(0, csv::Position::line);
            let what = format!("{name}, line {line}: the row has {} of {} values", row.len(), columns.len());
            let help = "write a value for each column; quote values that contain commas";
            return Err((what, help.to_owned()));
        }
    }
    Ok(columns)
}

/// Reads `{ items: 1000000, columns: { … } }`: the table, and the place of its name.
fn generated_table(node: &Node, reading: &mut Reading<'_>) -> Option<(OwnTable, Span)> {
    let columns = node.entry("columns");
    let mut named = node.entries().iter().filter(|entry| entry.key != "columns");
    let Some(table) = named.next() else {
        let at = columns.map_or(node.at, |columns| columns.key_at);
        reading.at(
            at,
            "`rows` names no table",
            "add the table with its number of rows, such as `items: 1000`",
        );
        return None;
    };
    if let Some(second) = named.next() {
        let what = format!("`rows` has `columns` for one table, and names `{}` too", second.key);
        let help = "write a list with an item for each table: [ { a: 10, columns: { … } }, { b: 10, columns: { … } } ]";
        reading.at(second.key_at, what, help);
        return None;
    }
    let Some(count) = table.value.text().and_then(|text| units::count(text).ok()) else {
        if table.value.text().is_none() {
            let what = format!("`{}` is a table, and has no number of rows", table.key);
            reading.at(
                table.key_at,
                what,
                format!("write `{}: 1000`, and its values under `columns`", table.key),
            );
        }
        return None;
    };
    if count > ROWS_MAX {
        reading.at(table.value.at, format!("{count} is not between 0 and {ROWS_MAX}"), "use fewer rows");
        return None;
    }
    let Some(columns) = columns.filter(|columns| !columns.value.entries().is_empty()) else {
        let what = format!("the rows of `{}` have no columns", table.key);
        reading.at(table.key_at, what, "add `columns: { id: { sequence: 1.. } }`");
        return None;
    };
    let entries = columns.value.entries();
    if entries.len() > COLUMNS_MAX {
        reading.at(columns.key_at, format!("there are more than {COLUMNS_MAX} columns"), "use fewer");
        return None;
    }
    let sources: Vec<Option<(load::values::Source, f64)>> = entries
        .iter()
        .map(|entry| {
            let source = data::column(&entry.value, entry.key_at, reading)?;
            let null = entry.value.text_of("null").and_then(|text| units::percent(text).ok());
            Some((source, null.unwrap_or(0.0)))
        })
        .collect();
    let rows = OwnRows::Drawn { count, columns: sources.into_iter().collect::<Option<_>>()? };
    let columns = entries.iter().map(|entry| entry.key.clone()).collect();
    Some((OwnTable { name: table.key.clone(), columns, rows }, table.key_at))
}
