//! Kinds of systems, by the schemes of their URLs and by the steps that they run. Each kind is an entry in [`KINDS`], which other code
//! queries for properties.

use replay::Traffic;
use wire::step::{self, Unit};
use wire::{Protocol, Scheme};

use crate::check::Target;
use crate::database;
use crate::draft::Draft;
use crate::endpoint::Peer;
use crate::fault::Fault;
use crate::file::{Node, ReadStepOfKind, Reading, SqlText};
use crate::plan::Plan;
use crate::requests;
use crate::spec::LoadSpec;
use crate::study::{Launch, LaunchEndpoint};
use crate::ycsb::RecordsOfKind;

/// Whether the scheme of a URL is known.
pub fn has_known_scheme(url: &str) -> bool {
    KINDS.into_iter().any(|kind| (kind.has_url)(url))
}

/// URL of a system for display, without secrets.
///
/// # Errors
///
/// The URL is wrong. Only kinds that parse the whole URL detect this.
pub fn shown_url(url: &str) -> Result<String, Vec<Fault>> {
    (SystemKind::by_url(url).shown)(url)
}

/// Whether the system with this URL stores the records of workloads in tables, which must be created before they are filled.
pub fn has_tables_of_records(url: &str) -> bool {
    SystemKind::by_url(url).records.has_tables
}

/// Error and help if a first plan, whose steps are requests, does not fit the system with this URL. `None` if it fits.
pub fn first_plan_misfit(url: &str) -> Option<[&'static str; 2]> {
    SystemKind::by_url(url).first_plan_misfit
}

/// Whether a text begins like an HTTP URL, which can have headers and a body.
pub fn begins_as_request_url(text: &str) -> bool {
    step::requests().schemes.iter().any(|scheme| text.starts_with(scheme.name))
}

/// Value of the header Authorization of a request for `name:password`. `None` if requests have no such header.
pub fn authorization(credentials: &[u8]) -> Option<String> {
    step::requests().extra_keys().map(|further| (further.authorization)(credentials))
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

/// Plan of a load, or all errors.
type Planned = Result<Plan, Vec<Fault>>;

/// A kind of system.
pub(crate) struct SystemKind {
    /// Whether a URL belongs to this kind of system.
    pub(crate) has_url: fn(&str) -> bool,
    /// Whether this kind of system runs a step of a plan.
    pub(crate) takes_step: fn(&Node) -> bool,
    /// Protocol of a step. `None` if the system decides it.
    pub(crate) protocol_of_step: fn(&Node) -> Option<&'static Protocol>,
    /// Protocol of a URL of this kind. `None` if its steps name no protocol.
    pub(crate) protocol_of_url: fn(&str) -> Option<&'static Protocol>,
    /// Reads a step for this kind of system.
    pub(crate) read_step: ReadStepOfKind,
    /// Unit in which reports count its steps.
    pub(crate) unit: Unit,
    /// Words in messages if all protocols of the kind share them. `None` if each protocol has its own.
    pub(crate) words: Option<KindWords>,
    /// Noun for the part of a URL after host and port.
    pub(crate) path_noun: &'static str,
    /// Keys of plans with statements that this kind of system answers outside of steps.
    pub(crate) answers: &'static [&'static str],
    /// Whether data that a load writes stays in the system itself, as far as the plan knows.
    pub(crate) keeps_writes: bool,
    /// Whether the URL may set the connect timeout of a plan.
    pub(crate) has_connect_timeout: bool,
    /// Reads the target of a command line.
    pub(crate) target: fn(&Draft, &mut Vec<Fault>) -> Option<Target>,
    /// Error for a command-line argument in the place of a URL, if this kind checks it before the load. `None` if there is no error.
    pub(crate) url_fault: fn(&str) -> Option<Fault>,
    /// URL for display.
    pub(crate) shown: fn(&str) -> Result<String, Vec<Fault>>,
    /// Error and help if a first plan, whose steps are requests, does not fit this kind of system. `None` if it fits.
    pub(crate) first_plan_misfit: Option<[&'static str; 2]>,
    /// Reads the address of the system itself.
    pub(crate) front: fn(&LaunchEndpoint) -> Result<Peer, Vec<Fault>>,
    /// Plans the load of steps with their scripts on this kind of system. All steps of the plan share the unit.
    pub(crate) plan_of_steps: fn(&LaunchEndpoint, &SqlText, &LoadSpec, Unit) -> Planned,
    /// Plans a load that an external load generator makes.
    pub(crate) plan_of_tool: fn(&LaunchEndpoint, LoadSpec) -> Planned,
    /// Plans a load that replays a log on the system with this URL, one of the launch.
    pub(crate) plan_of_traffic: fn(&Launch, &str, &LoadSpec) -> Planned,
    /// Whether the key `database` may refer to this kind, as a second system in addition to the one of `url`.
    pub(crate) may_be_second: bool,
    /// Checks a URL of a plan in which variables are replaced by placeholders. The third argument is true if the plan has a `socket`.
    pub(crate) check_url: fn(&Node, &str, bool, &mut Reading<'_>),
    /// Workloads of records on this kind of system.
    pub(crate) records: RecordsOfKind,
    /// Placeholder URL with this scheme, used instead of one that may have a password.
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

/// All kinds, in the order in which a plan numbers its systems.
const KINDS: [&SystemKind; 2] = [&requests::SYSTEMS, &database::SYSTEMS];

impl SystemKind {
    /// Kind of the system with this URL. An unknown scheme yields the kind for requests, which reports the error.
    pub(crate) fn by_url(url: &str) -> &'static Self {
        KINDS.into_iter().find(|kind| (kind.has_url)(url)).unwrap_or(KINDS[0])
    }

    /// Kind of system that runs a step. `None` if no kind does. If there are several, the last one.
    pub(crate) fn by_step(step: &Node) -> Option<&'static Self> {
        KINDS.into_iter().rev().find(|kind| (kind.takes_step)(step))
    }

    /// Kind of system that replays recorded traffic.
    pub(crate) fn for_traffic(traffic: &Traffic) -> &'static Self {
        KINDS.into_iter().find(|kind| kind.unit == traffic.unit).unwrap_or(KINDS[0])
    }

    /// URL in a launch for this kind of system. `None` if the launch has none.
    pub(crate) fn url_at<'a>(&self, launch: &'a Launch) -> Option<&'a String> {
        let of_front = Some(&launch.url).filter(|url| std::ptr::eq(Self::by_url(url), self));
        of_front.or(launch.database.as_ref().filter(|_| self.may_be_second))
    }

    /// Kind that reports a URL or a step that no system has.
    pub(crate) fn for_unknown() -> &'static Self {
        KINDS[0]
    }

    /// Kind of the systems that answer the statements of a key outside of steps.
    pub(crate) fn answering(key: &str) -> &'static Self {
        KINDS.into_iter().find(|kind| kind.does_answer(key)).unwrap_or(KINDS[0])
    }

    /// Whether this kind of system answers the statements of a key outside of steps.
    pub(crate) fn does_answer(&self, key: &str) -> bool {
        self.answers.contains(&key)
    }

    /// Position in the order of kinds.
    pub(crate) fn place(&self) -> usize {
        KINDS.iter().position(|kind| std::ptr::eq(*kind, self)).unwrap_or_default()
    }
}

impl std::fmt::Debug for SystemKind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SystemKind").field("words", &self.words).finish_non_exhaustive()
    }
}
