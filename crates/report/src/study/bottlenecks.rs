//! What probably kept the rows of a load from more, told once for all rows with the same bottleneck.

use super::{LoadView, StudyView};
use judge::{Bottleneck, Certainty};

use crate::bottleneck;

/// Rows with the same bottleneck.
pub(super) struct Group {
    /// The best settings first, in order of the ranking. There is at least one.
    pub(super) rows: Vec<usize>,
    /// That of the first of the rows.
    pub(super) bottleneck: Bottleneck,
    /// What else may be, of the first of the rows.
    pub(super) others: Vec<Bottleneck>,
}

/// Bottlenecks by row: those of the best settings first, those that are not known last.
pub(super) fn of_load(view: &StudyView<'_>, load: &LoadView<'_>) -> Vec<Group> {
    let ranked =
        load.bests().chain(load.ranking.iter().filter(|ranked| !ranked.is_best)).map(|ranked| ranked.row);
    let mut order: Vec<usize> = ranked.collect();
    order.extend((0..load.rows.len()).filter(|row| !order.contains(row)).collect::<Vec<_>>());
    let mut groups: Vec<Group> = Vec::new();
    for row in order {
        let mut causes = bottleneck::of_row(view, &load.rows[row]).into_iter();
        let Some(bottleneck) = causes.next() else { continue };
        match groups.iter_mut().find(|group| group.bottleneck.what == bottleneck.what) {
            Some(group) => group.rows.push(row),
            None => groups.push(Group { rows: vec![row], bottleneck, others: causes.collect() }),
        }
    }
    groups.sort_by_key(|group| group.bottleneck.certainty == Certainty::Unknown);
    groups
}
