//! Kinds of systems, by the schemes of their URLs and by the steps that they take. A kind is one entry in [`KINDS`]; other code asks
//! it for a property.

use wire::step::{self, Records, Unit};
use wire::{Protocol, Scheme};

use crate::check::Target;
use crate::database::{self, Database};
use crate::draft::Draft;
use crate::endpoint::Peer;
use crate::fault::Fault;
use crate::file::{Node, Reading};
use crate::plan::Plan;
use crate::requests;
use crate::spec::LoadSpec;
use crate::study::LaunchEndpoint;

/// Whether the scheme of a URL is known.
pub fn has_known_scheme(url: &str) -> bool {
    KINDS.into_iter().any(|kind| (kind.has_url)(url))
}

/// Whether the system with this URL takes SQL statements.
pub fn takes_statements(url: &str) -> bool {
    SystemKind::by_url(url).takes_statements()
}

/// Whether a text begins like a URL of requests, which have headers and a body.
pub fn begins_as_request_url(text: &str) -> bool {
    step::requests().schemes.iter().any(|scheme| text.starts_with(scheme.name))
}

/// Value of the header Authorization of a request for `name:password`. `None` if requests have no such header.
pub fn authorization(credentials: &[u8]) -> Option<String> {
    step::requests().further_keys().map(|further| (further.authorization)(credentials))
}

/// URL schemes of requests.
pub(crate) fn request_schemes() -> &'static [Scheme] {
    step::requests().schemes
}

/// Port of a URL of requests that names none. `None` if the URL is another one.
pub fn default_request_port(url: &str) -> Option<u16> {
    let (name, _) = url.split_once("://")?;
    let mut schemes = step::requests().schemes.iter();
    schemes.find(|scheme| scheme.name == name).map(|scheme| scheme.port)
}

/// Reads the database behind a URL.
type ReadDatabase = fn(&str) -> Result<Database, Vec<Fault>>;

/// A kind of system.
pub(crate) struct SystemKind {
    /// Whether a URL is that of such a system.
    pub(crate) has_url: fn(&str) -> bool,
    /// Whether such a system takes a step of a plan.
    pub(crate) takes_step: fn(&Node) -> bool,
    /// Protocol of a step. `None` if the system decides it.
    pub(crate) protocol_of_step: fn(&Node) -> Option<&'static Protocol>,
    /// Unit in which reports count its steps.
    pub(crate) unit: Unit,
    /// Words in messages if all protocols of the kind share them. `None` if each protocol has its own.
    pub(crate) words: Option<KindWords>,
    /// Noun for the part of a URL after host and port.
    pub(crate) path_noun: &'static str,
    /// Reads the database behind a URL. `None` if such a system takes no statements.
    pub(crate) read_database: Option<ReadDatabase>,
    /// Reads the target of a command line.
    pub(crate) target: fn(&Draft, &mut Vec<Fault>) -> Option<Target>,
    /// Reads the address of the system itself.
    pub(crate) front: fn(&LaunchEndpoint, LoadSpec) -> Result<Peer, Vec<Fault>>,
    /// Plans a load that an external load generator makes.
    pub(crate) plan_of_tool: fn(&LaunchEndpoint, LoadSpec) -> Result<Plan, Vec<Fault>>,
    /// Checks a URL of a plan, whose variables are replaced by placeholders. The third argument says whether it has a `socket`.
    pub(crate) check_url: fn(&Node, &str, bool, &mut Reading<'_>),
    /// Operations on records of the system with this URL. `None` if it has none.
    pub(crate) records: fn(&str) -> Option<&'static Records>,
    /// URL with this scheme that takes the place of one that may have a password.
    pub(crate) placeholder_url: fn(&str) -> String,
    /// Name of the system with this URL if it runs within this program. `None` for a server.
    pub(crate) in_process: fn(&str) -> Option<&'static str>,
}

/// Words for the steps of a kind, and for its systems.
#[derive(Debug)]
pub(crate) struct KindWords {
    /// Noun for steps.
    pub(crate) steps: &'static str,
    /// Noun for one step, with its article.
    pub(crate) step: &'static str,
    /// Verb phrase about a system.
    pub(crate) system: &'static str,
    /// Error for a URL of another kind, and the help.
    pub(crate) other_url: [&'static str; 2],
}

/// All kinds. The systems of a plan have the same order.
const KINDS: [&SystemKind; 2] = [&requests::SYSTEMS, &database::SYSTEMS];

impl SystemKind {
    /// Kind of the system with this URL. For an unknown scheme that of requests, which reports it.
    pub(crate) fn by_url(url: &str) -> &'static Self {
        KINDS.into_iter().find(|kind| (kind.has_url)(url)).unwrap_or(KINDS[0])
    }

    /// Kind of the systems that take a step. `None` if no system takes it. Of several, the last one.
    pub(crate) fn by_step(step: &Node) -> Option<&'static Self> {
        KINDS.into_iter().rev().find(|kind| (kind.takes_step)(step))
    }

    /// Kind of the systems that take requests.
    pub(crate) fn for_requests() -> &'static Self {
        KINDS[0]
    }

    /// Kind of the systems that take statements.
    pub(crate) fn for_statements() -> &'static Self {
        KINDS.into_iter().find(|kind| kind.takes_statements()).unwrap_or(KINDS[0])
    }

    /// Whether such a system takes statements.
    pub(crate) fn takes_statements(&self) -> bool {
        self.read_database.is_some()
    }

    /// Place in the order of kinds.
    pub(crate) fn place(&self) -> usize {
        KINDS.iter().position(|kind| std::ptr::eq(*kind, self)).unwrap_or_default()
    }
}

impl std::fmt::Debug for SystemKind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SystemKind").field("words", &self.words).finish_non_exhaustive()
    }
}
