//! Eligibility of runs, and their observations in blocks.

use std::collections::BTreeMap;

use crate::stored::{Queue, Stored};
use evidence::{Cause, Distorted, Distortion, Ending, GeneratorEffect, Level, Validity, Verdict};
use judge::{
    ComparedBy, Doubt, Eligibility, Measured, Metric, Pairing, Window, eligibility, eligibility_by,
    is_invalid, run_result,
};
use record::{Percentile, Phase, WindowCounts};
use stats::{Bounded, RunResult};

#[test]
fn complete_and_trusted_run_is_eligible() {
    let validity = |verdict| Validity { verdict, ..Validity::default() };
    let ending = |verdict, level| Ending { verdict, validity: validity(level), ..crate::stored::ending() };
    let failed = |ending: Ending| Ending { failure: crate::stored::died().failure, ..ending };
    let stored = Stored::new();
    for (ending, expected) in [
        (ending(Verdict::Complete, Level::Valid), Eligibility::Valid),
        (ending(Verdict::Degraded, Level::Suspect), Eligibility::Valid),
        (ending(Verdict::Complete, Level::Invalid), Eligibility::Invalid),
        (ending(Verdict::Invalid, Level::Valid), Eligibility::Invalid),
        (ending(Verdict::Partial, Level::Valid), Eligibility::CutShort),
        (ending(Verdict::Partial, Level::Invalid), Eligibility::CutShort),
        (ending(Verdict::Aborted, Level::Suspect), Eligibility::CutShort),
        (failed(ending(Verdict::Aborted, Level::Suspect)), Eligibility::Failed),
        (failed(ending(Verdict::Complete, Level::Invalid)), Eligibility::Failed),
    ] {
        let run = stored.run(None, None, &ending);
        assert_eq!(eligibility(&run), expected, "{ending:?}");
        assert_eq!(
            expected != Eligibility::CutShort,
            ending.is_done(),
            "only a run that was cut short is made again"
        );
        let is_believed = ending.verdict != Verdict::Invalid && ending.validity.verdict != Level::Invalid;
        assert_eq!(is_invalid(&run), !is_believed);
    }
}

#[test]
fn run_with_only_a_doubtful_tail_counts_by_throughput() {
    let stored = Stored::new();
    let counts = |verdict, level, figures: &[Distorted]| {
        let distorts = figures.iter().map(|figure| Distortion::with_unknown_size(*figure, level)).collect();
        let cause = Cause { code: String::new(), sentence: String::new(), remedy: String::new(), distorts };
        let validity = Validity { verdict: level, causes: vec![cause], ..Validity::default() };
        let run = stored.run(None, None, &Ending { verdict, validity, ..crate::stored::ending() });
        let by = |figure| eligibility_by(&run, Some(figure)) == Eligibility::Valid;
        (Distorted::ALL.map(by), eligibility(&run) == Eligibility::Valid)
    };
    let tail = [Distorted::Tail];
    assert_eq!(counts(Verdict::Complete, Level::Suspect, &tail), ([true, true, false], true));
    assert_eq!(counts(Verdict::Invalid, Level::Invalid, &tail), ([true, true, false], false));
    assert_eq!(counts(Verdict::Partial, Level::Suspect, &tail), ([false; 3], false), "cut short");
    let all = Distorted::ALL;
    assert_eq!(counts(Verdict::Complete, Level::Suspect, &all), ([true, false, false], true));
    assert_eq!(counts(Verdict::Invalid, Level::Invalid, &all), ([false; 3], false));
    assert_eq!(counts(Verdict::Complete, Level::Suspect, &[]), ([true; 3], true), "of an earlier version");
    assert_eq!(counts(Verdict::Invalid, Level::Valid, &[]), ([false; 3], false), "without a cause");
}

