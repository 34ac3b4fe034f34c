//! Compares every format of typical studies with golden files. `UPDATE=1 cargo test -p report` rewrites them.

use std::fs;
use std::path::PathBuf;

use crate::studies::{self, Stored};
use report::{FORMATS, Format, Options};

fn cases() -> impl Iterator<Item = (&'static str, &'static Stored)> {
    studies::all().iter().map(|(case, study)| (*case, study))
}

fn written(format: &Format, study: &Stored, width: usize) -> String {
    written_as(format, study, &Options { color: false, width, is_wide: false })
}

/// Report with all details.
fn written_wide(format: &Format, study: &Stored, width: usize) -> String {
    written_as(format, study, &Options { color: false, width, is_wide: true })
}

fn written_as(format: &Format, study: &Stored, options: &Options) -> String {
    let mut out = Vec::new();
    match report::write_study(format, &study.study, &|run| study.load(run), options, &mut out) {
        Ok(()) => String::from_utf8(out).unwrap(),
        Err(error) => format!("error: {error}\n"),
    }
}

fn golden(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(name)
}

#[test]
fn formats_match_golden_files() {
    let mut different = Vec::new();
    let mut compare = |name: String, text: String| {
        let path = golden(&name);
        if std::env::var_os("UPDATE").is_some() {
            fs::write(&path, &text).unwrap();
        }
        if fs::read_to_string(&path).unwrap_or_default() != text {
            different.push(format!("{}:\n{text}", path.display()));
        }
    };
    for (case, study) in cases() {
        for format in FORMATS.iter().filter(|format| !matches!(format.name, "html" | "json" | "jtl" | "hlog"))
        {
            compare(format!("{case}.{}", format.extension), written(format, study, 100));
        }
        compare(format!("{case}.80.txt"), written(report::TERMINAL, study, 80));
        compare(format!("{case}.wide.txt"), written_wide(report::TERMINAL, study, 120));
    }
    let study = studies::one_block();
    compare("study-one-block.json".to_owned(), written(report::format("json").unwrap(), &study, 120));
    assert!(different.is_empty(), "{}", different.join("\n"));
}

