//! A queue with several servers: whoever came first is served first.

use load::chance::Chance;

use crate::freeze::Freeze;
use crate::service::Service;

/// A system: so many requests are served at a time, the others wait in the order of their arrival.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Queue {
    /// Requests that are served at a time; at least 1.
    pub servers: u32,
    /// How long each is served.
    pub service: Service,
}

/// A queue at work. Requests must be handed to it in the order in which they arrive.
pub(crate) struct Serving {
    /// When each server will be free. Few, so that looking at all of them is quicker than keeping them in order.
    free_ns: Vec<u64>,
    service: Service,
    freeze: Freeze,
    chance: Chance,
}

impl Serving {
    pub(crate) fn new(queue: &Queue, freeze: Freeze, seed: u64) -> Self {
        // Stream 0 of the same seed may be that of the arrivals.
        let chance = Chance::stream(seed, 1);
        Self { free_ns: vec![0; queue.servers.max(1) as usize], service: queue.service, freeze, chance }
    }

    /// When a request is done that arrives at `arrived_ns`.
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
    fn two_servers_take_turns_and_the_third_request_waits_for_the_first_of_them() {
        let queue = Queue { servers: 2, service: Service::Constant { ns: 100 } };
        let mut serving = Serving::new(&queue, Freeze::default(), 1);
        let done: Vec<u64> = [0, 10, 20, 30, 500].map(|arrived| serving.serve(arrived)).to_vec();
        assert_eq!(done, [100, 110, 200, 210, 600]);
    }
}
