//! The client's side of a protocol that carries one exchange at a time: bytes in, replies out, and nothing else.

use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;

use crate::ErrorClass;
use crate::blame::PeerFault;
use crate::channel::Footprint;

/// One client's side of one connection, and the values of its user's variables.
///
/// ```text
///   new connection: greet() ─► [greeted() …] ─► [TLS: secured()] ─► [greeted() …] ─► Done
///
///           begin(step)      received() → Replied, or Answered with Next::Done
///   Idle ───────────► a reply is awaited ───────────────────────────────────► Idle
///    ▲    go_on() ─►  │   ▲ received() → Answered with Next::Send, Await or Pause
///    │                └───┘
///    └────── forget() ◄── received() → fault, peer_closed(): the connection is given up
/// ```
///
/// A request may have parts, such as the statements of a transaction: each is sent when the one before it is answered.
///
/// With a system in this very process ([`crate::InProcess`]) there are no bytes, and nothing is read from
/// [`Conversation::outgoing`]. [`Conversation::received`] is called with none after each [`Next::Send`] and [`Next::Await`], and again
/// after [`Progress::NeedMore`]: it does what was begun, and blocks until that is done. [`Conversation::greeted`] is called likewise
/// until it answers [`Greeting::Done`]; a system that cannot be opened is its fault to tell.
pub trait Conversation: Send {
    /// Gives a variable its value, for requests that begin from now on.
    fn set(&mut self, variable: u16, value: &[u8]);

    /// Hands over every variable that replies give values to, with its present value. It is asked for after a reply, where a user
    /// goes on over other connections.
    fn saved(&mut self, take: &mut dyn FnMut(u16, &[u8])) {
        let _ = take;
    }

    /// A connection was opened: says what comes before the first request. [`Conversation::outgoing`] has what is to be sent.
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

    /// The next socket goes to the address of this number, where the peer has several.
    fn connects_to(&mut self, address: u16) {
        let _ = address;
    }

    /// Another user is about to begin: what belongs to the one before is forgotten, unless it is among the variables.
    fn change_user(&mut self) {}

    /// Starts the request of a step on a connection that is ready.
    fn begin(&mut self, step: u16) -> Next;

    /// Goes on after a pause, or over the new connection after [`Next::Reopen`].
    fn go_on(&mut self) -> Next {
        Next::Await
    }

    /// The bytes that are to be sent next, whole; the engine knows how far it has written them. They change only with
    /// [`Conversation::greet`] and the other calls that answer [`Greeting::Send`] or [`Next::Send`].
    fn outgoing(&self) -> &[u8];

    /// How many of these bytes one write may hand to the kernel, at least one.
    fn write_bytes_max(&self) -> usize {
        usize::MAX
    }

    /// Takes in bytes from the peer, as far as the end of one reply, or of the reply to one part.
    fn received(&mut self, bytes: &[u8]) -> Result<Progress, PeerFault>;

    /// The peer will send nothing more.
    fn peer_closed(&mut self) -> Closing;

    /// How far the reply under way has come.
    fn stage(&self) -> Stage;

    /// The part of the request whose reply is awaited, if parts have accounts of their own.
    fn part(&self) -> Option<u16> {
        None
    }

    /// What a refusal that was just handed out means, in words.
    fn explain(&self, refusal: Refusal) -> String;

    /// The first replies, compared with each other. `None` if they are not compared.
    fn first_replies(&self) -> Option<FirstReplies> {
        None
    }

    /// What a polite client says before it closes an idle connection.
    fn farewell(&self) -> &[u8] {
        &[]
    }

    /// What ends the request under way over a connection of its own, where the protocol has such a thing. It is asked for when a
    /// deadline has passed.
    fn cancel(&self) -> Option<Cancel> {
        None
    }

    /// Gives up whatever was under way: the connection is gone.
    fn forget(&mut self);

    /// With a system in this process: what makes a call of [`Conversation::received`] end soon, from another thread, if there is such
    /// a thing. Asked for once the greeting is done; it must do no harm when nothing is under way.
    fn interrupt(&self) -> Option<Interrupt> {
        None
    }
}

/// The first replies of a connection without an expectation of their bodies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FirstReplies {
    /// Hashes of the requests, each once.
    pub requests: Vec<u64>,
    /// Replies that were compared.
    pub replies: u32,
    /// The short body of all of them, without secrets. `None` if they differ, are long or empty, or were rejected.
    pub body: Option<Vec<u8>>,
}

/// Ends what another thread is waiting for.
pub type Interrupt = Box<dyn Fn() + Send + Sync>;

