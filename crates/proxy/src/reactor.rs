//! Event loop of a proxy: waits for sockets and timers, and moves the data of each connection.

use std::sync::Arc;

use rustix::io::Errno;
use sockets::poll::{Poll, Ready};
use sockets::stamped::ControlBuffer;
use sockets::{ConnectingSocket, Endpoint, dial};

use crate::clock::{Clock, thread_cpu_ns};
use crate::commands::{ProxyCommand, Shared};
use crate::counters::Tally;
use crate::jitter::RandomDraws;
use crate::listener::Listener;
use crate::pair::{Context, Key, Moved, Pair, Side, reset};
use crate::settings::{NewConnections, ProxyConfig, Reset, ResetAfter, Settings};
use crate::timers::{self, Reason, Timers};

const LISTENER: u32 = u32::MAX;
const MESSAGE_EVENT: u32 = u32::MAX - 1;
/// Max number of connections accepted per turn.
const ACCEPTS_PER_TURN: u32 = 64;
/// Pause before the next accept when the process is out of file descriptors.
const ACCEPT_PAUSE_NS: u64 = 10_000_000;
/// Time before a deadline at which blocking waits end and busy polling begins, because the kernel wakes threads late.
const SPIN_NS: u64 = 30_000;
/// Maximum wait of the event loop. Bounds sums of times, which therefore cannot overflow.
const WAIT_MAX_NS: u64 = 3_600_000_000_000;
const READ_BYTES: usize = 64 * 1024;

/// Slot for a connection.
#[derive(Default)]
struct Slot {
    generation: u32,
    pair: Option<Box<Pair>>,
}

/// State owned by the proxy's thread.
pub(crate) struct Reactor {
    clock: Clock,
    poll: Poll,
    listener: Listener,
    target: Endpoint,
    connections_max: usize,
    buffer_bytes: usize,
    settings: Settings,
    draws: RandomDraws,
    timers: Timers,
    slots: Vec<Slot>,
    free: Vec<u32>,
    /// Connections with more data to read.
    again: Vec<Key>,
    buffer: Vec<u8>,
    control: ControlBuffer,
    /// Time of the last change of settings. No data leaves before it, so that the change does not count as a delay by the proxy.
    changed_at_ns: u64,
    /// End of the last stall.
    stalled_until_ns: u64,
    /// True if clients may be waiting in the listen queue. Tracked because edges are reported only once.
    may_accept: bool,
    accept_after_ns: u64,
    shared: Arc<Shared>,
}

impl Reactor {
    /// Creates the reactor. Called by the thread that runs it.
    pub(crate) fn new(
        place: &ProxyConfig,
        connections_max: u32,
        settings: Settings,
        listener: Listener,
        shared: &Arc<Shared>,
    ) -> Result<Self, Errno> {
        let poll = Poll::new()?;
        poll.watch(&listener, LISTENER, 0)?;
        poll.watch(shared.waker(), MESSAGE_EVENT, 0)?;
        Ok(Self {
            clock: Clock::start(),
            poll,
            listener,
            target: place.target.clone(),
            connections_max: connections_max as usize,
            buffer_bytes: place.buffer_bytes,
            settings,
            draws: RandomDraws::new(place.seed),
            timers: Timers::default(),
            slots: Vec::new(),
            free: Vec::new(),
            again: Vec::new(),
            buffer: vec![0; READ_BYTES],
            control: ControlBuffer::new(),
            changed_at_ns: 0,
            stalled_until_ns: 0,
            may_accept: true,
            accept_after_ns: 0,
            shared: Arc::clone(shared),
        })
    }

    /// Runs until a command to stop.
    pub(crate) fn run(mut self) {
        let shared = Arc::clone(&self.shared);
        while let Ok(events) = self.poll.wait(self.wait_ns()) {
            if !self.turn(events, &mut shared.tally()) {
                break;
            }
        }
        let mut tally = shared.tally();
        (tally.open, tally.cpu_ns) = (0, Some(thread_cpu_ns()));
    }

    fn wait_ns(&self) -> u64 {
        if !self.again.is_empty() {
            return 0;
        }
        let accept_ns = self.has_room().then_some(self.accept_after_ns);
        let timer_ns = self.timers.next_ns().map(|at_ns| at_ns.saturating_sub(SPIN_NS));
        let next_ns = timer_ns.into_iter().chain(accept_ns).min();
        next_ns.map_or(WAIT_MAX_NS, |at_ns| at_ns.saturating_sub(self.clock.now()).min(WAIT_MAX_NS))
    }

