//! Reactor thread of the engine. [`Worker::turn`] is the event loop; the submodules implement its stages.
//!
//! [`Worker::run`] opens the connections, waits for the other workers, and repeats turns until the load is over.

mod calling;
mod cancelling;
mod dialing;
mod draining;
mod failover;
mod finishing;
mod going_on;
mod greeting;
mod late_reading;
mod opening;
mod parts;
mod pooling;
mod read_delay;
mod receiving;
mod redirecting;
mod renewing;
mod scheduled_users;
mod sending;
mod stale;
mod wanting;

use std::collections::VecDeque;
use std::ops::Range;
use std::sync::mpsc::Sender;
use std::sync::{Arc, Mutex};

use load::chance::Chance;
use load::{Load, SECOND_NS, Share, Stop};
use record::{ConnectionTotals, Pulse, Recorder};
use rustix::io::Errno;
use sockets::stamped::ControlBuffer;
use wire::{Channels, PeerStep, Reply};

use crate::address_accounts::{FirstAccount, address_accounts, first_accounts};
use crate::clock::Clock;
use crate::dispatch::{Dispatch, Pool};
use crate::driver::{ArrivalQueue, Driver};
use crate::embedded::Embedding;
use crate::health::ThreadMonitor;
use crate::iterations::Iterations;
use crate::job::Job;
use crate::link::{Link, LinkKind};
use crate::net::cancel::Canceller;
use crate::net::poll::Poll;
use crate::running::{GatePass, Message, StopLevel, StopSignal, WorkerEnd, WorkerError};
use crate::signals::Signals;
use crate::step_account::StepAccount;
use crate::timers::{NEVER, Reason, Timers};
use crate::user::User;
use failover::Failover;
use late_reading::LateReading;

/// Max time between two looks at the stop signal.
const HEARTBEAT_NS: u64 = SECOND_NS / 10;
/// Max time between two turns while requests are in flight. Being late for it shows that the thread could not read its sockets in
/// time.
const HEARTBEAT_IN_FLIGHT_NS: u64 = SECOND_NS / 50;
/// Time after the end of a load during which requests that were due before it are still sent, late.
const LATE_SENDING_NS: u64 = 2 * SECOND_NS;
/// Max requests started in one turn. All of them get the time of the turn, which would be wrong for the last of a longer series.
const STARTS_MAX: u32 = 32;
/// Max timers handled in one turn, since they may set further timers that are due immediately.
const TIMERS_MAX: u32 = 4096;
/// Size of the read buffer, which all connections of a thread share.
const BUFFER_BYTES: usize = 64 * 1024;

