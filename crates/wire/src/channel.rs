//! The seam between the engine and a protocol: exchanges with tickets over one link, bytes in, events out.

use alloc::boxed::Box;
use alloc::string::String;
use core::fmt;
use core::ops::Range;

use crate::blame::PeerFault;
use crate::conversation::{
    Cancel, Closing, FirstReplies, Greeting, Interrupt, Next, PartEnd, Refusal, Reply, Stage,
};
use crate::values::Values;

/// Tells the exchanges of a link apart. The engine chooses it; a ticket is free again when its exchange is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Ticket(pub u32);

impl Ticket {
    /// The ticket of no exchange.
    pub const NONE: Self = Self(u32::MAX);
}

/// What bytes of the peer amount to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// The reply to an exchange is complete.
    Replied {
        /// The exchange, which is over.
        ticket: Ticket,
        /// The reply.
        reply: Reply,
    },
    /// The reply to one part of an exchange is complete.
    Answered {
        /// The exchange.
        ticket: Ticket,
        /// The part, if it has an account of its own.
        part: Option<PartEnd>,
        /// How the exchange goes on; it is over after [`Next::Done`].
        next: Next,
    },
    /// An exchange is over without a reply, and the others of its link go on: the peer refused or reset a stream, or will not
    /// process it.
    Failed {
        /// The exchange, which is over.
        ticket: Ticket,
        /// What the peer did, with the class that the exchange counts as.
        fault: PeerFault,
    },
}

/// One link to a peer, and the exchanges that it carries: a machine that the engine drives, without sockets and clocks.
///
/// ```text
///   new link: greet() ─► [greeted() …] ─► [TLS: secured()] ─► [greeted() …] ─► Done
///
///   begin(ticket) ─► outgoing(), sent() ─► received(): Answered(ticket) … Replied(ticket) or Failed(ticket)
/// ```
///
/// # Calling order
///
/// A link goes through these stages. A method that is not named in a stage is not called there.
///
/// 1. **New or forgotten.** [`connects_to`](Channel::connects_to) is called before a socket opens to a peer of several addresses.
///    [`greet`](Channel::greet) comes first on each new socket. [`room`](Channel::room) is not asked for
///    until the greeting is done.
/// 2. **Greeting.** Each [`Greeting::Send`] is followed by step 4, and each run of bytes by [`greeted`](Channel::greeted).
///    [`secured`](Channel::secured) follows once, after TLS is established, if the greeting answered [`Greeting::Secure`]. Whatever
///    `outgoing` holds after the bytes of one read were taken in is sent, also after [`Greeting::Await`] and [`Greeting::Done`].
/// 3. **Up.** [`begin`](Channel::begin) is called with a ticket that no exchange of this link has, and only while `room` is not 0.
///    After [`Next::Pause`] and [`Next::Reopen`], [`go_on`](Channel::go_on) is called once with the ticket.
/// 4. **Sending.** [`outgoing`](Channel::outgoing) is read after `begin`, `go_on`, and an [`Event::Answered`] that says
///    [`Next::Send`]. Each look is followed by [`sent`](Channel::sent) with the number of bytes that were taken, which may be 0.
///    Both repeat until `outgoing` is empty, the socket takes no more, or others have their turn. Any other method may be called in
///    between, and may append to `outgoing`; it never changes bytes that a look has shown and `sent` has not counted.
/// 5. **Receiving.** [`received`](Channel::received) is called with the bytes of one read, and again with the rest after each event,
///    until it answers `None`. The engine acts on an event before the next call: it may begin other exchanges, and reuse the ticket
///    of one that is over.
///    Where [`Channels::is_multiplexed`] says so, `outgoing` is looked at after the last call, and then
///    [`draining`](Channel::draining) is asked for.
/// 6. **End of one exchange.** An exchange is over after [`Event::Replied`], [`Event::Failed`], [`Next::Done`], and
///    [`abandon`](Channel::abandon). [`saved`](Channel::saved) and [`explain`](Channel::explain) follow at once, before its ticket
///    begins again. [`cancel`](Channel::cancel) and [`stage`](Channel::stage) come before `abandon`.
/// 7. **End of the link.** After an error, [`peer_closed`](Channel::peer_closed), or a decision to close it,
///    [`farewell`](Channel::farewell) may be asked for, then [`forget`](Channel::forget), which leads back to stage 1. Tickets,
///    bytes of `outgoing`, and partial replies are void from then on.
///
/// `room`, `stage`, `part`, `is_idle`, and `draining` change nothing and may be called at any time in the stages up to the end.
///
/// # Kinds of protocols
///
/// A protocol of one exchange at a time is a [`crate::Conversation`], of which [`crate::Serial`] makes a channel: its `outgoing`
/// holds bytes only between [`Next::Send`] and their end, and `received` takes all bytes with the event that ends the exchange. A
/// protocol whose replies come in any order, or that has bytes to send at any time, implements this trait itself, and its
/// [`Channels`] say that it is multiplexed.
pub trait Channel: Send {
    /// How many more exchanges may begin now.
    fn room(&self) -> u32;

