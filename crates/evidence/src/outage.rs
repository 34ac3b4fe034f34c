//! Times without an ok answer while load was offered.

use serde::{Deserialize, Serialize};

/// How long a system was gone within the measured window. `docs/measurement.md` defines each figure.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Outage {
    /// The longest time without an ok answer, in seconds; 0: there was no outage.
    pub longest_s: f64,
    /// The share of user time (closed load) or of arrivals (open load) without an answer, or that of the window within outages
    /// if that is larger; from 0 to 1.
    pub gone_share: f64,
    /// The outages in order of time, the 64 longest at most.
    pub times: Vec<OutageTime>,
    /// Users of a closed load who waited while the system answered others; `None` if there were none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub starvation: Option<Starvation>,
}

/// Users who got no answer for long times while the system answered others. That is no outage.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Starvation {
    /// Users who waited at a time, rounded: at least 1.
    pub users: u64,
    /// All users of the load.
    pub of_users: u64,
    /// The longest wait of a user, in seconds.
    pub longest_s: f64,
    /// The share of user time in such waits, from 0 to 1.
    pub time_share: f64,
}

/// One outage, in seconds since the measured window began.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct OutageTime {
    /// When the oldest unanswered request was intended.
    pub from_s: f64,
    /// When the next ok answer came, or the last user stopped asking; the end of the window if that is earlier.
    pub to_s: f64,
    /// From one to the other, less stalls of the generator.
    pub lasting_s: f64,
    /// Whether no ok answer came before the end of the window.
    pub is_open: bool,
}

impl Outage {
    /// A system that was gone for this share of the window makes its run `degraded`.
    pub const DEGRADED_SHARE: f64 = 0.05;

    /// Whether the system was gone for so long that its run is degraded.
    pub fn is_degraded(&self) -> bool {
        self.gone_share >= Self::DEGRADED_SHARE
    }

    /// The share of a window of this length that lies within outages, from 0 to 1.
    pub fn out_share(&self, window_ns: u64) -> f64 {
        let out_s: f64 = self.times.iter().map(|time| time.lasting_s).sum();
        if window_ns > 0 { (out_s * 1e9 / window_ns as f64).min(1.0) } else { 0.0 }
    }

    /// The longest one.
    pub fn longest(&self) -> Option<&OutageTime> {
        self.times.iter().max_by(|one, other| one.lasting_s.total_cmp(&other.lasting_s))
    }

    /// Whether every figure is finite, and so can be kept and printed.
    pub fn is_finite(&self) -> bool {
        let times = self.times.iter().flat_map(|time| [time.from_s, time.to_s, time.lasting_s]);
        let starvation = self.starvation.iter().flat_map(|found| [found.longest_s, found.time_share]);
        times.chain(starvation).chain([self.longest_s, self.gone_share]).all(f64::is_finite)
    }
}
