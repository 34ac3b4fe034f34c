//! Checked plan file: systems, variants, loads, and their comparison.

mod amount;
mod braced;
mod cost;
mod environment;
mod events;
mod experiment;
mod explain;
mod figures;
mod followed;
mod how;
mod launch;
mod limits;
mod own_data;
mod run;
mod searched;
mod setting;
mod slices;
mod system;
mod together;
mod tool;
mod written;

use std::path::PathBuf;

pub use amount::{Amount, At};
pub use environment::{
    Environment, FurtherUrls, Launch, LaunchCommand, LaunchEndpoint, LaunchProcess, Proxy, Ready, ReadyWhen,
    StopHow, Tables, ToolCommands,
};
pub use events::{
    EventAction, EventMoment, EventReload, EventSign, EventSignal, LaunchEvent, NOTE_ON_EVENTS, StudyEvent,
};
pub use experiment::{Change, Changeable, Experiment};
pub(crate) use experiment::{experiment_obstacle, is_number};
pub use figures::{FigureSource, FigureSummary, LaunchFigure, PlannedFigure};
pub(crate) use figures::{FigureText, SourceText};
pub use how::{ComparisonMethod, Find, Sweep};
pub use limits::Limits;
pub use own_data::{OwnData, OwnRows, OwnTable, SqlFile};
pub use searched::SearchOverrides;
pub(crate) use setting::Settings;
pub(crate) use slices::WholeRuns;
pub use slices::{Interleave, NoSlices, Slicing};
pub use system::{Knob, System, Variant};
pub use together::Place;
pub use written::Written;
pub(crate) use written::WrittenText;

pub(crate) use braced::{Braced, is_name, names_in};
pub(crate) use events::{ActionText, LinkText, ReloadText, SignText, SystemEvent};
pub(crate) use how::BEST_BLOCKS_MIN;
pub(crate) use limits::{LimitKind, LimitsText};
pub(crate) use own_data::{OwnDataText, SqlFileText};
pub(crate) use slices::{SLICE_NS, SLICE_RANGE_NS};
pub(crate) use system::{
    EndpointText, PortText, Process, ProxyText, ReadyText, RunningText, StopText, TlsText, UrlList, WhenText,
};
pub(crate) use tool::{ToolText, whole_seconds};

use judge::{ComparedBy, Condition};
use wire::Secrets;

use crate::explain::PROFILED_SUFFIX;
use crate::file::Script;
use crate::plan::Stacks;
use crate::replay::Replay;
use crate::spec::{LoadSpec, Spanned};

/// Study that a plan file defines, free of contradictions. Made by [`Study::read`].
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Study {
    /// Name of the plan file, without its extension.
    pub title: String,
    /// Question that the study answers, from the plan's `question`. `None` if the plan has none.
    pub question: Option<String>,
    /// Text of the plan file.
    pub source: String,
    /// 16 hex digits over the text of the plan, every file that it reads, and whether the run is quick.
    pub hash: String,
    /// Path of the plan file, as it was passed to the reader. `None` if the plan was not read from a file.
    pub file: Option<PathBuf>,
    /// Folder of the plan file, absolute.
    pub dir: PathBuf,
    /// Seed of every random draw, including the order of runs.
    pub seed: u64,
    /// Whether the plan sets the seed. If it does not, the caller draws one for each study and passes it to [`Study::set_seed`].
    pub has_seed: bool,
    /// Whether the section `quick` was applied.
    pub is_quick: bool,
    /// Loads in the order of the file, at least one.
    pub loads: Vec<StudyLoad>,
    /// Systems in the order of the file, at least one.
    pub systems: Vec<System>,
    /// Variants of all systems, in the order of the file, at least one.
    pub variants: Vec<Variant>,
    /// Rules of the comparison of variants.
    pub compare: Compare,
    /// Conditions that every run must meet.
    pub gates: Vec<Condition>,
    /// Events that act on the systems in every run, in the order of the file.
    pub events: Vec<StudyEvent>,
    /// Cores that the systems and the generator are pinned to.
    pub pin: StudyPin,
    /// Values of environment variables that the plan names. No result may show them.
    pub secrets: Secrets,
    /// Suspicious places of the file and their remedies, two lines each.
    pub warnings: Vec<String>,
    /// Experiment that follows the study, to confirm what limits a system. `None` if there is none.
    pub experiment: Option<Experiment>,
    pub(crate) figures: Vec<FigureText>,
    pub(crate) written: Option<WrittenText>,
    pub(crate) script: Script,
    pub(crate) settings: Settings,
    pub(crate) whole: WholeRuns,
}

