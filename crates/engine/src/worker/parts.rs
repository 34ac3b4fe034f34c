//! Requests of several parts: what follows the reply to one of them, and its account.

use record::{Finish, Outcome};
use wire::{Conversation, Next, PartEnd, Reply, Script};

use super::Worker;
use crate::connection::{NEVER, PartUnderWay};
use crate::endings::Ending;
use crate::timers::Reason;

/// Bytes of one read that were taken in, or the end of them.
pub(super) enum After {
    /// The request goes on.
    GoesOn,
    /// It is over, or the load is.
    Over,
}

impl<S: Script> Worker<'_, S> {
    /// What was to be sent is, from its beginning; it may be a part with an account of its own.
    #[inline]
    pub(super) fn send(&mut self, slot: u32, sent_ns: u64) {
        if self.job.parts > 0 {
            self.connections[slot as usize].within.sent_ns = sent_ns;
            self.begin_part(slot);
        }
        self.flush(slot);
    }

    /// The request of a slot was begun, or goes on after a pause, and it does not begin with sending.
    #[cold]
    pub(super) fn on_begun(&mut self, slot: u32, next: Next, at_ns: u64) {
        let connection = &mut self.connections[slot as usize];
        // What was sent before must not be sent again.
        let sent_before = connection.talk.outgoing().len() as u32;
        if let Some(request) = connection.request.as_mut().filter(|request| request.written == 0) {
            request.written = sent_before;
        }
        match next {
            // The slot may be free again at once, and be begun again: in the next turn, not deeper and deeper in this one.
            Next::Done(reply) => self.over_at_once.push_back((slot, connection.generation, reply)),
            next => drop(self.go_on_with(slot, next, at_ns)),
        }
    }

    /// Ends requests that were over as soon as they had begun: each slot's once a turn.
    pub(super) fn end_at_once(&mut self) {
        for _ in 0..self.over_at_once.len() {
            let Some((slot, generation, reply)) = self.over_at_once.pop_front() else { return };
            if self.connections[slot as usize].generation == generation {
                self.on_reply(slot, reply, self.clock.now());
            }
        }
    }

    /// The reply to a part has ended: its account is closed, and the request goes on.
    pub(super) fn on_answered(&mut self, slot: u32, part: Option<PartEnd>, next: Next, at_ns: u64) -> After {
        // What leads to more must be read when it comes.
        self.late_reading = None;
        self.connections[slot as usize].within.is_answered = true;
        if let Some(PartEnd { refusal, .. }) = part {
            let outcome = if refusal.is_none() { Outcome::Ok } else { Outcome::Rejected };
            let words = refusal.map(|refusal| {
                let message = self.connections[slot as usize].talk.explain(refusal);
                Ending { outcome, class: refusal.class, code: refusal.code, message }
            });
            self.end_part(slot, outcome, words, at_ns);
        }
        // A reply was computed with since it was read: that took our time.
        let now_ns = if self.computes && !matches!(next, Next::Done(_)) { self.clock.now() } else { at_ns };
        self.go_on_with(slot, next, now_ns)
    }

    /// Does what the conversation wants next.
    fn go_on_with(&mut self, slot: u32, next: Next, at_ns: u64) -> After {
        match next {
            Next::Send => {
                if let Some(request) = &mut self.connections[slot as usize].request {
                    request.written = 0;
                }
                self.send(slot, at_ns);
            }
            Next::Await => {
                self.begin_part(slot);
                if self.embedding.is_some() {
                    self.will_perform(slot);
                }
            }
            Next::Pause { ns } => self.pause(slot, ns, at_ns),
            Next::Done(reply) => {
                self.on_reply(slot, reply, at_ns);
                return After::Over;
            }
            Next::Broken(words) => {
                self.break_off(words);
                return After::Over;
            }
        }
        After::GoesOn
    }

    /// Nothing is sent for so long; the peer is not waited for in the meantime.
    fn pause(&mut self, slot: u32, ns: u64, at_ns: u64) {
        let until_ns = at_ns.saturating_add(ns).max(1);
        let connection = &mut self.connections[slot as usize];
        connection.within.pause_until_ns = until_ns;
        let deadline_ns = connection.deadline_ns;
        let latest_ns = self.latest_end_ns().max(deadline_ns);
        self.set_deadline(slot, deadline_ns.saturating_add(ns).min(latest_ns));
        self.timers.set(until_ns, slot, Reason::GoOn);
    }

    /// When a request must be over, pauses or not: nobody waits longer for the end of a load.
    fn latest_end_ns(&self) -> u64 {
        self.stop.at_ns.map_or(NEVER, |at_ns| at_ns.saturating_add(self.job.timeout_ns))
    }

    /// The load ends now: pauses must not draw it out.
    pub(super) fn shorten_pauses(&mut self) {
        let latest_ns = self.latest_end_ns();
        for slot in 0..self.connections.len() as u32 {
            let connection = &self.connections[slot as usize];
            if connection.within.pause_until_ns > 0 && connection.deadline_ns > latest_ns {
                self.set_deadline(slot, latest_ns);
            }
        }
    }

    /// A pause within a request is over.
    pub(super) fn end_pause(&mut self, slot: u32, until_ns: u64, now_ns: u64) {
        let connection = &mut self.connections[slot as usize];
        if connection.within.pause_until_ns != until_ns || connection.request.is_none() {
            return;
        }
        connection.within.pause_until_ns = 0;
        let next = connection.talk.go_on();
        let at_ns = if self.computes { self.clock.now() } else { now_ns };
        match next {
            Next::Send => drop(self.go_on_with(slot, next, at_ns)),
            next => self.on_begun(slot, next, at_ns),
        }
    }

    /// Opens the account of the part whose reply is awaited now, unless it is open.
    fn begin_part(&mut self, slot: u32) {
        let connection = &mut self.connections[slot as usize];
        let (Some(request), None) = (connection.request, connection.within.part) else { return };
        let Some(part) = connection.talk.part() else { return };
        let sent_ns = connection.within.sent_ns;
        if let Some(book) = self.books.get_mut(usize::from(part)) {
            book.note_sent(request.intended_ns, sent_ns);
            connection.within.part = Some(PartUnderWay { book: part, sent_ns, first_byte_ns: 0 });
        }
    }

    /// Closes the account of the part under way, if there is one. It belongs to the phase of its request.
    pub(super) fn end_part(&mut self, slot: u32, outcome: Outcome, error: Option<Ending>, at_ns: u64) {
        let connection = &mut self.connections[slot as usize];
        let (Some(request), Some(part)) = (connection.request, connection.within.part.take()) else { return };
        let tally = self.books[usize::from(part.book)].recorder.tally(request.intended_ns);
        tally.note_finished(&Finish {
            intended_ns: part.sent_ns,
            sent_ns: part.sent_ns,
            first_byte_ns: (part.first_byte_ns > 0).then_some(part.first_byte_ns),
            finished_ns: at_ns.max(part.sent_ns),
            outcome,
            status: 0,
        });
        if let Some(Ending { class, code, message, .. }) = error {
            tally.errors.note(class, code, || message);
        }
    }

    /// The load cannot go on, for anybody: all threads leave what is in flight. Only the first of them says why.
    #[cold]
    pub(super) fn break_off(&mut self, words: String) {
        if self.signal.break_off(self.clock.now()) {
            self.broken = Some(words);
        }
    }

    /// The reply of a request that had a part under way: the part ends as the request does.
    #[cold]
    pub(super) fn end_last_part(&mut self, slot: u32, reply: &Reply, at_ns: u64) {
        let outcome = if reply.refusal.is_none() { Outcome::Ok } else { Outcome::Rejected };
        let words = reply.refusal.map(|refusal| Ending {
            outcome,
            class: refusal.class,
            code: refusal.code,
            message: self.connections[slot as usize].talk.explain(refusal),
        });
        self.end_part(slot, outcome, words, at_ns);
    }
}
