//! Words of other tools for requests that did not succeed, and how each is counted.
//!
//! Every tool has a list, and its parser counts only by that list. The table in `docs/tools.md` is generated from it. A word that
//! says nothing about the answer to a request is a note, not an error.

use outcome::ErrorClass;

/// A word of a tool for some of its requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ErrorWord {
    /// Word or phrase as printed by the tool.
    pub word: &'static str,
    /// Account to which its requests are added.
    pub account: Account,
    /// Meaning according to the source of the tool, which gives the error class.
    pub meaning: &'static str,
}

/// Account for requests that a tool counts under a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Account {
    /// Errors of this class.
    Errors(ErrorClass),
    /// Requests cut off by the end of the load.
    Unfinished,
    /// No account: a note of the run.
    Note,
}

impl ErrorWord {
    pub(crate) const fn error(word: &'static str, class: ErrorClass, meaning: &'static str) -> Self {
        Self { word, account: Account::Errors(class), meaning }
    }

    pub(crate) const fn as_note(word: &'static str, meaning: &'static str) -> Self {
        Self { word, account: Account::Note, meaning }
    }
}

/// Finds the word that a message contains; `other` if it contains none of `words`.
pub(crate) fn in_message(
    words: &[&'static ErrorWord],
    message: &str,
    other: &'static ErrorWord,
) -> &'static ErrorWord {
    words.iter().copied().find(|word| message.contains(word.word)).unwrap_or(other)
}
