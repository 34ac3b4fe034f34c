//! Outages: times without an ok answer while load was offered.

use serde::{Deserialize, Serialize};

/// Outages of a system within the measured window. `docs/measurement.md` defines each figure.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Outage {
    /// Longest time without an ok answer, in seconds. 0 if there was no outage.
    pub longest_s: f64,
    /// Unavailable share, from 0 to 1: of user time (closed load) or of arrivals (open load) without an answer. If the
    /// share of the window within outages is larger, that share applies.
    pub gone_share: f64,
    /// Outages in order of time: at most the 64 longest.
    pub times: Vec<OutageTime>,
    /// Starved users of a closed load: they waited while the system answered others. `None` if there were none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub starvation: Option<Starvation>,
}

/// Starvation: users who waited long for an answer while the system answered others. It is not an outage.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Starvation {
    /// Mean number of starved users at a time, rounded; at least 1.
    pub users: u64,
    /// Number of users of the load.
    pub of_users: u64,
    /// Longest wait of a user, in seconds.
    pub longest_s: f64,
    /// Share of user time in such waits, from 0 to 1.
    pub time_share: f64,
}

/// One outage, in seconds since the measured window began.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct OutageTime {
    /// Intended send time of the oldest unanswered request.
    pub from_s: f64,
    /// Time of the next ok answer, of the moment the last user stopped sending, or of the end of the window, whichever
    /// is first.
    pub to_s: f64,
    /// Duration of the outage, less stalls of the generator.
    pub lasting_s: f64,
    /// Whether no ok answer came before the end of the window.
    pub is_open: bool,
}

impl Outage {
    /// Unavailable share of the window from which a run is `degraded`.
    pub const DEGRADED_SHARE: f64 = 0.05;

    /// Returns whether the system was unavailable for long enough to make its run `degraded`.
    pub fn is_degraded(&self) -> bool {
        self.gone_share >= Self::DEGRADED_SHARE
    }

    /// Returns the share of a window of `window_ns` that lies within outages, from 0 to 1.
    pub fn out_share(&self, window_ns: u64) -> f64 {
        let out_s: f64 = self.times.iter().map(|time| time.lasting_s).sum();
        if window_ns > 0 { (out_s * 1e9 / window_ns as f64).min(1.0) } else { 0.0 }
    }

    /// Returns the longest outage; `None` if there was none.
    pub fn longest(&self) -> Option<&OutageTime> {
        self.times.iter().max_by(|one, other| one.lasting_s.total_cmp(&other.lasting_s))
    }

    /// Returns whether every figure is finite. NaN and infinity can be neither stored nor printed.
    pub fn is_finite(&self) -> bool {
        let times = self.times.iter().flat_map(|time| [time.from_s, time.to_s, time.lasting_s]);
        let starvation = self.starvation.iter().flat_map(|found| [found.longest_s, found.time_share]);
        times.chain(starvation).chain([self.longest_s, self.gone_share]).all(f64::is_finite)
    }
}
