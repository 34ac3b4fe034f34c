//! One connection slot: its socket, the request it carries, and what it has seen.

use std::mem::swap;

use record::ConnectionTotals;
use rustix::io::Errno;
use wire::Conversation;

use crate::iterations::Way;
use crate::job::Job;
use crate::net::socket::Socket;
use crate::net::tls::Session;

/// No deadline, or no timer.
pub(crate) const NEVER: u64 = u64::MAX;

/// A place for a connection, kept for the whole load while sockets come and go in it.
pub(crate) struct Connection<T> {
    pub(crate) talk: T,
    pub(crate) link: Link,
    pub(crate) request: Option<InFlight>,
    /// The step of the request that it carries, or carried last.
    pub(crate) step: u16,
    pub(crate) way: Way,
    /// Who uses it, where users share connections.
    pub(crate) user: u32,
    /// When what is under way must be over.
    pub(crate) deadline_ns: u64,
    /// When the timer that watches the deadline comes up.
    pub(crate) armed_ns: u64,
    /// Counts the sockets of this slot, so that an event of another one is not taken for this one's: even numbers for the
    /// first peer, odd ones for the second.
    pub(crate) generation: u32,
    /// Replies on the present socket.
    pub(crate) served: u32,
    /// The peer has closed its side of the present socket: it carries no further request.
    pub(crate) hung_up: bool,
    /// Why sending on the present socket failed, if it did.
    pub(crate) send_error: Option<Errno>,
    /// Since when its user asks for an ok answer; [`NEVER`]: nobody does.
    pub(crate) asking_since_ns: u64,
    /// Whether a request of that time ended in another way.
    pub(crate) is_asking_again: bool,
    /// Ends without a reply in a row.
    pub(crate) failures: u32,
    /// When the next request of this slot is intended, once its user is ready for one.
    pub(crate) next_ns: u64,
    /// Since when it could carry the next request.
    pub(crate) free_ns: u64,
    pub(crate) totals: ConnectionTotals,
    /// When the present socket began to connect.
    pub(crate) dialled_ns: u64,
    /// How long the present socket took to be ready, until its first request has reported it.
    pub(crate) connect_ns: u64,
    pub(crate) within: Within,
    /// The peer of the link in use.
    pub(crate) peer: u16,
    /// Whether its connections carry more than one request.
    pub(crate) keeps_alive: bool,
    /// The link to the other peer, if there is another.
    pub(crate) parked: Option<Box<Parked>>,
}

/// A link that waits for its turn, and what is known of it.
pub(crate) struct Parked {
    link: Link,
    generation: u32,
    served: u32,
    hung_up: bool,
    send_error: Option<Errno>,
    dialled_ns: u64,
    connect_ns: u64,
    peer: u16,
    keeps_alive: bool,
}

impl Parked {
    /// The link to the second peer, which nobody has dialled yet.
    fn second(keeps_alive: bool) -> Self {
        Self {
            link: Link::Down,
            generation: 1,
            served: 0,
            hung_up: false,
            send_error: None,
            dialled_ns: 0,
            connect_ns: 0,
            peer: 1,
            keeps_alive,
        }
    }
}

/// Where a request of several parts is.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Within {
    /// The part whose reply is awaited, if it has an account of its own.
    pub(crate) part: Option<PartUnderWay>,
    /// When bytes were last sent.
    pub(crate) sent_ns: u64,
    /// Bytes of all its parts so far that were handed on, to the socket or to TLS.
    pub(crate) sent_bytes: u64,
    /// When its pause is over; 0 while it does not pause.
    pub(crate) pause_until_ns: u64,
    /// Whether anything of it was answered.
    pub(crate) is_answered: bool,
}

/// A part of a request, on its way.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PartUnderWay {
    /// The number of its account.
    pub(crate) book: u16,
    pub(crate) sent_ns: u64,
    /// When the first byte of its reply came; 0 until then.
    pub(crate) first_byte_ns: u64,
}

