//! The interface between the engine and a protocol: exchanges with tickets on one link, bytes in, events out.

use alloc::boxed::Box;
use alloc::string::String;
use core::fmt;
use core::ops::Range;

use crate::blame::PeerFault;
use crate::content::Content;
use crate::conversation::{
    Cancel, Closing, FirstReplies, Greeting, Interrupt, Next, PartEnd, Rejection, Reply, Stage,
};
use crate::values::Values;

/// Identifies an exchange on a link. The engine chooses the number, and may reuse it after the exchange is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Ticket(pub u32);

impl Ticket {
    /// Placeholder if there is no exchange.
    pub const NONE: Self = Self(u32::MAX);
}

/// Result of the bytes that a peer sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// The reply to an exchange is complete.
    Replied {
        /// Ticket of the exchange, which is over.
        ticket: Ticket,
        /// Result of the reply.
        reply: Reply,
    },
    /// The reply to one part of an exchange is complete.
    PartReplied {
        /// Ticket of the exchange.
        ticket: Ticket,
        /// The part that was answered. `None` if parts are not counted separately.
        part: Option<PartEnd>,
        /// Next step of the exchange, which is over after [`Next::Done`].
        next: Next,
    },
    /// The reply names another peer, which takes over the exchange. The link stays usable.
    Redirected {
        /// Ticket of the exchange, which is over on this link.
        ticket: Ticket,
        /// The peer that the exchange begins on again.
        redirect: Redirect,
    },
    /// An exchange is over without a reply, and the other exchanges on the link go on. The peer rejected or reset a stream, or will
    /// not process it.
    Failed {
        /// Ticket of the exchange, which is over.
        ticket: Ticket,
        /// Error of the peer, with the error class of the exchange.
        fault: PeerFault,
    },
}

/// Redirect of an exchange to another peer of its step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Redirect {
    /// Index of the peer in [`Channels::peers_of`].
    pub peer: u16,
    /// Whether the redirect applies only to this exchange. [`Channel::announce_redirect`] then announces it to the peer.
    pub is_once: bool,
    /// Error of the exchange if it is not redirected again.
    pub fault: PeerFault,
}

/// Link to a peer, and the exchanges that it carries: a state machine that the engine drives, without sockets and clocks.
///
/// ```text
///   new link: greet() ─► [greeted() …] ─► [TLS: secured()] ─► [greeted() …] ─► Done
///
///   begin(ticket) ─► outgoing(), sent() ─► received(): Answered(ticket) … Replied(ticket) or Failed(ticket)
/// ```
///
/// # Calling order
///
/// A link goes through these stages. A method is called only in the stages that name it.
///
/// 1. **New or forgotten.** [`set_address`](Channel::set_address) is called before a socket opens to a peer of several addresses.
///    [`greet`](Channel::greet) comes first on each new socket. [`room`](Channel::room) is not called
///    until the greeting is done.
/// 2. **Greeting.** Each [`Greeting::Send`] is followed by step 4, and each run of bytes by [`greeted`](Channel::greeted).
///    [`secured`](Channel::secured) follows once, after TLS is established, if the greeting returned [`Greeting::Secure`]. Whatever
///    `outgoing` holds after the bytes of one read were processed is sent, also after [`Greeting::Await`] and [`Greeting::Done`].
/// 3. **Up.** [`begin`](Channel::begin) is called with a ticket that no exchange of this link has, and only while `room` is not 0.
///    After [`Next::Pause`] and [`Next::Reopen`], [`resume`](Channel::resume) is called once with the ticket.
/// 4. **Sending.** [`outgoing`](Channel::outgoing) is read after `begin`, `resume`, and an [`Event::PartReplied`] with
///    [`Next::Send`]. Each call is followed by [`sent`](Channel::sent) with the number of bytes that were taken, which may be 0.
///    Both repeat until `outgoing` is empty, the socket takes no more, or others have their turn. Any other method may be called in
///    between, and may append to `outgoing`; it never changes bytes that were returned and that `sent` has not counted.
/// 5. **Receiving.** [`received`](Channel::received) is called with the bytes of one read, and again with the rest after each event,
///    until it returns `None`. The engine acts on an event before the next call: it may begin other exchanges, and reuse the ticket
///    of one that is over.
///    If [`Channels::is_multiplexed`] is true, `outgoing` is called after the last `received`, and then
///    [`must_drain`](Channel::must_drain).
/// 6. **End of one exchange.** An exchange is over after [`Event::Replied`], [`Event::Redirected`], [`Event::Failed`], [`Next::Done`], and
///    [`abandon`](Channel::abandon). [`saved`](Channel::saved), [`content`](Channel::content), and [`explain`](Channel::explain)
///    follow at once, before its ticket begins again. [`cancel`](Channel::cancel) and [`stage`](Channel::stage) come before `abandon`.
/// 7. **End of the link.** After an error, [`peer_closed`](Channel::peer_closed), or a decision to close it,
///    [`farewell`](Channel::farewell) may be called, then [`forget`](Channel::forget), which leads back to stage 1. Tickets,
///    bytes of `outgoing`, and partial replies are void from then on.
///
/// `room`, `stage`, `part`, `is_idle`, and `must_drain` change nothing and may be called at any time in the stages up to the end.
///
/// # Kinds of protocols
///
/// A protocol of one exchange at a time is a [`crate::Conversation`], which [`crate::Serial`] adapts to a channel: its `outgoing`
/// holds bytes only between [`Next::Send`] and their end, and `received` takes all bytes with the event that ends the exchange. A
/// protocol whose replies come in any order, or that has bytes to send at any time, implements this trait itself. Its
/// [`Channels::is_multiplexed`] returns true.
pub trait Channel: Send {
    /// Number of further exchanges that may begin now.
    fn room(&self) -> u32;

