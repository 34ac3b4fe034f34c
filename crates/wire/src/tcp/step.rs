//! The step `tcp`: bytes to send, and the end of the reply.

use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec;
use alloc::vec::Vec;

use super::{DELIMITER_BYTES_MAX, Exchange, Receive, Tcp};
use crate::braces;
use crate::step::{Key, Kind, Size, Step, StepDefinition, StepValueError, Table, Text, Value, WrittenStep};

/// Max length of a message, which is held in memory once.
const SEND_BYTES_MAX: u64 = 64 << 20;
const REPLY_BYTES_MAX: u64 = 1 << 40;
/// Max characters of a text in a title.
const SHOWN_CHARACTERS_MAX: usize = 24;

/// Definition of the protocol's steps.
pub(super) const STEPS: StepDefinition = StepDefinition {
    noun: "raw TCP",
    says: "what is sent and where the reply ends",
    url: "tcp://127.0.0.1:9000",
    query: "?send=1MiB&write=4KiB&bytes=1",
    keys: &[Key {
        name: "tcp",
        sentence: "Bytes over raw TCP, and where their reply ends; the URL of the system is tcp://HOST:PORT.",
        example: "{ send: 1MiB, write: 4KiB, receive: { bytes: 1 } }",
        kind: Kind::Table(&TCP),
    }],
    body: Some("text"),
    reply: None,
    log_in: None,
    pipeline_max: 1,
    workload: None,
    records: None,
    read,
    compile: |load| Ok(Box::new(Tcp::compile(load)?)),
};

static TCP: Table = Table {
    name: "tcp",
    sentence: "What is sent over raw TCP: one of `send` and `text`, default one line feed.",
    example: "{ send: 1MiB, write: 4KiB, receive: { bytes: 1 } }",
    exclusive: &[["send", "text"]],
    keys: &[
        Key {
            name: "send",
            sentence: "So many bytes, all the letter x; max 64 MiB.",
            example: "1MiB",
            kind: Kind::Size { min_bytes: 1, max_bytes: SEND_BYTES_MAX },
        },
        Key { name: "text", sentence: "This text.", example: "\"PING {n}\\r\\n\"", kind: Kind::Text },
        Key {
            name: "write",
            sentence: "Max bytes of each write; default: as many as the kernel takes.",
            example: "4KiB",
            kind: Kind::Size { min_bytes: 1, max_bytes: u32::MAX as u64 },
        },
        Key {
            name: "receive",
            sentence: "Where the reply ends; default: with a line feed.",
            example: "{ until: \"\\n\" }",
            kind: Kind::Table(&RECEIVE),
        },
    ],
};

static RECEIVE: Table = Table {
    name: "receive",
    sentence: "Where a reply over raw TCP ends: one of `bytes` and `until`.",
    example: "{ bytes: 1 }",
    exclusive: &[["bytes", "until"]],
    keys: &[
        Key {
            name: "bytes",
            sentence: "After so many bytes.",
            example: "1",
            kind: Kind::Size { min_bytes: 1, max_bytes: REPLY_BYTES_MAX },
        },
        Key {
            name: "until",
            sentence: "With these bytes, 1 to 64.",
            example: "\"\\n\"",
            kind: Kind::Constant("the end of a reply"),
        },
    ],
};

/// A step of raw TCP.
#[derive(Debug)]
pub struct TcpStep {
    /// Bytes to send; names in braces stand for variables.
    pub message: Vec<u8>,
    /// Write size, and the end of the reply.
    pub exchange: Exchange,
    /// Name in reports.
    pub title: String,
}

impl Step for TcpStep {
    fn title(&self) -> String {
        self.title.clone()
    }

    fn message(&self) -> &[u8] {
        &self.message
    }

    fn record(&self, _number: u16) -> Vec<(&'static str, Option<Value>)> {
        let size = |bytes: u64| Value::Size(Size { written: format!("{bytes}"), bytes });
        let receive = match &self.exchange.receive {
            Receive::Bytes(bytes) => ("bytes", size(*bytes)),
            Receive::Until(until) => ("until", Value::Bytes(until.clone())),
        };
        let write = self.exchange.write_bytes.map(|bytes| size(bytes.into()));
        Vec::from([("write_bytes", write), ("receive", Some(Value::Table(Vec::from([receive]))))])
    }

    fn fingerprint(&self) -> String {
        format!("{:?}", self.exchange)
    }
}

fn read(WrittenStep { value, .. }: &WrittenStep<'_>) -> Result<Arc<dyn Step>, StepValueError> {
    let write = value.get("write").and_then(Value::size);
    let in_writes = write.map_or(String::new(), |write| format!(" in writes of {}", write.written));
    let (message, title) = match (value.get("send"), value.get("text")) {
        (Some(Value::Size(Size { written, bytes })), _) => {
            (vec![b'x'; *bytes as usize], format!("send {written}{in_writes}"))
        }
        (_, Some(Value::Bytes(body))) => (braces::literal(body), format!("send {} bytes", body.len())),
        (_, Some(Value::Text(Text { written, template }))) => {
            (template.clone(), format!("send {}{in_writes}", shortened(written)))
        }
        _ => (b"\n".to_vec(), format!("send {}{in_writes}", shortened("\n"))),
    };
    let write_bytes = write.map(|write| u32::try_from(write.bytes).unwrap_or(u32::MAX));
    let exchange = Exchange { write_bytes, receive: receive(value.get("receive"))? };
    Ok(Arc::new(TcpStep { message, exchange, title }))
}

fn receive(value: Option<&Value>) -> Result<Receive, StepValueError> {
    let of = |key: &str| value.and_then(|value| value.get(key));
    if let Some(size) = of("bytes").and_then(Value::size) {
        return Ok(Receive::Bytes(size.bytes));
    }
    let until = of("until").and_then(Value::bytes).unwrap_or(b"\n");
    if !(1..=DELIMITER_BYTES_MAX).contains(&until.len()) {
        return Err(StepValueError {
            path: Vec::from(["receive", "until"]),
            what: format!("a delimiter has 1 to {DELIMITER_BYTES_MAX} bytes, not {}", until.len()),
            help: "write a delimiter such as \"\\n\"".into(),
        });
    }
    Ok(Receive::Until(until.to_vec()))
}

/// Beginning of a text, escaped to one line.
fn shortened(text: &str) -> String {
    let dots = if text.chars().count() > SHOWN_CHARACTERS_MAX { " …" } else { "" };
    let start: String = text.chars().take(SHOWN_CHARACTERS_MAX).collect();
    format!("\"{}\"{dots}", start.escape_debug())
}
