//! Prepared statements of a connection, by their numbers.

use alloc::boxed::Box;
use alloc::vec::Vec;

/// State of a statement on the server.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Preparation {
    /// Not prepared on the server.
    #[default]
    Unknown,
    /// The Parse message of the statement was sent, and is not known to have failed.
    Sent,
    /// The preparation failed, or was lost: the server may or may not have a statement of this name.
    Doubtful,
}

/// A prepared statement, or one to prepare.
#[derive(Clone, Debug, Default)]
pub(super) struct KeptStatement {
    pub(super) stage: Preparation,
    /// Number of columns of its rows. `None` if it returns no rows.
    pub(super) columns: Option<u16>,
    /// Description of its rows. Empty if there was no reader of rows when it arrived.
    pub(super) description: Box<[u8]>,
}

/// All prepared statements of a connection.
#[derive(Debug, Default)]
pub(super) struct Statements {
    list: Vec<KeptStatement>,
}

impl Statements {
    #[inline]
    pub(super) fn get(&self, number: u16) -> Option<&KeptStatement> {
        self.list.get(usize::from(number))
    }

    /// Marks a statement as sent.
    pub(super) fn send(&mut self, number: u16) {
        let number = usize::from(number);
        if number >= self.list.len() {
            self.list.resize(number + 1, KeptStatement::default());
        }
        self.list[number].stage = Preparation::Sent;
    }

    pub(super) fn describe(&mut self, number: u16, columns: Option<u16>, description: &[u8]) {
        if let Some(kept) = self.list.get_mut(usize::from(number)) {
            (kept.columns, kept.description) = (columns, description.into());
        }
    }

    pub(super) fn mark_doubtful(&mut self, number: u16) {
        if let Some(kept) = self.list.get_mut(usize::from(number)) {
            kept.stage = Preparation::Doubtful;
        }
    }

    pub(super) fn forget(&mut self) {
        self.list.clear();
    }
}
