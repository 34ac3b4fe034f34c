//! A group of processes: all descendants of one keeper, or all processes of a system that already runs.

use std::time::Duration;

use super::ledger::{Change, Ledger};
use super::member::{Member, ProbeCapabilities, Seen, Used, Uses};
use super::own_time::own_time;
use super::process_values::{BUSIEST_THREAD, NICE, OPEN_FILES_SHARE, ProcessValues};
use super::sheet::Sheet;
use super::tasks::ThreadUsage;
use crate::access::Need;

/// Processes of one keeper, in the order in which they started.
pub(crate) struct Group {
    pub(crate) name: String,
    /// `None` for a system that was not started below a keeper.
    keeper: Option<Member>,
    members: Vec<Member>,
    ledgers: [Ledger; 4],
    pub(crate) rss_bytes: u64,
}

/// Context of a look at a group.
pub(crate) struct LookContext<'a> {
    pub(crate) reach: &'a ProbeCapabilities,
    /// Start of the previous look, in ticks since boot. `None` in the first look.
    pub(crate) last_look_ticks: Option<u64>,
    /// Number of threads that may still be read in this look.
    pub(crate) threads_left: &'a mut usize,
    /// Looks since threads and open files were read last. `None` if this look does not read them and repeats the known values.
    pub(crate) threads_after: Option<u32>,
    /// CPU time of reading threads and open files.
    pub(crate) threads_cost: Duration,
}

/// Min age of a new process that earlier looks must have missed. Its usage so far belongs to an earlier time, so it is not counted.
const MISSED_MIN_TICKS: u64 = 100;

impl Group {
    pub(crate) fn new(name: &str, keeper: Option<u32>, reach: &ProbeCapabilities) -> Self {
        let keeper = keeper.map(|keeper| Member::new(keeper, reach));
        let (members, ledgers) = (Vec::new(), Default::default());
        Self { name: name.to_owned(), keeper, members, ledgers, rss_bytes: 0 }
    }

    /// Whether no process is known yet. A running system has no name until it is found.
    pub(crate) fn is_unknown(&self) -> bool {
        self.name.is_empty()
    }

    pub(crate) fn pids(&self) -> impl Iterator<Item = u32> {
        self.members.iter().map(|member| member.pid)
    }

    /// Reads all members, including the new ones. Returns the sums, and the pids of members that have ended.
    pub(crate) fn look(
        &mut self,
        new: &[u32],
        now: &mut LookContext,
        sheet: &mut Sheet,
    ) -> (ProcessValues, Vec<u32>) {
        if self.is_unknown() {
            return Default::default();
        }
        let mut changes = [Change::default(); 4];
        // The keeper is read first, because it inherits the usage of children that end. Its own usage is not part of the system.
        if let Some(seen) = self.keeper.as_mut().and_then(Member::look) {
            add(&mut changes, seen.uses.map(|used| Used { own: 0, ..used }));
        }
        let first_new = self.members.len();
        self.members.extend(new.iter().map(|pid| Member::new(*pid, now.reach)));
        let (mut figures, mut ended, mut number) = (empty(now.reach), Vec::new(), 0);
        self.rss_bytes = 0;
        self.members.retain_mut(|member| {
            let is_new = number >= first_new;
            number += 1;
            let Some(seen) = member.look() else {
                ended.push(member.pid);
                for (change, last) in changes.iter_mut().zip(member.last) {
                    change.gone = change.gone.saturating_add(last.sum());
                }
                return false;
            };
            let is_overlooked = now
                .last_look_ticks
                .is_some_and(|last| seen.stat.start_ticks.saturating_add(MISSED_MIN_TICKS) < last);
            if !(is_new && is_overlooked) {
                add(&mut changes, seen.uses);
            }
            self.rss_bytes = self.rss_bytes.saturating_add(rss_bytes(&seen));
            describe(member, &seen, now, &mut figures, sheet);
            true
        });
        // Usage before the first look is not counted.
        if now.last_look_ticks.is_some() {
            self.settle(changes, now.reach.has_io, &mut figures);
        }
        (figures, ended)
    }

