//! Documents match the code, and their links and names exist.

use std::collections::BTreeSet;

use record::ErrorClass;
use rules::files::{self, Text};
use rules::packages;

fn documents() -> Vec<Text> {
    files::all().into_iter().filter(|file| file.path.ends_with(".md")).collect()
}

/// Returns the name in backticks at the start of each table row.
fn first_cells(section: &str) -> BTreeSet<String> {
    let rows = section.lines().filter_map(|line| line.strip_prefix("| `"));
    rows.filter_map(|row| Some(row.split_once('`')?.0.to_owned())).collect()
}

fn section<'a>(text: &'a str, heading: &str) -> &'a str {
    let rest = text.split(&format!("\n{heading}\n")).nth(1).unwrap_or_default();
    assert!(!rest.is_empty(), "there is no heading {heading:?}");
    rest.split("\n## ").next().unwrap_or_default()
}

#[test]
fn changelog_begins_with_the_current_version() {
    let changelog = files::read("CHANGELOG.md");
    let newest = changelog.lines().find_map(|line| line.strip_prefix("## [")).unwrap_or_default();
    for package in packages::all().values() {
        let expected = format!("{}]", package.version);
        assert!(
            newest.starts_with(&expected),
            "{} has version {}, CHANGELOG.md begins with [{newest}: describe the version there",
            package.name,
            package.version
        );
    }
}

#[test]
fn architecture_document_lists_every_crate() {
    let text = files::read("docs/architecture.md");
    let listed = first_cells(section(&text, "## Crates"));
    let mut actual = BTreeSet::new();
    for package in packages::all().into_values() {
        let (name, folder) = (package.name, package.folder);
        if folder.starts_with("bench/") {
            continue;
        }
        assert!(
            folder == format!("crates/{name}") || folder == format!("dev/{name}"),
            "the crate {name} must lie in a folder of its name"
        );
        actual.insert(name);
    }
    assert_eq!(listed, actual, "left: the tables of crates in docs/architecture.md; right: crates/ and dev/");
}

#[test]
fn links_in_documents_have_targets() {
    for document in documents() {
        let folder = document.path.rsplit_once('/').map_or("", |(folder, _)| folder);
        for link in document.text.split("](").skip(1) {
            let link = link.split(')').next().unwrap_or_default();
            if link.starts_with("https://") {
                continue;
            }
            let (path, anchor) = link.split_once('#').unwrap_or((link, ""));
            let target = files::root().join(folder).join(path);
            assert!(target.exists(), "{}: the link {link:?} leads nowhere", document.path);
            let text = std::fs::read_to_string(&target).unwrap_or_default();
            let has_anchor = text.lines().any(|line| {
                line.starts_with('#')
                    && line.trim_start_matches(['#', ' ']).to_lowercase().replace(' ', "-") == anchor
            });
            assert!(
                anchor.is_empty() || has_anchor,
                "{}: {path} has no heading for #{anchor}",
                document.path
            );
        }
    }
}

#[test]
fn files_named_in_documents_exist() {
    let places = ["crates/", "dev/", "docs/", "fuzz/", "scripts/"];
    for document in documents() {
        for word in document.text.split(['`', ' ', '\n', '(', ')']) {
            let is_path =
                places.iter().any(|place| word.starts_with(place)) && !word.contains(['*', 'N', ':']);
            let path = word.trim_end_matches(['.', ',', ';']).split('#').next().unwrap_or_default();
            assert!(!is_path || files::root().join(path).exists(), "{}: {path} is not there", document.path);
        }
    }
}

#[test]
fn make_targets_named_in_documents_exist() {
    let makefile = files::read("Makefile");
    for document in documents() {
        for words in document.text.split(['`', '\n']).filter_map(|text| text.trim().strip_prefix("make ")) {
            let name = words.split([' ', ':']).next().unwrap_or_default();
            let is_there = makefile.lines().any(|line| line.starts_with(&format!("{name}:")));
            assert!(is_there, "{}: the Makefile has no target {name:?}", document.path);
        }
    }
}

#[test]
fn flags_named_in_documents_exist() {
    let all = files::all();
    let commands: Vec<&Text> =
        all.iter().filter(|file| file.path.starts_with("crates/tenbin/src/")).collect();
    let is_field = |flag: &str| {
        let field = format!("{}: ", flag.replace('-', "_"));
        commands.iter().any(|file| {
            file.text
                .lines()
                .any(|line| line.trim_start().trim_start_matches("pub(crate) ").starts_with(&field))
        })
    };
    let is_named = |flag: &str| commands.iter().any(|file| file.text.contains(&format!("long = \"{flag}\"")));
    let known = |flag: &str| is_field(flag) || is_named(flag) || flag == "help";
    for document in documents().iter().filter(|file| file.path != "CONTRIBUTING.md") {
        for code in
            document.text.split('`').filter(|code| code.starts_with("--") || code.starts_with("tenbin "))
        {
            for flag in code.split([' ', '\n', '=', ',']).filter_map(|word| word.strip_prefix("--")) {
                assert!(known(flag), "{}: tenbin has no flag --{flag}", document.path);
            }
        }
    }
}

/// Formats the list of error classes as a table.
fn table_of_classes() -> String {
    let rows = ErrorClass::ALL.iter().map(|class| {
        let outcome = class.outcome().map_or("–", record::Outcome::name);
        let [words, help] = [class.words(), class.help()].map(|text| text.replace('|', "\\|"));
        format!("| `{}` | {outcome} | {} | {words} | {help} |\n", class.name(), class.blame().name())
    });
    let head = "| class | outcome | blame | what happened | what to do |\n|---|---|---|---|---|\n";
    std::iter::once(head.to_owned()).chain(rows).collect()
}

#[test]
fn table_of_errors_matches_the_list_of_classes() {
    files::assert_table("docs/measurement.md", &table_of_classes());
}

#[test]
fn documents_list_every_key_of_the_json_contract() {
    let text = files::read("docs/formats.md");
    let listed: BTreeSet<&str> = section(&text, "## JSON").split('`').skip(1).step_by(2).collect();
    let mut keys = BTreeSet::new();
    for report in ["errors.json", "study-one-block.json"] {
        let report = files::read(&format!("crates/report/tests/golden/{report}"));
        let report: serde_json::Value = serde_json::from_str(&report).expect("the golden file is JSON");
        collect_keys(&report, &mut keys);
    }
    let missing: Vec<_> = keys.iter().filter(|key| !listed.contains(key.as_str())).collect();
    assert!(missing.is_empty(), "docs/formats.md must list {missing:?}");
}

/// Collects all keys of a JSON value, except keys of objects whose keys are data.
fn collect_keys(value: &serde_json::Value, keys: &mut BTreeSet<String>) {
    match value {
        serde_json::Value::Object(object) => {
            for (key, value) in object {
                keys.insert(key.clone());
                if !["statuses", "host", "system", "knobs"].contains(&key.as_str()) {
                    collect_keys(value, keys);
                }
            }
        }
        serde_json::Value::Array(items) => items.iter().for_each(|item| collect_keys(item, keys)),
        _ => {}
    }
}
