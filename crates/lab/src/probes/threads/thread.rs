//! A thread that is read repeatedly.

use std::fs;
use std::io::{Error, ErrorKind};
use std::path::Path;
use std::time::{Duration, Instant};

use super::super::process_files::SchedStat;
use super::super::source::{Allowance, Source};
use super::calls::{ARE_CALLS_KNOWN, Wait, parse_inode};
use super::locks::LockCall;
use super::state::{Role, STATES, State, VmThreadRole};

/// Time without running after which a thread is idle.
const IDLE_AFTER: Duration = Duration::from_secs(10);
/// Number of readings after which the name is read a second time: virtual machines name their threads after the start.
const NAME_REREAD_AFTER: u32 = 20;

/// Reason why a thread sleeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Sleep {
    pub(crate) state: State,
    /// Address of the futex. `None` if it does not wait at one.
    pub(crate) futex: Option<u64>,
    /// Whether the wait at the futex has a timeout.
    pub(crate) is_timed: bool,
    /// Locks that wait at a futex in this way. `None` if none does.
    pub(crate) lock: Option<LockCall>,
    /// Inode of the socket that it reads from. `None` if it does not read from one.
    pub(crate) socket: Option<u64>,
}

impl Sleep {
    const UNKNOWN: Self = Self::of(State::Other);

    const fn of(state: State) -> Self {
        Self { state, futex: None, is_timed: false, lock: None, socket: None }
    }
}

/// Files of a thread that are hidden from this user.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct UnreadableFiles {
    pub(crate) calls: bool,
    pub(crate) functions: bool,
}

/// Time of a thread since it was last read, by kind.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct TimeSpent {
    pub(crate) on_cpu_s: f64,
    pub(crate) runnable_s: f64,
    pub(crate) asleep_s: f64,
    pub(crate) asleep_in: Sleep,
}

#[derive(Debug)]
pub(crate) struct Thread {
    pub(crate) id: u32,
    pub(crate) process: u32,
    /// Index of the group of its process.
    pub(crate) group: usize,
    schedstat: Source,
    syscall: Source,
    last: Option<(Instant, SchedStat)>,
    last_ran: Option<Instant>,
    is_ready: bool,
    /// Reason of its last sleep.
    sleep: Sleep,
    /// Whether the sleep was checked for a stop signal, which does not change the system call.
    is_checked: bool,
    accepts: u32,
    sleeps: u32,
    looks: u32,
    pub(crate) chore: Option<VmThreadRole>,
    pub(crate) hidden: UnreadableFiles,
    /// Seconds in each state since the last look at the system.
    pub(crate) spent_s: [f64; STATES.len()],
}

impl Thread {
    /// `began` is the time at which it was found. `None` if it existed from the start.
    pub(crate) fn new(
        group: usize,
        process: u32,
        id: u32,
        began: Option<Instant>,
        files: &Allowance,
    ) -> Self {
        let file = |name| Source::new(format!("/proc/{process}/task/{id}/{name}").into(), files.clone());
        Self {
            id,
            process,
            group,
            schedstat: file("schedstat"),
            syscall: file("syscall"),
            last: None,
            last_ran: began,
            is_ready: false,
            sleep: Sleep::UNKNOWN,
            is_checked: false,
            accepts: 0,
            sleeps: 0,
            looks: 0,
            chore: None,
            hidden: UnreadableFiles { calls: !ARE_CALLS_KNOWN, functions: false },
            spent_s: [0.0; STATES.len()],
        }
    }

    pub(crate) fn role(&self, now: Instant) -> Role {
        let ran_lately = self.last_ran.is_some_and(|ran| now.saturating_duration_since(ran) <= IDLE_AFTER);
        match self.chore {
            Some(_) => Role::Runtime,
            None if self.accepts * 2 > self.sleeps => Role::Listener,
            None if ran_lately => Role::Worker,
            None => Role::Idle,
        }
    }

    /// Address of the futex at which it waits now, whether the wait has a timeout, and the locks that wait so.
    pub(crate) fn futex_wait(&self) -> Option<(u64, bool, Option<LockCall>)> {
        Some((self.sleep.futex?, self.sleep.is_timed, self.sleep.lock)).filter(|_| !self.is_ready)
    }

