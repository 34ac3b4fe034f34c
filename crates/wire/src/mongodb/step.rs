//! The step `mongo`: a command, the checks of its reply, and the values to save.

use alloc::format;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;

use super::json::{self, Node};
use super::{log_in, records, workload};
use crate::step::{
    self, Access, Key, Kind, LogIn, ReplyKeys, SavedValue, Step, StepDefinition, StepValueError, Table,
    Value, WrittenStep,
};

/// Max characters of a title.
const SHOWN_CHARACTERS_MAX: usize = 40;

/// Definition of the protocol's steps.
pub(super) const STEPS: StepDefinition = StepDefinition {
    noun: "MongoDB",
    says: "the command that is sent",
    url: "mongodb://127.0.0.1:27017/test",
    query: "?mongo={\"ping\":1}",
    keys: &[Key {
        name: "mongo",
        sentence: "A MongoDB command, as a document: the first key is its name. Values have the types of JSON or of Extended JSON, such as \
                   { $oid: \"{id}\" }; \"{n:raw}\" is a number. Cursors are read to their end. The URL of the system is \
                   mongodb://[USER:PASSWORD@]HOST:PORT/DATABASE.",
        example: "{ find: users, filter: { _id: \"{id}\" } }",
        kind: Kind::Json,
    }],
    body: None,
    reply: Some(ReplyKeys { expect: &EXPECT, save: &SAVE }),
    log_in: Some(LogIn {
        password_variable: "MONGODB_PASSWORD",
        options: log_in::OPTIONS,
        requires_tls: log_in::requires_tls,
        check: check_access,
    }),
    pipeline_max: 1,
    workload: Some(&workload::WORKLOAD),
    records: Some(&records::RECORDS),
    read,
    compile: |load| super::compile(load),
};

static EXPECT: Table = Table {
    name: "mongo expect",
    sentence: "Conditions for a reply of MongoDB.",
    example: "{ documents: 1 }",
    exclusive: &[],
    keys: &[
        Key {
            name: "documents",
            sentence: "MongoDB: number of documents in all batches of the cursor.",
            example: "1",
            kind: Kind::Count,
        },
        Key {
            name: "matched",
            sentence: "MongoDB: number of documents that the command inserted, matched, or deleted (`n`).",
            example: "1",
            kind: Kind::Count,
        },
        Key {
            name: "modified",
            sentence: "MongoDB: number of documents that an update changed (`nModified`).",
            example: "1",
            kind: Kind::Count,
        },
        Key {
            name: "fields",
            sentence: "MongoDB: values by their paths, in the first document of the cursor or else in the reply.",
            example: "{ name: \"{name}\", address.city: Kyoto }",
            kind: Kind::Json,
        },
    ],
};

static SAVE: Table = Table {
    name: "mongo save",
    sentence: "Where the value is in a reply of MongoDB: one of `field` and `cursor`.",
    example: "{ field: _id }",
    exclusive: &[["field", "cursor"]],
    keys: &[
        Key {
            name: "field",
            sentence: "MongoDB: path of the value, such as address.city, in the first document of the cursor or else in the reply.",
            example: "_id",
            kind: Kind::Constant("a path"),
        },
        Key {
            name: "cursor",
            sentence: "MongoDB: the number of the cursor, for `getMore`; without this key, cursors are read to their end.",
            example: "true",
            kind: Kind::Truth,
        },
    ],
};

/// A command with its checks and saved values.
#[derive(Clone, Debug)]
pub struct MongoStep {
    /// Command: a mapping with its name as the first key.
    pub(super) document: Node,
    /// Name in reports.
    title: String,
    /// Conditions for the reply.
    pub(super) expect: Expect,
    /// Variables, each with the part of the reply that it is set to.
    pub(super) saves: Vec<(u16, Source)>,
    /// The command as JSON, for records of plans.
    message: Vec<u8>,
}

/// Conditions for a reply.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Expect {
    pub(super) documents: Option<u64>,
    pub(super) matched: Option<u64>,
    pub(super) modified: Option<u64>,
    /// Values by their paths.
    pub(super) fields: Vec<(Vec<u8>, Node)>,
}

