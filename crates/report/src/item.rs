//! Items of a report for people: contents and order. Formats only draw them.

use crate::table::Table;

/// Escapes a text from outside for a format.
pub(crate) type Escape = fn(&str) -> String;

/// Single item of a report. All texts are escaped; those from outside are also shortened.
pub(crate) enum Item {
    /// Title of the report.
    Title(String),
    /// Heading of a section.
    Head(String),
    /// Paragraph.
    Text(Tone, String),
    /// Names and values. A repeated name continues its list.
    Facts(Vec<Fact>),
    Table(Table),
    /// List of related sentences.
    Points(Vec<(Tone, String)>),
    /// List of related sentences, each with an optional drawing of characters below it.
    Drawn(Vec<(String, Option<String>)>),
    /// Reasons why figures are in doubt, or failures, each with advice.
    Doubts(Vec<[String; 2]>),
    /// Output of other programs, line by line.
    Quote(Vec<String>),
    /// Errors, most frequent first, then the class of the first one and advice on it.
    Errors(Vec<ErrorText>, Option<[String; 2]>),
    /// Warnings and notes in addition to the figures.
    Notes(Vec<(Tone, String)>),
    /// Separate sub-items of the item above.
    Parts(Vec<Item>),
    /// Details with a heading. The terminal omits them unless all details are requested, and Markdown folds them.
    Fold(String, Vec<Item>),
    /// Hint on how to show the omitted details.
    Elsewhere(String),
}

/// A kind of error and the number of its occurrences.
pub(crate) struct ErrorText {
    pub(crate) class: String,
    pub(crate) message: String,
    pub(crate) count: u64,
}

/// A name and its value.
pub(crate) struct Fact {
    pub(crate) name: String,
    /// Drawing of characters before the words.
    pub(crate) drawing: Option<String>,
    pub(crate) words: String,
}

/// Emphasis of an item.
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

    /// Sentences without emphasis.
    pub(crate) fn points(points: impl IntoIterator<Item = String>) -> Self {
        Self::Points(points.into_iter().map(|point| (Tone::Plain, point)).collect())
    }
}

impl Fact {
    pub(crate) fn new(name: impl Into<String>, words: String) -> Self {
        Self { name: name.into(), drawing: None, words }
    }
}
