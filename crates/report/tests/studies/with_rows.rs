//! Studies whose runs write rows to two shards.

use evidence::StepPart;
use judge::{
    SHARDS_OF_PLAN, WRITTEN_AFTER, WRITTEN_BEFORE, WRITTEN_DOUBLED, WRITTEN_SUBJECT, WRITTEN_UNCHECKED,
};
use serde_json::json;

use super::{Behaviour, Stored, What, app_servers, behaviour};
use crate::runs::Kept;

const SYSTEMS: [Behaviour; 2] =
    [behaviour("one", "", 800, What::Works), behaviour("other", "", 700, What::Works)];

/// A study whose runs are changed by `change`.
pub(crate) fn of(change: fn(&mut Kept)) -> Stored {
    let mut script = app_servers();
    script.behaviours = &SYSTEMS;
    script.new.gates.clear();
    script.change = change;
    script.through_store()
}

/// Adds readings of as many rows as requests that ended ok, less `lost`.
pub(crate) fn add_rows(kept: &mut Kept, lost: u64) {
    let ok: u64 = kept.seconds.iter().map(|(_, second)| second.tally.counts.ok).sum();
    let figure = |metric, label, value: u64| fixtures::reading(WRITTEN_SUBJECT, metric, label, value as f64);
    let rows = [(WRITTEN_DOUBLED, 0), (WRITTEN_BEFORE, 100), (WRITTEN_AFTER, 100 + ok - lost)];
    kept.readings.push((0, rows.map(|(metric, rows)| figure(metric, "0", rows)).to_vec()));
}

/// Adds the reading of rows that could not be read.
pub(crate) fn add_unchecked(kept: &mut Kept) {
    kept.readings.push((0, vec![fixtures::reading(WRITTEN_SUBJECT, WRITTEN_UNCHECKED, "", 1.0)]));
}

/// Sends all requests of a run to the first of two shards.
pub(crate) fn add_shards(kept: &mut Kept) {
    kept.new.plan_json[SHARDS_OF_PLAN] =
        json!([{ "endpoint": "", "steps": [0], "addresses": 2, "in_use": 2 }]);
    kept.new.parts = ["a:1", "b:2"].map(|name| StepPart { name: name.to_owned(), of: 0 }).to_vec();
    let first = kept.seconds.iter().map(|(_, second)| (1, second.clone())).collect::<Vec<_>>();
    kept.seconds.extend(first);
}
