//! Likely bottlenecks of the rows of a load, grouped by bottleneck.

use super::{LoadView, StudyView};
use judge::{Bottleneck, Certainty};

use crate::bottleneck;

/// Rows with the same bottleneck.
pub(super) struct Group {
    /// Indexes of rows: the best row of each system first, then the others by rank. At least one.
    pub(super) rows: Vec<usize>,
    /// Bottleneck of the first row.
    pub(super) bottleneck: Bottleneck,
    /// Other possible bottlenecks of the first row.
    pub(super) others: Vec<Bottleneck>,
}

/// Groups rows by bottleneck. The best rows come first, unknown bottlenecks last.
pub(super) fn of_load(view: &StudyView<'_>, load: &LoadView<'_>) -> Vec<Group> {
    let ranked =
        load.best_rows().chain(load.ranking.iter().filter(|ranked| !ranked.is_best)).map(|ranked| ranked.row);
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
