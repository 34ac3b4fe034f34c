//! Redis (RESP2 and RESP3): a command is sent, and one reply comes back.
//!
//! ```text
//!                 log-in: HELLO, AUTH, SELECT
//!   new link ───────────────────────────────────► Idle
//!
//!            begin(step)             received(): the end of the reply
//!   Idle ──────────────► Awaiting ───────────────────────────────────► Idle
//!    any byte but a push:   │ peer_closed(): before it: empty or incomplete
//!    excess
//! ```
//!
//! A connection carries one command at a time ([`RedisConversation`]), or several in a pipeline, whose replies come in order. It
//! also works with other servers of this protocol, such as Valkey.

mod cluster;
mod command;
mod conversation;
mod delivery;
mod errors;
mod kept;
mod log_in;
mod pipeline;
mod reader;
mod records;
mod rules;
mod samples;
mod step;
mod workload;

pub use cluster::key;
pub use command::recorded_words;
pub use conversation::RedisConversation;
pub use log_in::{Discovery, behind_sentinel, discovery};
pub use step::{Part, RedisStep};

use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;

use crate::ErrorClass;
use crate::channel::{Channels, Footprint, Redirect};
use crate::conversation::{Conversation, Rejection, Reply, Script};
use crate::protocol::{Compile, Open, Protocol, Scheme, StepError};
use crate::secrets::Secrets;
use crate::step::{Access, LoadSteps, compile_each};
use cluster::SlotMap;
use command::Command;
use log_in::Identity;
use pipeline::Pipelined;
use reader::ReplyParser;

/// Max bytes of an unfinished reply: a line, an error, and open aggregates.
const PARTIAL_BYTES_MAX: u64 =
    2 * (reader::LINE_BYTES_MAX + reader::ERROR_BYTES_MAX + reader::DEPTH_MAX * 16) as u64;
/// Max bytes of the content that checks and saved values read, and of the positions of its items.
const CONTENT_BYTES_MAX: u64 = 2 * (kept::KEPT_BYTES_MAX + kept::KEPT_ITEMS_MAX * 8) as u64;
/// Commands that change the state of a connection, which the users of a pipeline share.
const CONNECTION_COMMANDS: [&str; 4] = ["MULTI", "WATCH", "SELECT", "AUTH"];

/// Error message for unsolicited bytes from the peer.
const UNSOLICITED: &str = "bytes arrived after the end of the reply";

/// Entry in [`crate::PROTOCOLS`].
pub const PROTOCOL: Protocol = Protocol {
    name: "redis",
    sentence: "Redis and servers that speak its protocol (RESP2 and RESP3): commands and their replies.",
    schemes: &[
        Scheme { name: "redis", port: 6379, is_secure: false },
        Scheme { name: "rediss", port: 6379, is_secure: true },
        Scheme { name: "redis+sentinel", port: 26379, is_secure: false },
        Scheme { name: "rediss+sentinel", port: 26379, is_secure: true },
    ],
    alpn: &[],
    compile: Compile::Steps(&step::STEPS),
    open: Open::Conversation(|| {
        let step = RedisStep::of(Vec::from([b"PING".to_vec()]), "PING".into());
        let commands = Command::compile(&step, &[], &Secrets::default()).into_iter().collect();
        let commands = Commands { list: commands, ..Commands::default() };
        let mut conversation = RedisConversation::new(Arc::new(commands), 0);
        conversation.begin(0);
        Box::new(conversation)
    }),
    samples: samples::all,
};

/// The commands of a load, and the log-in of its connections.
#[derive(Debug, Default)]
struct Commands {
    list: Vec<Command>,
    /// Number of variables.
    variables: u16,
    identity: Identity,
    /// Values that are removed from messages.
    secrets: Secrets,
    /// Slots of the cluster. `None`: redirections are not followed.
    cluster: Option<SlotMap>,
}

/// The commands of a load, one at a time on each connection.
#[derive(Clone, Debug)]
pub struct Redis {
    commands: Arc<Commands>,
}

/// Compiles the steps of a load to its channels.
fn compile(load: &LoadSteps<'_>) -> Result<Box<dyn Channels>, StepError> {
    let is_pipelined = load.pipeline > 1;
    let list = compile_each(load.steps, |step: &RedisStep| {
        let name = step.name();
        if is_pipelined && CONNECTION_COMMANDS.contains(&name.as_str()) {
            return Err(format!(
                "{name} changes its connection, and users share connections with `pipeline`"
            ));
        }
        if is_pipelined && step.awaits_delivery {
            return Err("a published message is awaited alone on its connection; remove `pipeline`".into());
        }
        Command::compile(step, load.variables, load.secrets)
    })?;
    let identity = Identity::read(load.access).map_err(|wrong| StepError { step: 0, what: wrong.what })?;
    let variables = load.variables.len() as u16;
    let cluster = load.nodes.map(SlotMap::new);
    let commands = Commands { list, variables, identity, secrets: load.secrets.clone(), cluster };
    let redis = Redis { commands: Arc::new(commands) };
    if load.nodes.is_some() {
        let steps: Vec<&RedisStep> = load.steps.iter().filter_map(|step| step.downcast()).collect();
        let channels = cluster::channels(redis, load.pipeline, &steps, load.variables, load.secrets);
        return channels.map_err(|(step, what)| StepError { step, what });
    }
    Ok(match is_pipelined {
        true => Box::new(Pipelined { redis, depth: load.pipeline }),
        false => Box::new(redis),
    })
}

