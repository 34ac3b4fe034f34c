//! CPU time and memory by process of a system, for the table of physical costs.

use judge::{Usage, median_of, rates};

use crate::study::{LoadView, VariantRow};
use crate::table::Cell;
use crate::units::{decimal, mebibytes};
use crate::view::View;

/// Maximum number of processes that the table has.
const PROCESSES_MAX: usize = 12;

/// Figure of one process: medians over the runs of each row.
pub(crate) struct ProcessCost {
    /// Display name: `CPU per request, process web`. Arbitrary text: escape it.
    pub(crate) name: String,
    figures: Vec<Option<f64>>,
    write: fn(f64) -> String,
}

impl ProcessCost {
    /// Figure of a row.
    pub(crate) fn cell(&self, row: usize) -> Cell {
        Cell::figure(self.figures.get(row).copied().flatten(), self.write)
    }

    /// Largest figure ÷ smallest. `None` unless two rows have one above 0.
    pub(crate) fn ratio(&self) -> Option<f64> {
        let known = self.figures.iter().flatten().copied().filter(|figure| *figure > 0.0);
        let (min, max) = (known.clone().reduce(f64::min)?, known.clone().reduce(f64::max)?);
        (known.count() > 1).then(|| max / min)
    }
}

/// CPU time per request and peak memory of each process. Empty unless a system has several.
pub(crate) fn of_load(views: &[View<'_>], load: &LoadView<'_>, one: &str) -> Vec<ProcessCost> {
    let runs =
        |row: &VariantRow<'_>| -> Vec<&View<'_>> { row.shown().filter_map(|run| views.get(run)).collect() };
    let rows: Vec<Vec<&View<'_>>> = load.rows.iter().map(runs).collect();
    let mut names: Vec<&str> = Vec::new();
    let resources = rows.iter().flatten().filter_map(|view| view.measured.resources.as_ref());
    for resources in resources.filter(|resources| resources.processes.len() > 1) {
        for (name, _) in &resources.processes {
            if !names.contains(&name.as_str()) {
                names.push(name);
            }
        }
    }
    names.truncate(PROCESSES_MAX);
    let figures = |name: &str, read: fn(&View<'_>, &Usage) -> Option<f64>| {
        let of_run = |view: &&View<'_>| {
            let processes = &view.measured.resources.as_ref()?.processes;
            read(view, &processes.iter().find(|(known, _)| known == name)?.1)
        };
        rows.iter().map(|runs| median_of(runs.iter().filter_map(of_run))).collect()
    };
    let of_process = |name: &&str| {
        let cpu = ProcessCost {
            name: format!("CPU per {one}, process {name}"),
            figures: figures(name, cpu_us),
            write: |us| format!("{} µs", decimal(us, 1)),
        };
        let memory = ProcessCost {
            name: format!("peak memory, process {name}"),
            figures: figures(name, |_, usage| usage.rss_peak_bytes),
            write: |bytes| format!("{} MiB", mebibytes(bytes.max(0.0) as u64)),
        };
        [cpu, memory]
    };
    names.iter().flat_map(of_process).collect()
}

/// CPU time per request that ended in the window, in microseconds.
fn cpu_us(view: &View<'_>, usage: &Usage) -> Option<f64> {
    let (resources, window) = (view.measured.resources.as_ref()?, view.measured.window?);
    let cpu_s = resources.cores_used(usage)? * window.length_s;
    rates::us_per_request(cpu_s, window.counts.ended())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ratio_needs_two_figures_above_zero() {
        let of = |figures: &[Option<f64>]| {
            let write = |figure: f64| figure.to_string();
            ProcessCost { name: String::new(), figures: figures.to_vec(), write }.ratio()
        };
        assert_eq!(of(&[Some(30.0), Some(10.0), None]), Some(3.0));
        assert_eq!(of(&[Some(30.0), None]), None);
        assert_eq!(of(&[Some(30.0), Some(0.0)]), None);
    }
}