/// Load of a study.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct StudyLoad {
    /// Name of the load; unique in the study.
    pub name: String,
    /// Amount of load as text: `100 users, closed`.
    pub words: String,
    /// End of the load as text: `10s after 2s of warm-up`.
    pub stop_words: String,
    /// Duration of the warm-up, which is excluded from the result, in nanoseconds.
    pub warm_up_ns: u64,
    /// Timeout of a request, in nanoseconds.
    pub timeout_ns: u64,
    /// Duration of the load in nanoseconds, including the warm-up. `None` if a number of requests ends the load.
    pub run_ns: Option<u64>,
    /// Scenario that the load follows. `None` if it follows all of them.
    pub scenario: Option<String>,
    /// External load generator that makes the load. `None` if Tenbin makes it.
    pub(crate) tool: Option<ToolText>,
    /// Log that the load replays. `None` if it follows scenarios.
    pub(crate) replay: Option<Replay>,
    pub(crate) spec: LoadSpec,
}

/// Rules of the comparison of variants, and when it ends.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Compare {
    /// Primary metric.
    pub by: ComparedBy,
    /// Whether a higher value of the primary metric is better.
    pub higher_is_better: bool,
    /// Smallest relevant difference. It is a fraction (0.03 for 3 %), or, for costs of events, a number in nanoseconds or requests.
    /// The plan key is `min-effect`.
    pub matters: f64,
    /// Target result of the comparison.
    pub find: Find,
    /// Whether all blocks run even if the comparison of two variants is conclusive earlier. A comparison by statement needs all of them.
    pub has_all_blocks: bool,
    /// Runs of each variant; the maximum if the comparison can end early. With a sweep, the runs of each finalist.
    pub blocks: u32,
    /// Sweep that selects the finalists. `None` unless the plan requests [`Find::BestOfEach`].
    pub sweep: Option<Sweep>,
    /// Blocks of an A/A comparison of the first variant with itself, before two variants are compared.
    pub pilot: u32,
    /// Secondary metrics, which are judged together with the primary one.
    pub also: Vec<ComparedBy>,
    /// Number of the baseline variant. In a best-of search, it is the variant in use. `None` if there is no baseline.
    pub baseline: Option<usize>,
    /// Stored run or study that serves as the baseline, instead of a variant of the plan.
    pub stored: Option<StoredBaseline>,
    /// Time limit for all runs together, in nanoseconds. `None` if there is no limit.
    pub within_ns: Option<u64>,
    /// Whole runs or slices, as requested by the plan. [`Study::slicing`] decides for `auto`.
    pub interleave: Interleave,
    /// Whether differences between the work of variants are accepted.
    pub accepts_unlike: bool,
    /// Measured duration of a slice, in nanoseconds.
    pub slice_ns: u64,
    /// Whether a system is paused with SIGSTOP while another one is under load.
    pub pauses_idle: bool,
    /// Whether CPU time of other processes is a control variate, to reduce the variance of slices.
    pub has_control: bool,
}

/// A stored run or study that serves as the baseline.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StoredBaseline {
    /// Newest complete study of this plan with this label.
    Label(String),
    /// The only run or study in a store file.
    File {
        /// Path as the plan has it.
        name: String,
        /// Resolved path.
        path: PathBuf,
    },
    /// Run or study with this name.
    Run(String),
}

/// Cores that the systems and the generator are pinned to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StudyPin {
    /// Not pinned.
    No,
    /// Separate cores, chosen among those that other processes use little.
    Auto,
    /// The listed cores. No core is in both lists.
    Cores {
        /// Cores of the systems.
        system: Vec<usize>,
        /// Cores of the generator.
        generator: Vec<usize>,
    },
}

impl Study {
    /// Sets the seed of all random draws, including those of the loads.
    pub fn set_seed(&mut self, seed: u64) {
        (self.seed, self.has_seed) = (seed, true);
        for load in &mut self.loads {
            load.spec.seed = Some(seed.into());
        }
        self.settings.list.iter_mut().for_each(|setting| setting.set_seed(seed));
    }

    /// Turns on sampling of the systems' stacks under every load. The hash of the study changes, because profiling changes results.
    pub fn set_profile(&mut self, stacks: Stacks) {
        for load in &mut self.loads {
            let was_profiled = load.spec.profile.as_ref().and_then(Spanned::get).is_some_and(Option::is_some);
            load.spec.profile = Some(Some(stacks).into());
            if !was_profiled {
                load.words += PROFILED_SUFFIX;
            }
        }
        self.settings.list.iter_mut().for_each(|setting| setting.set_profile(stacks));
        self.hash = self.hash_with(&["profile", stacks.name()]);
    }
}
