//! Files are short, named after one topic, and begin with a sentence.

use rules::{files, packages, tokens};

const FILE_LINES_MAX: usize = 800;
const FUNCTION_LINES_MAX: usize = 70;
/// Max lines of a function in a test, which may be a table of cases. Never raise it.
const TEST_LINES_MAX: usize = 130;
/// Functions that are tables, and their max lines. Never raise these numbers.
const LONGER_FUNCTIONS: &[(&str, &str, usize)] =
    &[("crates/wire/src/http1/samples.rs", "faults", 101), ("crates/target/src/settings.rs", "faults", 78)];
/// File names that do not describe the content.
const VAGUE_FILE_NAMES: [&str; 8] = ["util", "utils", "common", "misc", "helper", "helpers", "core", "types"];

fn lines_by_file() -> Vec<(usize, String)> {
    let mut sizes: Vec<_> = files::rust().iter().map(|file| (file.lines(), file.path.clone())).collect();
    sizes.sort_unstable_by(|a, b| b.cmp(a));
    sizes
}

#[test]
fn files_have_at_most_800_lines() {
    let sizes = lines_by_file();
    for (lines, path) in &sizes {
        assert!(
            *lines <= FILE_LINES_MAX,
            "{path} has {lines} lines: give one of its ideas a file of its own"
        );
    }
}

#[test]
fn every_file_begins_with_a_sentence() {
    for file in files::rust() {
        let mut lines = file.text.lines();
        let first = lines.next().unwrap_or_default();
        assert!(
            first.starts_with("//! ") && first.len() > 10,
            "{} must open with a sentence: //! What it is, or does.",
            file.path
        );
        let rest = lines.take_while(|line| line.starts_with("//! "));
        let paragraph: Vec<&str> = std::iter::once(first).chain(rest).collect();
        let last = paragraph.last().copied().unwrap_or_default();
        assert!(
            last.ends_with(['.', ':', '?', ')']),
            "{}: the opening sentence does not end: {last:?}",
            file.path
        );
    }
}

#[test]
fn file_names_are_not_generic() {
    for file in files::rust() {
        let parts = file.path.trim_end_matches(".rs").split('/');
        for part in parts {
            assert!(
                !VAGUE_FILE_NAMES.contains(&part),
                "{}: {part:?} names no idea: say what it is about",
                file.path
            );
        }
    }
}

#[test]
fn functions_have_a_maximum_length() {
    let mut longest: Vec<_> = files::rust()
        .iter()
        .flat_map(|file| {
            let path = file.path.clone();
            tokens::functions(&file.text)
                .into_iter()
                .map(move |function| (function.lines, function, path.clone()))
        })
        .collect();
    longest.sort_unstable_by(|(a, ..), (b, ..)| b.cmp(a));
    let ten = longest.iter().take(10);
    let ten: String =
        ten.map(|(lines, function, path)| format!("\n{lines:>5} {path} {}", function.name)).collect();
    for (lines, function, path) in longest {
        let longer = LONGER_FUNCTIONS.iter().find(|(file, name, _)| *file == path && *name == function.name);
        let usual = if path.contains("/tests/") { TEST_LINES_MAX } else { FUNCTION_LINES_MAX };
        let max = longer.map_or(usual, |(.., max)| *max);
        assert!(
            lines <= max,
            "{path}:{}: {} has {lines} lines of {max}: name its parts{ten}",
            function.line,
            function.name
        );
    }
}

#[test]
fn code_has_no_todo_markers() {
    let words = [concat!("TO", "DO"), concat!("FIX", "ME"), concat!("XX", "X:")];
    for file in files::all() {
        for (number, line) in file.text.lines().enumerate() {
            let found = words.iter().find(|word| line.contains(**word));
            assert!(found.is_none(), "{}:{}: {found:?}: do it, or leave it out", file.path, number + 1);
        }
    }
    for file in files::rust() {
        let code = tokens::of(&file.text);
        for sequence in [&["todo", "!"][..], &["unimplemented", "!"], &["dbg", "!"], &["#", "ignore"]] {
            let lines = tokens::lines_of(&code, sequence);
            assert!(lines.is_empty(), "{}:{lines:?} has {sequence:?}: do it, or leave it out", file.path);
        }
    }
}

#[test]
fn no_code_is_unsafe() {
    for file in files::rust() {
        let lines = tokens::lines_of(&tokens::of(&file.text), &["unsafe"]);
        assert!(
            lines.is_empty(),
            "{}:{lines:?} is unsafe: rustix has safe calls for what the kernel does",
            file.path
        );
    }
    let manifest = files::read("Cargo.toml");
    assert!(
        manifest.contains("unsafe_code = \"forbid\""),
        "[workspace.lints.rust] must say unsafe_code = \"forbid\""
    );
}

#[test]
fn texts_name_no_path_of_one_machine() {
    let places = ["work", "home", "root", "Users"].map(|folder| format!("/{folder}/"));
    for file in files::all() {
        for (number, line) in file.text.lines().enumerate() {
            let found = places.iter().find(|place| line.contains(place.as_str()));
            assert!(found.is_none(), "{}:{}: {found:?} is a path of one machine", file.path, number + 1);
        }
    }
}

#[test]
fn every_crate_inherits_from_the_workspace() {
    for package in packages::all().values() {
        let path = format!("{}/Cargo.toml", package.folder);
        let manifest = files::read(&path);
        assert!(
            manifest.contains("\n[lints]\nworkspace = true\n"),
            "{path} must say: [lints] workspace = true"
        );
        assert!(!package.is_published, "{path} must say: publish.workspace = true");
        assert!(manifest.contains("version.workspace = true"), "{path} must say: version.workspace = true");
        let has_own = manifest.lines().any(|line| {
            line.starts_with(|first: char| first.is_ascii_lowercase())
                && line.contains("= \"")
                && line.contains("version")
        });
        assert!(!has_own, "{path} has a version of its own: list the dependency in [workspace.dependencies]");
    }
}

#[test]
fn every_test_file_is_run() {
    for package in packages::all().values() {
        let manifest = files::read(&format!("{}/Cargo.toml", package.folder));
        if !manifest.contains("autotests = false") {
            continue;
        }
        let folder = format!("{}/tests/", package.folder);
        let all = files::read(&format!("{folder}all.rs"));
        for file in files::rust() {
            let Some(name) = file.path.strip_prefix(&folder).filter(|name| !name.contains('/')) else {
                continue;
            };
            let name = name.trim_end_matches(".rs");
            let has_own_program = manifest.contains(&format!("path = \"tests/{name}.rs\""));
            assert!(
                has_own_program || all.lines().any(|line| line == format!("mod {name};")),
                "{} is in no program: write `mod {name};` into {folder}all.rs",
                file.path
            );
        }
    }
}
