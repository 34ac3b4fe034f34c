//! One process, read again and again.

use std::fs;
use std::io::ErrorKind;

use super::group::Now;
use super::process_files::{Stat, disk_bytes, open_files_max};
use super::source::{Allowance, Source};
use super::tasks::{Done, Tasks};

/// Older kernels have the open files listed instead of counted; longer lists are cut.
const OPEN_FILES_MAX: usize = 1 << 16;

/// How processes are read on this machine.
#[derive(Clone, Debug)]
pub(crate) struct Reach {
    pub(crate) files: Allowance,
    pub(crate) has_schedstat: bool,
    pub(crate) has_io: bool,
}

/// Files of processes that are kept open at most: connections need theirs.
const FILES_KEPT_MAX: u64 = 1_024;

impl Reach {
    /// What this machine's kernel was built to tell.
    pub(crate) fn of_machine() -> Self {
        let limit = rustix::process::getrlimit(rustix::process::Resource::Nofile).current;
        let files = limit.map_or(FILES_KEPT_MAX, |limit| FILES_KEPT_MAX.min(limit / 8));
        let has = |name: &str| fs::exists(format!("/proc/self/{name}")).unwrap_or(false);
        Self {
            files: Allowance::of(usize::try_from(files).unwrap_or(0)),
            has_schedstat: has("schedstat"),
            has_io: has("io"),
        }
    }
}

/// Used by the process itself, and taken over from children that ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Used {
    pub(crate) own: u64,
    pub(crate) taken_over: u64,
}

impl Used {
    fn since(self, last: Self) -> Self {
        let own = self.own.saturating_sub(last.own);
        Self { own, taken_over: self.taken_over.saturating_sub(last.taken_over) }
    }

    pub(crate) fn sum(self) -> u64 {
        self.own.saturating_add(self.taken_over)
    }
}

/// User time and system time in ticks, bytes read from disks, bytes written to them. The kernel does not tell the bytes of a
/// process from those of its ended children: all count as taken over.
pub(crate) type Uses = [Used; 4];

#[derive(Debug)]
pub(crate) struct Member {
    pub(crate) pid: u32,
    stat: Source,
    io: Source,
    tasks: Tasks,
    start_ticks: Option<u64>,
    open_files_max: Option<u64>,
    /// What its threads did in each look since the last but one reading of them, and its open files then.
    held: Option<(Option<Done>, Option<u64>)>,
    /// As of the last look; zero before the first one.
    pub(crate) last: Uses,
}

/// What a look at one process found.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Seen {
    pub(crate) stat: Stat,
    /// Since the look before.
    pub(crate) uses: Uses,
    /// Whether it may not be known what it read from disks and wrote to them.
    pub(crate) is_io_hidden: bool,
}

impl Member {
    pub(crate) fn new(pid: u32, reach: &Reach) -> Self {
        let file = |name| Source::new(format!("/proc/{pid}/{name}").into(), reach.files.clone());
        let (stat, io) = (file("stat"), file("io"));
        let (tasks, last) = (Tasks::default(), Uses::default());
        Self { pid, stat, io, tasks, start_ticks: None, open_files_max: None, held: None, last }
    }

    /// Nothing if it has ended.
    pub(crate) fn look(&mut self) -> Option<Seen> {
        let stat = Stat::parse(&self.stat.short_text().ok()?)?;
        if *self.start_ticks.get_or_insert(stat.start_ticks) != stat.start_ticks {
            return None;
        }
        let [.., read, written] = self.last;
        // What a zombie used can no longer be read, and no longer grows.
        let io = if stat.is_zombie { Ok(String::new()) } else { self.io.short_text() };
        let is_io_hidden = io.as_ref().is_err_and(|error| error.kind() == ErrorKind::PermissionDenied);
        let bytes = io.ok().as_deref().and_then(disk_bytes);
        let [read, written] =
            bytes.map_or([read, written], |bytes| bytes.map(|taken_over| Used { own: 0, taken_over }));
        let user = Used { own: stat.user_ticks, taken_over: stat.children_user_ticks };
        let sys = Used { own: stat.sys_ticks, taken_over: stat.children_sys_ticks };
        let now = [user, sys, read, written];
        let uses = std::array::from_fn(|kind| now[kind].since(self.last[kind]));
        self.last = now;
        Some(Seen { stat, uses, is_io_hidden })
    }

