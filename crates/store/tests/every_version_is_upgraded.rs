//! A file of any version from 4 on gives equal figures for equal rows.

use std::path::{Path, PathBuf};

use evidence::{Run, Study};
use record::{Counts, Phase};
use rusqlite::Connection;
use store::Store;

/// Migrations from version 4 on, in order.
const STEPS: [&str; 15] = [
    include_str!("../src/schema/5.sql"),
    include_str!("../src/schema/6.sql"),
    include_str!("../src/schema/7.sql"),
    include_str!("../src/schema/8.sql"),
    include_str!("../src/schema/9.sql"),
    include_str!("../src/schema/10.sql"),
    include_str!("../src/schema/11.sql"),
    include_str!("../src/schema/12.sql"),
    include_str!("../src/schema/13.sql"),
    include_str!("../src/schema/14.sql"),
    include_str!("../src/schema/15.sql"),
    include_str!("../src/schema/16.sql"),
    include_str!("../src/schema/17.sql"),
    include_str!("../src/schema/18.sql"),
    include_str!("../src/schema/19.sql"),
];
const STUDY: &str = "s-20261121-142501-69g3";

/// Creates a file of this version with the rows of the sample.
fn of_version(version: usize, folder: &Path) -> PathBuf {
    let path = folder.join("s");
    let connection = Connection::open(&path).unwrap();
    connection.execute_batch(include_str!("version_4.sql")).unwrap();
    for step in &STEPS[..version - 4] {
        connection.execute_batch(step).unwrap();
    }
    connection.pragma_update(None, "user_version", version as i64).unwrap();
    path
}

/// Reads figures and facts of all runs and studies in a store.
fn read(path: &Path) -> (Vec<Vec<Counts>>, Vec<String>) {
    let store = Store::open_existing(path).unwrap();
    let study: Study = store.load_study(&STUDY.parse().unwrap()).unwrap();
    let alone = store.runs(100).unwrap().into_iter().map(|run| store.load(&run.id).unwrap());
    let runs: Vec<Run> = alone.chain(study.runs).collect();
    let counts = |run: &Run| Phase::ALL.map(|phase| run.whole(phase).unwrap().counts).to_vec();
    let facts = |run: &Run| format!("{} {:?} {:?}", run.id, run.new, run.ending);
    (runs.iter().map(counts).collect(), runs.iter().map(facts).collect())
}

#[test]
fn every_version_gives_equal_figures_and_facts() {
    let folder = tempfile::tempdir().unwrap();
    let expected = read(&of_version(4, folder.path()));
    assert!(expected.0.iter().flatten().any(|counts| counts.ok > 0));
    for version in 5..=3 + STEPS.len() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(read(&of_version(version, folder.path())), expected, "version {version}");
    }
}

#[test]
fn users_of_an_earlier_run_come_from_its_description() {
    let folder = tempfile::tempdir().unwrap();
    let path = of_version(14, folder.path());
    let store = Store::open_existing(&path).unwrap();
    let runs = store.runs(100).unwrap();
    assert!(runs.iter().any(|run| run.load_words == "100 users, closed"));
    for summary in runs {
        let run = store.load(&summary.id).unwrap();
        let users = (run.new.load_words == "100 users, closed").then_some(100);
        assert_eq!(run.new.users, users, "{}", run.new.load_words);
    }
}
