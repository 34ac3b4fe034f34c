//! When no further request is started: by time, by count, or by whichever comes first.

use crate::share::Share;

/// The end of a load. Requests in flight are still waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stop {
    /// Nothing that is intended at this instant or later is started; nanoseconds since the load began.
    pub at_ns: Option<u64>,
    /// No more measured requests than this are started; those of the warm-up do not count.
    pub requests: Option<u64>,
}

impl Stop {
    /// The rule for one worker: the same time, its part of the count.
    pub fn share(self, share: Share) -> Self {
        Self { requests: self.requests.map(|total| share.dealt(total)), ..self }
    }

    /// Whether a request intended at `intended_ns` may still start, when `started` measured ones have.
    #[inline]
    pub fn admits(&self, intended_ns: u64, started: u64) -> bool {
        self.at_ns.is_none_or(|at_ns| intended_ns < at_ns)
            && self.requests.is_none_or(|requests| started < requests)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whichever_comes_first_ends_the_load() {
        let both = Stop { at_ns: Some(100), requests: Some(10) };
        assert!(both.admits(99, 9));
        assert!(!both.admits(100, 0));
        assert!(!both.admits(0, 10));
        assert!(Stop { at_ns: None, requests: None }.admits(u64::MAX, u64::MAX));
    }
}
