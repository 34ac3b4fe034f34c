//! Samples the states of the threads of a system, up to 20 times a second.
//!
//! The kernel counts the time that each thread ran and waited for a core. Samples attribute the remaining time, in which it slept, to a
//! reason.

mod calls;
mod holder;
mod locks;
mod pace;
mod state;
mod thread;

use std::collections::{BTreeMap, HashMap};
use std::path::Path;
use std::time::{Duration, Instant};

pub(crate) use calls::{Call, parse_inode};

use super::own_time::own_time;
use super::sheet::Sheet;
use super::source::Allowance;
use super::tasks;
use crate::access::Need;
use locks::{FutexWaiters, LockTally, Locks};
use pace::Pace;
use state::{ROLES, Role, STATES, VmThreadRole};
use thread::{Thread, TimeSpent};

/// Max number of threads that are followed.
const THREADS_MAX: usize = 10_000;
/// Max number of sockets whose read time is tracked separately in one second.
const SOCKETS_MAX: usize = 4_096;

/// Processes of one keeper.
pub(crate) struct Members {
    pub(crate) name: String,
    pub(crate) pids: Vec<u32>,
}

pub(crate) struct Threads {
    files: Allowance,
    members: Vec<Members>,
    threads: Vec<Thread>,
    /// Index of the thread that is read next.
    next: usize,
    tallies: Vec<Tally>,
    locks: Locks,
    pace: Pace,
    listed: Option<Instant>,
    has_changed: bool,
    is_full: bool,
    unread: Option<String>,
}

/// Totals over the threads of one keeper since the last look.
#[derive(Clone, Debug, Default)]
struct Tally {
    samples: u32,
    /// Number of threads that were read, by role and state, as sums of shares of their time.
    threads: [[f64; STATES.len()]; ROLES.len()],
    /// Max number of workers waiting at one futex, summed over samples.
    same_futex: u64,
    /// Number of workers waiting at a futex with a timeout, summed over samples.
    timed_futex: u64,
    garbage_s: Option<f64>,
    compiling_s: Option<f64>,
    /// Thread seconds in reads of a socket, by its inode.
    reads_s: BTreeMap<u64, f64>,
    locks: LockTally,
}

impl Threads {
    pub(crate) fn new(files: Allowance, has_schedstat: bool) -> Self {
        let unread =
            (!has_schedstat).then(|| Need::ThreadTime.with_remedy("this kernel has no /proc/PID/schedstat"));
        let unread = unread.or_else(unreadable_reason);
        Self {
            files,
            members: Vec::new(),
            threads: Vec::new(),
            next: 0,
            tallies: Vec::new(),
            locks: Locks::default(),
            pace: Pace::default(),
            listed: None,
            has_changed: false,
            is_full: false,
            unread,
        }
    }

    /// Sets the share of a core that reading threads may cost from now on.
    pub(crate) fn set_share(&mut self, share: f64) {
        self.pace.share = share;
    }

    /// Processes that are followed.
    pub(crate) fn members(&self) -> &[Members] {
        &self.members
    }

    /// Follows these processes from now on.
    pub(crate) fn follow(&mut self, members: Vec<Members>, now: Instant) {
        self.tallies.resize_with(members.len(), Tally::default);
        let pids = |members: &[Members]| members.iter().flat_map(|of| of.pids.clone()).collect::<Vec<u32>>();
        self.has_changed |= pids(&members) != pids(&self.members);
        self.members = members;
        if self.listed.is_none() {
            self.sample(now);
        }
    }

