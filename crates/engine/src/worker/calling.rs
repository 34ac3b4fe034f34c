//! Calls into a system in this process, which replace sending and receiving.

use record::ErrorClass;
use wire::{Channel, Event, Greeting, Next, PeerFault, Stage, Ticket};

use super::Worker;
use crate::endings::Ending;
use crate::link::State;
use crate::timers::NEVER;

/// Max calls of one greeting.
const ROUNDS_MAX: u32 = 1000;

impl Worker<'_> {
    /// Opens a link to a system in this process.
    pub(super) fn open_in_process(&mut self, number: u32, now_ns: u64) {
        let Some(embedding) = &self.embedding else { return };
        let link = &mut self.links[number as usize];
        link.dialed_ns = now_ns;
        let opened = open(&mut *link.channel);
        let at_ns = self.clock.now();
        match opened {
            Ok(()) => {
                embedding.call_deadlines.arm(self.thread, link.channel.interrupt());
                link.state = State::InProcess;
                self.dialing += 1;
                self.note_connected(number, at_ns);
                self.on_up(number, at_ns);
            }
            Err(fault) if fault.class == ErrorClass::LoginRefused => {
                self.abort_load(fault.message());
                self.close(number);
            }
            Err(fault) => {
                let ending = Ending::fault(&fault);
                self.on_dial_failed(number, ending, at_ns);
            }
        }
    }

    /// Queues a call for a link. Queued calls run one after the other instead of nesting.
    #[inline]
    pub(super) fn queue_call(&mut self, number: u32) {
        let link = &self.links[number as usize];
        if let State::InProcess = link.state {
            self.queued_calls.push_back((number, link.generation));
        }
    }

    /// Makes the queued calls, one per link.
    pub(super) fn make_calls(&mut self) {
        for _ in 0..self.queued_calls.len() {
            let (Some((number, generation)), Some(embedding)) =
                (self.queued_calls.pop_front(), &self.embedding)
            else {
                return;
            };
            let link = &mut self.links[number as usize];
            if link.generation != generation {
                continue;
            }
            let Some(user) = link.carried.first() else { continue };
            let Some(exchange) = self.users[user as usize].exchange else { continue };
            let handed_on = link.channel.outgoing().len();
            link.channel.sent(handed_on);
            let stage = link.channel.stage(Ticket(user));
            embedding.call_deadlines.set(self.thread, exchange.deadline_ns);
            let performed = link.channel.received(&[]);
            embedding.call_deadlines.set(self.thread, NEVER);
            if self.signal.is_aborted() {
                // The abort may have interrupted the call; its request counts as in flight.
                return;
            }
            let at_ns = self.clock.now();
            if at_ns > exchange.deadline_ns {
                self.end_link(number, late_call_ending(stage, &performed), at_ns);
                continue;
            }
            match performed {
                Ok(None) => self.queue_call(number),
                Ok(Some((_, event))) => drop(self.on_event(event, at_ns, false)),
                Err(fault) => self.on_fault(number, fault, at_ns),
            }
        }
    }
}

/// Returns the ending of a call that took too long. A commit that was not rejected may have taken effect.
#[cold]
fn late_call_ending(stage: Stage, event: &Result<Option<(usize, Event)>, PeerFault>) -> Ending {
    let is_refused = match event {
        Ok(Some((_, Event::PartReplied { part: Some(part), .. }))) if part.rejection.is_some() => true,
        Ok(Some((_, Event::PartReplied { next: Next::Done(reply), .. } | Event::Replied { reply, .. }))) => {
            reply.rejection.is_some()
        }
        _ => false,
    };
    match stage {
        Stage::InDoubt if !is_refused => Ending::reply_timed_out(stage),
        _ => Ending::timed_out(ErrorClass::TimeoutStatement, "a statement to end"),
    }
}

/// Runs the greeting of a channel, which opens the system.
fn open(channel: &mut dyn Channel) -> Result<(), PeerFault> {
    let mut greeting = channel.greet();
    for _ in 0..ROUNDS_MAX {
        greeting = match greeting {
            Greeting::Done => return Ok(()),
            Greeting::Send | Greeting::Await => channel.greeted(&[])?.1,
            Greeting::Secure => channel.secured(),
        };
    }
    let sentence = "the system in this process does not come to be open";
    Err(PeerFault::new(ErrorClass::ProtocolError, 0, sentence))
}
