//! Plain English: phrases that readers stumble over are in no sentence that people read.

use rules::files;
use rules::words::{has, passages};

/// What is not written, and what is written instead.
const BANNED: &[(&str, &str)] = &[
    ("way out", "help"),
    ("is told", "is reported, says"),
    ("are told", "are reported, says"),
    ("it bears", "maximum sustainable load"),
    ("it bear", "maximum sustainable load"),
    ("chance is in it", "single run, no confidence interval"),
    ("half took", "p50"),
    ("in the middle", "median"),
    ("had to hold", "condition"),
    ("is behind leaves", "eliminated"),
    ("gone on with", "resumed"),
    ("anew", "again"),
    ("afresh", "in a fresh process, again"),
    ("nobody says", "missing, not given"),
    ("nobody sees", "invisible"),
    ("nothing says", "missing, not given"),
    ("nothing is called", "undefined variable"),
    ("beside", "next to"),
    ("knob", "parameter"),
    ("knobs", "parameters"),
    ("lateness", "send delay"),
    ("instants", "scheduled send times, arrivals"),
    ("most of any", "max, peak"),
    ("best against each other", "head-to-head"),
    ("what probably limited", "likely bottleneck"),
    ("wants", "expects"),
    ("twin", "confirmation run with twice the threads"),
];

/// Words that are good elsewhere: where they are not written, and what is written instead.
const BANNED_IN: &[(&str, &str, &str)] =
    &[("crates/plan/", "fault", "error"), ("crates/plan/", "faults", "errors")];

/// Paths that still have banned phrases. Entries are removed, or replaced by a narrower path, and never added.
const NOT_YET: &[&str] = &[
    "bench/README.md",
    "bench/http/",
    "bench/page/",
    "bench/sql/",
    "bench/truth/",
    "crates/engine/",
    "crates/lab/",
    "crates/load/",
    "crates/loading/",
    "crates/report/src/formats/csv.rs",
    "crates/report/src/formats/csv/study.rs",
    "crates/runner/",
    "crates/sql/",
    "crates/sqlite/",
    "crates/stats/",
    "crates/store/",
    "crates/study/",
    "crates/target/",
    "crates/tenbin/tests/stores/",
    "crates/wire/",
    "dev/harness/",
    "dev/servers/",
    "dev/simulator/",
    "docs/architecture.md",
    "docs/formats.md",
    "scripts/dist.sh",
    "ui/fixtures/",
    "ui/src/",
];

/// The phrases themselves.
const OWN_FILES: [&str; 2] = ["dev/rules/tests/words.rs", "dev/rules/src/words.rs"];

/// What is wrong in each file, with its path before it.
fn found() -> Vec<(String, String)> {
    let files = files::all().into_iter().filter(|file| !OWN_FILES.contains(&file.path.as_str()));
    let mut found = Vec::new();
    for file in files {
        let here = BANNED_IN.iter().filter(|(place, ..)| file.path.starts_with(place));
        let banned: Vec<_> =
            BANNED.iter().copied().chain(here.map(|(_, phrase, better)| (*phrase, *better))).collect();
        for passage in passages(&file) {
            for (phrase, better) in banned.iter().filter(|(phrase, _)| has(&passage, phrase)) {
                let what = format!("{}:{}: {phrase:?}: write {better}", file.path, passage.line);
                found.push((file.path.clone(), what));
            }
        }
    }
    found
}

#[test]
fn no_sentence_has_a_phrase_that_readers_stumble_over() {
    let found = found();
    let is_known = |path: &str| NOT_YET.iter().any(|place| path.starts_with(place));
    let wrong: Vec<&str> =
        found.iter().filter(|(path, _)| !is_known(path)).map(|(_, what)| what.as_str()).collect();
    assert!(wrong.is_empty(), "banned phrases:\n{}", wrong.join("\n"));
    for place in NOT_YET {
        let is_needed = found.iter().any(|(path, _)| path.starts_with(place));
        assert!(is_needed, "{place} has no banned phrase any more: take it out of NOT_YET");
    }
}