    fn open(&self) -> usize {
        self.slots.len() - self.free.len()
    }

    /// Returns true if a waiting client may be accepted.
    fn has_room(&self) -> bool {
        self.may_accept
            && self.settings.new_connections != NewConnections::Ignore
            && !self.settings.is_cut
            && self.open() < self.connections_max
    }

    /// Runs one turn of the event loop. Returns false after a command to stop. Due timers run first, and between any two sockets.
    fn turn(&mut self, events: usize, tally: &mut Tally) -> bool {
        self.run_due_timers(tally);
        let mut has_orders = false;
        for index in 0..events {
            let ready = self.poll.take(index);
            match ready.link {
                LISTENER => self.may_accept = true,
                MESSAGE_EVENT => has_orders = true,
                _ => self.on_ready(ready, tally),
            }
            self.run_due_timers(tally);
        }
        for key in std::mem::take(&mut self.again) {
            if let Some(pair) = self.pair(key) {
                pair.is_waiting_again = false;
            }
            self.transfer(key, tally);
            self.run_due_timers(tally);
        }
        self.accept(tally);
        let slots = &self.slots;
        let is_open = |key: Key| {
            let slot = &slots[key.slot as usize];
            slot.generation == key.generation && slot.pair.is_some()
        };
        timers::remove_stale(&mut self.timers, slots.len() - self.free.len(), is_open);
        let goes_on = !has_orders || self.run_commands(tally);
        tally.open = self.open() as u64;
        goes_on
    }

    /// Executes commands of other threads. Returns false on a command to stop.
    fn run_commands(&mut self, tally: &mut Tally) -> bool {
        for command in self.shared.take() {
            let now_ns = self.clock.now();
            match command {
                ProxyCommand::Change(settings) => {
                    self.settings = settings;
                    self.changed_at_ns = now_ns;
                }
                ProxyCommand::Stall(lasting) => {
                    tally.stalls += 1;
                    let until_ns =
                        now_ns.saturating_add(u64::try_from(lasting.as_nanos()).unwrap_or(u64::MAX));
                    self.stalled_until_ns = self.stalled_until_ns.max(until_ns);
                }
                ProxyCommand::ResetAll => {
                    for key in self.keys() {
                        tally.resets += 1;
                        self.reset(key);
                    }
                }
                ProxyCommand::Stop => return false,
            }
            // Timers depend on the changed settings.
            for key in self.keys() {
                self.transfer(key, tally);
            }
        }
        true
    }

    /// Returns the earliest time at which data may leave, regardless of its delay.
    fn not_before_ns(&self) -> u64 {
        if self.settings.is_cut { u64::MAX } else { self.changed_at_ns.max(self.stalled_until_ns) }
    }

    fn keys(&self) -> Vec<Key> {
        let slots = self.slots.iter().enumerate().filter(|(_, slot)| slot.pair.is_some());
        slots.map(|(number, slot)| Key { slot: number as u32, generation: slot.generation }).collect()
    }

    fn pair(&mut self, key: Key) -> Option<&mut Pair> {
        let slot = self.slots.get_mut(key.slot as usize)?;
        slot.pair.as_deref_mut().filter(|_| slot.generation == key.generation)
    }

    fn run_due_timers(&mut self, tally: &mut Tally) {
        while let Some((at_ns, key, reason)) = self.timers.pop_due(self.clock.now()) {
            let Some(pair) = self.pair(key) else { continue };
            match reason {
                Reason::Leave(from) => {
                    if pair.disarm(from, at_ns) {
                        self.transfer(key, tally);
                    }
                }
                Reason::Reset => {
                    tally.resets += 1;
                    self.reset(key);
                }
            }
        }
    }

    fn on_ready(&mut self, ready: Ready, tally: &mut Tally) {
        let key = Key { slot: ready.link / 2, generation: ready.generation };
        let heard =
            self.with(key, tally, |pair, context| pair.on_ready((ready.link % 2) as usize, ready, context));
        match heard {
            Some(Ok(())) => self.transfer(key, tally),
            Some(Err(errno)) => {
                note_connect_error(errno, tally);
                self.reset(key);
            }
            None => {}
        }
    }

