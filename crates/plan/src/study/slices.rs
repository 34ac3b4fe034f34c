//! Decides whether a study uses slices, and explains why not.

use std::net::Ipv4Addr;
use std::path::Path;

use judge::comparison::SLICED_MAX;
use judge::{ComparedBy, Condition};
use load::values::Source;

use super::{ComparisonMethod, Environment, Find, Launch, Study, StudyLoad};
use crate::plan::Action;
use crate::spec::Spanned;
use crate::units::show_duration;

/// Units of a comparison: whole runs or slices.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Interleave {
    /// Whole runs: the system is started for each run.
    Runs,
    /// Slices: all variants of a block stay up, and the load goes to one at a time.
    Slices,
    /// Slices if the plan allows them.
    Auto,
}

impl Interleave {
    /// All values, in the order of `NAMES`.
    pub(crate) const ALL: [Self; 3] = [Self::Runs, Self::Slices, Self::Auto];
    /// Names in plans.
    pub(crate) const NAMES: [&'static str; 3] = ["runs", "slices", "auto"];
}

/// Parameters of a study in slices. Durations are in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slicing {
    /// Measured duration of a slice.
    pub slice_ns: u64,
    /// Duration that is discarded at the beginning of each slice.
    pub settle_ns: u64,
    /// Duration that is discarded at the beginning of the first slice after a start.
    pub warm_up_ns: u64,
    /// Max slices of each variant in a block.
    pub pairs_most: u32,
    /// Whether a system is paused with SIGSTOP while another one is under load.
    pub pauses_idle: bool,
    /// Whether CPU time of other processes is a control variate, to reduce the variance.
    pub has_control: bool,
    /// Whether every block has as many slices as fit into the load, because gates or tail percentiles need the samples.
    pub has_full_blocks: bool,
}

/// State that is restored if slices are not possible on this machine.
#[derive(Clone, Debug, Default)]
pub(crate) struct WholeRuns {
    /// Reason why there are no slices although the plan allows them.
    no_place: Option<NoSlices>,
    /// Blocks and time limit before they were changed for slices.
    without_slices: Option<(u32, Option<u64>)>,
}

/// Reason why a plan does not use slices, and the help.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoSlices {
    /// Sentence without its period.
    pub because: String,
    /// Help: change to the plan.
    pub help: String,
}

/// Default duration of a slice.
pub(crate) const SLICE_NS: u64 = 1_000_000_000;
/// Min and max duration of a slice. A shorter one is dominated by its edges, and a longer one cannot follow the noise.
pub(crate) const SLICE_RANGE_NS: [u64; 2] = [1_000_000_000, 3_000_000_000];
/// Duration that is discarded while connections are new, and while caches still hold data of another system.
const SETTLE_NS: u64 = 250_000_000;
/// Max slices of each variant per block in a best-of search. After a few slices, only the variance between starts remains, and many
/// variants already make a block long.
const SEARCH_SLICES_MAX: usize = 4;
/// Max warm-up of a quick study in slices.
const QUICK_WARM_UP_NS: u64 = 1_000_000_000;
/// Least time limit of a quick study for each variant, including starts.
const QUICK_WITHIN_NS: u64 = 30_000_000_000;
/// Time that a quick study allows for a start of a system, without its warm-up.
const QUICK_START_NS: u64 = 1_000_000_000;

fn no_slices_because(because: impl Into<String>, help: impl Into<String>) -> Option<NoSlices> {
    Some(NoSlices { because: because.into(), help: help.into() })
}

fn is_given<T>(value: &Option<Spanned<T>>) -> bool {
    value.as_ref().and_then(Spanned::get).is_some()
}

impl Study {
    /// Parameters of slices. `None` if the study uses whole runs.
    pub fn slicing(&self) -> Option<Slicing> {
        let is_asked = self.compare.interleave != Interleave::Runs;
        let load = self.loads.first().filter(|_| is_asked && self.no_slices().is_none())?;
        let pairs = self.measured_ns(0)? / self.compare.slice_ns.max(1);
        let has_full_blocks =
            !self.gates.is_empty() || self.compare.metrics().any(|by| by.metric.is_of_merged_slices());
        let most = match self.how() {
            _ if self.is_quick => stats::PAIRS_MIN,
            ComparisonMethod::Best => SEARCH_SLICES_MAX,
            ComparisonMethod::Blocks if !has_full_blocks => stats::PAIRS_MIN,
            _ => stats::PAIRS_MAX,
        };
        let quick_ns = if self.is_quick { QUICK_WARM_UP_NS } else { u64::MAX };
        let pairs_most = pairs.clamp(stats::PAIRS_MIN as u64, most as u64) as u32;
        // The number is even, so that both orders are equally frequent.
        let is_many = self.how() != ComparisonMethod::Duel;
        Some(Slicing {
            slice_ns: self.compare.slice_ns,
            settle_ns: SETTLE_NS,
            warm_up_ns: load.warm_up_ns.clamp(SETTLE_NS, quick_ns.max(SETTLE_NS)),
            pairs_most: if is_many { pairs_most / 2 * 2 } else { pairs_most },
            pauses_idle: self.compare.pauses_idle,
            has_control: self.compare.has_control,
            has_full_blocks,
        })
    }

