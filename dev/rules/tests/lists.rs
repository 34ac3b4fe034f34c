//! Each list of names exists once, and other crates do not repeat it. `docs/architecture.md` names all lists.

use load::open::{PROCESSES, Process};
use record::Outcome;
use rules::files::assert_table;
use rules::lists::OnlyList;
use sql::Mode;
use sql::workload::WORKLOADS;

#[test]
fn outcomes_are_listed_once() {
    OnlyList {
        idea: "outcomes",
        names: Outcome::ALL.iter().map(|outcome| outcome.name()).collect(),
        // The store has columns with these names.
        homes: &["crates/outcome/src/lib.rs", "crates/store/src/keep.rs", "crates/store/src/load.rs"],
        // Column headings and track labels.
        elsewhere_max: 3,
        other_meanings: &[],
    }
    .assert();
}

#[test]
fn arrival_processes_are_listed_once() {
    OnlyList {
        idea: "arrival processes",
        names: PROCESSES.iter().map(|process| process.name).collect(),
        homes: &["crates/load/src/open/"],
        // An example key.
        elsewhere_max: 1,
        other_meanings: &[],
    }
    .assert();
}

#[test]
fn arrival_processes_are_documented() {
    let row = |process: &&Process| format!("| `{}` | {} |\n", process.name, process.sentence);
    let rows = PROCESSES.iter().map(row).collect::<String>();
    assert_table("docs/measurement.md", &format!("| `--arrivals` | requests arrive |\n|---|---|\n{rows}"));
}

#[test]
fn workloads_are_listed_once() {
    OnlyList {
        idea: "built-in workloads",
        names: WORKLOADS.iter().map(|workload| workload.name).collect(),
        homes: &["crates/sql/src/workload.rs", "crates/sql/src/workload/", "crates/sql/src/databases/"],
        // Example keys.
        elsewhere_max: 2,
        other_meanings: &[],
    }
    .assert();
}

#[test]
fn query_modes_are_listed_once() {
    OnlyList {
        idea: "query modes",
        names: Mode::NAMES.iter().map(|(name, _)| *name).collect(),
        homes: &["crates/sql/src/settings.rs"],
        elsewhere_max: 1,
        other_meanings: &[],
    }
    .assert();
}
