//! Utilization of each core by variant.

use judge::comparison::{Variant, busy_cores};

use super::{LoadView, StudyView};
use crate::view::View;

/// Maximum number of cores in a table.
const CORES_MAX: usize = 64;

/// Name of a core, and its utilization in each row, from 0 to 1.
pub(super) type Column<'a> = (&'a str, Vec<Option<f64>>);

/// Utilization of the first cores under a load. `None` if none was sampled.
pub(super) fn of_load<'a>(view: &'a StudyView<'_>, load: &LoadView<'_>) -> Option<Vec<Column<'a>>> {
    let variants: Vec<&Variant<'_>> = load.rows.iter().map(|row| &row.variant).collect();
    let runs: Vec<_> = view.runs.iter().map(View::measured_run).collect();
    let mut cores = busy_cores(&variants, &runs);
    cores.truncate(CORES_MAX);
    (!cores.is_empty()).then_some(cores)
}
