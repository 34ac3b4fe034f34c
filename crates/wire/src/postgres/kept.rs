//! Statements that were prepared on a connection, by their numbers.

use alloc::boxed::Box;
use alloc::vec::Vec;

/// How far a statement has come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Preparation {
    /// The server does not know it.
    #[default]
    Unknown,
    /// It is on its way, or was taken.
    Sent,
    /// It failed on its way, or got lost: the server may know something by its name.
    Doubtful,
}

/// A statement.
#[derive(Clone, Debug, Default)]
pub(super) struct Kept {
    pub(super) stage: Preparation,
    /// The columns of its rows; `None` if it sends no rows.
    pub(super) columns: Option<u16>,
    /// The description of its rows, if somebody took them when it came.
    pub(super) description: Box<[u8]>,
}

/// All of a connection.
#[derive(Debug, Default)]
pub(super) struct Statements {
    list: Vec<Kept>,
}

impl Statements {
    #[inline]
    pub(super) fn get(&self, number: u16) -> Option<&Kept> {
        self.list.get(usize::from(number))
    }

    /// Notes that a statement is on its way now.
    pub(super) fn send(&mut self, number: u16) {
        let number = usize::from(number);
        if number >= self.list.len() {
            self.list.resize(number + 1, Kept::default());
        }
        self.list[number].stage = Preparation::Sent;
    }

    pub(super) fn describe(&mut self, number: u16, columns: Option<u16>, description: &[u8]) {
        if let Some(kept) = self.list.get_mut(usize::from(number)) {
            (kept.columns, kept.description) = (columns, description.into());
        }
    }

    pub(super) fn doubt(&mut self, number: u16) {
        if let Some(kept) = self.list.get_mut(usize::from(number)) {
            kept.stage = Preparation::Doubtful;
        }
    }

    pub(super) fn forget(&mut self) {
        self.list.clear();
    }
}
