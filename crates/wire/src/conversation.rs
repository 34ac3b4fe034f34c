//! The client's side of a protocol with one exchange at a time: bytes in, replies out, without sockets and clocks.

use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;

use crate::ErrorClass;
use crate::blame::PeerFault;
use crate::channel::{Channel, Footprint, Redirect};
use crate::content::Content;

/// Client side of one connection, and the values of its user's variables.
///
/// ```text
///   new connection: greet() ─► [greeted() …] ─► [TLS: secured()] ─► [greeted() …] ─► Done
///
///           begin(step)      received() → Replied, or Answered with Next::Done
///   Idle ───────────► a reply is awaited ───────────────────────────────────► Idle
///    ▲    go_on() ─►  │   ▲ received() → Answered with Next::Send, Await or Pause
///    │                └───┘
///    └────── forget() ◄── received() → error, peer_closed(): the connection is given up
/// ```
///
/// A request may have parts, such as the statements of a transaction: each part is sent after the previous one was answered.
///
/// A system in this process ([`crate::InProcess`]) exchanges no bytes, and [`Conversation::outgoing`] is not read.
/// [`Conversation::received`] is called without bytes after each [`Next::Send`] and [`Next::Await`], and again after
/// [`Progress::NeedMore`]. It executes the request, and blocks until the request is done. [`Conversation::greeted`] is likewise called
/// without bytes until it returns [`Greeting::Done`]. If the system cannot be opened, it returns the error.
pub trait Conversation: Send {
    /// Sets a variable for requests that begin from now on.
    fn set(&mut self, variable: u16, value: &[u8]);

    /// Passes each variable that replies give values to, with its present value, to `take`. Called after a reply if the user
    /// continues on other connections.
    fn saved(&mut self, take: &mut dyn FnMut(u16, &[u8])) {
        let _ = take;
    }

    /// Starts the greeting on a new connection: everything before the first request. [`Conversation::outgoing`] returns the bytes
    /// to send.
    fn greet(&mut self) -> Greeting {
        Greeting::Done
    }

    /// Processes bytes of the greeting. Returns how many belong to it, and the next step of the greeting.
    fn greeted(&mut self, bytes: &[u8]) -> Result<(usize, Greeting), PeerFault> {
        let _ = bytes;
        Ok((0, Greeting::Done))
    }

    /// Takes the server's certificate, DER-encoded, before [`Conversation::secured`]. Log-ins can be bound to it.
    fn certificate(&mut self, der: &[u8]) {
        let _ = der;
    }

    /// Continues the greeting after TLS is established, as [`Greeting::Secure`] requested.
    fn secured(&mut self) -> Greeting {
        Greeting::Done
    }

    /// Announces the number of the address that the next socket connects to, for a peer of several addresses.
    fn set_address(&mut self, address: u16) {
        let _ = address;
    }

    /// Forgets the state of the present user, except variables, before another user begins.
    fn change_user(&mut self) {}

    /// Starts the request of a step on a connection that is ready.
    fn begin(&mut self, step: u16) -> Next;

    /// Announces that the next request was redirected to this peer with [`Redirect::is_once`].
    fn announce_redirect(&mut self) {}

    /// Continues a request after a pause, or on the new connection after [`Next::Reopen`].
    fn resume(&mut self) -> Next {
        Next::Await
    }

    /// All bytes to send next. The engine tracks how many it has written. They change only with [`Conversation::greet`] and the other calls
    /// that return [`Greeting::Send`] or [`Next::Send`].
    fn outgoing(&self) -> &[u8];

    /// Max bytes of [`Conversation::outgoing`] that one write passes to the kernel, at least 1.
    fn write_bytes_max(&self) -> usize {
        usize::MAX
    }

    /// Processes bytes from the peer, up to the end of one reply, or of the reply to one part.
    fn received(&mut self, bytes: &[u8]) -> Result<Progress, PeerFault>;

    /// Handles the end of the peer's bytes.
    fn peer_closed(&mut self) -> Closing;

    /// Progress of the reply in progress.
    fn stage(&self) -> Stage;

    /// Number of the part that awaits a reply. `None` if parts are not counted separately.
    fn part(&self) -> Option<u16> {
        None
    }

    /// Error message for a refusal that was just returned.
    fn explain(&self, rejection: Rejection) -> String;

    /// Content of the reply that just ended.
    fn content(&self) -> Content {
        Content::default()
    }

    /// First replies, compared with each other. `None` if they are not compared.
    fn first_replies(&self) -> Option<FirstReplies> {
        None
    }

    /// Bytes that a polite client sends before it closes an idle connection. Empty if the protocol has none.
    fn farewell(&self) -> &[u8] {
        &[]
    }

    /// Means to cancel the request in flight on a separate connection. `None` if the protocol has no such thing. Called after a
    /// deadline has passed.
    fn cancel(&self) -> Option<Cancel> {
        None
    }

    /// Abandons the request in flight, after the connection was closed.
    fn forget(&mut self);

    /// Makes [`Conversation::received`] of a system in this process return soon, from another thread. `None` if that is not
    /// possible. Called once the greeting is done; it must do no harm without a request in flight.
    fn interrupt(&self) -> Option<Interrupt> {
        None
    }
}

