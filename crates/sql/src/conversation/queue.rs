//! What a pipeline still owes answers to.

use std::collections::VecDeque;

/// Statements and points of synchronisation, in the order in which they were sent.
#[derive(Debug, Default)]
pub(super) struct Queue {
    owed: VecDeque<Owed>,
    is_open: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Owed {
    Statement(u16),
    Sync,
}

impl Queue {
    /// Statements are sent without waiting from here on.
    pub(super) fn open(&mut self) {
        self.owed.clear();
        self.is_open = true;
    }

    /// From here on only answers are awaited.
    pub(super) fn close(&mut self) {
        self.is_open = false;
    }

    pub(super) fn clear(&mut self) {
        self.owed.clear();
        self.is_open = false;
    }

    pub(super) fn is_open(&self) -> bool {
        self.is_open
    }

    pub(super) fn is_empty(&self) -> bool {
        self.owed.is_empty()
    }

    pub(super) fn push_statement(&mut self, number: u16) {
        self.owed.push_back(Owed::Statement(number));
    }

    pub(super) fn push_sync(&mut self) {
        self.owed.push_back(Owed::Sync);
    }

    /// The statement that is answered next, if it is one.
    pub(super) fn front(&self) -> Option<u16> {
        match self.owed.front() {
            Some(Owed::Statement(number)) => Some(*number),
            _ => None,
        }
    }

    /// A statement was answered; which.
    pub(super) fn pop_statement(&mut self) -> Option<u16> {
        let number = self.front()?;
        self.owed.pop_front();
        Some(number)
    }

    /// A statement was refused: the server skips those up to the next point of synchronisation.
    pub(super) fn skip_to_sync(&mut self) {
        while self.front().is_some() {
            self.owed.pop_front();
        }
    }

    /// A point of synchronisation was answered; whether one was due.
    pub(super) fn pop_sync(&mut self) -> bool {
        self.owed.pop_front() == Some(Owed::Sync)
    }
}
