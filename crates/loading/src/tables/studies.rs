//! Tables of the studies: postcodes to look up, and accounts to sign up.

use sql::Engine;

use super::{FinalStep, Table};
use crate::databases::{self, TableSyntax};
use crate::options::Options;
use crate::rows::{Content, POSTCODES};

const POSTCODE_COLUMNS: [&str; 15] = [
    "jis",
    "old_code",
    "code",
    "prefecture_kana",
    "city_kana",
    "town_kana",
    "prefecture",
    "city",
    "town",
    "is_divided",
    "has_lots",
    "has_blocks",
    "is_joint",
    "updated",
    "reason",
];

/// Postcodes with text columns only. Empty for the workload that inserts them.
pub(super) fn postcodes(engine: Engine, options: &Options, is_empty: bool) -> Table {
    let name = "tenbin_postcodes";
    let rows = options.rows.unwrap_or(if is_empty { 0 } else { POSTCODES });
    let columns = POSTCODE_COLUMNS.map(|column| format!("{column} TEXT NOT NULL")).join(",");
    let syntax = databases::of(engine).tables;
    let suffix = syntax.text_suffix;
    let index = |column: &str| {
        let part = (syntax.indexed_text)(column);
        FinalStep::new(format!("{name}_{column}"), format!("CREATE INDEX {name}_{column} ON {name} ({part})"))
    };
    Table {
        name: name.to_owned(),
        create: vec![format!("CREATE TABLE {name} ({columns}){suffix}")],
        columns: POSTCODE_COLUMNS.len() as u16,
        content: if rows == 0 { Content::Nothing } else { Content::Postcodes { seed: options.seed, rows } },
        rows,
        is_partitioned: false,
        key: None,
        indexes: vec![index("old_code"), index("code")],
        references: Vec::new(),
    }
}

/// Accounts with a unique e-mail address, empty.
pub(super) fn accounts(engine: Engine) -> Table {
    let TableSyntax { account_columns: columns, text_suffix: suffix, .. } = databases::of(engine).tables;
    Table {
        name: "tenbin_accounts".to_owned(),
        create: vec![format!("CREATE TABLE tenbin_accounts ({columns}){suffix}")],
        columns: 4,
        content: Content::Nothing,
        rows: 0,
        is_partitioned: false,
        key: None,
        indexes: Vec::new(),
        references: Vec::new(),
    }
}
