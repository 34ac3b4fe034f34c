//! The step `memcached`: a command, the checks of its reply, and the values to save.

use alloc::format;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;

use super::binary::{OPERATIONS, Operation};
use super::content::Kind as ReplyKind;
use super::{log_in, records, workload};
use crate::step::{
    self, Key, Kind, LogIn, ReplyKeys, SavedValue, Step, StepDefinition, StepValueError, Table, Text, Value,
    WrittenStep,
};
use crate::words;

/// Max characters of a title.
const SHOWN_CHARACTERS_MAX: usize = 40;
/// Commands that store data: KEY VALUE [EXPTIME [FLAGS]].
const STORING: [&str; 5] = ["set", "add", "replace", "append", "prepend"];
/// Other commands with exactly one reply.
const OTHERS: [&str; 16] = [
    "get",
    "gets",
    "gat",
    "gats",
    "delete",
    "incr",
    "decr",
    "touch",
    "version",
    "flush_all",
    "stats",
    "verbosity",
    "mg",
    "md",
    "ma",
    "mn",
];
/// Meta commands. Their flag `q` suppresses replies.
const META: [&str; 5] = ["mg", "ms", "md", "ma", "mn"];

/// Definition of the protocol's steps.
pub(super) const STEPS: StepDefinition = StepDefinition {
    noun: "memcached",
    says: "the command that is sent",
    url: "memcached://127.0.0.1:11211",
    query: "?memcached=version",
    keys: &[Key {
        name: "memcached",
        sentence: "A memcached command, split into words, or a list of its words: get KEY, set KEY VALUE [EXPTIME [FLAGS]], \
                   cas KEY VALUE UNIQUE [EXPTIME [FLAGS]], incr KEY NUMBER, and others; ms KEY VALUE FLAGS, and other meta commands. \
                   The length of the value is filled in. The URL of the system is memcached://[USER:PASSWORD@]HOST:PORT.",
        example: "\"set user:{id} {value}\"",
        kind: Kind::TextOrTexts,
    }],
    body: None,
    reply: Some(ReplyKeys { expect: &EXPECT, save: &SAVE }),
    log_in: Some(LogIn {
        password_variable: "MEMCACHED_PASSWORD",
        options: &[],
        requires_tls: |_| false,
        check: |access| log_in::Identity::read(access).map(drop),
    }),
    pipeline_max: 1,
    workload: Some(&workload::WORKLOAD),
    records: Some(&records::RECORDS),
    read: |written| read(written, MemcachedStep::of),
    compile: |load| super::compile(load, log_in::Identity::read),
};

pub(super) static EXPECT: Table = Table {
    name: "memcached expect",
    sentence: "Conditions for a reply of memcached.",
    example: "{ type: stored }",
    exclusive: &[],
    keys: &[
        Key {
            name: "reply",
            sentence: "memcached: the first value, or the number of a counter.",
            example: "\"{value}\"",
            kind: Kind::Text,
        },
        Key {
            name: "contains",
            sentence: "memcached: text that a value must contain.",
            example: "\"{id}\"",
            kind: Kind::Text,
        },
        Key {
            name: "type",
            sentence: "memcached: type of the reply: value, miss, stored, not-stored, exists, not-found, deleted, touched, number, ok, \
                       version, or stats. Without it, an error is rejected, and any other reply is ok.",
            example: "value",
            kind: Kind::Constant("the type of a reply"),
        },
    ],
};

pub(super) static SAVE: Table = Table {
    name: "memcached save",
    sentence: "Where the value is in a reply of memcached: one of `reply`, `item`, and `unique`.",
    example: "{ reply: true }",
    exclusive: &[["reply", "item"], ["reply", "unique"], ["item", "unique"]],
    keys: &[
        Key {
            name: "reply",
            sentence: "memcached: the first value, the number of a counter, or the version.",
            example: "true",
            kind: Kind::Truth,
        },
        Key {
            name: "item",
            sentence: "memcached: the value of this number, counted from 0.",
            example: "0",
            kind: Kind::Count,
        },
        Key {
            name: "unique",
            sentence: "memcached: the unique number of the last value, for `cas`.",
            example: "true",
            kind: Kind::Truth,
        },
    ],
};

/// A command with its checks and saved values.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MemcachedStep {
    /// Words of the command's line, without the length of its data. Names in braces are variables.
    pub(super) words: Vec<Vec<u8>>,
    /// Number of words before the length of the data, and the data. `None` if the command has no data.
    pub(super) data: Option<(usize, Vec<u8>)>,
    title: String,
    /// Conditions for the reply.
    pub(super) expect: Expect,
    /// Variables, each with the part of the reply that it is set to.
    pub(super) saves: Vec<(u16, ReplyPart)>,
    /// The words as they were written, joined by spaces, for records of plans.
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
pub(super) enum ReplyPart {
    /// Value of this number.
    Item(usize),
    /// Unique number of the last value.
    Unique,
}