    /// Reads the thread. Returns its time since the last reading. `None` for the first one.
    ///
    /// # Errors
    /// The thread has ended.
    pub(crate) fn read(&mut self, now: Instant) -> Result<Option<TimeSpent>, Error> {
        let sched = SchedStat::parse(&self.schedstat.short_text()?).ok_or(ErrorKind::InvalidData)?;
        self.read_name();
        // A counter that decreased belongs to a new thread with a reused ID.
        let last = self.last.filter(|(_, last)| last.turns <= sched.turns);
        self.last = Some((now, sched));
        let was_ready = self.is_ready;
        let has_moved = last.is_none_or(|(_, last)| last.turns != sched.turns || last.ran_ns != sched.ran_ns);
        // A thread that has not run since the last reading still sleeps for that reason.
        if has_moved || was_ready {
            self.update_sleep()?;
            self.is_checked = false;
        } else if !std::mem::replace(&mut self.is_checked, true) && self.is_stopped() {
            self.sleep = Sleep::of(State::Stopped);
        }
        if !self.is_ready {
            self.sleeps = self.sleeps.saturating_add(1);
            self.accepts = self.accepts.saturating_add(u32::from(self.sleep.state == State::Accept));
        }
        let Some((since, last)) = last else { return Ok(None) };
        // A stopped thread would run otherwise, so it keeps its role.
        let is_held =
            !self.is_ready && self.sleep.state == State::Stopped && self.role(since) == Role::Worker;
        if has_moved || is_held {
            self.last_ran = Some(now);
        }
        let waits_for_a_core = was_ready && self.is_ready && last.turns == sched.turns;
        let spent = self.spent(now.saturating_duration_since(since), last, sched, waits_for_a_core);
        self.spent_s[State::OnCpu as usize] += spent.on_cpu_s;
        self.spent_s[State::Runnable as usize] += spent.runnable_s;
        self.spent_s[spent.asleep_in.state as usize] += spent.asleep_s;
        Ok(Some(spent))
    }

    fn spent(&self, over: Duration, last: SchedStat, now: SchedStat, waits_for_a_core: bool) -> TimeSpent {
        let over_s = over.as_secs_f64();
        let grown_s = |last: u64, now: u64| Duration::from_nanos(now.saturating_sub(last)).as_secs_f64();
        let on_cpu_s = grown_s(last.ran_ns, now.ran_ns).min(over_s);
        let left_s = over_s - on_cpu_s;
        // The kernel counts a wait for a core only after its end.
        let waited_s = if waits_for_a_core { left_s } else { grown_s(last.waited_ns, now.waited_ns) };
        let runnable_s = waited_s.min(left_s);
        TimeSpent { on_cpu_s, runnable_s, asleep_s: left_s - runnable_s, asleep_in: self.sleep }
    }

    fn read_name(&mut self) {
        if self.looks <= NAME_REREAD_AFTER {
            // Read at the first reading and about a second later.
            if self.looks == 0 || self.looks == NAME_REREAD_AFTER {
                let name = fs::read_to_string(self.file("comm")).unwrap_or_default();
                self.chore = VmThreadRole::of(&name);
            }
            self.looks += 1;
        }
    }

    /// Determines whether it is ready, or the reason of its sleep.
    fn update_sleep(&mut self) -> Result<(), Error> {
        if !self.hidden.calls {
            match self.syscall.short_text() {
                Ok(text) => {
                    match Wait::parse_syscall(&text) {
                        None => self.is_ready = true,
                        Some(wait) => self.fall_asleep(wait),
                    }
                    return Ok(());
                }
                Err(error) => match error.kind() {
                    ErrorKind::PermissionDenied => self.hidden.calls = true,
                    ErrorKind::NotFound if Path::new(&self.file("stat")).exists() => self.hidden.calls = true,
                    _ => return Err(error),
                },
            }
        }
        self.fall_asleep(Wait::Unclear);
        Ok(())
    }

    fn fall_asleep(&mut self, wait: Wait) {
        self.is_ready = false;
        self.sleep = match wait {
            Wait::Futex { address, is_timed, lock } => {
                Sleep { futex: Some(address), is_timed, lock, ..Sleep::of(State::Futex) }
            }
            Wait::In(state) => Sleep::of(state),
            Wait::Receive(file) => Sleep {
                socket: self.link(file).as_deref().and_then(parse_inode),
                ..Sleep::of(State::SocketRead)
            },
            Wait::Read(file) => self.sleep_on_file(file, true),
            Wait::Write(file) => self.sleep_on_file(file, false),
            Wait::Unclear => self.sleep_by_state(),
        };
    }

