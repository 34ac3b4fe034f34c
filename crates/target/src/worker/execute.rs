//! Execution of requests: slots, holds, and work for other threads.

use super::{Task, Worker, WorkerHandle};
use crate::connection::Phase;
use crate::endpoints::{self, Work};
use crate::gate::{Admission, Job, Slot};
use crate::mailbox::ReactorMessage;
use crate::reply::{self, Body, Reply};
use crate::request::ParsedRequest;
use crate::slab::Token;
use crate::timers::{Hold, TimerKind};
use std::time::Instant;

impl Worker {
    pub(super) fn begin(&mut self, token: Token, parsed_request: ParsedRequest) {
        let Some(connection) = self.connections.get(token) else { return };
        if matches!(parsed_request.work, Work::Counters) {
            connection.head_only = parsed_request.head_only;
            connection.connection_header = parsed_request.connection;
            return self
                .answer_uncounted(token, &endpoints::counted(&self.shared.counters(), self.shared.instance));
        }
        self.worker_handle.tally.requests.add_one();
        connection.served += 1;
        let age = self.shared.age(self.now);
        if self.shared.settings.hang.is_some_and(|hang| hang.applies_to(connection.number, age)) {
            connection.phase = Phase::Hanging;
            return;
        }
        connection.head_only = parsed_request.head_only;
        let last = self.shared.settings.requests_per_connection == Some(connection.served);
        connection.connection_header =
            if last { reply::Connection::Close } else { parsed_request.connection };
        if let Some(Err(wait)) = self.shared.limiter.as_ref().map(|limiter| limiter.take(self.now)) {
            self.worker_handle.tally.rate_limited.add_one();
            let reply = Reply::fixed(429, "too many requests\n").with("retry-after", wait.as_secs() + 1);
            return self.render(token, &reply);
        }
        if self.shared.troubles.rejects(self.now) {
            return self.render(token, &Reply::fixed(503, "out of order\n"));
        }
        match self.worker_handle.gate.admit(Job { token, parsed_request, arrived: self.now }) {
            Admission::Start(Job {
                parsed_request: ParsedRequest { work: Work::Ready(reply), .. }, ..
            }) => {
                self.render(token, &reply);
                self.release(Slot::Running);
            }
            Admission::Start(job) => {
                connection.executing = true;
                self.start(job);
            }
            Admission::Queued => connection.executing = true,
            Admission::Full => {
                self.worker_handle.tally.queue_rejected.add_one();
                self.render(token, &Reply::fixed(503, "queue full\n"));
            }
        }
    }

    pub(super) fn start(&mut self, job: Job) {
        let Job { token, parsed_request: ParsedRequest { work, body, .. }, arrived } = job;
        match work {
            Work::Ready(reply) => self.on_executed(token, reply, Slot::Running),
            Work::Help => {
                self.on_executed(token, Reply::text(200, self.shared.help.as_str()), Slot::Running);
            }
            // Normally answered before admission, without counting the request.
            Work::Counters => {
                self.on_executed(
                    token,
                    endpoints::counted(&self.shared.counters(), self.shared.instance),
                    Slot::Running,
                );
            }
            Work::Echo => {
                let reply = Reply { status: 200, headers: Vec::new(), body: Body::Owned(body) };
                self.on_executed(token, reply, Slot::Running);
            }
            Work::Hold(distribution) => {
                let started = Instant::now();
                let age = self.shared.age(started);
                let drawn = self.shared.settings.pace.stretch(self.stream.draw(distribution), age);
                let drawn = self.shared.troubles.stretch(drawn, started);
                let hold = Hold { token, queued: started.saturating_duration_since(arrived), started, drawn };
                self.timers.push(started + drawn, TimerKind::Held(hold));
                self.block();
            }
            Work::Compute(task) if self.shared.settings.threads == 0 => {
                let reply = (task.run)(task.argument, &self.shared.stop);
                self.on_executed(token, reply, Slot::Running);
            }
            Work::Compute(task) => self.worker_handle.gate.assign(token, task),
            Work::Insert { email } => match endpoints::email_of(email, &body) {
                Ok(email) => {
                    self.block();
                    self.insert(token, email);
                }
                Err(reply) => self.on_executed(token, reply, Slot::Running),
            },
        }
    }

    fn insert(&self, token: Token, email: String) {
        let WorkerHandle { mailbox, gate, .. } = self.worker_handle.clone();
        let answer = move |outcome, waited| {
            let next = gate.release(Slot::Blocked);
            mailbox.post(ReactorMessage::Done { token, reply: endpoints::inserted(&outcome, waited) });
            if let Some(job) = next {
                mailbox.post(ReactorMessage::Start(job));
            }
        };
        self.shared.database.insert(email, Box::new(answer));
    }

    pub(super) fn held(&mut self, hold: &Hold) {
        let service = hold.started.elapsed();
        if self.shared.settings.log_service && !self.shared.service_log.note(service.as_micros() as u64) {
            self.worker_handle.tally.unlogged.add_one();
        }
        self.on_executed(hold.token, endpoints::held(hold.queued, hold.drawn, service), Slot::Blocked);
    }

    fn on_executed(&mut self, token: Token, reply: Reply, slot: Slot) {
        // Starts the next request before replying, so that the reply does not use time of the slot.
        self.release(slot);
        self.tasks.push_back(Task::Answer { token, reply });
    }

    /// Marks the started request as blocked. A growing pool admits the next request.
    fn block(&mut self) {
        let next = self.worker_handle.gate.block();
        self.tasks.extend(next.map(Task::Start));
    }

    fn release(&mut self, slot: Slot) {
        let next = self.worker_handle.gate.release(slot);
        self.tasks.extend(next.map(Task::Start));
    }
}
