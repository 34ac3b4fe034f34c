//! Texts from peers and users pass through every format as text, and nothing else.

use crate::runs;
use crate::studies;
use evidence::Run;
use report::{Options, format};

const ATTACKS: &[&str] = &[
    "\u{1b}[31mred\u{1b}]0;title\u{7}\u{1b}[2J",
    "\u{0}\u{8}\u{7f}\u{9b}31m",
    "<script>alert(1)</script><img src=x onerror=alert(1)>",
    "a | b ` c ``` | d | [x](javascript:alert(1)) ![y](z) \\",
    "line\nbreak\r\n| row |\n# head\u{2028}\u{2029}",
    "=cmd()|' /C calc'!A0",
    "=cmd|' /C calc'!A0",
    "  =1+1",
    "\u{a0}@SUM(1)",
    "\u{3000}＝1+1",
    "＋1",
    "\r=1",
    "+1+1",
    "-2+3",
    "@SUM(A1)",
    "\t=1",
    "\u{202e}gpj.exe\u{2066}\u{200b}\u{feff}\u{e0041}",
    "\"quoted\", 'too'; and, commas",
    "{}{0}%s%n${x}",
];

/// Report on the run, followed by a report on two copies of it if the format supports several runs.
fn written(name: &str, run: &Run) -> String {
    let options = Options { color: false, width: 100, is_wide: true };
    let mut out = Vec::new();
    report::write(format(name).unwrap(), std::slice::from_ref(run), &options, &mut out).unwrap();
    if !matches!(name, "hlog" | "jtl") {
        report::write(format(name).unwrap(), &[run.clone(), run.clone()], &options, &mut out).unwrap();
    }
    String::from_utf8(out).unwrap()
}

/// Report on the study. Empty if the format does not support studies.
fn written_study(name: &str, study: &studies::Stored) -> String {
    let mut out = Vec::new();
    let options = Options { color: false, width: 100, is_wide: true };
    match report::write_study(format(name).unwrap(), &study.study, &|run| study.load(run), &options, &mut out)
    {
        Err(report::ReportError::NoStudies { .. }) => String::new(),
        written => {
            written.unwrap();
            String::from_utf8(out).unwrap()
        }
    }
}

fn directs_a_terminal(character: char) -> bool {
    character != '\n' && character.is_control()
        || matches!(character, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}')
        || character >= '\u{e0000}'
}

#[test]
fn no_format_writes_control_characters() {
    for attack in ATTACKS {
        let (run, study) = (runs::hostile(attack), studies::hostile(attack));
        // The page contains a script, and has separate tests.
        for format in report::FORMATS.iter().filter(|format| format.name != "html") {
            let text = written(format.name, &run) + &written_study(format.name, &study);
            let found = text.chars().find(|character| directs_a_terminal(*character));
            assert_eq!(found, None, "{} of {attack:?}", format.name);
        }
    }
}

#[test]
fn json_round_trips_every_text() {
    for attack in ATTACKS {
        let mut out = Vec::new();
        let runs = [runs::hostile(attack)];
        report::write(
            format("json").unwrap(),
            &runs,
            &Options { color: false, width: 80, is_wide: true },
            &mut out,
        )
        .unwrap();
        let value: serde_json::Value = serde_json::from_slice(&out).unwrap();
        for pointer in [
            "/title",
            "/steps/0/name",
            "/errors/0/message",
            "/steps/0/statements/0/name",
            "/system/name",
            "/run/host/name",
            "/stamps/0",
            "/tls",
        ] {
            assert_eq!(value.pointer(pointer).and_then(|text| text.as_str()), Some(*attack), "{pointer}");
        }
    }
}

#[test]
fn csv_cells_are_no_formulas() {
    for attack in ATTACKS {
        let (run, study) = (runs::hostile(attack), studies::hostile(attack));
        for (name, text) in [
            ("csv", written("csv", &run)),
            ("jtl", written("jtl", &run)),
            ("csv", written_study("csv", &study)),
        ] {
            let mut reader =
                csv::ReaderBuilder::new().has_headers(false).flexible(false).from_reader(text.as_bytes());
            for record in reader.records() {
                for cell in &record.unwrap_or_else(|error| panic!("{name} of {attack:?}: {error}")) {
                    let begins = cell.trim_start().chars().next();
                    assert!(
                        !begins.is_some_and(|begins| "=+-@\t\r＝＋－＠".contains(begins)),
                        "{name}: {cell}"
                    );
                }
            }
        }
    }
}

#[test]
fn markdown_has_no_tags_and_tables_keep_their_columns() {
    for attack in ATTACKS {
        let text = written("md", &runs::hostile(attack)) + &written_study("md", &studies::hostile(attack));
        let own = ["<details>", "</details>", "<summary>", "</summary>", "@<!-- -->"];
        let bare = own.iter().fold(text.clone(), |text, tag| text.replace(tag, ""));
        assert!(!bare.contains('<') && !bare.contains('@'), "{text}");
        for (opening, closing) in [("<details>", "</details>"), ("<summary>", "</summary>")] {
            assert_eq!(text.matches(opening).count(), text.matches(closing).count(), "{text}");
        }
        let bare = bare.replace("\\\\", "").replace("\\`", "").replace("\\[", "");
        assert!(!bare.contains('['), "{text}");
        // Every other part is a drawing.
        for drawing in bare.split('`').skip(1).step_by(2) {
            let is_drawn = |character: char| "┈│├─●┤•:▁▂▃▄▅▆▇█■ 0123456789.".contains(character);
            assert!(!drawing.is_empty() && drawing.chars().all(is_drawn), "{drawing} of {text}");
        }
        assert_eq!(bare.matches('`').count() % 2, 0, "{text}");
        let mut columns = None;
        for line in text.lines() {
            let bars = line.replace("\\\\", "").replace("\\|", "").matches('|').count();
            if !line.starts_with('|') {
                columns = None;
                assert_eq!(bars, 0, "{line}");
                continue;
            }
            assert_eq!(*columns.get_or_insert(bars), bars, "{line}");
        }
    }
}

#[test]
fn very_long_text_is_cut() {
    let run = runs::hostile(&"x".repeat(100_000));
    let study = studies::hostile(&"x".repeat(100_000));
    for name in ["terminal", "md"] {
        assert!(written(name, &run).len() < 40_000, "{name}");
        assert!(written_study(name, &study).len() < 40_000, "{name} of a study");
    }
}
