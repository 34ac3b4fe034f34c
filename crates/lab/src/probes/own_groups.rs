//! Probe for the control groups of the system's own processes, in version 1 and 2: limits, and how often they were hit.

use std::fs;
use std::path::{Path, PathBuf};

use super::SYSTEM;
use super::fields::number;
use super::group_io::{self, GroupIo};
use super::pressure;
use super::quota::Quota;
use super::sheet::{Counters, Probe, Sheet};
use super::source::{Allowance, Source};
use super::threads::Members;
use crate::control_groups;

/// A growing counter of a control group, with its sources in version 1 and in version 2.
struct Count {
    metric: &'static str,
    controller: &'static str,
    sources: [(&'static str, &'static [&'static str]); 2],
}

/// Counters to read. The named values of a file are summed; without names, the file holds a single number.
const COUNTS: [Count; 5] = [
    Count {
        metric: "cpu_quota_periods",
        controller: "cpu",
        sources: [("cpu.stat", &["nr_periods"]), ("cpu.stat", &["nr_periods"])],
    },
    Count {
        metric: "cpu_quota_periods_throttled",
        controller: "cpu",
        sources: [("cpu.stat", &["nr_throttled"]), ("cpu.stat", &["nr_throttled"])],
    },
    Count {
        metric: "memory_limit_hits",
        controller: "memory",
        sources: [("memory.failcnt", &[]), ("memory.events", &["max"])],
    },
    Count {
        metric: "memory_oom_kills",
        controller: "memory",
        sources: [("memory.oom_control", &["oom_kill"]), ("memory.events", &["oom_kill"])],
    },
    Count {
        metric: "memory_refaulted_pages",
        controller: "memory",
        sources: [
            ("memory.stat", &["total_workingset_refault_anon", "total_workingset_refault_file"]),
            ("memory.stat", &["workingset_refault_anon", "workingset_refault_file", "workingset_refault"]),
        ],
    },
];

/// Pressure metrics of a version 2 group, and their files, which count in microseconds.
const PRESSURES: [(&str, &str); 3] = [
    ("pressure_cpu_some_share", "cpu.pressure"),
    ("pressure_memory_some_share", "memory.pressure"),
    ("pressure_io_some_share", "io.pressure"),
];

/// Control groups that do not contain Tenbin: one set for the system, or one for each process of the plan that has separate groups.
pub(crate) struct OwnGroups {
    /// Content of `/proc/self/cgroup` and `/proc/self/mountinfo`.
    this: [String; 2],
    /// Group memberships of each process of the plan when the sources were opened.
    known: Vec<(String, String)>,
    sets: Vec<Set>,
    /// Whether another probe reads the limits of the plan.
    has_limits: bool,
}

/// Groups of some processes, under one subject.
struct Set {
    subject: String,
    counts: Vec<(&'static str, Source, &'static [&'static str])>,
    pressures: Vec<(&'static str, Source)>,
    cores: Option<Source>,
    quota: Quota,
    io: Option<GroupIo>,
    last: Counters<1>,
}

impl OwnGroups {
    pub(crate) fn new(has_limits: bool) -> Self {
        let text = |path: &str| fs::read_to_string(path).unwrap_or_default();
        Self {
            this: [text("/proc/self/cgroup"), text("/proc/self/mountinfo")],
            known: Vec::new(),
            sets: Vec::new(),
            has_limits,
        }
    }

    pub(crate) fn look(&mut self, members: &[Members], sheet: &mut Sheet) {
        // A process that just started may still be in the group of its keeper, and one that just ended is in none.
        let text = |pid: &u32| {
            fs::read_to_string(format!("/proc/{pid}/cgroup")).ok().filter(|text| !text.is_empty())
        };
        let memberships = |of: &Members| Some((of.name.clone(), of.pids.iter().rev().find_map(text)?));
        let known: Vec<(String, String)> = members.iter().filter_map(memberships).collect();
        if known != self.known {
            self.sets = self.sets_of(&known);
            self.known = known;
        }
        self.sets.iter_mut().for_each(|set| set.look(sheet));
    }

    fn sets_of(&self, known: &[(String, String)]) -> Vec<Set> {
        let Some((_, first)) = known.first() else { return Vec::new() };
        if known.iter().all(|(_, text)| text == first) {
            return self.set(SYSTEM, first).into_iter().collect();
        }
        known.iter().filter_map(|(name, text)| self.set(name, text)).collect()
    }

    /// Opens the groups of these processes. `None` if Tenbin is in all of them.
    fn set(&self, subject: &str, memberships: &str) -> Option<Set> {
        let of = |controller, files: &[&str]| self.levels(memberships, controller, files);
        let (cpu, memory) = (of("cpu", &["cpu.stat"]), of("memory", &["memory.stat"]));
        let cpu = narrowest(&cpu, &["cpu.max", "cpu.cfs_quota_us"]);
        let memory = narrowest(&memory, &["memory.max", "memory.limit_in_bytes"]);
        let cpuset = of("cpuset", &["cpuset.cpus.effective", "cpuset.effective_cpus"]);
        let group = |controller| if controller == "cpu" { &cpu } else { &memory };
        let counts = COUNTS.iter().filter_map(|count| {
            let group = group(count.controller).as_ref()?;
            let is_there = |(file, _): &&(&str, _)| group.join(file).is_file();
            let sources = count.sources.iter().filter(is_there);
            // Both cgroup versions may have the file. The first source that contains the names is used.
            let mut readable = sources.filter_map(|(file, names)| {
                let mut source = source(group.join(file));
                parse_counters(&source.text().ok()?, names)?;
                Some((count.metric, source, *names))
            });
            readable.next()
        });
        let counts: Vec<_> = counts.collect();
        let pressures = PRESSURES.iter().filter_map(|(metric, file)| {
            let group = of("", &[file]).into_iter().next()?;
            Some((*metric, source(group.join(file))))
        });
        let pressures: Vec<_> = pressures.collect();
        let cores = cpuset
            .first()
            .map(|group| first_existing(group, ["cpuset.cpus.effective", "cpuset.effective_cpus"]));
        let is_whole = subject == SYSTEM && !self.has_limits;
        let quota = if is_whole { Quota::of(cpu, memory) } else { Quota::default() };
        let (subject, last) = (subject.to_owned(), Counters::default());
        let io = GroupIo::of(&of("blkio", &group_io::FILES));
        let set = Set { subject, counts, pressures, cores: cores.map(source), quota, io, last };
        let is_counted = !set.counts.is_empty() || !set.pressures.is_empty() || set.io.is_some();
        (is_counted || set.cores.is_some()).then_some(set)
    }

    /// Groups of a controller that contain one of these files and not Tenbin, from the own group upward. Without a controller,
    /// groups of version 2.
    fn levels(&self, memberships: &str, controller: &str, files: &[&str]) -> Vec<PathBuf> {
        let [this, mounts] = &self.this;
        let ours = control_groups::hierarchies(this, mounts, controller);
        let theirs = control_groups::hierarchies(memberships, mounts, controller);
        let levels = theirs.iter().flat_map(|hierarchy| {
            let is_ours = |group: &Path| {
                group == hierarchy.point
                    || ours.iter().any(|ours| ours.point == hierarchy.point && ours.own.starts_with(group))
            };
            hierarchy.groups().take_while(move |group| !is_ours(group))
        });
        let has_one = |group: &&Path| files.iter().any(|file| group.join(file).is_file());
        levels.filter(has_one).map(Path::to_path_buf).collect()
    }
}

/// Group with the smallest limit, or the first one without limits.
fn narrowest(groups: &[PathBuf], limits: &[&str]) -> Option<PathBuf> {
    let limit = |group: &PathBuf| {
        let texts = limits.iter().filter_map(|file| fs::read_to_string(group.join(file)).ok());
        // An absent limit is written as a word or a negative number.
        let number = |text: String| text.split_ascii_whitespace().next()?.parse::<u64>().ok();
        texts.filter_map(number).next().unwrap_or(u64::MAX)
    };
    groups.iter().min_by_key(|group| limit(group)).cloned()
}

fn first_existing(group: &Path, files: [&str; 2]) -> PathBuf {
    let [first, second] = files.map(|file| group.join(file));
    if first.is_file() { first } else { second }
}

fn source(path: PathBuf) -> Source {
    Source::new(path, Allowance::of(1))
}

impl Set {
    fn look(&mut self, sheet: &mut Sheet) {
        let counts = self.counts.iter_mut().filter_map(|(metric, source, names)| {
            Some(((*metric).to_owned(), [parse_counters(&source.text().ok()?, names)?]))
        });
        let waited = self.pressures.iter_mut().filter_map(|(metric, source)| {
            Some(((*metric).to_owned(), [pressure::parse(&source.text().ok()?)?]))
        });
        let grown = self.last.grown(counts.chain(waited).collect());
        let over_us = sheet.over.map_or(0.0, |over| over.as_secs_f64() * 1e6);
        for (name, [grown]) in grown {
            let of_pressure = self.pressures.iter().find(|(metric, _)| *metric == name);
            if let Some((metric, _)) = of_pressure.filter(|_| over_us > 0.0) {
                sheet.add(&self.subject, metric, "", (grown as f64 / over_us).min(1.0));
            }
            if let Some((metric, ..)) = self.counts.iter().find(|(metric, ..)| *metric == name) {
                sheet.add(&self.subject, metric, "", grown as f64);
            }
        }
        if let Some(cores) = self.cores.as_mut().and_then(|source| cores(&source.text().ok()?)) {
            sheet.add(&self.subject, "cpus_allowed", "", cores as f64);
        }
        if let Some(io) = &mut self.io {
            io.look(&self.subject, sheet);
        }
        self.quota.look(sheet);
    }
}

/// Sum of the counters with these names, or the whole text as a number if there are no names. `None` if no name is found.
fn parse_counters(text: &str, names: &[&str]) -> Option<u64> {
    if names.is_empty() {
        return text.trim().parse().ok();
    }
    names.iter().filter_map(|name| number(text, name)).reduce(u64::saturating_add)
}

/// Number of cores in a list such as `0-3,8`.
fn cores(list: &str) -> Option<u64> {
    let range = |part: &str| {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let (first, last) = (first.parse::<u32>().ok()?, last.parse::<u32>().ok()?);
        Some(u64::from(last.checked_sub(first)?) + 1)
    };
    list.trim().split(',').map(range).try_fold(0, |sum, cores| Some(sum + cores?))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    /// A directory that imitates hierarchies of version 1 with `cpu` and `memory`, and of version 2.
    struct Machine {
        place: tempfile::TempDir,
        groups: OwnGroups,
    }

    impl Machine {
        fn new() -> Self {
            let place = tempfile::tempdir().unwrap();
            let at = place.path().display();
            let mounts = format!(
                "30 25 0:26 / {at}/cpu rw - cgroup cgroup rw,cpu\n31 25 0:27 / {at}/memory rw - cgroup cgroup rw,memory\n\
                 32 25 0:28 / {at}/unified rw - cgroup2 cgroup2 rw\n"
            );
            let this = ["2:cpu:/tenbin\n3:memory:/\n0::/tenbin\n".to_owned(), mounts];
            let groups = OwnGroups { this, known: Vec::new(), sets: Vec::new(), has_limits: false };
            Self { place, groups }
        }

        fn write(&self, path: &str, text: &str) {
            let path = self.place.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }

        fn paths(&self, memberships: &str, controller: &str, file: &str) -> Vec<String> {
            let levels = self.groups.levels(memberships, controller, &[file]);
            let below = |path: &PathBuf| path.strip_prefix(self.place.path()).unwrap().display().to_string();
            levels.iter().map(below).collect()
        }
    }

    fn look(set: &mut Set, over: Option<Duration>) -> Vec<(&'static str, f64)> {
        let mut sheet = Sheet { over, ..Sheet::default() };
        set.look(&mut sheet);
        sheet.readings.into_iter().map(|reading| (reading.metric, reading.value)).collect()
    }

    #[test]
    fn groups_that_contain_tenbin_are_excluded() {
        let machine = Machine::new();
        for group in ["", "app/", "app/worker/", "tenbin/", "tenbin/app/"] {
            machine.write(&format!("cpu/{group}cpu.stat"), "nr_periods 0\n");
        }
        let of = |memberships: &str| machine.paths(memberships, "cpu", "cpu.stat");
        assert_eq!(of("2:cpu:/app/worker\n"), ["cpu/app/worker", "cpu/app"]);
        assert_eq!(of("2:cpu:/tenbin/app\n"), ["cpu/tenbin/app"]);
        for none in ["2:cpu:/\n", "2:cpu:/tenbin\n", "2:cpu:/gone\n", "", "nonsense", "0::/"] {
            assert_eq!(of(none), [""; 0], "{none:?}");
        }
        assert!(machine.groups.set(SYSTEM, "2:cpu:/tenbin\n3:memory:/\n0::/\n").is_none());
    }

    #[test]
    fn throttling_and_memory_of_version_1_are_read() {
        let machine = Machine::new();
        machine.write("cpu/app/cpu.cfs_quota_us", "40000\n");
        machine.write("cpu/app/cpu.cfs_period_us", "100000\n");
        machine.write("cpu/app/cpu.stat", "nr_periods 10\nnr_throttled 4\nthrottled_time 1000000000\n");
        machine.write("memory/app/memory.failcnt", "7\n");
        machine.write("memory/app/memory.limit_in_bytes", "50331648\n");
        machine.write("memory/app/memory.usage_in_bytes", "50000000\n");
        let stat = |file| {
            format!(
                "workingset_refault_file 1\ntotal_workingset_refault_anon 2\ntotal_workingset_refault_file {file}\n"
            )
        };
        machine.write("memory/app/memory.stat", &stat(100));
        let mut set = machine.groups.set(SYSTEM, "2:cpu:/app\n3:memory:/app\n").unwrap();
        look(&mut set, None);
        machine.write("cpu/app/cpu.stat", "nr_periods 20\nnr_throttled 12\nthrottled_time 1600000000\n");
        machine.write("memory/app/memory.failcnt", "9\n");
        machine.write("memory/app/memory.stat", &stat(5_100));
        let expected = [
            ("cpu_quota_periods", 10.0),
            ("cpu_quota_periods_throttled", 8.0),
            ("memory_limit_hits", 2.0),
            ("memory_refaulted_pages", 5_000.0),
            ("cpu_quota_cores", 0.4),
            ("throttled_s", 0.6),
            ("memory_charged_bytes", 50_000_000.0),
            ("memory_limit_bytes", 50_331_648.0),
        ];
        assert_eq!(look(&mut set, Some(Duration::from_secs(1))), expected);
    }

    #[test]
    fn pressure_limits_and_cores_of_version_2_are_read() {
        let machine = Machine::new();
        let folder = "unified/app.slice/app";
        machine.write("unified/app.slice/cpu.stat", "nr_periods 5\nnr_throttled 1\nthrottled_usec 10\n");
        machine.write("unified/app.slice/cpu.max", "50000 100000\n");
        machine.write(
            &format!("{folder}/cpu.stat"),
            "usage_usec 5\nnr_periods 0\nnr_throttled 0\nthrottled_usec 0\n",
        );
        machine.write(&format!("{folder}/cpu.max"), "max 100000\n");
        machine.write(&format!("{folder}/cpuset.cpus.effective"), "0-2,5\n");
        machine.write(&format!("{folder}/memory.stat"), "workingset_refault_file 3\n");
        machine.write(&format!("{folder}/memory.events"), "low 0\nmax 4\noom 0\noom_kill 0\n");
        let pressure = |us| format!("some avg10=0.00 avg60=0.00 avg300=0.00 total={us}\nfull total=1\n");
        machine.write(&format!("{folder}/io.pressure"), &pressure(1_000_000));
        let mut set = machine.groups.set(SYSTEM, "0::/app.slice/app\n").unwrap();
        look(&mut set, None);
        machine.write(&format!("{folder}/io.pressure"), &pressure(1_250_000));
        machine.write("unified/app.slice/cpu.stat", "nr_periods 15\nnr_throttled 4\nthrottled_usec 200010\n");
        let expected = [
            ("cpu_quota_periods", 10.0),
            ("cpu_quota_periods_throttled", 3.0),
            ("memory_limit_hits", 0.0),
            ("memory_oom_kills", 0.0),
            ("memory_refaulted_pages", 0.0),
            ("pressure_io_some_share", 0.25),
            ("cpus_allowed", 4.0),
            ("cpu_quota_cores", 0.5),
            ("throttled_s", 0.2),
        ];
        assert_eq!(look(&mut set, Some(Duration::from_secs(1))), expected);
    }

    #[test]
    fn processes_in_separate_groups_have_separate_subjects() {
        let machine = Machine::new();
        machine.write("cpu/a/cpu.stat", "nr_periods 0\nnr_throttled 0\n");
        machine.write("cpu/b/cpu.stat", "nr_periods 0\nnr_throttled 0\n");
        let known = |groups: &[(&str, &str)]| {
            groups
                .iter()
                .map(|(name, group)| ((*name).to_owned(), format!("2:cpu:{group}\n")))
                .collect::<Vec<_>>()
        };
        let subjects = |groups: &[(&str, &str)]| {
            let sets = machine.groups.sets_of(&known(groups));
            sets.into_iter().map(|set| set.subject).collect::<Vec<_>>()
        };
        assert_eq!(subjects(&[("app", "/a"), ("database", "/b"), ("proxy", "/tenbin")]), ["app", "database"]);
        assert_eq!(subjects(&[("app", "/a"), ("database", "/a")]), [SYSTEM]);
        assert_eq!(subjects(&[]), [""; 0]);
    }

    #[test]
    fn cores_in_a_list_are_counted() {
        assert_eq!((cores("0-3,8\n"), cores("5")), (Some(5), Some(1)));
        for none in ["", "\n", "3-0", "x", "0,", "0-4294967296"] {
            assert_eq!(cores(none), None, "{none:?}");
        }
    }
}
