//! Steps that a protocol owns: their keys as data, and how the protocol reads and compiles their values.
//!
//! A protocol describes its steps with [`StepDefinition`]. The reader of plans derives keys, documentation, and errors from the list of
//! keys. It finds variables in the texts of a value, and passes the value to [`StepDefinition::read`]. [`StepDefinition::compile`] turns the
//! steps of a load into channels.

mod access;
mod flags;
mod form;
mod further;
mod identity;
pub mod json;
mod reader;
mod records;
mod shape;
mod site;
mod template;
pub mod tree;
mod value;
mod workload;

pub use access::{Access, LogIn};
pub use flags::{FlagStep, ReadFlagStep};
pub use form::{Form, FormSchema};
pub use further::{ExtraKeys, SampleSession};
pub use identity::identity;
pub use reader::{BeginScenario, ParsedStep, Reader, ScenarioSteps, TextError};
pub use records::{Records, members, per_field};
pub use shape::{CompileShapes, RequestShape, ShapedRequests};
pub use site::Site;
pub use template::Template;
pub use value::{Size, Text, Value};
pub use workload::{Workload, WorkloadSize};

use alloc::boxed::Box;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::any::Any;
use core::fmt;

use crate::channel::Channels;
use crate::cluster_nodes::ClusterNodes;
use crate::protocol::{PROTOCOLS, Protocol, StepError};
use crate::secrets::Secrets;
use crate::sql::Stretcher;

/// Definition of a protocol's steps: the key in plans for each kind of step, and the functions that read and compile them.
#[derive(Debug)]
pub struct StepDefinition {
    /// Name of the protocol in sentences: `raw TCP`.
    pub noun: &'static str,
    /// Short description of the content of a step, used after "it says".
    pub says: &'static str,
    /// Example of a URL of a system.
    pub url: &'static str,
    /// Example of the query of a URL on the command line, with its question mark. It describes a complete step.
    pub query: &'static str,
    /// Keys of steps in plans, at least one. Queries of URLs use these keys as well, without enclosing tables.
    pub keys: &'static [Key],
    /// Key within the table of the first step key that receives the body of a command line. `None` if there is none.
    pub body: Option<&'static str>,
    /// Keys of `expect` and `save` of a step. `None` if its replies are neither checked nor saved.
    pub reply: Option<ReplyKeys>,
    /// Log-in of connections, from the URL of a system. `None` if there is none.
    pub log_in: Option<LogIn>,
    /// Max exchanges in flight per connection that a load may set. 1 if the protocol does not support pipelining.
    pub pipeline_max: u32,
    /// The load on a URL that has no step. `None` if a URL needs one.
    pub workload: Option<&'static Workload>,
    /// Operations on records, for built-in workloads. `None` if the protocol has none.
    pub records: Option<&'static Records>,
    /// Function that reads a step from the value of its key.
    pub read: ReadStep,
    /// Function that compiles the steps of a load to channels.
    pub compile: CompileSteps,
}

/// Function that reads a step. The values have the kinds of its keys.
pub type ReadStep = fn(&WrittenStep<'_>) -> Result<Arc<dyn Step>, StepValueError>;

/// Function that compiles the steps of a load to its channels.
pub type CompileSteps = fn(&LoadSteps<'_>) -> Result<Box<dyn Channels>, StepError>;

/// Name of the key with checks of the reply.
pub const EXPECT: &str = "expect";
/// Name of the key with values that are saved from the reply.
pub const SAVE: &str = "save";

/// Step in the form of a plan or a command line.
#[derive(Clone, Copy, Debug)]
pub struct WrittenStep<'a> {
    /// Name of the step's key.
    pub key: &'a str,
    /// Value of the step's key.
    pub value: &'a Value,
    /// Checks of the reply: a table of [`ReplyKeys::expect`].
    pub expect: Option<&'a Value>,
    /// Values that are saved from the reply.
    pub saves: &'a [SavedValue],
}

impl<'a> WrittenStep<'a> {
    /// Creates a step without checks and saved values.
    pub fn of(key: &'a str, value: &'a Value) -> Self {
        Self { key, value, expect: None, saves: &[] }
    }
}

/// A value that is saved from a reply.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SavedValue {
    /// Name of the value in the plan.
    pub name: String,
    /// Number of the variable that gets the value.
    pub variable: u16,
    /// Place of the value in the reply: a table of [`ReplyKeys::save`].
    pub value: Value,
}

/// Keys for the replies to steps of a protocol. Keys with equal names in several protocols have equal kinds.
#[derive(Clone, Copy, Debug)]
pub struct ReplyKeys {
    /// Keys of `expect`.
    pub expect: &'static Table,
    /// Keys of each value of `save`.
    pub save: &'static Table,
}