    /// Reads all threads, or the next ones. Returns the time until the next sample. `None` if threads cannot be read.
    pub(crate) fn sample(&mut self, now: Instant) -> Option<Duration> {
        if self.unread.is_some() {
            return None;
        }
        let begun = own_time();
        let is_due = |listed: Instant| self.pace.is_listing_due(now.saturating_duration_since(listed));
        if std::mem::take(&mut self.has_changed) || self.listed.is_none_or(is_due) {
            self.list(now);
            self.pace.note_listing(own_time().saturating_sub(begun));
        }
        let listed = own_time();
        let plan = self.pace.plan(self.threads.len());
        // Each thread is read once at most.
        let mut ended = Vec::new();
        for _ in 0..plan.threads {
            let at = self.next % self.threads.len();
            self.next = at + 1;
            let thread = &mut self.threads[at];
            match thread.read(now) {
                Ok(Some(spent)) => self.tallies[thread.group].add(thread.chore, &spent),
                Ok(None) => {}
                Err(_) => ended.push(at),
            }
        }
        ended.sort_unstable();
        ended.iter().rev().for_each(|at| drop(self.threads.swap_remove(*at)));
        self.count_waiters(now);
        self.tallies.iter_mut().for_each(|tally| tally.samples += 1);
        self.pace.note(plan.threads, own_time().saturating_sub(listed));
        Some(self.pace.jittered(plan.interval))
    }

    fn list(&mut self, now: Instant) {
        let began = self.listed.map(|_| now);
        let mut known: HashMap<u32, Thread> =
            self.threads.drain(..).map(|thread| (thread.id, thread)).collect();
        self.is_full = false;
        for (group, members) in self.members.iter().enumerate() {
            for process in &members.pids {
                let room = THREADS_MAX - self.threads.len();
                let ids = tasks::ids(Path::new(&format!("/proc/{process}/task")), room);
                self.is_full |= ids.len() > room;
                let theirs = ids.into_iter().take(room).map(|id| {
                    let known = known.remove(&id).filter(|known| known.process == *process);
                    known.unwrap_or_else(|| Thread::new(group, *process, id, began, &self.files))
                });
                self.threads.extend(theirs);
            }
        }
        self.listed = Some(now);
    }

    /// Counts workers that wait at one futex, each as last read, and looks for the holders of locks among these futexes.
    fn count_waiters(&mut self, now: Instant) {
        let mut waiters: HashMap<(u32, u64), u64> = HashMap::new();
        let mut locks = HashMap::new();
        let mut most = vec![0; self.tallies.len()];
        let mut timed = vec![0_u64; self.tallies.len()];
        for thread in &self.threads {
            let Some((address, is_timed, lock)) =
                thread.futex_wait().filter(|_| thread.role(now) == Role::Worker)
            else {
                continue;
            };
            timed[thread.group] += u64::from(is_timed);
            let count = waiters.entry((thread.process, address)).or_default();
            *count += 1;
            most[thread.group] = (*count).max(most[thread.group]);
            if let Some(call) = lock {
                locks.insert((thread.process, address), (thread.group, call));
            }
        }
        let wanted = |((process, address), (group, call))| {
            let waiters = waiters.get(&(process, address)).copied().unwrap_or(0);
            FutexWaiters { process, group, address, call, waiters }
        };
        let mut tallies: Vec<&mut LockTally> =
            self.tallies.iter_mut().map(|tally| &mut tally.locks).collect();
        self.locks.look(locks.into_iter().map(wanted).collect(), &mut tallies);
        for ((tally, most), timed) in self.tallies.iter_mut().zip(most).zip(timed) {
            tally.same_futex = tally.same_futex.saturating_add(most);
            tally.timed_futex = tally.timed_futex.saturating_add(timed);
        }
    }

    /// Writes the values since the last look. `peer` returns the remote address of a socket's connection if the system opened it.
    pub(crate) fn look(&mut self, now: Instant, peer: impl Fn(u64) -> Option<String>, sheet: &mut Sheet) {
        if let Some(because) = &self.unread {
            return sheet.note_unavailable("what threads do", || because.clone());
        }
        self.note_hidden(sheet);
        let mut read = vec![[0_u32; 2]; self.tallies.len()];
        for thread in &mut self.threads {
            let role = thread.role(now);
            let was_read = self.tallies[thread.group].add_thread(role, std::mem::take(&mut thread.spent_s));
            let [read, all] = &mut read[thread.group];
            *read += u32::from(was_read);
            *all += 1;
        }
        let over_s = sheet.over.map_or(0.0, |over| over.as_secs_f64());
        for ((members, tally), [read, all]) in self.members.iter().zip(&mut self.tallies).zip(read) {
            let tally = std::mem::take(tally);
            if over_s > 0.0 && tally.samples > 0 {
                tally.write(&members.name, over_s, &peer, sheet);
                let share = if all == 0 { 1.0 } else { f64::from(read) / f64::from(all) };
                sheet.add(&members.name, "thread_coverage_share", "", share);
            }
        }
    }