#[test]
fn terminal_lines_fit_and_have_no_trailing_spaces() {
    for (case, study) in cases() {
        let widths = [80, 100, 120].into_iter();
        for (width, text) in widths
            .clone()
            .map(|width| (width, written(report::TERMINAL, study, width)))
            .chain(widths.map(|width| (width, written_wide(report::TERMINAL, study, width))))
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
fn brief_report_of_study_fits_on_a_screen() {
    for (case, study) in cases() {
        let text = written(report::TERMINAL, study, 100);
        assert!(text.lines().count() <= 40, "{case} has {} lines:\n{text}", text.lines().count());
        assert!(text.contains("--wide"), "{case}: {text}");
    }
}

#[test]
fn no_report_contradicts_itself() {
    for (case, study) in cases() {
        let found = report::study_contradictions(&study.study, &|run| study.load(run)).unwrap();
        assert!(found.is_empty(), "{case}: {found:?}");
        for run in &study.runs {
            assert_eq!(report::contradictions(run).unwrap(), Vec::<String>::new(), "{case}: {}", run.id);
        }
    }
}

#[test]
fn unlike_work_is_named_unless_it_is_accepted_and_statuses_are_shown() {
    for (stamps, is_named) in [(&[][..], true), (&[evidence::UNLIKE_OK][..], false)] {
        let study = studies::unlike(stamps);
        let text = written(report::TERMINAL, &study, 120);
        assert_eq!(text.contains("not alike: "), is_named, "{text}");
        assert_eq!(text.contains("are accepted (`unlike: ok`)"), !is_named, "{text}");
        let statuses =
            text.lines().find(|line| line.starts_with("statuses")).unwrap_or_else(|| panic!("{text}"));
        assert!(statuses.contains("nginx 301: ") && !statuses.contains("node"), "{text}");
        assert!(written_wide(report::TERMINAL, &study, 120).contains("Not alike: "), "{text}");
        let json = written(report::format("json").unwrap(), &study, 120);
        assert!(json.contains("\"kind\": \"status\""), "{json}");
    }
    // If variants do not differ, there is no difference to accept.
    let mut alike = studies::unlike(&[evidence::UNLIKE_OK]);
    alike.study.runs.retain(|run| run.new.place.as_ref().is_some_and(|(_, place)| place.system == "node"));
    assert!(!written(report::TERMINAL, &alike, 120).contains("unlike: ok"));
}

#[test]
fn crowded_studies_have_one_line_of_trust_and_fit() {
    for (case, lines_max) in [("study-crowded-two", 24), ("study-crowded-ten", 40)] {
        let (_, study) = cases().find(|(known, _)| *known == case).unwrap();
        let text = written(report::TERMINAL, study, 100);
        assert!(text.lines().count() <= lines_max, "{} lines: {text}", text.lines().count());
        let lines = |words: &str| text.lines().filter(|line| line.contains(words)).count();
        assert_eq!(lines("true figures") + lines("figures are within"), 1, "{text}");
        // Causes with their figures, and remedies, are in another section.
        for details in ["% of the time", "second machine", "other machines took"] {
            assert!(!text.contains(details), "{details}: {text}");
            for (format, of) in [
                ("terminal", written_wide(report::TERMINAL, study, 120)),
                ("md", written(report::format("md").unwrap(), study, 120)),
            ] {
                assert!(of.contains(details), "{details} in {format}: {of}");
            }
        }
    }
    let (_, two) = cases().find(|(case, _)| *case == "study-one-block").unwrap();
    let text = written(report::TERMINAL, two, 100);
    assert!(text.lines().count() <= 24, "{text}");
}

#[test]
fn formats_for_single_runs_reject_studies() {
    for name in ["jtl", "hlog"] {
        let text = written(report::format(name).unwrap(), &studies::one_block(), 80);
        let expected = format!(
            "error: the format {name} is for single runs, and s-20261121-142500-ab12 is a study of several\n  \
             help: name one of its runs, such as 20261121-142500-0000\n"
        );
        assert_eq!(text, expected);
    }
}

#[test]
fn variants_with_more_errors_have_figures() {
    let text = written(report::format("terminal").unwrap(), &studies::one_without_errors(), 120);
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let answer = "every other configuration with valid figures has more errors";
    assert!(text.contains(answer) && !text.contains("nothing else gave"), "{text}");
}

#[test]
fn unavailable_system_does_not_beat_available_one() {
    let study = studies::gone();
    for format in ["terminal", "md"] {
        let text = written(report::format(format).unwrap(), &study, 120);
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        let answer = "frozen was unavailable for 33.3 % of the time (degraded in 8 of 8 runs)";
        assert!(text.contains(answer), "{text}");
        assert!(!text.contains("frozen beats") && !text.contains("★ frozen"), "{text}");
    }
    let json: serde_json::Value =
        serde_json::from_str(&written(report::format("json").unwrap(), &study, 120)).unwrap();
    let ranking = json["comparison"]["ranking"].as_array().unwrap();
    let systems: Vec<_> = ranking.iter().map(|ranked| ranked["system"].as_str().unwrap()).collect();
    assert_eq!(systems, ["steady", "frozen"], "though frozen answered more");
    assert_eq!(json["comparison"]["pairs"][0]["verdict"], "none");
}

#[test]
fn no_report_has_nan_or_infinity() {
    for (case, study) in cases() {
        for format in FORMATS.iter().filter(|format| format.name != "html") {
            let text = written(format, study, 120);
            let found = text.lines().find(|line| line.contains("NaN") || line.contains("inf"));
            assert_eq!(found, None, "{case} as {}", format.name);
        }
    }
}
