//! Facts about a run, known when it has ended.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::connections_by_process::ConnectionsByProcess;
use crate::contents::StepContents;
use crate::load_tool::LoadTool;
use crate::outage::Outage;
use crate::same_body::SameBody;
use crate::steadiness::Steadiness;
use crate::steady_start::SteadyStart;
use crate::validity::Validity;

/// Outcome of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Verdict {
    /// The run went as planned.
    #[default]
    Complete,
    /// The run reached its end, but with losses.
    Degraded,
    /// The run ended early. Its measurements are stored.
    Partial,
    /// A rule stopped the run.
    Aborted,
    /// The figures must not be used.
    Invalid,
}

impl Verdict {
    /// Every verdict.
    pub const ALL: [Self; 5] = [Self::Complete, Self::Degraded, Self::Partial, Self::Aborted, Self::Invalid];

    /// Returns the word for the verdict in the store and in reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Complete => "complete",
            Self::Degraded => "degraded",
            Self::Partial => "partial",
            Self::Aborted => "aborted",
            Self::Invalid => "invalid",
        }
    }

    /// Finds the verdict with this name; `None` if there is none.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|verdict| verdict.name() == name)
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Resources used by the generator, and their effect on the figures. `None` means not measured.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Generator {
    /// CPU time in user space, in seconds.
    pub cpu_user_s: f64,
    /// CPU time in the kernel, in seconds.
    pub cpu_sys_s: f64,
    /// Peak resident set size.
    pub rss_peak_bytes: u64,
    /// Number of threads that generated load.
    pub threads: u32,
    /// Rule that chose the number of threads; `None` if an earlier version stored the run, or another load generator made the load.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thread_rule: Option<ThreadRule>,
    /// Wake-up lag of the threads, 99th percentile, in microseconds.
    pub wake_lag_p99_us: Option<f64>,
    /// Max share of one core used by a thread, from 0 to 1.
    pub thread_cpu_share_max: Option<f64>,
    /// Max wake-up lag of a thread, in microseconds.
    #[serde(default)]
    pub wake_lag_max_us: Option<f64>,
    /// Max share of the time that a thread waited for a core, from 0 to 1.
    #[serde(default)]
    pub run_queue_wait_share: Option<f64>,
    /// Longest gap between two iterations of a thread's loop, less the time it intended to wait, in microseconds.
    #[serde(default)]
    pub heartbeat_max_us: Option<f64>,
    /// Max share of one core used by a thread over any 10 s, from 0 to 1.
    #[serde(default)]
    pub busiest_10s_share: Option<f64>,
    /// Involuntary context switches, per second and thread.
    #[serde(default)]
    pub involuntary_per_s: Option<f64>,
    /// Steal time: share of the machine's CPU time that its host gave to other guests, from 0 to 1.
    #[serde(default)]
    pub steal_share: Option<f64>,
    /// Time for which the CPU limit of the generator's control group throttled it, in seconds.
    #[serde(default)]
    pub throttled_s: Option<f64>,
    /// Share of the generator's own delay in the slowest 1 % of response times, from 0 to 1.
    #[serde(default)]
    pub client_share_of_tail: Option<f64>,
    /// Mean time that replies waited in the kernel before they were read, in microseconds, if response times include it.
    #[serde(default)]
    pub read_delay_mean_us: Option<f64>,
    /// 99th percentile of the time that replies waited in the kernel before they were read, in microseconds.
    #[serde(default)]
    pub read_delay_p99_us: Option<f64>,
    /// Requests in flight, mean over time.
    #[serde(default)]
    pub mean_in_flight: Option<f64>,
    /// Mean requests in flight, divided by throughput times mean service time. It is 1 by Little's law.
    #[serde(default)]
    pub little_ratio: Option<f64>,
    /// Rate that the generator reaches against a server that answers at once, in requests per second.
    #[serde(default)]
    pub ceiling_per_s: Option<f64>,
    /// Tool that generated the load; `None` if it was Tenbin's engine.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool: Option<LoadTool>,
}

