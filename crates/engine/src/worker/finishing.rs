//! Requests at their end, and what their connection does next.

use load::SECOND_NS;
use record::{Finish, Outcome, Phase, Sampled, class};
use wire::{Conversation, Refusal, Reply, Script, Stage};

use super::Worker;
use crate::connection::{InFlight, Link, NEVER};
use crate::endings::Ending;

const BACK_OFF_FIRST_NS: u64 = SECOND_NS / 100;
const BACK_OFF_MAX_NS: u64 = SECOND_NS;

impl<S: Script> Worker<'_, S> {
    /// A reply is complete.
    #[inline]
    pub(super) fn on_reply(&mut self, slot: u32, reply: Reply, at_ns: u64) {
        if self.connections[slot as usize].within.part.is_some() {
            self.end_last_part(slot, &reply, at_ns);
        }
        let connection = &mut self.connections[slot as usize];
        let was_whole = connection.has_sent_all();
        // A server may say no before it has read everything (RFC 9112, 9.3); it cannot have done what it has not read.
        if !was_whole && reply.refusal.is_none() && reply.status < 400 {
            return self.end_connection(slot, Ending::early_reply(), at_ns);
        }
        let Some(request) = connection.request.take() else { return };
        connection.free_ns = at_ns;
        self.signals.ended(&request, at_ns);
        self.signals.replied(request.intended_ns, reply.received_bytes);
        let outcome = if reply.refusal.is_none() { Outcome::Ok } else { Outcome::Rejected };
        if outcome == Outcome::Ok {
            self.signals.answered_ok(request.intended_ns, at_ns);
            let to_ns = at_ns.min(self.stop.at_ns.unwrap_or(NEVER));
            self.signals.waited(connection.asking_since_ns, to_ns, connection.is_asking_again);
            (connection.asking_since_ns, connection.is_asking_again) = (NEVER, false);
        } else {
            connection.is_asking_again = true;
        }
        let finish = finish(&request, at_ns, outcome, reply.status);
        let step = connection.step;
        let recorder = &mut self.books[usize::from(step)].recorder;
        recorder.finished(&finish);
        if let Some(refusal) = reply.refusal {
            let errors = &mut recorder.tally(request.intended_ns).errors;
            errors.note(refusal.class, refusal.code, || connection.talk.explain(refusal));
        }
        if recorder.phase(request.intended_ns) == Phase::Measured {
            connection.totals.note(at_ns.saturating_sub(request.intended_ns));
        }
        self.sample(slot, finish, reply.received_bytes);
        if let Some(late_reading) = &mut self.late_reading {
            late_reading.note_reply(&reply);
        }
        let connection = &mut self.connections[slot as usize];
        connection.served = connection.served.saturating_add(1);
        connection.failures = 0;
        connection.deadline_ns = NEVER;
        self.in_flight -= 1;
        // A reply to half a request says that the other half is not wanted: it would be read as the next one.
        if !(reply.reusable && connection.keeps_alive && was_whole && !connection.hung_up) {
            self.close(slot);
        }
        match reply.refusal {
            Some(refusal) if refusal.class == Refusal::SCRIPT_STOPPED => {
                self.stop_user(slot, refusal, &request, at_ns)
            }
            _ => self.go_on(slot, &request, at_ns, outcome == Outcome::Ok, 0),
        }
    }

    /// Offers a request that has ended to the log, if there is one, before its slot goes on.
    #[inline]
    fn sample(&mut self, slot: u32, finish: Finish, received_bytes: u64) {
        let connection = &self.connections[slot as usize];
        let recorder = &mut self.books[usize::from(connection.step)].recorder;
        if !recorder.logs() {
            return;
        }
        recorder.sample(Sampled {
            finish,
            connection: self.first_number + slot,
            connect_ns: if connection.served == 0 { connection.connect_ns } else { 0 },
            received_bytes,
            sent_bytes: connection.within.sent_bytes,
        });
    }

    /// Nothing usable will come over this connection any more. Its request, if it carries one, ends with it.
    #[cold]
    pub(super) fn end_connection(&mut self, slot: u32, ending: Ending, at_ns: u64) {
        if ending.class == class::UNSOLICITED_REPLY.name {
            self.signals.doubted_replies += u64::from(self.connections[slot as usize].served);
        }
        if self.connections[slot as usize].request.is_some() {
            return self.end_without_reply(slot, ending, at_ns);
        }
        match self.connections[slot as usize].link {
            Link::Shaking { .. } | Link::Greeting { .. } => self.opening_failed(ending),
            // A peer may close a connection that carries nothing; what it may not do is speak.
            _ if [&class::EXCESS_BYTES, &class::UNSOLICITED_REPLY]
                .iter()
                .any(|class| class.name == ending.class) =>
            {
                let meaning = if ending.class == class::UNSOLICITED_REPLY.name {
                    "earlier replies on it are in doubt"
                } else {
                    "no request was affected"
                };
                let message = format!("{} (on an idle connection; {meaning})", ending.message);
                let recorder = &mut self.books[usize::from(self.connections[slot as usize].step)].recorder;
                recorder.tally(at_ns).errors.note(ending.class, u32::MAX, || message);
            }
            _ => {}
        }
        self.close(slot);
    }

    /// A request ends without a reply, and its connection with it.
    #[cold]
    pub(super) fn end_without_reply(&mut self, slot: u32, ending: Ending, at_ns: u64) {
        if self.connections[slot as usize].within.part.is_some() {
            self.end_part(slot, ending.outcome, Some(ending.clone()), at_ns);
        }
        let connection = &mut self.connections[slot as usize];
        let Some(request) = connection.request.take() else { return };
        connection.free_ns = at_ns;
        self.signals.ended(&request, at_ns);
        let finish = finish(&request, at_ns, ending.outcome, 0);
        let step = usize::from(connection.step);
        self.books[step].recorder.finished(&finish);
        self.sample(slot, finish, 0);
        let tally = self.books[step].recorder.tally(request.intended_ns);
        tally.errors.note(ending.class, ending.code, || ending.message);
        self.in_flight -= 1;
        let connection = &mut self.connections[slot as usize];
        let had_served = connection.served > 0;
        connection.is_asking_again = true;
        connection.failures = connection.failures.saturating_add(1);
        let failures = connection.failures;
        self.close(slot);
        // A connection that had served and then broke may be replaced at once; one that never came about may not.
        let back_off_ns = if had_served && failures == 1 { 1 } else { self.back_off_ns(failures) };
        self.go_on(slot, &request, at_ns, false, back_off_ns);
    }

    /// 10 ms, doubled for each failure in a row up to 1 s, of which up to half is taken off by chance.
    fn back_off_ns(&mut self, failures: u32) -> u64 {
        let longest_ns =
            BACK_OFF_FIRST_NS.saturating_mul(1 << failures.saturating_sub(1).min(20)).min(BACK_OFF_MAX_NS);
        longest_ns - (self.chance.unit() * longest_ns as f64 / 2.0) as u64
    }

    /// The deadline of a slot has passed.
    pub(super) fn on_deadline(&mut self, slot: u32, now_ns: u64) {
        let connection = &self.connections[slot as usize];
        if connection.within.pause_until_ns > 0 && connection.request.is_some() {
            return self.leave(slot, now_ns);
        }
        self.cancel(slot, now_ns);
        let connection = &self.connections[slot as usize];
        let ending = match (&connection.link, connection.request) {
            (Link::Down | Link::Connecting { .. }, _) => {
                Ending::timed_out(&class::TIMEOUT_CONNECT, "a connection")
            }
            (Link::Shaking { .. }, _) => Ending::timed_out(&class::TIMEOUT_TLS, "the TLS handshake"),
            (Link::Greeting { .. }, _) => Ending::timed_out(&class::TIMEOUT_LOGIN, "the log-in"),
            (Link::Up { .. }, Some(_))
                if self.has_unsent(slot) && connection.talk.stage() != Stage::InDoubt =>
            {
                Ending::timed_out(&class::TIMEOUT_SEND, "the target to take the whole request")
            }
            (Link::Up { .. } | Link::Embedded, _) => Ending::reply_timed_out(connection.talk.stage()),
        };
        self.end_connection(slot, ending, now_ns);
    }

    /// Leaves everything in flight where it is: the run ends now.
    pub(super) fn abandon(&mut self, now_ns: u64) {
        for slot in 0..self.connections.len() as u32 {
            self.leave_request(slot, now_ns);
        }
    }

    /// Users who were still asking for an answer when the load ended have waited for it in vain.
    pub(super) fn end_waits(&mut self, now_ns: u64) {
        let to_ns = now_ns.min(self.stop.at_ns.unwrap_or(NEVER));
        for connection in self.connections.iter().filter(|connection| connection.asking_since_ns != NEVER) {
            self.signals.waited(connection.asking_since_ns, to_ns, true);
        }
    }

    fn leave_request(&mut self, slot: u32, now_ns: u64) -> Option<InFlight> {
        self.end_part(slot, Outcome::Unfinished, None, now_ns);
        let connection = &mut self.connections[slot as usize];
        let request = connection.request.take()?;
        connection.free_ns = now_ns;
        self.signals.left(request.intended_ns, now_ns);
        let recorder = &mut self.books[usize::from(connection.step)].recorder;
        recorder.finished(&finish(&request, now_ns, Outcome::Unfinished, 0));
        self.in_flight -= 1;
        Some(request)
    }

    /// Leaves a request in its pause: the load has ended, and the pause has not.
    fn leave(&mut self, slot: u32, now_ns: u64) {
        let Some(request) = self.leave_request(slot, now_ns) else { return };
        self.close(slot);
        self.go_on(slot, &request, now_ns, false, 0);
    }
}

fn finish(request: &InFlight, finished_ns: u64, outcome: Outcome, status: u16) -> Finish {
    Finish {
        intended_ns: request.intended_ns,
        sent_ns: request.sent_ns,
        first_byte_ns: (request.first_byte_ns > 0).then_some(request.first_byte_ns),
        finished_ns,
        outcome,
        status,
    }
}
