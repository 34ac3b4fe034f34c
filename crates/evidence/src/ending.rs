//! Facts about a run when it has ended.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::connections_by_process::ConnectionsByProcess;
use crate::load_tool::LoadTool;
use crate::outage::Outage;
use crate::same_body::SameBody;
use crate::steadiness::Steadiness;
use crate::steady_start::SteadyStart;
use crate::validity::Validity;

/// How the run went.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Verdict {
    /// As planned.
    #[default]
    Complete,
    /// To its end, but with losses.
    Degraded,
    /// Ended early; what was measured is kept.
    Partial,
    /// Stopped by a rule.
    Aborted,
    /// The figures must not be used.
    Invalid,
}

impl Verdict {
    /// Every verdict.
    pub const ALL: [Self; 5] = [Self::Complete, Self::Degraded, Self::Partial, Self::Aborted, Self::Invalid];

    /// The word in the store and in reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Complete => "complete",
            Self::Degraded => "degraded",
            Self::Partial => "partial",
            Self::Aborted => "aborted",
            Self::Invalid => "invalid",
        }
    }

    /// The verdict of this word.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|verdict| verdict.name() == name)
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Resources that the generator used, and their effect on the figures. `None`: not measured.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Generator {
    /// CPU time in user space, in seconds.
    pub cpu_user_s: f64,
    /// CPU time in the kernel, in seconds.
    pub cpu_sys_s: f64,
    /// The largest resident memory.
    pub rss_peak_bytes: u64,
    /// Threads that made load.
    pub threads: u32,
    /// Rule that chose the number of threads; `None` if an earlier version stored the run, or another load generator made the load.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thread_rule: Option<ThreadRule>,
    /// How late a thread woke, 99 % of the times at most, in microseconds.
    pub wake_lag_p99_us: Option<f64>,
    /// The largest share of one core that a thread used, from 0 to 1.
    pub thread_cpu_share_max: Option<f64>,
    /// How late a thread woke at most, in microseconds.
    #[serde(default)]
    pub wake_lag_max_us: Option<f64>,
    /// The largest share of the time that a thread waited for a core, from 0 to 1.
    #[serde(default)]
    pub run_queue_wait_share: Option<f64>,
    /// The longest time between two turns of a thread beyond what it waited for, in microseconds.
    #[serde(default)]
    pub heartbeat_max_us: Option<f64>,
    /// The largest share of one core that a thread used over any 10 s, from 0 to 1.
    #[serde(default)]
    pub busiest_10s_share: Option<f64>,
    /// How often a thread was taken off its core, per second and thread.
    #[serde(default)]
    pub involuntary_per_s: Option<f64>,
    /// The share of the machine's time that its host gave to others, from 0 to 1.
    #[serde(default)]
    pub steal_share: Option<f64>,
    /// How long the generator's control group was held back, in seconds.
    #[serde(default)]
    pub throttled_s: Option<f64>,
    /// Share of the generator's own delay in the slowest 1 % of response times, from 0 to 1.
    #[serde(default)]
    pub client_share_of_tail: Option<f64>,
    /// How long replies lay in the kernel before they were read, in microseconds: the mean, where response times include it.
    #[serde(default)]
    pub read_delay_mean_us: Option<f64>,
    /// The same, for 99 % of the replies at most.
    #[serde(default)]
    pub read_delay_p99_us: Option<f64>,
    /// Requests in flight, averaged over time.
    #[serde(default)]
    pub mean_in_flight: Option<f64>,
    /// Mean in flight over throughput times mean service time: 1 by Little's law.
    #[serde(default)]
    pub little_ratio: Option<f64>,
    /// Rate that the generator reaches against a server that does nothing, in requests per second.
    #[serde(default)]
    pub ceiling_per_s: Option<f64>,
    /// The tool that made the load, if it was not Tenbin's engine.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool: Option<LoadTool>,
}