pub(crate) struct Worker<'a> {
    job: &'a Job,
    signal: &'a StopSignal,
    messages: Sender<Message>,
    clock: Clock,
    poll: Poll,
    timers: Timers,
    users: Vec<User>,
    /// Links of all peers, in the order of peers.
    links: Vec<Link>,
    dispatch: Dispatch,
    failover: Failover,
    /// Totals by number of a link among those to its peer. Links with equal numbers at several peers belong to one user and share
    /// an entry.
    totals: Vec<ConnectionTotals>,
    /// Number, over all workers, of this worker's first link to each peer, by peer.
    first_numbers: Box<[u32]>,
    /// Number of this worker's first user over all workers.
    first_user: u32,
    driver: Driver,
    stop: Stop,
    /// Accounts of steps (at least one), then of parts, then of addresses.
    accounts: Vec<StepAccount>,
    /// Number of the account of each step's first address, by step; 0 if it has none. Empty if no address has an account.
    address_accounts: Box<[FirstAccount]>,
    iterations: Iterations,
    /// Whether the work between a reply and the next request takes no measurable time, so that the time of the reply serves for
    /// both.
    is_prompt: bool,
    /// Whether any step searches its replies or computes with them.
    searches_replies: bool,
    chance: Chance,
    /// State for reading replies late. `None` if the load or the transport does not allow it.
    late_reading: Option<LateReading>,
    /// Buffer for the kernel's timestamps of replies.
    control: ControlBuffer,
    buffer: Vec<u8>,
    plain: Vec<u8>,
    /// Links (number, generation) to read again without waiting: edge-triggered epoll reports them only once.
    unread: VecDeque<(u32, u32)>,
    /// Multiplexed link whose channel is processing the bytes of a read. `None` between reads.
    processing_link: Option<u32>,
    /// Links (number, generation) that have more to send after other links had their turn.
    unsent: VecDeque<(u32, u32)>,
    /// Number of links that are being opened.
    dialing: u32,
    in_flight: u32,
    /// Number of closed-load users whose last request got no OK answer and who have none in flight.
    retrying: u32,
    signals: Signals,
    /// Number of users in a pause before the next step of their iteration.
    paused: u32,
    /// Number of measured requests of all steps that were due or that a user was ready for.
    planned: u64,
    opening_failures: Option<(u32, String)>,
    /// Number of TLS handshakes that resumed a session.
    resumed_handshakes: u64,
    /// Requests that were complete as soon as they began, to be ended in this turn: user, link, generation of the link, and reply.
    immediate_replies: VecDeque<(u32, u32, u32, Reply)>,
    /// Reason why the load cannot continue, if this worker was the first to find it.
    broken: Option<String>,
    canceller: Canceller,
    /// State shared by all workers if a system is in this process.
    embedding: Option<Embedding>,
    /// Links (number, generation) whose next in-process call is due.
    queued_calls: VecDeque<(u32, u32)>,
    /// Number of this worker, from 0.
    thread: usize,
    /// Peer of each step's request, and the step's number at that peer, by step.
    steps: Box<[PeerStep]>,
    /// Chooses the peer of a request by the values of its user. `None` if each step has a fixed peer.
    routes: Option<&'a dyn Channels>,
    /// Offset between the account numbers of parts and the part numbers of a peer's channels, by peer.
    part_offset: Box<[u16]>,
    /// Whether each peer is in this process, by peer.
    in_process: Box<[bool]>,
    /// Whether users move between links and therefore take the values of replies with them.
    keeps_values: bool,
    /// Whether a step's request is sent again if its peer closed the connection before it received the request, by step. Empty if no step
    /// is retried.
    retried_steps: Box<[bool]>,
}

/// Creates the accounts of one worker, the last `addresses` of which belong to addresses.
fn accounts(job: &Job, share: Share, stop: Stop, addresses: usize) -> Vec<StepAccount> {
    let window_ns = (job.warm_up_ns, stop.at_ns.unwrap_or(NEVER));
    let logged = share.of_total(u64::from(job.log_per_second)) as usize;
    let steps = job.scenarios.steps().max(1);
    // Single requests are logged once, in the accounts of their steps.
    let account =
        |number| StepAccount::new(Recorder::new(window_ns, if number < steps { logged } else { 0 }));
    (0..steps + usize::from(job.parts) + addresses).map(account).collect()
}

/// Returns whether any step searches its replies or computes with them.
fn searches_replies(job: &Job, script: &dyn Channels) -> bool {
    job.scenarios.visits().any(|visit| script.inspects_replies(visit.step))
}

/// Returns the stop rule of one worker. A shared sequence counts the requests of all workers.
fn worker_stop(job: &Job, share: Share, is_shared: bool) -> Stop {
    if is_shared { Stop { requests: None, ..job.stop } } else { job.stop.share(share) }
}

/// Creates the driver of one worker. An open load that grows begins with the connections that it opens first.
fn driver(
    job: &Job,
    share: Share,
    stop: Stop,
    users: Range<u32>,
    shared_queue: Option<Arc<Mutex<ArrivalQueue>>>,
) -> Driver {
    let mut driver = Driver::new(&job.load, share, stop, job.warm_up_ns, users, shared_queue);
    let first = share.of_total(job.first_connections().into()) as u32;
    if let (Driver::Open(open), Some(_)) = (&mut driver, job.initial_connections) {
        open.make_spare_from(first);
    }
    driver
}

/// Users and links of one worker.
struct WorkerPopulation {
    users: Vec<User>,
    first_user: u32,
    links: Vec<Link>,
    dispatch: Dispatch,
    /// Number, over all workers, of this worker's first link to each peer, by peer.
    first_numbers: Box<[u32]>,
}

