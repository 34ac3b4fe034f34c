//! Malicious files. Each is either rejected or read, without side effects.

use std::fmt::Write as _;
use std::path::PathBuf;

use plan::{FileErrors, Study};
use proptest::prelude::*;

fn read(bytes: &[u8]) -> Result<Study, FileErrors> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/broken");
    Study::from_bytes(bytes, "plan.yaml", "plan".to_owned(), folder, false)
}

/// Errors of a file, which must have some.
fn errors_of(text: &str) -> String {
    let faults = read(text.as_bytes()).expect_err("it is refused").to_string();
    assert!(faults.len() < 1 << 20, "{} bytes of errors", faults.len());
    faults
}

const END: &str = "\nload: { users: 1 }\nurl: http://127.0.0.1:80\n";

#[test]
fn limits_depth() {
    for deep in ["[".repeat(100_000), "{a: ".repeat(100_000), "- ".repeat(100_000), "? ".repeat(100_000)] {
        assert!(errors_of(&deep).contains("more than 64 levels deep"), "{}", errors_of(&deep));
    }
    let indented = (0..500).fold(String::new(), |text, depth| text + &" ".repeat(depth) + "a:\n");
    assert!(errors_of(&indented).contains("more than 64 levels deep"));
    let just_deep = format!("a: {}{}", "[".repeat(62), "]".repeat(62));
    assert!(errors_of(&just_deep).contains("unknown key `a` in the plan"));
}

#[test]
fn limits_expansion_of_aliases() {
    let mut bomb = "a0: &a0 [x,x,x,x,x,x,x,x,x,x]\n".to_owned();
    for level in 1..60 {
        let before = format!("*a{},", level - 1).repeat(10);
        let _ = writeln!(bomb, "a{level}: &a{level} [{before}]");
    }
    assert!(errors_of(&bomb).contains("aliases repeat more than 1000 values"));
    let many = format!("a: &a x\nb: [{}]\n", "*a,".repeat(2_000));
    assert!(errors_of(&many).contains("aliases repeat more than 1000 values"));
    let few = format!("scenario: [ &step {{ get: /, name: a }} ]{END}question: *step\n");
    assert!(errors_of(&few).contains("`question` cannot be a mapping"));
}

#[test]
fn limits_size() {
    assert!(errors_of(&" ".repeat(8 * 1024 * 1024 + 1)).contains("larger than 8 MiB"));
    assert!(errors_of(&format!("a: [{}]", "1,".repeat(200_000))).contains("more than 100000 values"));
    let keys = (0..200_000).fold(String::new(), |text, key| text + "k" + &key.to_string() + ": 1\n");
    assert!(errors_of(&keys).contains("more than 100000 values"));
    let names = format!("scenario: [ {{ post: /, body: \"{}\" }} ]{END}", "{x}".repeat(500_000));
    assert!(errors_of(&names).contains("undefined variable {x}"));
    let known = names.replace("scenario", "data: { x: { text: 1 } }\nscenario");
    assert!(errors_of(&known).contains("more than 100000 names in braces"));
    let long = format!("question: {}{END}", "x ".repeat(3_000_000));
    assert!(errors_of(&long).contains("the plan requires `scenario`"));
    let braces = format!("scenario: [ {{ post: /, body: \"{}\" }} ]{END}", "{".repeat(2_000_000));
    assert!(read(braces.as_bytes()).is_ok());
}

#[test]
fn counts_thousands_of_errors_and_shows_a_hundred() {
    let commands = "\"a $x\",".repeat(20_000);
    let plan = format!(
        "scenario: [ get: / ]\nload: {{ users: 1 }}\nsystems: {{ a: {{ start: \"a {{port}}\", before: [{commands}] }} }}"
    );
    let faults = read(plan.as_bytes()).expect_err("it is refused");
    assert_eq!((faults.list().len(), faults.count()), (100, 20_000));
    assert!(faults.to_string().ends_with("… and 19900 more.\n\n20000 errors; nothing was started."));
}

#[test]
fn limits_combinations() {
    let values = (0..200).map(|value| value.to_string()).collect::<Vec<_>>().join(",");
    let parameters: Vec<String> = (0..40).map(|number| format!("k{number}: [{values}]")).collect();
    let uses: String = (0..40).map(|number| format!("{{k{number}}}")).collect();
    let plan = format!(
        "scenario: [ get: / ]\nload: {{ users: 1 }}\nsystems: {{ a: {{ start: \"a {{port}} {uses}\", vary: {{ {} }} }} }}",
        parameters.join(", ")
    );
    assert!(errors_of(&plan).contains("more than 10000 variants"));
}

proptest! {
    #[test]
    fn reads_or_rejects_any_bytes(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        if let Err(faults) = read(&bytes) {
            prop_assert!(faults.count() > 0 && faults.to_string().ends_with("nothing was started."));
        }
    }

    #[test]
    fn reads_or_rejects_pieces_of_plans(pieces in prop::collection::vec(prop::sample::select(PIECES), 0..40)) {
        if let Err(faults) = read(pieces.concat().as_bytes()) {
            prop_assert!(faults.count() > 0);
            let moves_cursor = faults.to_string().contains('\u{1b}');
            prop_assert!(!moves_cursor);
        }
    }

    #[test]
    fn reads_or_rejects_damaged_plan(
        at in 0usize..2_000, length in 0usize..20, with in prop::collection::vec(any::<u8>(), 0..10)
    ) {
        let mut bytes = include_bytes!("good/everything.yaml").to_vec();
        let at = at % bytes.len();
        bytes.splice(at..(at + length).min(bytes.len()), with);
        let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/good");
        for is_quick in [false, true] {
            match Study::from_bytes(&bytes, "plan.yaml", "plan".to_owned(), folder.clone(), is_quick) {
                Ok(study) => prop_assert!(!study.explain().is_empty()),
                Err(faults) => prop_assert!(!faults.to_string().is_empty()),
            }
        }
    }
}

const PIECES: &[&str] = &[
    "scenario:",
    "scenarios:",
    "load:",
    "systems:",
    "data:",
    "url:",
    "gates:",
    "quick:",
    "vary:",
    "only:",
    "- ",
    " ",
    "  ",
    "\n",
    "\n  ",
    "\n    ",
    "{",
    "}",
    "[",
    "]",
    ",",
    ": ",
    "&a ",
    "*a",
    "get: /",
    "{n}",
    "{{n}}",
    "users: 1",
    "rate: 5/s",
    "for: 10s",
    "start: x {port}",
    "\"",
    "'",
    "|\n  ",
    ">-\n",
    "#",
    "!!str ",
    "? ",
    "---\n",
    "\t",
    "\u{1b}",
    "\u{202e}",
    "天",
    "p(99)<1s",
    "steps:",
    "needs:",
    "processes:",
    "stages:",
    "json:",
    "save:",
    "<<: *a",
    "~",
    "1..5",
    "%YAML 1.2\n",
    "\u{feff}",
];
