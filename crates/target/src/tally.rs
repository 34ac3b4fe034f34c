//! Counters, kept per worker and summed on request.

use std::sync::atomic::{AtomicU64, Ordering};

/// Counters since the start of the target. Every request is answered once: `requests + bad_requests` is the sum of `replies` once
/// nothing is in execution, if no peer has disconnected early.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Connections taken from the accept queue.
    pub accepted: u64,
    /// Currently open connections.
    pub open: u64,
    /// Complete requests received, regardless of their result.
    pub requests: u64,
    /// Inputs that were not valid requests. Each was answered with an error, and its connection closed.
    pub bad_requests: u64,
    /// Replies by class of their status, from `1xx` to `5xx`, without interim replies.
    pub replies: [u64; 5],
    /// Requests rejected with `503` because the queue was full.
    pub queue_rejected: u64,
    /// Requests rejected with `429` because the token bucket was empty.
    pub rate_limited: u64,
    /// Rows created by `/insert`.
    pub inserts: u64,
    /// Holds missing from the service log because it was full.
    pub unlogged: u64,
}

/// Counters of one worker. Other threads only read them.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    pub(crate) accepted: Count,
    pub(crate) closed: Count,
    pub(crate) requests: Count,
    pub(crate) bad_requests: Count,
    pub(crate) replies: [Count; 5],
    pub(crate) queue_rejected: Count,
    pub(crate) rate_limited: Count,
    pub(crate) unlogged: Count,
}

impl Tally {
    pub(crate) fn count_reply(&self, status: u16) {
        if let Some(count) = self.replies.get(usize::from(status / 100).wrapping_sub(1)) {
            count.add_one();
        }
    }

    pub(crate) fn add_to(&self, sum: &mut Counters) {
        // Reads `closed` first: if read last, it could exceed `accepted`.
        let closed = self.closed.get();
        let accepted = self.accepted.get();
        sum.accepted += accepted;
        sum.open += accepted - closed;
        sum.requests += self.requests.get();
        sum.bad_requests += self.bad_requests.get();
        for (sum, count) in sum.replies.iter_mut().zip(&self.replies) {
            *sum += count.get();
        }
        sum.queue_rejected += self.queue_rejected.get();
        sum.rate_limited += self.rate_limited.get();
        sum.unlogged += self.unlogged.get();
    }
}

/// Monotonic counter.
#[derive(Debug, Default)]
pub(crate) struct Count(AtomicU64);

impl Count {
    pub(crate) fn add_one(&self) {
        self.0.fetch_add(1, Ordering::Release);
    }

    pub(crate) fn get(&self) -> u64 {
        self.0.load(Ordering::Acquire)
    }
}
