//! Timers of connections. A stale timer is dropped when it expires, or when most timers are stale.

use crate::pair::Key;

/// Number of timers below which stale ones are not removed.
const ENTRIES_MIN: usize = 1024;

/// Purpose of a timer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Reason {
    /// Data from this side may leave.
    Leave(usize),
    /// The connection must be reset.
    Reset,
}

/// Timers in order, each with a connection and a purpose.
pub(crate) type Timers = sockets::timers::Timers<Key, Reason>;

/// Removes timers of closed connections if there are many more timers than `open` connections can need. This keeps memory bounded
/// with short-lived connections.
pub(crate) fn remove_stale(timers: &mut Timers, open: usize, is_open: impl Fn(Key) -> bool) {
    if timers.len() > ENTRIES_MIN + 8 * open {
        timers.retain(|key| is_open(*key));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn timers_of_closed_connections_are_removed() {
        let mut timers = Timers::default();
        for generation in 0..10_000 {
            timers.set(u64::MAX, Key { slot: 0, generation }, Reason::Reset);
            remove_stale(&mut timers, 1, |key| key.generation == generation);
        }
        assert!(timers.len() <= 2 * ENTRIES_MIN, "{}", timers.len());
    }
}
