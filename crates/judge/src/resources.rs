//! Resources used by system, generator, and cores while requests were measured, from per-second readings.

use std::collections::BTreeMap;

use evidence::Run;
use stats::median;

use crate::core_time::{CoreTime, Seconds, readings_in};
use crate::inside::is_of_database;

/// Readings of one run, summed over its measured seconds.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Resources {
    /// Time that the readings cover, in seconds.
    pub covered_s: f64,
    /// All processes of the system together; `None` if not sampled.
    pub system: Option<Usage>,
    /// Tenbin itself: load and bookkeeping; `None` if not sampled.
    pub generator: Option<Usage>,
    /// Each process of the system, by name. Names come from outside: escape them.
    pub processes: Vec<(String, Usage)>,
    /// Cores of the machine, in order of their numbers.
    pub cores: Vec<Core>,
}

/// Resources used by a subject.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Usage {
    /// Time that the readings cover, in seconds; `None` if not recorded. With many processes and no free core,
    /// processes may be sampled later than cores.
    pub covered_s: Option<f64>,
    /// CPU time in user space, in seconds.
    pub cpu_user_s: f64,
    /// CPU time in the kernel, in seconds.
    pub cpu_sys_s: f64,
    /// Peak resident memory at the end of a second.
    pub rss_peak_bytes: Option<f64>,
    /// Peak number of processes at the end of a second.
    pub processes_peak: Option<f64>,
    /// Peak number of threads at the end of a second.
    pub threads_peak: Option<f64>,
    /// Peak of swapped memory at the end of a second.
    pub swap_peak_bytes: Option<f64>,
    /// Bytes read from disks.
    pub disk_read_bytes: Option<f64>,
    /// Bytes written to disks.
    pub disk_written_bytes: Option<f64>,
    /// Peak number of open files at the end of a second.
    pub open_files_peak: Option<f64>,
    /// Peak number of connections that waited to be accepted at one port or socket, at the end of a second.
    pub listen_queue_peak: Option<f64>,
    /// Number of voluntary context switches: a thread gave up its core.
    pub switches_voluntary: Option<f64>,
    /// Number of involuntary context switches: a thread was taken off its core.
    pub switches_involuntary: Option<f64>,
    /// Time for which threads were runnable without a core, in seconds.
    pub run_queue_wait_s: Option<f64>,
    /// CPU quota in cores, at the end of the last second.
    pub cpu_quota_cores: Option<f64>,
    /// Time for which the quota throttled threads, in seconds, summed over cores.
    pub throttled_s: Option<f64>,
    /// Peak memory charged to the memory limit, cached files included, at the end of a second.
    pub memory_charged_peak_bytes: Option<f64>,
    /// Memory limit, at the end of the last second.
    pub memory_limit_bytes: Option<f64>,
    /// Largest nice value of the processes; 0 for any higher priority.
    pub nice: Option<f64>,
}

/// A core of the machine.
#[derive(Clone, Debug, PartialEq)]
pub struct Core {
    /// Name, such as `core0`.
    pub name: String,
    /// Busy share of the core, the median of all seconds.
    pub busy: f64,
}

impl Resources {
    /// Returns the resources of a run; `None` if nothing was sampled in a measured second.
    pub fn of(run: &Run) -> Option<Self> {
        Self::during(run, Seconds::Measured)
    }

    /// Returns the resources of the given seconds only.
    pub(crate) fn during(run: &Run, which: Seconds<'_>) -> Option<Self> {
        let (mut seconds, mut last) = (0u64, None);
        let mut usages: BTreeMap<&str, Usage> = BTreeMap::new();
        let mut cores = Cores::default();
        for reading in readings_in(run, which) {
            // Readings are in order of time.
            seconds += u64::from(last.replace(reading.second) != Some(reading.second));
            match reading.subject {
                _ if is_of_database(reading.metric) => {}
                "machine" => {
                    if let Some(time) = CoreTime::of(&reading) {
                        cores.add(reading.label, reading.second, &time);
                    }
                }
                subject => usages.entry(subject).or_default().add(reading.metric, reading.value),
            }
        }
        if seconds == 0 {
            return None;
        }
        let (system, generator) = (usages.remove("system"), usages.remove("generator"));
        let processes = usages.into_iter().map(|(name, usage)| (name.to_owned(), usage)).collect();
        let covered_s = cores.covered_s().unwrap_or(seconds as f64);
        Some(Self { covered_s, system, generator, processes, cores: cores.shares() })
    }

    /// Returns the mean number of cores that a usage kept busy; `None` if its readings cover no time.
    pub fn cores_used(&self, usage: &Usage) -> Option<f64> {
        Some(self.per_s(usage, usage.cpu_s())).filter(|cores| cores.is_finite())
    }