/// Rule that chose the number of generator threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ThreadRule {
    /// The plan or a flag says how many.
    Requested,
    /// One for each connection: the database is in the process of the generator.
    PerConnection,
    /// One for each core that the generator is pinned to.
    PinnedCores {
        /// How many cores these are.
        cores: u32,
    },
    /// One for each core: the system is on another machine.
    AllCores {
        /// How many cores the generator may use.
        cores: u32,
    },
    /// Half of the cores, at least one: the system is on the machine of the generator.
    HalfOfCores {
        /// How many cores the generator may use.
        cores: u32,
    },
    /// One for each connection: there are fewer connections than the cores would allow threads.
    FewConnections,
}

impl Generator {
    /// Whether every figure is finite, and so can be kept and printed.
    pub fn is_finite(&self) -> bool {
        let figures = [
            Some(self.cpu_user_s),
            Some(self.cpu_sys_s),
            self.wake_lag_p99_us,
            self.thread_cpu_share_max,
            self.wake_lag_max_us,
            self.run_queue_wait_share,
            self.heartbeat_max_us,
            self.busiest_10s_share,
            self.involuntary_per_s,
            self.steal_share,
            self.throttled_s,
            self.client_share_of_tail,
            self.read_delay_mean_us,
            self.read_delay_p99_us,
            self.mean_in_flight,
            self.little_ratio,
            self.ceiling_per_s,
        ];
        figures.into_iter().flatten().all(f64::is_finite)
    }
}

/// The end of a run. Texts are untrusted: escape them before printing. The default is the end of a valid run that went as
/// planned, of which nothing else is known.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Ending {
    /// When the last thread stopped, in milliseconds since 1970 (UTC).
    pub ended_at_unix_ms: i64,
    /// How the run went.
    pub verdict: Verdict,
    /// Whether its numbers may be believed.
    pub validity: Validity,
    /// Resources that the generator used.
    pub generator: Generator,
    /// How evenly the connections were served.
    pub spread: Option<record::Spread>,
    /// Planned requests found unsent at the end. They are among the not sent of the seconds already.
    pub planned_left: u64,
    /// Warnings for people.
    pub notes: Vec<String>,
    /// How long the name took to resolve.
    pub resolved_ns: Option<u64>,
    /// Version, cipher and group, such as `TLSv1.3 TLS13_AES_256_GCM_SHA384 X25519`.
    pub tls: Option<String>,
    /// Facts about the system at the end: a JSON object.
    pub system: Option<serde_json::Value>,
    /// Why the system failed, if it did.
    pub failure: Option<Failure>,
    /// Probes that could not look, and why.
    pub not_available: Vec<(String, String)>,
    /// Whether the run came to a steady state; `None` if not measured.
    pub steadiness: Option<Steadiness>,
    /// How long the measured window was; `None` if the load never began, or an earlier version kept the run.
    pub window_ns: Option<u64>,
    /// How long the system was gone; `None` if not measured.
    pub outage: Option<Outage>,
    /// Whether the system was not started by Tenbin, and one of its processes was seen listening on the generator's machine.
    pub is_system_local: bool,
    /// Connections by process of the system; `None` if not measured.
    pub connections_by_process: Option<ConnectionsByProcess>,
    /// How long the start of the system waited for it to be steady; `None` if it did not.
    pub steady_start: Option<SteadyStart>,
    /// Body that replies to different requests had in common. `None` if they differed, were not compared, or an earlier version kept the
    /// run.
    pub same_body: Option<SameBody>,
}

impl Ending {
    /// Whether nothing would be gained by making the run again: it came to its end, or its system failed.
    pub fn is_done(&self) -> bool {
        let came_to_its_end =
            matches!(self.verdict, Verdict::Complete | Verdict::Degraded | Verdict::Invalid);
        came_to_its_end || self.failure.is_some()
    }
}

/// Why a system failed. Texts are untrusted: escape them before printing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// When, in one word, such as `ready`.
    pub stage: String,
    /// Process that failed, if it was one.
    pub process: Option<String>,
    /// Description of the failure.
    pub what: String,
    /// Advice for the reader.
    pub way_out: String,
}
