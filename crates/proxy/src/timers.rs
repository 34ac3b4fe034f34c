//! Which connections must be looked at, and when. An entry that no longer holds is dropped when it comes up, or when most are such.

use crate::pair::Key;

/// Fewer entries are not worth sorting out.
const ENTRIES_MIN: usize = 1024;

/// Why a connection must be looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Reason {
    /// Bytes from this side may leave.
    Leave(usize),
    /// It is to be reset.
    Reset,
}

/// Times in order, each with a connection and a reason.
pub(crate) type Timers = sockets::timers::Timers<Key, Reason>;

/// Drops the entries of connections that are gone, if there are many more entries than `open` connections can need. So
/// connections that come and go leave nothing behind.
pub(crate) fn tidy(timers: &mut Timers, open: usize, is_open: impl Fn(Key) -> bool) {
    if timers.len() > ENTRIES_MIN + 8 * open {
        timers.retain(|key| is_open(*key));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn connections_that_are_gone_leave_nothing_behind() {
        let mut timers = Timers::default();
        for generation in 0..10_000 {
            timers.set(u64::MAX, Key { slot: 0, generation }, Reason::Reset);
            tidy(&mut timers, 1, |key| key.generation == generation);
        }
        assert!(timers.len() <= 2 * ENTRIES_MIN, "{}", timers.len());
    }
}
