//! CPU use of processes outside of a comparison, neither generator nor system, while requests were measured.

use std::collections::{BTreeMap, BTreeSet};

use evidence::Run;

use crate::core_time::{CoreTime, Seconds, core_numbers, readings_in};
use crate::inside::is_of_database;

/// Metric of the readings that list the cores a subject may use.
const ALLOWED: &str = "cores_allowed";

/// Averages [`others_cores`] over several runs; at least 0. `None` if unknown in all of them.
pub fn mean_of_others<'a>(runs: impl Iterator<Item = &'a Run>) -> Option<f64> {
    let read: Vec<f64> = runs.filter_map(others_cores).collect();
    (!read.is_empty()).then(|| (read.iter().sum::<f64>() / read.len() as f64).max(0.0))
}

/// Returns the mean number of cores that other processes kept busy over the measured seconds: processes that are
/// neither the generator nor part of the plan. The other system of a block in slices is one of them. Only cores that
/// system and generator may use count, if both sets are known; otherwise all cores count.
/// sets are known; otherwise all cores count.
///
/// The result is the busy time that the kernel reports for these cores, minus the CPU time of the generator and of the
/// plan's processes. The kernel counts core time in ticks (`/proc/stat`), so a single second is accurate to about 0.05
/// of a core. A small value may be slightly below 0. Interrupts are included. On kernels with
/// `CONFIG_IRQ_TIME_ACCOUNTING` these include interrupts for the load's own packets, so the value rises with
/// throughput.
///
/// `None` if the cores or the processes of the system were not sampled.
pub fn others_cores(run: &Run) -> Option<f64> {
    let used = allowed_cores(run);
    let (mut cores, mut own): (BTreeMap<u32, Time>, BTreeMap<&str, Time>) = Default::default();
    let mut called: BTreeMap<(u64, &str), f64> = BTreeMap::new();
    for reading in readings_in(run, Seconds::MostlyMeasured) {
        if let Some(CoreTime { number, busy_s, all_s }) = CoreTime::of(&reading) {
            cores.entry(number).or_default().add(busy_s, all_s);
        } else if reading.subject != "machine" && !is_of_database(reading.metric) {
            match reading.metric {
                "cpu_user_s" | "cpu_sys_s" => own.entry(reading.subject).or_default().add(reading.value, 0.0),
                "covered_s" => own.entry(reading.subject).or_default().add(0.0, reading.value),
                // Processes that call one server have equal readings.
                "dependency_cpu_s" => {
                    called.entry((reading.second, reading.label)).or_insert(reading.value);
                }
                _ => {}
            }
        }
    }
    let called: f64 = called.into_values().sum();
    let all_s = cores.values().map(|core| core.all_s).sum::<f64>() / cores.len() as f64;
    let system = own.remove("system").filter(|_| !cores.is_empty())?;
    // The total of the plan's processes excludes helpers such as proxies, so single processes are summed if known.
    let has_names = own.keys().any(|name| *name != "generator");
    let own = own.values().chain((!has_names).then_some(&system));
    let own: f64 = own.map(|time| time.busy_s / if time.all_s > 0.0 { time.all_s } else { all_s }).sum();
    let counted = cores.iter().filter(|(number, _)| used.as_ref().is_none_or(|used| used.contains(number)));
    let busy: f64 = counted.map(|(_, core)| core.busy_s / core.all_s).sum();
    // Servers on this machine that the system calls count as part of it.
    Some(busy - own - called / all_s).filter(|others| others.is_finite())
}

/// Returns the mean number of cores that neither the generator nor the system could use over the measured seconds: the
/// sum of [`others_cores`] and of the time that the hypervisor gave to other guests (steal). `None` if other processes
/// are unknown.
pub(crate) fn taken_cores(run: &Run) -> Option<f64> {
    let (mut stolen, mut all): (BTreeMap<u32, f64>, BTreeMap<u32, f64>) = Default::default();
    for reading in readings_in(run, Seconds::MostlyMeasured) {
        let Some(core) = CoreTime::of(&reading) else { continue };
        *all.entry(core.number).or_default() += core.all_s;
        if reading.metric == "steal_s" {
            *stolen.entry(core.number).or_default() += reading.value;
        }
    }
    let stolen: f64 = stolen.iter().filter_map(|(number, s)| Some(s / all.get(number)?)).sum();
    Some(others_cores(run)? + stolen).filter(|taken| taken.is_finite())
}

/// Busy and total time of a core or a process, in seconds.
#[derive(Default)]
struct Time {
    busy_s: f64,
    all_s: f64,
}

impl Time {
    fn add(&mut self, busy_s: f64, all_s: f64) {
        self.busy_s += busy_s;
        self.all_s += all_s;
    }
}

/// Returns the cores that system and generator may use together; `None` if unknown for one of them.
fn allowed_cores(run: &Run) -> Option<BTreeSet<u32>> {
    let mut of_both: BTreeMap<&str, BTreeSet<u32>> = BTreeMap::new();
    for reading in run.readings().filter(|reading| reading.metric == ALLOWED) {
        of_both.insert(reading.subject, core_numbers(reading.label)?);
    }
    (of_both.contains_key("system") && of_both.contains_key("generator"))
        .then(|| of_both.into_values().flatten().collect())
}

