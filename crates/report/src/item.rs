//! A report for people, piece by piece: what it says and in which order. Formats only draw it.

use crate::table::Table;

/// Makes a text from outside harmless.
pub(crate) type Escape = fn(&str) -> String;

/// One piece. Every text is escaped and, where it comes from outside, short.
pub(crate) enum Item {
    /// The name of the whole.
    Title(String),
    /// The name of a part.
    Head(String),
    /// A paragraph.
    Text(Tone, String),
    /// Names and what belongs to them. A name that comes again continues its list.
    Facts(Vec<Fact>),
    Table(Table),
    /// Sentences that belong together.
    Points(Vec<(Tone, String)>),
    /// The same, each with a drawing of characters below it.
    Drawn(Vec<(String, Option<String>)>),
    /// Why the figures are in doubt, or what went wrong, each with what to do about it.
    Doubts(Vec<[String; 2]>),
    /// What somebody else wrote, line by line.
    Quote(Vec<String>),
    /// The most frequent first; then the class of the first, and what to do about it.
    Errors(Vec<ErrorText>, Option<[String; 2]>),
    /// What must be known besides the figures.
    Notes(Vec<(Tone, String)>),
    /// Pieces about what stands above them, each apart from the others.
    Parts(Vec<Item>),
    /// Details: what they are, and all of them. The terminal leaves them out unless it is asked for them, Markdown folds them.
    Fold(String, Vec<Item>),
    /// How to see the details, where they are left out.
    Elsewhere(String),
}

/// A kind of error and how often it was seen.
pub(crate) struct ErrorText {
    pub(crate) class: String,
    pub(crate) message: String,
    pub(crate) count: u64,
}

/// A name and what belongs to it.
pub(crate) struct Fact {
    pub(crate) name: String,
    /// Made of characters; before the words.
    pub(crate) drawing: Option<String>,
    pub(crate) words: String,
}

/// How a piece is meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tone {
    Plain,
    Strong,
    Good,
    Doubtful,
    Bad,
}

impl Item {
    /// Names and values, in order.
    pub(crate) fn facts<N: Into<String>>(facts: impl IntoIterator<Item = (N, String)>) -> Self {
        Self::Facts(facts.into_iter().map(|(name, words)| Fact::new(name, words)).collect())
    }

    /// Sentences of no special tone.
    pub(crate) fn points(points: impl IntoIterator<Item = String>) -> Self {
        Self::Points(points.into_iter().map(|point| (Tone::Plain, point)).collect())
    }
}

impl Fact {
    pub(crate) fn new(name: impl Into<String>, words: String) -> Self {
        Self { name: name.into(), drawing: None, words }
    }
}
