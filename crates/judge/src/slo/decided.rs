//! Decides a condition by the worst case within the bounds of its figure.

use evidence::{Bounds, Decision, GeneratorEffect};
use record::{Histogram, Percentile};
use stats::samples_to_decide;

use super::figure::Figure;
use crate::condition::Condition;
use crate::figure_bounds::{self, QUANTILE_ERROR};
use crate::scope::Scope;

/// A condition on the figure of a run, or of a part of it, with its decision.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Decided {
    /// Measured figure; `None` if there is none.
    pub observed: Option<f64>,
    /// Interval that contains the true figure; `None` if there is no figure.
    pub bounds: Option<Bounds>,
    /// Decision by the worst case within the bounds.
    pub decision: Decision,
    /// Decision by the generator's effect alone, without sampling error, for runs that are one vote of several.
    pub(crate) rough: Decision,
    /// Number of samples that would likely decide the condition. `None` if it is decided, or if more samples would not
    /// help.
    pub samples_needed: Option<u64>,
}

impl Decided {
    /// Decides a condition on a part of a run whose generator had the given effect.
    pub(crate) fn of(condition: &Condition, scope: &Scope, effect: Option<&GeneratorEffect>) -> Self {
        let observed = condition.figure.observe(scope);
        let decide =
            |bounds: Option<Bounds>| bounds.map_or(Decision::Undecided, |bounds| condition.decide(bounds));
        // The cost of an event is read from pulses, which have no bounds.
        let effect = effect.filter(|_| condition.event.is_none());
        let rough = observed.and_then(|observed| condition.figure.bounds(observed, scope, effect));
        let bounds = match condition.figure {
            Figure::Percentile(of) => {
                let (response, not_sent) = (scope.tally().response.all(), scope.tally().counts.not_sent);
                figure_bounds::percentile_in_sample(of, &response, not_sent, effect)
            }
            Figure::Metric(_) => rough,
        };
        let (decision, rough) = (decide(bounds), decide(rough));
        let samples_needed = match (decision, condition.figure) {
            // More samples cannot decide a condition that the generator's effect leaves open.
            (Decision::Undecided, Figure::Percentile(percentile)) if rough != Decision::Undecided => {
                needed(condition, percentile, &scope.tally().response.all())
            }
            _ => None,
        };
        Self { observed, bounds, decision, rough, samples_needed }
    }
}

/// Returns the number of samples that would decide a condition on a percentile, if the share of samples beyond its
/// limit stays constant.
fn needed(condition: &Condition, percentile: Percentile, response: &Histogram) -> Option<u64> {
    let is_within = |(ns, _): &(u64, u64)| (*ns as f64) < condition.limit;
    let within: u64 = response.counters().filter(is_within).map(|(_, count)| count).sum();
    let count = response.count();
    samples_to_decide(count, count - within, percentile.ppm(), QUANTILE_ERROR)
}

#[cfg(test)]
mod tests {
    use super::*;
    use record::Tally;

    /// Decides a condition on `fast` response times of 1 ms and `slow` ones of 900 ms.
    fn decided(condition: &str, fast: u64, slow: u64) -> Decided {
        let mut tally = Tally::default();
        let times_ns = [(1_000_000, fast), (900_000_000, slow)];
        for (response_ns, number) in
            times_ns.into_iter().flat_map(|(ns, count)| (0..count).map(move |n| (ns, n)))
        {
            tally.note_sent(number);
            tally.note_finished(&record::Finish {
                intended_ns: number,
                sent_ns: number,
                first_byte_ns: None,
                finished_ns: number + response_ns,
                outcome: record::Outcome::Ok,
                status: 200,
            });
        }
        Decided::of(&Condition::parse(condition).unwrap(), &Scope::of_parts(tally, None, None), None)
    }

    #[test]
    fn few_requests_below_a_limit_hold_or_say_how_many_would_decide() {
        let decision = |condition, fast, slow| decided(condition, fast, slow).decision;
        assert_eq!(decision("p99<500ms", 500, 0), Decision::Holds);
        assert_eq!(decision("p99<500ms", 500, 1), Decision::Undecided);
        assert_eq!(decision("p99<500ms", 480, 20), Decision::Fails);
        assert_eq!(decision("p50<500ms", 6, 0), Decision::Holds);
        let few = decided("p99<500ms", 50, 0);
        assert_eq!((few.decision, few.samples_needed), (Decision::Undecided, Some(368)));
        assert_eq!(few.bounds.and_then(Bounds::finite_high), None);
        let none = decided("p99<500ms", 0, 0);
        assert_eq!((none.decision, none.bounds, none.observed), (Decision::Undecided, None, None));
    }

    #[test]
    fn mean_and_maximum_are_those_of_the_run() {
        assert_eq!(decided("max<500ms", 10, 0).decision, Decision::Holds);
        assert_eq!(decided("mean<500ms", 1, 9).decision, Decision::Fails);
    }
}