impl WorkerPopulation {
    fn new(job: &Job, script: &dyn Channels, iterations: &Iterations, share: Share) -> Self {
        let total = u64::from(job.connections());
        let (lanes, first_number) = (share.of_total(total) as u32, share.first_of(total) as u32);
        let rooms: Vec<u32> = (0..job.peers()).map(|peer| script.room(peer).max(1)).collect();
        let shared: Vec<bool> =
            (0..).zip(&rooms).map(|(peer, room)| *room > 1 || job.connections_to(peer).1).collect();
        let needs_lanes = shared.contains(&false);
        let (count, first_user, pool) = match (&job.load, job.pooled_users()) {
            (Load::Closed(_), Some(all)) => {
                let (count, first) = (share.of_total(all.into()) as u32, share.first_of(all.into()) as u32);
                (count, first, needs_lanes.then(|| Pool::new(lanes)))
            }
            // If links carry several exchanges, each exchange of an arrival takes a user.
            (Load::Open(_), _) if !rooms.contains(&1) => {
                let room = rooms.iter().copied().min().unwrap_or(1);
                (lanes.saturating_mul(room), first_number.saturating_mul(room), None)
            }
            _ => (lanes, first_number, None),
        };
        let user = |number: u32| {
            let user = iterations.user(job, u64::from(first_user) + u64::from(number));
            User { lane: if pool.is_none() { number } else { user.lane }, ..user }
        };
        let totals: Vec<u64> = (0..job.peers()).map(|peer| job.connections_to(peer).0.into()).collect();
        let counts: Vec<u32> = totals.iter().map(|total| share.of_total(*total) as u32).collect();
        let first_numbers: Box<[u32]> = totals.iter().map(|total| share.first_of(*total) as u32).collect();
        let link = |peer: u16, number: u32| {
            let at = usize::from(peer);
            let channel = script.open(peer, first_numbers[at] + number);
            let kind = LinkKind::default()
                .with(LinkKind::MULTIPLEXED, script.is_multiplexed(peer))
                .with(LinkKind::TAKES_TURNS, shared[at])
                .with(LinkKind::KEEPS_ALIVE, job.peer(peer).keep_alive);
            Link::new(channel, peer, number, rooms[at], kind)
        };
        // Allocates the exact capacity: a growing vector leaves freed memory behind.
        let mut links = Vec::with_capacity(counts.iter().map(|count| *count as usize).sum());
        for (peer, count) in (0..).zip(&counts) {
            links.extend((0..*count).map(|number| link(peer, number)));
        }
        Self {
            users: (0..count).map(user).collect(),
            first_user,
            links,
            dispatch: Dispatch::new(counts.iter().copied().zip(shared), pool),
            first_numbers,
        }
    }
}