    fn sleep_on_file(&mut self, file: u64, is_read: bool) -> Sleep {
        let link = self.link(file).unwrap_or_default();
        match Wait::from_file(&link, is_read) {
            Wait::In(state) => Sleep { socket: parse_inode(&link).filter(|_| is_read), ..Sleep::of(state) },
            _ => self.sleep_by_state(),
        }
    }

    /// Whether the thread was stopped within its system call. The process state alone does not show a frozen thread.
    fn is_stopped(&self) -> bool {
        let function = fs::read_to_string(self.file("wchan")).unwrap_or_default();
        match function.trim() {
            // The function is hidden from this user.
            "" | "0" => matches!(self.state(), Some('T' | 't')),
            function => Wait::from_function(function) == Wait::In(State::Stopped),
        }
    }

    /// State letter from `stat`.
    fn state(&self) -> Option<char> {
        let stat = fs::read_to_string(self.file("stat")).unwrap_or_default();
        let (_, rest) = stat.rsplit_once(')')?;
        rest.trim_start().chars().next()
    }

    /// Determines the sleep from the state letter and the kernel function.
    fn sleep_by_state(&mut self) -> Sleep {
        match self.state() {
            Some('D') if self.is_stopped() => return Sleep::of(State::Stopped),
            Some('D') => return Sleep::of(State::Disk),
            Some('T' | 't') => return Sleep::of(State::Stopped),
            // The thread woke up a moment ago.
            Some('R') => {
                self.is_ready = true;
                return self.sleep;
            }
            _ => {}
        }
        let function = fs::read_to_string(self.file("wchan")).unwrap_or_default();
        self.hidden.functions = matches!(function.trim(), "" | "0");
        match Wait::from_function(&function) {
            Wait::In(state) => Sleep::of(state),
            _ => Sleep::UNKNOWN,
        }
    }

    fn file(&self, name: &str) -> String {
        format!("/proc/{}/task/{}/{name}", self.process, self.id)
    }

    fn link(&self, file: u64) -> Option<String> {
        let link = fs::read_link(format!("/proc/{}/fd/{file}", self.process)).ok()?;
        Some(link.to_string_lossy().into_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sched(ran_ms: u64, waited_ms: u64, turns: u64) -> SchedStat {
        SchedStat { ran_ns: ran_ms * 1_000_000, waited_ns: waited_ms * 1_000_000, turns }
    }

    fn spent(last: SchedStat, now: SchedStat, waits_for_a_core: bool) -> [u64; 3] {
        let thread = Thread::new(0, 1, 1, None, &Allowance::of(0));
        let TimeSpent { on_cpu_s, runnable_s, asleep_s, .. } =
            thread.spent(Duration::from_millis(50), last, now, waits_for_a_core);
        [on_cpu_s, runnable_s, asleep_s].map(|seconds| (seconds * 1e3).round() as u64)
    }

    #[test]
    fn time_is_split_and_never_exceeds_the_interval() {
        assert_eq!(spent(sched(5, 5, 1), sched(15, 25, 3), false), [10, 20, 20]);
        assert_eq!(spent(sched(5, 5, 1), sched(5, 5, 1), false), [0, 0, 50]);
        assert_eq!(spent(sched(5, 5, 1), sched(5, 5, 1), true), [0, 50, 0]);
        assert_eq!(
            spent(sched(5, 5, 1), sched(7, 905, 2), false),
            [2, 48, 0],
            "a long wait is counted at its end"
        );
        assert_eq!(spent(sched(5, 5, 1), sched(95, 5, 2), false), [50, 0, 0]);
    }

    #[test]
    fn ended_thread_is_an_error() {
        let mut thread = Thread::new(0, std::process::id(), u32::MAX, None, &Allowance::of(0));
        assert!(thread.read(Instant::now()).is_err());
    }

    #[test]
    fn this_thread_runs() {
        let id = rustix::thread::gettid().as_raw_nonzero().get().unsigned_abs();
        let mut thread = Thread::new(0, std::process::id(), id, None, &Allowance::of(2));
        let begun = Instant::now();
        assert_eq!(thread.read(begun).unwrap(), None, "there is nothing to compare with");
        let later = begun + Duration::from_millis(50);
        let spent = loop {
            let spent = thread.read(later).unwrap().unwrap();
            if spent.on_cpu_s > 0.0 {
                break spent;
            }
            thread.last = thread.last.map(|(_, sched)| (begun, sched));
        };
        assert!(spent.on_cpu_s <= 0.05, "{spent:?}");
        assert_eq!(thread.role(later), Role::Worker);
        assert_eq!(thread.role(later + 2 * IDLE_AFTER), Role::Idle);
    }
}
