//! Connection through the proxy: the client's socket, the target's socket, and the data between them.

use std::time::Duration;

use rustix::io::Errno;
use rustix::net::{Shutdown, shutdown, sockopt};
use sockets::Io;
use sockets::poll::Ready;
use sockets::socket::Socket;
use sockets::stamped::{self, ControlBuffer};

use crate::clock::{Clock, arrival_ns, real_ns};
use crate::counters::Tally;
use crate::jitter::RandomDraws;
use crate::settings::Settings;
use crate::shape::{DelayLine, End};
use crate::timers::{Reason, Timers};

/// Index of the client's side. The line with this index carries the data that was read from the client.
pub(crate) const CLIENT: usize = 0;
/// Index of the target's side.
pub(crate) const TARGET: usize = 1;
/// Max number of full reads from a socket per turn of its connection.
const READS_PER_TURN: u32 = 4;

/// Identifies a connection. The generation distinguishes it from an earlier one in its slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Key {
    pub(crate) slot: u32,
    pub(crate) generation: u32,
}

/// Resources of the proxy that a connection uses to move bytes.
pub(crate) struct Context<'a> {
    pub(crate) clock: Clock,
    pub(crate) settings: &'a Settings,
    pub(crate) draws: &'a mut RandomDraws,
    pub(crate) timers: &'a mut Timers,
    pub(crate) tally: &'a mut Tally,
    pub(crate) buffer: &'a mut [u8],
    /// Buffer for kernel timestamps of received data.
    pub(crate) control: &'a mut ControlBuffer,
    /// Maximum number of buffered bytes in a line.
    pub(crate) limit: usize,
    /// Time before which no data leaves, because of a stall or a change of settings. This wait does not count as a delay by the
    /// proxy.
    pub(crate) not_before_ns: u64,
}

impl Context<'_> {
    fn bandwidth(&self) -> Option<u64> {
        self.settings.bandwidth.map(Into::into)
    }
}

/// State of a connection after moving data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Moved {
    /// Still open. `again` is true if there is more to read after other connections had their turn.
    Open { again: bool },
    /// Both directions have ended.
    Over,
    /// The connection must be reset.
    Reset,
}

/// A proxied connection.
#[derive(Debug)]
pub(crate) struct Pair {
    sides: [Side; 2],
    lines: [DelayLine; 2],
    /// True for a line whose end was forwarded, or whose receiver has disconnected.
    is_over: [bool; 2],
    /// True for a line that waited for its receiver. This wait does not count as a delay by the proxy.
    was_blocked: [bool; 2],
    /// Time of the pending timer of each line.
    armed_ns: [Option<u64>; 2],
    reset_at_bytes: Option<u64>,
    passed_bytes: u64,
    /// True if the connection is in the reactor's list of connections with more to read.
    pub(crate) is_waiting_again: bool,
}

/// Socket with its readiness, which is tracked because edges are reported only once.
#[derive(Debug)]
pub(crate) struct Side {
    pub(crate) socket: Socket,
    pub(crate) is_tcp: bool,
    pub(crate) is_connected: bool,
    can_read: bool,
    can_write: bool,
    /// The peer has closed, so the end of the stream must still be read after a short read.
    is_hung_up: bool,
    is_lost: bool,
}

impl Side {
    pub(crate) fn new(socket: Socket, is_tcp: bool, is_connected: bool) -> Self {
        if is_tcp {
            // Without timestamps, the time of the read counts.
            stamped::enable(&socket);
        }
        Self {
            socket,
            is_tcp,
            is_connected,
            can_read: false,
            can_write: is_connected,
            is_hung_up: false,
            is_lost: false,
        }
    }

    fn accepts_bytes(&self) -> bool {
        self.is_connected && self.can_write
    }
}

impl Pair {
    pub(crate) fn new(client: Side, target: Side, reset_at_bytes: Option<u64>) -> Self {
        let was_blocked = [!target.is_connected, false];
        Self {
            sides: [client, target],
            lines: [DelayLine::default(), DelayLine::default()],
            is_over: [false; 2],
            was_blocked,
            armed_ns: [None; 2],
            reset_at_bytes,
            passed_bytes: 0,
            is_waiting_again: false,
        }
    }