impl<'a> Worker<'a> {
    pub(crate) fn new(
        job: &'a Job,
        script: &'a dyn Channels,
        signal: &'a StopSignal,
        messages: Sender<Message>,
        thread: u32,
        embedding: Option<Embedding>,
    ) -> Result<Self, Errno> {
        let share = job.share_of(thread, embedding.is_some());
        let shared_queue = embedding.as_ref().and_then(|embedding| embedding.arrivals.clone());
        let stop = worker_stop(job, share, shared_queue.is_some());
        let iterations = Iterations::new(job, script, share);
        let WorkerPopulation { users, first_user, links, dispatch, first_numbers } =
            WorkerPopulation::new(job, script, &iterations, share);
        let steps = job.scenarios.steps().max(1);
        let address_accounts = address_accounts(job, script);
        let in_process: Box<[bool]> = (0..job.peers()).map(|peer| script.is_in_process(peer)).collect();
        let is_shared = links.iter().any(|link| link.is_multiplexed() || link.takes_turns());
        let driver = driver(job, share, stop, first_user..first_user + users.len() as u32, shared_queue);
        Ok(Self {
            job,
            signal,
            messages,
            clock: Clock::from(std::time::Instant::now()),
            poll: Poll::new()?,
            timers: Timers::with_capacity(users.len()), // Most users have one.
            driver,
            totals: vec![ConnectionTotals::default(); dispatch.max_links()],
            users,
            failover: Failover::new(job, links.len()),
            links,
            dispatch,
            first_numbers,
            first_user,
            stop,
            accounts: accounts(job, share, stop, address_accounts.len()),
            address_accounts: first_accounts(job, &address_accounts, script),
            is_prompt: iterations.draws_numbers && !searches_replies(job, script),
            iterations,
            searches_replies: searches_replies(job, script),
            chance: Chance::stream(0, u64::from(share.index)),
            late_reading: LateReading::for_job(job).filter(|_| embedding.is_none() && !is_shared),
            control: ControlBuffer::new(),
            buffer: vec![0; if in_process.contains(&false) { BUFFER_BYTES } else { 0 }],
            plain: Vec::new(),
            unread: VecDeque::new(),
            unsent: VecDeque::new(),
            dialing: 0,
            in_flight: 0,
            retrying: 0,
            signals: Signals::new(job.warm_up_ns).with_timeline(job.keeps_timeline),
            paused: 0,
            planned: 0,
            opening_failures: None,
            resumed_handshakes: 0,
            processing_link: None,
            immediate_replies: VecDeque::new(),
            broken: None,
            canceller: Canceller::new(signal.cancel_lock.clone()),
            embedding,
            queued_calls: VecDeque::new(),
            thread: thread as usize,
            steps: (0..steps).map(|step| script.place(step as u16)).collect(),
            routes: script.has_routes().then_some(script),
            part_offset: (0..job.peers()).map(|peer| script.part_offset(peer)).collect(),
            in_process,
            retried_steps: stale::retried_steps(job, script),
            keeps_values: job.peers() > 1 || is_shared || job.scenarios.needs_kept_values(),
        })
    }

    /// Opens the connections, waits for the other workers, and runs the load to its end.
    pub(crate) fn run(mut self, entry: &GatePass<'_>) -> Result<WorkerEnd, WorkerError> {
        let opened = self.open_connections();
        self.clock = Clock::from(entry.pass());
        opened?;
        self.wait_for_start()?;
        let mut thread_monitor = ThreadMonitor::begin();
        self.admit_users();
        while !self.is_over() {
            self.turn(&mut thread_monitor)?;
        }
        thread_monitor.stop();
        let wall_ns = self.clock.now();
        self.read_surplus_replies()?;
        self.settle(wall_ns);
        if let Some(words) = self.broken {
            return Err(WorkerError::Load(words));
        }
        self.end_waits(wall_ns);
        self.report_windows(wall_ns, true, &mut thread_monitor);
        let (unused, limit_reached_ns) = match &self.driver {
            Driver::Open(open) => (open.spare.len(), open.limit_reached_ns),
            Driver::Closed { .. } => (0, None),
        };
        // Connections that were never opened are not reported.
        self.totals.truncate(self.totals.len() - unused.min(self.totals.len()));
        Ok(WorkerEnd {
            connections: self.totals,
            limit_reached_ns,
            stopped_at_ns: self.stop.at_ns,
            health: thread_monitor.end(wall_ns, self.signals),
            opening_failures: self.opening_failures,
            resumed_handshakes: self.resumed_handshakes,
            contents: self.accounts.into_iter().map(|account| account.contents).collect(),
            first_replies: self.links.iter().filter_map(|link| link.channel.first_replies()).collect(),
        })
    }

    /// Waits until the load begins. Handles events of open connections meanwhile: edge-triggered epoll reports them only once.
    fn wait_for_start(&mut self) -> Result<(), Errno> {
        loop {
            let wait_ns = self.clock.time_to_start().as_nanos() as u64;
            if wait_ns == 0 {
                return Ok(());
            }
            let count = self.poll.wait(wait_ns)?;
            self.compare_clocks();
            for index in 0..count {
                self.on_ready(self.poll.take(index));
            }
        }
    }

