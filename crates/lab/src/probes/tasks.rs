//! Reads the threads of one process: time on a core, time waiting for a core, and context switches.

use std::fs;
use std::path::Path;

use super::process_files::{SchedStat, Status};
use super::source::{Allowance, Source};

/// Usage of all threads since the previous look. Usage of a thread after its last look is lost when it ends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct ThreadUsage {
    pub(crate) waited_ns: u64,
    /// CPU time of the thread that ran longest, in nanoseconds.
    pub(crate) ran_longest_ns: u64,
    pub(crate) switches_voluntary: u64,
    pub(crate) switches_involuntary: u64,
    /// Swap of the process at the end, in bytes.
    pub(crate) swap_bytes: u64,
}

impl ThreadUsage {
    /// Mean per look, if it covers several looks.
    pub(crate) fn per_look(self, looks: u32) -> Self {
        let looks = u64::from(looks.max(1));
        Self {
            waited_ns: self.waited_ns / looks,
            ran_longest_ns: self.ran_longest_ns / looks,
            switches_voluntary: self.switches_voluntary / looks,
            switches_involuntary: self.switches_involuntary / looks,
            swap_bytes: self.swap_bytes,
        }
    }
}

/// Threads of a process, sorted by thread ID.
#[derive(Debug, Default)]
pub(crate) struct Tasks {
    known: Vec<Task>,
}

#[derive(Debug)]
struct Task {
    id: u32,
    schedstat: Source,
    status: Source,
    last: (SchedStat, Status),
}

impl Tasks {
    /// Reads every thread of the process, and subtracts their number from `left`. `None` if there are more than `left`.
    pub(crate) fn look(
        &mut self,
        process: u32,
        threads: u64,
        left: &mut usize,
        files: &Allowance,
        has_schedstat: bool,
    ) -> Option<ThreadUsage> {
        let folder = format!("/proc/{process}/task");
        // A process with one thread needs no listing.
        let listed = if threads == 1 { vec![process] } else { ids(Path::new(&folder), *left) };
        let Some(still_left) = left.checked_sub(listed.len()) else {
            self.known.clear();
            return None;
        };
        *left = still_left;
        let mut known = std::mem::take(&mut self.known).into_iter().peekable();
        let mut done = ThreadUsage::default();
        for id in listed {
            while known.next_if(|task| task.id < id).is_some() {}
            let mut task =
                known.next_if(|task| task.id == id).unwrap_or_else(|| Task::new(&folder, id, files));
            if task.look(id == process, has_schedstat, &mut done).is_some() {
                self.known.push(task);
            }
        }
        Some(done)
    }
}

impl Task {
    fn new(folder: &str, id: u32, files: &Allowance) -> Self {
        let file = |name| Source::new(format!("{folder}/{id}/{name}").into(), files.clone());
        Self { id, schedstat: file("schedstat"), status: file("status"), last: Default::default() }
    }

    /// Reads the thread. `None` if it has ended. All usage of a new thread counts as usage since the previous look.
    fn look(&mut self, is_first: bool, has_schedstat: bool, done: &mut ThreadUsage) -> Option<()> {
        let (last_sched, last_status) = self.last;
        let mut sched = SchedStat::default();
        if has_schedstat {
            sched = SchedStat::parse(&self.schedstat.short_text().ok()?)?;
        }
        let mut status = last_status;
        // A thread that did not run was not switched. The first thread also has the memory values, which others may change.
        if is_first || !has_schedstat || sched.turns != last_sched.turns {
            status = Status::parse(&self.status.short_text().ok()?)?;
        }
        let ran_ns = grown(last_sched.ran_ns, sched.ran_ns);
        done.ran_longest_ns = done.ran_longest_ns.max(ran_ns);
        add(&mut done.waited_ns, grown(last_sched.waited_ns, sched.waited_ns));
        add(&mut done.switches_voluntary, grown(last_status.switches_voluntary, status.switches_voluntary));
        add(
            &mut done.switches_involuntary,
            grown(last_status.switches_involuntary, status.switches_involuntary),
        );
        if is_first {
            done.swap_bytes = status.swap_bytes;
        }
        self.last = (sched, status);
        Some(())
    }
}

fn add(sum: &mut u64, more: u64) {
    *sum = sum.saturating_add(more);
}

/// Increase of a counter. A counter that decreased belongs to a new thread with a reused ID.
fn grown(last: u64, now: u64) -> u64 {
    now.checked_sub(last).unwrap_or(now)
}

/// Sorted IDs in a directory, up to `max + 1`.
pub(crate) fn ids(folder: &Path, max: usize) -> Vec<u32> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut ids: Vec<u32> =
        entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).take(max + 1).collect();
    ids.sort_unstable();
    ids
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;
    use std::thread;
    use std::time::{Duration, Instant};

    use super::*;

    #[test]
    fn threads_are_added_and_removed() {
        let (process, files) = (std::process::id(), Allowance::of(4));
        let mut tasks = Tasks::default();
        let look = |tasks: &mut Tasks| tasks.look(process, 2, &mut 1_000, &files, true).unwrap();
        look(&mut tasks);
        let (end, is_ended) = mpsc::channel::<()>();
        let (begun, has_begun) = mpsc::channel();
        let thread = thread::spawn(move || {
            begun.send(u32::try_from(rustix::thread::gettid().as_raw_nonzero().get()).unwrap()).unwrap();
            is_ended.recv().unwrap();
        });
        let id = has_begun.recv().unwrap();
        let done = look(&mut tasks);
        assert!(done.switches_voluntary > 0, "{done:?}");
        assert!(done.ran_longest_ns > 0, "{done:?}");
        assert!(tasks.known.iter().any(|task| task.id == id));
        end.send(()).unwrap();
        thread.join().unwrap();
        // A join returns when the thread has released its memory, shortly before the kernel stops listing it.
        let listed = format!("/proc/{process}/task/{id}");
        let limit = Instant::now() + Duration::from_secs(10);
        while Path::new(&listed).exists() && Instant::now() < limit {
            thread::yield_now();
        }
        look(&mut tasks);
        assert!(tasks.known.iter().all(|task| task.id != id));
    }

    #[test]
    fn process_with_too_many_threads_is_not_read() {
        let mut left = 0;
        assert_eq!(Tasks::default().look(std::process::id(), 2, &mut left, &Allowance::of(0), true), None);
        assert_eq!(ids(Path::new("/proc/self/task"), 0).len(), 1);
        assert!(ids(Path::new("/proc/no-such-folder"), 9).is_empty());
    }

    #[test]
    fn smaller_counter_starts_from_zero() {
        assert_eq!((grown(5, 7), grown(5, 5), grown(5, 3)), (2, 0, 3));
    }
}
