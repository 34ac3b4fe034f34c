//! Reactor: one thread that reads, executes, replies, and runs timers for its connections.

mod execute;
mod serve;

use crate::connection::Connection;
use crate::draw::Stream;
use crate::gate::{Gate, Job};
use crate::mailbox::{Mailbox, ReactorMessage};
use crate::reply::Reply;
use crate::shared::Shared;
use crate::slab::{Slab, Token};
use crate::tally::Tally;
use crate::timers::{TimerKind, Timers, WakeUpLead};
use rustix::buffer::spare_capacity;
use rustix::event::{Timespec, epoll};
use rustix::fd::{AsFd, OwnedFd};
use rustix::io::Errno;
use std::collections::VecDeque;
use std::num::NonZeroU64;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Maximum number of events per wait.
const EVENTS_MAX: usize = 256;
/// Size of one read, in bytes. Also the amount of pending output above which pipelined requests wait.
const BUFFER_BYTES: usize = 64 * 1024;
/// Bounds of the interval between searches for idle connections, which is a quarter of the timeout.
const SWEEP_INTERVAL_MIN: Duration = Duration::from_millis(1);
const SWEEP_INTERVAL_MAX: Duration = Duration::from_secs(1);
/// Event data of the message queue; no slot number reaches it.
const MESSAGE_EVENT: u64 = u64::MAX;

/// Handles of a worker for other threads.
#[derive(Clone)]
pub(crate) struct WorkerHandle {
    pub(crate) mailbox: Arc<Mailbox>,
    pub(crate) gate: Arc<Gate>,
    pub(crate) tally: Arc<Tally>,
}

/// One reactor and its connections.
pub(crate) struct Worker {
    number: usize,
    shared: Arc<Shared>,
    worker_handle: WorkerHandle,
    epoll: OwnedFd,
    connections: Slab<Connection>,
    timers: Timers,
    lead: WakeUpLead,
    stream: Stream,
    buffer: Vec<u8>,
    /// Replies of the connection being served. They are sent or stored in the connection before another connection is served.
    out: Vec<u8>,
    /// Tasks for the end of this turn.
    tasks: VecDeque<Task>,
    /// Connections with more work than one turn allows.
    again: VecDeque<Token>,
    now: Instant,
}

enum Task {
    Start(Job),
    Answer { token: Token, reply: Reply },
}

impl Worker {
    pub(crate) fn new(
        number: usize,
        shared: Arc<Shared>,
        worker_handle: WorkerHandle,
    ) -> std::io::Result<Self> {
        let epoll = epoll::create(epoll::CreateFlags::CLOEXEC)?;
        let waker = epoll::EventData::new_u64(MESSAGE_EVENT);
        epoll::add(
            &epoll,
            worker_handle.mailbox.waker(),
            waker,
            epoll::EventFlags::IN | epoll::EventFlags::ET,
        )?;
        Ok(Self {
            number,
            stream: Stream::new(shared.settings.seed, number),
            shared,
            worker_handle,
            epoll,
            connections: Slab::new(),
            timers: Timers::default(),
            lead: WakeUpLead::default(),
            buffer: vec![0; BUFFER_BYTES],
            out: Vec::new(),
            tasks: VecDeque::new(),
            again: VecDeque::new(),
            now: Instant::now(),
        })
    }

    /// Runs until the target stops.
    pub(crate) fn run(mut self) {
        // With the default timer slack, the kernel delays timers by up to 50 µs. If this fails, holds are only less precise.
        let _ = rustix::thread::set_current_timer_slack(NonZeroU64::new(1));
        let mut events = Vec::with_capacity(EVENTS_MAX);
        let mut messages = Vec::new();
        self.sweep();
        while !self.shared.stop.is_set() {
            self.wait(&mut events);
            self.shared.sleep_through_stall(Some(self.number));
            if let Some(left) = self.shared.troubles.stalled_for(Instant::now()) {
                self.shared.stop.sleep_until(Instant::now() + left);
            }
            self.now = Instant::now();
            for event in events.drain(..) {
                self.on_event(event);
            }
            self.worker_handle.mailbox.collect(&mut messages);
            for message in messages.drain(..) {
                self.on_message(message);
            }
            while let Some(kind) = self.timers.pop(self.now) {
                self.on_timer(kind);
            }
            for _ in 0..self.again.len() {
                self.run_scheduled_turns();
            }
            // Runs only the current tasks. Tasks that they add wait until other connections had their turn.
            for _ in 0..self.tasks.len() {
                self.do_task();
            }
        }
    }

