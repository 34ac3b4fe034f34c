//! A run in which one thing is changed, to see whether it limits a system.

use serde::{Deserialize, Serialize};

/// What a run is for in an experiment. It is kept before the run is made, with what is predicted.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum Intervention {
    /// Nothing is changed: what the others of its block are compared with.
    Control,
    /// Nothing is changed either: how far two runs lie apart that are alike.
    ControlAgain,
    /// One thing is changed.
    Changed(Changed),
}

/// One thing that is changed, and what is predicted.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Changed {
    /// For people, and unique in its experiment: `users 8 → 16`.
    pub name: String,
    /// What is changed.
    pub change: Change,
    /// Its place among those of its experiment, from 0: the last are given up first where time runs out.
    pub rank: u32,
    /// The codes of the resources of which one is the limit if it acts.
    pub tests: Vec<String>,
    /// Whether none of these is the limit if it does not act.
    pub can_refute: bool,
    /// What the resource is multiplied by: above zero, and not 1.
    pub factor: f64,
    /// The elasticity of the throughput from which on the resource is the limit; above zero.
    pub limit_from: f64,
    /// What is predicted, in a sentence.
    pub prediction: String,
}

/// What is changed, and to what.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "of", rename_all = "snake_case", deny_unknown_fields)]
pub enum Change {
    /// The number of users of a closed load.
    Users {
        /// At least one.
        users: u32,
    },
    /// The CPU time that the system may use.
    Cpu {
        /// In thousandths of a core; at least 10.
        millicores: u64,
    },
    /// A parameter of the system.
    Parameter {
        /// Its name.
        name: String,
        /// The value as text.
        value: String,
    },
    /// The delay of each direction of a proxy between parts of the system.
    Delay {
        /// The name of the proxy in the plan.
        proxy: String,
        /// In microseconds.
        delay_us: u64,
    },
    /// The threads of the generator.
    Threads {
        /// At least one.
        threads: u32,
    },
}

impl Intervention {
    /// Its name for people, unique in its experiment.
    pub fn name(&self) -> &str {
        match self {
            Self::Control => "control",
            Self::ControlAgain => "control again",
            Self::Changed(changed) => &changed.name,
        }
    }

    /// Whether every figure is one that its meaning allows.
    pub(crate) fn is_sound(&self) -> bool {
        let Self::Changed(Changed { factor, limit_from, .. }) = self else { return true };
        factor.is_finite() && *factor > 0.0 && *factor != 1.0 && limit_from.is_finite() && *limit_from > 0.0
    }
}
