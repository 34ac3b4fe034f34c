//! One process, read again and again.

use std::fs;
use std::io::ErrorKind;

use super::group::Now;
use super::process_files::{SchedStat, Stat, disk_bytes, open_files_max};
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

/// A process that was given no core is read in one of so many looks all the same: others may change its memory and its priority.
const RESTS_MAX: u32 = 10;
/// Files of processes that are kept open at most: connections need theirs.
const FILES_KEPT_MAX: u64 = 8_192;

impl Reach {
    /// What this machine's kernel was built to tell.
    pub(crate) fn of_machine() -> Self {
        let limit = rustix::process::getrlimit(rustix::process::Resource::Nofile).current;
        let files = limit.map_or(FILES_KEPT_MAX, |limit| FILES_KEPT_MAX.min(limit / 4));
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
    /// Of its first thread; none where the kernel does not count it.
    schedstat: Option<Source>,
    stat: Source,
    io: Source,
    tasks: Tasks,
    start_ticks: Option<u64>,
    open_files_max: Option<u64>,
    looks: u32,
    /// What the last look found, of a process with one thread, and how long and how often this had run before.
    resting: Option<(SchedStat, Seen)>,
    /// How long and how often its only thread had run when that was read last, and when its open files were.
    tasks_at: Option<SchedStat>,
    files_at: Option<SchedStat>,
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
    /// How long and how often its only thread had run at least.
    ran: Option<SchedStat>,
}

impl Member {
    pub(crate) fn new(pid: u32, reach: &Reach) -> Self {
        let file = |name| Source::new(format!("/proc/{pid}/{name}").into(), reach.files.clone());
        Self {
            pid,
            schedstat: reach.has_schedstat.then(|| file("schedstat")),
            stat: file("stat"),
            io: file("io"),
            tasks: Tasks::default(),
            start_ticks: None,
            open_files_max: None,
            looks: 0,
            resting: None,
            tasks_at: None,
            files_at: None,
            held: None,
            last: Uses::default(),
        }
    }

    /// Nothing if it has ended. One that was given no core since the look before has done nothing, and is not read.
    pub(crate) fn look(&mut self) -> Option<Seen> {
        // Before all else: what it does from now on is found by the next look.
        let ran = self.schedstat.as_mut().and_then(|file| SchedStat::parse(&file.short_text().ok()?));
        // A kernel may have the file and count nothing.
        let ran = ran.filter(|ran| ran.turns > 0);
        self.looks = self.looks.wrapping_add(1);
        let is_due = self.looks.wrapping_add(self.pid).is_multiple_of(RESTS_MAX);
        if let (Some(ran), Some((then, seen))) = (ran, self.resting)
            && ran == then
            && !is_due
        {
            return Some(seen);
        }
        let seen = self.read(ran)?;
        let has_one_thread = seen.stat.threads == 1 && !seen.stat.is_zombie;
        let rests = |ran| (ran, Seen { uses: Uses::default(), ..seen });
        self.resting = seen.ran.filter(|_| has_one_thread).map(rests);
        Some(seen)
    }

    fn read(&mut self, ran: Option<SchedStat>) -> Option<Seen> {
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
        Some(Seen { stat, uses, is_io_hidden, ran: ran.filter(|_| stat.threads == 1) })
    }

    /// What its threads did; nothing if there are too many. If they are not read in this look, what they did in a look before.
    pub(crate) fn tasks(&mut self, seen: &Seen, now: &mut Now) -> Option<Done> {
        if let (None, Some((done, _))) = (now.threads_after, &self.held) {
            return *done;
        }
        if let (Some((done, _)), true) = (&mut self.held, seen.ran.is_some() && seen.ran == self.tasks_at) {
            *done = done.map(|done| Done { swap_bytes: done.swap_bytes, ..Done::default() });
            return *done;
        }
        self.tasks_at = seen.ran;
        let Reach { files, has_schedstat, .. } = now.reach;
        let done = self.tasks.look(self.pid, seen.stat.threads, now.threads_left, files, *has_schedstat);
        let looks = if self.held.is_some() { now.threads_after.unwrap_or(1) } else { 1 };
        let done = done.map(|done| done.in_each_of(looks));
        self.held = Some((done, self.held.and_then(|(_, open_files)| open_files)));
        done
    }

    /// How many files it has open, now or when its threads were read.
    pub(crate) fn known_open_files(&mut self, seen: &Seen, is_read: bool) -> Option<u64> {
        let has_rested = seen.ran.is_some() && seen.ran == self.files_at;
        match &mut self.held {
            Some((_, Some(known))) if !is_read || has_rested => Some(*known),
            _ => {
                self.files_at = seen.ran;
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
    use std::io::{BufRead, BufReader, Write};
    use std::process::{Command, Stdio};
    use std::time::{Duration, Instant};

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
            threads_cost: Duration::ZERO,
        };
        let done = this.tasks(&first, &mut now).unwrap();
        now.threads_after = None;
        assert_eq!(this.tasks(&first, &mut now), Some(done), "not read again");
        assert_eq!(this.known_open_files(&first, true), this.known_open_files(&first, false));
        assert!(done.switches_voluntary + done.switches_involuntary > 0);
        assert_eq!(this.look().unwrap().uses[0].taken_over, 0);
    }

    #[test]
    fn who_had_no_core_is_not_read_and_nothing_of_it_is_lost() {
        let work = "echo; read go; i=0; while [ $i -lt 100000 ]; do i=$((i + 1)); done; echo; read end";
        let mut shell = Command::new("sh");
        let mut shell =
            shell.args(["-c", work]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let mut said = BufReader::new(shell.stdout.take().unwrap()).lines();
        said.next().unwrap().unwrap();
        let mut member = Member::new(shell.id(), &reach());
        let limit = Instant::now() + Duration::from_secs(10);
        let rested = loop {
            let before = member.look().unwrap();
            let now = member.look().unwrap();
            if now.ran == before.ran && now.uses == Uses::default() {
                break now;
            }
            assert!(Instant::now() < limit, "it waits for its input");
        };
        let mut input = shell.stdin.take().unwrap();
        writeln!(input, "go").unwrap();
        said.next().unwrap().unwrap();
        let worked = member.look().unwrap();
        assert!(rested.ran.is_none() || worked.ran != rested.ran);
        assert!(worked.uses[0].own + worked.uses[1].own > 0, "{worked:?}");
        drop(input);
        shell.wait().unwrap();
    }

    #[test]
    fn a_process_that_has_ended_is_not_an_error() {
        let mut child = Command::new("sleep").arg("60").spawn().unwrap();
        let mut member = Member::new(child.id(), &reach());
        assert!(member.look().is_some());
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(member.look().is_none());
        assert_eq!(member.open_files(), Some(0));
    }
}
