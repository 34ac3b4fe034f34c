//! Probe for the processes of the system: the descendants of each keeper separately and in total, or a system that already runs.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use rustix::process::Pid;
use rustix::thread::{CpuSet, sched_getaffinity};

use super::budget::{Budget, Cost, Due};
use super::dependencies::{CalledServer, Dependencies};
use super::group::{Group, LookContext};
use super::holders::Holders;
use super::instruments::Instruments;
use super::jvm::Jvms;
use super::member::ProbeCapabilities;
use super::own_groups::OwnGroups;
use super::own_time::own_time;
use super::process_files::Stat;
use super::process_values::{COVERED, DEPENDENCY_CPU, ProcessValues};
use super::pss::Pss;
use super::running::RunningSystem;
use super::runtimes::Runtimes;
use super::served::Served;
use super::sheet::{Probe, Sheet};
use super::source::Source;
use super::threads::{Members, Threads};
use super::tree::{MEMBERS_MAX, Tree};
use super::{GENERATOR, SYSTEM, Subject};
use crate::access::Need;
use crate::processes;

/// Max number of threads read in one look, which takes about 10 ms if all of them run.
const THREADS_MAX: usize = 2_000;
/// Max number of listed processes, more than a machine has.
const LISTED_MAX: usize = 1 << 18;

pub(crate) struct System {
    reach: ProbeCapabilities,
    tree: Tree,
    groups: Vec<Group>,
    /// Number of groups that belong to the system. The others are aside.
    own: usize,
    /// Servers on this machine that the system calls. Their groups are the last ones.
    servers: Vec<CalledServer>,
    /// Index of the group and PID of each process of servers that were found since processes were last read.
    new_of_servers: Vec<(usize, u32)>,
    /// A system that already runs, which is the first group. `None` if Tenbin started the system.
    running: Option<RunningSystem>,
    uptime: Source,
    last_look_ticks: Option<u64>,
    /// Time at which the processes were last read.
    last_read: Option<Instant>,
    pss: Pss,
    threads: Threads,
    dependencies: Dependencies,
    served: Served,
    holders: Holders,
    own_groups: OwnGroups,
    jvms: Jvms,
    runtimes: Runtimes,
    /// `None` if the run is not instrumented.
    instruments: Option<Instruments>,
    budget: Budget,
    /// Cores that its processes may use, as last read.
    cores: Option<Vec<usize>>,
}

impl System {
    pub(crate) fn of(subject: &Subject, reach: ProbeCapabilities) -> Self {
        let running = subject.running.clone().map(RunningSystem::new);
        let tool = subject.tool.map(|keeper| (GENERATOR.to_owned(), keeper));
        let kept = || subject.roots.iter().chain(&subject.aside).chain(&tool);
        let first = usize::from(running.is_some());
        let unknown = running.iter().map(|_| Group::new("", None, &reach));
        let groups = unknown.chain(kept().map(|(name, keeper)| Group::new(name, Some(*keeper), &reach)));
        Self {
            own: first + subject.roots.len(),
            tree: Tree::of(kept().enumerate().map(|(number, (_, keeper))| (*keeper, first + number))),
            groups: groups.collect(),
            servers: Vec::new(),
            new_of_servers: Vec::new(),
            running,
            threads: Threads::new(reach.files.clone(), reach.has_schedstat),
            dependencies: Dependencies::of(subject),
            served: Served::of(subject),
            holders: Holders::of(subject),
            own_groups: OwnGroups::new(subject.limits.0.is_some() || subject.limits.1.is_some()),
            jvms: Jvms::default(),
            runtimes: Runtimes::default(),
            instruments: Instruments::of(subject.instruments.clone()),
            reach,
            uptime: Source::of_machine("/proc/uptime"),
            last_look_ticks: None,
            last_read: None,
            pss: Pss::default(),
            budget: Budget::default(),
            cores: None,
        }
    }

    fn note_missing(&self, sheet: &mut Sheet) {
        if !self.reach.has_io {
            sheet.note_unavailable("disk of the system", || "this kernel has no /proc/PID/io".into());
        }
        if !self.reach.has_schedstat {
            sheet.note_unavailable("run-queue wait", || {
                Need::ThreadTime.with_remedy("this kernel has no /proc/PID/schedstat")
            });
        }
    }

