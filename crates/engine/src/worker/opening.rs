//! Before the load: every connection is opened, a few at a time, so that the first requests do not pay for it.

use load::Load;
use record::class;
use rustix::io::Errno;
use wire::Script;

use super::{HEARTBEAT_NS, Worker};
use crate::connection::Link;
use crate::endings::Ending;

/// Connections a worker opens at the same time: less than the shortest queue of new connections in common use.
const OPENING_MAX: usize = 64;

impl<S: Script> Worker<'_, S> {
    /// Opens all connections, unless users come in one by one, or connections serve once. What cannot be opened within
    /// the connect deadline is left for its first request.
    pub(super) fn open_connections(&mut self) -> Result<(), Errno> {
        let is_ramped = matches!(&self.job.load, Load::Closed(closed) if closed.ramp_up_ns > 0);
        for peer in 0..=u16::from(self.job.beside.is_some()) {
            if !is_ramped && self.job.keeps_alive(peer) && self.turn_all_to(peer) {
                self.open_those_in_use()?;
            }
        }
        self.turn_all_to(self.iterations.only_step.map_or(0, |step| self.peers[usize::from(step)]));
        self.forget_deadlines();
        Ok(())
    }

    /// Opens the connections that are in use, to one peer.
    fn open_those_in_use(&mut self) -> Result<(), Errno> {
        let mut slots = 0..self.connections.len() as u32;
        let mut opening: Vec<u32> = Vec::new();
        loop {
            let now_ns = self.clock.now();
            opening.retain(|slot| self.is_opening(*slot));
            let give_up = now_ns > self.job.connect_timeout_ns || self.signal.ends_at_ns().is_some();
            if give_up || (slots.is_empty() && opening.is_empty()) {
                break;
            }
            for slot in slots.by_ref().take(OPENING_MAX - opening.len()) {
                self.dial(slot, now_ns);
                opening.push(slot);
            }
            let is_waiting = opening.iter().any(|slot| self.is_opening(*slot));
            let count = self.poll.wait(if is_waiting { HEARTBEAT_NS } else { 0 })?;
            self.set_clocks();
            (0..count).for_each(|index| self.on_ready(self.poll.take(index)));
        }
        opening.into_iter().for_each(|slot| {
            self.opening_failed(Ending::timed_out(&class::TIMEOUT_CONNECT, "a connection"));
            self.close(slot);
        });
        Ok(())
    }

    fn is_opening(&self, slot: u32) -> bool {
        matches!(
            self.connections[slot as usize].link,
            Link::Connecting { .. } | Link::Shaking { .. } | Link::Greeting { .. }
        )
    }

    pub(super) fn opening_failed(&mut self, ending: Ending) {
        self.opening_failures.get_or_insert((0, ending.message)).0 += 1;
    }
}
