//! The step `redis`: a command, the checks of its reply, and the values to save.

use alloc::format;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;

use super::reader::Kind as ReplyKind;
use super::{log_in, records, workload};
use crate::step::{
    self, Access, Key, Kind, LogIn, ReplyKeys, SavedValue, Step, StepDefinition, StepValueError, Table, Text,
    Value, WrittenStep,
};
use crate::words;

/// Key of a step.
const KEY: &str = "redis";
/// Key of a step that publishes a message, and the keys of its table.
const PUBLISH_KEY: &str = "publish";
const CHANNEL: &str = "channel";
const MESSAGE: &str = "message";
/// Max characters of a command in a title.
const SHOWN_CHARACTERS_MAX: usize = 40;
/// Max words of a command.
const WORDS_MAX: usize = 1024 * 1024;
/// Commands after which commands and replies no longer correspond one to one.
const OTHER_MODES: [&str; 8] =
    ["SUBSCRIBE", "PSUBSCRIBE", "SSUBSCRIBE", "MONITOR", "SYNC", "PSYNC", "REPLCONF", "QUIT"];

/// Definition of the protocol's steps.
pub(super) const STEPS: StepDefinition = StepDefinition {
    noun: "Redis",
    says: "the command that is sent",
    url: "redis://127.0.0.1:6379",
    query: "?redis=PING",
    keys: &[
        Key {
            name: KEY,
            sentence: "A Redis command, split into words as redis-cli does, or a list of its words; a value never makes further words. The \
                       URL of the system is redis://[USER:PASSWORD@]HOST:PORT/DATABASE.",
            example: "\"SET user:{id} {value}\"",
            kind: Kind::TextOrTexts,
        },
        Key {
            name: PUBLISH_KEY,
            sentence: "Redis: a message that is published and received again. The response time ends when the message is delivered to the \
                       connection that published it, which subscribes to the channel.",
            example: "{ channel: news, message: hello }",
            kind: Kind::Table(&PUBLISH),
        },
    ],
    body: None,
    reply: Some(ReplyKeys { expect: &EXPECT, save: &SAVE }),
    log_in: Some(LogIn {
        password_variable: "REDISCLI_AUTH",
        options: log_in::OPTIONS,
        requires_tls: |_| false,
        check: check_access,
    }),
    pipeline_max: 10_000,
    workload: Some(&workload::WORKLOAD),
    records: Some(&records::RECORDS),
    read,
    compile: |load| super::compile(load),
};

static PUBLISH: Table = Table {
    name: "redis publish",
    sentence: "A message of Redis, and its channel.",
    example: "{ channel: news, message: hello }",
    exclusive: &[],
    keys: &[
        Key {
            name: CHANNEL,
            sentence: "Needed. Redis: the channel.",
            example: "news:{id}",
            kind: Kind::Text,
        },
        Key {
            name: MESSAGE,
            sentence: "Needed. Redis: the message. A number is appended, by which the connection recognizes its own message.",
            example: "hello",
            kind: Kind::Text,
        },
    ],
};

static EXPECT: Table = Table {
    name: "redis expect",
    sentence: "Conditions for a reply of Redis.",
    example: "{ reply: OK }",
    exclusive: &[],
    keys: &[
        Key {
            name: "reply",
            sentence: "Redis: the whole reply, a text or a number.",
            example: "OK",
            kind: Kind::Text,
        },
        Key {
            name: "contains",
            sentence: "Redis: text that the reply, or an item of it, must contain.",
            example: "\"{id}\"",
            kind: Kind::Text,
        },
        Key {
            name: "type",
            sentence: "Redis: type of the reply: string, integer, nil, array, map, set, double, boolean, big-number, or error. \
                       Without it, an error is rejected, and any other reply is ok.",
            example: "nil",
            kind: Kind::Constant("the type of a reply"),
        },
    ],
};

