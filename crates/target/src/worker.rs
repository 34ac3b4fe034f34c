//! The reactor: one thread that reads, decides, answers and keeps the time for its connections.

use crate::connection::{Connection, Input, Phase, Sent};
use crate::draw::Stream;
use crate::endpoints::{self, Work};
use crate::gate::{Admission, Gate, Job};
use crate::mailbox::{Letter, Mailbox};
use crate::reply::{self, Body, Reply};
use crate::request::{Order, Step};
use crate::shared::Shared;
use crate::slab::{Slab, Token};
use crate::tally::Tally;
use crate::timers::{Alarm, Hold, Timers};
use rustix::buffer::spare_capacity;
use rustix::event::{Timespec, epoll};
use rustix::fd::{AsFd, OwnedFd};
use rustix::io::Errno;
use std::collections::VecDeque;
use std::num::NonZeroU64;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Events taken from the kernel at once.
const EVENTS: usize = 256;
/// One read; also the output at which pipelined requests wait until it is sent.
const BUFFER_BYTES: usize = 64 * 1024;
/// Reads from one connection before the others have their turn.
const READS: usize = 16;
/// Longest wait for the peer to see the end of a closing connection.
const LINGER: Duration = Duration::from_secs(1);
/// The event data of the bell; no slot reaches it.
const BELL: u64 = u64::MAX;

/// What other threads need to know of a worker.
#[derive(Clone)]
pub(crate) struct Desk {
    pub(crate) mailbox: Arc<Mailbox>,
    pub(crate) gate: Arc<Gate>,
    pub(crate) tally: Arc<Tally>,
}

/// One reactor and its connections.
pub(crate) struct Worker {
    number: usize,
    shared: Arc<Shared>,
    desk: Desk,
    epoll: OwnedFd,
    connections: Slab<Connection>,
    timers: Timers,
    stream: Stream,
    buffer: Vec<u8>,
    /// Replies of the one connection that is being served; always sent or kept by it before another is served.
    out: Vec<u8>,
    /// To be done at the end of this turn.
    tasks: VecDeque<Task>,
    /// Connections that had more to do than one turn allows.
    again: VecDeque<Token>,
    now: Instant,
}

enum Task {
    Start(Job),
    Answer { token: Token, reply: Reply },
}

impl Worker {
    pub(crate) fn new(number: usize, shared: Arc<Shared>, desk: Desk) -> std::io::Result<Self> {
        let epoll = epoll::create(epoll::CreateFlags::CLOEXEC)?;
        let bell = epoll::EventData::new_u64(BELL);
        epoll::add(&epoll, desk.mailbox.bell(), bell, epoll::EventFlags::IN | epoll::EventFlags::ET)?;
        Ok(Self {
            number,
            stream: Stream::new(shared.settings.seed, number),
            shared,
            desk,
            epoll,
            connections: Slab::new(),
            timers: Timers::default(),
            buffer: vec![0; BUFFER_BYTES],
            out: Vec::new(),
            tasks: VecDeque::new(),
            again: VecDeque::new(),
            now: Instant::now(),
        })
    }

    /// Serves until told to stop.
    pub(crate) fn run(mut self) {
        // Without it the kernel may be 50 µs late on purpose; refused, holds are merely less precise.
        let _ = rustix::thread::set_current_timer_slack(NonZeroU64::new(1));
        let mut events = Vec::with_capacity(EVENTS);
        let mut letters = Vec::new();
        while !self.shared.stop.is_set() {
            self.wait(&mut events);
            self.shared.stalls.sit_out(Some(self.number), &self.shared.stop);
            self.now = Instant::now();
            for event in events.drain(..) {
                self.on_event(event);
            }
            self.desk.mailbox.collect(&mut letters);
            for letter in letters.drain(..) {
                self.on_letter(letter);
            }
            while let Some(alarm) = self.timers.pop(self.now) {
                self.on_alarm(alarm);
            }
            for _ in 0..self.again.len() {
                self.go_on();
            }
            // Only what is known now: tasks that follow from these wait until others had their turn.
            for _ in 0..self.tasks.len() {
                self.do_task();
            }
        }
    }

    fn wait(&self, events: &mut Vec<epoll::Event>) {
        let stall = self.shared.stalls.next_begin(self.now);
        let next = self.timers.next().into_iter().chain(stall).min();
        let left = if !self.tasks.is_empty() || !self.again.is_empty() {
            Some(Duration::ZERO)
        } else {
            next.map(|at| at.saturating_duration_since(Instant::now()))
        };
        let timeout = left.and_then(|left| Timespec::try_from(left).ok());
        match epoll::wait(&self.epoll, spare_capacity(events), timeout.as_ref()) {
            Ok(_) | Err(Errno::INTR) => {}
            // Nothing can be served without it, and trying again at once would burn the processor.
            Err(_) => self.shared.stop.set(),
        }
    }