    /// Runs one turn: hands over finished seconds, runs due timers, starts due requests, waits for the next event, and reads
    /// replies.
    fn turn(&mut self, thread_monitor: &mut ThreadMonitor) -> Result<(), Errno> {
        let now_ns = self.clock.now();
        self.signals.note_turn(now_ns);
        self.check_stop_signal(now_ns);
        self.report_intervals(now_ns);
        self.report_windows(now_ns, false, thread_monitor);
        self.run_due_timers(now_ns);
        self.start_due(now_ns);
        self.end_immediate();
        self.make_calls();
        self.read_again();
        self.send_again();
        for index in 0..self.wait(now_ns, thread_monitor)? {
            self.on_ready(self.poll.take(index));
        }
        Ok(())
    }

    /// Waits for the next scheduled event or for sockets. Returns the number of sockets that are ready.
    fn wait(&mut self, now_ns: u64, thread_monitor: &mut ThreadMonitor) -> Result<usize, Errno> {
        let beat_ns = self.next_heartbeat_ns(now_ns);
        // Timers fire late by a fairly constant lag, so the wait is shortened by that lag.
        let next_ns = self.next_event_ns(now_ns).filter(|next_ns| *next_ns < beat_ns);
        let asked_ns = next_ns.map_or(beat_ns, |next_ns| next_ns.saturating_sub(thread_monitor.usual_lag_ns));
        let is_catching_up = self.signals.is_catching_up();
        let wait_ns = if is_catching_up { 0 } else { asked_ns.saturating_sub(now_ns) };
        let mut count = 0;
        if self.embedding.is_some() {
            let has_sockets = self.in_process.contains(&false);
            // Calls made earlier in this turn took time that is not part of the wait.
            self.signals.note_wake_time(self.clock.now() + wait_ns, has_sockets);
            if wait_ns == 0 && !has_sockets {
                return Ok(0);
            }
        } else {
            self.signals.note_wake_time(now_ns + wait_ns, self.late_reading.is_none());
        }
        let leaves_replies = !is_catching_up && self.may_read_late(wait_ns);
        if !leaves_replies {
            count = self.poll.wait(wait_ns)?;
        } else if wait_ns > 0 {
            Clock::sleep(wait_ns);
        } else {
            return Ok(0);
        }
        if count == 0 && wait_ns > 0 {
            if self.clock.now() < asked_ns {
                // A signal interrupted the wait: nothing is due yet.
                return Ok(0);
            }
            thread_monitor.note_wake_up(self.clock.now().saturating_sub(asked_ns));
            self.clock.spin_until(next_ns.unwrap_or(beat_ns));
            self.start_due(self.clock.now());
            if leaves_replies && self.may_defer_reading() {
                return Ok(0);
            }
            count = self.poll.wait(0)?;
        }
        self.compare_clocks();
        Ok(count)
    }

    fn compare_clocks(&mut self) {
        if let Some(late_reading) = &mut self.late_reading {
            late_reading.set_clock(&self.clock);
        }
    }

    /// Returns the time of the next scheduled event of the load, not counting sockets. `None` if nothing is scheduled.
    fn next_event_ns(&mut self, now_ns: u64) -> Option<u64> {
        let has_no_more = self.unread.is_empty() && self.unsent.is_empty();
        if !(has_no_more && self.immediate_replies.is_empty() && self.queued_calls.is_empty()) {
            return Some(now_ns);
        }
        let start_ns = match &mut self.driver {
            Driver::Open(open) if open.has_user() => open.next_wake_ns(),
            _ => None,
        };
        let timer_ns = self.timers.next_ns();
        [start_ns, timer_ns].into_iter().flatten().min()
    }

    /// Returns the latest time of the next turn: the heartbeat, or the end of a window or second.
    fn next_heartbeat_ns(&self, now_ns: u64) -> u64 {
        let beat_ns = if self.in_flight > 0 { HEARTBEAT_IN_FLIGHT_NS } else { HEARTBEAT_NS };
        let page_ns = self.accounts[0].recorder.boundary_ns().min(self.signals.window_end_ns());
        page_ns.min(self.signals.moment_end_ns()).min(now_ns + beat_ns)
    }