    fn wait(&mut self, events: &mut Vec<epoll::Event>) {
        let stall = self.shared.next_stall(self.now);
        let next = self.timers.next().into_iter().chain(stall).min();
        let begun = next.map(|_| Instant::now());
        let busy = !self.tasks.is_empty() || !self.again.is_empty();
        let left = match (busy, next, begun) {
            (true, ..) => Some(Duration::ZERO),
            (false, Some(next), Some(begun)) => {
                Some(self.lead.shorten(next.saturating_duration_since(begun)))
            }
            _ => None,
        };
        let timeout = left.and_then(|left| Timespec::try_from(left).ok());
        match epoll::wait(&self.epoll, spare_capacity(events), timeout.as_ref()) {
            Ok(0) => {
                if let (Some(begun), Some(left)) = (begun, left.filter(|left| !left.is_zero())) {
                    self.lead.learn(begun.elapsed().saturating_sub(left));
                }
            }
            Ok(_) | Err(Errno::INTR) => {}
            // Stops the target: nothing can be served without polling, and an immediate retry would burn CPU time.
            Err(_) => self.shared.stop.set(),
        }
    }

    fn on_event(&mut self, event: epoll::Event) {
        let (flags, data) = (event.flags, event.data.u64());
        if data == MESSAGE_EVENT {
            return;
        }
        let token = Token::from_u64(data);
        let Some(connection) = self.connections.get(token) else { return };
        let ends = epoll::EventFlags::RDHUP | epoll::EventFlags::HUP | epoll::EventFlags::ERR;
        connection.active = self.now;
        connection.has_hung_up |= flags.intersects(ends);
        connection.readable |= flags.intersects(ends | epoll::EventFlags::IN);
        self.serve(token);
    }

    fn on_message(&mut self, message: ReactorMessage) {
        match message {
            ReactorMessage::Accepted { socket, number, tcp } => self.add_connection(socket, number, tcp),
            ReactorMessage::Done { token, reply } => self.tasks.push_back(Task::Answer { token, reply }),
            ReactorMessage::Start(job) => self.tasks.push_back(Task::Start(job)),
            ReactorMessage::Reset => self.reset_all(),
        }
    }

    fn on_timer(&mut self, kind: TimerKind) {
        match kind {
            TimerKind::Held(hold) => self.held(&hold),
            TimerKind::Linger(token) => self.close(token),
            TimerKind::Sweep => self.sweep(),
        }
    }

    fn do_task(&mut self) {
        match self.tasks.pop_front() {
            Some(Task::Start(job)) => self.start(job),
            Some(Task::Answer { token, reply }) => self.answer(token, &reply),
            None => {}
        }
    }

    fn run_scheduled_turns(&mut self) {
        let Some(token) = self.again.pop_front() else { return };
        if let Some(connection) = self.connections.get(token) {
            connection.again = false;
            self.serve(token);
        }
    }

    fn add_connection(&mut self, socket: OwnedFd, number: u64, tcp: bool) {
        if tcp {
            // Best effort: without it, only the timing of small replies suffers.
            let _ = rustix::net::sockopt::set_tcp_nodelay(&socket, true);
        }
        let token = self.connections.insert(Connection::new(socket, number, self.now));
        let Some(connection) = self.connections.get(token) else { return };
        let flags =
            epoll::EventFlags::IN | epoll::EventFlags::OUT | epoll::EventFlags::RDHUP | epoll::EventFlags::ET;
        let data = epoll::EventData::new_u64(token.to_u64());
        if epoll::add(&self.epoll, connection.socket.as_fd(), data, flags).is_err() {
            self.close(token);
        }
    }

    /// Closes idle connections. A periodic scan of all connections replaces one timer per connection.
    fn sweep(&mut self) {
        let Some(idle) = self.shared.settings.idle else { return };
        let now = self.now;
        let is_idle = |connection: &Connection| !connection.executing && connection.active + idle <= now;
        for token in self.connections.tokens_where(is_idle) {
            self.close(token);
        }
        self.timers.push(now + (idle / 4).clamp(SWEEP_INTERVAL_MIN, SWEEP_INTERVAL_MAX), TimerKind::Sweep);
    }

    fn reset_all(&mut self) {
        for token in self.connections.tokens_where(|_| true) {
            if let Some(connection) = self.connections.get(token) {
                // If this fails, the connection is closed normally.
                let _ = rustix::net::sockopt::set_socket_linger(&connection.socket, Some(Duration::ZERO));
            }
            self.close(token);
        }
    }

    fn close(&mut self, token: Token) {
        if self.connections.remove(token).is_some() {
            self.worker_handle.tally.closed.add_one();
        }
    }
}