static SAVE: Table = Table {
    name: "redis save",
    sentence: "Where the value is in a reply of Redis: one of `reply` and `item`.",
    example: "{ reply: true }",
    exclusive: &[["reply", "item"]],
    keys: &[
        Key {
            name: "reply",
            sentence: "Redis: the whole reply, a text or a number.",
            example: "true",
            kind: Kind::Truth,
        },
        Key {
            name: "item",
            sentence: "Redis: the item of this number in an array, a map, or a set, counted from 0.",
            example: "0",
            kind: Kind::Count,
        },
    ],
};

/// A command with its checks and saved values.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RedisStep {
    /// Words of the command; names in braces stand for variables.
    pub words: Vec<Vec<u8>>,
    /// Name in reports.
    pub title: String,
    /// Conditions for the reply.
    pub(super) expect: Expect,
    /// Variables, each with the part of the reply that it is set to.
    pub(super) saves: Vec<(u16, Part)>,
    /// Whether the words are PUBLISH with a channel and a message, and the step waits for the delivery.
    pub(super) awaits_delivery: bool,
    /// The words joined by spaces, for records of plans.
    message: Vec<u8>,
}

/// Conditions for a reply. Names in braces stand for variables.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Expect {
    pub(super) kind: Option<ReplyKind>,
    pub(super) reply: Option<Vec<u8>>,
    pub(super) content: Option<Vec<u8>>,
}

/// Part of a reply that is saved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// The only item.
    Reply,
    /// The item of this number, counted from 0.
    Item(usize),
    /// All items without their nesting, each escaped to one line. Steps of plans do not name it.
    Items,
}

impl RedisStep {
    /// Creates a command of these words, without checks.
    pub fn of(words: Vec<Vec<u8>>, title: String) -> Self {
        let message = words.join(&b' ');
        Self { words, title, message, ..Self::default() }
    }

    /// Name of the command in upper case.
    pub(super) fn name(&self) -> String {
        String::from_utf8_lossy(self.words.first().map_or(&[][..], Vec::as_slice)).to_uppercase()
    }
}

impl Step for RedisStep {
    fn title(&self) -> String {
        self.title.clone()
    }

    fn message(&self) -> &[u8] {
        &self.message
    }

    fn written(&self) -> Option<(&'static str, Value)> {
        let word = |word: &Vec<u8>| {
            let written = String::from_utf8_lossy(word).into_owned();
            Value::Text(Text { written, template: word.clone() })
        };
        if self.awaits_delivery {
            let entries = [CHANNEL, MESSAGE].into_iter().zip(self.words.iter().skip(1).map(word));
            return Some((PUBLISH_KEY, Value::Table(entries.collect())));
        }
        Some((KEY, Value::List(self.words.iter().map(word).collect())))
    }

    fn saves(&self) -> Vec<u16> {
        self.saves.iter().map(|(variable, _)| *variable).collect()
    }

    fn fingerprint(&self) -> String {
        let delivery = if self.awaits_delivery { " delivery" } else { "" };
        format!("{:?} {:?} {:?}{delivery}", self.words, self.expect, self.saves)
    }
}

fn check_access(access: &Access) -> Result<(), StepValueError> {
    log_in::Identity::read(access).map(drop)
}

fn read(written: &WrittenStep<'_>) -> Result<Arc<dyn Step>, StepValueError> {
    let wrong = |(what, help)| StepValueError { path: Vec::new(), what, help };
    let awaits_delivery = written.key == PUBLISH_KEY;
    let (words, title) = match written.value {
        Value::Table(_) => published(written.value).map_err(wrong)?,
        Value::List(items) => {
            let texts: Vec<&Text> = items.iter().filter_map(Value::text).collect();
            let title: Vec<&str> = texts.iter().map(|text| text.written.as_str()).collect();
            (texts.iter().map(|text| text.template.clone()).collect(), title.join(" "))
        }
        Value::Text(Text { written, template }) => (words::split(template).map_err(wrong)?, written.clone()),
        _ => (Vec::new(), String::new()),
    };
    let step = RedisStep::of(words, shortened(&title));
    check_words(&step).map_err(wrong)?;
    let expect = expect(written.expect)?;
    let saves = written.saves.iter().map(source).collect::<Result<_, _>>()?;
    Ok(Arc::new(RedisStep { expect, saves, awaits_delivery, ..step }))
}