    /// Returns the processes of a system that already runs, once they are found.
    fn adopt_running_system(&mut self, now: Instant, sheet: &mut Sheet) -> Vec<(usize, u32)> {
        let (Some(running), Some(group)) = (&mut self.running, self.groups.first_mut()) else {
            return Vec::new();
        };
        let Some(found) = running.look(now, |pid| self.tree.has(pid), sheet) else { return Vec::new() };
        let new: Vec<u32> = found.roots.iter().copied().filter(|pid| !self.tree.has(*pid)).collect();
        if group.is_unknown() {
            group.name.clone_from(&found.name);
        }
        self.tree.adopt(&new, 0, processes::self_and_ancestors());
        new.into_iter().map(|pid| (0, pid)).collect()
    }

    /// Follows the processes of servers that the system calls from now on.
    fn follow_servers(&mut self) {
        for server in self.dependencies.take_servers() {
            let number = self.groups.len();
            let new: Vec<u32> = server.pids.iter().copied().filter(|pid| !self.tree.has(*pid)).collect();
            self.tree.adopt(&new, number, processes::self_and_ancestors());
            self.new_of_servers.extend(new.into_iter().map(|pid| (number, pid)));
            self.groups.push(Group::new(&server.address, None, &self.reach));
            self.servers.push(server);
        }
    }

    /// Number of groups that are not servers of other groups.
    fn planned_groups(&self) -> usize {
        self.groups.len() - self.servers.len()
    }

    fn newcomers(&mut self, sheet: &mut Sheet) -> Vec<(usize, u32)> {
        let listed = match listed(Path::new("/proc")) {
            Ok(listed) => listed,
            Err(error) => {
                sheet.note_unavailable("processes of the system", || format!("/proc: {error}"));
                Vec::new()
            }
        };
        let found = self.tree.newcomers(&listed, parent_of);
        if self.tree.is_full() {
            sheet.note_unavailable("some processes of the system", || {
                format!("there are more than {MEMBERS_MAX}")
            });
        }
        found
    }

    fn pss(&mut self, over: Duration, figures: &mut [ProcessValues], sheet: &mut Sheet) {
        let planned = self.planned_groups();
        let pids: Vec<Vec<u32>> =
            self.groups.iter().take(planned).map(|group| group.pids().collect()).collect();
        let rss_bytes =
            self.groups.iter().take(planned).map(|group| group.rss_bytes).fold(0, u64::saturating_add);
        match self.pss.look(over, &pids, rss_bytes) {
            Ok(sums) => {
                let figures = figures.iter_mut().zip(&self.groups);
                for ((figures, _), sum) in
                    figures.zip(sums.into_iter().flatten()).filter(|((_, group), _)| !group.is_unknown())
                {
                    figures.add("pss_bytes", Some(sum as f64));
                }
            }
            Err(because) => sheet.note_unavailable("pss of the system", || because),
        }
    }

    /// Reads every process, and writes the values that this look and the waiting looks share.
    fn read_processes(&mut self, now: Instant, looks: u32, due: Due, sheet: &mut Sheet) -> Cost {
        let begun = own_time();
        let now_ticks = self.uptime.text().ok().and_then(|text| parse_uptime_ticks(&text));
        let mut new = self.adopt_running_system(now, sheet);
        new.append(&mut self.new_of_servers);
        new.extend(self.newcomers(sheet));
        // With many processes or on a busy machine, this may be long after the start of the look.
        let read_at = Instant::now();
        let (mut figures, threads_cost) = self.look_at_groups(&new, due.threads, sheet);
        let mut cost = Cost {
            processes: Some(own_time().saturating_sub(begun).saturating_sub(threads_cost)),
            threads: due.threads.map(|_| threads_cost),
            memory: Duration::ZERO,
        };
        self.last_look_ticks = Some(now_ticks.unwrap_or(0));
        let read_over = self.last_read.replace(read_at).map(|last| read_at.saturating_duration_since(last));
        if let Some(read_over) = read_over {
            let begun = own_time();
            self.pss(read_over, &mut figures, sheet);
            cost.memory = own_time().saturating_sub(begun);
            let known = self.groups.iter().zip(&mut figures).filter(|(group, _)| !group.is_unknown());
            known.for_each(|(_, figures)| figures.add(COVERED, Some(read_over.as_secs_f64())));
        }
        sheet.is_shared = looks > 1;
        if sheet.is_shared {
            sheet.note_unavailable("each second of the processes of the system", || {
                format!(
                    "there are so many that reading all of them takes {:.1} ms: what they use is divided evenly over several seconds",
                    cost.processes.unwrap_or_default().as_secs_f64() * 1e3
                )
            });
        }
        self.write(&figures, sheet);
        sheet.is_shared = false;
        cost
    }

