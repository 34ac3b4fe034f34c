//! One cause in the ranked list: its resource, scope, share of the response time, readings for and against it, and next step.

use std::fmt;

use super::evidence::Evidence;
use crate::causes::Resource;
use crate::rung::Rung;

/// Likely reason why a run, or all runs of a configuration, reached no higher throughput. Texts may quote names: escape
/// them.
#[derive(Clone, Debug, PartialEq)]
pub struct Bottleneck {
    /// Resource that is short.
    pub resource: Resource,
    /// Name for people, such as `CPU of the machine`.
    pub what: &'static str,
    /// Evidence in a sentence with its figures, without a full stop.
    pub because: String,
    /// Rung of the evidence, which limits how strongly it is worded.
    pub rung: Rung,
    /// Degree of certainty.
    pub certainty: Certainty,
    /// Part of the setup in which the cause lies.
    pub scope: Scope,
    /// Share of the response time that this cause explains and more likely causes do not, above 0 and up to 1, by
    /// Little's law. `None` if no reading gives a share, or if more likely causes explain everything.
    pub share: Option<f64>,
    /// Readings that support the cause, `because` first. Readings in `highest` are not repeated.
    pub for_: Vec<String>,
    /// Readings that contradict the cause without refuting it.
    pub against: Vec<String>,
    /// Next step, in the imperative, without a full stop; empty if there is none.
    pub next: String,
    /// Readings nearest to their limits, nearest first. Set only if nothing explains the run.
    pub highest: Vec<Reading>,
    pub(crate) standing: CauseRank,
}

/// A reading as a share of its maximum.
#[derive(Clone, Debug, PartialEq)]
pub struct Reading {
    /// Name of the reading. May quote names: escape it.
    pub words: String,
    /// Share of the maximum, from 0 to 1.
    pub share: f64,
}

/// Degree of certainty of a cause.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Certainty {
    /// A parameter was changed, and throughput moved as predicted: see [`crate::diagnosis`].
    Confirmed,
    /// A rule reported it.
    Suspected,
    /// No rule reported a cause.
    Unknown,
    /// A rule reported it, a parameter was changed, and throughput did not move as predicted.
    Refuted,
}

impl Certainty {
    /// Returns the name in JSON.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Confirmed => "confirmed",
            Self::Suspected => "suspected",
            Self::Unknown => "unknown",
            Self::Refuted => "refuted",
        }
    }
}

/// Part of the setup in which a cause lies. Names come from outside: escape them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Scope {
    /// The machine that was sampled.
    Machine,
    /// The system as a whole.
    System,
    /// The control group of the system.
    ControlGroup,
    /// A process of the plan, its children included.
    Process(String),
    /// One thread of the system.
    Thread,
    /// A wait inside the database, by name.
    DatabaseWait(String),
    /// A service that the system calls, by address.
    Dependency(String),
    /// A parameter of the plan, by name.
    Parameter(String),
    /// The offered load.
    Load,
    /// The generator.
    Generator,
}

impl fmt::Display for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Machine => f.write_str("machine"),
            Self::System => f.write_str("system"),
            Self::ControlGroup => f.write_str("cgroup"),
            Self::Process(name) => write!(f, "process {name}"),
            Self::Thread => f.write_str("thread"),
            Self::DatabaseWait(wait) => write!(f, "database wait {wait}"),
            Self::Dependency(address) => write!(f, "dependency {address}"),
            Self::Parameter(name) => write!(f, "parameter {name}"),
            Self::Load => f.write_str("load"),
            Self::Generator => f.write_str("generator"),
        }
    }
}

/// Rank of a cause: by the part that it explains, then by rung, then by share.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub(crate) enum CauseRank {
    /// Before all others: the load asked for no more, or the system itself reported the shortage.
    First,
    /// A scarce or contended resource, with its weight: the share that it explains, reduced if the evidence is
    /// indirect. Among these, a higher rung comes first.
    Explains(f64),
    /// Like `Explains`, for a small part of the response time.
    Minor(f64),
    /// A smaller part of the response time that is reported only after another cause, with its weight. Alone it
    /// explains too little.
    Further(f64),
    /// A symptom: a queue is full because the resource that empties it is short.
    Symptom,
}

impl CauseRank {
    /// Returns the sort key; lower comes first.
    fn order(self, rung: Rung) -> (u8, Option<Rung>, f64) {
        match self {
            Self::First => (0, None, 0.0),
            Self::Explains(weight) => (1, Some(rung), -weight),
            Self::Minor(weight) => (2, Some(rung), -weight),
            Self::Further(weight) => (3, Some(rung), -weight),
            Self::Symptom => (4, None, 0.0),
        }
    }
}