#[test]
fn disturbed_run_with_bounds_counts_unless_something_else_is_in_doubt() {
    let stored = Stored::new();
    let counts = |codes: &[(Doubt, Level)], effect: GeneratorEffect| {
        let cause = |(doubt, level): &(Doubt, Level)| Cause {
            code: doubt.code.to_owned(),
            sentence: String::new(),
            remedy: String::new(),
            distorts: Distorted::ALL.map(|figure| Distortion::with_unknown_size(figure, *level)).to_vec(),
        };
        let verdict = codes.iter().map(|(_, level)| *level).max().unwrap_or_default();
        let of_run = if verdict == Level::Invalid { Verdict::Invalid } else { Verdict::Complete };
        let causes = codes.iter().map(cause).collect();
        let validity = Validity { verdict, causes, effect: Some(effect), ..Validity::default() };
        let run = stored.run(None, None, &Ending { verdict: of_run, validity, ..crate::stored::ending() });
        Distorted::ALL.map(|figure| eligibility_by(&run, Some(figure)) == Eligibility::Valid)
    };
    let none = GeneratorEffect::default();
    let at_limit = GeneratorEffect { is_at_limit: true, ..none };
    let stopped = GeneratorEffect { stopped_share: 0.4, ..none };
    let suspect = |doubt| (doubt, Level::Suspect);
    assert_eq!(counts(&[suspect(Doubt::GENERATOR_WAITED), suspect(Doubt::STEAL)], none), [true; 3]);
    assert_eq!(counts(&[suspect(Doubt::GENERATOR_STALLED)], stopped), [true; 3]);
    assert_eq!(counts(&[(Doubt::GENERATOR_STALLED, Level::Invalid)], stopped), [false; 3]);
    assert_eq!(counts(&[suspect(Doubt::LITTLE)], none), [true, false, false], "it is in no bounds");
    assert_eq!(counts(&[suspect(Doubt::STEAL), (Doubt::NOT_SENT, Level::Invalid)], none), [false; 3]);
    let bound = (Doubt::GENERATOR_BOUND, Level::Invalid);
    assert_eq!(counts(&[bound], at_limit), [true, false, false], "the system answers at least that much");
    assert_eq!(counts(&[bound], none), [false; 3], "an open load");
}

#[test]
fn figure_of_a_disturbed_run_has_its_bounds() {
    let stored = Stored::new();
    let effect =
        GeneratorEffect { missing_share: 0.2, delay_ns: 12_000.0 * 100_000.0, ..GeneratorEffect::default() };
    let validity = Validity { effect: Some(effect), ..Validity::default() };
    let run = stored.run(None, Some(&Queue::default()), &Ending { validity, ..crate::stored::ending() });
    let measured = Measured::of(&run).unwrap();
    let bounds = |metric: &str| {
        let found = run_result(&run, &measured, &ComparedBy::named(metric).unwrap()).bounded().unwrap();
        [found.low / found.value, found.high / found.value].map(|share| (share * 1_000.0).round() / 1_000.0)
    };
    // Every request takes 0.5 ms, of which 0.1 ms may be the generator's delay.
    assert_eq!([bounds("throughput"), bounds("mean")], [[1.0, 1.25], [0.8, 1.0]]);
    let [low, high] = bounds("p99");
    assert!((0.79..0.82).contains(&low) && high <= 1.002, "{low} {high}");
    assert_eq!(bounds("p50")[0], 0.6, "all of the delay may be that of the faster half");
}

#[test]
fn rate_counts_answers_within_the_window() {
    // No request is answered in the first 600 ms of the window. Waiting requests are answered later in the window,
    // whose length is fixed.
    let queue = Queue { stall: Some((0, 600_000_000)), service_ns: 100_000, ..Queue::default() };
    let run = Stored::new().run(None, Some(&queue), &crate::stored::ending());
    let window = Window::of(&run).expect("a window");
    assert_eq!((window.length_s, window.counts.ended()), (11.0, 11_000), "the last second may not be whole");
    assert_eq!((window.ok_per_s(), window.answers_per_s()), (1_000.0, 1_000.0));

    // Half of the offered requests are answered in the window, and the rest after it.
    let queue = Queue { service_ns: 2_000_000, ..Queue::default() };
    let run = Stored::new().run(None, Some(&queue), &crate::stored::ending());
    let per_s = Window::of(&run).expect("a window").ok_per_s();
    assert_eq!(per_s, 500.0);

    // Requests that were open at the start of the window are answered in it, which must not count as speed.
    let counts = WindowCounts { ok: 300, ..WindowCounts::default() };
    let window = Window { length_s: 1.0, counts, offered: Some(240), backlog: None };
    assert_eq!((window.answers_per_s(), window.ok_per_s()), (300.0, 240.0));
}

