//! Costs of events: judged when a run has ended, and kept with it.

use record::Loss;
use serde::{Deserialize, Serialize};

use crate::run::Run;

/// Cost of one event, or of one occurrence of an event that repeats. `docs/events.md` has the definitions.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct EventCost {
    /// The event's name in the plan.
    pub name: String,
    /// Number of the occurrence, from 0.
    pub occurrence: u32,
    /// The figures, or why there are none.
    pub judged: Judged,
}

/// Figures, or why there are none.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Judged {
    /// Its cost.
    Cost(Box<Cost>),
    /// In words.
    Unknown(String),
}

impl Default for Judged {
    fn default() -> Self {
        Self::Unknown(String::new())
    }
}

/// Cost of an event. Times are nanoseconds; those of a beginning or an end count since the load began.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Cost {
    /// When it began.
    pub from_ns: u64,
    /// Until when it was looked at.
    pub to_ns: u64,
    /// Requests intended in that time.
    pub planned: u64,
    /// All requests of that time without an ok answer, what is usual included.
    pub errors: u64,
    /// Errors beyond the usual level.
    pub lost: Lost,
    /// The longest time without an ok answer beyond what is usual; 0: there was none.
    pub outage_ns: u64,
    /// Whether that lasted to the end.
    pub outage_is_open: bool,
    /// The longest response time of an ok answer; `None`: there was none.
    pub worst_response_ns: Option<u64>,
    /// Response times beyond the usual ones, summed over requests until the recovery; below 0 where they were shorter.
    pub excess_wait_ns: f64,
    /// When the system was back to what was usual.
    pub recovery: Recovery,
    /// Usual level.
    pub before: LevelBefore,
}

/// Requests without an ok answer, by how.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Lost {
    /// The system answered no.
    pub rejected: u64,
    /// No answer within the deadline.
    pub timed_out: u64,
    /// No connection came about.
    pub connect: u64,
    /// The connection was reset or closed within the exchange.
    pub reset: u64,
    /// Failed in another way.
    pub other: u64,
    /// Planned, and never sent.
    pub not_sent: u64,
    /// The peer closed an idle connection as it was used again. No client can avoid that: it is in no sum.
    pub stale_reuse: u64,
}

impl Lost {
    /// The name of the class of requests that were never sent.
    pub const NOT_SENT: &str = "not_sent";

    /// All but those that no client can avoid.
    pub fn total(&self) -> u64 {
        let all = self.classes().into_iter().fold(0u64, |sum, (_, count)| sum.saturating_add(count));
        all.saturating_sub(self.stale_reuse)
    }

    /// Adds those of another event, class by class.
    pub fn add(&mut self, more: &Self) {
        let Self { rejected, timed_out, connect, reset, other, not_sent, stale_reuse } = self;
        for (sum, more) in [
            (rejected, more.rejected),
            (timed_out, more.timed_out),
            (connect, more.connect),
            (reset, more.reset),
            (other, more.other),
            (not_sent, more.not_sent),
            (stale_reuse, more.stale_reuse),
        ] {
            *sum = sum.saturating_add(more);
        }
    }

    /// Every class with its name in JSON.
    pub fn classes(&self) -> [(&'static str, u64); 7] {
        let Self { rejected, timed_out, connect, reset, other, not_sent, stale_reuse } = *self;
        [
            (Loss::Rejected.name(), rejected),
            (Loss::TimedOut.name(), timed_out),
            (Loss::Connect.name(), connect),
            (Loss::Reset.name(), reset),
            (Loss::Other.name(), other),
            (Self::NOT_SENT, not_sent),
            (Loss::StaleReuse.name(), stale_reuse),
        ]
    }
}

/// When a system was back to what was usual, in nanoseconds after the event began.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Recovery {
    /// After so long; 0: it never left it.
    After(u64),
    /// It was not, so long as it was looked at.
    NotWithin(u64),
    /// It may have been after so long, but was not looked at for long enough after that.
    Unconfirmed(u64),
}

impl Default for Recovery {
    fn default() -> Self {
        Self::After(0)
    }
}

/// Usual level before an event.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LevelBefore {
    /// From when it was taken, until the event began.
    pub from_ns: u64,
    /// Ok answers per second.
    pub ok_per_s: f64,
    /// Their mean response time.
    pub response_mean_ns: f64,
    /// The percentile that is looked at, in parts per million; `None` where answers are too few for any.
    pub percentile_ppm: Option<u32>,
    /// That percentile of the response time.
    pub percentile_ns: Option<f64>,
    /// The stretches of time in which rate and percentile are looked at.
    pub bin_ns: u64,
    /// The longest time without an ok answer.
    pub longest_gap_ns: u64,
}

impl EventCost {
    /// The figures, if there are any.
    pub fn cost(&self) -> Option<&Cost> {
        match &self.judged {
            Judged::Cost(cost) => Some(cost),
            Judged::Unknown(_) => None,
        }
    }

    /// Why there are none.
    pub fn why_unknown(&self) -> Option<&str> {
        match &self.judged {
            Judged::Cost(_) => None,
            Judged::Unknown(why) => Some(why),
        }
    }

    /// Whether every figure is finite, and so can be kept and printed.
    pub fn is_finite(&self) -> bool {
        self.cost().is_none_or(|cost| {
            let before = &cost.before;
            [
                cost.excess_wait_ns,
                before.ok_per_s,
                before.response_mean_ns,
                before.percentile_ns.unwrap_or(0.0),
            ]
            .into_iter()
            .all(f64::is_finite)
        })
    }
}

impl Run {
    /// Costs of its events, by name and occurrence; empty for a run without events, and for one that did not come to its end.
    pub fn event_costs(&self) -> &[EventCost] {
        &self.monitored.event_costs
    }

    /// Replaces the costs of its events, in any order.
    pub fn set_event_costs(&mut self, mut costs: Vec<EventCost>) {
        costs.sort_by(|one, other| (&one.name, one.occurrence).cmp(&(&other.name, other.occurrence)));
        self.monitored.event_costs = costs;
    }
}
