//! One cause in the ranked list: what it is, where, how much it explains, what speaks for and against it, and what to do next.

use std::fmt;

use super::evidence::Evidence;
use crate::causes::Resource;

/// What probably kept a run, or all runs of a setting, from doing more. Texts may quote names: escape them.
#[derive(Clone, Debug, PartialEq)]
pub struct Bottleneck {
    /// What it is.
    pub resource: Resource,
    /// A few words for people, such as `CPU of the machine`.
    pub what: &'static str,
    /// The evidence in a sentence with its figures, without a full stop.
    pub because: String,
    /// How sure it is.
    pub certainty: Certainty,
    /// Where it is.
    pub scope: Scope,
    /// The share of the response time that it explains and likelier causes do not, above 0 and up to 1, by Little's law; `None` if no
    /// reading tells, or nothing is left.
    pub share: Option<f64>,
    /// Readings that speak for it, `because` first, without the readings in `highest`.
    pub for_: Vec<String>,
    /// Readings that speak against it and do not refute it.
    pub against: Vec<String>,
    /// What to do next, in the imperative, without a full stop; empty if there is nothing to do.
    pub next: String,
    /// Where nothing explains the run: the readings that were nearest to their ends, nearest first.
    pub highest: Vec<Reading>,
    pub(crate) standing: Standing,
}

/// A reading as a share of what it can be at most.
#[derive(Clone, Debug, PartialEq)]
pub struct Reading {
    /// What it is; may quote names: escape it.
    pub words: String,
    /// From 0 to 1.
    pub share: f64,
}

/// How sure a bottleneck is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Certainty {
    /// Something was changed, and throughput moved as predicted: see [`crate::diagnosis`].
    Confirmed,
    /// A rule has fired.
    Suspected,
    /// No rule has.
    Unknown,
    /// A rule has fired, something was changed, and throughput did not move as predicted.
    Refuted,
}

impl Certainty {
    /// Its name in JSON.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Confirmed => "confirmed",
            Self::Suspected => "suspected",
            Self::Unknown => "unknown",
            Self::Refuted => "refuted",
        }
    }
}

/// Where a cause is. Names may hold anything: escape them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Scope {
    /// The machine that was read.
    Machine,
    /// The system as a whole.
    System,
    /// The control group of the system.
    ControlGroup,
    /// A process of the plan, its children included.
    Process(String),
    /// One thread of the system.
    Thread,
    /// A wait inside the database, by its name.
    DatabaseWait(String),
    /// Something that the system calls, by its address.
    Dependency(String),
    /// A parameter of the plan, by its name.
    Parameter(String),
    /// The load: what was asked for.
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

/// The place of a cause in the list: by kind of evidence, and then by what it explains.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub(crate) enum Standing {
    /// It speaks before all others: the load asked for no more, or the system said itself what it lacked.
    First,
    /// Something that ran short or was waited for, with its weight: the share that it explains, less where the evidence is
    /// indirect.
    Explains(f64),
    /// A symptom: a queue is full because what empties it is short.
    Symptom,
}

impl Standing {
    /// Lower comes first.
    fn order(self) -> (u8, f64) {
        match self {
            Self::First => (0, 0.0),
            Self::Explains(weight) => (1, -weight),
            Self::Symptom => (2, 0.0),
        }
    }
}

/// A cause that nothing confirmed. A rule that knows how much it explains says so.
pub(crate) fn suspected(resource: Resource, scope: Scope, because: String) -> Bottleneck {
    Bottleneck {
        resource,
        what: resource.words,
        for_: vec![because.clone()],
        because,
        certainty: Certainty::Suspected,
        scope,
        share: None,
        against: Vec::new(),
        next: resource.next.to_owned(),
        highest: Vec::new(),
        standing: Standing::Explains(INDIRECT),
    }
}

/// Weights: evidence that names a cause outweighs evidence that only fits it, whatever their shares.
const DIRECT: f64 = 0.7;
const INDIRECT: f64 = 0.4;
const OF_SHARE: f64 = 0.3;
/// Of the response time. A cause that explains less goes behind in proportion, however plain its evidence is.
const EXPLAINS_ENOUGH: f64 = 0.3;

impl Bottleneck {
    /// With the share of the response time that it explains, of which readings name it.
    pub(super) fn direct(self, share: Option<f64>) -> Self {
        self.explaining(share, DIRECT)
    }

    /// The same of readings that it would cause, and something else may cause, too.
    pub(super) fn indirect(self, share: Option<f64>) -> Self {
        self.explaining(share, INDIRECT)
    }

    fn explaining(self, share: Option<f64>, least: f64) -> Self {
        let share = share.filter(|share| share.is_finite()).map(|share| share.clamp(0.0, 1.0));
        let is_enough = share.map_or(1.0, |share| (share / EXPLAINS_ENOUGH).min(1.0));
        let standing = Standing::Explains(least * is_enough + OF_SHARE * share.unwrap_or(0.5));
        Self { share, standing, ..self }
    }

    /// Where no reading tells how much it explains.
    pub(super) fn without_share(self) -> Self {
        Self { share: None, ..self }
    }

    pub(super) fn first(self) -> Self {
        Self { standing: Standing::First, ..self }
    }

    pub(super) fn symptom(self) -> Self {
        Self { standing: Standing::Symptom, ..self }
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

/// In the order in which they are reported: each resource once, with what its other rules saw among what speaks for it.
pub(super) fn ranked(mut found: Vec<Bottleneck>) -> Vec<Bottleneck> {
    found.sort_by(|one, other| {
        let ([one, one_weight], [other, other_weight]) = (one.place(), other.place());
        one.total_cmp(&other).then(one_weight.total_cmp(&other_weight))
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

/// What a likelier cause explains is not explained again, so that all shares add up to 1 at most.
fn share_out(ranked: &mut [Bottleneck]) {
    let mut rest = 1.0;
    for cause in ranked {
        cause.share = cause.share.map(|share| share.min(rest)).filter(|share| *share > 0.0);
        rest -= cause.share.unwrap_or(0.0);
    }
}

impl Bottleneck {
    fn place(&self) -> [f64; 2] {
        let (kind, weight) = self.standing.order();
        [f64::from(kind), weight]
    }
}

/// A reading that a cause cannot be true with.
pub struct Refutation {
    /// Which one, for the table.
    pub when: &'static str,
    pub(super) is_read: fn(&Evidence<'_>) -> bool,
}
