//! A process that is read repeatedly.

use std::fs;
use std::io::ErrorKind;

use super::group::LookContext;
use super::process_files::{SchedStat, Stat, disk_bytes, open_files_max};
use super::source::{Allowance, Source};
use super::tasks::{Tasks, ThreadUsage};

/// Max number of open files that are listed. Only kernels before 6.2 list them instead of counting.
const OPEN_FILES_MAX: usize = 1 << 16;

/// Capabilities of this machine for reading processes.
#[derive(Clone, Debug)]
pub(crate) struct ProbeCapabilities {
    pub(crate) files: Allowance,
    pub(crate) has_schedstat: bool,
    pub(crate) has_io: bool,
}

/// An idle process is read in one of this many looks nevertheless, because others may change its memory and its priority.
const IDLE_LOOKS_MAX: u32 = 10;
/// Max number of process files that stay open. Connections need descriptors too.
const FILES_KEPT_MAX: u64 = 8_192;

impl ProbeCapabilities {
    /// Detects the capabilities of this machine's kernel.
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

/// Usage of a process itself, and usage inherited from ended children.
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

/// User time and system time in ticks, bytes read from disks, and bytes written to disks. The kernel does not separate the bytes of
/// a process from those of its ended children, so all bytes count as inherited.
pub(crate) type Uses = [Used; 4];

#[derive(Debug)]
pub(crate) struct Member {
    pub(crate) pid: u32,
    /// Scheduler statistics of its first thread. `None` if the kernel has none.
    schedstat: Option<Source>,
    stat: Source,
    io: Source,
    tasks: Tasks,
    start_ticks: Option<u64>,
    open_files_max: Option<u64>,
    looks: u32,
    /// Result of the last look at a process with one thread, and its scheduler statistics then.
    resting: Option<(SchedStat, Seen)>,
    /// Scheduler statistics of its only thread when tasks were last read, and when open files were last read.
    tasks_at: Option<SchedStat>,
    files_at: Option<SchedStat>,
    /// Usage of its threads per look at the last reading, and the number of open files then.
    held: Option<(Option<ThreadUsage>, Option<u64>)>,
    /// Usage as of the last look; zero before the first one.
    pub(crate) last: Uses,
}

/// Result of a look at one process.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Seen {
    pub(crate) stat: Stat,
    /// Usage since the previous look.
    pub(crate) uses: Uses,
    /// Whether this user may not read the disk I/O of the process.
    pub(crate) is_io_hidden: bool,
    /// Scheduler statistics of its only thread, read before all other values. `None` if it has several threads.
    ran: Option<SchedStat>,
}

impl Member {
    pub(crate) fn new(pid: u32, reach: &ProbeCapabilities) -> Self {
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

    /// Reads the process. `None` if it has ended. A process that has not run since the previous look is not read again.
    pub(crate) fn look(&mut self) -> Option<Seen> {
        // The scheduler statistics are read first, so that the next look notices any later activity.
        let ran = self.schedstat.as_mut().and_then(|file| SchedStat::parse(&file.short_text().ok()?));
        // A kernel may have the file without counting.
        let ran = ran.filter(|ran| ran.turns > 0);
        self.looks = self.looks.wrapping_add(1);
        let is_due = self.looks.wrapping_add(self.pid).is_multiple_of(IDLE_LOOKS_MAX);
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
        // The I/O of a zombie cannot be read, and has stopped growing.
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

    /// Usage of its threads since the previous look. `None` if there are too many. Repeats the last values if this look does not read
    /// threads.
    pub(crate) fn tasks(&mut self, seen: &Seen, now: &mut LookContext) -> Option<ThreadUsage> {
        if let (None, Some((done, _))) = (now.threads_after, &self.held) {
            return *done;
        }
        if let (Some((done, _)), true) = (&mut self.held, seen.ran.is_some() && seen.ran == self.tasks_at) {
            *done = done.map(|done| ThreadUsage { swap_bytes: done.swap_bytes, ..ThreadUsage::default() });
            return *done;
        }
        self.tasks_at = seen.ran;
        let ProbeCapabilities { files, has_schedstat, .. } = now.reach;
        let done = self.tasks.look(self.pid, seen.stat.threads, now.threads_left, files, *has_schedstat);
        let looks = if self.held.is_some() { now.threads_after.unwrap_or(1) } else { 1 };
        let done = done.map(|done| done.per_look(looks));
        self.held = Some((done, self.held.and_then(|(_, open_files)| open_files)));
        done
    }

    /// Number of open files, now or when its threads were last read.
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

    /// Number of open files, 0 if the process has ended. `None` if they are hidden.
    pub(crate) fn open_files(&self) -> Option<u64> {
        let folder = format!("/proc/{}/fd", self.pid);
        // Since Linux 6.2, the size of the directory is the number of open files.
        let count = match fs::metadata(&folder).map(|folder| folder.len()) {
            Ok(0) => fs::read_dir(&folder).map(|files| files.take(OPEN_FILES_MAX).count() as u64),
            count => count,
        };
        match count {
            Err(error) if error.kind() == ErrorKind::PermissionDenied => None,
            count => Some(count.unwrap_or(0)),
        }
    }

    /// Open files as a share of the limit, about 0 without a limit. Limits seldom change, so the limit is read again only once half of it
    /// is used.
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

    fn reach() -> ProbeCapabilities {
        ProbeCapabilities::of_machine()
    }

    #[test]
    fn this_process_is_read() {
        let mut this = Member::new(std::process::id(), &reach());
        let first = this.look().unwrap();
        assert!(first.stat.rss_pages > 0 && first.stat.threads > 0);
        let open_files = this.open_files().unwrap();
        assert!(open_files > 2);
        let share = this.share_of_limit(open_files);
        assert!(share > 0.0 && share <= 1.0, "{share}");
        let (reach, mut threads_left) = (reach(), 1_000);
        let mut now = LookContext {
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
    fn idle_process_is_not_read_and_no_usage_is_lost() {
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
    fn ended_process_is_not_an_error() {
        let mut child = Command::new("sleep").arg("60").spawn().unwrap();
        let mut member = Member::new(child.id(), &reach());
        assert!(member.look().is_some());
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(member.look().is_none());
        assert_eq!(member.open_files(), Some(0));
    }
}