    /// Chooses slices for a comparison if the plan does not set `interleave`. Slices need no pilot, so a plan with a pilot gets whole runs.
    pub(crate) fn choose_interleave(&mut self, has_pilot: bool) {
        let is_round_robin = self.is_round_robin() && self.compare.blocks >= stats::FIXED.blocks;
        if !has_pilot && (self.how() == ComparisonMethod::Duel || is_round_robin) {
            self.compare.interleave = Interleave::Auto;
        }
    }

    /// Raises the default number of blocks to what all pairs of a comparison in slices need.
    pub(crate) fn raise_blocks(&mut self) {
        let blocks = self.compare.blocks;
        let is_survey = blocks < stats::FIXED.blocks;
        if self.compare.interleave == Interleave::Runs || !self.is_round_robin() || is_survey {
            return;
        }
        self.compare.blocks = blocks.max(stats::min_blocks(self.family_of_pairs()));
        match self.slicing() {
            Some(_) => self.whole.without_slices = Some((blocks, self.compare.within_ns)),
            None => self.compare.blocks = blocks,
        }
    }

    /// Returns whether more than two variants are compared with each other, or with one of them, over all blocks.
    pub(crate) fn is_round_robin(&self) -> bool {
        let compare = &self.compare;
        self.how() == ComparisonMethod::Blocks
            && compare.find == Find::Every
            && !compare.has_all_blocks
            && self.variants.len() > 2
    }

    /// Pairs of variants that a comparison in slices judges together, by number: each variant with the baseline, or all pairs.
    pub fn compared_pairs(&self) -> impl Iterator<Item = [usize; 2]> {
        let (variants, baseline) = (self.variants.len(), self.compare.baseline);
        let all = (0..variants).flat_map(move |a| (a + 1..variants).map(move |b| [a, b]));
        all.filter(move |pair| baseline.is_none_or(|baseline| pair.contains(&baseline)))
    }

    /// Blocks after which a comparison of more than two variants in slices is judged first. `None` if the blocks are too few.
    pub(crate) fn first_look_of_pairs(&self) -> Option<u32> {
        stats::first_look(self.compare.blocks, self.family_of_pairs())
    }

    /// Number of comparisons that share the error rate if more than two variants are compared in slices.
    pub(crate) fn family_of_pairs(&self) -> u32 {
        let pairs = u32::try_from(self.compared_pairs().count()).unwrap_or(u32::MAX);
        pairs.max(1).saturating_mul(self.compare.family())
    }

    /// Shortens a quick comparison in slices. Within the time limit it has a verdict, or an estimate of the time for one.
    pub(crate) fn shorten_slices(&mut self) {
        let family = match self.how() {
            ComparisonMethod::Duel => self.compare.family(),
            _ if self.is_round_robin() => self.family_of_pairs(),
            _ => return,
        };
        if let Some(slicing) = self.slicing().filter(|_| self.is_quick) {
            let whole = (self.compare.blocks, self.compare.within_ns);
            self.whole.without_slices.get_or_insert(whole);
            self.compare.blocks = self.compare.blocks.min(stats::min_blocks(family));
            let each_ns = self.quick_within_ns(&slicing).max(QUICK_WITHIN_NS);
            let within_ns = each_ns.saturating_mul(self.variants.len() as u64);
            self.compare.within_ns = self.compare.within_ns.or(Some(within_ns));
        }
    }

    /// Time that a quick study in slices needs for each variant to reach its only look, with starts alone if it may have them.
    fn quick_within_ns(&self, slicing: &Slicing) -> u64 {
        let of_block_ns = self.min_start_ns(slicing).saturating_add(QUICK_START_NS);
        let lone_ns = QUICK_START_NS + slicing.warm_up_ns + slicing.slice_ns;
        let lone_starts = if self.is_round_robin() { u64::from(stats::LONE_STARTS) } else { 0 };
        of_block_ns.saturating_mul(self.compare.blocks.into()).saturating_add(lone_ns * lone_starts)
    }