    fn on_event(&mut self, event: epoll::Event) {
        let (flags, data) = (event.flags, event.data.u64());
        if data == BELL {
            return;
        }
        let token = Token::from_u64(data);
        let Some(connection) = self.connections.get(token) else { return };
        let ends = epoll::EventFlags::RDHUP | epoll::EventFlags::HUP | epoll::EventFlags::ERR;
        connection.active = self.now;
        connection.end_told |= flags.intersects(ends);
        connection.readable |= flags.intersects(ends | epoll::EventFlags::IN);
        self.serve(token);
    }

    fn on_letter(&mut self, letter: Letter) {
        match letter {
            Letter::Accepted { socket, tcp } => self.welcome(socket, tcp),
            Letter::Done { token, reply } => self.tasks.push_back(Task::Answer { token, reply }),
            Letter::Start(job) => self.tasks.push_back(Task::Start(job)),
        }
    }

    fn on_alarm(&mut self, alarm: Alarm) {
        match alarm {
            Alarm::Held(hold) => self.held(&hold),
            Alarm::Linger(token) => self.close(token),
            Alarm::Idle(token) => self.check_idle(token),
        }
    }

    fn do_task(&mut self) {
        match self.tasks.pop_front() {
            Some(Task::Start(job)) => self.start(job),
            Some(Task::Answer { token, reply }) => self.answer(token, &reply),
            None => {}
        }
    }

    fn go_on(&mut self) {
        let Some(token) = self.again.pop_front() else { return };
        if let Some(connection) = self.connections.get(token) {
            connection.again = false;
            self.serve(token);
        }
    }

    fn welcome(&mut self, socket: OwnedFd, tcp: bool) {
        if tcp {
            // Best effort: without it only the timing of small replies suffers.
            let _ = rustix::net::sockopt::set_tcp_nodelay(&socket, true);
        }
        let token = self.connections.insert(Connection::new(socket, self.now));
        let Some(connection) = self.connections.get(token) else { return };
        let flags =
            epoll::EventFlags::IN | epoll::EventFlags::OUT | epoll::EventFlags::RDHUP | epoll::EventFlags::ET;
        let data = epoll::EventData::new_u64(token.to_u64());
        if epoll::add(&self.epoll, connection.socket.as_fd(), data, flags).is_err() {
            return self.close(token);
        }
        if let Some(idle) = self.shared.settings.idle {
            self.timers.push(self.now + idle, Alarm::Idle(token));
        }
    }

    fn check_idle(&mut self, token: Token) {
        let (Some(idle), Some(connection)) = (self.shared.settings.idle, self.connections.get(token)) else {
            return;
        };
        let due = if connection.executing { self.now + idle } else { connection.active + idle };
        if due <= self.now {
            self.close(token);
        } else {
            self.timers.push(due, Alarm::Idle(token));
        }
    }

    fn close(&mut self, token: Token) {
        if self.connections.remove(token).is_some() {
            self.desk.tally.closed.add_one();
        }
    }
}

/// Serving a connection: send, read, understand, and again.
impl Worker {
    fn serve(&mut self, token: Token) {
        let mut buffer = std::mem::take(&mut self.buffer);
        let mut reads = 0;
        while self.send(token) {
            let Some(connection) = self.connections.get(token) else { break };
            if reads == READS {
                self.plan_again(token);
                break;
            }
            reads += 1;
            match connection.input(&mut buffer) {
                Input::Fresh(n) => self.understand(token, &buffer[..n]),
                Input::Kept(bytes) => self.understand(token, &bytes),
                Input::Nothing => {
                    if connection.ended && !connection.executing {
                        self.close(token);
                    }
                    break;
                }
                Input::Gone => {
                    self.close(token);
                    break;
                }
            }
        }
        self.buffer = buffer;
    }

    /// Sends what there is; true when all is sent and the connection may go on.
    fn send(&mut self, token: Token) -> bool {
        let Some(connection) = self.connections.get(token) else {
            self.out.clear();
            return false;
        };
        match connection.send(&mut self.out) {
            Sent::All => {}
            Sent::Blocked => return false,
            Sent::TurnOver => {
                self.plan_again(token);
                return false;
            }
            Sent::Gone => {
                self.close(token);
                return false;
            }
        }
        if connection.phase != Phase::Closing {
            return true;
        }
        if connection.unread.is_empty() && !connection.intake.is_midway() && !connection.readable {
            self.close(token);
            return false;
        }
        // Closing a socket with unread input resets it, and the reset may overtake the reply.
        connection.finish();
        connection.unread = Vec::new();
        connection.phase = Phase::Lingering { bytes: 0 };
        self.timers.push(self.now + LINGER, Alarm::Linger(token));
        true
    }

    fn plan_again(&mut self, token: Token) {
        let Some(connection) = self.connections.get(token) else { return };
        if !connection.again {
            connection.again = true;
            self.again.push_back(token);
        }
    }

