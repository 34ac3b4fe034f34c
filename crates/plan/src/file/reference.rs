//! Writes the reference of the plan format as Markdown tables.

use std::fmt::Write as _;

use super::keys::Table;
use super::tables;

/// Reference with one section for each kind of mapping, and a table of its keys.
pub fn reference() -> String {
    let sections = tables::all().iter().map(|table| section(table));
    sections.collect::<Vec<_>>().join("\n")
}

fn section(table: &Table) -> String {
    let mut text = format!(
        "### {}\n\n{}\n\n| key | example | meaning |\n|---|---|---|\n",
        heading(table),
        table.sentence
    );
    for key in table.keys {
        let needed = if key.is_required { "Needed. " } else { "" };
        let meaning = format!("{needed}{}", key.sentence);
        let _ = writeln!(text, "| `{}` | `{}` | {} |", key.name, cell(key.example), cell(&meaning));
    }
    text
}

fn heading(table: &Table) -> String {
    let mut letters = table.name.chars();
    letters
        .next()
        .map_or_else(String::new, |first| first.to_uppercase().collect::<String>() + letters.as_str())
}

fn cell(text: &str) -> String {
    text.replace('|', "\\|")
}
