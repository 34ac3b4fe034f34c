//! Compares every format of typical runs with golden files. `UPDATE=1 cargo test -p report` rewrites them.

use crate::runs;
use std::fs;
use std::path::PathBuf;

use evidence::Run;
use report::{FORMATS, Format, Options};

fn cases() -> Vec<(&'static str, Vec<Run>)> {
    vec![
        ("normal", vec![runs::normal()]),
        ("errors", vec![runs::every_kind_of_error()]),
        ("empty", vec![runs::empty()]),
        ("partial", vec![runs::cut_short()]),
        ("late", vec![runs::late()]),
        ("limited", vec![runs::limited()]),
        ("transactions", vec![runs::sql::transactions()]),
        ("connects", vec![runs::sql::connected_each_time()]),
        ("both", vec![runs::sql::of_both()]),
        ("scripts", vec![runs::sql::transactions(), runs::sql::connected_each_time()]),
        ("three", vec![runs::every_kind_of_error(), runs::late(), runs::stalled()]),
    ]
}

/// Width of a brief report in columns.
const WIDTH: usize = 100;

fn written(format: &Format, runs: &[Run]) -> String {
    written_as(format, runs, &Options { color: false, width: WIDTH, is_wide: false })
}

/// Report with all details.
fn written_wide(format: &Format, runs: &[Run]) -> String {
    written_as(format, runs, &Options { color: false, width: 120, is_wide: true })
}

fn written_as(format: &Format, runs: &[Run], options: &Options) -> String {
    let mut out = Vec::new();
    match report::write(format, runs, options, &mut out) {
        Ok(()) => String::from_utf8(out).unwrap(),
        Err(error) => format!("error: {error}\n"),
    }
}

#[test]
fn no_report_contradicts_itself() {
    for (case, runs) in cases() {
        for run in &runs {
            assert_eq!(report::contradictions(run).unwrap(), Vec::<String>::new(), "{case}");
        }
    }
}

/// Formats without the page, which has separate tests.
fn formats() -> impl Iterator<Item = &'static Format> {
    FORMATS.iter().filter(|format| format.name != "html")
}

fn golden(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(name)
}

/// Removes packed histograms, whose bytes may differ although their contents are equal. Another test reads them.
fn without_histograms(text: &str) -> Vec<&str> {
    text.lines().map(|line| line.rsplit_once(",HISTFAAA").map_or(line, |(before, _)| before)).collect()
}

#[test]
fn formats_match_golden_files() {
    let mut different = Vec::new();
    let mut compare = |name: String, text: String| {
        let path = golden(&name);
        if std::env::var_os("UPDATE").is_some() {
            fs::write(&path, &text).unwrap();
        }
        let expected = fs::read_to_string(&path).unwrap_or_default();
        if without_histograms(&text) != without_histograms(&expected) {
            different.push(format!("{}:\n{text}", path.display()));
        }
    };
    for (case, runs) in cases() {
        for format in formats() {
            compare(format!("{case}.{}", format.extension), written(format, &runs));
        }
        compare(format!("{case}.wide.txt"), written_wide(report::TERMINAL, &runs));
    }
    assert!(different.is_empty(), "{}", different.join("\n"));
}

#[test]
fn run_without_stored_seconds_has_no_note_on_sent_requests() {
    for name in ["terminal", "md"] {
        let text = written(report::format(name).unwrap(), &[runs::nothing_stored()]);
        assert!(text.contains("nothing was stored before the run was cut short"), "{text}");
        assert!(!text.contains("o request was sent"), "{text}");
    }
}

/// Words of a report without markup: escapes, stars, bars, and the colon after a name.
fn words(text: &str) -> std::collections::BTreeSet<String> {
    let text = text
        .replace("&lt;", "<")
        .replace("@<!-- -->", "@")
        .replace(['\\', '*', '`'], "")
        .replace("<summary>", "")
        .replace("</summary>", "");
    let words = text.split_whitespace().map(|word| word.trim_end_matches(':').to_owned());
    words.filter(|word| word.chars().any(char::is_alphanumeric)).collect()
}

#[test]
fn markdown_has_all_words_of_the_terminal() {
    for (case, runs) in cases() {
        let said = |name| words(&written_wide(report::format(name).unwrap(), &runs));
        let (terminal, markdown) = (said("terminal"), said("md"));
        let missing: Vec<_> = terminal.difference(&markdown).collect();
        assert!(missing.is_empty(), "{case} as md lacks {missing:?}");
    }
}

#[test]
fn terminal_lines_fit_and_have_no_trailing_spaces() {
    for (case, runs) in cases() {
        for (width, text) in
            [(WIDTH, written(report::TERMINAL, &runs)), (120, written_wide(report::TERMINAL, &runs))]
        {
            for line in text.lines() {
                assert!(line.chars().count() <= width, "{case}: {line}");
                assert_eq!(line, line.trim_end(), "{case}");
            }
            assert!(!text.contains("\n\n\n") && text.ends_with('\n') && !text.ends_with("\n\n"), "{case}");
        }
    }
}

#[test]
fn brief_report_of_run_fits_on_a_screen() {
    for (case, runs) in cases().into_iter().filter(|(_, runs)| runs.len() == 1) {
        let text = written(report::TERMINAL, &runs);
        assert!(text.lines().count() <= 25, "{case} has {} lines:\n{text}", text.lines().count());
        assert!(text.contains("--wide"), "{case}: {text}");
    }
}

#[test]
fn color_changes_no_text() {
    for (case, runs) in cases() {
        let format = report::format("terminal").unwrap();
        let mut out = Vec::new();
        report::write(format, &runs, &Options { color: true, width: 120, is_wide: true }, &mut out).unwrap();
        let mut plain = String::from_utf8(out).unwrap();
        for code in ["\x1b[0m", "\x1b[1m", "\x1b[2m", "\x1b[31m", "\x1b[32m", "\x1b[33m"] {
            plain = plain.replace(code, "");
        }
        assert_eq!(plain, written_wide(format, &runs), "{case}");
    }
}

#[test]
fn no_report_has_nan_or_infinity() {
    for (case, runs) in cases().into_iter().chain([("huge", vec![runs::huge()])]) {
        for format in formats() {
            let text = written(format, &runs);
            let found = without_histograms(&text)
                .into_iter()
                .find(|line| line.contains("NaN") || line.contains("inf"));
            assert_eq!(found, None, "{case} as {}", format.name);
        }
    }
}

#[test]
fn rejects_report_without_runs() {
    for format in FORMATS {
        assert!(written(format, &[]).starts_with("error: there is no run"));
    }
}