/// Part of a reply that is saved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Source {
    /// Number of the cursor.
    Cursor,
    /// Value at this path.
    Field(Vec<u8>),
}

impl MongoStep {
    /// Reads a command in JSON, without checks.
    ///
    /// # Errors
    ///
    /// The text is not JSON, or not a mapping with at least one key.
    pub(super) fn of(json: &[u8]) -> Result<Self, String> {
        let document = json::parse(json)?;
        let Some((name, value)) = document.entries().first() else {
            return Err("a command is a document whose first key is its name".into());
        };
        let title = match value {
            Node::Text(of) => format!("{} {}", String::from_utf8_lossy(name), String::from_utf8_lossy(of)),
            _ => String::from_utf8_lossy(name).into_owned(),
        };
        let (title, message) = (shortened(&title), json.into());
        Ok(Self { document, title, expect: Expect::default(), saves: Vec::new(), message })
    }

    /// Name of the command.
    pub(super) fn name(&self) -> String {
        let first = self.document.entries().first();
        first.map_or_else(String::new, |(name, _)| String::from_utf8_lossy(name).into_owned())
    }
}

impl Step for MongoStep {
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
        format!("{:?} {:?}", self.expect, self.saves)
    }
}

fn check_access(access: &Access) -> Result<(), StepValueError> {
    log_in::Identity::read(access).map(drop)
}

fn read(written: &WrittenStep<'_>) -> Result<Arc<dyn Step>, StepValueError> {
    let text = written.value.text().map_or(&[][..], |text| text.template.as_slice());
    let step = MongoStep::of(text).map_err(|what| StepValueError {
        path: Vec::new(),
        what,
        help: "write a command such as { find: users, filter: { _id: 1 } }".into(),
    })?;
    let expect = expect(written.expect)?;
    let saves = written.saves.iter().map(source).collect::<Result<_, _>>()?;
    Ok(Arc::new(MongoStep { expect, saves, ..step }))
}

fn expect(value: Option<&Value>) -> Result<Expect, StepValueError> {
    let of = |key: &str| value.and_then(|value| value.get(key));
    let count = |key: &str| match of(key) {
        Some(Value::Count(count)) => Some(*count),
        _ => None,
    };
    let fields = of("fields").and_then(Value::text).map(|text| json::parse(&text.template));
    let fields = fields.transpose().and_then(|fields| match fields {
        None => Ok(Vec::new()),
        Some(Node::Map(entries)) => Ok(entries),
        Some(_) => Err("it is no mapping from paths to values".into()),
    });
    let fields = fields.map_err(|what: String| StepValueError {
        path: Vec::from([step::EXPECT, "fields"]),
        what,
        help: "write { name: Ann }".into(),
    })?;
    Ok(Expect {
        documents: count("documents"),
        matched: count("matched"),
        modified: count("modified"),
        fields,
    })
}

fn source(saved: &SavedValue) -> Result<(u16, Source), StepValueError> {
    let source = match (saved.value.get("field"), saved.value.get("cursor")) {
        (Some(Value::Bytes(path)), _) if !path.is_empty() => Some(Source::Field(path.clone())),
        (_, Some(Value::Truth(true))) => Some(Source::Cursor),
        _ => None,
    };
    source.map(|source| (saved.variable, source)).ok_or_else(|| StepValueError {
        path: Vec::from([step::SAVE]),
        what: format!("`{}` has no source", saved.name),
        help: "write { field: _id }, or { cursor: true } for the number of the cursor".into(),
    })
}

/// Beginning of a title, escaped to one line.
fn shortened(text: &str) -> String {
    let dots = if text.chars().count() > SHOWN_CHARACTERS_MAX { " …" } else { "" };
    let start: String = text.chars().take(SHOWN_CHARACTERS_MAX).collect();
    format!("{}{dots}", start.trim().escape_debug())
}

/// Step of a command in JSON that the program itself writes.
pub(super) fn built_in(json: &str) -> Option<Arc<dyn Step>> {
    MongoStep::of(json.as_bytes()).ok().map(|step| Arc::new(step) as _)
}
