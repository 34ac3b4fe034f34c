//! Script files of the built-in workloads. A database may override scripts (`databases/`).

use std::fmt::Write as _;

use super::{Style, tpcc};

/// Source of a script.
#[derive(Clone, Copy, Debug)]
pub(super) enum Text {
    /// A script without parameters.
    Fixed(&'static str),
    /// Beginning of a script up to `VALUES`, to which rows of numbers are added.
    NumberedRows(&'static str),
    /// A script that inserts one row, and is repeated according to the style.
    Repeated(&'static str),
    /// A script that a function writes.
    Generated(fn() -> String),
}

macro_rules! file {
    ($name:literal) => {
        include_str!(concat!("../workloads/", $name, ".sql"))
    };
}

pub(super) const TPCB_LIKE: Text = Text::Fixed(file!("tpcb-like"));
pub(super) const SIMPLE_UPDATE: Text = Text::Fixed(file!("simple-update"));
pub(super) const SELECT_ONLY: Text = Text::Fixed(file!("select-only"));
pub(super) const POINT_SELECT: Text = Text::Fixed(file!("oltp-point-select"));
pub(super) const READ_ONLY: Text = Text::Fixed(file!("oltp-read-only"));
pub(super) const READ_WRITE: Text = Text::Fixed(file!("oltp-read-write"));
pub(super) const WRITE_ONLY: Text = Text::Fixed(file!("oltp-write-only"));
pub(super) const INSERT: Text = Text::Fixed(file!("oltp-insert"));
pub(super) const UPDATE_INDEX: Text = Text::Fixed(file!("oltp-update-index"));
pub(super) const UPDATE_NON_INDEX: Text = Text::Fixed(file!("oltp-update-non-index"));
pub(super) const DELETE: Text = Text::Fixed(file!("oltp-delete"));
pub(super) const BULK_INSERT: Text = Text::NumberedRows(file!("bulk-insert"));
pub(super) const POSTCODES_INSERT: Text = Text::Repeated(file!("postcodes-insert"));
pub(super) const POSTCODES_READ: Text = Text::Fixed(file!("postcodes-read"));
pub(super) const SIGN_UP: Text = Text::Fixed(file!("sign-up"));
pub(super) const NEW_ORDER: Text = Text::Generated(tpcc::new_order);
pub(super) const PAYMENT: Text = Text::Generated(tpcc::payment);
pub(super) const ORDER_STATUS: Text = Text::Generated(tpcc::order_status);
pub(super) const DELIVERY: Text = Text::Generated(tpcc::delivery);
pub(super) const STOCK_LEVEL: Text = Text::Generated(tpcc::stock_level);

impl Text {
    pub(super) fn of(self, style: Style, rows: u32) -> String {
        match self {
            Text::Fixed(text) => text.to_owned(),
            Text::Generated(write) => write(),
            Text::NumberedRows(beginning) => numbered_rows(beginning, rows),
            Text::Repeated(one_row) => match style {
                Style::Autocommit => one_row.to_owned(),
                Style::Transactions => ["BEGIN;\n", &one_row.repeat(rows as usize), "COMMIT;\n"].concat(),
                Style::MultiRow => many_rows(one_row, rows),
                Style::Pipelined => {
                    let row = [one_row, "\\syncpipeline\n"].concat();
                    ["\\startpipeline\n", &row.repeat(rows as usize), "\\endpipeline\n"].concat()
                }
            },
        }
    }
}

/// Appends rows `(n,n)`, whose numbers are the batch number followed by the row number.
fn numbered_rows(beginning: &str, rows: u32) -> String {
    let digits = (rows - 1).max(1).ilog10() as usize + 1;
    let mut text = beginning.trim_end().to_owned();
    for row in 0..rows {
        let comma = if row == 0 { "" } else { "," };
        let _ = write!(text, "{comma}({{batch}}{row:0digits$},{{batch}}{row:0digits$})");
    }
    text.push_str(";\n");
    text
}

/// Combines a script that inserts one row into one INSERT of many rows, each with its own variables.
fn many_rows(one_row: &str, rows: u32) -> String {
    let is_set = |line: &&str| line.starts_with("\\set ");
    let sets: Vec<&str> = one_row.lines().filter(is_set).collect();
    let names: Vec<&str> = sets.iter().filter_map(|set| set.split(' ').nth(1)).collect();
    let insert: Vec<&str> = one_row.lines().filter(|line| !is_set(line)).collect();
    let insert = insert.join("\n");
    let (head, row) = insert.trim_end_matches(';').split_once("VALUES ").unwrap_or((&insert, ""));
    let (mut all_sets, mut values) = (String::new(), String::new());
    for number in 0..rows {
        let mut one = row.to_owned();
        for (set, name) in sets.iter().zip(&names) {
            let numbered = format!("{name}_{number}");
            let _ = writeln!(all_sets, "{}", set.replacen(name, &numbered, 1));
            one = one.replace(&format!(":{name},"), &format!(":{numbered},"));
        }
        let comma = if number == 0 { "" } else { ", " };
        let _ = write!(values, "{comma}{one}");
    }
    format!("{all_sets}{head}VALUES {values};\n")
}