    fn understand(&mut self, token: Token, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            let Some(connection) = self.connections.get(token) else { return };
            let full = self.out.len() >= BUFFER_BYTES || connection.filler_bytes > 0;
            if connection.executing || connection.phase != Phase::Open || full {
                connection.unread.extend_from_slice(bytes);
                return;
            }
            let (taken, step) = connection.intake.take(bytes);
            bytes = &bytes[taken..];
            match step {
                Step::NeedMore => {}
                Step::Continue => self.out.extend_from_slice(b"HTTP/1.1 100 Continue\r\n\r\n"),
                Step::Complete(order) => self.begin(token, order),
                Step::Bad(reply) => {
                    self.desk.tally.bad_requests.add_one();
                    connection.head_only = false;
                    connection.answer_as = reply::Connection::Close;
                    connection.readable = true;
                    return self.render(token, &reply);
                }
            }
        }
    }

    fn render(&mut self, token: Token, reply: &Reply) {
        let Some(connection) = self.connections.get(token) else { return };
        connection.executing = false;
        connection.active = self.now;
        connection.filler_bytes = reply.render(&mut self.out, connection.head_only, connection.answer_as);
        if connection.answer_as == reply::Connection::Close {
            connection.phase = Phase::Closing;
        }
        self.desk.tally.replied(reply.status);
    }

    /// Answers a request that was in execution, and goes on with the connection.
    fn answer(&mut self, token: Token, reply: &Reply) {
        self.render(token, reply);
        self.serve(token);
    }
}

/// Executing requests.
impl Worker {
    fn begin(&mut self, token: Token, order: Order) {
        let Some(connection) = self.connections.get(token) else { return };
        self.desk.tally.requests.add_one();
        connection.served += 1;
        connection.head_only = order.head_only;
        let last = self.shared.settings.requests_per_connection == Some(connection.served);
        connection.answer_as = if last { reply::Connection::Close } else { order.connection };
        if let Some(Err(wait)) = self.shared.limiter.as_ref().map(|limiter| limiter.take(self.now)) {
            self.desk.tally.rate_limited.add_one();
            let reply = Reply::fixed(429, "too many requests\n").with("retry-after", wait.as_secs() + 1);
            return self.render(token, &reply);
        }
        match self.desk.gate.admit(Job { token, order, arrived: self.now }) {
            Admission::Start(Job { order: Order { work: Work::Ready(reply), .. }, .. }) => {
                self.render(token, &reply);
                self.release();
            }
            Admission::Start(job) => {
                connection.executing = true;
                self.start(job);
            }
            Admission::Waits => connection.executing = true,
            Admission::Full => {
                self.desk.tally.queue_rejected.add_one();
                self.render(token, &Reply::fixed(503, "queue full\n"));
            }
        }
    }

    fn start(&mut self, job: Job) {
        let Job { token, order: Order { work, body, .. }, arrived } = job;
        match work {
            Work::Ready(reply) => self.executed(token, reply),
            Work::Help => self.executed(token, Reply::text(200, self.shared.help.as_str())),
            Work::Echo => {
                self.executed(token, Reply { status: 200, headers: Vec::new(), body: Body::Owned(body) })
            }
            Work::Hold(distribution) => {
                let drawn = self.stream.draw(distribution);
                let started = Instant::now();
                let hold = Hold { token, queued: started.saturating_duration_since(arrived), started, drawn };
                self.timers.push(started + drawn, Alarm::Held(hold));
            }
            Work::Compute(task) if self.shared.settings.threads == 0 => {
                let reply = (task.run)(task.argument, &self.shared.stop);
                self.executed(token, reply);
            }
            Work::Compute(task) => self.desk.gate.assign(token, task),
            Work::Insert { email } => match endpoints::email_of(email, &body) {
                Ok(email) => self.insert(token, email),
                Err(reply) => self.executed(token, reply),
            },
        }
    }

    fn insert(&self, token: Token, email: String) {
        let Desk { mailbox, gate, .. } = self.desk.clone();
        let answer = move |outcome, waited| {
            let next = gate.release();
            mailbox.post(Letter::Done { token, reply: endpoints::inserted(&outcome, waited) });
            if let Some(job) = next {
                mailbox.post(Letter::Start(job));
            }
        };
        self.shared.database.insert(email, Box::new(answer));
    }

    fn held(&mut self, hold: &Hold) {
        let service = hold.started.elapsed();
        if self.shared.settings.log_service && !self.shared.service_log.note(service.as_micros() as u64) {
            self.desk.tally.unlogged.add_one();
        }
        self.executed(hold.token, endpoints::held(hold.queued, hold.drawn, service));
    }

    fn executed(&mut self, token: Token, reply: Reply) {
        // The next request starts before this one is answered, so that answering takes nothing from its slot.
        self.release();
        self.tasks.push_back(Task::Answer { token, reply });
    }

    fn release(&mut self) {
        if let Some(job) = self.desk.gate.release() {
            self.tasks.push_back(Task::Start(job));
        }
    }
}