/// The steps of all conversations; shared by all threads.
pub trait Script: Send + Sync {
    /// The conversation of one connection.
    type Conversation: Conversation;

    /// The conversation of connection `number`, counted over all threads from 0, with nothing under way.
    fn open(&self, number: u32) -> Self::Conversation;

    /// Whether a step's request needs the value of a variable.
    fn needs(&self, step: u16, variable: u16) -> bool;

    /// Whether replies to a step are looked through, or computed with: that takes time, and the time is not the system's.
    fn looks_through(&self, step: u16) -> bool;

    /// As [`crate::Channels::is_idempotent`].
    fn is_idempotent(&self, step: u16) -> bool {
        let _ = step;
        false
    }

    /// As [`crate::Channels::parts`].
    fn parts(&self) -> u16 {
        0
    }

    /// As [`crate::Channels::footprint`].
    fn footprint(&self, longest_bytes: &dyn Fn(u16) -> u64) -> Footprint {
        let _ = longest_bytes;
        Footprint::default()
    }

    /// As [`crate::Channels::quote`].
    fn quote(&mut self) {}
}

/// What ends a request of another connection.
pub enum Cancel {
    /// These bytes, in the clear, whereupon the peer closes the connection.
    Bytes([u8; 16]),
    /// The request of step 0 of a conversation, which greets first. A refusal says that nothing was ended.
    Request(Box<dyn Conversation>),
}

/// How a greeting goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Greeting {
    /// [`Conversation::outgoing`] is to be sent, and then more is awaited.
    Send,
    /// More is awaited.
    Await,
    /// Both sides go over to TLS; then [`Conversation::secured`] is called.
    Secure,
    /// The connection can carry requests; nothing is to be sent, and nothing is awaited.
    Done,
}

/// How a request goes on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Next {
    /// [`Conversation::outgoing`] is to be sent, from its beginning; what was there before has been sent.
    Send,
    /// Further replies to what was sent are awaited.
    Await,
    /// Nothing for so long, in nanoseconds; then [`Conversation::go_on`].
    Pause {
        /// How long.
        ns: u64,
    },
    /// The connection is closed and opened again; then [`Conversation::go_on`].
    Reopen,
    /// The request is over.
    Done(Reply),
    /// The scenario itself cannot go on, which is nobody's fault but its author's: the load ends. In words.
    Broken(String),
}

/// What the bytes so far amount to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Progress {
    /// The reply goes on; all bytes were taken.
    NeedMore,
    /// The reply ended after `used` of the bytes handed in.
    Replied {
        /// Bytes that belong to it; the rest was not looked at.
        used: usize,
        /// The reply.
        reply: Reply,
    },
    /// The reply to one part of the request ended after `used` of the bytes handed in.
    Answered {
        /// Bytes that belong to it; the rest was not looked at.
        used: usize,
        /// The part, if it has an account of its own.
        part: Option<PartEnd>,
        /// How the request goes on.
        next: Next,
    },
}

/// The end of one part of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PartEnd {
    /// The number of its account, as [`Conversation::part`] said before.
    pub part: u16,
    /// Why it counts as a no, if it does.
    pub refusal: Option<Refusal>,
}

/// A complete reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reply {
    /// The protocol's number for it, such as 200; 0 if it has none. Of an SQL transaction: how often it was tried.
    pub status: u16,
    /// Why it counts as a no, if it does.
    pub refusal: Option<Refusal>,
    /// Whether the connection can carry another request.
    pub reusable: bool,
    /// For how long the peer keeps the connection open while it is idle, as it says, in seconds; 0 if it says nothing.
    pub idle_max_s: u16,
    /// Its size in bytes, framing included.
    pub received_bytes: u64,
}

/// The system answered, and the answer was not what the scenario expects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// What reports count it as. After [`ErrorClass::ScriptStopped`] the user of a closed load makes no further request.
    pub class: ErrorClass,
    /// The status, or what tells the rules of the step apart.
    pub code: u32,
}

/// How far a reply has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// None is awaited.
    Idle,
    /// Nothing of it has come.
    FirstByte,
    /// It has begun.
    Head,
    /// Its content is coming.
    Body,
    /// The request may have taken effect, and it is not known yet whether it did: a commit is on its way.
    InDoubt,
}

/// What the end of the peer's bytes means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Closing {
    /// It ended the reply, as the protocol allows.
    Replied(Reply),
    /// No reply was awaited, or nothing of it had come.
    Empty,
    /// A reply was cut short.
    Incomplete,
}