#[cfg(test)]
mod tests {
    use evidence::{NewRun, Reading};
    use fixtures::{OwnStore, ending, new_run, reading};

    use super::*;

    fn of(warm_up_ns: u64, seconds: &[(u64, Vec<Reading>)]) -> Option<f64> {
        let new = NewRun { warm_up_ns, ..new_run() };
        others_cores(&OwnStore::new().kept(&new, &[], seconds, &ending()))
    }

    fn core(label: &str, busy_s: f64, over_s: f64) -> Vec<Reading> {
        vec![
            reading("machine", "cpu_user_s", label, busy_s),
            reading("machine", "cpu_idle_s", label, over_s - busy_s),
        ]
    }

    fn used(subject: &str, cpu_s: f64, over_s: f64) -> Vec<Reading> {
        vec![reading(subject, "cpu_user_s", "", cpu_s), reading(subject, "covered_s", "", over_s)]
    }

    fn is_about(found: Option<f64>, expected: f64) -> bool {
        found.is_some_and(|found| (found - expected).abs() < 1e-9)
    }

    /// Builds a second in which two cores were busy for 1.4 s: 0.6 s by the system, 0.5 s by the generator, 0.3 s by
    /// others.
    fn second() -> Vec<Reading> {
        [core("core0", 0.9, 1.0), core("core1", 0.5, 1.0), used("system", 0.6, 1.0)]
            .into_iter()
            .flatten()
            .chain([reading("generator", "cpu_user_s", "", 0.5)])
            .collect()
    }

    #[test]
    fn busy_time_of_neither_system_nor_generator_belongs_to_others() {
        assert!(is_about(of(0, &[(0, second())]), 0.3));
        let named = [second(), used("web", 0.6, 1.0)].concat();
        assert!(is_about(of(0, &[(0, named)]), 0.3), "the system is the sum of its processes");
        let with_proxy = [second(), used("web", 0.6, 1.0), used("proxy far", 0.2, 1.0)].concat();
        assert!(is_about(of(0, &[(0, with_proxy)]), 0.1), "a proxy of the plan is no other process");
        let database = vec![reading("web", "dependency_cpu_s", "127.0.0.1:5432", 0.25)];
        let with_database = [second(), used("web", 0.6, 1.0), database].concat();
        assert!(is_about(of(0, &[(0, with_database)]), 0.05), "a database that it calls is no other process");
        let late = [core("core0", 0.5, 1.0), used("system", 0.6, 2.0)].concat();
        assert!(is_about(of(0, &[(0, late)]), 0.2), "processes were read over two seconds");
    }

    #[test]
    fn taken_cores_include_steal() {
        let stolen = [core("core0", 0.3, 0.8), vec![reading("machine", "steal_s", "core0", 0.2)]].concat();
        let second = [stolen, used("system", 0.2, 1.0)].concat();
        let run = OwnStore::new().kept(&new_run(), &[], &[(0, second)], &ending());
        assert!(is_about(others_cores(&run), 0.1) && is_about(taken_cores(&run), 0.3));
    }

    #[test]
    fn only_cores_of_system_and_generator_count_if_known() {
        let allowed = |subject: &str, label: &str| vec![reading(subject, "cores_allowed", label, 1.0)];
        let base = [second(), core("core2", 0.8, 1.0), core("core3", 1.0, 1.0)].concat();
        assert!(is_about(of(0, &[(0, base.clone())]), 2.1));
        let system_alone = [base.clone(), allowed("system", "0")].concat();
        assert!(is_about(of(0, &[(0, system_alone)]), 2.1), "the generator may be anywhere");
        let both = [base, allowed("system", "0-1"), allowed("generator", "2")].concat();
        assert!(is_about(of(0, &[(0, both)]), 1.1));
        assert_eq!(core_numbers("0-2,5"), Some(BTreeSet::from([0, 1, 2, 5])));
        for wrong in ["", "a", "3-1", "0-4294967295", "1,", "-"] {
            assert_eq!(core_numbers(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn second_counts_if_at_least_half_of_it_was_measured() {
        let quiet = [core("core0", 0.4, 1.0), core("core1", 0.0, 1.0), used("system", 0.4, 1.0)].concat();
        let seconds = [(0, quiet), (1, second())];
        assert!(is_about(of(250_000_000, &seconds), 0.15), "a slice begins within a second");
        assert!(is_about(of(1_000_000_000, &seconds), 0.3), "the warm-up is left out");
    }

    #[test]
    fn unsampled_cores_or_system_give_no_figure() {
        assert_eq!(of(0, &[]), None);
        assert_eq!(of(0, &[(0, used("system", 0.6, 1.0))]), None, "no cores");
        assert_eq!(of(0, &[(0, core("core0", 0.5, 1.0))]), None, "a system of which nothing is known");
    }
}