    pub(crate) fn sockets(&self) -> [&Socket; 2] {
        [&self.sides[CLIENT].socket, &self.sides[TARGET].socket]
    }

    /// Handles readiness of a socket. Returns an error if connecting failed.
    pub(crate) fn on_ready(
        &mut self,
        side: usize,
        ready: Ready,
        context: &mut Context<'_>,
    ) -> Result<(), Errno> {
        let state = &mut self.sides[side];
        if !state.is_connected {
            if ready.can_write || ready.hung_up {
                state.socket.outcome()?;
                state.is_connected = true;
            } else {
                return Ok(());
            }
        }
        state.can_read |= ready.can_read;
        state.can_write |= ready.can_write;
        state.is_hung_up |= ready.hung_up;
        let is_unread = self.lines[side].is_finished() || self.lines[side].room(context.limit) == 0;
        // A read would report the error too, but nothing is read while the line is full.
        if ready.hung_up && is_unread && self.sides[side].socket.outcome().is_err() {
            self.on_reset(side, context);
        }
        Ok(())
    }

    /// Handles an expired timer of a line. Returns true if the timer is still current.
    pub(crate) fn disarm(&mut self, from: usize, at_ns: u64) -> bool {
        let holds = self.armed_ns[from] == Some(at_ns);
        if holds {
            self.armed_ns[from] = None;
        }
        holds
    }

    /// Reads as much data as the buffers have room for, and forwards data that is due.
    pub(crate) fn transfer(&mut self, key: Key, context: &mut Context<'_>) -> Moved {
        for from in [CLIENT, TARGET] {
            self.read(from, context);
        }
        for from in [CLIENT, TARGET] {
            let now_ns = context.clock.now();
            if self.write(from, now_ns, context) {
                return Moved::Reset;
            }
            self.arm(from, now_ns, key, context);
        }
        if self.is_over == [true; 2] {
            return Moved::Over;
        }
        let has_more = |from: usize| {
            self.sides[from].can_read
                && !self.lines[from].is_finished()
                && self.lines[from].room(context.limit) > 0
        };
        Moved::Open { again: has_more(CLIENT) || has_more(TARGET) }
    }

    fn read(&mut self, from: usize, context: &mut Context<'_>) {
        for _ in 0..READS_PER_TURN {
            let (side, line) = (&mut self.sides[from], &mut self.lines[from]);
            let room = line.room(context.limit).min(context.buffer.len());
            if !side.can_read || line.is_finished() || room == 0 {
                return;
            }
            let (io, stamp_ns) = stamped::receive(&side.socket, &mut context.buffer[..room], context.control);
            match io {
                Io::Moved(count) => {
                    // A short read has drained the socket; later data causes a new edge.
                    side.can_read = count == room || side.is_hung_up;
                    let delay_ns = context.draws.delay_ns(context.settings);
                    // Reads the real-time clock first: if the thread is preempted in between, the data appears younger, and no
                    // delay is shortened.
                    let real_ns = real_ns();
                    let arrived_ns = arrival_ns(context.clock.now(), real_ns, stamp_ns);
                    line.push(arrived_ns, delay_ns, &context.buffer[..count]);
                }
                Io::NotYet => side.can_read = false,
                Io::Closed => {
                    let delay_ns = context.draws.delay_ns(context.settings);
                    line.finish(context.clock.now(), delay_ns, End::Fin);
                }
                Io::Lost(_) => self.on_reset(from, context),
            }
        }
    }

