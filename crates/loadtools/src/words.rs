//! Words of other tools for requests that did not end well, and how each is counted.
//!
//! Every tool has a list, and its reader counts by that list alone. The table in `docs/tools.md` derives from it. A word that
//! says nothing about a request's answer is a note of the run, and no error.

use outcome::ErrorClass;

/// A word of a tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ErrorWord {
    /// Word or phrase, as the tool prints it.
    pub word: &'static str,
    /// Account that the requests under the word go to.
    pub account: Account,
    /// Meaning in the source of the tool, and so the reason for the class.
    pub meaning: &'static str,
}

/// Account of requests that a tool counts under a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Account {
    /// Errors of this class.
    Errors(ErrorClass),
    /// Requests that the end of the load cut off.
    Unfinished,
    /// None: a note of the run.
    Note,
}

impl ErrorWord {
    pub(crate) const fn error(word: &'static str, class: ErrorClass, meaning: &'static str) -> Self {
        Self { word, account: Account::Errors(class), meaning }
    }

    pub(crate) const fn noted(word: &'static str, meaning: &'static str) -> Self {
        Self { word, account: Account::Note, meaning }
    }
}

/// Word that a message contains, and `other` if it contains none of the list.
pub(crate) fn in_message(
    words: &[&'static ErrorWord],
    message: &str,
    other: &'static ErrorWord,
) -> &'static ErrorWord {
    words.iter().copied().find(|word| message.contains(word.word)).unwrap_or(other)
}
