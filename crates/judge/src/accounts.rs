//! Judges the accounts of a finished load: verdict, validity, generator signals, steadiness, and outage.

use evidence::{Generator, Level, Outage, Steadiness, SteadinessVerdict, Validity, Verdict};
use record::{ConnectionTotals, Counts, Gap, Gaps, Health, Pulses, Tally, Waits, WindowCounts};

use crate::planned::Planned;
use crate::validity::{self, Environment, Evidence};
use crate::window::Window;
use crate::{outage, steadiness};

/// Accounts of a finished load: the plan, the counters, and the events noted while it ran.
#[derive(Clone, Debug)]
pub struct Accounts {
    /// Plan of the load.
    pub planned: Planned,
    /// Request to stop the load early, if any.
    pub stopped: Stopped,
    /// Tally of the measured phase, over all steps.
    pub tally: Tally,
    /// Counts of the warm-up.
    pub warm_up: Counts,
    /// Start and end of the measured window, in nanoseconds since the load began.
    pub window_ns: (u64, u64),
    /// Requests that ended within the measured window.
    pub ended: WindowCounts,
    /// Health of each worker: delays of its sends and reads.
    pub workers: Vec<Health>,
    /// Totals of each connection.
    pub connections: Vec<ConnectionTotals>,
    /// Time series of the load, over all workers.
    pub pulses: Pulses,
    /// Periods without an ok answer.
    pub gaps: Gaps,
    /// Errors of this program or its machine, in words.
    pub broke: Vec<String>,
    /// Reasons why the load was aborted, in words.
    pub hopeless: Vec<String>,
    /// Whether the load overran its end and had to be stopped.
    pub overran: bool,
    /// Number of times the run was extended because it was not steady.
    pub extended: u32,
    /// Planned end at which the load was steady and was ended, in nanoseconds since it began; `None` if it never became
    /// steady.
    pub settled_at_ns: Option<u64>,
    /// Share of a core that the busiest worker used over its busiest ten seconds.
    pub busiest_10s_share: Option<f64>,
    /// Name of the other load generator that made the load; `None` for Tenbin itself. Such a tool reports no single requests.
    pub tool: Option<String>,
}

/// Request to stop a load, by a user or because the system ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Stopped {
    /// The load was not asked to stop.
    #[default]
    No,
    /// Start no further requests, and wait for those in flight.
    Drained,
    /// Abandon the requests in flight.
    Aborted,
}

/// Judgment of the accounts of a load.
#[derive(Clone, Debug, PartialEq)]
pub struct Findings {
    /// Outcome of the run.
    pub verdict: Verdict,
    /// Whether the figures can be trusted, with causes for doubt.
    pub validity: Validity,
    /// Signals of the generator. Fields that do not come from its workers keep their defaults.
    pub generator: Generator,
    /// Whether the load became steady; `None` if this cannot be decided.
    pub steadiness: Option<Steadiness>,
    /// Outages of the system, and its share of unavailable time; `None` if there was no measured window.
    pub outage: Option<Outage>,
    /// Length of the measured window in nanoseconds; `None` if there was none.
    pub window_ns: Option<u64>,
}

impl Accounts {
    /// Returns whether a worker is near its limit, so that measuring the generator's maximum is worthwhile.
    pub fn is_near_limit(&self) -> bool {
        self.workers.iter().any(validity::is_near_limit)
    }

    /// Returns the requests that ended per second of the measured window.
    pub fn ended_per_s(&self) -> f64 {
        Window::of_ns(self.length_ns(), self.ended).map_or(0.0, |window| window.ended_per_s())
    }

    fn length_ns(&self) -> u64 {
        self.window_ns.1.saturating_sub(self.window_ns.0)
    }

    /// Returns the mean number of requests in flight, over the pulses that lie entirely in the measured window; `None`
    /// if there is none.
    fn mean_in_flight(&self) -> Option<f64> {
        let (from_ns, to_ns) = self.window_ns;
        let pulse_ns = self.pulses.window_ns();
        let within = self
            .pulses
            .windows()
            .iter()
            .filter(|pulse| pulse.at_ns >= from_ns && pulse.at_ns + pulse_ns <= to_ns);
        let (count, in_flight_ns) =
            within.fold((0u64, 0.0), |(count, sum), pulse| (count + 1, sum + pulse.in_flight_ns as f64));
        (count > 0).then(|| in_flight_ns / (count * pulse_ns) as f64)
    }

