//! Opening of connections before the load, a few at a time, so that first requests do not include it.

use load::Load;
use record::ErrorClass;
use rustix::io::Errno;

use super::{HEARTBEAT_NS, Worker};
use crate::driver::Driver;
use crate::endings::Ending;

/// Max connections that a worker opens at the same time. Below the shortest listen backlog in common use.
const OPENING_MAX: usize = 64;

impl Worker<'_> {
    /// Opens all connections, unless users ramp up or connections serve only one request. Connections that cannot be opened within
    /// the connect time-out are opened by their first request.
    pub(super) fn open_connections(&mut self) -> Result<(), Errno> {
        let is_ramped = matches!(&self.job.load, Load::Closed(closed) if closed.ramp_up_ns > 0);
        for peer in 0..self.job.peers() {
            let connects_lazily = self.routes.is_some_and(|routes| routes.connects_lazily(peer));
            if self.note_first_step(peer) && !is_ramped && !connects_lazily && self.job.peer(peer).keep_alive
            {
                self.open_links(peer)?;
            }
        }
        Ok(())
    }

    /// Assigns the links to a peer to the first step that uses it: events before the load count in the account of that step.
    /// Returns whether any step uses the peer.
    fn note_first_step(&mut self, peer: u16) -> bool {
        let goes_there = |step: &u16| match self.routes {
            None => self.steps[usize::from(*step)].peer == peer,
            Some(routes) => routes.peers_of(*step).contains(&peer),
        };
        let Some(step) = self.job.scenarios.visits().map(|visit| visit.step).find(goes_there) else {
            return false;
        };
        self.dispatch.links(peer).for_each(|link| self.links[link as usize].step = step);
        true
    }

    fn open_links(&mut self, peer: u16) -> Result<(), Errno> {
        let mut links = self.dispatch.links(peer);
        if let Driver::Open(open) = &self.driver {
            links.end -= (open.spare.len() as u32).min(links.end - links.start);
        }
        let mut opening: Vec<u32> = Vec::new();
        loop {
            let now_ns = self.clock.now();
            opening.retain(|link| self.links[*link as usize].is_opening());
            let give_up = now_ns > self.job.connect_timeout_ns || self.signal.ends_at_ns().is_some();
            if give_up || (links.is_empty() && opening.is_empty()) {
                break;
            }
            for link in links.by_ref().take(OPENING_MAX - opening.len()) {
                self.dial(link, now_ns);
                opening.push(link);
            }
            let is_waiting = opening.iter().any(|link| self.links[*link as usize].is_opening());
            let count = self.poll.wait(if is_waiting { HEARTBEAT_NS } else { 0 })?;
            self.compare_clocks();
            (0..count).for_each(|index| self.on_ready(self.poll.take(index)));
        }
        opening.into_iter().for_each(|link| {
            self.on_open_failed(Ending::timed_out(ErrorClass::TimeoutConnect, "a connection"));
            self.give_up_address(link);
            self.close(link);
        });
        Ok(())
    }

    pub(super) fn on_open_failed(&mut self, ending: Ending) {
        self.opening_failures.get_or_insert((0, ending.message)).0 += 1;
    }
}
