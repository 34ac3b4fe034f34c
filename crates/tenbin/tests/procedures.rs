//! Studies that choose their next run themselves: they find a known difference, and stop when the result is conclusive. They
//! resume after a kill, and report what they had no time for.

use harness::quiet::assert_measured;
use std::collections::BTreeMap;
use std::fs;
use std::thread;
use std::time::{Duration, Instant};

use crate::support::{
    self,
    systems::{assert_nothing_is_left, marked},
};
use crate::support::{Home, Output, number};
use evidence::{Study, StudyState, Verdict, stage};
use rustix::process::Signal;
use store::Store;

/// Requests wait in the target, and need hardly any CPU time. A thread answers 50 requests per second.
const HOLD: &str = "scenario: [ get: '/hold?mean_us=20000' ]\nload: { users: 12, for: 200ms }\n";
const START: &str = "start: '{tenbin} target --listen 127.0.0.1:{port} --threads {threads}'";

fn plan(home: &Home, load: &str, systems: &str, compare: &str) -> String {
    let path = home.path().join("plan.yaml");
    let text = format!("{load}systems:\n{systems}compare: {compare}\n");
    fs::write(&path, text).expect("written");
    path.to_string_lossy().into_owned()
}

fn threads(values: &str) -> String {
    format!("  target:\n    {START}\n    vary: {{ threads: {values} }}\n")
}

/// The newest study in the store.
fn kept(home: &Home) -> Study {
    let store = Store::open(&home.store()).expect("a store");
    let studies = store.studies().expect("a list");
    store.load_study(&studies[0].id).expect("a study")
}

/// Names of the variants in each block of a stage, sorted.
fn blocks(study: &Study, stage: &str) -> Vec<Vec<String>> {
    let mut blocks: BTreeMap<u32, Vec<String>> = BTreeMap::new();
    let places = study.runs.iter().filter_map(|run| Some(&run.new.place.as_ref()?.1));
    for place in places.filter(|place| place.stage == stage) {
        blocks.entry(place.block).or_default().push(place.variant.clone());
    }
    blocks.values_mut().for_each(|variants| variants.sort());
    blocks.into_values().collect()
}

/// Number of runs that do not count, because the machine was busy with something else.
fn uncounted_runs(study: &Study) -> usize {
    let endings = study.runs.iter().filter_map(|run| run.ending.as_ref());
    endings.filter(|ending| ending.verdict != Verdict::Complete).count()
}

fn why(study: &Study) -> Option<&str> {
    study.ending.as_ref()?.why.as_deref()
}

#[track_caller]
fn assert_contains(output: &Output, words: &str) {
    assert!(output.stderr.contains(words), "{words:?} is missing: {output:?}");
}

#[test]
fn known_difference_is_conclusive_after_seven_blocks() {
    let home = Home::new();
    let path = plan(&home, HOLD, &threads("[3, 4]"), "{ by: throughput, matters: 5%, pilot: 2 }");
    let output = home.run(&["run", &path]);
    assert_eq!(output.code, Some(0), "{output:?}");
    assert_contains(&output, "the pilot: equal runs lie");
    assert_contains(
        &output,
        "decided after 7 of at most 24 blocks: by throughput target threads=4 is ahead of target threads=3",
    );
    let study = kept(&home);
    assert_eq!(blocks(&study, stage::PILOT), [["threads=3", "threads=3"]; 2]);
    let made = blocks(&study, stage::BLOCK);
    assert!(made.iter().all(|variants| *variants == ["threads=3", "threads=4"]), "{made:?}");
    assert!((7..=7 + uncounted_runs(&study)).contains(&made.len()), "{made:?}");
    assert_eq!((why(&study), study.state), (Some("decided"), StudyState::Complete));
    assert_nothing_is_left(&home);
}

#[test]
fn equal_variants_are_reported_as_equal() {
    let home = Home::new();
    // With pacing, the throughput hardly varies at random.
    let load = "scenario: [ get: /status ]\nload: { users: 4, pacing: 20ms, for: 200ms }\n";
    let start = "start: '{tenbin} target --listen 127.0.0.1:{port}'";
    let systems = format!("  one: {{ {start} }}\n  other: {{ {start} }}\n");
    let path = plan(&home, load, &systems, "{ by: throughput, matters: 60%, pilot: 0 }");
    let output = home.run(&["run", &path]);
    assert_eq!(output.code, Some(0), "{output:?}");
    assert_contains(&output, "one and other are equal within 60 %");
}

#[test]
fn best_of_four_is_found_and_confirmed() {
    let home = Home::new();
    let path = plan(&home, HOLD, &threads("[1, 2, 8, 4]"), "{ by: throughput, matters: 25%, find: best }");
    let output = home.run(&["run", &path]);
    assert_eq!(output.code, Some(0), "{output:?}");
    assert_contains(&output, "leaves: it is clearly behind");
    assert_contains(
        &output,
        "target threads=8 is the best: now it is held against target threads=4 on fresh blocks",
    );
    assert_contains(
        &output,
        "the best is target threads=8; confirmed: its throughput differs from that of target threads=4",
    );
    let confirm = blocks(&kept(&home), stage::CONFIRM);
    assert!(confirm.len() >= 8, "{confirm:?}");
    assert!(confirm.iter().all(|variants| *variants == ["threads=4", "threads=8"]), "{confirm:?}");
}

