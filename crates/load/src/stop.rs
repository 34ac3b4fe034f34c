//! End of a load: by time, by number of requests, or by whichever comes first.

use crate::share::Share;

/// End of a load. Requests in flight may still finish.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stop {
    /// Time from which no scheduled request is started, in nanoseconds since the load began. `None` for no time limit.
    pub at_ns: Option<u64>,
    /// Maximum number of measured requests, without the warm-up. `None` for no limit.
    pub requests: Option<u64>,
}

impl Stop {
    /// Returns the stop rule of one worker: the same time, and the worker's part of the requests.
    pub fn share(self, share: Share) -> Self {
        Self { requests: self.requests.map(|total| share.round_robin_count(total)), ..self }
    }

    /// Returns whether a request scheduled for `intended_ns` may start after `started` measured requests.
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
    fn load_ends_at_time_or_count() {
        let both = Stop { at_ns: Some(100), requests: Some(10) };
        assert!(both.admits(99, 9));
        assert!(!both.admits(100, 0));
        assert!(!both.admits(0, 10));
        assert!(Stop { at_ns: None, requests: None }.admits(u64::MAX, u64::MAX));
    }
}