impl MemcachedStep {
    /// Creates a command of these words, without checks.
    ///
    /// # Errors
    ///
    /// The error and the advice for an unknown command, and for one without exactly one reply.
    pub(super) fn of(written: Vec<Vec<u8>>, title: String) -> Result<Self, (String, String)> {
        let message = written.join(&b' ');
        let name = String::from_utf8_lossy(written.first().map_or(&[][..], Vec::as_slice)).to_lowercase();
        let is_quiet =
            |word: &[u8]| word == b"noreply" || (META.contains(&name.as_str()) && word.starts_with(b"q"));
        let flags_from = if META.contains(&name.as_str()) { 2 + usize::from(name == "ms") } else { 1 };
        if written.iter().skip(flags_from).any(|word| is_quiet(word)) && !STORING.contains(&name.as_str()) {
            return Err((
                "without replies nothing can be measured".into(),
                "remove `noreply`, or the flag q".into(),
            ));
        }
        let (words, data) = match name.as_str() {
            storing if STORING.contains(&storing) => stored(written, 3, &name)?,
            "cas" => stored(written, 4, &name)?,
            "ms" => {
                let mut words = written;
                if words.len() < 3 {
                    return Err(too_few("ms", "ms KEY VALUE FLAGS"));
                }
                let value = words.remove(2);
                (words, Some((2, value)))
            }
            other if OTHERS.contains(&other) => (written, None),
            _ => {
                let what = match name.as_str() {
                    "" => "the command is empty".into(),
                    name => format!("{name:?} is no command of memcached that has exactly one reply"),
                };
                let known: Vec<&str> = STORING.iter().chain(&["cas", "ms"]).chain(&OTHERS).copied().collect();
                return Err((what, format!("write one of {}", known.join(", "))));
            }
        };
        Ok(Self { words, data, title, message, ..Self::default() })
    }

    /// Creates a command of the binary protocol, without checks. Its words have the order of the text protocol.
    ///
    /// # Errors
    ///
    /// The error and the advice for an unknown command, and for a wrong number of words.
    pub(super) fn binary(written: Vec<Vec<u8>>, title: String) -> Result<Self, (String, String)> {
        let message = written.join(&b' ');
        let name = written.first().map_or(&[][..], Vec::as_slice);
        let Some(operation) = Operation::named(name) else {
            let what = match name {
                b"" => "the command is empty".into(),
                name => format!("{:?} is no operation of the binary protocol", String::from_utf8_lossy(name)),
            };
            let known: Vec<&str> = OPERATIONS.iter().map(|operation| operation.name).collect();
            return Err((what, format!("write one of {}", known.join(", "))));
        };
        let (words, data) = match operation.name {
            storing if STORING.contains(&storing) => stored(written, 3, operation.name)?,
            "cas" => stored(written, 4, operation.name)?,
            _ => (written, None),
        };
        operation.check(words.len())?;
        Ok(Self { words, data, title, message, ..Self::default() })
    }
}

/// Creates a command of words with a title, or returns the error and the advice.
pub(super) type MakeStep = fn(Vec<Vec<u8>>, String) -> Result<MemcachedStep, (String, String)>;

/// Words of a command's line and the place of its data.
type Line = (Vec<Vec<u8>>, Option<(usize, Vec<u8>)>);

/// Orders the words KEY VALUE [UNIQUE] [EXPTIME [FLAGS]] as the protocol has them. `fixed` is the number of words without the
/// optional ones.
fn stored(written: Vec<Vec<u8>>, fixed: usize, name: &str) -> Result<Line, (String, String)> {
    let form = if fixed == 4 {
        "cas KEY VALUE UNIQUE [EXPTIME [FLAGS]]".into()
    } else {
        format!("{name} KEY VALUE [EXPTIME [FLAGS]]")
    };
    if !(fixed..=fixed + 2).contains(&written.len()) {
        return Err(too_few(name, &form));
    }
    let word = |number: usize| written.get(number).cloned().unwrap_or_else(|| b"0".to_vec());
    let mut words = Vec::from([word(0), word(1), word(fixed + 1), word(fixed)]);
    if fixed == 4 {
        words.push(word(3));
    }
    Ok((words, Some((4, word(2)))))
}

fn too_few(name: &str, form: &str) -> (String, String) {
    (
        format!("`{name}` has too few words, or too many"),
        format!("write {form}; quotes keep a value with spaces together"),
    )
}

impl Step for MemcachedStep {
    fn title(&self) -> String {
        self.title.clone()
    }

