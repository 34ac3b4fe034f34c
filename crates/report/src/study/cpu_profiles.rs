//! CPU profiles of the variants of a study, and their differences.

use judge::cpu_profile::Profile;

use super::{LoadView, StudyView, row_name};
use crate::cpu_profile::{self, Compared};
use crate::item::{Escape, Item, Tone};
use crate::text::sanitize;

/// Max number of variants that get a separate table.
const TABLES_MAX: usize = 4;
const NAME_COLUMNS_MAX: usize = 24;

/// Profiles of the rows under a load, each with the index of its row.
pub(crate) fn of_load(view: &StudyView<'_>, load: &LoadView<'_>) -> Vec<(usize, Profile)> {
    let of_row = |row: usize| {
        let runs = load.rows[row].shown().map(|run| (view.runs[run].run, &view.runs[run].measured));
        Some((row, Profile::of(runs)?))
    };
    (0..load.rows.len()).filter_map(of_row).collect()
}

/// Reference row for comparisons: the baseline, or else the best row, or else the first one with a profile.
pub(crate) fn reference(load: &LoadView<'_>, profiles: &[(usize, Profile)]) -> Option<usize> {
    let best = load.best_rows().next().map(|best| best.row);
    let is_there = |row: &usize| profiles.iter().any(|(known, _)| known == row);
    load.baseline.filter(is_there).or(best.filter(is_there)).or(profiles.first().map(|(row, _)| *row))
}

/// Pairs of the reference row with each other row: their indexes and profiles.
pub(crate) fn pairs<'p>(
    load: &LoadView<'_>,
    profiles: &'p [(usize, Profile)],
) -> Vec<([usize; 2], [&'p Profile; 2])> {
    let Some((from, first)) =
        reference(load, profiles).and_then(|from| profiles.iter().find(|(row, _)| *row == from))
    else {
        return Vec::new();
    };
    let others = profiles.iter().filter(|(row, _)| row != from);
    others.map(|(row, second)| ([*from, *row], [first, second])).collect()
}

/// A table per variant, and the differences. Empty without a profile. `of_load_words` names the load if there are several.
pub(super) fn items(
    view: &StudyView<'_>,
    load: &LoadView<'_>,
    of_load_words: &str,
    escape: Escape,
) -> Vec<Item> {
    let profiles = of_load(view, load);
    if profiles.is_empty() {
        let runs = load.rows.iter().flat_map(|row| row.shown());
        return cpu_profile::missing_reason(runs.map(|run| &view.runs[run]), escape);
    }
    let name = |row: usize| escape(&sanitize(&row_name(load, row), NAME_COLUMNS_MAX));
    let mut items = Vec::new();
    for ([from, row], pair) in pairs(load, &profiles).into_iter().take(TABLES_MAX) {
        let names = [name(from), name(row)];
        let compared = Compared { names: names.each_ref().map(String::as_str), profiles: pair };
        let Some(sentence) = compared.sentence(escape) else { continue };
        items.push(Item::Head(format!(
            "CPU time per request, {} against {}{of_load_words}",
            names[1], names[0]
        )));
        items.push(Item::Text(Tone::Strong, format!("{sentence}.")));
        if let Some(table) = compared.table(escape) {
            items.push(Item::Table(table));
            let words = "Intervals are those of sampling alone; runs differ further.";
            items.push(Item::Text(Tone::Plain, words.to_owned()));
        }
    }
    for (row, profile) in profiles.iter().take(TABLES_MAX) {
        let head = format!("CPU time by function, {}{of_load_words}", name(*row));
        items.extend(cpu_profile::items(&head, profile, escape));
    }
    if let Some(more) = profiles.len().checked_sub(TABLES_MAX).filter(|more| *more > 0) {
        items.push(Item::Text(Tone::Plain, format!("{more} more profiled variants: see JSON.")));
    }
    items
}
