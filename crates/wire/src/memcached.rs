//! memcached (text protocol with meta commands, and binary protocol): a command is sent, and one reply comes back.
//!
//! ```text
//!                 log-in: set with user and password
//!   new link ───────────────────────────────────────► Idle
//!
//!            begin(step)             received(): the end of the reply
//!   Idle ──────────────► Awaiting ───────────────────────────────────► Idle
//!    any byte: excess       │ peer_closed(): before it: empty or incomplete
//! ```
//!
//! A connection carries one command at a time. The binary protocol ([`binary`]) is a separate entry: it has these states as well, but other
//! bytes and another log-in.

pub mod binary;
mod command;
mod content;
mod conversation;
mod format;
mod log_in;
mod reader;
mod records;
mod samples;
mod step;
mod workload;

pub use conversation::MemcachedConversation;
pub use step::MemcachedStep;

use alloc::boxed::Box;
use alloc::sync::Arc;
use alloc::vec::Vec;

use crate::channel::{Channels, Footprint};
use crate::conversation::{Conversation, Script};
use crate::protocol::{Compile, Open, Protocol, Scheme, StepError};
use crate::secrets::Secrets;
use crate::step::{Access, LoadSteps, StepValueError, compile_each};
use command::Command;
use log_in::Identity;

/// Max bytes of an unfinished line, and of an error.
const PARTIAL_BYTES_MAX: u64 = 2 * reader::LINE_BYTES_MAX as u64;
/// Max bytes of the values that checks and saved values read, and of their positions.
const CONTENT_BYTES_MAX: u64 = 2 * (content::KEPT_BYTES_MAX + content::KEPT_VALUES_MAX * 4) as u64;

/// Error message for unsolicited bytes from the peer.
const UNSOLICITED: &str = "bytes arrived after the end of the reply";

/// Entry in [`crate::PROTOCOLS`].
pub const PROTOCOL: Protocol = Protocol {
    name: "memcached",
    sentence: "memcached and servers that speak its text protocol: commands and their replies.",
    schemes: &[Scheme { name: "memcached", port: 11211, is_secure: false }],
    alpn: &[],
    compile: Compile::Steps(&step::STEPS),
    open: Open::Conversation(|| {
        let step = MemcachedStep::of(Vec::from([b"mn".to_vec()]), "mn".into()).unwrap_or_default();
        open_in_flight(&step, Identity::default())
    }),
    samples: samples::all,
};

/// Opens a conversation with the request of a step in progress, for tests.
fn open_in_flight(step: &MemcachedStep, identity: Identity) -> Box<dyn Conversation> {
    let list = Command::compile(step, identity.format, &[], &Secrets::default()).into_iter().collect();
    let commands = Commands { list, identity, ..Commands::default() };
    let mut conversation = MemcachedConversation::new(Arc::new(commands));
    conversation.begin(0);
    Box::new(conversation)
}

/// The commands of a load, and the log-in of its connections.
#[derive(Debug, Default)]
struct Commands {
    list: Vec<Command>,
    /// Number of variables.
    variables: u16,
    identity: Identity,
    /// Values that are removed from messages.
    secrets: Secrets,
}

/// The commands of a load, one at a time on each connection.
#[derive(Clone, Debug)]
pub struct Memcached {
    commands: Arc<Commands>,
}

/// Compiles the steps of a load to its channels, with the log-in that `read` reads from the URL.
fn compile(
    load: &LoadSteps<'_>,
    read: fn(&Access) -> Result<Identity, StepValueError>,
) -> Result<Box<dyn Channels>, StepError> {
    let identity = read(load.access).map_err(|wrong| StepError { step: 0, what: wrong.what })?;
    let list = compile_each(load.steps, |step: &MemcachedStep| {
        Command::compile(step, identity.format, load.variables, load.secrets)
    })?;
    let variables = load.variables.len() as u16;
    let commands = Commands { list, variables, identity, secrets: load.secrets.clone() };
    Ok(Box::new(Memcached { commands: Arc::new(commands) }))
}

impl Memcached {
    fn command(&self, step: u16) -> Option<&Command> {
        self.commands.list.get(usize::from(step))
    }
}

impl Script for Memcached {
    type Conversation = MemcachedConversation;

    fn open(&self, _number: u32) -> MemcachedConversation {
        MemcachedConversation::new(Arc::clone(&self.commands))
    }

    fn needs(&self, step: u16, variable: u16) -> bool {
        self.command(step).is_some_and(|command| command.needs(variable))
    }

    fn inspects_replies(&self, step: u16) -> bool {
        self.command(step).is_some_and(Command::inspects_replies)
    }

    fn footprint(&self, longest_bytes: &dyn Fn(u16) -> u64) -> Footprint {
        let list = &self.commands.list;
        let request_bytes = list.iter().map(|command| command.bytes_max(longest_bytes)).max().unwrap_or(0);
        let values = (0..self.commands.variables).map(longest_bytes).fold(0, u64::saturating_add);
        let inspects_replies = list.iter().any(Command::inspects_replies);
        let of_reply = PARTIAL_BYTES_MAX + if inspects_replies { CONTENT_BYTES_MAX } else { 0 };
        // Growing buffers may own twice the bytes that they hold.
        let kept_bytes = request_bytes.saturating_mul(2).saturating_add(values).saturating_add(of_reply);
        let shared_bytes = list.iter().map(|command| command.bytes_max(&|_| 0)).sum();
        Footprint { kept_bytes, request_bytes, shared_bytes, expressions: 0 }
    }
}