/// Rule that chose the number of generator threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ThreadRule {
    /// The plan or a flag sets the number.
    Requested,
    /// One thread per connection: the database runs in the process of the generator.
    PerConnection,
    /// One thread per core that the generator is pinned to.
    PinnedCores {
        /// Number of pinned cores.
        cores: u32,
    },
    /// One thread per core: the system is on another machine.
    AllCores {
        /// Number of cores that the generator may use.
        cores: u32,
    },
    /// One thread per two cores, at least one: the system is on the machine of the generator.
    HalfOfCores {
        /// Number of cores that the generator may use.
        cores: u32,
    },
    /// One thread per connection: there are fewer connections than threads that the cores would allow.
    FewConnections,
}

impl Generator {
    /// Returns whether every figure is finite. NaN and infinity can be neither stored nor printed.
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

/// End of a run. Texts are untrusted: escape them before printing. The default is a valid run that went as planned, without further
/// facts.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Ending {
    /// Time at which the last thread stopped, in milliseconds since 1970 (UTC).
    pub ended_at_unix_ms: i64,
    /// Outcome of the run.
    pub verdict: Verdict,
    /// Whether the figures can be trusted.
    pub validity: Validity,
    /// Resources that the generator used.
    pub generator: Generator,
    /// Distribution of answers over connections; `None` if not measured.
    pub spread: Option<record::Spread>,
    /// Planned requests still unsent at the end. The seconds already count them as not sent.
    pub planned_left: u64,
    /// Warnings for people.
    pub notes: Vec<String>,
    /// Duration of the name resolution; `None` if no name was resolved.
    pub resolved_ns: Option<u64>,
    /// TLS version, cipher suite, and group, such as `TLSv1.3 TLS13_AES_256_GCM_SHA384 X25519`. `None` without TLS.
    pub tls: Option<String>,
    /// Number of TLS handshakes that resumed a session, warm-up included.
    pub resumed_handshakes: u64,
    /// Facts about the system at the end: a JSON object. `None` if there are none.
    pub system: Option<serde_json::Value>,
    /// Failure of the system; `None` if it did not fail.
    pub failure: Option<Failure>,
    /// Names of probes that were not available, each with the reason.
    pub not_available: Vec<(String, String)>,
    /// Steadiness of the run; `None` if not measured.
    pub steadiness: Option<Steadiness>,
    /// Length of the measured window; `None` if the load never began, or an earlier version stored the run.
    pub window_ns: Option<u64>,
    /// Outages of the system; `None` if not measured.
    pub outage: Option<Outage>,
    /// Whether Tenbin did not start the system, but saw one of its processes listen on the generator's machine.
    pub is_system_local: bool,
    /// Connections by process of the system; `None` if not measured.
    pub connections_by_process: Option<ConnectionsByProcess>,
    /// Time that the start of the system waited for it to become steady; `None` if it did not wait.
    pub steady_start: Option<SteadyStart>,
    /// Body that replies to different requests had in common. `None` if they differed, were not compared, or an earlier version
    /// stored the run.
    pub same_body: Option<SameBody>,
    /// Content of the replies to each step. Empty if another tool made the load, or an earlier version stored the run.
    pub contents: Vec<StepContents>,
}

impl Ending {
    /// Returns whether the run need not be repeated: it reached its end, or its system failed.
    pub fn is_done(&self) -> bool {
        let has_reached_end =
            matches!(self.verdict, Verdict::Complete | Verdict::Degraded | Verdict::Invalid);
        has_reached_end || self.failure.is_some()
    }

    /// Returns whether the load left tables that violate the consistency conditions of their workload.
    pub fn is_inconsistent(&self) -> bool {
        self.failure.as_ref().is_some_and(|failure| failure.stage == Failure::CONSISTENCY)
    }
}

impl Failure {
    /// Stage of a load that reached its end and left inconsistent tables.
    pub const CONSISTENCY: &str = "consistency";
}

/// Failure of a system. Texts are untrusted: escape them before printing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// Stage at which it failed, in one word, such as `ready`.
    pub stage: String,
    /// Process that failed; `None` if it was none of them.
    pub process: Option<String>,
    /// Description of the failure.
    pub what: String,
    /// Advice for the reader.
    pub way_out: String,
}
