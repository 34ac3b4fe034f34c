//! Keys of steps that protocols own, as keys of plans.

use std::sync::LazyLock;

use wire::step::{self, Kind, ReplyKeys};

use super::TEXT;
use crate::file::form;
use crate::file::keys::{Key, Table, ValueKind};

/// Keys of steps that protocols own, and the tables of their values.
struct Derived {
    keys: Vec<Key>,
    tables: Vec<&'static Table>,
}

static DERIVED: LazyLock<Derived> = LazyLock::new(|| {
    let mut tables = Vec::new();
    let keys = step::owners().flat_map(|(_, own)| own.keys).map(|key| derived(key, &mut tables)).collect();
    Derived { keys, tables }
});

/// Keys that each make a step.
pub(super) fn keys() -> &'static [Key] {
    &DERIVED.keys
}

/// Tables of the values of these keys. A table precedes the tables within it.
pub(super) fn tables() -> &'static [&'static Table] {
    &DERIVED.tables
}

/// Keys of `expect` in protocols that check replies.
pub(super) fn expect_keys() -> &'static [Key] {
    static KEYS: LazyLock<Vec<Key>> = LazyLock::new(|| reply_keys(|reply| reply.expect));
    &KEYS
}

/// Keys of a saved value in protocols whose replies give values.
pub(super) fn save_keys() -> &'static [Key] {
    static KEYS: LazyLock<Vec<Key>> = LazyLock::new(|| reply_keys(|reply| reply.save));
    &KEYS
}

/// Keys of one table of all protocols. If several have the same name, the first one wins.
fn reply_keys(table: impl Fn(&ReplyKeys) -> &'static step::Table) -> Vec<Key> {
    let mut keys: Vec<Key> = Vec::new();
    let all = step::owners().filter_map(|(_, own)| own.reply.as_ref()).flat_map(|reply| table(reply).keys);
    for key in all {
        if keys.iter().all(|known| known.name != key.name) {
            keys.push(derived(key, &mut Vec::new()));
        }
    }
    keys
}

/// Names as a phrase: keys of HTTP requests first, then those of other protocols.
pub(super) fn listed(http: &[&str]) -> String {
    let own = keys().iter().map(|key| key.name);
    let names: Vec<String> = http.iter().copied().chain(own).map(|name| format!("`{name}`")).collect();
    match names.split_last() {
        Some((last, before)) => format!("{}, or {last}", before.join(", ")),
        None => String::new(),
    }
}

fn derived(key: &step::Key, tables: &mut Vec<&'static Table>) -> Key {
    let step::Key { name, sentence, example, kind: of } = *key;
    Key { name, sentence, example, kind: kind(&of, tables), is_required: false }
}

/// Kind of a value in plans. Tables are leaked, because they are built once and last as long as the program.
fn kind(kind: &Kind, tables: &mut Vec<&'static Table>) -> ValueKind {
    match kind {
        Kind::Text | Kind::Constant(_) => TEXT,
        Kind::Json => ValueKind::Any,
        Kind::TextOrTexts => ValueKind::OneOrList(&TEXT),
        Kind::Size { .. } => ValueKind::One(&form::VOLUME),
        Kind::Count => ValueKind::One(&form::COUNT),
        Kind::Truth => ValueKind::One(&form::TRUTH),
        Kind::List(item) => ValueKind::List(Box::leak(Box::new(self::kind(item, tables)))),
        Kind::Table(table) => {
            let mut within = Vec::new();
            let keys: Vec<Key> = table.keys.iter().map(|key| derived(key, &mut within)).collect();
            let step::Table { name, sentence, example, .. } = table;
            let table: &'static Table =
                Box::leak(Box::new(Table { name, sentence, example, keys: keys.leak() }));
            tables.push(table);
            tables.append(&mut within);
            ValueKind::Table(table)
        }
    }
}