/// The way to the peer.
///
/// ```text
///   Down ──dial──► Connecting ──► [Shaking (TLS)] ──► Greeting ──► Up ──► Down
///                                        ▲               │
///                                        └─ [TLS wanted] ┘
/// ```
pub(crate) enum Link {
    Down,
    Connecting {
        socket: Socket,
    },
    Shaking {
        socket: Socket,
        session: Box<Session>,
        since_ns: u64,
    },
    /// The conversation comes to terms with the peer. `written` says how far what it last wanted to send was handed on;
    /// `None`: it wants nothing sent.
    Greeting {
        socket: Socket,
        session: Option<Box<Session>>,
        written: Option<u32>,
    },
    Up {
        socket: Socket,
        session: Option<Box<Session>>,
    },
    /// The system is in this process, and open.
    Embedded,
}

impl Link {
    /// Whether an end of the bytes would be anybody's doing: TLS announces its own end, and this one has not.
    pub(crate) fn is_cut_off(&self) -> bool {
        matches!(self, Self::Up { session: Some(session), .. } if !session.peer_closed)
    }

    /// Whether TLS has sealed more than the socket has taken.
    pub(crate) fn has_unsent_records(&self) -> bool {
        matches!(self, Self::Up { session: Some(session), .. } if !session.outgoing.is_empty())
    }
}

/// The request that a connection carries.
#[derive(Clone, Copy, Debug)]
pub(crate) struct InFlight {
    pub(crate) intended_ns: u64,
    /// When it was given to this connection, which may still have had to be opened.
    pub(crate) begun_ns: u64,
    /// When it was first written; when it was begun, until then.
    pub(crate) sent_ns: u64,
    /// What of its lateness was ours: a connection was free, and it was not sent.
    pub(crate) lag_ns: u64,
    /// When the first byte of its reply came; 0 until then.
    pub(crate) first_byte_ns: u64,
    /// Bytes of it that were handed on, to the socket or to TLS.
    pub(crate) written: u32,
}

impl<T> Connection<T> {
    pub(crate) fn new(talk: T, way: Way, job: &Job) -> Self {
        Self {
            talk,
            link: Link::Down,
            request: None,
            step: 0,
            way,
            user: 0,
            deadline_ns: NEVER,
            armed_ns: NEVER,
            generation: 0,
            served: 0,
            hung_up: false,
            send_error: None,
            asking_since_ns: NEVER,
            is_asking_again: false,
            failures: 0,
            next_ns: 0,
            free_ns: 0,
            totals: ConnectionTotals::default(),
            dialled_ns: 0,
            connect_ns: 0,
            within: Within::default(),
            peer: 0,
            keeps_alive: job.keep_alive,
            parked: job.beside.as_ref().map(|beside| Box::new(Parked::second(beside.keep_alive))),
        }
    }

    /// The link to the other peer is in use from now on, and this one is parked. Says whether there is one.
    pub(crate) fn change_links(&mut self) -> bool {
        let Some(parked) = &mut self.parked else { return false };
        swap(&mut self.link, &mut parked.link);
        swap(&mut self.generation, &mut parked.generation);
        swap(&mut self.served, &mut parked.served);
        swap(&mut self.hung_up, &mut parked.hung_up);
        swap(&mut self.send_error, &mut parked.send_error);
        swap(&mut self.dialled_ns, &mut parked.dialled_ns);
        swap(&mut self.connect_ns, &mut parked.connect_ns);
        swap(&mut self.peer, &mut parked.peer);
        swap(&mut self.keeps_alive, &mut parked.keeps_alive);
        true
    }

    /// The instant by which what happens here is sorted into a phase: that of the request it carries. Connections that are
    /// opened without one belong to the result.
    pub(crate) fn counted_in_ns(&self) -> u64 {
        self.request.map_or(NEVER, |request| request.intended_ns)
    }

    /// Whether the kernel has taken everything that was to be sent.
    #[inline]
    pub(crate) fn has_sent_all(&self) -> bool
    where
        T: Conversation,
    {
        let outgoing_bytes = self.talk.outgoing().len();
        let is_written = self.request.is_none_or(|request| request.written as usize == outgoing_bytes);
        is_written && !self.link.has_unsent_records()
    }

    /// Whether it served before and nothing of its present request was answered: it may have been closed by then.
    pub(crate) fn is_fresh_reuse(&self) -> bool {
        self.served > 0 && !self.within.is_answered
    }

    pub(crate) fn is_up(&self) -> bool {
        matches!(self.link, Link::Up { .. } | Link::Embedded)
    }
}