    /// Judges the accounts. `environment` holds the readings of the machine during the load.
    pub fn judge(mut self, environment: &Environment) -> Findings {
        let gaps = std::mem::take(&mut self.gaps).end(self.window_ns.1);
        // Other tools report no time series.
        let outage = self.outage(gaps).filter(|_| self.tool.is_none());
        let window_ns = Some(self.length_ns()).filter(|ns| *ns > 0);
        let evidence = Evidence {
            warm_up: self.warm_up,
            window_ns,
            ended: self.ended.ended(),
            mean_in_flight: self.mean_in_flight(),
            was_unavailable: outage
                .as_ref()
                .is_some_and(|outage| outage.out_share(self.length_ns()) >= Outage::DEGRADED_SHARE),
            was_stopped: self.stopped != Stopped::No,
            is_settled: self.settled_at_ns.is_some(),
            broke: &self.broke,
            hopeless: &self.hopeless,
            busiest_10s_share: self.busiest_10s_share,
            tool: self.tool.as_deref(),
            ..Evidence::of(&self.planned, &self.tally, &self.workers, environment)
        };
        let validity = validity::judge(&evidence);
        let is_degraded = outage.as_ref().is_some_and(Outage::is_degraded) || self.has_only_errors();
        Findings {
            verdict: run_verdict(self.stopped, validity.verdict, self.overran, is_degraded),
            validity,
            generator: evidence.generator(),
            steadiness: self.steadiness(outage.as_ref()).filter(|_| self.tool.is_none()),
            outage,
            window_ns,
        }
    }

    /// Judges the steadiness of a load that was not stopped. The pulses in which a load drains are not part of the
    /// measurement, and their start is not recorded.
    fn steadiness(&self, outage: Option<&Outage>) -> Option<Steadiness> {
        let is_judged = self.stopped == Stopped::No;
        let workers = self.workers.len() as u32;
        is_judged
            .then(|| steadiness::judge(&self.planned, &self.pulses, workers, self.settled_at_ns))
            .flatten()
            .map(|found| Steadiness { extended: self.extended, ..found })
            .map(|found| unsteady_if_unavailable(found, outage))
    }

    /// Returns whether requests ended in the measured window, none of them ok. A load by count may end before an outage
    /// is noticed.
    fn has_only_errors(&self) -> bool {
        let counts = &self.tally.counts;
        self.tool.is_none() && counts.ok == 0 && counts.ended() > counts.unfinished
    }

    /// Returns the outage of the system over the measured window.
    fn outage(&self, gaps: Vec<Gap>) -> Option<Outage> {
        let mut waits = Waits::default();
        self.workers.iter().for_each(|worker| waits.merge(&worker.waits));
        outage::judge(&outage::Evidence {
            model: self.planned.model(),
            window_ns: self.window_ns,
            gaps,
            pulses: &self.pulses,
            waits: &waits,
            connections: self.connections.len() as u64,
            counts: self.tally.counts,
            // Requests that were due when a steady load was ended are not lost by the system.
            was_stopped: self.stopped != Stopped::No || self.settled_at_ns.is_some(),
            is_in_process: self.planned.is_in_process,
        })
    }
}

/// Returns the verdict of a run. A stopped run is always partial, so that its study repeats it when it resumes.
fn run_verdict(stopped: Stopped, level: Level, overran: bool, is_degraded: bool) -> Verdict {
    match (stopped, level) {
        (Stopped::Drained | Stopped::Aborted, _) => Verdict::Partial,
        (Stopped::No, Level::Invalid) => Verdict::Invalid,
        (Stopped::No, _) if overran => Verdict::Aborted,
        (Stopped::No, _) if is_degraded => Verdict::Degraded,
        (Stopped::No, _) => Verdict::Complete,
    }
}

/// Marks a run as not steady if the system was unavailable, even if its pulses look steady.
fn unsteady_if_unavailable(found: Steadiness, outage: Option<&Outage>) -> Steadiness {
    match outage.and_then(outage::words) {
        Some(why) => Steadiness { verdict: SteadinessVerdict::NotSteady, why: Some(why), ..found },
        None => found,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stopped_run_is_partial_even_if_invalid_or_overrun() {
        let told = |stopped| run_verdict(stopped, Level::Invalid, true, true);
        assert_eq!(
            [Stopped::No, Stopped::Drained, Stopped::Aborted].map(told),
            [Verdict::Invalid, Verdict::Partial, Verdict::Partial]
        );
        let told = |overran, is_degraded| run_verdict(Stopped::No, Level::Suspect, overran, is_degraded);
        assert_eq!(told(false, false), Verdict::Complete);
        assert_eq!(told(false, true), Verdict::Degraded);
        assert_eq!(told(true, true), Verdict::Aborted);
    }
}
