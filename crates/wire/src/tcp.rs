//! Raw TCP: sends bytes in writes of a given size, and waits for a reply of a given length or up to a delimiter.
//!
//! ```text
//!            begin(step)             received(): the last byte of the reply
//!   Idle ──────────────► Awaiting ───────────────────────────────────────► Idle
//!    any byte: excess       │ peer_closed(): before it: empty or incomplete
//! ```
//!
//! Bytes of a reply are kept only if they may be the beginning of its delimiter.

mod conversation;
mod samples;
mod step;

pub use conversation::TcpConversation;
pub use step::TcpStep;

use alloc::boxed::Box;
use alloc::sync::Arc;
use alloc::vec::Vec;

use crate::channel::Footprint;
use crate::conversation::{Conversation, Script};
use crate::protocol::{Compile, Open, Protocol, Scheme, StepError};
use crate::step::{LoadSteps, Template, compile_each};

/// Max length of a delimiter in bytes.
pub const DELIMITER_BYTES_MAX: usize = 64;

/// Entry in [`crate::PROTOCOLS`].
pub const PROTOCOL: Protocol = Protocol {
    name: "tcp",
    sentence: "Raw TCP: any bytes, and a reply of a given length or up to a delimiter.",
    // Port of echo servers (RFC 862).
    schemes: &[Scheme { name: "tcp", port: 7, is_secure: false }],
    alpn: &[],
    compile: Compile::Steps(&step::STEPS),
    open: Open::Conversation(|| {
        let mut conversation = Tcp::single(b"PING\r\n", Exchange::default()).open(0);
        conversation.begin(0);
        Box::new(conversation)
    }),
    samples: samples::all,
};

/// Write size of a step, and the end of its reply.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Exchange {
    /// Max bytes that one write passes to the kernel. `None`: as many as the kernel takes.
    pub write_bytes: Option<u32>,
    /// End of the reply.
    pub receive: Receive,
}

/// Writes of any size, and a reply up to a line feed.
impl Default for Exchange {
    fn default() -> Self {
        Self { write_bytes: None, receive: Receive::Until(b"\n".to_vec()) }
    }
}

/// End of a reply.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Receive {
    /// Ends after this number of bytes, at least 1.
    Bytes(u64),
    /// Ends after these bytes: 1 to [`DELIMITER_BYTES_MAX`] of them.
    Until(Vec<u8>),
}

impl Receive {
    /// Whether the length, or the length of the delimiter, is valid.
    fn is_valid(&self) -> bool {
        match self {
            Self::Bytes(bytes) => *bytes > 0,
            Self::Until(delimiter) => (1..=DELIMITER_BYTES_MAX).contains(&delimiter.len()),
        }
    }
}

/// The raw TCP steps of a load, in any order on each connection.
#[derive(Clone, Debug)]
pub struct Tcp {
    steps: Arc<[CompiledStep]>,
    /// Number of variables; each connection has its own values.
    variables: u16,
}

/// A compiled step.
#[derive(Debug)]
struct CompiledStep {
    message: Template,
    exchange: Exchange,
}

impl Tcp {
    /// A single step that sends exactly this message.
    pub fn single(message: &[u8], exchange: Exchange) -> Self {
        let message = Template::fixed(message);
        Self { steps: Arc::from([CompiledStep { message, exchange }]), variables: 0 }
    }

    /// Compiles the steps of a load.
    ///
    /// # Errors
    ///
    /// The first step that cannot be sent unchanged.
    pub fn compile(load: &LoadSteps<'_>) -> Result<Self, StepError> {
        let steps = compile_each(load.steps, |step: &TcpStep| {
            if !step.exchange.receive.is_valid() {
                return Err(
                    "the end of its reply is nowhere: write 1 byte or more, or a delimiter of 1 to 64 bytes"
                        .into(),
                );
            }
            let message = Template::compile(&step.message, load.variables, load.secrets)?;
            Ok(CompiledStep { message, exchange: step.exchange.clone() })
        })?;
        Ok(Self { steps: steps.into(), variables: load.variables.len() as u16 })
    }

    fn step(&self, number: u16) -> Option<&CompiledStep> {
        self.steps.get(usize::from(number))
    }
}

impl Script for Tcp {
    type Conversation = TcpConversation;

    fn open(&self, _number: u32) -> TcpConversation {
        TcpConversation::new(Arc::clone(&self.steps), self.variables)
    }

    fn needs(&self, step: u16, variable: u16) -> bool {
        self.step(step).is_some_and(|step| step.message.variables().any(|needed| needed == variable))
    }

    fn inspects_replies(&self, step: u16) -> bool {
        self.step(step).is_some_and(|step| matches!(step.exchange.receive, Receive::Until(_)))
    }

    fn footprint(&self, longest_bytes: &dyn Fn(u16) -> u64) -> Footprint {
        let of = |step: &CompiledStep| step.message.bytes_max(longest_bytes);
        let filled =
            self.steps.iter().filter(|step| step.message.constant().is_none()).map(of).max().unwrap_or(0);
        let values = (0..self.variables).map(longest_bytes).fold(0, u64::saturating_add);
        Footprint {
            // Growing buffers may own twice the bytes that they hold.
            kept_bytes: filled.saturating_mul(2).saturating_add(values) + DELIMITER_BYTES_MAX as u64,
            request_bytes: self.steps.iter().map(of).max().unwrap_or(0),
            shared_bytes: self.steps.iter().map(|step| step.message.bytes_max(&|_| 0)).sum(),
            expressions: 0,
        }
    }
}
