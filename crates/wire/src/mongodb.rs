//! MongoDB (OP_MSG): a command is sent as a document, and a document comes back.
//!
//! ```text
//!                 log-in: hello, saslStart, saslContinue
//!   new link ───────────────────────────────────────────► Idle
//!
//!            begin(step)             received(): the end of the reply
//!   Idle ──────────────► Awaiting ───────────────────────────────────► Idle
//!    any byte: excess     │  ▲ received(): a batch of a cursor that is not at its end: getMore
//!                         └──┘ peer_closed(): before it: empty or incomplete
//! ```
//!
//! A connection carries one command at a time. It also works with other servers of this protocol, such as FerretDB.

mod bson;
mod command;
mod conversation;
mod errors;
mod json;
mod log_in;
mod reader;
mod records;
mod reply;
mod rules;
mod samples;
mod step;
mod workload;

pub use conversation::MongoConversation;
pub use step::MongoStep;

use alloc::boxed::Box;
use alloc::sync::Arc;
use alloc::vec::Vec;

use crate::channel::{Channels, Footprint};
use crate::conversation::{Conversation, Script};
use crate::protocol::{Compile, Open, Protocol, Scheme, StepError};
use crate::secrets::Secrets;
use crate::step::{Access, LoadSteps, compile_each};
use command::Command;
use log_in::Identity;

/// Max bytes of an unfinished reply: a value, open documents, and the names that lead to them.
const PARTIAL_BYTES_MAX: u64 =
    2 * (reader::KEPT_BYTES_MAX + reader::NAME_BYTES_MAX + reader::DEPTH_MAX * 16) as u64;
/// Max bytes of the values that checks and saved values read.
const CONTENT_BYTES_MAX: u64 = 2 * reply::ALL_KEPT_BYTES_MAX as u64;

/// Error message for unsolicited bytes from the peer.
const UNSOLICITED: &str = "bytes arrived after the end of the reply";

/// Entry in [`crate::PROTOCOLS`].
pub const PROTOCOL: Protocol = Protocol {
    name: "mongodb",
    sentence: "MongoDB and servers that speak its protocol (OP_MSG): commands and their replies.",
    schemes: &[Scheme { name: "mongodb", port: 27017, is_secure: false }],
    alpn: &[],
    compile: Compile::Steps(&step::STEPS),
    open: Open::Conversation(|| {
        let mut conversation = MongoConversation::new(Arc::new(Commands::ping()), 0);
        conversation.begin(0);
        Box::new(conversation)
    }),
    samples: samples::all,
};

/// The commands of a load, and the log-in of its connections.
#[derive(Debug)]
struct Commands {
    list: Vec<Command>,
    /// Number of variables.
    variables: u16,
    identity: Identity,
    /// Values that are removed from messages.
    secrets: Secrets,
}

impl Commands {
    /// A single `ping`, for tests.
    fn ping() -> Self {
        let identity = Identity::read(&Access::none()).expect("an empty log-in is valid");
        let ping = MongoStep::of(br#"{"ping":1}"#).expect("a command");
        let command = Command::compile(&ping, &identity.database, &[], &Secrets::default());
        let list = Vec::from([command.expect("a command without variables")]);
        Self { list, variables: 0, identity, secrets: Secrets::default() }
    }
}

/// The commands of a load, one at a time on each connection.
#[derive(Clone, Debug)]
pub struct Mongo {
    commands: Arc<Commands>,
}

/// Compiles the steps of a load to its channels.
fn compile(load: &LoadSteps<'_>) -> Result<Box<dyn Channels>, StepError> {
    let identity = Identity::read(load.access).map_err(|wrong| StepError { step: 0, what: wrong.what })?;
    let identity = identity.with(load.stretcher.cloned(), load.nonce);
    let list = compile_each(load.steps, |step: &MongoStep| {
        Command::compile(step, &identity.database, load.variables, load.secrets)
    })?;
    let variables = load.variables.len() as u16;
    let commands = Commands { list, variables, identity, secrets: load.secrets.clone() };
    Ok(Box::new(Mongo { commands: Arc::new(commands) }))
}

impl Mongo {
    fn command(&self, step: u16) -> Option<&Command> {
        self.commands.list.get(usize::from(step))
    }
}

impl Script for Mongo {
    type Conversation = MongoConversation;

    fn open(&self, number: u32) -> MongoConversation {
        MongoConversation::new(Arc::clone(&self.commands), number)
    }

    fn needs(&self, step: u16, variable: u16) -> bool {
        self.command(step).is_some_and(|command| command.needs(variable))
    }

    fn inspects_replies(&self, step: u16) -> bool {
        self.command(step).is_some_and(|command| command.rules.need_content())
    }

    fn footprint(&self, longest_bytes: &dyn Fn(u16) -> u64) -> Footprint {
        let list = &self.commands.list;
        let max_of = |bytes: &dyn Fn(&Command) -> u64| list.iter().map(bytes).max().unwrap_or(0);
        let request_bytes = max_of(&|command| command.bytes_max(longest_bytes));
        let expected_bytes = max_of(&|command| command.rules.bytes_max(longest_bytes));
        let inspects_replies = list.iter().any(|command| command.rules.need_content());
        let values = (0..self.commands.variables).map(longest_bytes).fold(0, u64::saturating_add);
        // Growing buffers may own twice the bytes that they hold.
        let of_exchange = request_bytes.saturating_add(expected_bytes).saturating_mul(2);
        let of_reply = PARTIAL_BYTES_MAX + if inspects_replies { CONTENT_BYTES_MAX } else { 0 };
        Footprint {
            kept_bytes: of_exchange.saturating_add(values).saturating_add(of_reply),
            request_bytes,
            shared_bytes: list.iter().map(|command| command.bytes_max(&|_| 0)).sum(),
            expressions: 0,
        }
    }
}