    /// Forwards data from a side that is due. Returns true if the connection must be reset. A reset overtakes bytes that the other
    /// side does not read, so that it leaves no connection behind.
    fn write(&mut self, from: usize, now_ns: u64, context: &mut Context<'_>) -> bool {
        let (to, bandwidth) = (1 - from, context.bandwidth());
        if self.is_over[from] || now_ns < context.not_before_ns {
            return false;
        }
        if !self.sides[to].accepts_bytes() {
            return self.lines[from].reset_at_ns().is_some_and(|at_ns| at_ns <= now_ns);
        }
        let due_ns = self.lines[from].next_at_ns(bandwidth);
        let passed_before = self.passed_bytes;
        loop {
            let left = self.reset_at_bytes.map_or(u64::MAX, |limit| limit.saturating_sub(self.passed_bytes));
            if left == 0 {
                context.tally.resets += 1;
                return true;
            }
            let ready = self.lines[from].ready(now_ns, bandwidth);
            if ready.is_empty() {
                break;
            }
            let count = ready.len().min(usize::try_from(left).unwrap_or(usize::MAX));
            match self.sides[to].socket.send(&ready[..count]) {
                Io::Moved(count) => {
                    self.lines[from].sent(now_ns, bandwidth, count);
                    self.passed_bytes += count as u64;
                    context.tally.bytes[from] += count as u64;
                }
                Io::NotYet | Io::Closed => {
                    self.sides[to].can_write = false;
                    self.was_blocked[from] = true;
                    return false;
                }
                Io::Lost(_) => {
                    self.on_reset(to, context);
                    return false;
                }
            }
        }
        // Closes are not counted: at the end of a load, all connections close at once.
        if self.passed_bytes > passed_before {
            self.note_late(from, due_ns, now_ns, context);
        }
        self.forward_end(from, now_ns)
    }

    fn note_late(&mut self, from: usize, due_ns: Option<u64>, now_ns: u64, context: &mut Context<'_>) {
        let due_ns =
            due_ns.map(|due_ns| due_ns.max(context.not_before_ns)).filter(|due_ns| *due_ns <= now_ns);
        if let Some(due_ns) = due_ns
            && !std::mem::take(&mut self.was_blocked[from])
        {
            context.tally.late.record(now_ns - due_ns);
        }
    }

    /// Forwards the end of a line if it is due. Returns true if the connection must be reset.
    fn forward_end(&mut self, from: usize, now_ns: u64) -> bool {
        match self.lines[from].end(now_ns) {
            Some(End::Fin) => {
                // Ignores the error if the peer has already disconnected.
                let _ = shutdown(&self.sides[1 - from].socket, Shutdown::Write);
                self.is_over[from] = true;
                false
            }
            Some(End::Reset) => true,
            None => false,
        }
    }

    fn arm(&mut self, from: usize, now_ns: u64, key: Key, context: &mut Context<'_>) {
        if self.is_over[from] {
            return;
        }
        let line = &self.lines[from];
        let next_ns = match self.sides[1 - from].accepts_bytes() {
            true => line.next_at_ns(context.bandwidth()),
            false => line.reset_at_ns(),
        };
        let Some(at_ns) = next_ns.map(|at_ns| at_ns.max(context.not_before_ns)) else { return };
        if at_ns > now_ns && self.armed_ns[from].is_none_or(|armed_ns| armed_ns > at_ns) {
            self.armed_ns[from] = Some(at_ns);
            context.timers.set(at_ns, key, Reason::Leave(from));
        }
    }

    /// Handles a reset by a peer: discards the data in transit to the peer, and resets the other side after the delay.
    fn on_reset(&mut self, side: usize, context: &mut Context<'_>) {
        if std::mem::replace(&mut self.sides[side].is_lost, true) {
            return;
        }
        context.tally.peer_resets += 1;
        let (now_ns, delay_ns) = (context.clock.now(), context.draws.delay_ns(context.settings));
        self.lines[side].finish(now_ns, delay_ns, End::Reset);
        self.is_over[side] = false;
        let other = 1 - side;
        self.lines[other].discard();
        self.lines[other].finish(now_ns, 0, End::Fin);
        self.is_over[other] = true;
    }

    /// Resets both sockets. Unix sockets have no reset, and are closed.
    pub(crate) fn reset(self) {
        for side in self.sides {
            reset(side);
        }
    }
}

/// Closes a socket such that its peer sees a reset.
pub(crate) fn reset(side: Side) {
    if side.is_tcp {
        // If this fails, the peer sees a normal close, which is the best fallback.
        let _ = sockopt::set_socket_linger(&side.socket, Some(Duration::ZERO));
    }
}
