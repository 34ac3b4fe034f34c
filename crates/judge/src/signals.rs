//! Signals of scarce resources while requests were measured, from per-second readings.

use std::collections::{BTreeMap, BTreeSet};

use evidence::{BUSIEST_THREAD_REST_SHARE, OTHER_PROGRAMS, Run, StoredReading};
use stats::median;
use units::Share;

use crate::core_time::{CoreTime, Seconds, readings_in};
use crate::dependencies::Dependencies;
use crate::inside::DatabaseStatistics;
use crate::waits::Waits;

/// Signals of one run over its measured seconds. `None` if not sampled.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Signals {
    /// Number of sampled cores of the machine.
    pub cores: usize,
    /// Number of cores that the system may use, the median of all seconds.
    pub cores_allowed: Option<f64>,
    /// Busy share of all cores, the median of all seconds.
    pub busy: Option<f64>,
    /// Mean number of busy cores.
    pub busy_cores: Option<f64>,
    /// Share of all core time that other guests of the host took.
    pub steal: Option<f64>,
    /// Share of a core that the busiest thread of the system used, the median of all seconds.
    pub busiest_thread: Option<f64>,
    /// Share of time for which the busiest thread of the system was running or runnable before the load.
    pub thread_at_rest: Option<f64>,
    /// Programs outside of the system that used most CPU time over the load, with the mean number of cores of each, largest
    /// first. Names come from outside: escape them.
    pub other_programs: Vec<(String, f64)>,
    /// Share of the time in which some task waited for CPU, the median of all seconds.
    pub cpu_pressure: Option<f64>,
    /// Share of the time in which some task waited for memory, the median of all seconds.
    pub memory_pressure: Option<f64>,
    /// Share of the time in which some task waited for disks, the median of all seconds.
    pub disk_pressure: Option<f64>,
    /// Shares of time in which some task of the system's own control group waited for CPU, memory, and disks: medians
    /// of all seconds. `None` if the group does not report them.
    pub group_pressures: [Option<f64>; 3],
    /// Share of the seconds in which pages were swapped in or out.
    pub swapping: Option<f64>,
    /// Share of the system's own memory that is swapped out, the median of all seconds.
    pub swapped_out: Option<f64>,
    /// Busy share of the busiest disk, the median of all seconds.
    pub disk_busy: Option<f64>,
    /// Peak number of open files as a share of the limit, for the process nearest to its limit.
    pub open_files_share: Option<f64>,
    /// Fullest accept queue: number of waiting connections, and limit.
    pub listen_queue: Option<[f64; 2]>,
    /// Number of connections waiting to be accepted at each port or Unix socket of the system, the median of all seconds.
    pub queued: BTreeMap<String, f64>,
    /// Share of the load's connections at the system on which it had sent last, so that it waited for their clients: the
    /// median of all seconds without connections of other programs.
    pub idle_connections_share: Option<f64>,
    /// Connections dropped at a full queue, on the whole machine.
    pub listen_overflows: Option<f64>,
    /// Share of the seconds at whose end a process of the plan was not running, by process. Names come from outside: escape them.
    pub not_running: BTreeMap<String, f64>,
    /// CPU quota of the system's control group in cores, the median of all seconds.
    pub cpu_quota_cores: Option<f64>,
    /// Time per second for which the quota throttled threads, in seconds, summed over cores: the median of all seconds.
    pub throttled: Option<f64>,
    /// Waits of the system's threads, and limits of its control group.
    pub waits: Waits,
    /// Internal statistics of the load's database; `None` if not read.
    pub inside: Option<DatabaseStatistics>,
    /// Calls from the system to others.
    pub dependencies: Dependencies,
}

/// Max ratio of the connections at the port of the system to those of the load if other programs have none there.
const CONNECTIONS_MAX_RATIO: f64 = 1.1;

/// Min length of a second whose shares are meaningful, in seconds.
const SECOND_MIN_S: f64 = 0.5;

impl Signals {
    /// Returns the signals of a run; `None` if nothing was sampled in a measured second.
    pub fn of(run: &Run) -> Option<Self> {
        Self::during(run, Seconds::Measured)
    }

