//! What a table of keys is: from the tables in [`super::tables`] derive the reader's errors, the schema and the reference.

use std::sync::LazyLock;

use super::form::Form;

/// The keys of one kind of mapping.
pub(crate) struct Table {
    /// What the mapping is called: `load`, `step`.
    pub(crate) name: &'static str,
    /// What it says, in a sentence.
    pub(crate) sentence: &'static str,
    /// One that is right, for who wrote something else.
    pub(crate) example: &'static str,
    pub(crate) keys: &'static [Key],
}

/// One key of a mapping.
#[derive(Clone, Copy)]
pub(crate) struct Key {
    pub(crate) name: &'static str,
    /// What it means, in a sentence, its default included.
    pub(crate) sentence: &'static str,
    /// A value, as it is written.
    pub(crate) example: &'static str,
    pub(crate) kind: ValueKind,
    pub(crate) is_required: bool,
}

/// What a value may be.
#[derive(Clone, Copy)]
pub(crate) enum ValueKind {
    /// A single value.
    One(&'static Form),
    /// One of these words.
    Word(&'static [&'static str]),
    /// One of these words, or a text of a form that none of them has.
    WordOr(&'static [&'static str], &'static Form),
    /// A mapping with the keys of a table.
    Table(&'static Table),
    /// A mapping whose keys are made from a list when the program runs.
    Derived(&'static LazyLock<Table>),
    /// A list.
    List(&'static ValueKind),
    /// One, or a list of them.
    OneOrList(&'static ValueKind),
    /// A mapping with names of one's own.
    Named(&'static ValueKind),
    /// Nothing, or else this.
    Optional(&'static ValueKind),
    /// Any text, list, or mapping.
    Any,
    /// One of these, told apart by whether it is a text, a list or a mapping.
    Either(&'static [ValueKind]),
}

/// Mappings that are called by the key that holds them; of the others there may be several.
const CALLED_BY_KEY: [&str; 18] = [
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
    /// `a load`, `` `expect` ``.
    pub(crate) fn called(&self) -> String {
        if self.name == "plan" {
            "the plan".to_owned()
        } else if CALLED_BY_KEY.contains(&self.name) {
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
    /// The kind in words: what to write instead of something else.
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
