//! Queue of pipelined requests whose replies are pending.

use std::collections::VecDeque;

/// Statements and synchronization points in sending order.
#[derive(Debug, Default)]
pub(super) struct Queue {
    awaited: VecDeque<AwaitedReply>,
    is_open: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum AwaitedReply {
    Statement(u16),
    Sync,
}

impl Queue {
    /// Opens a pipeline: statements are sent without waiting.
    pub(super) fn open(&mut self) {
        self.awaited.clear();
        self.is_open = true;
    }

    /// Closes the pipeline: only replies are awaited.
    pub(super) fn close(&mut self) {
        self.is_open = false;
    }

    pub(super) fn clear(&mut self) {
        self.awaited.clear();
        self.is_open = false;
    }

    pub(super) fn is_open(&self) -> bool {
        self.is_open
    }

    pub(super) fn is_empty(&self) -> bool {
        self.awaited.is_empty()
    }

    pub(super) fn push_statement(&mut self, number: u16) {
        self.awaited.push_back(AwaitedReply::Statement(number));
    }

    pub(super) fn push_sync(&mut self) {
        self.awaited.push_back(AwaitedReply::Sync);
    }

    /// Statement that is answered next. `None` if a synchronization point is next, or nothing.
    pub(super) fn front(&self) -> Option<u16> {
        match self.awaited.front() {
            Some(AwaitedReply::Statement(number)) => Some(*number),
            _ => None,
        }
    }

    /// Removes and returns the answered statement.
    pub(super) fn pop_statement(&mut self) -> Option<u16> {
        let number = self.front()?;
        self.awaited.pop_front();
        Some(number)
    }

    /// Handles a rejected statement: the server skips all statements up to the next synchronization point.
    pub(super) fn skip_to_sync(&mut self) {
        while self.front().is_some() {
            self.awaited.pop_front();
        }
    }

    /// Removes the answered synchronization point. Returns false if none was due.
    pub(super) fn pop_sync(&mut self) -> bool {
        self.awaited.pop_front() == Some(AwaitedReply::Sync)
    }
}