    /// Whether the peer takes no new exchanges on this link, as after GOAWAY: [`Channel::room`] is 0 until [`Channel::forget`]. The
    /// exchanges under way go on. The link is closed after the last of them, and opened again for others. It is asked for where
    /// [`Channels::is_multiplexed`] says so; a serial protocol says it with [`Reply::reusable`].
    fn draining(&self) -> bool {
        false
    }

    /// The next socket goes to the address of this number, where the peer has several.
    fn connects_to(&mut self, address: u16) {
        let _ = address;
    }

    /// The link was opened: says what comes before the first exchange. [`Channel::outgoing`] has what is to be sent.
    fn greet(&mut self) -> Greeting {
        Greeting::Done
    }

    /// Takes in bytes of the greeting; says how many belong to it, and how it goes on.
    fn greeted(&mut self, bytes: &[u8]) -> Result<(usize, Greeting), PeerFault> {
        let _ = bytes;
        Ok((0, Greeting::Done))
    }

    /// TLS, which the greeting asked for, is spoken from now on.
    fn secured(&mut self) -> Greeting {
        Greeting::Done
    }

    /// Begins the exchange of a step, with the variables of its user.
    fn begin(&mut self, ticket: Ticket, step: u16, values: &Values) -> Next;

    /// Goes on with an exchange after its pause, or over the new connection after [`Next::Reopen`].
    fn go_on(&mut self, ticket: Ticket) -> Next {
        let _ = ticket;
        Next::Await
    }

    /// The bytes that the next write is to send; what follows them is there once they were sent.
    fn outgoing(&self) -> &[u8];

    /// So many bytes of [`Channel::outgoing`] were handed on.
    fn sent(&mut self, count: usize);

    /// Takes in bytes from the peer, at least as far as the next event; says how many, and the event. It is called again with the
    /// rest, which may be empty, until it has taken them all and has no event. With nothing under way, only what a peer may say at any
    /// time passes.
    ///
    /// On a link within this process it is called with no bytes, in place of sending and receiving, and blocks until what was begun is
    /// done.
    fn received(&mut self, bytes: &[u8]) -> Result<Option<(usize, Event)>, PeerFault>;

    /// The peer will send nothing more: what that means for an exchange.
    fn peer_closed(&mut self, ticket: Ticket) -> Closing;

    /// How far the reply to an exchange has come.
    fn stage(&self, ticket: Ticket) -> Stage;

    /// The part of an exchange whose reply is awaited, if parts have accounts of their own.
    fn part(&self, ticket: Ticket) -> Option<u16> {
        let _ = ticket;
        None
    }

    /// What a refusal that was just handed out means, in words.
    fn explain(&self, refusal: Refusal) -> String;

    /// As [`crate::Conversation::first_replies`].
    fn first_replies(&self) -> Option<FirstReplies> {
        None
    }

    /// Hands over the values that replies gave to variables: asked for after a reply to this exchange, where its user goes on over
    /// other links.
    fn saved(&mut self, ticket: Ticket, values: &mut Values) {
        let _ = (ticket, values);
    }

    /// Whether nothing is under way, so that [`Channel::farewell`] is in place.
    fn is_idle(&self) -> bool;

    /// What a polite client says before it closes an idle link.
    fn farewell(&self) -> &[u8] {
        &[]
    }