    /// Returns the values of each group, and the CPU time of reading their threads.
    fn look_at_groups(
        &mut self,
        new: &[(usize, u32)],
        threads_after: Option<u32>,
        sheet: &mut Sheet,
    ) -> (Vec<ProcessValues>, Duration) {
        let (mut threads_left, mut all) = (THREADS_MAX, Vec::new());
        let mut threads_cost = Duration::ZERO;
        for (number, group) in self.groups.iter_mut().enumerate() {
            let new: Vec<u32> = new.iter().filter(|(of, _)| *of == number).map(|(_, pid)| *pid).collect();
            let last_look_ticks = self.last_look_ticks;
            let (reach, threads_left) = (&self.reach, &mut threads_left);
            let mut now = LookContext { reach, last_look_ticks, threads_left, threads_after, threads_cost };
            let (figures, ended) = group.look(&new, &mut now, sheet);
            threads_cost = now.threads_cost;
            ended.into_iter().for_each(|pid| self.tree.forget(pid));
            all.push(figures);
        }
        (all, threads_cost)
    }

    fn write(&self, all: &[ProcessValues], sheet: &mut Sheet) {
        let mut whole = ProcessValues::default();
        let planned = self.planned_groups();
        for (server, figures) in self.servers.iter().zip(all.iter().skip(planned)) {
            if let Some((caller, cpu_s)) = self.groups.get(server.caller).zip(figures.cpu_s()) {
                sheet.add_labeled_process_value(&caller.name, DEPENDENCY_CPU, &server.address, cpu_s);
            }
        }
        for (number, (group, figures)) in self.groups.iter().zip(all).take(planned).enumerate() {
            figures.write(&group.name, sheet);
            if number < self.own {
                whole.add_all(figures);
            }
        }
        if self.own > 0 {
            whole.write(SYSTEM, sheet);
        }
    }
}

impl Probe for System {
    fn look(&mut self, sheet: &mut Sheet) {
        let Some(now) = sheet.at.filter(|_| !self.groups.is_empty()) else { return };
        self.note_missing(sheet);
        let due = self.budget.begin_look(sheet.is_last);
        let cost = match due.processes {
            Some(looks) => self.read_processes(now, looks, due, sheet),
            None => Cost::default(),
        };
        sheet.waits = due.processes.is_none();
        let members = |group: &Group| Members { name: group.name.clone(), pids: group.pids().collect() };
        let known = self.groups.iter().take(self.own).filter(|group| !group.is_unknown());
        let members: Vec<Members> = known.map(members).collect();
        if due.threads.is_some() || self.cores.is_none() {
            self.cores = cores_allowed(members.iter().flat_map(|of| of.pids.iter().copied()));
        }
        if let Some(cores) = &self.cores {
            sheet.add(SYSTEM, "cores_allowed", &ranges(cores), cores.len() as f64);
        }
        self.dependencies.look(&members, now, sheet);
        self.follow_servers();
        self.served.look(sheet);
        read_holders(&mut self.holders, self.running.as_mut(), &members, now);
        self.holders.write(sheet);
        self.own_groups.look(&members, sheet);
        self.jvms.look(&members, sheet);
        self.runtimes.look(&members, sheet);
        self.instruments.iter_mut().for_each(|instruments| instruments.look(&members, sheet));
        self.threads.look(now, |inode| self.dependencies.peer(inode), sheet);
        self.threads.follow(members, now);
        self.budget.end_look(cost, own_time(), sheet.over);
        self.threads.set_share(self.budget.samples_share());
    }

