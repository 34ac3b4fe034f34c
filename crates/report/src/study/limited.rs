//! What probably kept the rows of a load from more, told once for all rows with the same limit.

use super::{LoadView, StudyView};
use judge::{Bottleneck, Certainty};

use crate::bottleneck;

/// Rows with the same limit.
pub(super) struct Limited {
    /// The best settings first, in order of the ranking. There is at least one.
    pub(super) rows: Vec<usize>,
    /// That of the first of the rows.
    pub(super) limit: Bottleneck,
}

/// Limits by row: those of the best settings first, those that are not known last.
pub(super) fn of_load(view: &StudyView<'_>, load: &LoadView<'_>) -> Vec<Limited> {
    let ranked =
        load.bests().chain(load.ranking.iter().filter(|ranked| !ranked.is_best)).map(|ranked| ranked.row);
    let mut order: Vec<usize> = ranked.collect();
    order.extend((0..load.rows.len()).filter(|row| !order.contains(row)).collect::<Vec<_>>());
    let mut groups: Vec<Limited> = Vec::new();
    for row in order {
        let Some(limit) = bottleneck::of_row(view, &load.rows[row]) else { continue };
        match groups.iter_mut().find(|group| group.limit.what == limit.what) {
            Some(group) => group.rows.push(row),
            None => groups.push(Limited { rows: vec![row], limit }),
        }
    }
    groups.sort_by_key(|group| group.limit.certainty == Certainty::Unknown);
    groups
}
