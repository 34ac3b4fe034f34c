//! Gates hold only if they hold in a valid run of every configuration.

use crate::stored::{BLOCK, Queue, Stored, ending, invalid, place};
use evidence::{
    Bounds, Cause, Decision, Distorted, Distortion, GateResult, Level, Procedure, Study, StudyPlace,
    Validity, Verdict,
};
use judge::{Condition, Gates, Setting, judge_gates, judge_gates_of_slices};

/// Stores two systems in one block: `a` is measured, and `b` ends with `of_b`.
fn study(of_b: Option<&evidence::Ending>, is_over: bool) -> Study {
    let stored = Stored::new();
    let places: Vec<StudyPlace> = vec![place(0, 0, BLOCK, "a"), place(1, 0, BLOCK, "b")];
    let id = stored.study(Procedure::Blocks, 1, places.clone());
    let queue = Queue { rate_per_s: 100, measured_s: 2, ..Queue::default() };
    stored.run(Some((&id, &places[0])), Some(&queue), &crate::stored::ending());
    if let Some(ending) = of_b {
        stored.run(Some((&id, &places[1])), Some(&queue), ending);
    }
    if is_over {
        stored.end(&id, Some("blocks"));
    }
    let mut study = stored.load(&id);
    study.new.gates = vec!["errors<1%".to_owned()];
    study
}

#[test]
fn configuration_without_a_valid_run_is_unjudged() {
    let all_valid = Gates::of(&study(Some(&crate::stored::ending()), true));
    assert!(all_valid.held(), "{all_valid:?}");
    let invalid = Gates::of(&study(Some(&crate::stored::invalid()), true));
    let b = Setting { system: "b".to_owned(), variant: String::new() };
    assert!(!invalid.is_breached && !invalid.held());
    assert_eq!(invalid.unjudged, [("steady".to_owned(), b.clone())]);
    // Once the study is over, a configuration without a run did not pass.
    assert_eq!(Gates::of(&study(None, true)).unjudged, [("steady".to_owned(), b)]);
    assert!(Gates::of(&study(None, false)).held());
    assert!(Gates::of(&study(Some(&crate::stored::died()), true)).is_breached);
}

#[test]
fn study_without_gates_holds() {
    let mut study = study(Some(&crate::stored::invalid()), true);
    study.new.gates.clear();
    assert!(Gates::of(&study).held());
}

#[test]
fn one_breach_in_a_valid_run_breaches_the_study() {
    let stored = Stored::new();
    let places = [place(0, 0, BLOCK, "a")];
    let id = stored.study(Procedure::Blocks, 1, places.to_vec());
    let run = stored.run(Some((&id, &places[0])), Some(&Queue::default()), &crate::stored::ending());
    let gate = GateResult {
        text: "errors<1%".to_owned(),
        step: None,
        observed: Some(0.5),
        bounds: Bounds::exactly(0.5),
        limit: 0.01,
        unit: "share".to_owned(),
        decision: Decision::Fails,
        samples_needed: None,
    };
    stored.store.keep_gates(&run.id, &[gate]).unwrap();
    let mut study = stored.load(&id);
    study.new.gates = vec!["errors<1%".to_owned()];
    assert!(Gates::of(&study).is_breached);
}

#[test]
fn gates_are_judged_as_written() {
    let stored = Stored::new();
    // 1,000 requests per second for 12 s, each of 0.5 ms; one in 20 fails.
    let run = stored.run(None, Some(&Queue { fails_every: 20, ..Queue::default() }), &ending());
    let holds = |gate: &str| judge_gates(&[Condition::parse(gate).unwrap()], &run).unwrap().remove(0).holds();
    let held = ["errors<=5%", "errors>=0.05", "/: errors<=5%", "p99<1ms", "p(99)<1ms", "median<1ms"];
    assert_eq!(held.map(holds), [true; 6]);
    assert!(holds("max<1ms from 1s to 3s"));
    let breached = ["errors<5%", "errors>5%", "p99>1ms", "another: max<1s", "max<400us from 1s to 3s"];
    assert_eq!(breached.map(holds), [false; 5]);
}

/// Judges a run with invalid response times and a valid throughput, and the given result of a gate.
fn held_against(gate: &str, holds: bool) -> Gates {
    let distorts = [Distorted::Mean, Distorted::Tail]
        .map(|figure| Distortion::with_unknown_size(figure, Level::Invalid));
    let cause = Cause {
        code: "wake_lag".to_owned(),
        sentence: "timers woke late".to_owned(),
        remedy: "use a quieter machine".to_owned(),
        distorts: distorts.to_vec(),
    };
    let validity = Validity { verdict: Level::Invalid, causes: vec![cause], ..Validity::default() };
    let ending = evidence::Ending { verdict: Verdict::Invalid, validity, ..ending() };
    let stored = Stored::new();
    let places = [place(0, 0, BLOCK, "a")];
    let id = stored.study(Procedure::Blocks, 1, places.to_vec());
    let run = stored.run(Some((&id, &places[0])), Some(&Queue::default()), &ending);
    let result = GateResult {
        text: gate.to_owned(),
        step: None,
        observed: Some(1.0),
        bounds: Bounds::exactly(1.0),
        limit: 2.0,
        unit: String::new(),
        decision: if holds { Decision::Holds } else { Decision::Fails },
        samples_needed: None,
    };
    stored.store.keep_gates(&run.id, &[result]).unwrap();
    stored.end(&id, Some("blocks"));
    let mut study = stored.load(&id);
    study.new.gates = vec![gate.to_owned()];
    Gates::of(&study)
}

#[test]
fn gate_counts_runs_whose_own_figure_is_valid() {
    for gate in ["p50<1us", "p99<1s", "max<1s", "errors<1%"] {
        for holds in [false, true] {
            let gates = held_against(gate, holds);
            assert_eq!((gates.is_breached, gates.judged, gates.unjudged.len()), (false, 0, 1), "{gate}");
        }
    }
    assert!(held_against("throughput>1/s", true).held());
    assert!(held_against("throughput>1/s", false).is_breached);
}

#[test]
fn gates_are_judged_on_the_slices_of_a_start_together() {
    let stored = Stored::new();
    let slice = |fails_every: u64, ending: &evidence::Ending| {
        let queue = Queue { rate_per_s: 200, measured_s: 1, fails_every, ..Queue::default() };
        stored.run(None, Some(&queue), ending)
    };
    let [well, failing, doubtful] = [slice(0, &ending()), slice(20, &ending()), slice(1, &invalid())];
    let judged = |gate: &str, slices: &[&evidence::Run]| {
        let slices: Vec<evidence::Run> = slices.iter().map(|run| (*run).clone()).collect();
        let gate = judge_gates_of_slices(&[Condition::parse(gate).unwrap()], &slices).unwrap().remove(0);
        (gate.decision, gate.observed)
    };
    let few = judged("p99<1ms", &[&well]);
    assert_eq!(few.0, Decision::Undecided, "200 samples cannot decide it");
    assert_eq!(judged("p99<1ms", &[&well, &well]).0, Decision::Holds);
    assert_eq!(judged("errors<5%", &[&failing]), (Decision::Fails, Some(0.05)));
    assert_eq!(judged("errors<5%", &[&well, &failing]), (Decision::Holds, Some(0.025)));
    assert_eq!(judged("errors<5%", &[&doubtful, &failing, &well]), (Decision::Holds, Some(0.025)));
    assert_eq!(judged("errors<5%", &[&doubtful]), (Decision::Fails, Some(1.0)), "nothing else is known");
}
