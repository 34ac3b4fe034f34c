//! The connections of an open load: a request whose instant has come waits for a free one.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// When each connection that was used will be free.
pub(crate) struct Connections {
    free_ns: BinaryHeap<Reverse<u64>>,
    most: usize,
}

impl Connections {
    pub(crate) fn new(most: u32) -> Self {
        Self { free_ns: BinaryHeap::new(), most: most.max(1) as usize }
    }

    /// When a request that is due at `due_ns` can be sent. Requests must come in the order of their times, and
    /// [`Connections::taken_until`] must follow.
    #[inline]
    pub(crate) fn take(&mut self, due_ns: u64) -> u64 {
        match self.free_ns.peek() {
            // One that is free is used again, as the generator does.
            Some(Reverse(free_ns)) if *free_ns <= due_ns || self.free_ns.len() >= self.most => {
                let free_ns = *free_ns;
                self.free_ns.pop();
                free_ns.max(due_ns)
            }
            _ => due_ns,
        }
    }

    /// The connection that was taken last is free again at `done_ns`.
    #[inline]
    pub(crate) fn taken_until(&mut self, done_ns: u64) {
        self.free_ns.push(Reverse(done_ns));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_third_of_two_connections_is_the_first_that_is_free_again() {
        let mut connections = Connections::new(2);
        let sent = [0, 1, 2, 3, 90].map(|due_ns| {
            let sent_ns = connections.take(due_ns);
            connections.taken_until(sent_ns + 10);
            sent_ns
        });
        assert_eq!(sent, [0, 1, 10, 11, 90]);
    }
}