/// Creates a suspected cause with indirect evidence and no share, on the lowest rung. Rules that know the share add it.
pub(crate) fn suspected(resource: Resource, scope: Scope, because: String) -> Bottleneck {
    Bottleneck {
        resource,
        what: resource.words,
        for_: vec![because.clone()],
        because,
        rung: Rung::Arithmetic,
        certainty: Certainty::Suspected,
        scope,
        share: None,
        against: Vec::new(),
        next: resource.next.to_owned(),
        highest: Vec::new(),
        standing: CauseRank::Explains(INDIRECT),
    }
}

/// Weight of direct evidence, which names a cause. For any shares, it outweighs indirect evidence, which is only
/// consistent with the cause.
const DIRECT: f64 = 0.7;
/// Weight of indirect evidence.
const INDIRECT: f64 = 0.4;
/// Weight of the share that a cause explains; 0.5 is assumed if it is unknown.
const SHARE_WEIGHT: f64 = 0.3;
/// Share of the response time below which a cause is minor, even with direct evidence.
const EXPLAINED_MIN_SHARE: f64 = 0.3;

impl Bottleneck {
    /// Sets the explained share of the response time, from readings that name the cause.
    pub(super) fn direct(self, share: Option<f64>) -> Self {
        self.explaining(share, DIRECT)
    }

    /// Sets the explained share of the response time, from readings that other causes can produce, too.
    pub(super) fn indirect(self, share: Option<f64>) -> Self {
        self.explaining(share, INDIRECT)
    }

    fn explaining(self, share: Option<f64>, least: f64) -> Self {
        let share = share.filter(|share| share.is_finite()).map(|share| share.clamp(0.0, 1.0));
        let weight = least + SHARE_WEIGHT * share.unwrap_or(0.5);
        let is_minor = share.is_some_and(|share| share < EXPLAINED_MIN_SHARE);
        let standing = if is_minor { CauseRank::Minor(weight) } else { CauseRank::Explains(weight) };
        Self { share, standing, ..self }
    }

    /// Hides the share, but keeps the rank derived from it.
    pub(super) fn without_share(self) -> Self {
        Self { share: None, ..self }
    }

    /// Sets the rung of evidence.
    pub(crate) fn on(self, rung: Rung) -> Self {
        Self { rung, ..self }
    }

    pub(super) fn first(self) -> Self {
        Self { standing: CauseRank::First, ..self }
    }

    /// Sets the share of the response time of a cause that is reported only after another one.
    pub(super) fn further(self, share: f64) -> Self {
        Self { standing: CauseRank::Further(share), share: Some(share), ..self }
    }

    pub(super) fn symptom(self) -> Self {
        Self { standing: CauseRank::Symptom, ..self }
    }

    pub(crate) fn next(self, next: impl Into<String>) -> Self {
        Self { next: next.into(), ..self }
    }

    pub(super) fn and(mut self, readings: impl IntoIterator<Item = String>) -> Self {
        self.for_.extend(readings);
        self
    }

    pub(super) fn against(mut self, readings: impl IntoIterator<Item = String>) -> Self {
        self.against.extend(readings);
        self
    }
}

/// Ranks causes for the report. Each resource appears once; readings of its other rules become further support.
pub(super) fn ranked(mut found: Vec<Bottleneck>) -> Vec<Bottleneck> {
    if found.iter().all(|cause| matches!(cause.standing, CauseRank::Further(_))) {
        return Vec::new();
    }
    found.sort_by(|one, other| {
        let [one, other] = [one, other].map(|cause| cause.standing.order(cause.rung));
        (one.0, one.1).cmp(&(other.0, other.1)).then(one.2.total_cmp(&other.2))
    });
    let mut ranked: Vec<Bottleneck> = Vec::new();
    for cause in found {
        match ranked.iter_mut().find(|known| known.resource == cause.resource) {
            Some(known) => known.for_.extend(cause.for_),
            None => ranked.push(cause),
        }
    }
    share_out(&mut ranked);
    ranked
}

/// Limits each share to the part that more likely causes leave unexplained, so that all shares sum to at most 1.
fn share_out(ranked: &mut [Bottleneck]) {
    let mut rest = 1.0;
    for cause in ranked {
        cause.share = cause.share.map(|share| share.min(rest)).filter(|share| *share > 0.0);
        rest -= cause.share.unwrap_or(0.0);
    }
}

/// A reading that excludes a cause.
pub struct Refutation {
    /// Description of the reading, for the table in `docs/why.md`.
    pub when: &'static str,
    pub(super) is_read: fn(&Evidence<'_>) -> bool,
}
