//! Connections of an open load: a due request waits for a free one.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Time at which each used connection becomes free.
pub(crate) struct Connections {
    free_ns: BinaryHeap<Reverse<u64>>,
    most: usize,
}

impl Connections {
    pub(crate) fn new(most: u32) -> Self {
        Self { free_ns: BinaryHeap::new(), most: most.max(1) as usize }
    }

    /// Returns the send time of a request that is due at `due_ns`. Calls must be in time order, each followed by
    /// [`Connections::occupy_until`].
    #[inline]
    pub(crate) fn take(&mut self, due_ns: u64) -> u64 {
        match self.free_ns.peek() {
            // A free connection is reused, as in the load generator.
            Some(Reverse(free_ns)) if *free_ns <= due_ns || self.free_ns.len() >= self.most => {
                let free_ns = *free_ns;
                self.free_ns.pop();
                free_ns.max(due_ns)
            }
            _ => due_ns,
        }
    }

    /// Sets the time at which the last taken connection becomes free.
    #[inline]
    pub(crate) fn occupy_until(&mut self, done_ns: u64) {
        self.free_ns.push(Reverse(done_ns));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn third_request_waits_for_the_first_free_of_two_connections() {
        let mut connections = Connections::new(2);
        let sent = [0, 1, 2, 3, 90].map(|due_ns| {
            let sent_ns = connections.take(due_ns);
            connections.occupy_until(sent_ns + 10);
            sent_ns
        });
        assert_eq!(sent, [0, 1, 10, 11, 90]);
    }
}