/// Words of a command, and its title.
type TitledWords = (Vec<Vec<u8>>, String);

/// Words and title of the command that publishes a message. The error has its help.
fn published(value: &Value) -> Result<TitledWords, (String, String)> {
    let text = |key: &str| {
        let text = value.get(key).and_then(Value::text).filter(|text| !text.template.is_empty());
        text.ok_or_else(|| (format!("`{PUBLISH_KEY}` has no `{key}`"), format!("write {}", PUBLISH.example)))
    };
    let (channel, message) = (text(CHANNEL)?, text(MESSAGE)?);
    let words = [b"PUBLISH".to_vec(), channel.template.clone(), message.template.clone()];
    Ok((words.into(), format!("PUBLISH {}", channel.written)))
}

/// Rejects empty commands, commands of too many words, and commands that change how replies follow commands.
fn check_words(step: &RedisStep) -> Result<(), (String, String)> {
    let name = step.name();
    if name.is_empty() {
        return Err(("the command is empty".into(), "write a command such as GET user:1".into()));
    }
    if step.words.len() > WORDS_MAX {
        return Err((format!("the command has more than {WORDS_MAX} words"), "use fewer".into()));
    }
    if OTHER_MODES.contains(&name.as_str()) {
        let what = format!("after {name}, replies no longer answer commands one by one");
        return Err((what, "use another command; a step `publish` measures the delivery of messages".into()));
    }
    let is_reply = step.words.get(1).is_some_and(|word| word.eq_ignore_ascii_case(b"reply"));
    if name == "CLIENT" && is_reply {
        return Err(("without replies nothing can be measured".into(), "remove CLIENT REPLY".into()));
    }
    Ok(())
}

fn expect(value: Option<&Value>) -> Result<Expect, StepValueError> {
    let text = |key: &str| {
        value.and_then(|value| value.get(key)).and_then(Value::text).map(|text| text.template.clone())
    };
    let kind = value.and_then(|value| value.get("type")).and_then(Value::bytes);
    let kind = kind.map(|name| {
        let known = ReplyKind::NAMED.iter().find(|(known, _)| known.as_bytes() == name);
        known.map(|(_, kind)| *kind).ok_or_else(|| {
            let names: Vec<&str> = ReplyKind::NAMED.iter().map(|(name, _)| *name).collect();
            StepValueError {
                path: Vec::from([step::EXPECT, "type"]),
                what: format!("{:?} is no type of a reply", String::from_utf8_lossy(name)),
                help: format!("write one of {}", names.join(", ")),
            }
        })
    });
    Ok(Expect { kind: kind.transpose()?, reply: text("reply"), content: text("contains") })
}

fn source(saved: &SavedValue) -> Result<(u16, Part), StepValueError> {
    let source = match (saved.value.get("reply"), saved.value.get("item")) {
        (_, Some(Value::Count(number))) => usize::try_from(*number).ok().map(Part::Item),
        (Some(Value::Truth(true)), _) => Some(Part::Reply),
        _ => None,
    };
    source.map(|source| (saved.variable, source)).ok_or_else(|| StepValueError {
        path: Vec::from([step::SAVE]),
        what: format!("`{}` has no source", saved.name),
        help: "write { reply: true }, or { item: 0 } for the first item of an array".into(),
    })
}

/// Beginning of a command, escaped to one line.
fn shortened(text: &str) -> String {
    let dots = if text.chars().count() > SHOWN_CHARACTERS_MAX { " …" } else { "" };
    let start: String = text.chars().take(SHOWN_CHARACTERS_MAX).collect();
    format!("{}{dots}", start.trim().escape_debug())
}