    fn message(&self) -> &[u8] {
        &self.message
    }

    fn saves(&self) -> Vec<u16> {
        self.saves.iter().map(|(variable, _)| *variable).collect()
    }

    fn fingerprint(&self) -> String {
        format!("{:?} {:?} {:?} {:?}", self.words, self.data, self.expect, self.saves)
    }
}

/// Reads a step. `make` builds it from its words and its title.
pub(super) fn read(written: &WrittenStep<'_>, make: MakeStep) -> Result<Arc<dyn Step>, StepValueError> {
    let wrong = |(what, help)| StepValueError { path: Vec::new(), what, help };
    let (words, title) = match written.value {
        Value::List(items) => {
            let texts: Vec<&Text> = items.iter().filter_map(Value::text).collect();
            let title: Vec<&str> = texts.iter().map(|text| text.written.as_str()).collect();
            (texts.iter().map(|text| text.template.clone()).collect(), title.join(" "))
        }
        Value::Text(Text { written, template }) => (words::split(template).map_err(wrong)?, written.clone()),
        _ => (Vec::new(), String::new()),
    };
    let step = make(words, shortened(&title)).map_err(wrong)?;
    let expect = expect(written.expect)?;
    let saves = written.saves.iter().map(source).collect::<Result<_, _>>()?;
    Ok(Arc::new(MemcachedStep { expect, saves, ..step }))
}

fn expect(value: Option<&Value>) -> Result<Expect, StepValueError> {
    let of = |key: &str| value.and_then(|value| value.get(key));
    let text = |key: &str| of(key).and_then(Value::text).map(|text| text.template.clone());
    let kind = of("type").and_then(Value::bytes).map(|name| {
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

fn source(saved: &SavedValue) -> Result<(u16, ReplyPart), StepValueError> {
    let source = match (saved.value.get("reply"), saved.value.get("item"), saved.value.get("unique")) {
        (_, Some(Value::Count(number)), _) => usize::try_from(*number).ok().map(ReplyPart::Item),
        (Some(Value::Truth(true)), ..) => Some(ReplyPart::Item(0)),
        (.., Some(Value::Truth(true))) => Some(ReplyPart::Unique),
        _ => None,
    };
    source.map(|source| (saved.variable, source)).ok_or_else(|| StepValueError {
        path: Vec::from([step::SAVE]),
        what: format!("`{}` has no source", saved.name),
        help: "write { reply: true }, or { unique: true } for `cas`".into(),
    })
}

/// Beginning of a command, escaped to one line.
fn shortened(text: &str) -> String {
    let dots = if text.chars().count() > SHOWN_CHARACTERS_MAX { " …" } else { "" };
    let start: String = text.chars().take(SHOWN_CHARACTERS_MAX).collect();
    format!("{}{dots}", start.trim().escape_debug())
}

#[cfg(test)]
mod tests {
    use super::super::command::Command;
    use super::super::format::Format;
    use super::*;
    use crate::secrets::Secrets;

    fn sent(line: &str) -> Result<String, String> {
        let words = words::split(line.as_bytes()).expect("words");
        let step = MemcachedStep::of(words, line.into()).map_err(|(what, _)| what)?;
        let command = Command::compile(&step, Format::Text, &["v".into()], &Secrets::default())?;
        let mut out = Vec::new();
        command.encode(&|_| &b"abc"[..], &mut out)?;
        assert!(out.len() as u64 <= command.bytes_max(&|_| 3), "{line}");
        Ok(String::from_utf8_lossy(&out).into_owned())
    }

    #[test]
    fn command_has_order_of_protocol_and_length_of_its_data() {
        for (line, expected) in [
            ("get a {v}", "get a abc\r\n"),
            ("set k{v} 'x {v}'", "set kabc 0 0 5\r\nx abc\r\n"),
            ("set k '' 60 7", "set k 7 60 0\r\n\r\n"),
            ("cas k v 99 60", "cas k 0 60 1 99\r\nv\r\n"),
            ("ms k {v} T60 c", "ms k 3 T60 c\r\nabc\r\n"),
            ("ms k {v}", "ms k 3\r\nabc\r\n"),
            ("mg k v c", "mg k v c\r\n"),
            ("incr k 1", "incr k 1\r\n"),
        ] {
            assert_eq!(sent(line).as_deref(), Ok(expected), "{line}");
        }
    }

    #[test]
    fn rejects_commands_without_exactly_one_reply() {
        for line in [
            "quit",
            "watch",
            "set k",
            "set k v 1 2 noreply",
            "delete k noreply",
            "mg k v q",
            "ms k",
            "gett k",
        ] {
            assert!(sent(line).is_err(), "{line}");
        }
    }
}