    fn sample(&mut self, now: Instant) -> Option<Duration> {
        if self.groups.is_empty() {
            return None;
        }
        // The samples of connections have separate budgets.
        self.dependencies.sample(now);
        self.served.sample(now);
        let begun = own_time();
        let pause = self.threads.sample(now);
        read_holders(&mut self.holders, self.running.as_mut(), self.threads.members(), now);
        self.budget.note_sample(own_time().saturating_sub(begun));
        pause
    }
}

/// Reads connections by process if a reading is due, including processes that joined a running system.
fn read_holders(
    holders: &mut Holders,
    running: Option<&mut RunningSystem>,
    members: &[Members],
    now: Instant,
) {
    if holders.sample(members, now)
        && let Some(found) = running.and_then(|running| running.late_listeners(now))
    {
        let is_new = |pid: &u32| members.iter().all(|of| !of.pids.contains(pid));
        let pids = found.roots.iter().copied().filter(is_new).collect();
        let late = Members { name: found.name.clone(), pids };
        holders.read(members.iter().chain([&late]), now);
    }
}

/// Union of the cores that these processes may run on. `None` if all of them have ended.
fn cores_allowed(pids: impl Iterator<Item = u32>) -> Option<Vec<usize>> {
    let (mut all, mut last) = (CpuSet::new(), None);
    for pid in pids {
        let pid = i32::try_from(pid).ok().and_then(Pid::from_raw);
        // Most processes share one set, so it is compared first.
        let set =
            pid.and_then(|pid| sched_getaffinity(Some(pid)).ok()).filter(|set| last.as_ref() != Some(set));
        if let Some(set) = set {
            (0..CpuSet::MAX_CPU).filter(|core| set.is_set(*core)).for_each(|core| all.set(core));
            last = Some(set);
        }
    }
    let cores: Vec<usize> = (0..CpuSet::MAX_CPU).filter(|core| all.is_set(*core)).collect();
    (!cores.is_empty()).then_some(cores)
}

/// Formats a list of cores as the kernel does: `0-3,8`.
fn ranges(cores: &[usize]) -> String {
    let runs = cores.chunk_by(|one, next| one + 1 == *next);
    let run = |run: &[usize]| match run {
        [first, .., last] => format!("{first}-{last}"),
        _ => run.iter().map(usize::to_string).collect(),
    };
    runs.map(run).collect::<Vec<_>>().join(",")
}

/// Process IDs of the machine.
fn listed(proc: &Path) -> std::io::Result<Vec<u32>> {
    let pids = fs::read_dir(proc)?.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    Ok(pids.take(LISTED_MAX).collect())
}

fn parent_of(pid: u32) -> Option<u32> {
    Some(Stat::parse(&fs::read_to_string(format!("/proc/{pid}/stat")).ok()?)?.parent)
}

/// Parses the uptime from `/proc/uptime`, in ticks. The first number is seconds with two decimals.
fn parse_uptime_ticks(uptime: &str) -> Option<u64> {
    let seconds: f64 = uptime.split_ascii_whitespace().next()?.parse().ok()?;
    let is_possible = seconds.is_finite() && seconds >= 0.0;
    is_possible.then(|| (seconds * rustix::param::clock_ticks_per_second() as f64) as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn uptime_is_converted_to_ticks() {
        assert_eq!(
            parse_uptime_ticks("12.34 5.00\n"),
            Some(12 * rustix::param::clock_ticks_per_second() + 34)
        );
        for text in ["", "x", "-1", "inf", "NaN"] {
            assert_eq!(parse_uptime_ticks(text), None, "{text:?}");
        }
    }

    #[test]
    fn allowed_cores_are_the_union_over_processes() {
        let own = cores_allowed([std::process::id()].into_iter());
        assert!(own.as_ref().is_some_and(|cores| !cores.is_empty()));
        assert_eq!(cores_allowed([std::process::id(), std::process::id()].into_iter()), own);
        assert_eq!(cores_allowed([u32::MAX].into_iter()), None);
        assert_eq!(ranges(&[0, 1, 2, 5, 7, 8]), "0-2,5,7-8");
    }

    #[test]
    fn this_process_is_listed() {
        assert!(listed(Path::new("/proc")).unwrap().contains(&std::process::id()));
        assert!(listed(Path::new("/proc/no-such-folder")).is_err());
        assert_eq!(parent_of(u32::MAX), None);
    }
}
