//! Formats are listed once in the workspace, and once in the documents.

use report::FORMATS;
use rules::files;
use rules::lists::OnlyList;

#[test]
fn names_of_formats_are_in_one_place() {
    OnlyList {
        idea: "formats (write report::TERMINAL and the like)",
        names: FORMATS.iter().map(|format| format.name).collect(),
        homes: &["crates/report/src/formats/", "crates/report/src/html.rs"],
        elsewhere_max: 0,
        // Formats of data sets and of bodies, and the meta command that deletes a key.
        other_meanings: &[
            ("", "csv"),
            ("", "json"),
            ("crates/tenbin/src/commands/request/media.rs", "html"),
            ("crates/wire/src/memcached/step.rs", "md"),
            ("crates/wire/src/memcached/workload.rs", "md"),
        ],
    }
    .assert();
}

#[test]
fn documents_list_all_formats() {
    let text = files::read("docs/formats.md");
    let rows = text.split("\n## ").next().unwrap_or_default().lines();
    let mut listed: Vec<&str> =
        rows.filter_map(|row| Some(row.strip_prefix("| `")?.split_once('`')?.0)).collect();
    let mut names: Vec<&str> = FORMATS.iter().map(|format| format.name).collect();
    listed.sort_unstable();
    names.sort_unstable();
    assert_eq!(listed, names, "left: the table in docs/formats.md; right: report::FORMATS");
}