    /// What its threads did; nothing if there are too many. If they are not read in this look, what they did in a look before.
    pub(crate) fn tasks(&mut self, seen: &Seen, now: &mut Now) -> Option<Done> {
        if let (None, Some((done, _))) = (now.threads_after, &self.held) {
            return *done;
        }
        let Reach { files, has_schedstat, .. } = now.reach;
        let done = self.tasks.look(self.pid, seen.stat.threads, now.threads_left, files, *has_schedstat);
        let looks = if self.held.is_some() { now.threads_after.unwrap_or(1) } else { 1 };
        let done = done.map(|done| done.in_each_of(looks));
        self.held = Some((done, self.held.and_then(|(_, open_files)| open_files)));
        done
    }

    /// How many files it has open, now or when its threads were read.
    pub(crate) fn known_open_files(&mut self, is_read: bool) -> Option<u64> {
        match &mut self.held {
            Some((_, Some(known))) if !is_read => Some(*known),
            _ => {
                let open_files = self.open_files();
                if let Some((_, known)) = &mut self.held {
                    *known = open_files;
                }
                open_files
            }
        }
    }

    /// How many files it has open; none if it has ended, nothing if that is hidden.
    pub(crate) fn open_files(&self) -> Option<u64> {
        let folder = format!("/proc/{}/fd", self.pid);
        // Since Linux 6.2 the length of the folder is their count.
        let count = match fs::metadata(&folder).map(|folder| folder.len()) {
            Ok(0) => fs::read_dir(&folder).map(|files| files.take(OPEN_FILES_MAX).count() as u64),
            count => count,
        };
        match count {
            Err(error) if error.kind() == ErrorKind::PermissionDenied => None,
            count => Some(count.unwrap_or(0)),
        }
    }

    /// The share of its limit that so many open files are; zero if it has none. A limit is seldom changed, so it is read
    /// again only when it begins to matter.
    pub(crate) fn share_of_limit(&mut self, open_files: u64) -> f64 {
        if self.open_files_max.is_none_or(|max| open_files >= max / 2) {
            let limits = fs::read_to_string(format!("/proc/{}/limits", self.pid)).unwrap_or_default();
            self.open_files_max = Some(open_files_max(&limits).unwrap_or(u64::MAX));
        }
        let max = self.open_files_max.unwrap_or(u64::MAX);
        open_files as f64 / max.max(1) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reach() -> Reach {
        Reach::of_machine()
    }

    #[test]
    fn this_process_is_seen() {
        let mut this = Member::new(std::process::id(), &reach());
        let first = this.look().unwrap();
        assert!(first.stat.rss_pages > 0 && first.stat.threads > 0);
        let open_files = this.open_files().unwrap();
        assert!(open_files > 2);
        let share = this.share_of_limit(open_files);
        assert!(share > 0.0 && share <= 1.0, "{share}");
        let (reach, mut threads_left) = (reach(), 1_000);
        let mut now = Now {
            reach: &reach,
            last_look_ticks: None,
            threads_left: &mut threads_left,
            threads_after: Some(1),
            threads_cost: std::time::Duration::ZERO,
        };
        let done = this.tasks(&first, &mut now).unwrap();
        now.threads_after = None;
        assert_eq!(this.tasks(&first, &mut now), Some(done), "not read again");
        assert_eq!(this.known_open_files(true), this.known_open_files(false));
        assert!(done.switches_voluntary + done.switches_involuntary > 0);
        assert_eq!(this.look().unwrap().uses[0].taken_over, 0);
    }

    #[test]
    fn a_process_that_has_ended_is_not_an_error() {
        let mut child = std::process::Command::new("sleep").arg("60").spawn().unwrap();
        let mut member = Member::new(child.id(), &reach());
        assert!(member.look().is_some());
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(member.look().is_none());
        assert_eq!(member.open_files(), Some(0));
    }
}
