//! Extension: a load that continues until it is steady. It is judged at each of its possible ends.

use evidence::SteadinessVerdict;
use judge::{Planned, steadiness};
use plan::Plan;
use record::Pulses;

use crate::judging;

/// Possible ends of a load with extensions. The load ends by itself at the last one.
pub(crate) struct Extension {
    planned: Planned,
    extend_max: u32,
    threads: u32,
    /// Next end, and distance between ends.
    next_ns: u64,
    each_ns: u64,
    /// Number of extensions so far.
    pub(crate) extended: u32,
    is_settled: bool,
}

impl Extension {
    /// `None` if the load has a single possible end. `threads` is the number of threads that send pulses.
    pub(crate) fn of(plan: &Plan, threads: u32) -> Option<Self> {
        let next_ns = plan.first_end_ns()?;
        let each_ns = next_ns.saturating_sub(plan.warm_up_ns).max(1);
        let (planned, extend_max) = (judging::planned(plan), plan.extend);
        Some(Self { planned, extend_max, threads, next_ns, each_ns, extended: 0, is_settled: false })
    }

    /// End at which the load was steady, and which is its last. `None` if there was none so far.
    pub(crate) fn settled_at_ns(&self) -> Option<u64> {
        self.is_settled.then_some(self.next_ns)
    }

    /// Judges the load so far, if an end has passed since the last call.
    pub(crate) fn look(&mut self, elapsed_ns: u64, pulses: &Pulses) {
        // Connections are still being opened if there is no window yet.
        let has_begun = !pulses.windows().is_empty();
        while has_begun && !self.is_settled && self.extended < self.extend_max && elapsed_ns >= self.next_ns {
            let found = steadiness::judge(&self.planned, pulses, self.threads, Some(self.next_ns));
            self.is_settled = found.is_none_or(|found| {
                // A late steady state counts as settled: an extension cannot remove its start-up from the figures.
                matches!(found.verdict, SteadinessVerdict::Steady | SteadinessVerdict::WarmingUp)
            });
            if !self.is_settled {
                self.extended += 1;
                self.next_ns = self.next_ns.saturating_add(self.each_ns);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use plan::{Draft, LoadSpec};
    use record::Pulse;

    use super::*;

    /// Adds windows of one worker with `ended` replies each, and some jitter.
    fn note(pulses: &mut Pulses, windows: std::ops::Range<u64>, ended: u64) {
        for number in windows {
            let jitter = number * 7 % 5;
            pulses.note(&Pulse {
                at_ns: number * Pulse::WINDOW_NS,
                lasting_ns: Pulse::WINDOW_NS,
                ended: ended + jitter,
                response_sum_ns: (ended + jitter) * 1_000_000,
                in_flight_ns: (ended + jitter) * 1_000_000,
                ..Pulse::default()
            });
        }
    }

    #[test]
    fn replies_after_a_steady_end_do_not_change_the_verdict() {
        let draft = Draft {
            url: "http://127.0.0.1:9/".to_owned(),
            load: LoadSpec {
                measured_ns: Some(20_000_000_000.into()),
                extend: Some(2.into()),
                ..LoadSpec::default()
            },
            ..Draft::default()
        };
        let plan = draft.check().unwrap();
        let mut extension = Extension::of(&plan, 1).unwrap();
        let mut pulses = Pulses::default();
        note(&mut pulses, 0..80, 500);
        extension.look(19_900_000_000, &pulses);
        assert_eq!(extension.settled_at_ns(), None, "its first end has not come");
        extension.look(20_050_000_000, &pulses);
        assert_eq!((extension.settled_at_ns(), extension.extended), (Some(20_000_000_000), 0));
        // Sending has stopped, but replies still arrive for four seconds.
        note(&mut pulses, 80..96, 10);
        let verdict =
            |ended_ns| steadiness::judge(&judging::planned(&plan), &pulses, 1, ended_ns).unwrap().verdict;
        assert_eq!(verdict(extension.settled_at_ns()), SteadinessVerdict::Steady);
        assert_eq!(verdict(None), SteadinessVerdict::NotSteady);
    }
}