impl Commands {
    /// Creates the result of a reply that has ended. A connection to a master that has become a replica is closed.
    #[inline]
    fn reply(&self, reader: &ReplyParser, rejection: Option<Rejection>) -> Reply {
        let is_replica = rejection.is_some_and(|rejection| rejection.class == ErrorClass::ReadOnly);
        let reusable = !(is_replica && self.identity.needs_master());
        Reply { status: 0, rejection, reusable, received_bytes: reader.received_bytes(), idle_max_s: 0 }
    }

    /// Redirect in a rejected reply. `None` if it is not followed.
    #[inline]
    fn redirect(&self, reader: &ReplyParser, rejection: Option<Rejection>) -> Option<Redirect> {
        let rejection = rejection.filter(|rejection| rejection.class == ErrorClass::Moved)?;
        self.cluster.as_ref()?.redirect(reader.error().filter(|_| rejection.code == rules::ERROR)?)
    }
}

impl Redis {
    /// Creates commands without variables. Each saves a part of its reply, up to 64 KiB, in the variable with its number.
    ///
    /// # Errors
    ///
    /// The message for a log-in that Redis does not support.
    pub fn with_saved_replies(commands: &[(&str, Part)], access: &Access) -> Result<Self, String> {
        let secrets = Secrets::default();
        let command = |(number, (line, part)): (u16, &(&str, Part))| {
            let words = line.split(' ').map(|word| word.as_bytes().to_vec()).collect();
            let mut step = RedisStep::of(words, (*line).into());
            step.saves.push((number, *part));
            Command::compile(&step, &[], &secrets)
        };
        let list = (0..).zip(commands).map(command).collect::<Result<Vec<_>, _>>()?;
        let identity = Identity::read(access).map_err(|wrong| wrong.what)?;
        let variables = commands.len() as u16;
        Ok(Self { commands: Arc::new(Commands { list, variables, identity, secrets, cluster: None }) })
    }

    /// Creates connections for recorded commands ([`RedisConversation::begin_recorded`]).
    ///
    /// # Errors
    ///
    /// The message for a log-in that Redis does not have.
    pub fn recorded(access: &Access) -> Result<Self, String> {
        let any = RedisStep::of(Vec::from([b"PING".to_vec()]), String::new());
        let list = Vec::from([Command::compile(&any, &[], &Secrets::default())?]);
        let identity = Identity::read(access).map_err(|wrong| wrong.what)?;
        Ok(Self { commands: Arc::new(Commands { list, identity, ..Commands::default() }) })
    }

    fn command(&self, step: u16) -> Option<&Command> {
        self.commands.list.get(usize::from(step))
    }

    /// Max memory of connections with `depth` commands in flight.
    fn footprint_at_depth(&self, depth: u32, longest_bytes: &dyn Fn(u16) -> u64) -> Footprint {
        let list = &self.commands.list;
        let max_of = |bytes: &dyn Fn(&Command) -> u64| list.iter().map(bytes).max().unwrap_or(0);
        let request_bytes = max_of(&|command| command.bytes_max(longest_bytes));
        let expected_bytes = max_of(&|command| command.rules.bytes_max(longest_bytes));
        let inspects_replies = list.iter().any(Command::inspects_replies);
        let values = (0..self.commands.variables).map(longest_bytes).fold(0, u64::saturating_add);
        // Growing buffers may own twice the bytes that they hold.
        let of_exchange = request_bytes.saturating_add(expected_bytes).saturating_mul(2);
        let of_reply = PARTIAL_BYTES_MAX + if inspects_replies { CONTENT_BYTES_MAX } else { 0 };
        Footprint {
            kept_bytes: of_exchange
                .saturating_mul(depth.into())
                .saturating_add(values)
                .saturating_add(of_reply),
            request_bytes,
            shared_bytes: list.iter().map(|command| command.bytes_max(&|_| 0)).sum(),
            expressions: 0,
        }
    }
}

impl Script for Redis {
    type Conversation = RedisConversation;

    fn open(&self, number: u32) -> RedisConversation {
        RedisConversation::new(Arc::clone(&self.commands), number)
    }

    fn needs(&self, step: u16, variable: u16) -> bool {
        self.command(step).is_some_and(|command| command.needs(variable))
    }

    fn inspects_replies(&self, step: u16) -> bool {
        self.command(step).is_some_and(Command::inspects_replies)
    }

    fn footprint(&self, longest_bytes: &dyn Fn(u16) -> u64) -> Footprint {
        self.footprint_at_depth(1, longest_bytes)
    }
}