    /// Reports the windows that are over, and at the end of the load also the unfinished ones.
    #[inline]
    fn report_windows(&mut self, now_ns: u64, is_end: bool, thread_monitor: &mut ThreadMonitor) {
        if now_ns < self.signals.window_end_ns() && now_ns < self.signals.moment_end_ns() && !is_end {
            return;
        }
        let is_waiting = self.note_waiting(now_ns);
        while now_ns >= self.signals.window_end_ns() {
            let pulse = self.signals.end_window(self.signals.window_end_ns(), self.in_flight, is_waiting);
            self.report_window(pulse, thread_monitor);
        }
        if now_ns >= self.signals.moment_end_ns() && self.signals.end_moments(now_ns, is_waiting, false) {
            self.report_moments();
        }
        if is_end {
            self.signals.end_moments(now_ns, is_waiting, true);
            self.report_moments();
            let pulse = self.signals.end_window(now_ns, self.in_flight, is_waiting);
            self.report_window(pulse, thread_monitor);
        }
    }

    #[cold]
    fn report_window(&self, mut pulse: Pulse, thread_monitor: &mut ThreadMonitor) {
        thread_monitor.add_to(&mut pulse);
        let _ = self.messages.send(Message::Pulse { worker: self.thread as u32, pulse });
    }

    /// Hands over the windows of 100 ms so far, if there are any.
    #[cold]
    fn report_moments(&mut self) {
        let moments = self.signals.take_moments();
        if !moments.is_empty() {
            let _ = self.messages.send(Message::Moments(moments));
        }
    }

    fn report_intervals(&mut self, now_ns: u64) {
        // All accounts end their seconds at the same time.
        if now_ns < self.accounts[0].recorder.boundary_ns() {
            return;
        }
        let messages = &self.messages;
        for (step, account) in (0..).zip(&mut self.accounts) {
            account.recorder.turn(now_ns, |interval| {
                // Sending fails only if the receiver of the run is gone; the interval is not needed then.
                let _ = messages.send(Message::Interval { step, interval: Box::new(interval) });
            });
        }
        let is_waiting = self.note_waiting(now_ns);
        self.signals.end_moments(now_ns, is_waiting, false);
        self.report_moments();
    }

    fn run_due_timers(&mut self, mut now_ns: u64) {
        for looked_at in 1..=TIMERS_MAX {
            let Some((at_ns, number, reason)) = self.timers.pop_due(now_ns) else { return };
            if looked_at % STARTS_MAX == 0 {
                now_ns = self.clock.now();
            }
            match reason {
                Reason::Deadline => self.check_deadline(number, at_ns, now_ns),
                Reason::Wake => self.wake(number, now_ns),
                Reason::EndPause => self.end_pause(number, at_ns, now_ns),
                Reason::Lane => self.take_next_user(number, now_ns),
                Reason::Room => self.fill_room(number as u16, now_ns),
            }
        }
    }

    /// Counts due requests of an open load as planned, whether or not they can be started.
    fn count_due(&mut self, now_ns: u64) {
        while let Driver::Open(open) = &mut self.driver
            && let Some(due) = open.take_due(now_ns)
        {
            let step = self.iterations.first_step(due.number);
            self.accounts[usize::from(step)].note_due(due.at_ns);
            self.note_planned(due.at_ns);
        }
    }

    /// Counts a planned request toward the number that ends the load.
    #[inline]
    fn note_planned(&mut self, intended_ns: u64) {
        self.signals.planned(intended_ns);
        if intended_ns < self.job.warm_up_ns {
            return;
        }
        self.planned += 1;
        if Some(self.planned) == self.stop.requests
            && let Driver::Open(open) = &mut self.driver
        {
            open.end_with_due();
        }
    }

