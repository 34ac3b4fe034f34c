//! Costs of events: judged when a run has ended, and stored with it.

use record::Loss;
use serde::{Deserialize, Serialize};

use crate::run::Run;

/// Cost of one event, or of one occurrence of a repeated event. `docs/events.md` defines the figures.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct EventCost {
    /// Name of the event in the plan.
    pub name: String,
    /// Number of the occurrence of the event, from 0.
    pub occurrence: u32,
    /// The cost, or the reason why it is unknown.
    pub judged: Judged,
}

/// A cost, or the reason why it is unknown.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Judged {
    /// The cost.
    Cost(Box<Cost>),
    /// Reason why the cost is unknown, in words.
    Unknown(String),
}

impl Default for Judged {
    fn default() -> Self {
        Self::Unknown(String::new())
    }
}

/// Cost of an event. Times are nanoseconds; start and end times count from the start of the load.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Cost {
    /// Start of the event.
    pub from_ns: u64,
    /// End of the time that was examined.
    pub to_ns: u64,
    /// Requests intended within that time.
    pub planned: u64,
    /// Requests within that time without an ok answer, including the usual level of errors.
    pub errors: u64,
    /// Errors above the usual level.
    pub lost: Lost,
    /// Longest time without an ok answer beyond the usual one. 0 if there was no outage.
    pub outage_ns: u64,
    /// Whether the outage lasted to the end of the examined time.
    pub outage_is_open: bool,
    /// Longest response time of an ok answer. `None` if there was no ok answer.
    pub worst_response_ns: Option<u64>,
    /// Response times above the usual level, summed over requests until the recovery. Negative if they were shorter.
    pub excess_wait_ns: f64,
    /// Time until the system returned to its usual level.
    pub recovery: Recovery,
    /// Usual level before the event.
    pub before: LevelBefore,
}

/// Requests without an ok answer, by class of error.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Lost {
    /// Rejected: the system answered with an error.
    pub rejected: u64,
    /// Timed out: no answer arrived before the deadline.
    pub timed_out: u64,
    /// The connection could not be established.
    pub connect: u64,
    /// The connection was reset or closed during the exchange.
    pub reset: u64,
    /// Other failures.
    pub other: u64,
    /// Planned, but never sent.
    pub not_sent: u64,
    /// The peer closed an idle connection just as it was reused. No client can avoid that, so sums leave these out.
    pub stale_reuse: u64,
}

impl Lost {
    /// Name of the class of requests that were never sent.
    pub const NOT_SENT: &str = "not_sent";

    /// Returns the sum of all classes but `stale_reuse`, which no client can avoid.
    pub fn total(&self) -> u64 {
        let all = self.classes().into_iter().fold(0u64, |sum, (_, count)| sum.saturating_add(count));
        all.saturating_sub(self.stale_reuse)
    }

    /// Adds the counts of another event, class by class.
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

    /// Returns every class, with its name in JSON.
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

/// Time until a system returned to its usual level, in nanoseconds since the event began.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Recovery {
    /// Recovered after this time. 0 if it never left its usual level.
    After(u64),
    /// Not recovered within the examined time.
    NotWithin(u64),
    /// Possibly recovered after this time, but the examined time is too short to confirm it.
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
    /// Start of the time from which the level is taken. It ends when the event begins.
    pub from_ns: u64,
    /// Ok answers per second.
    pub ok_per_s: f64,
    /// Mean response time of ok answers.
    pub response_mean_ns: f64,
    /// Percentile that is compared, in parts per million; `None` if there are too few answers for any.
    pub percentile_ppm: Option<u32>,
    /// Value of that percentile of the response time.
    pub percentile_ns: Option<f64>,
    /// Length of the intervals in which rate and percentile are compared.
    pub bin_ns: u64,
    /// Longest time without an ok answer.
    pub longest_gap_ns: u64,
}

impl EventCost {
    /// Returns the cost; `None` if it is unknown.
    pub fn cost(&self) -> Option<&Cost> {
        match &self.judged {
            Judged::Cost(cost) => Some(cost),
            Judged::Unknown(_) => None,
        }
    }

    /// Returns the reason why the cost is unknown; `None` if it is known.
    pub fn why_unknown(&self) -> Option<&str> {
        match &self.judged {
            Judged::Cost(_) => None,
            Judged::Unknown(why) => Some(why),
        }
    }

    /// Returns whether every figure is finite. NaN and infinity can be neither stored nor printed.
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
    /// Returns the costs of the events, by name and occurrence. Empty for a run without events or with an early end.
    pub fn event_costs(&self) -> &[EventCost] {
        &self.monitored.event_costs
    }

    /// Replaces the costs of the events. They may be in any order.
    pub fn set_event_costs(&mut self, mut costs: Vec<EventCost>) {
        costs.sort_by(|one, other| (&one.name, one.occurrence).cmp(&(&other.name, other.occurrence)));
        self.monitored.event_costs = costs;
    }
}
