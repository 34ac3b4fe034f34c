//! A load is over and its accounts are closed: what they are worth.

use evidence::{Generator, Level, Outage, Steadiness, SteadinessVerdict, Validity, Verdict};
use record::{ConnectionTotals, Counts, Gap, Gaps, Health, InWindow, Pulses, Tally, Waits};

use crate::planned::Planned;
use crate::validity::{self, Environment, Evidence};
use crate::window::Window;
use crate::{outage, steadiness};

/// The accounts of a load that is over, with what was noted with them.
#[derive(Clone, Debug)]
pub struct Accounts {
    /// What was asked of it.
    pub planned: Planned,
    /// How much it was asked to stop.
    pub stopped: Stopped,
    /// Of the measured phase, over all steps.
    pub tally: Tally,
    /// Of the warm-up.
    pub warm_up: Counts,
    /// The measured window, from when to when, in nanoseconds since the load began.
    pub window_ns: (u64, u64),
    /// What ended in it.
    pub ended: InWindow,
    /// By worker, how well it kept time.
    pub workers: Vec<Health>,
    /// Of each connection.
    pub connections: Vec<ConnectionTotals>,
    /// The course of the load, over all workers.
    pub pulses: Pulses,
    /// Times without an ok answer.
    pub gaps: Gaps,
    /// Faults of this program or its machine.
    pub broke: Vec<String>,
    /// Why the load itself could not go on.
    pub hopeless: Vec<String>,
    /// Whether it did not end in time by itself, and was asked to.
    pub overran: bool,
    /// How often it went on because it was not steady.
    pub extended: u32,
    /// The one of its ends at which it was steady, and was ended.
    pub settled_at_ns: Option<u64>,
    /// The share of a core that the busiest worker used over its hardest ten seconds.
    pub busiest_10s_share: Option<f64>,
    /// The other load generator that made the load, if one did: single requests are not known then.
    pub tool: Option<String>,
}

/// How much a person, or the end of the system, asked a load to stop.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Stopped {
    /// Not at all.
    #[default]
    No,
    /// To start nothing more, and to wait for what was in flight.
    Drained,
    /// To leave what was in flight.
    Aborted,
}

/// What the accounts of a load are worth.
#[derive(Clone, Debug, PartialEq)]
pub struct Findings {
    /// How it went.
    pub verdict: Verdict,
    /// Whether the numbers can be believed.
    pub validity: Validity,
    /// The generator's signals; what is not its workers' is left at its default.
    pub generator: Generator,
    /// Whether it had settled; `None` if it cannot be decided.
    pub steadiness: Option<Steadiness>,
    /// How long the system was gone; `None` if there was no window.
    pub outage: Option<Outage>,
    /// How long the measured window was; `None` if there was none.
    pub window_ns: Option<u64>,
}

impl Accounts {
    /// Whether it is worth knowing what the generator can do at most.
    pub fn is_near_a_limit(&self) -> bool {
        self.workers.iter().any(validity::is_near_a_limit)
    }

    /// Requests that ended in a second of the window.
    pub fn ended_per_s(&self) -> f64 {
        Window::of_ns(self.length_ns(), self.ended).map_or(0.0, |window| window.ended_per_s())
    }

    fn length_ns(&self) -> u64 {
        self.window_ns.1.saturating_sub(self.window_ns.0)
    }

    /// Requests in flight, the mean over the pulses that lie in the window.
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

    /// The judgement. `environment`: what went on around the load.
    pub fn judge(mut self, environment: &Environment) -> Findings {
        let gaps = std::mem::take(&mut self.gaps).end(self.window_ns.1);
        // A tool tells nothing of the course of its load.
        let outage = self.outage(gaps).filter(|_| self.tool.is_none());
        let window_ns = Some(self.length_ns()).filter(|ns| *ns > 0);
        let evidence = Evidence {
            warm_up: self.warm_up,
            window_ns,
            ended: self.ended.ended(),
            mean_in_flight: self.mean_in_flight(),
            was_gone: outage
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
            verdict: how_it_went(self.stopped, validity.verdict, self.overran, is_degraded),
            validity,
            generator: evidence.generator(),
            steadiness: self.steadiness(outage.as_ref()).filter(|_| self.tool.is_none()),
            outage,
            window_ns,
        }
    }

    /// The windows in which a load drains are not part of the measurement, and their start is not recorded.
    fn steadiness(&self, outage: Option<&Outage>) -> Option<Steadiness> {
        let is_judged = self.stopped == Stopped::No;
        let workers = self.workers.len() as u32;
        is_judged
            .then(|| steadiness::judge(&self.planned, &self.pulses, workers, self.settled_at_ns))
            .flatten()
            .map(|found| Steadiness { extended: self.extended, ..found })
            .map(|found| unsteady_if_gone(found, outage))
    }

    /// Whether requests ended in the measured window, and none of them ok. A load by count may be over before an outage is seen.
    fn has_only_errors(&self) -> bool {
        let counts = &self.tally.counts;
        self.tool.is_none() && counts.ok == 0 && counts.ended() > counts.unfinished
    }

    /// How long the system was gone.
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
            // What was due when a load was ended as steady is nobody's loss either.
            was_stopped: self.stopped != Stopped::No || self.settled_at_ns.is_some(),
        })
    }
}

/// That somebody stopped it comes first: when its study goes on, it is made again.
fn how_it_went(stopped: Stopped, level: Level, overran: bool, is_degraded: bool) -> Verdict {
    match (stopped, level) {
        (Stopped::Drained | Stopped::Aborted, _) => Verdict::Partial,
        (Stopped::No, Level::Invalid) => Verdict::Invalid,
        (Stopped::No, _) if overran => Verdict::Aborted,
        (Stopped::No, _) if is_degraded => Verdict::Degraded,
        (Stopped::No, _) => Verdict::Complete,
    }
}

/// A time without answers breaks steadiness, whatever the windows before and after it say.
fn unsteady_if_gone(found: Steadiness, outage: Option<&Outage>) -> Steadiness {
    match outage.and_then(outage::words) {
        Some(why) => Steadiness { verdict: SteadinessVerdict::NotSteady, why: Some(why), ..found },
        None => found,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_that_was_stopped_is_made_again_whatever_else_was_wrong() {
        let told = |stopped| how_it_went(stopped, Level::Invalid, true, true);
        assert_eq!(
            [Stopped::No, Stopped::Drained, Stopped::Aborted].map(told),
            [Verdict::Invalid, Verdict::Partial, Verdict::Partial]
        );
        let told = |overran, is_degraded| how_it_went(Stopped::No, Level::Suspect, overran, is_degraded);
        assert_eq!(told(false, false), Verdict::Complete);
        assert_eq!(told(false, true), Verdict::Degraded);
        assert_eq!(told(true, true), Verdict::Aborted);
    }
}
