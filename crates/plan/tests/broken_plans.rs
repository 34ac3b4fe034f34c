//! Broken plans, and the errors that each prints. `UPDATE=1` updates the expected errors: review them before a commit.

use std::fs;
use std::path::{Path, PathBuf};

use plan::Study;

fn broken() -> Vec<PathBuf> {
    let entries = fs::read_dir("tests/broken").expect("the folder is there");
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.expect("it can be listed").path()).collect();
    paths.retain(|path| path.extension().is_some_and(|ending| ending == "yaml"));
    paths.sort();
    paths
}

#[test]
fn prints_expected_errors_for_every_broken_plan() {
    let mut wrong = Vec::new();
    for path in broken() {
        let Err(faults) = Study::read(&path, false) else {
            panic!("{} is accepted", path.display());
        };
        let told = format!("{faults}\n");
        let beside = path.with_extension("txt");
        if std::env::var_os("UPDATE").is_some() {
            fs::write(&beside, &told).expect("the text can be written");
        }
        let expected = fs::read_to_string(&beside).unwrap_or_default();
        if told != expected {
            wrong.push(format!("{}:\n{told}", path.display()));
        }
    }
    assert!(wrong.is_empty(), "with UPDATE=1 this is kept:\n{}", wrong.join("\n"));
    assert!(broken().len() >= 20);
}

#[test]
fn every_error_has_help_and_a_caret_under_its_line() {
    for path in broken() {
        let faults = Study::read(&path, false).expect_err("it is broken");
        assert_eq!(faults.count(), faults.list().len(), "{}", path.display());
        for fault in faults.list() {
            assert!(!fault.what.is_empty() && !fault.help.is_empty(), "{}: {fault:?}", path.display());
            assert!(!fault.what.contains("--"), "{}: a plan has no flags: {fault:?}", path.display());
            let Some(place) = &fault.place else { continue };
            assert!(place.line >= 1 && place.column >= 1, "{fault:?}");
        }
        let drawn = faults.to_string();
        let marks = drawn.lines().filter(|line| line.trim_start_matches([' ', '|']).starts_with('^')).count();
        assert_eq!(marks, faults.list().iter().filter(|fault| fault.place.is_some()).count(), "{drawn}");
        let lines_shown = drawn.lines().filter(|line| line.starts_with(|sign: char| sign.is_ascii_digit()));
        assert!(lines_shown.clone().all(|line| line.chars().count() <= 140), "{drawn}");
    }
}

#[test]
fn unreadable_file_is_an_error() {
    let told = |path: &str| Study::read(Path::new(path), false).expect_err("it cannot be read").to_string();
    assert_eq!(
        told("tests/broken/no-such.yaml"),
        "error: no such file\n--> tests/broken/no-such.yaml\n = help: name a plan file; the folder has alias-bomb.yaml, alias-in-itself.yaml, artillery.yaml, …\n\n\
         1 error; nothing was started."
    );
    assert!(told("tests/broken").contains("the plan is a folder"));
    assert!(told("/dev/zero").contains("the plan is not a regular file"));
}
