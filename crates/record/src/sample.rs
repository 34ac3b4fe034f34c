//! Bounded uniform sample of individual requests, from which a request log is written.

use alloc::vec::Vec;

use crate::finish::Finish;

/// Sampled request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sampled {
    /// Times and outcome.
    pub finish: Finish,
    /// Number of the request's connection, counted over the whole run from 0.
    pub connection: u32,
    /// Time to establish the connection (TCP and TLS) if this was its first request, otherwise 0.
    pub connect_ns: u64,
    /// Bytes of the reply on the wire, before TLS.
    pub received_bytes: u64,
    /// Bytes of the request on the wire, before TLS.
    pub sent_bytes: u64,
}

/// Keeps at most `capacity` requests of each second, each with equal probability (Vitter's algorithm R).
#[derive(Clone, Debug)]
pub(crate) struct Reservoir {
    capacity: usize,
    offered: u64,
    kept: Vec<Sampled>,
    state: u64,
}

impl Reservoir {
    /// Creates a reservoir of `capacity` requests per second. A capacity of 0 costs nothing. `seed` seeds the draws.
    pub(crate) fn new(capacity: usize, seed: u64) -> Self {
        Self { capacity, offered: 0, kept: Vec::with_capacity(capacity), state: seed | 1 }
    }

    /// Returns whether any requests are kept.
    #[inline]
    pub(crate) fn is_enabled(&self) -> bool {
        self.capacity > 0
    }

    /// Offers a request of the current second.
    pub(crate) fn offer(&mut self, request: Sampled) {
        self.offered += 1;
        if self.kept.len() < self.capacity {
            self.kept.push(request);
        } else {
            let place = self.draw() % self.offered;
            if let Some(slot) = self.kept.get_mut(place as usize) {
                *slot = request;
            }
        }
    }

    /// Ends the second, and returns its sample in order of scheduled start.
    pub(crate) fn take(&mut self) -> Vec<Sampled> {
        self.offered = 0;
        let mut kept = core::mem::replace(&mut self.kept, Vec::with_capacity(self.capacity));
        kept.sort_by_key(|request| request.finish.intended_ns);
        kept
    }

    /// Draws the next number of Marsaglia's xorshift64, which suffices for sampling.
    fn draw(&mut self) -> u64 {
        self.state ^= self.state << 13;
        self.state ^= self.state >> 7;
        self.state ^= self.state << 17;
        self.state
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use outcome::Outcome;

    fn request(intended_ns: u64) -> Sampled {
        let finish = Finish {
            intended_ns,
            sent_ns: intended_ns,
            first_byte_ns: None,
            finished_ns: intended_ns,
            outcome: Outcome::Ok,
            status: 200,
        };
        Sampled { finish, connection: 0, connect_ns: 0, received_bytes: 0, sent_bytes: 0 }
    }

    #[test]
    fn small_second_is_kept_whole_and_large_one_sampled_evenly() {
        let mut reservoir = Reservoir::new(100, 1);
        (0..50).for_each(|at| reservoir.offer(request(at)));
        assert_eq!(reservoir.take().len(), 50);
        let mut from_first_half = 0;
        for _ in 0..200 {
            (0..10_000).for_each(|at| reservoir.offer(request(at)));
            let kept = reservoir.take();
            assert_eq!(kept.len(), 100);
            assert!(kept.is_sorted_by_key(|request| request.finish.intended_ns));
            from_first_half += kept.iter().filter(|request| request.finish.intended_ns < 5_000).count();
        }
        // 20,000 are kept, half of them expected from either half. The standard deviation is 71.
        assert!(from_first_half.abs_diff(10_000) < 500, "{from_first_half}");
    }
}
