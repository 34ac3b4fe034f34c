//! Plain English: no human-readable text contains a banned phrase.

use rules::files;
use rules::words::{has, passages};

/// Banned phrases, each with its replacement.
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

/// Words that are banned only in some paths: path prefix, word, and replacement.
const BANNED_IN: &[(&str, &str, &str)] =
    &[("crates/plan/", "fault", "error"), ("crates/plan/", "faults", "errors")];

/// Stable names that other programs read: path prefix, name, and reason.
const CONTRACTS: &[(&str, &str, &str)] = &[
    ("crates/report/src/formats/csv", "lateness", "titles of columns"),
    ("crates/report/src/formats/csv", "knob", "titles of columns"),
    ("docs/formats.md", "lateness", "titles of columns"),
    ("docs/formats.md", "knob", "titles of columns"),
    ("crates/store/src/begin_study.rs", "knobs", "a column of the store"),
    ("crates/store/src/schema/", "beside", "text of tables in stores that exist"),
    ("crates/store/src/schema/", "knobs", "a column of the store"),
    ("crates/store/tests/", "knobs", "a column of the store"),
    ("crates/tenbin/tests/stores/", "knobs", "a column of the store"),
    ("ui/fixtures/series.ts", "lateness", "the key of a chart"),
];

/// Files that contain the banned phrases themselves.
const OWN_FILES: [&str; 2] = ["dev/rules/tests/words.rs", "dev/rules/src/words.rs"];

/// Path of a file, the phrase in it, and the message.
type Found = (String, &'static str, String);

/// Finds all banned phrases in all files.
fn found() -> Vec<Found> {
    let files = files::all().into_iter().filter(|file| !OWN_FILES.contains(&file.path.as_str()));
    let mut found = Vec::new();
    for file in files {
        let here = BANNED_IN.iter().filter(|(place, ..)| file.path.starts_with(place));
        let banned: Vec<_> =
            BANNED.iter().copied().chain(here.map(|(_, phrase, better)| (*phrase, *better))).collect();
        for passage in passages(&file) {
            for (phrase, better) in banned.iter().filter(|(phrase, _)| has(&passage, phrase)) {
                let what = format!("{}:{}: {phrase:?}: write {better}", file.path, passage.line);
                found.push((file.path.clone(), *phrase, what));
            }
        }
    }
    found
}

#[test]
fn texts_have_no_banned_phrases() {
    let found = found();
    let is_contract = |(path, phrase, _): &Found| {
        CONTRACTS.iter().any(|(place, name, _)| path.starts_with(place) && phrase == name)
    };
    let wrong: Vec<&str> =
        found.iter().filter(|one| !is_contract(one)).map(|(.., what)| what.as_str()).collect();
    assert!(wrong.is_empty(), "banned phrases:\n{}", wrong.join("\n"));
    for (place, name, _) in CONTRACTS {
        let is_needed = found.iter().any(|(path, phrase, _)| path.starts_with(place) && phrase == name);
        assert!(is_needed, "{place} has no {name:?} any more: take it out of CONTRACTS");
    }
}