#[test]
fn figures_cover_the_measured_time() {
    let stored = Stored::new();
    let run =
        stored.run(None, Some(&Queue { fails_every: 10, ..Queue::default() }), &crate::stored::ending());
    let measured = Measured::of(&run).unwrap();
    let tally = run.whole(Phase::Measured).unwrap();
    assert_eq!((measured.counts, measured.samples()), (tally.counts, 12_000));
    assert_eq!(measured.error_share(), Some(0.1));
    let per_s = measured.ok_per_s().unwrap();
    assert!((per_s / 900.0 - 1.0).abs() < 0.001, "{per_s}");
    let read = |name: &str| Metric::named(name).unwrap().judgeable(&measured);
    let p99 = tally.response.all().value_at(Percentile::P99).map(|ns| ns as f64);
    assert_eq!((read("throughput"), read("p99")), (Some(per_s), p99));
    assert_eq!(read("p99.9"), None, "twelve samples above it carry no verdict");
    assert_eq!((read("errors"), read("rss"), read("cpu-per-request")), (Some(0.1), None, None));
    assert!(Metric::named("speed").is_none());
}

#[test]
fn run_has_a_figure_or_a_reason() {
    let stored = Stored::new();
    let said = |queue: Option<&Queue>, ending: &Ending, metric: &str| {
        let run = stored.run(None, queue, ending);
        run_result(&run, &Measured::of(&run).unwrap(), &ComparedBy::named(metric).unwrap())
    };
    let queue = Queue { fails_every: 10, ..Queue::default() };
    let RunResult::Figure { value, errors, planned } = said(Some(&queue), &crate::stored::ending(), "errors")
    else {
        panic!()
    };
    assert_eq!((value, errors, planned), (Bounded::exactly(0.1), 1_200, 12_000));
    assert_eq!(said(Some(&queue), &crate::stored::ending(), "p99.9"), RunResult::TooFew);
    assert_eq!(said(None, &crate::stored::ending(), "mean"), RunResult::TooFew);
    assert_eq!(said(Some(&queue), &crate::stored::invalid(), "mean"), RunResult::Invalid);
    assert_eq!(said(Some(&queue), &crate::stored::died(), "mean"), RunResult::Failed);
    assert_eq!(said(Some(&queue), &crate::stored::cut_short(), "mean"), RunResult::Missing);
}

#[test]
fn blocks_with_both_figures_are_paired() {
    let figure = |value| RunResult::exactly(value, 0, 9);
    let a = [figure(1.0), figure(2.0), RunResult::Invalid, figure(4.0), RunResult::TooFew, figure(6.0)];
    let b = [figure(10.0), RunResult::Failed, figure(30.0), RunResult::Missing, figure(50.0), figure(60.0)];
    let by_block = |seen: [RunResult; 6]| (0..).zip(seen).collect::<BTreeMap<u32, RunResult>>();
    let pairing = Pairing::of(8, &by_block(a), &by_block(b));
    let exact = |(a, b): (f64, f64)| (Bounded::exactly(a), Bounded::exactly(b));
    assert_eq!(pairing.pairs, [(1.0, 10.0), (6.0, 60.0)].map(exact));
    // Two blocks with both figures, one that may still get them, and two that have not begun.
    assert_eq!((pairing.too_few_samples, pairing.attainable), (1, 5));
    assert_eq!(Pairing::of(u32::MAX, &BTreeMap::new(), &BTreeMap::new()).attainable, u32::MAX as usize);
}