/// The steps of a load at one system, and the parameters of their connections.
#[derive(Clone, Copy, Debug)]
pub struct LoadSteps<'a> {
    /// The steps, in the order of their numbers.
    pub steps: &'a [Arc<dyn Step>],
    /// Names of the variables, in the order of their numbers.
    pub variables: &'a [String],
    /// Secrets that steps refer to by name.
    pub secrets: &'a Secrets,
    /// Log-in of each connection.
    pub access: &'a Access,
    /// Max exchanges in flight per connection, at least 1.
    pub pipeline: u32,
    /// Random bytes for log-ins. Each log-in derives a nonce from them.
    pub nonce: [u8; 18],
    /// Stretches passwords once for all connections. `None`: each connection stretches its own.
    pub stretcher: Option<&'a Stretcher>,
    /// Number of the address that all connections go to. `None` if connections are spread over the addresses.
    pub shard: Option<usize>,
    /// Nodes of the cluster that the steps go to. `None` if the system is not a cluster.
    pub nodes: Option<&'a ClusterNodes>,
}

impl<'a> LoadSteps<'a> {
    /// Creates steps with variables, without secrets, without a log-in, and with one exchange at a time.
    pub fn of(steps: &'a [Arc<dyn Step>], variables: &'a [String]) -> Self {
        static SECRETS: Secrets = Secrets::new();
        static ACCESS: Access = Access::none();
        Self {
            steps,
            variables,
            secrets: &SECRETS,
            access: &ACCESS,
            pipeline: 1,
            nonce: [0; 18],
            stretcher: None,
            shard: None,
            nodes: None,
        }
    }
}

/// A key of a step, or of a table in one.
#[derive(Clone, Copy, Debug)]
pub struct Key {
    /// Name in plans and queries.
    pub name: &'static str,
    /// Meaning in a sentence, default included.
    pub sentence: &'static str,
    /// Valid value in plan syntax.
    pub example: &'static str,
    /// Kind of its value.
    pub kind: Kind,
}

