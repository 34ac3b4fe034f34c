//! Thread check: judges a confirmation run with twice the threads, for a run whose generator is suspect.

use evidence::{Cause, Distorted, Ending, EvidenceError, Level, Run, RunId, Verdict};
use record::Percentile;

use crate::causes::{Doubt, MEASURED_ITSELF};
use crate::measured::Measured;

/// Causes of doubt that more threads can confirm or clear.
const CAUSES: [Doubt; 2] = [Doubt::GENERATOR_CPU, Doubt::CEILING];
/// Min relative change of the rate that counts as a change.
const RATE_CHANGE_MIN: f64 = 0.1;
/// Ratio of p99 below which it counts as shorter. p99 varies between equal runs.
const P99_MAX_RATIO: f64 = 0.5;

impl Doubt {
    /// Twice the threads raised throughput, or shortened response times.
    pub const GENERATOR_BOUND: Self = Self {
        code: "generator_bound",
        words: MEASURED_ITSELF,
        suspect: "",
        invalid: "rate +10 %, or p99 halved",
        looks_at: "the load was run again with twice the threads, and did more, or was answered sooner: see below",
        distorts: &Distorted::ALL,
        is_limit: true,
        is_lateness: false,
    };
}

/// Figures of a run that change with more threads if the generator is the limit.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ThreadCheckFigures {
    ok_per_s: Option<f64>,
    p99_ns: Option<f64>,
}

impl ThreadCheckFigures {
    /// Returns the figures of a stored run with its per-second data.
    pub fn of(run: &Run) -> Result<Self, EvidenceError> {
        let measured = Measured::of(run)?;
        Ok(Self { ok_per_s: measured.ok_per_s(), p99_ns: measured.response.at(Percentile::P99) })
    }
}

/// Returns whether a run is suspect for a cause that more threads can confirm or clear.
pub fn is_doubtful(ending: &Ending) -> bool {
    ending.validity.verdict == Level::Suspect
        && ending.verdict == Verdict::Complete
        && ending.validity.causes.iter().any(is_about_threads)
}

/// Resolves the doubt. If the confirmation run had higher throughput or shorter response times, the first run measured
/// its generator. `run` is the run with `doubled` threads; `ending` belongs to the run before it.
pub fn settle(
    ending: &mut Ending,
    [first, confirmation]: [ThreadCheckFigures; 2],
    [threads, doubled]: [u32; 2],
    run: &RunId,
) {
    let ratio = |first: Option<f64>, confirmation: Option<f64>| {
        Some(confirmation? / first?).filter(|ratio| ratio.is_finite() && *ratio > 0.0)
    };
    let [rate, p99] =
        [ratio(first.ok_per_s, confirmation.ok_per_s), ratio(first.p99_ns, confirmation.p99_ns)];
    let Some(rate) = rate else { return };
    let is_better = rate > 1.0 + RATE_CHANGE_MIN || p99.is_some_and(|p99| p99 < P99_MAX_RATIO);
    let words = format!(
        "with {doubled} threads instead of {threads} it answered {rate:.2} times as much{}",
        p99.map_or_else(String::new, |p99| format!(", and its p99 was {p99:.2} times as long"))
    );
    ending.validity.causes.retain(|cause| !is_about_threads(cause));
    if is_better {
        ending.verdict = Verdict::Invalid;
        ending.validity.verdict = Level::Invalid;
        let cause = Doubt::GENERATOR_BOUND.cause(
            Level::Invalid,
            format!("{words}: the generator was the limit"),
            format!("use --threads {doubled}, as run {run} did"),
        );
        ending.validity.causes.insert(0, cause);
    } else {
        if ending.validity.causes.is_empty() {
            ending.validity.verdict = Level::Valid;
        }
        if let Some(effect) = &mut ending.validity.effect {
            effect.is_at_limit = false;
        }
        ending.notes.push(format!(
            "The generator was near its limit, but {words} (run {run}): it was not what limited."
        ));
    }
}

fn is_about_threads(cause: &Cause) -> bool {
    Doubt::named(&cause.code).is_some_and(|doubt| CAUSES.contains(&doubt))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn suspect() -> Ending {
        let mut ending = fixtures::ending();
        let cause = |code: &str| Cause {
            code: code.to_owned(),
            sentence: String::new(),
            remedy: String::new(),
            distorts: Vec::new(),
        };
        ending.validity.verdict = Level::Suspect;
        ending.validity.causes = vec![cause("generator_cpu"), cause("ceiling")];
        ending
    }

    fn settled(first: [f64; 2], confirmation: [f64; 2]) -> Ending {
        let figures = |[ok_per_s, p99_ns]: [f64; 2]| ThreadCheckFigures {
            ok_per_s: Some(ok_per_s),
            p99_ns: Some(p99_ns),
        };
        let mut ending = suspect();
        let run: RunId = "20261121-142500-ab12".parse().unwrap();
        settle(&mut ending, [figures(first), figures(confirmation)], [1, 2], &run);
        ending
    }

    #[test]
    fn better_figures_with_more_threads_invalidate_the_run() {
        for confirmation in [[15_000.0, 9e6], [10_200.0, 4e6]] {
            let ending = settled([10_000.0, 9e6], confirmation);
            assert_eq!((ending.verdict, ending.validity.verdict), (Verdict::Invalid, Level::Invalid));
            assert_eq!(ending.validity.causes[0].code, "generator_bound");
            assert_eq!(ending.validity.causes.len(), 1);
        }
    }

    #[test]
    fn equal_figures_with_more_threads_clear_the_run() {
        let ending = settled([10_000.0, 9e6], [9_500.0, 9.4e6]);
        assert_eq!((ending.verdict, ending.validity.verdict), (Verdict::Complete, Level::Valid));
        assert!(ending.validity.causes.is_empty() && ending.notes[0].contains("0.95 times as much"));
        let mut other = suspect();
        other.validity.causes.push(Cause { code: "steal".to_owned(), ..other.validity.causes[0].clone() });
        let run: RunId = "20261121-142500-ab12".parse().unwrap();
        let before = other.clone();
        settle(&mut other, [ThreadCheckFigures::default(); 2], [1, 2], &run);
        assert_eq!(other, before, "nothing can be told");
    }
}
