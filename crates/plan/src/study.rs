//! A checked plan file: systems, variants, loads, and how they are compared.

mod amount;
mod braced;
mod cost;
mod environment;
mod events;
mod experiment;
mod explain;
mod followed;
mod how;
mod launch;
mod limits;
mod run;
mod searched;
mod slices;
mod system;
mod together;
mod tool;

use std::path::PathBuf;

pub use amount::{Amount, At};
pub use environment::{
    Cmd, Environment, Further, Launch, LaunchEndpoint, Proc, Proxy, Ready, ReadyWhen, StopHow, Tables,
    ToolCommands,
};
pub use events::{
    EventAction, EventMoment, EventReload, EventSign, EventSignal, LaunchEvent, NOTE_ON_EVENTS, StudyEvent,
};
pub use experiment::{Change, Changeable, Experiment};
pub(crate) use experiment::{is_number, no_experiment};
pub use how::{Find, How, Sweep};
pub use limits::Limits;
pub use searched::Searched;
pub(crate) use slices::WholeRuns;
pub use slices::{Interleave, NoSlices, Slicing};
pub use system::{Knob, System, Variant};
pub use together::Place;

pub(crate) use braced::{Braced, is_name, names_in};
pub(crate) use events::{ActionText, LinkText, ReloadText, SignText, SystemEvent};
pub(crate) use how::BEST_BLOCKS_LEAST;
pub(crate) use limits::{LimitKind, LimitsText};
pub(crate) use slices::{SLICE_NS, SLICE_RANGE_NS};
pub(crate) use system::{
    EndpointText, PortText, Process, ProxyText, ReadyText, RunningText, StopText, TlsText, UrlList, WhenText,
};
pub(crate) use tool::{ToolText, whole_seconds};

use judge::{ComparedBy, Condition};
use wire::Secrets;

use crate::explain::PROFILED;
use crate::file::Script;
use crate::plan::Stacks;
use crate::spec::{LoadSpec, Spanned};

/// Everything a plan file asks for, free of contradictions. Made by [`Study::read`].
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Study {
    /// The name of the file, without its ending.
    pub title: String,
    /// What it is to answer.
    pub question: Option<String>,
    /// The text of the file.
    pub source: String,
    /// 16 hex digits over the text, every file it reads, and whether it is quick.
    pub hash: String,
    /// The path of the file, as the reader of the plan was given it; `None` of a plan without a file.
    pub file: Option<PathBuf>,
    /// The folder of the file, absolute.
    pub dir: PathBuf,
    /// The seed of every draw, the order of runs included.
    pub seed: u64,
    /// Whether somebody chose the seed. Where nobody did, every study is to get one of its own: [`Study::set_seed`].
    pub has_seed: bool,
    /// Whether `quick:` was applied.
    pub is_quick: bool,
    /// At least one, in the order of the file.
    pub loads: Vec<StudyLoad>,
    /// At least one, in the order of the file.
    pub systems: Vec<System>,
    /// Of every system, in the order of the file; at least one.
    pub variants: Vec<Variant>,
    /// By what they are compared.
    pub compare: Compare,
    /// What must hold for every run.
    pub gates: Vec<Condition>,
    /// What happens to the systems in every run, in the order of the file.
    pub events: Vec<StudyEvent>,
    /// Which cores system and generator stay on.
    pub pin: StudyPin,
    /// Values of the environment that the plan names; no result may show them.
    pub secrets: Secrets,
    /// Suspicious places of the file with what to do, each on two lines.
    pub warnings: Vec<String>,
    /// What follows the study to confirm what limits a system; `None`: nothing.
    pub experiment: Option<Experiment>,
    pub(crate) script: Script,
    pub(crate) whole: WholeRuns,
}

/// A load of a study.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct StudyLoad {
    /// Its name; unique in the study.
    pub name: String,
    /// How much, in words: `100 users, closed`.
    pub words: String,
    /// When it ends, in words: `10s after 2s of warm-up`.
    pub stop_words: String,
    /// Left out of the result.
    pub warm_up_ns: u64,
    /// The longest a request may take.
    pub timeout_ns: u64,
    /// Warm-up included; `None`: a number of requests ends it, whenever that is.
    pub run_ns: Option<u64>,
    /// The one scenario that it follows, if it does not follow all.
    pub scenario: Option<String>,
    /// The load generator that makes it, if it is another one.
    pub(crate) tool: Option<ToolText>,
    pub(crate) spec: LoadSpec,
}

/// What decides between variants.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Compare {
    /// The figure.
    pub by: ComparedBy,
    /// Whether more of it is better.
    pub higher_is_better: bool,
    /// The smallest relevant difference: a share, 0.03 for 3 %, or of what events cost a number in its unit, nanoseconds or requests. In a
    /// plan file, `min-effect`.
    pub matters: f64,
    /// What is to be found.
    pub find: Find,
    /// How often every variant is run; where it can be decided earlier, at most. With a sweep, how often its best are run after it.
    pub blocks: u32,
    /// What selects the variants that are compared: of the best of each system.
    pub sweep: Option<Sweep>,
    /// Blocks of the first of two variants against itself, before both are compared.
    pub pilot: u32,
    /// Further figures that are judged with the first.
    pub also: Vec<ComparedBy>,
    /// The number of the variant that the others are compared with; of the best of many: the one in use.
    pub baseline: Option<usize>,
    /// The stored run or study that every variant is compared with, in place of one of the plan.
    pub stored: Option<StoredBaseline>,
    /// The time that all runs together may take.
    pub within_ns: Option<u64>,
    /// Whether each run has a start of its own, as it was asked for: see [`Study::slicing`].
    pub interleave: Interleave,
    /// How long a slice is measured.
    pub slice_ns: u64,
    /// Whether a system is stopped while the load goes to the other.
    pub pauses_idle: bool,
    /// Whether what others take of the CPU is to explain a part of the variance of slices.
    pub has_control: bool,
}

/// A run or a study that was measured before.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StoredBaseline {
    /// The newest complete one of this plan with this label.
    Label(String),
    /// The only one in a file.
    File {
        /// As it was written.
        name: String,
        /// Where it is.
        path: PathBuf,
    },
    /// The one of this name.
    Run(String),
}

/// Which cores system and generator stay on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StudyPin {
    /// Anywhere.
    No,
    /// Apart, on cores that others use little.
    Auto,
    /// On these; no core is in both lists.
    Cores {
        /// Of the systems.
        system: Vec<usize>,
        /// Of the generator.
        generator: Vec<usize>,
    },
}

impl Study {
    /// Everything is drawn from this seed from now on.
    pub fn set_seed(&mut self, seed: u64) {
        (self.seed, self.has_seed) = (seed, true);
        for load in &mut self.loads {
            load.spec.seed = Some(seed.into());
        }
    }

    /// Samples where the systems spend CPU time under every load; it is another study then, and its hash tells.
    pub fn set_profile(&mut self, stacks: Stacks) {
        for load in &mut self.loads {
            let was_profiled = load.spec.profile.as_ref().and_then(Spanned::get).is_some_and(Option::is_some);
            load.spec.profile = Some(Some(stacks).into());
            if !was_profiled {
                load.words += PROFILED;
            }
        }
        self.hash = self.hash_with(&["profile", stacks.name()]);
    }
}
