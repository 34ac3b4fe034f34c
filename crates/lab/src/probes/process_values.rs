//! The values of one process or of several together.

use std::collections::BTreeMap;

use super::sheet::Sheet;

/// The CPU time of the thread that used most.
pub(crate) const BUSIEST_THREAD: &str = "cpu_busiest_thread_s";
/// Open files as a share of what is allowed, of the process that is nearest to its limit.
pub(crate) const OPEN_FILES_SHARE: &str = "open_files_limit_share";
/// How much lower than usual the priority of a process is.
pub(crate) const NICE: &str = "nice";
/// The time between this reading and the one before: what grows grew in it.
pub(crate) const COVERED: &str = "covered_s";
/// What does not add up: the largest counts.
const LARGEST: [&str; 4] = [BUSIEST_THREAD, OPEN_FILES_SHARE, NICE, COVERED];

/// What grew since processes were read before. Of threads, it is the mean of a look already.
const GROWN: [&str; 5] = ["cpu_user_s", "cpu_sys_s", "disk_read_bytes", "disk_written_bytes", COVERED];

/// Whether several looks share what was read, each as long as it covers. They have everything else in common.
pub(crate) fn is_grown(metric: &str) -> bool {
    GROWN.contains(&metric)
}

/// Values by metric. One that could not be read for a part is not known for the whole.
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
    fn parts_add_up_unless_one_is_not_known() {
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
