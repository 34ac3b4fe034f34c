//! Before the load: every connection is opened, a few at a time, so that the first requests do not pay for it.

use load::Load;
use record::ErrorClass;
use rustix::io::Errno;

use super::{HEARTBEAT_NS, Worker};
use crate::driver::Driver;
use crate::endings::Ending;

/// Connections a worker opens at the same time: less than the shortest queue of new connections in common use.
const OPENING_MAX: usize = 64;

impl Worker<'_> {
    /// Opens all connections, unless users come in one by one, or connections serve once. What cannot be opened within
    /// the connect deadline is left for its first request.
    pub(super) fn open_connections(&mut self) -> Result<(), Errno> {
        let is_ramped = matches!(&self.job.load, Load::Closed(closed) if closed.ramp_up_ns > 0);
        for peer in 0..self.job.peers() {
            if self.note_first_step(peer) && !is_ramped && self.job.peer(peer).keep_alive {
                self.open_links(peer)?;
            }
        }
        Ok(())
    }

    /// What happens to connections to a peer before the load counts with the first step that goes there. Says whether any does.
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
            self.opening_failed(Ending::timed_out(ErrorClass::TimeoutConnect, "a connection"));
            self.leave_address(link);
            self.close(link);
        });
        Ok(())
    }

    pub(super) fn opening_failed(&mut self, ending: Ending) {
        self.opening_failures.get_or_insert((0, ending.message)).0 += 1;
    }
}