/// First replies of a connection whose steps do not check bodies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FirstReplies {
    /// Hashes of the distinct requests.
    pub requests: Vec<u64>,
    /// Number of replies that were compared.
    pub replies: u32,
    /// The short body that all replies have, without secrets. `None` if bodies differ, are long or empty, or a reply was rejected.
    pub body: Option<Vec<u8>>,
}

/// Interrupts a blocking call of another thread.
pub type Interrupt = Box<dyn Fn() + Send + Sync>;

/// The steps of all conversations, and the factory of conversations; shared by all threads.
pub trait Script: Send + Sync {
    /// The conversation of one connection.
    type Conversation: Conversation;

    /// Creates the conversation of connection `number`, without a request in flight. Numbers count over all threads, from 0.
    fn open(&self, number: u32) -> Self::Conversation;

    /// Whether a step's request needs the value of a variable.
    fn needs(&self, step: u16, variable: u16) -> bool;

    /// Whether replies to a step are searched, or used in computations. The time for this is not the system's.
    fn inspects_replies(&self, step: u16) -> bool;

    /// See [`crate::Channels::is_idempotent`].
    fn is_idempotent(&self, step: u16) -> bool {
        let _ = step;
        false
    }

    /// See [`crate::Channels::parts`].
    fn parts(&self) -> u16 {
        0
    }

    /// See [`crate::Channels::footprint`].
    fn footprint(&self, longest_bytes: &dyn Fn(u16) -> u64) -> Footprint {
        let _ = longest_bytes;
        Footprint::default()
    }

    /// See [`crate::Channels::quote`].
    fn quote(&mut self) {}
}

/// Means to cancel a request of another connection.
pub enum Cancel {
    /// Bytes to send without TLS; the peer closes the connection in reply.
    Bytes([u8; 16]),
    /// Request of step 0 of a channel, after its greeting. A rejection means that no cancellation took place.
    Request(Box<dyn Channel>),
}

/// Next step of a greeting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Greeting {
    /// Send [`Conversation::outgoing`], then wait for bytes.
    Send,
    /// Wait for bytes.
    Await,
    /// Establish TLS, then call [`Conversation::secured`].
    Secure,
    /// Ready: the connection can carry requests.
    Done,
}

/// Next step of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Next {
    /// Send [`Conversation::outgoing`] from its beginning. Earlier bytes have been sent.
    Send,
    /// Wait for further replies.
    Await,
    /// Wait for this time, then call [`Conversation::resume`].
    Pause {
        /// Length of the pause in nanoseconds.
        ns: u64,
    },
    /// Close the connection and open it again, then call [`Conversation::resume`].
    Reopen,
    /// The request is over, with this result.
    Done(Reply),
    /// The scenario cannot continue because of an error in it: the load ends. Contains the error message.
    Broken(String),
}

/// Result of the bytes received so far.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Progress {
    /// The reply is incomplete; all bytes were used.
    NeedMore,
    /// The reply ended after `used` of the bytes.
    Replied {
        /// Number of bytes that belong to the reply; the rest was not read.
        used: usize,
        /// Result of the reply.
        reply: Reply,
    },
    /// The reply to one part of the request ended after `used` of the bytes.
    PartReplied {
        /// Number of bytes that belong to the reply; the rest was not read.
        used: usize,
        /// The part that was answered. `None` if parts are not counted separately.
        part: Option<PartEnd>,
        /// Next step of the request.
        next: Next,
    },
    /// The reply, which ended after `used` of the bytes, names another peer.
    Redirected {
        /// Number of bytes that belong to the reply; the rest was not read.
        used: usize,
        /// Peer that receives the request.
        redirect: Redirect,
    },
}

/// Result of one part of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PartEnd {
    /// Number of the part, as [`Conversation::part`] returned it.
    pub part: u16,
    /// Reason why the part counts as rejected. `None` if it succeeded.
    pub rejection: Option<Rejection>,
}

/// Result of a complete reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reply {
    /// Status code of the protocol, such as 200, or 0 if it has none. For an SQL transaction: number of attempts.
    pub status: u16,
    /// Reason why the reply counts as rejected. `None` if it is as expected.
    pub rejection: Option<Rejection>,
    /// Whether the connection can carry another request.
    pub reusable: bool,
    /// Seconds for which the peer keeps an idle connection open, according to its reply. 0 if the reply does not state it.
    pub idle_max_s: u16,
    /// Size in bytes, framing included.
    pub received_bytes: u64,
}

/// Reason why a reply counts as rejected: it was not what the scenario expects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rejection {
    /// Class of the error in reports. After [`ErrorClass::ScriptStopped`] the user of a closed load sends no further request.
    pub class: ErrorClass,
    /// Status code, or the number of the rule of the step that failed.
    pub code: u32,
}

/// Progress of a reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// No request is in flight.
    Idle,
    /// A request is in flight, and no byte of its reply has arrived.
    FirstByte,
    /// The first bytes have arrived.
    Head,
    /// The content is arriving.
    Body,
    /// The request may or may not have taken effect: a commit was sent, and its reply has not arrived.
    InDoubt,
}

/// Meaning of the end of the peer's bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Closing {
    /// The end completed the reply, as the protocol allows.
    Replied(Reply),
    /// No request was in flight, or no byte of its reply had arrived.
    Empty,
    /// A reply was cut short.
    Incomplete,
}