/// The kind of a value.
#[derive(Clone, Copy, Debug)]
pub enum Kind {
    /// Text with variables in braces: [`Value::Text`].
    Text,
    /// Text with variables in braces, or a list of such texts: [`Value::Text`] or [`Value::List`].
    TextOrTexts,
    /// Text without variables, identical for every exchange: [`Value::Bytes`]. Contains the name of the text for errors.
    Constant(&'static str),
    /// Number of bytes, such as `4KiB`: [`Value::Size`].
    Size {
        /// Smallest valid number of bytes.
        min_bytes: u64,
        /// Largest valid number of bytes.
        max_bytes: u64,
    },
    /// Mapping, list, or text in JSON, with variables in its texts: [`Value::Text`], whose text is JSON. `{name:raw}` without quotes
    /// inserts an unencoded value.
    Json,
    /// Whole number, such as `10k`: [`Value::Count`].
    Count,
    /// `true` or `false`: [`Value::Truth`].
    Truth,
    /// Mapping with known keys: [`Value::Table`].
    Table(&'static Table),
    /// List with one item or more: [`Value::List`].
    List(&'static Self),
    /// Single value of a form: [`Value::Text`].
    Form(&'static Form),
    /// Number of bytes, or a range such as `1KiB..2KiB`: [`Value::Text`].
    Sizes,
    /// Single value, or a list of values: [`Value::List`].
    OneOrList(&'static Self),
    /// Text with variables, or a mapping with known keys: [`Value::Text`] or [`Value::Table`].
    TextOrTable(&'static Table),
    /// Mapping with names that the plan chooses: [`Value::Named`].
    Named(&'static Self),
    /// Value that may be empty.
    Optional(&'static Self),
    /// Value that its table requires.
    Required(&'static Self),
    /// Any text, list, or mapping, which the protocol does not read as a value.
    Any,
}

/// The keys of a mapping.
#[derive(Debug)]
pub struct Table {
    /// Name in the reference of plans; unique among the tables of plans.
    pub name: &'static str,
    /// Meaning in a sentence.
    pub sentence: &'static str,
    /// A valid mapping.
    pub example: &'static str,
    /// Pairs of keys that exclude each other.
    pub exclusive: &'static [[&'static str; 2]],
    /// The keys.
    pub keys: &'static [Key],
}

/// A parsed step, of a type that only its protocol knows.
pub trait Step: Any + fmt::Debug + Send + Sync {
    /// Name in reports if its author gives none. Shows no secret.
    fn title(&self) -> String;

    /// Bytes that the step sends, before framing; names in braces stand for variables.
    fn message(&self) -> &[u8];

    /// Additional fields of the step in records of plans, by name. `None` is recorded as `null`. `number` is the step's number within its
    /// system.
    fn record(&self, _number: u16) -> Vec<(&'static str, Option<Value>)> {
        Vec::new()
    }

    /// Whether its records have the fields of a request, such as the method and the headers.
    fn is_recorded_as_request(&self) -> bool {
        true
    }

    /// Key and value of the step as a plan has them, without checks and saved values. `None` if the protocol does not write steps.
    fn written(&self) -> Option<(&'static str, Value)> {
        None
    }

    /// Distinguishes steps with equal messages, for the hash of a plan.
    fn fingerprint(&self) -> String {
        String::new()
    }

    /// Bytes that distinguish the step from others of its protocol, for the hash of a plan. `None` if these are its message and its
    /// fingerprint.
    fn identity(&self) -> Option<Vec<u8>> {
        None
    }

    /// Method in records of plans, such as GET. `None` if the record has the name of the protocol instead.
    fn method(&self) -> Option<&str> {
        None
    }

    /// Unit in which reports count its runs.
    fn unit(&self) -> Unit {
        Unit::Request
    }

    /// Whether the step changes no data on its system, as far as the plan shows.
    fn is_safe(&self) -> bool {
        false
    }

    /// Conditions for its replies as a phrase, such as "expects status 200". `None` if any reply will do.
    fn expects(&self) -> Option<String> {
        None
    }

    /// Numbers of the variables that its replies set, in order of their definition.
    fn saves(&self) -> Vec<u16> {
        Vec::new()
    }

    /// Names of the step's parts that are counted separately, such as requests that redirects lead to. Empty if it is a single exchange.
    fn parts(&self) -> Vec<String> {
        Vec::new()
    }

    /// Number of the hidden variable with the state that a user keeps between steps, such as cookies. `None` if there is none.
    fn session(&self) -> Option<u16> {
        None
    }

    /// Returns the step with the properties that it inherits from its system. `None` if it inherits none.
    fn at(&self, _site: &Site) -> Option<Arc<dyn Step>> {
        None
    }
}

/// Unit in which reports count the runs of a step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Unit {
    /// Requests.
    #[default]
    Request,
    /// Transactions.
    Transaction,
}

impl Unit {
    /// Whether each step runs in a database session. A load may then have a pool of sessions, a latency limit, and a check for free
    /// sessions.
    pub const fn has_sessions(self) -> bool {
        matches!(self, Self::Transaction)
    }

    /// Noun for one of the unit.
    pub const fn noun(self) -> &'static str {
        match self {
            Self::Request => "request",
            Self::Transaction => "transaction",
        }
    }
}

impl dyn Step {
    /// Step as the type of its protocol. `None` for a step of another protocol.
    pub fn downcast<T: Step>(&self) -> Option<&T> {
        (self as &dyn Any).downcast_ref()
    }
}

/// Compiles every step with a function of its protocol.
///
/// # Errors
///
/// The first step of another protocol, or the first that `compile` rejects.
pub fn compile_each<T: Step, C>(
    steps: &[Arc<dyn Step>],
    mut compile: impl FnMut(&T) -> Result<C, String>,
) -> Result<Vec<C>, StepError> {
    let compiled = steps.iter().enumerate().map(|(number, step)| {
        let own = step.downcast::<T>().ok_or_else(|| String::from("it is a step of another protocol"));
        own.and_then(&mut compile).map_err(|what| StepError { step: number, what })
    });
    compiled.collect()
}

/// Error in the value of a step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StepValueError {
    /// Keys that lead to the wrong part of the value, outermost first; empty for the whole value. A path that begins with
    /// [`EXPECT`] or [`SAVE`] leads to a part of these keys of the step.
    pub path: Vec<&'static str>,
    /// Error message.
    pub what: String,
    /// Advice: the text to write instead.
    pub help: String,
}

impl StepDefinition {
    /// Names of the options that the query of a URL may have, for the log-in.
    pub fn options(&self) -> &'static [&'static str] {
        self.log_in.map_or(&[], |log_in| log_in.options)
    }

    /// Key with this name. `None` if the protocol has no such step.
    pub fn key(&self, name: &str) -> Option<&'static Key> {
        self.keys.iter().find(|key| key.name == name)
    }
}

/// Protocols with single-key steps.
pub fn owners() -> impl Iterator<Item = (&'static Protocol, &'static StepDefinition)> {
    PROTOCOLS.iter().filter_map(|protocol| Some((protocol, protocol.own_steps()?)))
}

/// Protocols with additional step keys, and these keys.
pub fn with_extra_keys() -> impl Iterator<Item = (&'static StepDefinition, &'static ExtraKeys)> {
    PROTOCOLS.iter().filter_map(|protocol| Some((protocol.steps()?, protocol.extra_keys()?)))
}

/// Protocol of requests that name no other.
pub fn requests() -> &'static Protocol {
    &PROTOCOLS[0]
}

/// Protocol with this step key, alone or with further keys. `None` if there is none.
pub fn protocol_of(key: &str) -> Option<&'static Protocol> {
    PROTOCOLS.iter().find(|protocol| protocol.steps().is_some_and(|steps| steps.key(key).is_some()))
}

/// Protocol with this protocol-specific step key, and the key. `None` if there is none.
pub fn owner_of(key: &str) -> Option<(&'static Protocol, &'static Key)> {
    owners().find_map(|(protocol, steps)| Some((protocol, steps.key(key)?)))
}
