//! Items of a capacity search in reports for people.

use super::{CapacityRow, CapacityView, answer, drawn, facts, limit, objectives, table};
use crate::answer::{Answer, Certainty};
use crate::item::{Escape, Item, Tone};
use crate::noun::Noun;
use crate::text::sanitize;

/// Width of the drawing in columns.
const COLUMNS: usize = 40;
/// Maximum number of characters of a row's name.
const NAME_CHARACTERS_MAX: usize = 60;
/// Maximum number of characters of a server's own error message.
const WORDS_CHARACTERS_MAX: usize = 300;
/// Maximum number of characters of a cause with all its readings.
const CAUSE_CHARACTERS_MAX: usize = 1_000;

/// Result of each variant, with a drawing.
pub(crate) fn answers(view: &CapacityView, escape: Escape) -> Vec<Item> {
    let mut items: Vec<Item> = Vec::new();
    for row in &view.rows {
        let answer = answer(row);
        let open = if answer.certainty == Certainty::Sure { "" } else { ", no verdict yet" };
        let name = sanitize(&view.name(row), NAME_CHARACTERS_MAX);
        let text = sanitize(&answer.text, WORDS_CHARACTERS_MAX);
        let sentence = format!("Result{open}: {name}: {}.", Answer { text, ..answer }.sentence());
        items.push(Item::Text(Tone::Strong, escape(&sentence)));
    }
    let asked = escape(&sanitize(&objectives(view), WORDS_CHARACTERS_MAX));
    items.push(Item::Text(Tone::Plain, format!("Conditions of every run: {asked}.")));
    items
}

/// Brief report: the levels of a single variant, or one row for each of several.
pub(crate) fn brief(view: &CapacityView, escape: Escape) -> Vec<Item> {
    if let [row] = &view.rows[..] {
        let (near, all) = (row.rates_near_result(), row.levels.rates.len());
        let of_all = match near.len() < all {
            true => format!(" · the {} of {all} rates nearest to the result", near.len()),
            false => String::new(),
        };
        let mut items = vec![Item::Head(name(view, row, escape) + &of_all)];
        items.extend(drawing(row));
        items.push(Item::Table(table::levels(near, escape)));
        items.push(told([limit::facts(row), facts(view, row)].concat(), escape));
        return items;
    }
    let mut items = vec![Item::Table(table::variants(view, escape))];
    let bad = view.rows.iter().flat_map(|row| {
        let of_row = limit::facts(row).into_iter().chain(super::sentences::warnings(view, row));
        of_row.map(|(kind, words)| (kind, format!("{}: {words}", view.name(row))))
    });
    let bad: Vec<_> = bad.collect();
    if !bad.is_empty() {
        items.push(told(bad, escape));
    }
    items
}

/// Details of each variant.
pub(crate) fn details(view: &CapacityView, noun: &Noun, escape: Escape) -> Vec<Item> {
    let of_row = |row: &CapacityRow| {
        let mut items = Vec::new();
        // The drawing of a single variant is shown above.
        let is_one_of_many = view.rows.len() > 1;
        items.extend(drawing(row).filter(|_| is_one_of_many));
        items.push(Item::Table(table::table(row, noun, escape)));
        items.extend(is_one_of_many.then(|| told(facts(view, row), escape)));
        if let Some((head, causes)) = limit::all(row) {
            let text = |words: &String| escape(&sanitize(words, CAUSE_CHARACTERS_MAX));
            items.extend([
                Item::Head(format!("{}: {head}", name(view, row, escape))),
                Item::points(causes.iter().map(text)),
            ]);
        }
        Item::Fold(format!("{}: all levels", name(view, row, escape)), items)
    };
    view.rows.iter().map(of_row).collect()
}

fn name(view: &CapacityView, row: &CapacityRow, escape: Escape) -> String {
    escape(&sanitize(&view.name(row), NAME_CHARACTERS_MAX))
}

fn drawing(row: &CapacityRow) -> Option<Item> {
    let (line, end) = drawn::line(&row.found, COLUMNS)?;
    let drawing = format!("0 {line} {}/s", super::sentences::format_rate(end));
    Some(Item::Drawn(vec![("━ passes, ▒ unknown, ┈ fails".to_owned(), Some(drawing))]))
}

fn told(facts: Vec<(&'static str, String)>, escape: Escape) -> Item {
    let told = |words: String| escape(&sanitize(&words, WORDS_CHARACTERS_MAX));
    Item::facts(facts.into_iter().map(|(name, words)| (name, told(words))))
}
