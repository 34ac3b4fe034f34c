//! The seam between the engine and a protocol: bytes in, replies out, and nothing else.

use alloc::string::String;

use crate::blame::PeerFault;

/// One client's side of one connection, and the values of its user's variables.
///
/// ```text
///          begin(step)             received() → Replied
///   Idle ───────────► a reply is awaited ───────────► Idle
///    ▲                      │ received() → fault, peer_closed()
///    └────── forget() ◄─────┘ the connection is given up
/// ```
pub trait Conversation: Send {
    /// Gives a variable its value, for requests that begin from now on.
    fn set(&mut self, variable: u16, value: &[u8]);

    /// Starts the request of a step: its bytes are [`Conversation::outgoing`], and from now on a reply is awaited.
    fn begin(&mut self, step: u16);

    /// The bytes of the request under way, whole; the engine knows how far it has written them.
    fn outgoing(&self) -> &[u8];

    /// Takes in bytes from the peer, as far as the end of one reply.
    fn received(&mut self, bytes: &[u8]) -> Result<Progress, PeerFault>;

    /// The peer will send nothing more.
    fn peer_closed(&mut self) -> Closing;

    /// How far the reply under way has come.
    fn stage(&self) -> Stage;

    /// Gives up whatever was under way: the connection is gone.
    fn forget(&mut self);
}

/// The steps of all conversations; shared by all threads.
pub trait Script: Send + Sync {
    /// The conversation of one connection.
    type Talk: Conversation;

    /// A conversation with nothing under way.
    fn open(&self) -> Self::Talk;

    /// Whether a step's request needs the value of a variable.
    fn needs(&self, step: u16, variable: u16) -> bool;

    /// Whether replies to a step are looked through: that takes time, and the time is not the system's.
    fn looks_through(&self, step: u16) -> bool;

    /// What a refusal of a step's reply means, in words.
    fn explain(&self, step: u16, refusal: Refusal) -> String;
}

/// What the bytes so far amount to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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
}

/// A complete reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reply {
    /// The protocol's number for it, such as 200; 0 if it has none.
    pub status: u16,
    /// Why it counts as a no, if it does.
    pub refusal: Option<Refusal>,
    /// Whether the connection can carry another request.
    pub reusable: bool,
    /// Its size in bytes, framing included.
    pub received_bytes: u64,
}

/// The system answered, and the answer was not what the scenario expects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// The error class in reports, such as `status` or `check_body`.
    pub class: &'static str,
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