    /// Whether the peer takes no new exchanges on this link, as after GOAWAY: [`Channel::room`] is 0 until [`Channel::forget`]. Exchanges
    /// in flight continue. After the last of them, the link is closed, and opened again for new exchanges. Called if
    /// [`Channels::is_multiplexed`] is true; a serial protocol uses [`Reply::reusable`] instead.
    fn must_drain(&self) -> bool {
        false
    }

    /// Announces the number of the address that the next socket connects to, for a peer of several addresses.
    fn set_address(&mut self, address: u16) {
        let _ = address;
    }

    /// Starts the greeting on a new link: everything before the first exchange. [`Channel::outgoing`] returns the bytes to send.
    fn greet(&mut self) -> Greeting {
        Greeting::Done
    }

    /// Processes bytes of the greeting. Returns how many belong to it, and the next step of the greeting.
    fn greeted(&mut self, bytes: &[u8]) -> Result<(usize, Greeting), PeerFault> {
        let _ = bytes;
        Ok((0, Greeting::Done))
    }

    /// Takes the server's certificate, DER-encoded, before [`Channel::secured`].
    fn certificate(&mut self, der: &[u8]) {
        let _ = der;
    }

    /// Continues the greeting after TLS is established, as [`Greeting::Secure`] requested.
    fn secured(&mut self) -> Greeting {
        Greeting::Done
    }

    /// Announces that the next exchange was redirected to this peer with [`Redirect::is_once`].
    fn announce_redirect(&mut self) {}

    /// Begins the exchange of a step with the values of the user's variables.
    fn begin(&mut self, ticket: Ticket, step: u16, values: &Values) -> Next;

    /// Continues an exchange after its pause, or on the new connection after [`Next::Reopen`].
    fn resume(&mut self, ticket: Ticket) -> Next {
        let _ = ticket;
        Next::Await
    }

    /// Bytes that the next write sends. Bytes that do not fit follow after [`Channel::sent`].
    fn outgoing(&self) -> &[u8];

    /// Removes the first `count` bytes of [`Channel::outgoing`], which the socket has taken.
    fn sent(&mut self, count: usize);

    /// Processes bytes from the peer, up to the next event or further. Returns the number of bytes that were used, and the event. It is
    /// called again with the rest, which may be empty, until it has used all bytes and returns no event. Without an exchange in flight, it
    /// accepts only bytes that a peer may send at any time.
    ///
    /// On a link within this process, it is called without bytes, instead of sending and receiving. It blocks until the exchange is done.
    fn received(&mut self, bytes: &[u8]) -> Result<Option<(usize, Event)>, PeerFault>;

    /// Handles the end of the peer's bytes, and returns what it means for an exchange.
    fn peer_closed(&mut self, ticket: Ticket) -> Closing;

    /// Progress of the reply to an exchange.
    fn stage(&self, ticket: Ticket) -> Stage;

    /// Number of the part that awaits a reply. `None` if parts are not counted separately.
    fn part(&self, ticket: Ticket) -> Option<u16> {
        let _ = ticket;
        None
    }

    /// Error message for a refusal that was just returned.
    fn explain(&self, rejection: Rejection) -> String;

    /// Content of the reply to an exchange that just ended with [`Event::Replied`] or [`Next::Done`].
    fn content(&self, ticket: Ticket) -> Content {
        let _ = ticket;
        Content::default()
    }

    /// First replies, compared with each other; see [`crate::Conversation::first_replies`].
    fn first_replies(&self) -> Option<FirstReplies> {
        None
    }

    /// Writes variables that replies gave values to into `values`. Called after a reply to this exchange if its user continues on
    /// other links.
    fn saved(&mut self, ticket: Ticket, values: &mut Values) {
        let _ = (ticket, values);
    }

    /// Whether no exchange is in flight, so that [`Channel::farewell`] may be sent.
    fn is_idle(&self) -> bool;

