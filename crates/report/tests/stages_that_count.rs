//! Tables and pairs use only runs of the stage that counts. Pilots, halvings, and confirmations are excluded.

use crate::runs::{self, Kept, SECOND};
use evidence::{NewRun, Procedure, SliceRules, StudyEnding, StudyId, StudyPlace, Verdict, stage};
use fixtures::OwnStore;
use judge::{ComparedBy, Setting};
use record::{Finish, Interval, Outcome, Phase, Tally};
use report::Options;
use serde_json::Value;
use stats::{DuelStep, TournamentStage, TournamentStep};

struct Stored {
    store: OwnStore,
    study: StudyId,
}

impl Stored {
    fn new(procedure: Procedure) -> Self {
        Self::of_blocks(procedure, 24)
    }

    fn of_blocks(procedure: Procedure, blocks: u32) -> Self {
        let store = OwnStore::new();
        let mut new = runs::new_study(Vec::new());
        (new.compare.procedure, new.compare.blocks) = (procedure, blocks);
        let study = store.begin_study(&new).unwrap();
        Self { store, study }
    }

    /// Plans a block and makes its runs, with a number of requests per second for each system.
    fn block(&self, block: u32, stage: &str, systems: &[(&str, u64)]) {
        let next = self.store.load_study(&self.study).unwrap().new.planned.len() as u32;
        let place = |(position, (system, _)): (u32, &(&str, u64))| StudyPlace {
            block,
            position,
            stage: stage.to_owned(),
            ..fixtures::place(system, "")
        };
        let places: Vec<StudyPlace> = (next..).zip(systems).map(place).collect();
        self.store.plan_more(&self.study, &places).unwrap();
        for (place, (_, requests)) in places.into_iter().zip(systems) {
            let new = NewRun { place: Some((self.study.clone(), place)), warm_up_ns: 0, ..runs::new_run() };
            Kept::load(&new, &[(0, second(*requests))], Some(&runs::ending())).keep(&self.store);
        }
    }

    fn end(&self, why: &str) {
        let ending =
            StudyEnding { ended_at_unix_ms: 0, verdict: Verdict::Complete, why: Some(why.to_owned()) };
        self.store.finish_study(&self.study, &ending).unwrap();
    }