    /// Divides a sum of a usage by the seconds that its readings cover.
    pub fn per_s(&self, usage: &Usage, sum: f64) -> f64 {
        sum / usage.covered_s.unwrap_or(self.covered_s)
    }
}

impl Usage {
    /// Returns the CPU time in user space and in the kernel, in seconds.
    pub fn cpu_s(&self) -> f64 {
        self.cpu_user_s + self.cpu_sys_s
    }

    fn add(&mut self, metric: &str, value: f64) {
        let grow = |sum: &mut Option<f64>| *sum = Some(sum.unwrap_or(0.0) + value);
        let raise = |peak: &mut Option<f64>| *peak = Some(peak.unwrap_or(value).max(value));
        match metric {
            "covered_s" => grow(&mut self.covered_s),
            "cpu_user_s" => self.cpu_user_s += value,
            "cpu_sys_s" => self.cpu_sys_s += value,
            "rss_bytes" => raise(&mut self.rss_peak_bytes),
            "processes" => raise(&mut self.processes_peak),
            "threads" => raise(&mut self.threads_peak),
            "swap_bytes" => raise(&mut self.swap_peak_bytes),
            "open_files" => raise(&mut self.open_files_peak),
            "listen_queue" => raise(&mut self.listen_queue_peak),
            "switches_voluntary" => grow(&mut self.switches_voluntary),
            "switches_involuntary" => grow(&mut self.switches_involuntary),
            "disk_read_bytes" => grow(&mut self.disk_read_bytes),
            "disk_written_bytes" => grow(&mut self.disk_written_bytes),
            "run_queue_wait_s" => grow(&mut self.run_queue_wait_s),
            "cpu_quota_cores" => self.cpu_quota_cores = Some(value),
            "throttled_s" => grow(&mut self.throttled_s),
            "memory_charged_bytes" => raise(&mut self.memory_charged_peak_bytes),
            "memory_limit_bytes" => self.memory_limit_bytes = Some(value),
            "nice" => raise(&mut self.nice),
            _ => {}
        }
    }
}

/// Seconds of each core in order of time, by number and name of the core.
#[derive(Default)]
struct Cores<'a>(BTreeMap<(u32, &'a str), Vec<OfCore>>);

/// Time of a core in one second.
struct OfCore {
    second: u64,
    busy_s: f64,
    all_s: f64,
}

impl<'a> Cores<'a> {
    fn add(&mut self, label: &'a str, second: u64, &CoreTime { number, busy_s, all_s }: &CoreTime) {
        // Sorted by number, so that core10 comes after core9.
        let seconds = self.0.entry((number, label)).or_default();
        match seconds.last_mut() {
            Some(last) if last.second == second => {
                last.busy_s += busy_s;
                last.all_s += all_s;
            }
            _ => seconds.push(OfCore { second, busy_s, all_s }),
        }
    }

    /// Returns the mean time over all cores, in seconds. The last second of a run is usually incomplete.
    fn covered_s(&self) -> Option<f64> {
        let all_s: f64 = self.0.values().flatten().map(|of_core| of_core.all_s).sum();
        Some(all_s / self.0.len() as f64).filter(|covered_s| covered_s.is_finite() && *covered_s > 0.0)
    }

    fn shares(&self) -> Vec<Core> {
        let busy = |seconds: &[OfCore]| {
            let shares = seconds.iter().map(|OfCore { busy_s, all_s, .. }| busy_s / all_s);
            median(shares).map(|share| share.clamp(0.0, 1.0))
        };
        let core = |((_, name), seconds): (&(u32, &str), &Vec<OfCore>)| {
            Some(Core { name: (*name).to_owned(), busy: busy(seconds)? })
        };
        self.0.iter().filter_map(core).collect()
    }
}

#[cfg(test)]
mod tests {
    use evidence::{NewRun, Reading};
    use fixtures::{OwnStore, ending, new_run, reading};

    use super::*;

    #[test]
    fn cores_used_refers_to_the_time_that_process_readings_cover() {
        let core = |kind, seconds| reading("machine", kind, "core0", seconds);
        // The core was sampled for a tenth of a second, and the processes for two seconds.
        let read = |own: &[Reading]| {
            let all = [core("cpu_user_s", 0.1), reading("system", "cpu_user_s", "", 3.0)];
            let seconds = [(1, [&all[..], own].concat())];
            let run = OwnStore::new().kept(
                &NewRun { warm_up_ns: 1_000_000_000, ..new_run() },
                &[],
                &seconds,
                &ending(),
            );
            let resources = Resources::of(&run).expect("readings");
            resources.cores_used(&resources.system.expect("the system"))
        };
        assert_eq!(read(&[reading("system", "covered_s", "", 2.0)]), Some(1.5));
        assert!(
            read(&[]) > Some(2.9),
            "kept by an earlier version: the time of the cores is all that is known"
        );
    }
}