    /// What ends an exchange over a connection of its own, where the protocol has such a thing. It is asked for when a deadline has
    /// passed.
    fn cancel(&self, ticket: Ticket) -> Option<Cancel> {
        let _ = ticket;
        None
    }

    /// Gives up one exchange, and says whether the link can carry others all the same: no event names this ticket until it begins
    /// again.
    fn abandon(&mut self, ticket: Ticket) -> bool {
        let _ = ticket;
        false
    }

    /// Gives up whatever was under way: the link is gone.
    fn forget(&mut self);

    /// On a link within this process: what makes [`Channel::received`] end soon, from another thread, if there is such a thing.
    fn interrupt(&self) -> Option<Interrupt> {
        None
    }
}

impl fmt::Debug for dyn Channels {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Channels")
    }
}

/// Where the request of a step goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PeerStep {
    /// The number of its peer, which is that of the peer's script.
    pub peer: u16,
    /// The number of the step in that script.
    pub step: u16,
}

/// The steps of a load, and the channels that carry them; shared by all threads.
pub trait Channels: Send + Sync {
    /// The channel of link `number` to a peer, counted over all threads from 0, with nothing under way.
    fn open(&self, peer: u16, number: u32) -> Box<dyn Channel>;

    /// The peer of a step, and its number there.
    fn place(&self, step: u16) -> PeerStep {
        PeerStep { peer: 0, step }
    }

    /// Whether the peer of some step follows from values, and [`Channels::route`] must be asked.
    fn has_routes(&self) -> bool {
        false
    }

    /// The peer that takes the request of a step with these values of its user, which include those that the step needs.
    fn route(&self, step: u16, values: &Values) -> u16 {
        let _ = values;
        self.place(step).peer
    }

    /// The peers among which [`Channels::route`] chooses for a step, beginning with that of [`Channels::place`].
    fn peers_of(&self, step: u16) -> Range<u16> {
        let first = self.place(step).peer;
        first..first + 1
    }

    /// Number of parts of steps that have accounts of their own. The parts of later peers of a mix follow them.
    fn parts(&self) -> u16 {
        0
    }

    /// By how much the numbers of the parts at a peer grow: their accounts follow those of all steps.
    fn parts_ahead(&self, peer: u16) -> u16 {
        let _ = peer;
        0
    }

    /// How many exchanges a link to a peer carries at the same time, at most.
    fn room(&self, peer: u16) -> u32 {
        let _ = peer;
        1
    }

    /// Whether links to a peer carry exchanges side by side, or have bytes to send that no exchange asked for, such as
    /// acknowledgments. [`Channel::outgoing`] of such a link is asked for after each [`Channel::received`].
    fn is_multiplexed(&self, peer: u16) -> bool {
        self.room(peer) > 1
    }

    /// Whether a peer is in this very process, where calls take the place of sending and receiving.
    fn is_in_process(&self, peer: u16) -> bool {
        let _ = peer;
        false
    }

    /// Whether a step's request needs the value of a variable.
    fn needs(&self, step: u16, variable: u16) -> bool;

    /// Whether replies to a step are looked through, or computed with: that takes time, and the time is not the system's.
    fn looks_through(&self, step: u16) -> bool;

    /// Whether a step's request has the same effect if it is sent twice (RFC 9110, 9.2.2), so that it may be sent again where its peer
    /// did not receive it.
    fn is_idempotent(&self, step: u16) -> bool {
        let _ = step;
        false
    }

    /// The memory that it takes at most. `longest_bytes` says how long a value can be that no reply gave.
    fn footprint(&self, longest_bytes: &dyn Fn(u16) -> u64) -> Footprint {
        let _ = longest_bytes;
        Footprint::default()
    }

    /// From now on, the words of refusals quote the replies, where the protocol's replies say nothing of their own.
    fn quote(&mut self) {}
}

/// What the channels of a load take at most.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Footprint {
    /// Bytes that each link keeps, whatever its peer sends.
    pub kept_bytes: u64,
    /// Bytes of the longest request.
    pub request_bytes: u64,
    /// Bytes that all links share.
    pub shared_bytes: u64,
    /// Regular expressions.
    pub expressions: u64,
}
