//! Values of one process, or sums over several processes.

use std::collections::BTreeMap;

use super::sheet::Sheet;

/// CPU time of the thread that used most.
pub(crate) const BUSIEST_THREAD: &str = "cpu_busiest_thread_s";
/// Open files as a share of the limit, of the process that is closest to its limit.
pub(crate) const OPEN_FILES_SHARE: &str = "open_files_limit_share";
/// Nice value of the process with the lowest priority.
pub(crate) const NICE: &str = "nice";
/// Time between this reading and the one before, over which counters grew.
pub(crate) const COVERED: &str = "covered_s";
/// CPU time of the processes that listen at an address which the system calls.
pub(crate) const DEPENDENCY_CPU: &str = "dependency_cpu_s";
/// Values whose max is taken instead of the sum.
const LARGEST: [&str; 4] = [BUSIEST_THREAD, OPEN_FILES_SHARE, NICE, COVERED];

/// Increases since processes were last read. Values of threads are means per look already.
const INCREASES: [&str; 6] =
    ["cpu_user_s", "cpu_sys_s", "disk_read_bytes", "disk_written_bytes", DEPENDENCY_CPU, COVERED];

/// Whether a value that spans several looks is divided among them in proportion to their durations. All other values apply to each look.
pub(crate) fn is_increase(metric: &str) -> bool {
    INCREASES.contains(&metric)
}

/// Values by metric. `None` if the value of any part is unknown.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct ProcessValues(BTreeMap<&'static str, Option<f64>>);

impl ProcessValues {
    pub(crate) fn add(&mut self, metric: &'static str, value: Option<f64>) {
        let so_far = self.0.entry(metric).or_insert(Some(0.0));
        *so_far =
            so_far.zip(value).map(
                |(so_far, value)| if LARGEST.contains(&metric) { so_far.max(value) } else { so_far + value },
            );
    }

    pub(crate) fn add_all(&mut self, part: &Self) {
        for (metric, value) in &part.0 {
            self.add(metric, *value);
        }
    }

    /// CPU time in user space and in the kernel, in seconds. `None` if a part is unknown.
    pub(crate) fn cpu_s(&self) -> Option<f64> {
        let of = |metric| self.0.get(metric).copied().flatten();
        Some(of("cpu_user_s")? + of("cpu_sys_s")?)
    }

    pub(crate) fn write(&self, subject: &str, sheet: &mut Sheet) {
        for (metric, value) in &self.0 {
            if let Some(value) = value {
                sheet.of_processes(subject, metric, *value);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_summed_unless_one_is_unknown() {
        let figures = |values: &[(&'static str, Option<f64>)]| {
            let mut figures = ProcessValues::default();
            values.iter().for_each(|(metric, value)| figures.add(metric, *value));
            figures
        };
        let mut whole = figures(&[("threads", Some(2.0)), ("swap_bytes", None), (BUSIEST_THREAD, Some(0.5))]);
        whole.add_all(&figures(&[
            ("threads", Some(3.0)),
            ("swap_bytes", Some(1.0)),
            (BUSIEST_THREAD, Some(0.2)),
        ]));
        let mut sheet = Sheet::default();
        whole.write("system", &mut sheet);
        let readings: Vec<_> = sheet.readings.iter().map(|reading| (reading.metric, reading.value)).collect();
        assert_eq!(readings, [(BUSIEST_THREAD, 0.5), ("threads", 5.0)]);
    }
}