#[test]
fn search_in_slices_starts_all_variants_and_predicts_its_end() {
    assert_measured(|| {
        let home = Home::new();
        let load = "scenario: [ get: '/hold?mean_us=4000' ]\nload: { users: 12, warm-up: 250ms, for: 2s }\n";
        let path =
            plan(&home, load, &threads("[1, 2, 4]"), "{ by: throughput, find: best, interleave: slices }");
        let output = home.run(&["run", &path, "--within", "12s"]);
        assert_eq!(output.code, Some(0), "{output:?}");
        assert_contains(&output, "after 1 block: the best is known in ");
        assert_contains(&output, "out of time: ");
        let study = kept(&home);
        let slices = blocks(&study, stage::SEARCH_SLICE);
        let each_twice = ["threads=1", "threads=1", "threads=2", "threads=2", "threads=4", "threads=4"];
        assert_eq!(slices.first().map(Vec::as_slice), Some(&each_twice.map(str::to_owned)[..]), "{output:?}");
        assert_eq!(why(&study), Some(evidence::OUT_OF_TIME));
        assert_nothing_is_left(&home);
    });
}

#[test]
fn killed_comparison_is_resumed_where_it_stopped() {
    let home = Home::new();
    let path = plan(&home, HOLD, &threads("[1, 4]"), "{ by: throughput, matters: 5%, pilot: 1 }");
    let program = home.start(&["run", &path]);
    support::until("it has a study", || {
        Store::open(&home.store()).is_ok_and(|store| store.studies().is_ok_and(|studies| !studies.is_empty()))
    });
    let begun = Instant::now();
    while kept(&home).runs.len() < 5 && begun.elapsed() < support::TIMEOUT {
        thread::sleep(Duration::from_millis(20));
    }
    let pid = program.pid();
    program.signal(Signal::KILL);
    program.finish();
    support::until("what it had started is gone", || marked(pid).is_empty());
    let output = home.run(&["run", &path, "--resume"]);
    assert_eq!(output.code, Some(0), "{output:?}");
    assert_contains(&output, "runs that were planned so far are complete");
    assert_contains(&output, "decided after 7 of at most 24 blocks");
    let study = kept(&home);
    let positions = study.runs.iter().filter_map(|run| Some(run.new.place.as_ref()?.1.position));
    let positions: Vec<u32> = positions.collect();
    assert_eq!(positions, (0..positions.len() as u32).collect::<Vec<_>>(), "none is made twice or left out");
    assert!(blocks(&study, stage::BLOCK).iter().all(|variants| *variants == ["threads=1", "threads=4"]));
    assert_eq!((why(&study), study.state), (Some("decided"), StudyState::Complete));
    assert_nothing_is_left(&home);
}

#[test]
fn too_short_a_time_limit_is_reported_before_and_after_the_study() {
    assert_measured(|| {
        let home = Home::new();
        let path = plan(&home, HOLD, &threads("[1, 4]"), "{ matters: 5%, pilot: 0, within: 2s }");
        let text = fs::read_to_string(&path).expect("the plan").replace("200ms", "400ms");
        fs::write(&path, text).expect("written");
        let mut check = std::process::Command::new(support::TENBIN);
        check.args(["check", &path]);
        home.isolate(&mut check);
        let checked = support::Started::spawn(check).finish();
        assert!(
            checked.stdout.contains("too short for a result, which takes at least 5s600ms"),
            "{checked:?}"
        );
        let output = home.run(&["run", &path]);
        assert_contains(&output, "out of time");
        let report = output.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
        let words = ["--resume s-", "--within TIME", &format!("measure again: tenbin run {path}")];
        assert!(words.iter().all(|words| report.contains(words)), "{report}");
        let study = kept(&home);
        assert!(study.runs.len() < 6, "{} runs", study.runs.len());
        assert_eq!((why(&study), study.state), (Some("budget"), StudyState::Interrupted));
        assert_eq!(study.ending.map(|ending| ending.verdict), Some(Verdict::Partial));
        let output = home.run(&["run", &path, "--resume"]);
        assert_contains(&output, "out of time");
        assert_eq!(kept(&home).runs.len(), study.runs.len(), "it has no more time than before");
        let output = home.run(&["run", &path, "--resume", "--within", "5min"]);
        assert_contains(&output, "decided after 7 of at most 24 blocks");
        let study = kept(&home);
        assert_eq!((why(&study), study.state), (Some("decided"), StudyState::Complete));
        assert_eq!(study.new.compare.within_s, Some(300.0));
    });
}

#[test]
fn load_is_extended_until_it_is_steady() {
    let (home, target) = (Home::new(), support::built_in());
    let url = support::url(target.address(), "/hold?mean_us=5000");
    let output = home.run(&[url.as_str(), "-R", "100", "-c", "10", "-d", "2s", "--extend", "5"]);
    support::assert_counts_or_starved(&output, &home.last());
    let store = Store::open(&home.store()).expect("a store");
    let run = store.load(&store.runs(1).expect("a list")[0].id).expect("a run");
    let ending = run.ending.as_ref().expect("an ending");
    let steadiness = ending.steadiness.as_ref().expect("it was judged");
    // A steady load takes five seconds to recognize, and twelve are allowed.
    assert!((2..=5).contains(&steadiness.extended), "{steadiness:?}");
    let (planned, seconds) =
        (number(&home.last(), "offered.planned"), u64::from(steadiness.extended + 1) * 2);
    assert!(planned.abs_diff(seconds * 100) < 100, "{planned} in {seconds} s");
}
