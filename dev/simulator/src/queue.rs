//! First-come, first-served queue with several servers.

use load::chance::Chance;

use crate::freeze::Freeze;
use crate::service::Service;

/// A system that serves a limited number of requests at once; others wait in order of arrival.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Queue {
    /// Number of requests served at once; at least 1.
    pub servers: u32,
    /// Distribution of service times.
    pub service: Service,
}

/// A queue during a simulation. Requests must arrive in time order.
pub(crate) struct Serving {
    /// Time at which each server becomes free. There are few, so a linear search is faster than a heap.
    free_ns: Vec<u64>,
    service: Service,
    freeze: Freeze,
    chance: Chance,
}

impl Serving {
    pub(crate) fn new(queue: &Queue, freeze: Freeze, seed: u64) -> Self {
        // Stream 0 of this seed may be that of the arrivals.
        let chance = Chance::stream(seed, 1);
        Self { free_ns: vec![0; queue.servers.max(1) as usize], service: queue.service, freeze, chance }
    }

    /// Returns the end of a request that arrives at `arrived_ns`.
    #[inline]
    pub(crate) fn serve(&mut self, arrived_ns: u64) -> u64 {
        let mut soonest = 0;
        for server in 1..self.free_ns.len() {
            if self.free_ns[server] < self.free_ns[soonest] {
                soonest = server;
            }
        }
        let begun_ns = self.free_ns[soonest].max(arrived_ns);
        let done_ns = self.freeze.done_ns(begun_ns, begun_ns + self.service.draw(&mut self.chance));
        self.free_ns[soonest] = done_ns;
        done_ns
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn third_request_waits_for_the_first_of_two_servers() {
        let queue = Queue { servers: 2, service: Service::Constant { ns: 100 } };
        let mut serving = Serving::new(&queue, Freeze::default(), 1);
        let done: Vec<u64> = [0, 10, 20, 30, 500].map(|arrived| serving.serve(arrived)).to_vec();
        assert_eq!(done, [100, 110, 200, 210, 600]);
    }
}
