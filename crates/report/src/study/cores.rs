//! How busy each core was under each variant.

use judge::comparison::{Variant, busy_cores};

use super::{LoadView, StudyView};
use crate::view::View;

/// Cores that a table shows.
const CORES_MAX: usize = 64;

/// The name of a core, and for every row its share of busy time.
pub(super) type Column<'a> = (&'a str, Vec<Option<f64>>);

/// The first cores under a load; `None` if none was sampled.
pub(super) fn of_load<'a>(view: &'a StudyView<'_>, load: &LoadView<'_>) -> Option<Vec<Column<'a>>> {
    let variants: Vec<&Variant<'_>> = load.rows.iter().map(|row| &row.variant).collect();
    let runs: Vec<_> = view.runs.iter().map(View::measured_run).collect();
    let mut cores = busy_cores(&variants, &runs);
    cores.truncate(CORES_MAX);
    (!cores.is_empty()).then_some(cores)
}