    /// Bytes that a polite client sends before it closes an idle link. Empty if the protocol has none.
    fn farewell(&self) -> &[u8] {
        &[]
    }

    /// Means to cancel an exchange on a separate connection. `None` if the protocol has no such thing. Called after a deadline has
    /// passed.
    fn cancel(&self, ticket: Ticket) -> Option<Cancel> {
        let _ = ticket;
        None
    }

    /// Abandons one exchange, and returns whether the link can still carry others. No event names this ticket until `begin` uses it again.
    fn abandon(&mut self, ticket: Ticket) -> bool {
        let _ = ticket;
        false
    }

    /// Abandons all exchanges in flight, after the link was closed.
    fn forget(&mut self);

    /// Makes [`Channel::received`] of a link within this process return soon, from another thread. `None` if that is not possible.
    fn interrupt(&self) -> Option<Interrupt> {
        None
    }
}

impl fmt::Debug for dyn Channels {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Channels")
    }
}

/// Destination of the request of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PeerStep {
    /// Number of the peer, and of its script.
    pub peer: u16,
    /// Number of the step in that script.
    pub step: u16,
}

/// The steps of a load, and the factory of their channels; shared by all threads.
pub trait Channels: Send + Sync {
    /// Creates the channel of link `number` to a peer, without an exchange in flight. Numbers count over all threads, from 0.
    fn open(&self, peer: u16, number: u32) -> Box<dyn Channel>;

    /// Number of peers that have these steps.
    fn peers(&self) -> u16 {
        1
    }

    /// Whether links to a peer open with their first exchange, instead of before the load.
    fn connects_lazily(&self, peer: u16) -> bool {
        let _ = peer;
        false
    }

    /// Notes whether a link to a peer was opened, or could not be opened, for later calls of [`Channels::route`].
    fn note_reachable(&self, peer: u16, is_reachable: bool) {
        let _ = (peer, is_reachable);
    }

    /// Peer of a step, and the number of the step at that peer.
    fn place(&self, step: u16) -> PeerStep {
        PeerStep { peer: 0, step }
    }

    /// Whether the peer of some step depends on values, so that [`Channels::route`] must be called.
    fn has_routes(&self) -> bool {
        false
    }

    /// Peer for the request of a step with these values of its user, which include all values that the step needs.
    fn route(&self, step: u16, values: &Values) -> u16 {
        let _ = values;
        self.place(step).peer
    }

    /// Peers among which [`Channels::route`] chooses for a step, beginning with the peer of [`Channels::place`].
    fn peers_of(&self, step: u16) -> Range<u16> {
        let first = self.place(step).peer;
        first..first + 1
    }

    /// Number of parts of steps that are counted separately. In a mix, the parts of later peers follow.
    fn parts(&self) -> u16 {
        0
    }

    /// Offset of a peer's part numbers, so that they follow the numbers of all steps, and of the parts of earlier peers.
    fn part_offset(&self, peer: u16) -> u16 {
        let _ = peer;
        0
    }

    /// Max exchanges in flight on one link to a peer.
    fn room(&self, peer: u16) -> u32 {
        let _ = peer;
        1
    }

    /// Whether links to a peer carry concurrent exchanges, or send bytes that belong to no exchange, such as acknowledgments.
    /// [`Channel::outgoing`] of these links is called after each [`Channel::received`].
    fn is_multiplexed(&self, peer: u16) -> bool {
        self.room(peer) > 1
    }

    /// Whether a peer runs in this process, where calls replace sending and receiving.
    fn is_in_process(&self, peer: u16) -> bool {
        let _ = peer;
        false
    }

    /// Whether a step's request needs the value of a variable.
    fn needs(&self, step: u16, variable: u16) -> bool;

    /// Whether replies to a step are searched, or used in computations. The time for this is not the system's.
    fn inspects_replies(&self, step: u16) -> bool;

    /// Whether a step's request has an identical effect if it is sent twice (RFC 9110, 9.2.2). The client may resend an idempotent request
    /// if its peer did not receive it.
    fn is_idempotent(&self, step: u16) -> bool {
        let _ = step;
        false
    }

    /// Upper bound of the memory in use. `longest_bytes` returns the max length of a value that is not captured from a reply.
    fn footprint(&self, longest_bytes: &dyn Fn(u16) -> u64) -> Footprint {
        let _ = longest_bytes;
        Footprint::default()
    }

    /// Makes error messages of rejections quote the replies, for protocols whose replies contain no message.
    fn quote(&mut self) {}
}

/// Upper bounds of the memory of a load's channels.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Footprint {
    /// Bytes that each link keeps, independent of its peer's replies.
    pub kept_bytes: u64,
    /// Length of the longest request in bytes.
    pub request_bytes: u64,
    /// Bytes that all links share.
    pub shared_bytes: u64,
    /// Number of regular expressions.
    pub expressions: u64,
}
