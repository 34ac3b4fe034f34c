//! Interventions: runs in which one thing is changed, to see whether it limits a system.

use serde::{Deserialize, Serialize};

/// Purpose of a run in an experiment. It is stored with its prediction before the run begins.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum Intervention {
    /// Control: nothing is changed. The other runs of its block are compared with it.
    Control {
        /// Untried changes, each with the reason in a sentence. Set only in the first block.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        left_out: Vec<String>,
    },
    /// Second control: its distance from the first shows the noise between equal runs.
    ControlAgain,
    /// Control after a restart of the system. Changes that need a restart are compared with it.
    ControlRestarted,
    /// Runtimes of the system write traces or logs about themselves; nothing else is changed. Compared with the
    /// restarted control of its block to find the overhead.
    Instrumented,
    /// One thing is changed.
    Changed(Changed),
    /// Different number of users, to see how throughput scales. It tests no resource, and not every block has it.
    Users {
        /// Name in reports, unique in the experiment: `users 8 → 4`.
        name: String,
        /// Number of users of the load in the plan; at least 1.
        from: u32,
        /// Number of users of this run; at least 1.
        users: u32,
    },
}

/// One change, with its prediction.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Changed {
    /// Name in reports, unique in the experiment: `users 8 → 16`.
    pub name: String,
    /// The change.
    pub change: Change,
    /// Rank among the changes of the experiment, from 0. The highest ranks are dropped first if time runs out.
    pub rank: u32,
    /// Codes of the tested resources: if the change has an effect, one of them is the limit.
    pub tests: Vec<String>,
    /// Whether a lack of effect shows that none of these resources is the limit.
    pub can_refute: bool,
    /// Factor by which the resource changes: above 0, and not 1.
    pub factor: f64,
    /// Min elasticity of the throughput at which the resource counts as the limit; above 0.
    pub limit_from: f64,
    /// Prediction, in a sentence.
    pub prediction: String,
    /// Property that the system loses through the change, in a sentence. If set, the run only shows the cost of that
    /// property.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub loses: Option<String>,
}

/// Changed parameter, with the new value.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "of", rename_all = "snake_case", deny_unknown_fields)]
pub enum Change {
    /// Number of users of a closed load.
    Users {
        /// New number; at least 1.
        users: u32,
    },
    /// CPU limit of the system.
    Cpu {
        /// New limit in thousandths of a core; at least 10.
        millicores: u64,
    },
    /// A parameter of the system.
    Parameter {
        /// Name of the parameter.
        name: String,
        /// New value, as text.
        value: String,
    },
    /// Delay in each direction of a proxy between parts of the system.
    Delay {
        /// Name of the proxy in the plan.
        proxy: String,
        /// New delay, in microseconds.
        delay_us: u64,
    },
    /// Number of threads of the generator.
    Threads {
        /// New number; at least 1.
        threads: u32,
    },
    /// Cores that the generator is pinned to.
    GeneratorCores {
        /// New cores; at least one.
        cores: Vec<usize>,
    },
    /// I/O limits of the system, for each disk.
    Io {
        /// New limits; at least one is set.
        limits: IoLimits,
    },
}

/// I/O limits for each disk; `None` is no limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct IoLimits {
    /// Bytes read per second.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read_bytes_per_s: Option<u64>,
    /// Bytes written per second.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub write_bytes_per_s: Option<u64>,
    /// Reads per second.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reads_per_s: Option<u64>,
    /// Writes per second.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub writes_per_s: Option<u64>,
}

impl IoLimits {
    /// Returns whether nothing is limited.
    pub fn is_none(&self) -> bool {
        *self == Self::default()
    }

    /// Multiplies every limit by `factor`. The result is at least 1.
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
    /// Returns whether the change needs a restart of the system. All others are made while it runs.
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
    /// Returns whether the system is started only for this run.
    pub fn needs_restart(&self) -> bool {
        match self {
            Self::Control { .. } | Self::ControlAgain | Self::Users { .. } => false,
            Self::ControlRestarted | Self::Instrumented => true,
            Self::Changed(changed) => changed.change.needs_restart(),
        }
    }

    /// A control without untried changes.
    pub const CONTROL: Self = Self::Control { left_out: Vec::new() };

    /// Returns whether the two are equal, or both controls.
    pub fn is_like(&self, other: &Self) -> bool {
        matches!((self, other), (Self::Control { .. }, Self::Control { .. })) || self == other
    }

    /// Returns the name in reports, unique in the experiment.
    pub fn name(&self) -> &str {
        match self {
            Self::Control { .. } => "control",
            Self::ControlAgain => "control again",
            Self::ControlRestarted => "control restarted",
            Self::Instrumented => "instrumented",
            Self::Changed(changed) => &changed.name,
            Self::Users { name, .. } => name,
        }
    }

    /// Returns whether every figure is in its range.
    pub(crate) fn is_sound(&self) -> bool {
        match self {
            Self::Control { .. } | Self::ControlAgain | Self::ControlRestarted | Self::Instrumented => true,
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
