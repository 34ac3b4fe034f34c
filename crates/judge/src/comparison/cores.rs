//! Busy share of each core under each variant.

use std::collections::BTreeMap;

use stats::median;

use super::variant::Variant;
use crate::measured_run::MeasuredRun;

/// Returns the name of each core, and its busy share under each variant: the median of the runs shown, `None` if not
/// sampled. Cores keep the order of the readings.
pub fn busy_cores<'a>(
    variants: &[&Variant<'_>],
    runs: &[MeasuredRun<'a>],
) -> Vec<(&'a str, Vec<Option<f64>>)> {
    let mut names: Vec<&'a str> = Vec::new();
    let mut of_variants: Vec<BTreeMap<&'a str, Vec<f64>>> = Vec::new();
    for variant in variants {
        let mut shares: BTreeMap<&'a str, Vec<f64>> = BTreeMap::new();
        let cores = variant.shown().filter_map(|run| runs[run].measured.resources.as_ref());
        for core in cores.flat_map(|resources| &resources.cores) {
            if !shares.contains_key(core.name.as_str()) && !names.contains(&core.name.as_str()) {
                names.push(&core.name);
            }
            shares.entry(&core.name).or_default().push(core.busy);
        }
        of_variants.push(shares);
    }
    let middle = |shares: &BTreeMap<&str, Vec<f64>>, name: &str| median(shares.get(name)?.iter().copied());
    let column = |name: &'a str| (name, of_variants.iter().map(|shares| middle(shares, name)).collect());
    names.into_iter().map(column).collect()
}
