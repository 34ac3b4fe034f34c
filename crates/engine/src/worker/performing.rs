//! Calls into a system in this process, in place of sending and receiving.

use record::class;
use wire::{Conversation, Greeting, Next, PeerFault, Progress, Script, Stage};

use super::Worker;
use crate::connection::{Link, NEVER};
use crate::endings::Ending;

/// Calls of one greeting: more of them come to no end.
const ROUNDS_MAX: u32 = 1000;

impl<S: Script> Worker<'_, S> {
    /// Opens the connection of a slot, if it is one within this process; says whether it is.
    pub(super) fn opens_embedded(&mut self, slot: u32, now_ns: u64) -> bool {
        let Some(embedding) = &self.embedding else { return false };
        let connection = &mut self.connections[slot as usize];
        connection.dialled_ns = now_ns;
        let opened = open(&mut connection.talk);
        let at_ns = self.clock.now();
        match opened {
            Ok(()) => {
                embedding.guards.arm(self.thread, (embedding.interrupt)(&connection.talk));
                connection.link = Link::Embedded;
                self.dialling += 1;
                self.note_connected(slot, at_ns);
                self.on_up(slot, at_ns);
            }
            Err(fault) if fault.class == PeerFault::LOGIN_REFUSED => {
                self.break_off(fault.message());
                self.close(slot);
            }
            Err(fault) => {
                let ending = Ending::fault(&fault);
                self.dialling_failed(slot, ending, at_ns);
            }
        }
        true
    }

    /// A call is to be made for a slot: in its turn, not deeper and deeper within the one before.
    #[inline]
    pub(super) fn will_perform(&mut self, slot: u32) {
        self.to_perform.push_back((slot, self.connections[slot as usize].generation));
    }

    /// Makes the calls that are due, one for each slot.
    pub(super) fn perform(&mut self) {
        for _ in 0..self.to_perform.len() {
            let (Some((slot, generation)), Some(embedding)) = (self.to_perform.pop_front(), &self.embedding)
            else {
                return;
            };
            let connection = &mut self.connections[slot as usize];
            if connection.generation != generation {
                continue;
            }
            let Some(request) = &mut connection.request else { continue };
            request.written = connection.talk.outgoing().len() as u32;
            let stage = connection.talk.stage();
            embedding.guards.set(self.thread, connection.deadline_ns);
            let progress = (embedding.perform)(&mut connection.talk);
            embedding.guards.set(self.thread, NEVER);
            if self.signal.is_aborted() {
                // It may have been interrupted for that: it is left in flight.
                return;
            }
            let at_ns = self.clock.now();
            if at_ns > connection.deadline_ns {
                self.end_connection(slot, too_late(stage, &progress), at_ns);
                continue;
            }
            match progress {
                Ok(Progress::NeedMore) => self.will_perform(slot),
                Ok(Progress::Replied { reply, .. }) => self.on_reply(slot, reply, at_ns),
                Ok(Progress::Answered { part, next, .. }) => drop(self.on_answered(slot, part, next, at_ns)),
                Err(fault) => self.on_fault(slot, fault, at_ns),
            }
        }
    }
}

/// How a call ends that took too long: a commit that was not refused may have taken effect.
#[cold]
fn too_late(stage: Stage, progress: &Result<Progress, PeerFault>) -> Ending {
    let is_refused = match progress {
        Ok(Progress::Answered { part: Some(part), .. }) if part.refusal.is_some() => true,
        Ok(Progress::Answered { next: Next::Done(reply), .. } | Progress::Replied { reply, .. }) => {
            reply.refusal.is_some()
        }
        _ => false,
    };
    match stage {
        Stage::InDoubt if !is_refused => Ending::reply_timed_out(stage),
        _ => Ending::timed_out(&class::TIMEOUT_STATEMENT, "a statement to end"),
    }
}

/// Lets a conversation open what it speaks to.
fn open<T: Conversation>(talk: &mut T) -> Result<(), PeerFault> {
    let mut greeting = talk.greet();
    for _ in 0..ROUNDS_MAX {
        greeting = match greeting {
            Greeting::Done => return Ok(()),
            Greeting::Send | Greeting::Await => talk.greeted(&[])?.1,
            Greeting::Secure => talk.secured(),
        };
    }
    Err(PeerFault {
        class: class::PROTOCOL_ERROR.name,
        code: 0,
        sentence: "the system in this process does not come to be open",
        seen: None,
        said: None,
    })
}
