//! The list of protocols, and all that the rest of the program knows of each: a new protocol is one folder and one line here.

use alloc::boxed::Box;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;

use crate::channel::{Channel, Channels};
use crate::conversation::Conversation;
use crate::http1::{self, Capture, Checks, Request};
use crate::secrets::Secrets;
use crate::sql::{Login, Session};
use crate::step::OwnSteps;
use crate::{mysql, postgres, redis, tcp, testing};

/// A protocol that Tenbin speaks: one line in [`PROTOCOLS`], from which URLs, steps, help, tests, and fuzzing derive.
#[derive(Debug)]
pub struct Protocol {
    /// Its short name.
    pub name: &'static str,
    /// What it is, in a sentence.
    pub sentence: &'static str,
    /// The URL schemes that choose it.
    pub schemes: &'static [Scheme],
    /// Names by which it is offered over TLS (ALPN, RFC 7301), the best first. Empty: it is not offered by name, because peers that
    /// know none refuse any.
    pub alpn: &'static [&'static str],
    /// What its steps are made from.
    pub compile: Compile,
    /// Opens a link for tests, which feed it replies.
    pub open: Open,
    /// Replies, good and bad, with what each must come to. Every parser is fed each of them three ways.
    pub samples: fn() -> Vec<testing::Sample>,
}

/// The scheme of a URL.
#[derive(Debug, PartialEq, Eq)]
pub struct Scheme {
    /// What comes before `://`.
    pub name: &'static str,
    /// The port of a URL that has none.
    pub port: u16,
    /// Whether connections begin with TLS.
    pub is_secure: bool,
}

/// Opens the client's side of a link, on which tests feed samples and any other bytes.
#[derive(Clone, Copy, Debug)]
pub enum Open {
    /// A conversation with a plain request under way. Its peer has not greeted yet, if it does.
    Conversation(fn() -> Box<dyn Conversation>),
    /// A channel that carries several exchanges: greeted, with nothing under way. Step 0 is a plain request without variables.
    Channel(fn() -> Box<dyn Channel>),
}

/// What the steps of a protocol are made from.
#[derive(Clone, Copy, Debug)]
pub enum Compile {
    /// Steps that the protocol defines itself.
    Steps(&'static OwnSteps),
    /// Requests.
    Requests(CompileRequests),
    /// Scripts of transactions, which the crate `sql` goes through over sessions that this function makes.
    Transactions(OpenSession),
}

/// From the steps, the names of the variables, and the secrets to the channels of a load.
pub type CompileRequests = fn(&[RequestStep], &[String], &Secrets) -> Result<Box<dyn Channels>, WrongStep>;

/// From who logs in to the session of a new connection. Nobody else listens on a private transport, such as a Unix socket. The
/// nonce is random, and different for each connection.
pub type OpenSession = fn(login: Arc<Login>, is_private: bool, nonce: [u8; 18]) -> Box<dyn Session>;

/// A step as a user writes it. Texts may have names of variables in braces; the place of a name in the list is the variable's
/// number.
#[derive(Clone, Debug)]
pub struct RequestStep {
    /// What is sent.
    pub request: Request,
    /// What the reply is held against.
    pub checks: Checks,
    /// What is kept of a reply that holds.
    pub captures: Vec<Capture>,
}

/// Why a step cannot be compiled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WrongStep {
    /// Its number.
    pub step: usize,
    /// In words.
    pub what: String,
}

impl Protocol {
    /// Its steps, if it owns them.
    pub fn own_steps(&self) -> Option<&'static OwnSteps> {
        match self.compile {
            Compile::Steps(steps) => Some(steps),
            Compile::Requests(_) | Compile::Transactions(_) => None,
        }
    }
}

/// Every protocol.
pub const PROTOCOLS: &[Protocol] =
    &[http1::PROTOCOL, postgres::PROTOCOL, mysql::PROTOCOL, tcp::PROTOCOL, redis::PROTOCOL];

/// The protocol that a URL scheme chooses, in any case.
pub fn of_scheme(name: &str) -> Option<(&'static Protocol, &'static Scheme)> {
    let of = |protocol: &'static Protocol| {
        let found = protocol.schemes.iter().find(|scheme| scheme.name.eq_ignore_ascii_case(name));
        found.map(|scheme| (protocol, scheme))
    };
    PROTOCOLS.iter().find_map(of)
}

/// The schemes of protocols whose steps are requests, or of those whose steps are transactions.
pub fn schemes(are_requests: bool) -> impl Iterator<Item = &'static Scheme> {
    let fits =
        move |protocol: &&Protocol| matches!(protocol.compile, Compile::Transactions(_)) != are_requests;
    PROTOCOLS.iter().filter(fits).flat_map(|protocol| protocol.schemes)
}
