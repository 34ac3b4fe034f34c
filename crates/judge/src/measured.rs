//! Figures of a run on which verdicts are based.

use evidence::{EvidenceError, LoadTool, Outage, Run};
use record::{Counts, Phase, Tally};

use crate::durations::Durations;
use crate::event_cost::EventSums;
use crate::figure_bounds::ResponseBounds;
use crate::pace::Pace;
use crate::physical_cost::{CostOfLoad, LoadVolume};
use crate::rates;
use crate::resources::Resources;
use crate::window::Window;

/// Figures of a run over its measured time, all steps together.
#[derive(Clone, Debug, Default)]
pub struct Measured {
    /// Number of requests, by outcome.
    pub counts: Counts,
    /// Requests that ended in the measured window, for rates; `None` if its length is unknown.
    pub window: Option<Window>,
    /// Outages of the system; `None` if not recorded.
    pub outage: Option<Outage>,
    /// Response times of all requests that ended.
    pub response: Durations,
    /// Bounds of the response times by the generator's effect; `None` if it is unknown.
    pub response_bounds: Option<ResponseBounds>,
    /// Speed and evenness of the answers.
    pub pace: Pace,
    /// Resources used during the run; `None` if not sampled.
    pub resources: Option<Resources>,
    /// Combined cost of the run's events; `None` if there were none, or if the cost of one is unknown.
    pub events: Option<EventSums>,
    /// Time from the first send to the last end of a request, in seconds; `None` if it is zero.
    pub span_s: Option<f64>,
    /// Value of the plan's own figure to which a condition refers. `None` without such a condition, or if it was not
    /// read.
    pub own_figure: Option<f64>,
    /// Bytes received; `None` if another tool made the load and did not report them.
    pub received_bytes: Option<u64>,
    /// Bytes sent; `None` if another tool made the load.
    pub sent_bytes: Option<u64>,
    /// Mean number of retries per transaction; `None` if tries were not counted.
    pub retries_per_transaction: Option<f64>,
    /// Physical costs of the load, warm-up included.
    pub costs: Vec<CostOfLoad>,
    /// Requests sent, warm-up included.
    pub sent_with_warm_up: u64,
    /// End of the last request, in nanoseconds since the load began; `None` if none ended.
    pub last_finished_ns: Option<u64>,
}

impl Measured {
    /// Returns the figures of a stored run.
    pub fn of(run: &Run) -> Result<Self, EvidenceError> {
        Ok(Self::of_tallies(run, &run.whole(Phase::WarmUp)?, &run.whole(Phase::Measured)?))
    }

    /// Returns the figures of a stored run from the tallies of its warm-up and of the measured time, all steps
    /// together.
    pub fn of_tallies(run: &Run, warm_up: &Tally, measured: &Tally) -> Self {
        let ending = run.ending.as_ref();
        let tool = ending.and_then(|ending| ending.generator.tool.as_ref());
        let effect = ending.and_then(|ending| ending.validity.effect.as_ref());
        let response = measured.response.all();
        let bytes =
            |of_engine: u64, of_tool: fn(&LoadTool) -> Option<u64>| tool.map_or(Some(of_engine), of_tool);
        let volume = LoadVolume::of_engine([warm_up, measured]);
        let volume = match tool {
            None => volume,
            Some(tool) => LoadVolume {
                received_bytes: tool.received_bytes,
                sent_bytes: None,
                connections: None,
                ..volume
            },
        };
        Self {
            counts: measured.counts,
            window: Window::of(run),
            outage: ending.and_then(|ending| ending.outage.clone()),
            response: Durations::of_run(run, &response, &measured.counts),
            response_bounds: effect.map(|effect| ResponseBounds::of(&response, effect)),
            pace: Pace::of(run, warm_up, measured),
            resources: Resources::of(run),
            events: EventSums::of(run),
            own_figure: None,
            retries_per_transaction: retries(run, measured),
            costs: CostOfLoad::of(run, &volume),
            span_s: measured.span_ns().map(|ns| ns as f64 / 1e9),
            received_bytes: bytes(measured.received_bytes, |tool| tool.received_bytes),
            sent_bytes: bytes(measured.sent_bytes, |_| None),
            sent_with_warm_up: measured.counts.sent.saturating_add(warm_up.counts.sent),
            last_finished_ns: measured.last_finished_ns,
        }
    }

    /// Returns the number of requests that ended, except those ended by the end of the run.
    pub fn samples(&self) -> u64 {
        self.response.count
    }

    /// Returns the share of the planned requests that the system did not serve.
    pub fn error_share(&self) -> Option<f64> {
        rates::error_share(&self.counts)
    }

    /// Returns the number of planned requests that the system did not serve, for comparisons. An unavailable system
    /// receives few requests, so in a degraded run the number is at least the unavailable share of planned requests.
    pub fn unserved(&self) -> u64 {
        let gone = self.gone_share() * self.counts.planned as f64;
        rates::errors(&self.counts).max(gone.ceil() as u64)
    }

    /// Returns the unavailable share of time if the run is degraded; otherwise 0.
    pub fn gone_share(&self) -> f64 {
        self.outage.as_ref().filter(|outage| outage.is_degraded()).map_or(0.0, |outage| outage.gone_share)
    }

    /// Returns the ok answers per second; `None` if there was none.
    pub fn ok_per_s(&self) -> Option<f64> {
        self.window.filter(|window| window.counts.ok > 0).map(|window| window.ok_per_s())
    }

    /// Returns the CPU time of the system in the window, in seconds, scaled from the time covered by readings.
    pub fn system_cpu_s(&self) -> Option<f64> {
        let resources = self.resources.as_ref()?;
        let cores_used = resources.cores_used(resources.system.as_ref()?)?;
        Some(cores_used * self.window?.length_s).filter(|cpu_s| cpu_s.is_finite())
    }

    /// Returns the CPU time of the system per request that ended in the window, in microseconds.
    pub fn system_us_per_request(&self) -> Option<f64> {
        rates::us_per_request(self.system_cpu_s()?, self.window?.counts.ended())
    }
}

/// Returns the mean number of tries after the first one. Transactions with very many tries count with the highest number
/// that is stored.
fn retries(run: &Run, measured: &Tally) -> Option<f64> {
    let are_tries = !run.new.units.is_empty() && run.new.units.iter().all(|unit| unit.counts_tries());
    let [mut transactions, mut retries] = [0.0, 0.0];
    for (tries, count) in measured.statuses.iter().filter(|_| are_tries) {
        transactions += count as f64;
        retries += f64::from(tries.saturating_sub(1)) * count as f64;
    }
    (transactions > 0.0).then(|| retries / transactions)
}