    fn settle(&mut self, changes: [Change; 4], has_io: bool, figures: &mut ProcessValues) {
        let [user, sys, read, written] = std::array::from_fn(|kind| self.ledgers[kind].settle(changes[kind]));
        figures.add("cpu_user_s", Some(seconds(user)));
        figures.add("cpu_sys_s", Some(seconds(sys)));
        if has_io {
            figures.add("disk_read_bytes", Some(read as f64));
            figures.add("disk_written_bytes", Some(written as f64));
        }
    }
}

fn add(changes: &mut [Change; 4], uses: Uses) {
    for (change, used) in changes.iter_mut().zip(uses) {
        change.own = change.own.saturating_add(used.own);
        change.taken_over = change.taken_over.saturating_add(used.taken_over);
    }
}

/// Values of a group without processes.
fn empty(reach: &ProbeCapabilities) -> ProcessValues {
    let mut figures = ProcessValues::default();
    figures.add("processes", Some(0.0));
    threads(Some(ThreadUsage::default()), reach, &mut figures);
    for metric in ["threads", "rss_bytes", "open_files", OPEN_FILES_SHARE] {
        figures.add(metric, Some(0.0));
    }
    figures
}

fn describe(
    member: &mut Member,
    seen: &Seen,
    now: &mut LookContext,
    figures: &mut ProcessValues,
    sheet: &mut Sheet,
) {
    if seen.stat.is_zombie {
        return;
    }
    figures.add("processes", Some(1.0));
    figures.add(NICE, Some(seen.stat.nice as f64));
    if seen.is_io_hidden {
        sheet.note_unavailable("disk of the system", || {
            Need::DiskBytes.with_remedy("/proc/PID/io is hidden from this user")
        });
        figures.add("disk_read_bytes", None);
        figures.add("disk_written_bytes", None);
    }
    describe_one(member, seen, now, figures, sheet);
}

/// Adds the values of one process that are summed over a group.
pub(crate) fn describe_one(
    member: &mut Member,
    seen: &Seen,
    now: &mut LookContext,
    figures: &mut ProcessValues,
    sheet: &mut Sheet,
) {
    figures.add("threads", Some(seen.stat.threads as f64));
    figures.add("rss_bytes", Some(rss_bytes(seen) as f64));
    let begun = now.threads_after.map(|_| own_time());
    let done = member.tasks(seen, now);
    if done.is_none() {
        sheet.note_unavailable("switches, run-queue wait and swap of processes", || {
            "there were too many threads to read each of them".into()
        });
    }
    threads(done, now.reach, figures);
    let open_files = member.known_open_files(seen, now.threads_after.is_some());
    if let Some(begun) = begun {
        now.threads_cost += own_time().saturating_sub(begun);
    }
    if open_files.is_none() {
        sheet.note_unavailable("open files of the system", || {
            Need::OpenFiles.with_remedy("/proc/PID/fd is hidden from this user")
        });
    }
    figures.add("open_files", open_files.map(|count| count as f64));
    figures.add(OPEN_FILES_SHARE, open_files.map(|count| member.share_of_limit(count)));
}

fn threads(done: Option<ThreadUsage>, reach: &ProbeCapabilities, figures: &mut ProcessValues) {
    if reach.has_schedstat {
        let seconds = |ns: u64| ns as f64 / 1e9;
        figures.add("run_queue_wait_s", done.map(|done| seconds(done.waited_ns)));
        figures.add(BUSIEST_THREAD, done.map(|done| seconds(done.ran_longest_ns)));
    }
    figures.add("switches_voluntary", done.map(|done| done.switches_voluntary as f64));
    figures.add("switches_involuntary", done.map(|done| done.switches_involuntary as f64));
    figures.add("swap_bytes", done.map(|done| done.swap_bytes as f64));
}

fn rss_bytes(seen: &Seen) -> u64 {
    seen.stat.rss_pages.saturating_mul(rustix::param::page_size() as u64)
}

pub(crate) fn seconds(ticks: u64) -> f64 {
    ticks as f64 / rustix::param::clock_ticks_per_second() as f64
}