    fn written(&self, format: &str) -> String {
        let study = self.store.load_study(&self.study).unwrap();
        let mut out = Vec::new();
        let options = Options { color: false, width: 120, is_wide: true };
        let format = report::format(format).unwrap();
        report::write_study(format, &study, &|run| Ok(self.store.load(run)?), &options, &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    fn json(&self) -> Value {
        serde_json::from_str(&self.written("json")).unwrap()
    }
}

fn second(requests: u64) -> Interval {
    let mut tally = Tally::default();
    for number in 0..requests {
        let sent_ns = number * SECOND / requests;
        tally.note_sent(sent_ns);
        tally.note_finished(&Finish {
            intended_ns: sent_ns,
            sent_ns,
            first_byte_ns: None,
            finished_ns: (number + 1) * SECOND / requests,
            outcome: Outcome::Ok,
            status: 200,
        });
    }
    Interval { second: 0, phase: Phase::Measured, tally, sampled: Vec::new() }
}

fn settings<const N: usize>(systems: [&str; N]) -> [Setting; N] {
    systems.map(|system| Setting { system: system.to_owned(), variant: String::new() })
}

/// Rows of the ranking: system and number of runs.
fn ranked(json: &Value) -> Vec<(String, u64)> {
    let rows = json.pointer("/comparison/ranking").unwrap().as_array().unwrap();
    rows.iter()
        .map(|row| (row["system"].as_str().unwrap().to_owned(), row["runs"].as_u64().unwrap()))
        .collect()
}

#[test]
fn duel_gives_verdict_without_its_pilot() {
    let stored = Stored::new(Procedure::Duel { pilot_blocks: 1, looks_early: false, slices: None });
    stored.block(0, stage::PILOT, &[("a", 2_000), ("a", 10)]);
    for block in 0..8 {
        stored.block(block, stage::BLOCK, &[("b", 120 + u64::from(block)), ("a", 100)]);
    }
    stored.end("decided");
    let [a, b] = settings(["a", "b"]);
    let study = stored.store.load_study(&stored.study).unwrap();
    let metric = ComparedBy::named("throughput").unwrap();
    let duel = judge::duel(&study, "steady", [&a, &b], &metric).unwrap().unwrap();
    assert!(matches!(duel.next(), DuelStep::Over(_)));

    let json = stored.json();
    assert_eq!(ranked(&json), [("b".to_owned(), 8), ("a".to_owned(), 8)]);
    let pair = json.pointer("/comparison/pairs/0").unwrap();
    assert_eq!((&pair["verdict"], &pair["blocks"]), (&"differs".into(), &8.into()));
    // The duel compares a with b, the report b with a.
    let ratio = pair["ratio"].as_f64().unwrap() * duel.finding().estimate.unwrap();
    assert!((ratio - 1.0).abs() < 1e-3, "{ratio}");
    let csv = stored.written("csv");
    let counted = csv.lines().skip(1).filter(|line| line.contains(",true,")).count();
    assert_eq!((csv.lines().count(), counted), (19, 16), "{csv}");
    for format in ["terminal", "md", "html"] {
        assert!(stored.written(format).contains("All 18 runs are valid"), "{format}");
    }
}

#[test]
fn further_metrics_share_error_rate_of_duel() {
    let stored = Stored::new(Procedure::Duel { pilot_blocks: 0, looks_early: false, slices: None });
    let [a, b] = settings(["a", "b"]);
    let throughput = ComparedBy::named("throughput").unwrap();
    let study = || {
        let mut study = stored.store.load_study(&stored.study).unwrap();
        study.new.compare.also = vec!["mean".to_owned()];
        study.new.compare.baseline = Some("b".to_owned());
        study
    };
    for block in 0..12 {
        let duel = judge::duel(&study(), "steady", [&a, &b], &throughput).unwrap().unwrap();
        assert_eq!(duel.next(), DuelStep::Block { block: block + 1 }, "eight that agree are too few for two");
        stored.block(block, stage::BLOCK, &[("b", 120 + u64::from(block)), ("a", 100)]);
    }
    let duel = judge::duel(&study(), "steady", [&a, &b], &throughput).unwrap().unwrap();
    assert!(matches!(duel.next(), DuelStep::Over(_)));

    let mut out = Vec::new();
    let options = Options { color: false, width: 120, is_wide: true };
    let (json, load) =
        (report::format("json").unwrap(), |run: &evidence::RunId| Ok(stored.store.load(run)?));
    report::write_study(json, &study(), &load, &options, &mut out).unwrap();
    let json: Value = serde_json::from_slice(&out).unwrap();
    let pairs = json.pointer("/comparison/pairs").unwrap().as_array().unwrap();
    assert_eq!(pairs.len(), 2);
    // The baseline comes second although it is ahead, and shorter times are better.
    for (pair, metric) in pairs.iter().zip(["throughput", "mean"]) {
        assert_eq!([&pair["metric"], &pair["verdict"], &pair["b"]["system"]], [metric, "differs", "b"]);
        let of_blocks = [&pair["holm"], &pair["blocks"], &pair["a_better_blocks"]];
        assert_eq!(of_blocks, [&Value::from(true), &12.into(), &0.into()]);
        assert_eq!(pair["ratio"].as_f64().unwrap() > 1.0, metric == "mean");
    }
    assert_eq!(pairs[0]["ratio"].as_f64(), duel.finding().estimate, "as the duel found it");
}

#[test]
fn tournament_ranks_search_and_judges_by_confirmation() {
    let stored = Stored::new(Procedure::Best { incumbent: Some("a".to_owned()), slices: None });
    let systems = ["a", "b", "c"];
    let all = settings(systems);
    let metric = ComparedBy::named("throughput").unwrap();
    let step = || {
        let study = stored.store.load_study(&stored.study).unwrap();
        judge::tournament(&study, "steady", &all, &metric).unwrap().unwrap().next()
    };
    let (mut searched, mut confirmed) = (0, 0);
    for _ in 0..60 {
        let TournamentStep::Block { block, stage, of } = step() else { break };
        // The search overstates the winner; new blocks do not.
        let of_b = if stage == TournamentStage::Search { 150 } else { 120 };
        let stage = if stage == TournamentStage::Search { stage::SEARCH } else { stage::CONFIRM };
        if stage == stage::CONFIRM && confirmed == 0 {
            assert!(stored.written("terminal").contains("not confirmed on new blocks"));
        }
        *(if stage == stage::SEARCH { &mut searched } else { &mut confirmed }) += 1;
        let requests = [100, of_b, 90].map(|requests| requests + u64::from(block) % 2);
        let runs: Vec<(&str, u64)> = of.into_iter().map(|of| (systems[of], requests[of])).collect();
        stored.block(block, stage, &runs);
    }
    assert_eq!(step(), TournamentStep::Over);
    stored.end("decided");
    let json = stored.json();
    let ranked = ranked(&json);
    assert_eq!(ranked[0], ("b".to_owned(), searched), "{ranked:?}");
    assert_eq!(ranked.len(), 3);
    let pairs = json.pointer("/comparison/pairs").unwrap().as_array().unwrap();
    assert_eq!(pairs.len(), 1);
    let (ratio, blocks) = (pairs[0]["ratio"].as_f64().unwrap(), pairs[0]["blocks"].as_u64().unwrap());
    assert!((1.15..1.25).contains(&ratio), "not the 1.5 of the search: {ratio}");
    assert_eq!((blocks, &pairs[0]["verdict"]), (confirmed, &"differs".into()));
    assert!(!stored.written("md").contains("chosen from the same blocks"));
    stored.written("html");
}

#[test]
fn search_in_slices_ranks_slices_of_its_search() {
    let rules = SliceRules {
        slice_s: 1.0,
        settle_s: 0.25,
        warm_up_s: 1.0,
        pairs_most: 2,
        pauses_idle: true,
        has_control: false,
        has_full_blocks: false,
    };
    let stored = Stored::new(Procedure::Best { incumbent: None, slices: Some(rules) });
    let of = |a, b, c| [("a", a), ("b", b), ("c", c), ("c", c), ("b", b), ("a", a)];
    (0..8)
        .for_each(|block| stored.block(block, stage::SEARCH_SLICE, &of(100 + u64::from(block) % 2, 150, 90)));
    for block in 8..16 {
        let a = 100 + u64::from(block) % 2;
        stored.block(block, stage::CONFIRM_SLICE, &[("a", a), ("b", 120), ("b", 120), ("a", a)]);
    }
    stored.end("decided");
    let json = stored.json();
    assert_eq!(ranked(&json)[0], ("b".to_owned(), 16));
    let pair = json.pointer("/comparison/pairs/0").unwrap();
    assert_eq!((&pair["blocks"], &pair["verdict"]), (&8.into(), &"differs".into()), "a start counts once");
    assert!((1.15..1.25).contains(&pair["ratio"].as_f64().unwrap()), "{pair}");
    for format in ["terminal", "md", "html"] {
        let words = "of slices (all variants that are left started for each, random mirrored order, idle systems stopped, seed";
        let written = stored.written(format).split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(written.contains(words), "{format}: {written}");
    }
}

#[test]
fn final_replaces_sweep_in_ranking_and_judges_alone() {
    let stored = Stored::of_blocks(Procedure::BestOfEach { sweep_blocks: 3 }, 8);
    let rows =
        |of: &[(&str, u64)]| of.iter().map(|(name, runs)| ((*name).to_owned(), *runs)).collect::<Vec<_>>();
    for block in 0..3 {
        stored.block(block, stage::SWEEP, &[("a", 150), ("b", 100), ("c", 70)]);
    }
    let json = stored.json();
    assert_eq!(ranked(&json), rows(&[("a", 3), ("b", 3), ("c", 3)]));
    assert_eq!(json.pointer("/comparison/pairs/0/verdict").unwrap(), "none", "a sweep judges nothing");
    for block in 0..8 {
        stored.block(block, stage::BLOCK, &[("b", 100), ("a", 120 + u64::from(block) % 3)]);
    }
    stored.end("blocks");
    let json = stored.json();
    assert_eq!(ranked(&json), rows(&[("a", 8), ("b", 8)]));
    let pairs = json.pointer("/comparison/pairs").unwrap().as_array().unwrap();
    let ratio = pairs[0]["ratio"].as_f64().unwrap();
    assert!((1.15..1.25).contains(&ratio), "not the 1.5 of the sweep: {ratio}");
    assert_eq!((pairs.len(), &pairs[0]["verdict"], &pairs[0]["blocks"]), (1, &"differs".into(), &8.into()));
    assert_eq!(json.pointer("/study/procedure/sweep_blocks").unwrap(), 3);
    let terminal = stored.written("terminal");
    let row = terminal.lines().find(|line| line.trim_start().starts_with("c "));
    assert!(row.is_some_and(|row| row.contains("23.3")), "the sweep stays in the table: {terminal}");
    for format in ["terminal", "md", "html"] {
        let written = stored.written(format);
        assert!(written.contains("a sweep of 3 blocks and a final of 8 blocks"), "{format}: {written}");
        assert!(!written.contains("on the same blocks"), "{format}");
    }
}

#[test]
fn variants_eliminated_in_halving_are_shown_but_not_ranked() {
    let stored = Stored::new(Procedure::Best { incumbent: None, slices: None });
    stored.block(0, stage::HALVING, &[("a", 100), ("b", 500), ("c", 90)]);
    stored.block(1, stage::SEARCH, &[("a", 100), ("c", 90)]);
    let json = stored.json();
    assert_eq!(ranked(&json), [("a".to_owned(), 1), ("c".to_owned(), 1)]);
    let terminal = stored.written("terminal");
    assert!(terminal.contains("500"), "{terminal}");
}

#[test]
fn inconclusive_study_suggests_extension_and_reports_error_rate() {
    let stored = Stored::new(Procedure::Duel { pilot_blocks: 0, looks_early: false, slices: None });
    let block = |block: u32, b: u64| stored.block(block, stage::BLOCK, &[("b", b), ("a", 100)]);
    // One of eight blocks disagrees slightly.
    (0..8).for_each(|number| block(number, if number == 0 { 99 } else { 105 }));
    stored.end("not fit");
    let command = format!("tenbin run &lt;plan file&gt; --resume {} --blocks 12", stored.study);
    let page = stored.written("md").replace('\\', "");
    assert!(page.contains("12 blocks may be conclusive") && page.contains(&command), "{page}");
    let study = stored.store.load_study(&stored.study).unwrap();
    stored.store.extend_study(&study, None, 12, &[]).unwrap();
    (8..12).for_each(|number: u32| block(number, if number.is_multiple_of(2) { 120 } else { 80 }));
    stored.end("blocks");
    let page = stored.written("md");
    assert!(
        page.contains("is at most 7.5 % instead of 5 %") && page.contains("a quieter machine would decide"),
        "{page}"
    );
    assert!(!page.contains("may be conclusive"), "no number of blocks is likely to: {page}");
    let pair = &stored.json()["comparison"]["pairs"][0];
    assert_eq!((&pair["blocks"], &pair["verdict"]), (&12.into(), &"inconclusive".into()), "{pair}");
}