    /// Makes whole runs although the plan allows slices, for this reason.
    pub fn use_whole_runs(&mut self, because: NoSlices) {
        if let Some((blocks, within_ns)) = self.whole.without_slices.take() {
            (self.compare.blocks, self.compare.within_ns) = (blocks, within_ns);
        }
        self.whole.no_place = Some(because);
    }

    /// Reason why the study cannot use slices. `None` if it can.
    pub fn no_slices(&self) -> Option<NoSlices> {
        let of_whole = || {
            let what = "slices are for comparisons of 2 to 8 variants, with blocks enough for a verdict";
            let is_many = self.how() == ComparisonMethod::Best || self.is_round_robin();
            let started =
                self.variants.iter().filter(|variant| self.systems[variant.system].is_started()).count();
            match self {
                _ if self.how() != ComparisonMethod::Duel && !is_many => {
                    no_slices_because(what, "use `interleave: runs`")
                }
                _ if self.variants.len() > SLICED_MAX => no_slices_because(
                    format!(
                        "at most {SLICED_MAX} systems are up at the same time, and the plan has {} variants",
                        self.variants.len()
                    ),
                    "use `interleave: runs`, or `only` to select variants",
                ),
                _ if self.is_round_robin() && self.first_look_of_pairs().is_none() => {
                    let (pairs, least) = (self.family_of_pairs(), stats::min_blocks(self.family_of_pairs()));
                    no_slices_because(
                        format!("{pairs} comparisons that share one error rate need {least} blocks"),
                        format!("use `interleave: runs`, or write `blocks: {least}`"),
                    )
                }
                _ if is_many && self.compare.has_control => {
                    no_slices_because("`control` is for two variants", "remove `control`")
                }
                _ if self.compare.stored.is_some() => no_slices_because(
                    "a stored baseline was measured in whole runs",
                    "use `interleave: runs`",
                ),
                _ if self.loads.len() > 1 => no_slices_because(
                    "a plan in slices has one load",
                    "use `interleave: runs`, or make a plan of each load",
                ),
                _ if !self.events.is_empty() => {
                    no_slices_because("events need whole runs", "use `interleave: runs`, or remove `events`")
                }
                _ if !self.script.errands.is_empty() => no_slices_because(
                    "`setup` and `teardown` need whole runs",
                    "use `interleave: runs`, or remove them",
                ),
                _ if self.compare.pauses_idle && started < self.variants.len() => no_slices_because(
                    "`pause: idle` stops systems that Tenbin started, and one runs already",
                    "remove `pause`, or let Tenbin start the system",
                ),
                _ => self.no_slices_of_metrics().or_else(|| self.no_slices_of_gates()),
            }
        };
        self.whole
            .no_place
            .clone()
            .or_else(of_whole)
            .or_else(|| self.no_slices_of_load(self.loads.first()?))
            .or_else(|| self.no_slices_of_systems())
    }

    fn no_slices_of_metrics(&self) -> Option<NoSlices> {
        let is_merged = |by: &ComparedBy| {
            by.metric.is_of_merged_slices() && self.how() != ComparisonMethod::Best && !self.has_tool()
        };
        if let Some(by) = self.compare.metrics().find(|by| by.is_of_whole_run()) {
            return no_slices_because(
                format!("{} is read before and after a run, not for each slice", by.label()),
                "use `interleave: runs`, or compare by another metric such as throughput",
            );
        }
        let by = self.compare.metrics().find(|by| by.metric.is_rare && !is_merged(by))?;
        no_slices_because(
            format!("{} depends on what happens seldom, and a slice is short", by.metric.name),
            "use `interleave: runs`, or compare by another metric such as throughput",
        )
    }

    /// Reason against slices if a gate needs a whole run. All others are judged on the slices of a start together.
    fn no_slices_of_gates(&self) -> Option<NoSlices> {
        let whole = |gate: &&Condition| {
            gate.part_ns.is_some()
                || gate.figure.needs_whole_run()
                || gate.of_baseline.is_some() && gate.figure.is_of_tail()
                || self.has_tool()
        };
        let gate = self.gates.iter().find(whole)?;
        no_slices_because(
            format!("the gate {:?} needs a whole run", gate.text),
            "use `interleave: runs`, or remove the gate",
        )
    }

