//! Compares the list of formats with its table in the documentation.

use replay::FORMATS;

#[test]
fn documentation_lists_every_format_in_order() {
    let page = include_str!("../../../docs/replay.md");
    let table = page.split("## Formats").nth(1).expect("a section on formats");
    let rows: Vec<&str> =
        table.lines().filter(|line| line.starts_with("| `")).take(FORMATS.len() + 1).collect();
    let expected: Vec<String> =
        FORMATS.iter().map(|format| format!("| `{}` | {} |", format.name, format.sentence)).collect();
    assert_eq!(rows, expected);
}