    fn note_hidden(&self, sheet: &mut Sheet) {
        if self.locks.is_hidden {
            sheet.note_unavailable("owners of locks", || {
                Need::CallsOfOtherUsers.with_remedy("/proc/PID/mem is hidden from this user")
            });
        }
        if self.is_full {
            sheet.note_unavailable("some threads of the system", || {
                format!("there are more than {THREADS_MAX}")
            });
        }
        let hidden = || self.threads.iter().filter(|thread| thread.hidden.calls);
        if hidden().any(|thread| thread.hidden.functions) {
            sheet.note_unavailable("what sleeping threads wait for", || {
                Need::CallsOfOtherUsers
                    .with_remedy("/proc/PID/syscall and /proc/PID/wchan are hidden from this user")
            });
        } else if hidden().next().is_some() {
            sheet.note_unavailable("threads at the same lock", || {
                Need::CallsOfOtherUsers.with_remedy(
                    "/proc/PID/syscall is hidden from this user, or this kernel does not have it",
                )
            });
        }
    }
}

impl Tally {
    /// Adds one thread, divided by the share of its time in each state. Returns whether the thread was read at all.
    fn add_thread(&mut self, role: Role, spent_s: [f64; STATES.len()]) -> bool {
        let all_s: f64 = spent_s.iter().sum();
        if all_s > 0.0 {
            let threads = self.threads[role as usize].iter_mut().zip(spent_s);
            threads.for_each(|(threads, spent_s)| *threads += spent_s / all_s);
        }
        all_s > 0.0
    }

    fn add(&mut self, chore: Option<VmThreadRole>, spent: &TimeSpent) {
        let ran_s = match chore {
            Some(VmThreadRole::CollectsGarbage) => &mut self.garbage_s,
            Some(VmThreadRole::Compiles) => &mut self.compiling_s,
            Some(VmThreadRole::Other) | None => &mut None,
        };
        *ran_s = Some(ran_s.unwrap_or(0.0) + spent.on_cpu_s);
        if let Some(socket) = spent.asleep_in.socket
            && (self.reads_s.len() < SOCKETS_MAX || self.reads_s.contains_key(&socket))
        {
            // Counts at most one second per reading, because a thread may be read seldom.
            *self.reads_s.entry(socket).or_default() += spent.asleep_s.min(1.0);
        }
    }

    fn write(&self, subject: &str, over_s: f64, peer: impl Fn(u64) -> Option<String>, sheet: &mut Sheet) {
        sheet.add(subject, "thread_samples", "", f64::from(self.samples));
        for ((_, role), threads) in ROLES.iter().zip(&self.threads) {
            for ((_, metric), threads) in STATES.iter().zip(threads).filter(|(_, threads)| **threads > 0.0) {
                sheet.add(subject, metric, role, *threads);
            }
        }
        // The two values are either both known or both unknown.
        let sums = [("threads_futex_same", self.same_futex), ("threads_futex_timed", self.timed_futex)];
        for (metric, sum) in sums.into_iter().filter(|_| self.same_futex > 0) {
            sheet.add(subject, metric, ROLES[Role::Worker as usize].1, sum as f64 / f64::from(self.samples));
        }
        for (metric, spent_s) in [("cpu_gc_s", self.garbage_s), ("cpu_jit_s", self.compiling_s)] {
            if let Some(spent_s) = spent_s {
                sheet.add(subject, metric, "", spent_s);
            }
        }
        self.locks.write(subject, self.samples, &peer, sheet);
        let mut peers: BTreeMap<String, f64> = BTreeMap::new();
        for (socket, spent_s) in &self.reads_s {
            if let Some(peer) = peer(*socket) {
                *peers.entry(peer).or_default() += spent_s;
            }
        }
        for (peer, spent_s) in peers {
            sheet.add(subject, "threads_dependency_read", &peer, spent_s / over_s);
        }
    }
}

