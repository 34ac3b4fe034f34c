//! Types of the tables of keys. The reader's errors, the JSON Schema, and the reference derive from the tables in
//! [`super::tables`].

use std::sync::LazyLock;

use super::form::Form;

/// Keys of one kind of mapping.
pub(crate) struct Table {
    /// Name of the mapping: `load`, `step`.
    pub(crate) name: &'static str,
    /// Description in one sentence.
    pub(crate) sentence: &'static str,
    /// Valid example, for errors.
    pub(crate) example: &'static str,
    pub(crate) keys: &'static [Key],
}

/// Key of a mapping.
#[derive(Clone, Copy)]
pub(crate) struct Key {
    pub(crate) name: &'static str,
    /// Meaning in one sentence, including the default.
    pub(crate) sentence: &'static str,
    /// Example of a value, as written.
    pub(crate) example: &'static str,
    pub(crate) kind: ValueKind,
    pub(crate) is_required: bool,
}

/// Kind of a value.
#[derive(Clone, Copy)]
pub(crate) enum ValueKind {
    /// A single value.
    One(&'static Form),
    /// Word from this list.
    Word(&'static [&'static str]),
    /// Word from this list, or another text of this form.
    WordOr(&'static [&'static str], &'static Form),
    /// A mapping with the keys of a table.
    Table(&'static Table),
    /// Mapping with keys that are built at run time.
    Derived(&'static LazyLock<Table>),
    /// A list.
    List(&'static ValueKind),
    /// Single value, or a list of values.
    OneOrList(&'static ValueKind),
    /// A mapping with names that the plan chooses.
    Named(&'static ValueKind),
    /// An empty value, or a value of this kind.
    Optional(&'static ValueKind),
    /// Any text, list, or mapping.
    Any,
    /// Value of one of these kinds. The kinds differ in whether they are a text, a list, or a mapping.
    Either(&'static [ValueKind]),
}

/// Mappings that errors name by their key. There may be several of the others.
const NAMED_BY_KEY: [&str; 18] = [
    "auth",
    "basic",
    "expect",
    "ready",
    "stop",
    "pin",
    "compare",
    "baseline",
    "quick",
    "sql",
    "prepare",
    "resources",
    "io",
    "after",
    "until",
    "lock",
    "reload",
    "connections",
];

impl Table {
    /// Name of the mapping in errors: `a load`, `` `expect` ``.
    pub(crate) fn display_name(&self) -> String {
        if self.name == "plan" {
            "the plan".to_owned()
        } else if NAMED_BY_KEY.contains(&self.name) {
            format!("`{}`", self.name)
        } else {
            let article = if self.name.starts_with(['a', 'e', 'i', 'o']) { "an" } else { "a" };
            format!("{article} {}", self.name)
        }
    }

    pub(crate) fn names(&self) -> impl Iterator<Item = &'static str> {
        self.keys.iter().map(|key| key.name)
    }
}

impl ValueKind {
    /// Words for the kind, as the help of an error.
    pub(crate) fn words(&self) -> String {
        match self {
            Self::One(form) => form.words.to_owned(),
            Self::Word(words) => words.join(", "),
            Self::WordOr(words, form) => format!("{}, or {}", words.join(", "), form.words),
            Self::Table(table) => format!("a mapping such as {}", table.example),
            Self::Derived(table) => format!("a mapping such as {}", table.example),
            Self::List(kind) => format!("a list, each item {}", kind.words()),
            Self::OneOrList(kind) => format!("{}, or a list of them", kind.words()),
            Self::Named(kind) => format!("a mapping of names, each with {}", kind.words()),
            Self::Optional(kind) => kind.words(),
            Self::Any => "a value".to_owned(),
            Self::Either(kinds) => kinds.iter().map(Self::words).collect::<Vec<_>>().join("; or "),
        }
    }
}
