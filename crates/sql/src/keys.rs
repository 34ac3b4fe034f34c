//! Keys of transactions in plans: keys that define a step, and keys of its checks and saved values.

use wire::step::tree::Node;
use wire::step::{Form, FormSchema, Key, Kind};

use crate::settings::RowCount;

/// Keys that each define a step.
pub static STEP_KEYS: [Key; 4] = [
    key(
        "sql",
        "SELECT name FROM items WHERE id = :n",
        Kind::Text,
        "A statement. `:n` is a value of `data` or a saved value; `{n}` inserts it as text.",
    ),
    key(
        "transaction",
        "[ UPDATE items SET n = n + 1, SELECT 1 ]",
        Kind::TextOrTexts,
        "Statements, run between BEGIN and COMMIT.",
    ),
    key(
        "script",
        "buy.sql",
        Kind::Text,
        "A script in pgbench's language, in the folder of the plan; max 8 MiB.",
    ),
    key(
        "workload",
        "select-only",
        Kind::Text,
        "A built-in workload, optionally with a style, such as postcodes-insert:multi-row; `prepare` creates its tables.",
    ),
];

/// Keys of `expect`.
pub static EXPECT_KEYS: [Key; 1] = [key(
    "rows",
    "1",
    Kind::Form(&ROWS),
    "Transactions: number of rows that the last statement returns or changes.",
)];

/// Keys of each value of `save`.
pub static SAVE_KEYS: [Key; 1] = [key(
    "column",
    "id",
    Kind::Text,
    "With `sql` and `transaction`: a column of the row that the last statement returns.",
)];

static ROWS: Form = Form {
    words: "a number of rows such as 1, 1..10, or 1..",
    check: |text| rows(text).map(|_| ()),
    schema: FormSchema::NumberOr("^[0-9]+(\\.\\.([0-9]+)?)?$"),
};

const fn key(name: &'static str, example: &'static str, kind: Kind, sentence: &'static str) -> Key {
    Key { name, sentence, example, kind }
}

/// Whether a step of a plan is a transaction.
pub fn is_transaction(step: &Node) -> bool {
    step.entries().iter().any(|entry| is_step_key(&entry.key))
}

/// Whether a key defines a step.
pub(crate) fn is_step_key(name: &str) -> bool {
    STEP_KEYS.iter().any(|key| key.name == name)
}

/// Parses `1`, `1..10`, or `1..`.
pub(crate) fn rows(text: &str) -> Result<RowCount, String> {
    let one = |text: &str| text.trim().parse().map_err(|_| format!("{text:?} is not a number of rows"));
    let Some((least, most)) = text.split_once("..") else { return Ok(RowCount::exactly(one(text)?)) };
    let most = if most.trim().is_empty() { u64::MAX } else { one(most)? };
    let rows = RowCount { least: one(least)?, most };
    if rows.least > rows.most { Err(format!("{text:?} has its end before its start")) } else { Ok(rows) }
}
