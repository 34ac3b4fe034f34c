//! A run in which one thing is changed, to see whether it limits a system.

use serde::{Deserialize, Serialize};

/// Purpose of a run in an experiment. It is kept before the run is made, with the prediction.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum Intervention {
    /// Nothing is changed: what the others of its block are compared with.
    Control {
        /// Changes that were not tried, each with the reason, in a sentence; in the first block only.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        left_out: Vec<String>,
    },
    /// Nothing is changed either: how far two runs lie apart that are alike.
    ControlAgain,
    /// Nothing is changed, and the system is started again: what changes are compared with that need a restart.
    ControlRestarted,
    /// One thing is changed.
    Changed(Changed),
    /// Another number of users, to see how throughput grows with them. It tests nothing, and not every block has it.
    Users {
        /// For people, and unique in its experiment: `users 8 → 4`.
        name: String,
        /// How many the load of the plan has; at least one.
        from: u32,
        /// How many this run has; at least one.
        users: u32,
    },
}

/// One thing that is changed, and what is predicted.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Changed {
    /// For people, and unique in its experiment: `users 8 → 16`.
    pub name: String,
    /// The change.
    pub change: Change,
    /// Its place among those of its experiment, from 0: the last are given up first where time runs out.
    pub rank: u32,
    /// The codes of the resources of which one is the limit if it acts.
    pub tests: Vec<String>,
    /// Whether none of these is the limit if it does not act.
    pub can_refute: bool,
    /// Factor of the resource: above zero, and not 1.
    pub factor: f64,
    /// The elasticity of the throughput from which on the resource is the limit; above zero.
    pub limit_from: f64,
    /// The prediction, in a sentence.
    pub prediction: String,
    /// Loss of the system with the change, in a sentence: then it only shows a cost.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub loses: Option<String>,
}

/// A change, with the new value.
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
    /// The cores that the generator stays on.
    GeneratorCores {
        /// At least one.
        cores: Vec<usize>,
    },
    /// Limits of reads and writes of the system, for each disk.
    Io {
        /// At least one is set.
        limits: IoLimits,
    },
}

/// Limits for each disk; `None` is no limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct IoLimits {
    /// Bytes read in a second.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read_bytes_per_s: Option<u64>,
    /// Bytes written in a second.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub write_bytes_per_s: Option<u64>,
    /// Reads in a second.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reads_per_s: Option<u64>,
    /// Writes in a second.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub writes_per_s: Option<u64>,
}

impl IoLimits {
    /// Whether nothing is limited.
    pub fn is_none(&self) -> bool {
        *self == Self::default()
    }

    /// Every limit times a factor, at least 1.
    pub fn times(self, factor: f64) -> Self {
        let times = |limit: Option<u64>| limit.map(|limit| ((limit as f64 * factor).round() as u64).max(1));
        Self {
            read_bytes_per_s: times(self.read_bytes_per_s),
            write_bytes_per_s: times(self.write_bytes_per_s),
            reads_per_s: times(self.reads_per_s),
            writes_per_s: times(self.writes_per_s),
        }
    }
}

impl Change {
    /// Whether the system must be started again for it. Everything else is changed while it runs.
    pub fn needs_restart(&self) -> bool {
        match self {
            Self::Parameter { .. } | Self::Delay { .. } => true,
            Self::Users { .. }
            | Self::Cpu { .. }
            | Self::Threads { .. }
            | Self::GeneratorCores { .. }
            | Self::Io { .. } => false,
        }
    }
}

impl Intervention {
    /// Whether the system is started for this run alone.
    pub fn needs_restart(&self) -> bool {
        match self {
            Self::Control { .. } | Self::ControlAgain | Self::Users { .. } => false,
            Self::ControlRestarted => true,
            Self::Changed(changed) => changed.change.needs_restart(),
        }
    }

    /// A control.
    pub const CONTROL: Self = Self::Control { left_out: Vec::new() };

    /// Whether both are controls, or both are the same.
    pub fn is_like(&self, other: &Self) -> bool {
        matches!((self, other), (Self::Control { .. }, Self::Control { .. })) || self == other
    }

    /// Its name for people, unique in its experiment.
    pub fn name(&self) -> &str {
        match self {
            Self::Control { .. } => "control",
            Self::ControlAgain => "control again",
            Self::ControlRestarted => "control restarted",
            Self::Changed(changed) => &changed.name,
            Self::Users { name, .. } => name,
        }
    }

    /// Whether every figure is one that its meaning allows.
    pub(crate) fn is_sound(&self) -> bool {
        match self {
            Self::Control { .. } | Self::ControlAgain | Self::ControlRestarted => true,
            Self::Changed(Changed { factor, limit_from, .. }) => {
                factor.is_finite()
                    && *factor > 0.0
                    && *factor != 1.0
                    && *limit_from > 0.0
                    && limit_from.is_finite()
            }
            Self::Users { from, users, .. } => *from > 0 && *users > 0,
        }
    }
}
