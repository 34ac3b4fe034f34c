//! How busy each core was under each variant.

use std::collections::BTreeMap;

use judge::Eligibility;
use stats::median;

use super::{LoadView, StudyView};

/// Cores that a table shows.
const CORES_MAX: usize = 64;

/// The name of a core, and for every row its share of busy time.
pub(super) type Column<'a> = (&'a str, Vec<Option<f64>>);

/// Per core its name, and for every row its share of busy time the median of its valid runs; `None` if it was not sampled.
pub(super) fn of_load<'a>(view: &'a StudyView<'_>, load: &LoadView<'_>) -> Option<Vec<Column<'a>>> {
    let mut names: Vec<&str> = Vec::new();
    let mut of_rows: Vec<BTreeMap<&str, Vec<f64>>> = Vec::new();
    for row in &load.rows {
        let mut shares: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
        let wanted = if row.is_valid { Eligibility::Valid } else { Eligibility::Invalid };
        for run in row.eligibility(wanted) {
            for core in view.runs[run].measured.resources.iter().flat_map(|resources| &resources.cores) {
                if !names.contains(&core.name.as_str()) && names.len() < CORES_MAX {
                    names.push(&core.name);
                }
                shares.entry(&core.name).or_default().push(core.busy);
            }
        }
        of_rows.push(shares);
    }
    let middle = |shares: &BTreeMap<&str, Vec<f64>>, name: &str| median(shares.get(name)?.iter().copied());
    let column = |name: &'a str| (name, of_rows.iter().map(|shares| middle(shares, name)).collect());
    (!names.is_empty()).then(|| names.into_iter().map(column).collect())
}