    /// Moves the data of a connection, and removes it if it has ended.
    fn transfer(&mut self, key: Key, tally: &mut Tally) {
        match self.with(key, tally, |pair, context| pair.transfer(key, context)) {
            Some(Moved::Open { again: true }) => {
                let is_new =
                    self.pair(key).is_some_and(|pair| !std::mem::replace(&mut pair.is_waiting_again, true));
                if is_new {
                    self.again.push(key);
                }
            }
            Some(Moved::Over) => drop(self.remove(key)),
            Some(Moved::Reset) => self.reset(key),
            Some(Moved::Open { again: false }) | None => {}
        }
    }

    fn with<T>(
        &mut self,
        key: Key,
        tally: &mut Tally,
        act: impl FnOnce(&mut Pair, &mut Context<'_>) -> T,
    ) -> Option<T> {
        let not_before_ns = self.not_before_ns();
        let slot = self.slots.get_mut(key.slot as usize)?;
        let pair = slot.pair.as_deref_mut().filter(|_| slot.generation == key.generation)?;
        let mut context = Context {
            clock: self.clock,
            settings: &self.settings,
            draws: &mut self.draws,
            timers: &mut self.timers,
            tally,
            buffer: &mut self.buffer,
            control: &mut self.control,
            limit: self.buffer_bytes,
            not_before_ns,
        };
        Some(act(pair, &mut context))
    }

    fn remove(&mut self, key: Key) -> Option<Box<Pair>> {
        let slot = self.slots.get_mut(key.slot as usize).filter(|slot| slot.generation == key.generation)?;
        let pair = slot.pair.take()?;
        slot.generation = slot.generation.wrapping_add(1);
        self.free.push(key.slot);
        Some(pair)
    }

    fn reset(&mut self, key: Key) {
        if let Some(pair) = self.remove(key) {
            pair.reset();
        }
    }

    fn accept(&mut self, tally: &mut Tally) {
        for _ in 0..ACCEPTS_PER_TURN {
            let now_ns = self.clock.now();
            if !self.has_room() || now_ns < self.accept_after_ns {
                return;
            }
            match self.listener.accept() {
                Ok(Some(socket)) => {
                    self.open_pair(Side::new(socket, self.listener.is_tcp(), true), now_ns, tally)
                }
                Ok(None) => self.may_accept = false,
                Err(_) => self.accept_after_ns = now_ns + ACCEPT_PAUSE_NS,
            }
        }
    }

    fn open_pair(&mut self, client: Side, now_ns: u64, tally: &mut Tally) {
        if self.settings.new_connections == NewConnections::Close {
            tally.dropped += 1;
            return reset(client);
        }
        tally.accepted += 1;
        let target = match dial(&self.target) {
            Ok(ConnectingSocket { socket, is_connected }) => {
                Side::new(socket, matches!(self.target, Endpoint::Tcp(_)), is_connected)
            }
            Err(errno) => {
                note_connect_error(errno, tally);
                return reset(client);
            }
        };
        let plan = self.settings.reset.filter(|reset| self.draws.draw_bool(reset.share));
        let at_bytes = match plan {
            Some(Reset { after: ResetAfter::Bytes(bytes), .. }) => Some(bytes),
            _ => None,
        };
        let key = self.insert(Pair::new(client, target, at_bytes));
        tally.open_max = tally.open_max.max(self.open() as u64);
        if let Some(Reset { after: ResetAfter::Time(after), .. }) = plan {
            let after_ns = u64::try_from(after.as_nanos()).unwrap_or(u64::MAX);
            self.timers.set(now_ns.saturating_add(after_ns), key, Reason::Reset);
        }
        if let Err(errno) = self.watch(key) {
            note_connect_error(errno, tally);
            self.reset(key);
        }
    }

    fn insert(&mut self, pair: Pair) -> Key {
        let slot = self.free.pop().unwrap_or_else(|| {
            self.slots.push(Slot::default());
            self.slots.len() as u32 - 1
        });
        let place = &mut self.slots[slot as usize];
        place.pair = Some(Box::new(pair));
        Key { slot, generation: place.generation }
    }

    fn watch(&self, key: Key) -> Result<(), Errno> {
        let pair = self.slots[key.slot as usize].pair.as_deref();
        for (side, socket) in pair.into_iter().flat_map(Pair::sockets).enumerate() {
            self.poll.watch(socket, key.slot * 2 + side as u32, key.generation)?;
        }
        Ok(())
    }
}

fn note_connect_error(errno: Errno, tally: &mut Tally) {
    tally.connect_failed += 1;
    tally.connect_error = Some(errno);
}
