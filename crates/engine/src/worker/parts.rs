//! Requests of several parts: the continuation after the reply to a part, and the accounts of parts.

use std::num::NonZero;

use record::{Finish, Outcome};
use wire::{Next, PartEnd, Reply, Ticket};

use super::Worker;
use crate::endings::Ending;
use crate::exchange::{Attempt, Part};
use crate::link::Sending;
use crate::timers::{NEVER, Reason};

/// State of a request after an event on its link.
pub(super) enum RequestState {
    /// Request continues.
    Continues,
    /// Request, or the load, is over.
    Over,
}

impl Worker<'_> {
    /// Sends the pending bytes of a user's request, and opens the account of its part if it has one.
    #[inline]
    pub(super) fn send(&mut self, user: u32, link: u32, sent_ns: u64) {
        if self.job.parts > 0 {
            if let Some(exchange) = &mut self.users[user as usize].exchange {
                exchange.part_sent_ns = sent_ns;
            }
            self.begin_part(user);
        }
        // Requests that follow from the replies of one read are sent in one write, after all replies are processed.
        if self.processing_link != Some(link) {
            self.flush(link);
        }
    }

    /// Acts on `next` of a request that was begun, or that continues after a pause, and that need not send first.
    #[cold]
    pub(super) fn on_begun(&mut self, user: u32, next: Next, at_ns: u64) {
        let Some(exchange) = self.users[user as usize].exchange else { return };
        match next {
            // Ended in this turn's loop, not recursively, because the user may make another request immediately.
            Next::Done(reply) => {
                let generation = self.links[exchange.link as usize].generation;
                self.immediate_replies.push_back((user, exchange.link, generation, reply));
            }
            next => drop(self.act_on_next(user, next, at_ns)),
        }
    }

    /// Ends requests that were complete as soon as they began; each user's at most once per turn.
    pub(super) fn end_immediate(&mut self) {
        for _ in 0..self.immediate_replies.len() {
            let Some((user, link, generation, reply)) = self.immediate_replies.pop_front() else { return };
            if self.links[link as usize].generation == generation {
                let now_ns = self.clock.now();
                self.on_reply(user, reply, now_ns);
                if self.links[link as usize].is_multiplexed() {
                    self.settle_link(link, now_ns);
                }
            }
        }
    }

    /// Handles the end of the reply to a part: closes the account of the part and continues the request.
    pub(super) fn on_answered(
        &mut self,
        user: u32,
        part: Option<PartEnd>,
        next: Next,
        at_ns: u64,
    ) -> RequestState {
        // Replies that trigger further sends must be read when they arrive.
        self.late_reading = None;
        let Some(exchange) = &mut self.users[user as usize].exchange else { return RequestState::Over };
        exchange.attempt = Attempt::PartReplied;
        let link = exchange.link;
        if let Some(PartEnd { rejection, .. }) = part {
            let outcome = if rejection.is_none() { Outcome::Ok } else { Outcome::Rejected };
            let channel = &self.links[exchange.link as usize].channel;
            let words = rejection.map(|rejection| {
                let message = channel.explain(rejection);
                Ending { outcome, class: rejection.class, code: rejection.code, message }
            });
            self.end_part(user, outcome, words, at_ns);
        }
        // Unsent bytes would mix with the bytes that follow, since the server has not read them.
        let carrier = &self.links[link as usize];
        let is_cut = carrier.sending != Sending::Done && !carrier.is_multiplexed();
        if is_cut && matches!(next, Next::Send | Next::Reopen) {
            self.end_link(link, Ending::early_reply(), at_ns);
            return RequestState::Over;
        }
        // Computing with the reply took time after it was read.
        let now_ns =
            if self.searches_replies && !matches!(next, Next::Done(_)) { self.clock.now() } else { at_ns };
        self.act_on_next(user, next, now_ns)
    }

    /// Does what the channel needs next for the request of a user.
    fn act_on_next(&mut self, user: u32, next: Next, at_ns: u64) -> RequestState {
        let Some(exchange) = self.users[user as usize].exchange else { return RequestState::Over };
        match next {
            Next::Send => self.send(user, exchange.link, at_ns),
            Next::Await => {
                self.begin_part(user);
                if self.embedding.is_some() {
                    self.queue_call(exchange.link);
                }
            }
            Next::Pause { ns } => self.pause(user, ns, at_ns),
            Next::Reopen => {
                self.reopen(user, exchange.link, at_ns);
                return RequestState::Over;
            }
            Next::Done(reply) => {
                self.on_reply(user, reply, at_ns);
                return RequestState::Over;
            }
            Next::Broken(words) => {
                self.abort_load(words);
                return RequestState::Over;
            }
        }
        RequestState::Continues
    }

    /// Continues a request on a new connection.
    pub(super) fn reopen(&mut self, user: u32, link: u32, at_ns: u64) {
        self.close(link);
        let Some(exchange) = &mut self.users[user as usize].exchange else { return };
        exchange.is_begun = false;
        let latest_ns = exchange.begun_ns.saturating_add(self.job.timeout_ns);
        let deadline_ns = at_ns.saturating_add(self.job.opening_timeout_ns()).min(latest_ns);
        self.set_deadline(user, deadline_ns);
        self.dial(link, at_ns);
    }

    /// Pauses within a request: nothing is sent for `ns`, and the deadline moves by the pause.
    fn pause(&mut self, number: u32, ns: u64, at_ns: u64) {
        let until_ns = at_ns.saturating_add(ns).max(1);
        let latest_ns = self.latest_end_ns();
        let Some(exchange) = &mut self.users[number as usize].exchange else { return };
        exchange.pause_until_ns = until_ns;
        let deadline_ns = exchange.deadline_ns.saturating_add(ns).min(latest_ns.max(exchange.deadline_ns));
        self.set_deadline(number, deadline_ns);
        self.timers.set(until_ns, number, Reason::EndPause);
    }

    /// Returns the latest end of requests, pauses included: the request time-out after the end of the load.
    fn latest_end_ns(&self) -> u64 {
        self.stop.at_ns.map_or(NEVER, |at_ns| at_ns.saturating_add(self.job.timeout_ns))
    }

    /// Shortens deadlines of paused requests, since the load ends now.
    pub(super) fn shorten_pauses(&mut self) {
        let latest_ns = self.latest_end_ns();
        for number in 0..self.users.len() as u32 {
            if let Some(exchange) = self.users[number as usize].exchange
                && exchange.pause_until_ns > 0
                && exchange.deadline_ns > latest_ns
            {
                self.set_deadline(number, latest_ns);
            }
        }
    }

    /// Continues a request after a pause within it.
    pub(super) fn end_pause(&mut self, user: u32, until_ns: u64, now_ns: u64) {
        let Some(exchange) = &mut self.users[user as usize].exchange else { return };
        if exchange.pause_until_ns != until_ns {
            return;
        }
        exchange.pause_until_ns = 0;
        let next = self.links[exchange.link as usize].channel.resume(Ticket(user));
        let at_ns = if self.searches_replies { self.clock.now() } else { now_ns };
        match next {
            Next::Send => drop(self.act_on_next(user, next, at_ns)),
            next => self.on_begun(user, next, at_ns),
        }
    }

    /// Opens the account of the part whose reply is awaited, unless it is open.
    fn begin_part(&mut self, user: u32) {
        let Some(exchange) = &mut self.users[user as usize].exchange else { return };
        if exchange.part.is_some() {
            return;
        }
        let link = &self.links[exchange.link as usize];
        let Some(part) = link.channel.part(Ticket(user)) else { return };
        let part = part.saturating_add(self.part_offset[usize::from(link.peer)]);
        if let (Some(account), Some(number)) = (self.accounts.get_mut(usize::from(part)), NonZero::new(part))
        {
            account.note_sent(exchange.intended_ns, exchange.part_sent_ns);
            exchange.part = Some(Part { account: number, sent_ns: exchange.part_sent_ns, first_byte_ns: 0 });
        }
    }

    /// Closes the account of the current part, if there is one. The part counts in the phase of its request.
    pub(super) fn end_part(&mut self, user: u32, outcome: Outcome, error: Option<Ending>, at_ns: u64) {
        let Some(exchange) = &mut self.users[user as usize].exchange else { return };
        let Some(part) = exchange.part.take() else { return };
        let tally = self.accounts[usize::from(part.account.get())].recorder.tally(exchange.intended_ns);
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

    /// Ends the load for all threads. Only the first thread to do so keeps the reason.
    #[cold]
    pub(super) fn abort_load(&mut self, words: String) {
        if self.signal.abort_load(self.clock.now()) {
            self.broken = Some(words);
        }
    }

    /// Closes the account of the last part of a request together with the request.
    #[cold]
    pub(super) fn end_last_part(&mut self, user: u32, link: u32, reply: &Reply, at_ns: u64) {
        let outcome = if reply.rejection.is_none() { Outcome::Ok } else { Outcome::Rejected };
        let words = reply.rejection.map(|rejection| Ending {
            outcome,
            class: rejection.class,
            code: rejection.code,
            message: self.links[link as usize].channel.explain(rejection),
        });
        self.end_part(user, outcome, words, at_ns);
    }
}
