//! Gates of a study that are conditions of a baseline: a variant in the same blocks, or a stored baseline.

use crate::stored::{BLOCK, Queue, Stored, ending, invalid, place};
use evidence::{AskedBaseline, Baseline, Ending, FoundBaseline, Procedure, Study};
use judge::baseline::{Answer, Decision, gates, is_breached, load_of, rows_of_study};
use judge::{ComparedBy, Condition, Metric};

const GATES: [&str; 3] = ["throughput>=95% of baseline", "errors<=+0.1% of baseline", "p99<1s"];

/// Stores eight blocks of two systems that answer `per_s` requests per second.
fn study(per_s: [u64; 2], fails_every: u64, ending_of_b: &Ending) -> Study {
    let stored = Stored::new();
    let places: Vec<_> = (0..8)
        .flat_map(|block| [place(2 * block, block, BLOCK, "a"), place(2 * block + 1, block, BLOCK, "b")])
        .collect();
    let id = stored.study(Procedure::Blocks, 8, places.clone());
    for place in &places {
        let is_b = place.system == "b";
        let queue = Queue {
            rate_per_s: per_s[usize::from(is_b)],
            fails_every: if is_b { fails_every } else { 0 },
            ..Queue::default()
        };
        let ending = if is_b { ending_of_b.clone() } else { ending() };
        stored.run(Some((&id, place)), Some(&queue), &ending);
    }
    stored.end(&id, Some("blocks"));
    let mut study = stored.load(&id);
    study.new.gates = GATES.map(str::to_owned).to_vec();
    study
}

fn of_variant(mut study: Study) -> Study {
    study.new.compare.baseline = Some("a".to_owned());
    study
}

fn decisions(study: &Study) -> Vec<(String, Decision)> {
    let gates = gates(study, &|run| Ok(run.clone())).unwrap();
    let told = gates.into_iter().map(|gate| match gate.answer {
        Answer::Judged(found) => (gate.setting.name(), found.decision),
        Answer::NotJudged(why) => (gate.setting.name(), Decision::Undecided(why)),
    });
    told.collect()
}

fn breached(study: &Study) -> bool {
    is_breached(study, &|run| Ok(run.clone())).unwrap()
}

#[test]
fn variant_is_compared_with_a_baseline_in_the_same_blocks() {
    let same = of_variant(study([200, 200], 0, &ending()));
    assert_eq!(decisions(&same), [("b".to_owned(), Decision::True), ("b".to_owned(), Decision::True)]);
    let slower = of_variant(study([200, 180], 0, &ending()));
    assert_eq!(decisions(&slower)[0], ("b".to_owned(), Decision::False));
    assert!(breached(&slower) && !breached(&same));
    let failing = of_variant(study([200, 200], 50, &ending()));
    assert_eq!(decisions(&failing)[1], ("b".to_owned(), Decision::False));
}

#[test]
fn undecided_gate_breaches_a_study_but_not_a_quick_one() {
    let mut lost = of_variant(study([200, 200], 0, &invalid()));
    let Decision::Undecided(why) = &decisions(&lost)[0].1 else { panic!("there is nothing to tell") };
    assert!(why.contains("the candidate has no run with this figure (8 invalid"), "{why}");
    assert!(breached(&lost));
    lost.new.is_quick = true;
    assert!(!breached(&lost));
}

/// Copies figures of another study into a study as its stored baseline, for the given systems.
fn against(mut study: Study, stored: &Study, systems: &[&str]) -> Study {
    let conditions: Vec<Condition> =
        GATES[..2].iter().map(|gate| Condition::parse_gate(gate).unwrap()).collect();
    let load = &stored.new.planned[0].load;
    let mut rows =
        rows_of_study(stored, load, &conditions, &[ComparedBy::of(Metric::usual())], &|run| Ok(run.clone()))
            .unwrap();
    rows.retain(|row| systems.contains(&&*row.system));
    let loads = vec![load_of(load, &stored.runs[0].new)];
    study.baseline = Some(Baseline {
        asked: AskedBaseline::Label("main".to_owned()),
        conditions: GATES[..2].iter().map(|gate| (*gate).to_owned()).collect(),
        found: Ok(Box::new(FoundBaseline { loads, rows, ..FoundBaseline::default() })),
    });
    study
}

#[test]
fn every_configuration_is_compared_with_the_stored_baseline() {
    let main = study([200, 200], 0, &ending());
    let now = against(study([200, 180], 0, &ending()), &main, &["a", "b"]);
    let told = decisions(&now);
    let of = |name: &str, decision: Decision| (name.to_owned(), decision);
    assert_eq!(told[..2], [of("a", Decision::True), of("b", Decision::False)]);
    assert_eq!(told[2..], [of("a", Decision::True), of("b", Decision::True)]);
    assert!(breached(&now));
    // A stored baseline makes the name of a variant irrelevant.
    assert_eq!(decisions(&of_variant(now)).len(), 4);
}

#[test]
fn configuration_missing_from_the_baseline_breaches_nothing() {
    let main = study([200, 200], 0, &ending());
    let now = against(study([200, 20], 0, &ending()), &main, &["a"]);
    let gates = gates(&now, &|run| Ok(run.clone())).unwrap();
    let unjudged: Vec<_> = gates
        .iter()
        .filter(|gate| matches!(gate.answer, Answer::NotJudged(_)))
        .map(|gate| gate.setting.name())
        .collect();
    assert_eq!(unjudged, ["b", "b"]);
    assert!(!breached(&now));
    let mut first = study([200, 20], 0, &ending());
    first.baseline = Some(Baseline {
        asked: AskedBaseline::Label("main".to_owned()),
        conditions: Vec::new(),
        found: Err("no stored study has the label main yet".to_owned()),
    });
    assert!(!breached(&first));
}