    /// Starts due requests of an open load, as far as users are available.
    fn start_due(&mut self, now_ns: u64) {
        self.count_due(now_ns);
        for _ in 0..STARTS_MAX {
            let Driver::Open(open) = &mut self.driver else { return };
            let shed_after_ns = open.shed_after_ns.unwrap_or(NEVER);
            if let Some(too_late_ns) = now_ns.checked_sub(shed_after_ns.saturating_add(1)) {
                while let Some(shed) = open.take_start(too_late_ns) {
                    let step = self.iterations.first_step(shed.number);
                    self.accounts[usize::from(step)].note_due_not_sent(shed.at_ns);
                }
            }
            if !open.has_user() {
                open.note_limit(now_ns);
                return;
            }
            let Some(start) = open.take_grouped_start(now_ns) else { return };
            if let Some(user) = open.take_user() {
                self.begin_iteration(user, Some(start.number), true, start.at_ns, now_ns);
            }
        }
    }

    /// Schedules the first iteration of each user of a closed load. In an open load, schedules the steps that users run once before
    /// their first arrival.
    fn admit_users(&mut self) {
        if let (Some(_), Driver::Open(open)) = (self.iterations.once_start(), &mut self.driver) {
            for number in std::mem::take(&mut open.idle) {
                self.timers.set(0, number, Reason::Wake);
            }
            return;
        }
        let (Load::Closed(closed), Driver::Closed { cadence, schedules, active }) =
            (&self.job.load, &mut self.driver)
        else {
            return;
        };
        if let Some(schedules) = schedules {
            for (number, user) in (0..).zip(&mut self.users) {
                match schedules.next_ns(number) {
                    Some(next_ns) => {
                        user.next_ns = next_ns;
                        self.timers.set(next_ns, number, Reason::Wake);
                    }
                    None => *active -= 1,
                }
            }
            return;
        }
        for (number, user) in (0..).zip(&mut self.users) {
            user.next_ns = cadence.first(closed.arrival_ns(u64::from(self.first_user) + u64::from(number)));
            self.timers.set(user.next_ns, number, Reason::Wake);
        }
    }

    fn check_stop_signal(&mut self, now_ns: u64) {
        if let Some(at_ns) = self.signal.ends_at_ns() {
            self.stop_at(at_ns);
        }
        let level = self.signal.level(now_ns);
        if level == StopLevel::Abort {
            self.abandon(now_ns);
        }
        let is_too_late =
            self.stop.at_ns.is_some_and(|at_ns| now_ns >= at_ns.saturating_add(LATE_SENDING_NS));
        if let Driver::Open(open) = &mut self.driver
            && (level != StopLevel::Go || is_too_late)
        {
            open.stop_starting();
        }
    }

    /// Sets the end of the load and of the measured window to `end_ns`, which may lie ahead. An earlier end stays.
    fn stop_at(&mut self, end_ns: u64) {
        if self.stop.at_ns.is_none_or(|at_ns| at_ns > end_ns) {
            self.stop.at_ns = Some(end_ns);
            self.accounts.iter_mut().for_each(|account| account.recorder.end_window(end_ns));
            if let Driver::Open(open) = &mut self.driver {
                open.end_at(end_ns);
            }
            self.shorten_pauses();
        }
    }

    /// Returns whether nothing is in flight and nothing more will be started.
    fn is_over(&self) -> bool {
        if self.in_flight > 0 {
            return false;
        }
        if self.dispatch.has_waiting() && self.may_assign_links(self.clock.now()) {
            return false;
        }
        match &self.driver {
            Driver::Closed { active, .. } => {
                let now_ns = self.clock.now();
                *active == 0 || !(self.stop.admits(now_ns, self.planned) || self.has_scheduled(now_ns))
            }
            Driver::Open(open) => {
                let may_continue = self.paused > 0 && self.stop.admits(self.clock.now(), self.planned);
                open.next_start_ns().is_none() && !may_continue
            }
        }
    }

    /// Counts due requests that were never started as not sent, sends farewells, and hands over the remaining intervals.
    fn settle(&mut self, now_ns: u64) {
        self.count_due(now_ns);
        self.count_rest_of_schedules(now_ns);
        self.settle_cancellations(now_ns);
        (0..self.links.len() as u32).for_each(|link| self.send_farewell(link));
        let messages = &self.messages;
        for (step, account) in (0..).zip(&mut self.accounts) {
            account.settle();
            account.recorder.close(&mut |interval| {
                let _ = messages.send(Message::Interval { step, interval: Box::new(interval) });
            });
        }
    }
}