    /// Returns the signals of the given seconds only.
    pub(crate) fn during(run: &Run, which: Seconds<'_>) -> Option<Self> {
        let (mut seconds, mut last): (Vec<Second<'_>>, _) = (Vec::new(), None);
        for reading in readings_in(run, which) {
            // Readings are in order of time.
            if last.replace(reading.second) != Some(reading.second) {
                seconds.push(Second::default());
            }
            if let Some(second) = seconds.last_mut() {
                second.add(&reading);
            }
        }
        if seconds.is_empty() {
            return None;
        }
        let whole: Vec<&Second<'_>> = seconds.iter().filter(|second| second.is_whole()).collect();
        let seconds = if whole.is_empty() { seconds.iter().collect() } else { whole };
        let middle = |figure: &dyn Fn(&Second<'_>) -> Option<f64>| {
            median(seconds.iter().filter_map(|second| figure(second)))
        };
        let sum = |figure: &dyn Fn(&Second<'_>) -> f64| -> f64 {
            seconds.iter().map(|second| figure(second)).sum()
        };
        let most = |figure: &dyn Fn(&Second<'_>) -> Option<f64>| {
            seconds.iter().filter_map(|second| figure(second)).reduce(f64::max)
        };
        let all_s = sum(&|second| second.all_s());
        let of_all = |figure: f64| Some(figure / all_s).filter(|share| share.is_finite());
        let cores = seconds.iter().map(|second| second.cores.len()).max().unwrap_or(0);
        let spread = run.ending.as_ref().and_then(|ending| ending.spread.as_ref());
        let of_load = spread.map(|spread| spread.connections as f64);
        Some(Self {
            cores,
            cores_allowed: middle(&|second| second.cores_allowed),
            busy: middle(&|second| second.busy()),
            busy_cores: of_all(sum(&|second| second.busy_s())).map(|share| share * cores as f64),
            steal: of_all(sum(&|second| second.steal_s)),
            busiest_thread: middle(&|second| second.share(second.busiest_thread_s?)),
            thread_at_rest: run
                .readings()
                .find(|of| {
                    (of.subject, of.metric) == ("system", BUSIEST_THREAD_REST_SHARE) && of.value.is_finite()
                })
                .map(|of| of.value),
            other_programs: other_programs(run),
            cpu_pressure: middle(&|second| second.cpu_pressure),
            memory_pressure: middle(&|second| second.memory_pressure),
            disk_pressure: middle(&|second| second.disk_pressure),
            group_pressures: [0, 1, 2].map(|kind| middle(&|second| second.group_pressures[kind])),
            swapping: swapping(&seconds),
            swapped_out: middle(&|second| second.swapped_out()),
            disk_busy: middle(&|second| second.share(second.disk_busy_s?)),
            open_files_share: most(&|second| second.open_files_share),
            listen_queue: fullest_queue(&seconds),
            queued: queued(&seconds),
            idle_connections_share: middle(&|second| second.idle_connections_share(of_load?)),
            listen_overflows: seconds
                .iter()
                .filter_map(|second| second.listen_overflows)
                .reduce(|a, b| a + b),
            not_running: not_running(&seconds),
            cpu_quota_cores: match which {
                Seconds::These(seconds) => quota_during(run, seconds),
                _ => middle(&|second| second.cpu_quota_cores),
            },
            throttled: middle(&|second| Some(second.throttled_s? / second.length_s())),
            waits: Waits::during(run, which),
            inside: DatabaseStatistics::during(run, which),
            dependencies: Dependencies::during(run, which),
        })
    }
}

fn other_programs(run: &Run) -> Vec<(String, f64)> {
    let programs = run.readings().filter(|of| of.metric == OTHER_PROGRAMS && of.value.is_finite());
    let mut programs: Vec<(String, f64)> = programs.map(|of| (of.label.to_owned(), of.value)).collect();
    programs.sort_by(|(_, one), (_, other)| other.total_cmp(one));
    programs
}

/// Returns the median of the CPU quota in the given seconds, in cores. The quota is sampled at the end of a second, but
/// an event may change it within one. The lower of the quotas at the second's beginning and end limited the system.
fn quota_during(run: &Run, seconds: &BTreeSet<u64>) -> Option<f64> {
    let quotas = run.readings().filter(|of| (of.subject, of.metric) == ("system", "cpu_quota_cores"));
    let (mut before, mut lower) = (None, Vec::new());
    for reading in quotas.filter(|of| of.value.is_finite()) {
        let at_beginning = before.replace((reading.second + 1, reading.value));
        let at_beginning = at_beginning.filter(|(second, _)| *second == reading.second);
        if seconds.contains(&reading.second) {
            lower.push(at_beginning.map_or(reading.value, |(_, quota)| quota.min(reading.value)));
        }
    }
    median(lower)
}

fn fullest_queue(seconds: &[&Second<'_>]) -> Option<[f64; 2]> {
    let fullness = |[waiting, limit]: &[f64; 2]| waiting / limit;
    let queues = seconds.iter().flat_map(|second| second.queues.values()).filter(|[_, limit]| *limit > 0.0);
    queues.max_by(|a, b| fullness(a).total_cmp(&fullness(b))).copied()
}

fn queued(seconds: &[&Second<'_>]) -> BTreeMap<String, f64> {
    let mut of_labels: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
    for (label, [waiting, _]) in seconds.iter().flat_map(|second| &second.queues) {
        of_labels.entry(label).or_default().push(*waiting);
    }
    of_labels.into_iter().filter_map(|(label, waiting)| Some((label.to_owned(), median(waiting)?))).collect()
}

/// Returns the share of seconds in which pages were swapped. `None` if no second records it.
fn swapping(seconds: &[&Second<'_>]) -> Option<f64> {
    let swapped = seconds.iter().filter_map(|second| second.swapped_pages);
    let [swapping, all] =
        swapped.fold([0.0, 0.0], |[some, all], pages| [some + f64::from(pages > 0.0), all + 1.0]);
    (all > 0.0).then(|| swapping / all)
}

fn not_running(seconds: &[&Second<'_>]) -> BTreeMap<String, f64> {
    let mut of_names: BTreeMap<&str, [f64; 2]> = BTreeMap::new();
    for (name, processes) in seconds.iter().flat_map(|second| &second.processes) {
        let [read, gone] = of_names.entry(name).or_default();
        (*read, *gone) = (*read + 1.0, *gone + f64::from(*processes == 0.0));
    }
    let shares = of_names.into_iter().map(|(name, [read, gone])| (name.to_owned(), gone / read));
    shares.filter(|(_, share)| *share > 0.0).collect()
}

/// Readings of one second.
#[derive(Default)]
struct Second<'a> {
    /// Busy time and total time of each core, in seconds.
    cores: BTreeMap<u32, [f64; 2]>,
    steal_s: f64,
    busiest_thread_s: Option<f64>,
    cpu_pressure: Option<f64>,
    memory_pressure: Option<f64>,
    disk_pressure: Option<f64>,
    group_pressures: [Option<f64>; 3],
    swapped_pages: Option<f64>,
    /// Swapped-out memory of the system, and resident memory.
    swapped_bytes: Option<f64>,
    resident_bytes: Option<f64>,
    disk_busy_s: Option<f64>,
    open_files_share: Option<f64>,
    listen_overflows: Option<f64>,
    cpu_quota_cores: Option<f64>,
    cores_allowed: Option<f64>,
    throttled_s: Option<f64>,
    load_connections: Option<f64>,
    idle_connections: Option<f64>,
    /// Number of processes of each process of the plan.
    processes: BTreeMap<&'a str, f64>,
    /// Connections waiting at each port or socket, and the limit.
    queues: BTreeMap<&'a str, [f64; 2]>,
}

impl<'a> Second<'a> {
    fn add(&mut self, reading: &StoredReading<'a>) {
        let (label, value) = (reading.label, reading.value);
        if !value.is_finite() {
            return;
        }
        if let Some(CoreTime { number, busy_s, all_s }) = CoreTime::of(reading) {
            let core = self.cores.entry(number).or_default();
            core[0] += busy_s;
            core[1] += all_s;
        }
        match (reading.subject, reading.metric) {
            ("machine", "steal_s") => self.steal_s += value,
            ("machine", "pressure_cpu_some_share") => self.cpu_pressure = Some(value),
            ("machine", "pressure_memory_some_share") => self.memory_pressure = Some(value),
            ("machine", "pressure_io_some_share") => self.disk_pressure = Some(value),
            ("system", "pressure_cpu_some_share") => self.group_pressures[0] = Some(value),
            ("system", "pressure_memory_some_share") => self.group_pressures[1] = Some(value),
            ("system", "pressure_io_some_share") => self.group_pressures[2] = Some(value),
            ("machine", "swapped_in_pages" | "swapped_out_pages") => {
                self.swapped_pages = Some(self.swapped_pages.unwrap_or(0.0) + value);
            }
            ("machine", "disk_busy_s") => {
                self.disk_busy_s = Some(self.disk_busy_s.unwrap_or(0.0).max(value));
            }
            ("machine", "listen_overflows") => self.listen_overflows = Some(value),
            ("system", "swap_bytes") => self.swapped_bytes = Some(value),
            ("system", "rss_bytes") => self.resident_bytes = Some(value),
            ("system", "cores_allowed") => self.cores_allowed = Some(value),
            ("system", "cpu_quota_cores") => self.cpu_quota_cores = Some(value),
            ("system", "throttled_s") => self.throttled_s = Some(value),
            ("system", "cpu_busiest_thread_s") => self.busiest_thread_s = Some(value),
            ("system", "load_connections") => self.load_connections = Some(value),
            ("system", "load_connections_idle") => self.idle_connections = Some(value),
            ("system", "open_files_limit_share") => self.open_files_share = Some(value),
            ("system", "listen_queue") => self.queues.entry(label).or_default()[0] = value,
            ("machine" | "system" | "generator", "processes") => {}
            (process, "processes") => drop(self.processes.insert(process, value)),
            ("system", "listen_queue_limit") => self.queues.entry(label).or_default()[1] = value,
            _ => {}
        }
    }

    /// Returns the share of the system's own memory that is swapped out.
    fn swapped_out(&self) -> Option<f64> {
        let [swapped, resident] = [self.swapped_bytes?, self.resident_bytes?];
        Share::of_measured(swapped, swapped + resident).map(Share::get)
    }

    /// Returns the share of connections that wait for their clients; `None` if more are open than the `of_load` of the
    /// load. Those of another program may be idle.
    fn idle_connections_share(&self, of_load: f64) -> Option<f64> {
        let open = self.load_connections.filter(|open| *open <= CONNECTIONS_MAX_RATIO * of_load)?;
        Share::of_measured(self.idle_connections?, open).map(Share::get)
    }

    fn busy_s(&self) -> f64 {
        self.cores.values().map(|[busy, _]| busy).sum()
    }

    fn all_s(&self) -> f64 {
        self.cores.values().map(|[_, all]| all).sum()
    }

    fn busy(&self) -> Option<f64> {
        Some(self.busy_s() / self.all_s()).filter(|share| share.is_finite())
    }

    /// Returns the length of the second, in seconds. The last second of a run is usually incomplete.
    fn length_s(&self) -> f64 {
        if self.cores.is_empty() {
            1.0
        } else {
            (self.all_s() / self.cores.len() as f64).max(f64::MIN_POSITIVE)
        }
    }

    /// Converts a time in the second, read together with the cores, to a share of the second.
    fn share(&self, part_s: f64) -> Option<f64> {
        Share::of_measured(part_s, self.length_s()).map(Share::get)
    }

    fn is_whole(&self) -> bool {
        self.length_s() >= SECOND_MIN_S
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn busy_time_of_a_longer_reading_is_all_of_the_second() {
        let second = Second { cores: [(0, [0.5, 1.0]), (1, [0.5, 1.0])].into(), ..Second::default() };
        assert_eq!([0.25, 1.0, 1.12].map(|busy_s| second.share(busy_s)), [Some(0.25), Some(1.0), Some(1.0)]);
        assert_eq!(second.share(f64::NAN), None);
    }

    #[test]
    fn idle_connections_of_another_program_are_not_those_of_the_load() {
        let open = |open: f64, idle: f64| Second {
            load_connections: Some(open),
            idle_connections: Some(idle),
            ..Second::default()
        };
        assert_eq!(open(8.0, 6.0).idle_connections_share(8.0), Some(0.75));
        assert_eq!(open(8.4, 6.3).idle_connections_share(8.0), Some(0.75), "some were opened again");
        assert_eq!(open(108.0, 100.0).idle_connections_share(8.0), None);
    }
}
