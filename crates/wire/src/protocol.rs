//! The list of protocols, with the interface of each to the rest of the program. A new protocol is one folder, and one entry here.

use alloc::boxed::Box;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;

use crate::channel::Channel;
use crate::conversation::Conversation;
use crate::http1;
use crate::sql::{Login, Session};
use crate::step::{ExtraKeys, StepDefinition};
use crate::{memcached, mongodb, mysql, postgres, redis, tcp, testing};

/// Supported protocol: an entry in [`PROTOCOLS`], from which URLs, steps, help, tests, and fuzzing derive.
#[derive(Debug)]
pub struct Protocol {
    /// Short name.
    pub name: &'static str,
    /// Description in a sentence.
    pub sentence: &'static str,
    /// URL schemes of the protocol.
    pub schemes: &'static [Scheme],
    /// ALPN names that are offered over TLS (RFC 7301), in order of preference. If empty, no ALPN is offered, because peers that
    /// know no name for the protocol reject any offer.
    pub alpn: &'static [&'static str],
    /// Kind of the protocol's steps, and the function that compiles them.
    pub compile: Compile,
    /// Opens a link for tests, which feed replies to it.
    pub open: Open,
    /// Sample replies, valid and invalid, with their expected results. Tests feed each of them to the parser in three ways.
    pub samples: fn() -> Vec<testing::Sample>,
}

/// A URL scheme of a protocol.
#[derive(Debug, PartialEq, Eq)]
pub struct Scheme {
    /// Name before `://`.
    pub name: &'static str,
    /// Default port.
    pub port: u16,
    /// Whether connections start with TLS.
    pub is_secure: bool,
}

/// Opens the client's side of a link, for tests that feed samples and arbitrary bytes to it.
#[derive(Clone, Copy, Debug)]
pub enum Open {
    /// A conversation with a plain request in flight. If its peer sends a greeting, the greeting is still awaited.
    Conversation(fn() -> Box<dyn Conversation>),
    /// A channel for several exchanges, greeted, without an exchange in flight. Step 0 is a plain request without variables.
    Channel(fn() -> Box<dyn Channel>),
}

/// Kind of the steps of a protocol.
#[derive(Clone, Copy, Debug)]
pub enum Compile {
    /// Steps of a single key.
    Steps(&'static StepDefinition),
    /// Steps with further keys.
    StepsWithExtraKeys(&'static StepDefinition, &'static ExtraKeys),
    /// Scripts of transactions, which the crate `sql` runs over sessions that this function creates.
    Transactions(OpenSession),
}

/// Creates the session of a new connection. A private transport, such as a Unix socket, is safe from eavesdropping. The nonce must be
/// random, and different for each connection.
pub type OpenSession = fn(login: Arc<Login>, is_private: bool, nonce: [u8; 18]) -> Box<dyn Session>;

/// Error of a step that cannot be compiled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StepError {
    /// Number of the step.
    pub step: usize,
    /// Error message.
    pub what: String,
}

impl PartialEq for Protocol {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Eq for Protocol {}

impl Protocol {
    /// Definition of the protocol's steps. `None` if they are transactions.
    pub fn steps(&self) -> Option<&'static StepDefinition> {
        match self.compile {
            Compile::Steps(steps) | Compile::StepsWithExtraKeys(steps, _) => Some(steps),
            Compile::Transactions(_) => None,
        }
    }

    /// Example of a URL of a system. Empty if the steps are transactions.
    pub fn example_url(&self) -> &'static str {
        self.steps().map_or("", |steps| steps.url)
    }

    /// Name of the protocol in sentences.
    pub fn noun(&self) -> &'static str {
        self.steps().map_or(self.name, |steps| steps.noun)
    }

    /// Function that creates the session of a connection. `None` if the protocol compiles its steps itself.
    pub fn session(&self) -> Option<OpenSession> {
        match self.compile {
            Compile::Transactions(open) => Some(open),
            Compile::Steps(_) | Compile::StepsWithExtraKeys(..) => None,
        }
    }

    /// Keys that are allowed in addition to the step key. `None` if its steps have a single key, or are transactions.
    pub fn extra_keys(&self) -> Option<&'static ExtraKeys> {
        match self.compile {
            Compile::StepsWithExtraKeys(_, further) => Some(further),
            Compile::Steps(_) | Compile::Transactions(_) => None,
        }
    }

    /// Whether the steps have a single key, so that the query of a URL can define a step.
    pub fn has_single_keys(&self) -> bool {
        self.own_steps().is_some()
    }

    /// Definition of the protocol's steps if they have a single key, which the query of a URL can give. `None` for other protocols.
    pub fn own_steps(&self) -> Option<&'static StepDefinition> {
        match self.compile {
            Compile::Steps(steps) => Some(steps),
            Compile::StepsWithExtraKeys(..) | Compile::Transactions(_) => None,
        }
    }
}

/// All supported protocols. The first one applies to requests that name no other.
pub const PROTOCOLS: &[Protocol] = &[
    http1::PROTOCOL,
    postgres::PROTOCOL,
    mysql::PROTOCOL,
    tcp::PROTOCOL,
    redis::PROTOCOL,
    mongodb::PROTOCOL,
    memcached::PROTOCOL,
    memcached::binary::PROTOCOL,
];

/// Protocol and scheme with this URL scheme name, ignoring case.
pub fn find_scheme(name: &str) -> Option<(&'static Protocol, &'static Scheme)> {
    let of = |protocol: &'static Protocol| {
        let found = protocol.schemes.iter().find(|scheme| scheme.name.eq_ignore_ascii_case(name));
        found.map(|scheme| (protocol, scheme))
    };
    PROTOCOLS.iter().find_map(of)
}

/// URL schemes of the protocols with transactions as steps, or of all others if `are_requests`.
pub fn schemes(are_requests: bool) -> impl Iterator<Item = &'static Scheme> {
    let fits = move |protocol: &&Protocol| protocol.session().is_some() != are_requests;
    PROTOCOLS.iter().filter(fits).flat_map(|protocol| protocol.schemes)
}
