//! Keys of steps that protocols own, as keys of plans.

use std::sync::LazyLock;

use wire::step::{self, ExtraKeys, Kind, ReplyKeys};
use wire::{PROTOCOLS, Protocol};

use super::TEXT;
use crate::file::form;
use crate::file::keys::{Key, Table, ValueKind};

/// Keys that derive from protocols, and the tables of their values.
struct Derived {
    keys: Vec<Key>,
    tables: Vec<&'static Table>,
}

impl Derived {
    fn of<'a>(all: impl Iterator<Item = &'a step::Key>) -> Self {
        let mut tables = Vec::new();
        let keys = all.map(|key| derive_key(key, &mut tables)).collect();
        Self { keys, tables }
    }
}

static STEPS: LazyLock<Derived> =
    LazyLock::new(|| Derived::of(PROTOCOLS.iter().filter_map(Protocol::steps).flat_map(|steps| steps.keys)));
static EXTRA: LazyLock<Derived> = LazyLock::new(|| derive_from_extra_keys(|further| further.step));
static SCENARIO: LazyLock<Derived> = LazyLock::new(|| derive_from_extra_keys(|further| further.scenario));
static TRANSACTIONS: LazyLock<Derived> = LazyLock::new(|| Derived::of(sql::STEP_KEYS.iter()));
static TRANSACTION_EXPECT: LazyLock<Derived> = LazyLock::new(|| Derived::of(sql::EXPECT_KEYS.iter()));
static TRANSACTION_SAVE: LazyLock<Derived> = LazyLock::new(|| Derived::of(sql::SAVE_KEYS.iter()));
static EXPECT: LazyLock<Derived> = LazyLock::new(|| derive_from_extra_keys(|further| further.expect));
static SAVE: LazyLock<Derived> = LazyLock::new(|| derive_from_extra_keys(|further| further.save));

fn derive_from_extra_keys(keys: impl Fn(&ExtraKeys) -> &'static [step::Key]) -> Derived {
    Derived::of(step::with_extra_keys().flat_map(|(_, further)| keys(further)))
}

/// Keys that each define a step.
pub(super) fn keys() -> &'static [Key] {
    &STEPS.keys
}

/// Tables of the values of these keys. A table precedes the tables within it.
pub(super) fn tables() -> &'static [&'static Table] {
    &STEPS.tables
}

/// Keys that each define a transaction.
pub(super) fn transaction_keys() -> &'static [Key] {
    &TRANSACTIONS.keys
}

/// Keys of `expect` of a transaction.
pub(super) fn transaction_expect_keys() -> &'static [Key] {
    &TRANSACTION_EXPECT.keys
}

/// Keys of a saved value of a transaction.
pub(super) fn transaction_save_keys() -> &'static [Key] {
    &TRANSACTION_SAVE.keys
}

/// Keys that are allowed in addition to the key that defines a step.
pub(super) fn extra_keys() -> &'static [Key] {
    &EXTRA.keys
}

/// Tables of the values of these keys.
pub(super) fn further_tables() -> &'static [&'static Table] {
    &EXTRA.tables
}

/// Keys of a scenario that apply to all of its steps.
pub(super) fn scenario_keys() -> &'static [Key] {
    &SCENARIO.keys
}

/// Tables of the values of these keys.
pub(super) fn scenario_tables() -> &'static [&'static Table] {
    &SCENARIO.tables
}

/// Keys of `expect` in protocols with additional step keys.
pub(super) fn further_expect_keys() -> &'static [Key] {
    &EXPECT.keys
}

/// Keys of a saved value in protocols with additional step keys.
pub(super) fn further_save_keys() -> &'static [Key] {
    &SAVE.keys
}

/// Keys of `expect` in protocols that check replies.
pub(super) fn expect_keys() -> &'static [Key] {
    static KEYS: LazyLock<Vec<Key>> = LazyLock::new(|| reply_keys(|reply| reply.expect));
    &KEYS
}

/// Keys of a saved value in protocols with values in replies.
pub(super) fn save_keys() -> &'static [Key] {
    static KEYS: LazyLock<Vec<Key>> = LazyLock::new(|| reply_keys(|reply| reply.save));
    &KEYS
}

/// Keys of one table of all protocols. If several keys have equal names, the first one wins.
fn reply_keys(table: impl Fn(&ReplyKeys) -> &'static step::Table) -> Vec<Key> {
    let mut keys: Vec<Key> = Vec::new();
    let all = step::owners().filter_map(|(_, own)| own.reply.as_ref()).flat_map(|reply| table(reply).keys);
    for key in all {
        if keys.iter().all(|known| known.name != key.name) {
            keys.push(derive_key(key, &mut Vec::new()));
        }
    }
    keys
}

/// Names of the keys that each define a step, as a phrase.
pub(super) fn list_step_keys() -> String {
    let names: Vec<String> = keys().iter().map(|key| format!("`{}`", key.name)).collect();
    match names.split_last() {
        Some((last, before)) => format!("{}, or {last}", before.join(", ")),
        None => String::new(),
    }
}

fn derive_key(key: &step::Key, tables: &mut Vec<&'static Table>) -> Key {
    let step::Key { name, sentence, example, kind: of } = *key;
    let is_required = matches!(of, Kind::Required(_));
    Key { name, sentence, example, kind: kind(&of, tables), is_required }
}

/// Kind of a value in plans. Tables are leaked, because they are built once and last as long as the program.
fn kind(kind: &Kind, tables: &mut Vec<&'static Table>) -> ValueKind {
    let leaked = |of: &Kind, tables: &mut Vec<&'static Table>| -> &'static ValueKind {
        Box::leak(Box::new(self::kind(of, tables)))
    };
    match kind {
        Kind::Text | Kind::Constant(_) => TEXT,
        Kind::Json => ValueKind::Any,
        Kind::TextOrTexts => ValueKind::OneOrList(&TEXT),
        Kind::Size { .. } => ValueKind::One(&form::VOLUME),
        Kind::Count => ValueKind::One(&form::COUNT),
        Kind::Truth => ValueKind::One(&form::TRUTH),
        Kind::Sizes => ValueKind::One(&form::SIZE),
        Kind::Form(form) => ValueKind::One(form),
        Kind::Any => ValueKind::Any,
        Kind::List(item) => ValueKind::List(leaked(item, tables)),
        Kind::OneOrList(item) => ValueKind::OneOrList(leaked(item, tables)),
        Kind::Named(item) => ValueKind::Named(leaked(item, tables)),
        Kind::Optional(item) => ValueKind::Optional(leaked(item, tables)),
        Kind::Required(of) => self::kind(of, tables),
        Kind::TextOrTable(of) => ValueKind::Either(vec![TEXT, table(of, tables)].leak()),
        Kind::Table(of) => table(of, tables),
    }
}

fn table(of: &step::Table, tables: &mut Vec<&'static Table>) -> ValueKind {
    let mut within = Vec::new();
    let keys: Vec<Key> = of.keys.iter().map(|key| derive_key(key, &mut within)).collect();
    let step::Table { name, sentence, example, .. } = of;
    let table: &'static Table = Box::leak(Box::new(Table { name, sentence, example, keys: keys.leak() }));
    tables.push(table);
    tables.append(&mut within);
    ValueKind::Table(table)
}