    /// Whether another load generator makes the load. It reports percentiles, which cannot be merged.
    fn has_tool(&self) -> bool {
        self.script.steps.iter().any(|step| matches!(step.action, Action::Tool(_)))
    }

    fn no_slices_of_load(&self, load: &StudyLoad) -> Option<NoSlices> {
        let spec = &load.spec;
        let name = &load.name;
        let whole: [(bool, &str); 9] = [
            (is_given(&spec.replay), "replay"),
            (is_given(&spec.stages), "stages"),
            (is_given(&spec.recorded), "recorded"),
            (is_given(&spec.ramp_from_per_s), "from"),
            (is_given(&spec.ramp_up_ns), "ramp-up"),
            (is_given(&spec.requests), "requests"),
            (is_given(&spec.extend), "extend"),
            (is_given(&spec.pacing_ns), "pacing"),
            (spec.profile.as_ref().and_then(Spanned::get).is_some_and(Option::is_some), "profile"),
        ];
        if let Some((_, key)) = whole.iter().find(|(is_given, _)| *is_given) {
            return no_slices_because(
                format!("the load {name:?} needs a whole run: it has `{key}`"),
                format!("use `interleave: runs`, or remove `{key}`"),
            );
        }
        if load.warm_up_ns == 0 {
            return no_slices_because(
                format!("the load {name:?} has no `warm-up`, so the start is part of what is measured"),
                "use `interleave: runs`, or add `warm-up: 1s` to the load",
            );
        }
        let least_ns = self.compare.slice_ns.saturating_mul(stats::PAIRS_MIN as u64);
        let measured_ns = load.run_ns.map(|run_ns| run_ns - load.warm_up_ns);
        if measured_ns.is_none_or(|measured_ns| measured_ns < least_ns) {
            return no_slices_because(
                format!("a block has two slices of each variant, and the load {name:?} is shorter"),
                format!("use `interleave: runs`, or make the load {} long", show_duration(least_ns)),
            );
        }
        let again =
            |source: &&load::DataSource| matches!(source.source, Source::Sequence { until: None, .. });
        if self.script.data.iter().any(|source| again(&source)) {
            return no_slices_because(
                "a sequence without an end would begin again in each slice",
                "use `interleave: runs`, or give the sequence an end",
            );
        }
        None
    }

    fn no_slices_of_systems(&self) -> Option<NoSlices> {
        let all: Vec<(&super::System, Launch)> = self
            .variants
            .iter()
            .enumerate()
            .map(|(number, variant)| (&self.systems[variant.system], self.launch_with_own_ports(number)))
            .collect();
        if let Some((system, _)) = all.iter().find(|(system, _)| {
            (system.tables.is_some() || system.own_data.is_some()) && !system.is_started()
        }) {
            return no_slices_because(
                format!("the tables of {} would be made while they are used", system.name),
                "use `interleave: runs`, or let Tenbin start the database",
            );
        }
        let started: Vec<&Launch> =
            all.iter().filter(|(system, _)| system.is_started()).map(|(_, launch)| launch).collect();
        let is_same = |first: &Launch, second: &Launch| {
            first.socket == second.socket && authority(&first.url) == authority(&second.url)
        };
        let shared = started
            .iter()
            .enumerate()
            .find(|(number, first)| started[number + 1..].iter().any(|second| is_same(first, second)));
        let (_, first) = shared?;
        let who = if all.len() == 2 { "both" } else { "several" };
        no_slices_because(
            format!("{who} variants listen at {}, and only one can be up", host_and_port(first)),
            "use `interleave: runs`, or write {port} in place of the port",
        )
    }

    /// Launch of a variant with placeholder ports, different from those of other variants.
    pub(crate) fn launch_with_own_ports(&self, variant: usize) -> Launch {
        let first =
            20_000u16.saturating_add(u16::try_from(variant).unwrap_or(u16::MAX).saturating_mul(1_000));
        let ports: Vec<(String, u16)> = self.ports(variant).into_iter().zip(first..).collect();
        let dir = format!("/{variant}");
        let environment = Environment {
            ports: &ports,
            dir: Path::new(&dir),
            tenbin: Path::new("tenbin"),
            host: Ipv4Addr::LOCALHOST,
        };
        self.launch(variant, &environment)
    }
}

/// Host and port of a URL, without a user.
fn authority(url: &str) -> &str {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    authority.rsplit_once('@').map_or(authority, |(_, host)| host)
}

fn host_and_port(launch: &Launch) -> String {
    match &launch.socket {
        Some(socket) => socket.display().to_string(),
        None => authority(&launch.url).to_owned(),
    }
}