/// Returns why threads cannot be read here. A kernel may have the file without counting.
fn unreadable_reason() -> Option<String> {
    let schedstat = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let ran_ns = schedstat.split_ascii_whitespace().next().and_then(|ns| ns.parse::<u64>().ok());
    ran_ns.is_none_or(|ns| ns == 0).then(|| "this kernel does not count how long threads run".to_owned())
}

#[cfg(test)]
mod tests {
    use super::state::State;
    use super::thread::Sleep;
    use super::*;

    fn spent(on_cpu_s: f64, asleep_s: f64, asleep_in: Sleep) -> TimeSpent {
        TimeSpent { on_cpu_s, runnable_s: 0.0, asleep_s, asleep_in }
    }

    fn written(tally: &Tally, over_s: f64) -> Vec<(&'static str, String, f64)> {
        let mut sheet = Sheet::default();
        let peer = |socket| (socket == 7).then(|| "127.0.0.1:5432".to_owned());
        tally.write("app", over_s, peer, &mut sheet);
        sheet.readings.into_iter().map(|reading| (reading.metric, reading.label, reading.value)).collect()
    }

    #[test]
    fn times_of_threads_become_mean_numbers() {
        let mut tally = Tally { samples: 2, same_futex: 3, timed_futex: 1, ..Tally::default() };
        let futex = Sleep { state: State::Futex, futex: Some(1), is_timed: false, lock: None, socket: None };
        let socket = |socket| Sleep {
            state: State::SocketRead,
            futex: None,
            is_timed: false,
            lock: None,
            socket: Some(socket),
        };
        tally.add(None, &spent(0.5, 1.5, futex));
        tally.add(None, &spent(0.0, 1.0, socket(7)));
        tally.add(None, &spent(0.0, 2.0, socket(8)));
        tally.add(Some(VmThreadRole::CollectsGarbage), &spent(0.5, 0.0, futex));
        let spent_s = |of: &[(State, f64)]| {
            let mut spent_s = [0.0; STATES.len()];
            of.iter().for_each(|(state, seconds)| spent_s[*state as usize] = *seconds);
            spent_s
        };
        // One thread was read for half a second, and another for ten.
        assert!(tally.add_thread(Role::Worker, spent_s(&[(State::OnCpu, 0.125), (State::Futex, 0.375)])));
        assert!(tally.add_thread(Role::Worker, spent_s(&[(State::SocketRead, 10.0)])));
        assert!(tally.add_thread(Role::Runtime, spent_s(&[(State::OnCpu, 0.5), (State::Futex, 1.5)])));
        assert!(!tally.add_thread(Role::Worker, spent_s(&[])));
        let worker = || "worker".to_owned();
        let expected = [
            ("thread_samples", String::new(), 2.0),
            ("threads_on_cpu", worker(), 0.25),
            ("threads_futex", worker(), 0.75),
            ("threads_socket_read", worker(), 1.0),
            ("threads_on_cpu", "runtime".to_owned(), 0.25),
            ("threads_futex", "runtime".to_owned(), 0.75),
            ("threads_futex_same", worker(), 1.5),
            ("threads_futex_timed", worker(), 0.5),
            ("cpu_gc_s", String::new(), 0.5),
            ("threads_dependency_read", "127.0.0.1:5432".to_owned(), 0.5),
        ];
        assert_eq!(written(&tally, 2.0), expected);
    }

    #[test]
    fn number_of_sockets_is_bounded() {
        let mut tally = Tally { samples: 1, ..Tally::default() };
        for socket in 0..2 * SOCKETS_MAX as u64 {
            let asleep_in = Sleep {
                state: State::SocketRead,
                futex: None,
                is_timed: false,
                lock: None,
                socket: Some(socket),
            };
            tally.add(None, &spent(0.0, 1.0, asleep_in));
        }
        assert_eq!(tally.reads_s.len(), SOCKETS_MAX);
    }

    #[test]
    fn missing_kernel_statistics_are_reported_once() {
        let mut threads = Threads::new(Allowance::of(0), false);
        let now = Instant::now();
        threads.follow(Vec::new(), now);
        assert_eq!(threads.sample(now), None);
        let mut sheet = Sheet::default();
        threads.look(now, |_| None, &mut sheet);
        threads.look(now, |_| None, &mut sheet);
        assert_eq!(sheet.missing().len(), 1);
    }
}
