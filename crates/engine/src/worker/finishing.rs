//! Ends of requests: recording of the outcome, and the next action of the connection.

use load::SECOND_NS;
use record::{ErrorClass, Finish, Loss, Outcome, Phase, Sampled};
use wire::{PeerFault, Reply, Stage, Ticket};

use super::Worker;
use crate::endings::Ending;
use crate::exchange::Exchange;
use crate::link::{Link, Sending, State};
use crate::step_account::StepAccount;
use crate::timers::Reason;

const BACK_OFF_FIRST_NS: u64 = SECOND_NS / 100;
const BACK_OFF_MAX_NS: u64 = SECOND_NS;

impl Worker<'_> {
    /// Handles the complete reply to the request of a user.
    #[inline]
    pub(super) fn on_reply(&mut self, number: u32, reply: Reply, at_ns: u64) {
        let Some(exchange) = &self.users[number as usize].exchange else { return };
        let link_number = exchange.link;
        if exchange.part.is_some() {
            self.end_last_part(number, link_number, &reply, at_ns);
        }
        let link = &mut self.links[link_number as usize];
        let was_whole = link.is_multiplexed() || link.sending == Sending::Done;
        // A server may reject a request before it has read all of it (RFC 9112, section 9.3). It cannot have carried out what it
        // has not read.
        if !was_whole && reply.rejection.is_none() && reply.status < 400 {
            return self.end_link(link_number, Ending::early_reply(), at_ns);
        }
        let user = &mut self.users[number as usize];
        let Some(exchange) = user.exchange.take() else { return };
        link.carried.remove(number);
        user.free_ns = at_ns;
        self.signals.ended(&exchange, user.lag_ns, at_ns);
        self.signals.count_reply_bytes(exchange.intended_ns, reply.received_bytes);
        let outcome = if reply.rejection.is_none() { Outcome::Ok } else { Outcome::Rejected };
        match outcome {
            Outcome::Ok => self.end_wait(number, exchange.intended_ns, at_ns),
            _ => self.note_unanswered(number, outcome),
        }
        let user = &mut self.users[number as usize];
        let link = &mut self.links[link_number as usize];
        let finish = finish(&exchange, at_ns, outcome, reply.status);
        let StepAccount { recorder, contents, .. } = &mut self.accounts[usize::from(exchange.step)];
        recorder.finished(&finish);
        if let Some(rejection) = reply.rejection {
            self.signals.count_loss(Loss::of(rejection.class), exchange.intended_ns, at_ns);
            let errors = &mut recorder.tally(exchange.intended_ns).errors;
            errors.note(rejection.class, rejection.code, || link.channel.explain(rejection));
        }
        let is_measured = recorder.phase(exchange.intended_ns) == Phase::Measured;
        contents.note(&link.channel.content(Ticket(number)), is_measured);
        let response_ns = at_ns.saturating_sub(exchange.intended_ns);
        self.totals[link.number as usize].note_reply(is_measured.then_some(response_ns));
        if recorder.logs() {
            let first = self.first_numbers[usize::from(link.peer)];
            recorder.sample(log_entry(finish, &exchange, link, first, reply.received_bytes));
        }
        self.late_reading.iter_mut().for_each(|late_reading| late_reading.note_reply(&reply));
        if self.keeps_values {
            link.channel.saved(Ticket(number), &mut user.values);
            user.status = reply.status;
        }
        (link.served, link.failures) = (link.served.saturating_add(1), 0);
        link.note_idle_max(at_ns, reply.idle_max_s);
        self.in_flight -= 1;
        if !self.address_accounts.is_empty() {
            self.note_reply_at_address(&exchange, &finish, &reply);
        }
        let link = self.retire_expired(link_number, at_ns);
        let stopped = reply.rejection.filter(|rejection| rejection.class == ErrorClass::ScriptStopped);
        let stopped = stopped.map(|rejection| link.channel.explain(rejection));
        // The rest of a request that was answered early must not be sent: the server would read it as the next request.
        if !(was_whole && link.is_reusable_after(&reply)) && link.carried.is_empty() {
            self.close(link_number);
        }
        self.dispatch.update(&self.links, link_number);
        if self.dispatch.has_waiting() {
            self.fill_room(self.links[link_number as usize].peer, at_ns);
        }
        match stopped {
            Some(words) => self.stop_user(number, words, &exchange, at_ns),
            None => self.resume_user(number, &exchange, at_ns, outcome == Outcome::Ok, 0),
        }
    }

    /// Counts a reply in the account of the address that it came from.
    #[cold]
    fn note_reply_at_address(&mut self, exchange: &Exchange, finish: &Finish, reply: &Reply) {
        let channel = &self.links[exchange.link as usize].channel;
        let error = reply.rejection.map(|rejection| Ending {
            outcome: finish.outcome,
            class: rejection.class,
            code: rejection.code,
            message: channel.explain(rejection),
        });
        self.note_at_address(exchange, finish, error.as_ref());
    }

    /// Counts a finished request in the account of its link's address, if the address has one.
    #[cold]
    fn note_at_address(&mut self, exchange: &Exchange, finish: &Finish, error: Option<&Ending>) {
        let Some(first) = self.address_accounts.get(usize::from(exchange.step)) else { return };
        let link = &self.links[exchange.link as usize];
        let Some(number) = first.at(link.peer, link.address) else { return };
        let account = &mut self.accounts[number];
        account.note_sent(finish.intended_ns, finish.sent_ns);
        account.recorder.finished(finish);
        if let Some(Ending { class, code, message, .. }) = error {
            account.recorder.tally(finish.intended_ns).errors.note(*class, *code, || message.clone());
        }
    }

    /// Closes a link that can deliver no more replies. The requests that it carries fail with `ending`.
    #[cold]
    pub(super) fn end_link(&mut self, number: u32, ending: Ending, at_ns: u64) {
        let link = &self.links[number as usize];
        if ending.class == ErrorClass::UnsolicitedReply {
            self.signals.doubted_replies += u64::from(link.served);
        }
        if link.is_opening() {
            if self.try_next_address(number, at_ns) {
                return;
            }
            self.note_reachable(number, false);
        }
        let link = &self.links[number as usize];
        if !link.carried.is_empty() {
            if ending.class == ErrorClass::StaleReuse && self.retry_stale_request(number, &ending, at_ns) {
                return;
            }
            return self.end_carried(number, &ending, at_ns);
        }
        match link.state {
            State::Connecting { .. } | State::Shaking { .. } | State::Greeting { .. } => {
                self.on_open_failed(ending);
            }
            // A peer may close an idle connection, but must not send anything on it.
            _ if matches!(ending.class, ErrorClass::ExcessBytes | ErrorClass::UnsolicitedReply) => {
                let meaning = if ending.class == ErrorClass::UnsolicitedReply {
                    "earlier replies on it are in doubt"
                } else {
                    "no request was affected"
                };
                let message = format!("{} (on an idle connection; {meaning})", ending.message);
                let recorder = &mut self.accounts[usize::from(link.step)].recorder;
                recorder.tally(at_ns).errors.note(ending.class, u32::MAX, || message);
            }
            _ => {}
        }
        self.close(number);
    }

    /// Fails all requests of a link, and closes its connection.
    #[cold]
    pub(super) fn end_carried(&mut self, number: u32, ending: &Ending, at_ns: u64) {
        let users: Vec<u32> = self.links[number as usize].carried.users().collect();
        let ended: Vec<(u32, Exchange)> =
            users.into_iter().filter_map(|user| Some((user, self.fail(user, ending, at_ns)?))).collect();
        let link = &mut self.links[number as usize];
        let (had_served, peer) = (link.served > 0, link.peer);
        link.failures = link.failures.saturating_add(1);
        let failures = link.failures;
        self.close(number);
        // A connection that served requests before it broke may be replaced immediately; one that failed to open may not.
        let may_be_replaced = had_served && failures == 1;
        if self.dispatch.has_waiting_at(peer) {
            // A later turn, so that exchanges that cannot be sent either do not fail recursively.
            let back_off_ns = if may_be_replaced { 1 } else { self.back_off_ns(failures) };
            self.timers.set(at_ns + back_off_ns, u32::from(peer), Reason::Room);
        }
        for (user, exchange) in ended {
            let back_off_ns = if may_be_replaced { 1 } else { self.back_off_ns(failures) };
            self.resume_user(user, &exchange, at_ns, false, back_off_ns);
        }
    }

    /// Ends the request of a user without a reply. Returns the exchange; `None` if the user had none.
    #[cold]
    fn fail(&mut self, number: u32, ending: &Ending, at_ns: u64) -> Option<Exchange> {
        self.end_part(number, ending.outcome, Some(ending.clone()), at_ns);
        let user = &mut self.users[number as usize];
        let exchange = user.exchange.take()?;
        let link = &mut self.links[exchange.link as usize];
        link.carried.remove(number);
        link.was_left_in_pause |= exchange.pause_until_ns > 0;
        user.free_ns = at_ns;
        self.signals.ended(&exchange, user.lag_ns, at_ns);
        self.note_unanswered(number, ending.outcome);
        let link = &mut self.links[exchange.link as usize];
        self.signals.count_loss(Loss::of(ending.class), exchange.intended_ns, at_ns);
        let finish = finish(&exchange, at_ns, ending.outcome, 0);
        let recorder = &mut self.accounts[usize::from(exchange.step)].recorder;
        recorder.finished(&finish);
        if recorder.logs() {
            recorder.sample(log_entry(
                finish,
                &exchange,
                link,
                self.first_numbers[usize::from(link.peer)],
                0,
            ));
        }
        let errors = &mut recorder.tally(exchange.intended_ns).errors;
        errors.note(ending.class, ending.code, || ending.message.clone());
        self.in_flight -= 1;
        self.note_at_address(&exchange, &finish, Some(ending));
        self.dispatch.update(&self.links, exchange.link);
        Some(exchange)
    }

    /// Returns the back-off after consecutive failures: 10 ms, doubled with each failure up to 1 s, less a random part of up to half.
    fn back_off_ns(&mut self, failures: u8) -> u64 {
        let longest_ns =
            BACK_OFF_FIRST_NS.saturating_mul(1 << failures.saturating_sub(1).min(20)).min(BACK_OFF_MAX_NS);
        longest_ns - (self.chance.unit() * longest_ns as f64 / 2.0) as u64
    }

    /// Handles the passed deadline of a user's request.
    pub(super) fn on_deadline(&mut self, number: u32, now_ns: u64) {
        if self.users[number as usize].is_in_pause() {
            return self.leave(number, now_ns);
        }
        let Some(Exchange { link: link_number, is_begun, .. }) = self.users[number as usize].exchange else {
            return;
        };
        self.cancel(number, link_number, now_ns);
        let link = &mut self.links[link_number as usize];
        let stage = link.channel.stage(Ticket(number));
        let ending = match &link.state {
            State::Up { .. } if link.sending != Sending::Done && stage != Stage::InDoubt => {
                Ending::timed_out(ErrorClass::TimeoutSend, "the target to take the whole request")
            }
            State::Up { .. } | State::InProcess => Ending::reply_timed_out(stage),
            state => Ending::opening_timed_out(state),
        };
        let can_continue = link.is_multiplexed() && link.is_up();
        let stays_open = can_continue && (!is_begun || link.channel.abandon(Ticket(number)));
        if !stays_open {
            return self.end_link(link_number, ending, now_ns);
        }
        self.fail_alone(number, &ending, now_ns);
        self.settle_link(link_number, now_ns);
    }

    /// Handles a request that the peer ended, while other requests on the link continue.
    #[cold]
    pub(super) fn on_failed(&mut self, number: u32, fault: &PeerFault, at_ns: u64) {
        let user = self.users.get(number as usize);
        let Some(exchange) = user.and_then(|user| user.exchange) else { return };
        self.fail_alone(number, &Ending::fault(fault), at_ns.max(exchange.sent_ns));
    }

    /// Ends the request of a user without a reply. Its link stays open for others.
    fn fail_alone(&mut self, number: u32, ending: &Ending, at_ns: u64) {
        let Some(exchange) = self.fail(number, ending, at_ns) else { return };
        self.fill_room(self.links[exchange.link as usize].peer, at_ns);
        self.resume_user(number, &exchange, at_ns, false, 1);
    }

    /// Abandons all requests in flight as unfinished, when the run is aborted.
    pub(super) fn abandon(&mut self, now_ns: u64) {
        for number in 0..self.users.len() as u32 {
            self.abandon_exchange(number, now_ns);
        }
    }

    fn abandon_exchange(&mut self, number: u32, now_ns: u64) -> Option<Exchange> {
        self.end_part(number, Outcome::Unfinished, None, now_ns);
        let user = &mut self.users[number as usize];
        let exchange = user.exchange.take()?;
        let link = &mut self.links[exchange.link as usize];
        link.carried.remove(number);
        link.was_left_in_pause |= exchange.pause_until_ns > 0;
        user.free_ns = now_ns;
        self.signals.left(exchange.intended_ns, now_ns);
        let recorder = &mut self.accounts[usize::from(exchange.step)].recorder;
        let finish = finish(&exchange, now_ns, Outcome::Unfinished, 0);
        recorder.finished(&finish);
        self.in_flight -= 1;
        self.note_at_address(&exchange, &finish, None);
        self.dispatch.update(&self.links, exchange.link);
        Some(exchange)
    }

    /// Abandons a request in a pause that lasts longer than the load.
    fn leave(&mut self, number: u32, now_ns: u64) {
        let Some(exchange) = self.abandon_exchange(number, now_ns) else { return };
        let link = &mut self.links[exchange.link as usize];
        if link.carried.is_empty() || !link.channel.abandon(Ticket(number)) {
            self.close(exchange.link);
        } else {
            self.settle_link(exchange.link, now_ns);
        }
        self.resume_user(number, &exchange, now_ns, false, 0);
    }
}

fn finish(exchange: &Exchange, finished_ns: u64, outcome: Outcome, status: u16) -> Finish {
    Finish {
        intended_ns: exchange.intended_ns,
        sent_ns: exchange.sent_ns,
        first_byte_ns: (exchange.first_byte_ns > 0).then_some(exchange.first_byte_ns),
        finished_ns,
        outcome,
        status,
    }
}

/// Returns the log entry of an exchange that has ended.
fn log_entry(
    finish: Finish,
    exchange: &Exchange,
    link: &Link,
    first_number: u32,
    received_bytes: u64,
) -> Sampled {
    Sampled {
        finish,
        connection: first_number + link.number,
        connect_ns: if link.served == 0 { link.connect_ns } else { 0 },
        received_bytes,
        sent_bytes: exchange.sent_bytes,
    }
}
