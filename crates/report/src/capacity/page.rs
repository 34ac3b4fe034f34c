//! A search as part of a page for people.

use super::{CapacityRow, CapacityView, answer, drawn, facts, objectives, table};
use crate::answer::{Answer, Certainty};
use crate::item::{Escape, Item, Tone};
use crate::noun::Noun;
use crate::text::harmless;

/// Columns of the drawing.
const COLUMNS: usize = 40;
/// Characters of the name of a row.
const NAME_CHARACTERS_MAX: usize = 60;
/// Characters of what a server said of its end.
const WORDS_CHARACTERS_MAX: usize = 300;

/// An answer for each variant, drawn.
pub(crate) fn answers(view: &CapacityView, escape: Escape) -> Vec<Item> {
    let mut items: Vec<Item> = Vec::new();
    for row in &view.rows {
        let answer = answer(row);
        let open = if answer.certainty == Certainty::Sure { "" } else { ", no verdict yet" };
        let name = harmless(&view.name(row), NAME_CHARACTERS_MAX);
        let text = harmless(&answer.text, WORDS_CHARACTERS_MAX);
        let sentence = format!("Answer{open}: {name} {}.", Answer { text, ..answer }.sentence());
        items.push(Item::Text(Tone::Strong, escape(&sentence)));
    }
    let asked = escape(&harmless(&objectives(view), WORDS_CHARACTERS_MAX));
    items.push(Item::Text(Tone::Plain, format!("In every run had to hold: {asked}.")));
    items
}

/// Everything about each variant.
pub(crate) fn items(view: &CapacityView, noun: &Noun, escape: Escape) -> Vec<Item> {
    view.rows.iter().flat_map(|row| of_row(view, row, noun, escape)).collect()
}

fn of_row(view: &CapacityView, row: &CapacityRow, noun: &Noun, escape: Escape) -> Vec<Item> {
    let name = escape(&harmless(&view.name(row), NAME_CHARACTERS_MAX));
    let mut items = vec![Item::Head(name)];
    if let Some((line, end)) = drawn::line(&row.found, COLUMNS) {
        let drawing = format!("0 {line} {}/s", super::sentences::written(end));
        let words = "━ held, ▒ not known, ┈ failed".to_owned();
        items.push(Item::Drawn(vec![(words, Some(drawing))]));
    }
    items.push(Item::Table(table(row, noun, escape)));
    let facts = facts(view, row).into_iter();
    let told = |words: String| escape(&harmless(&words, WORDS_CHARACTERS_MAX));
    items.push(Item::facts(facts.map(|(name, words)| (name, told(words)))));
    items
}
