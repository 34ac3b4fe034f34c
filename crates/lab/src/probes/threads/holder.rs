//! Work of the thread that holds a lock, at the time of a look.

use std::fs;

use super::calls::{Wait, parse_inode};
use super::state::{STATES, State};

/// Work of a holder.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Work {
    /// Runs, or is ready to run.
    Running,
    /// A system call, or the state of a thread without the prefix of its metric: `fdatasync`, `pipe_write`.
    Call(&'static str),
    /// Reads from a socket, with its inode.
    Reply(u64),
}

/// System calls that are reported by name as the work of a holder.
#[cfg(target_arch = "x86_64")]
const CALLS: &[(u64, &str)] = &[
    (26, "msync"),
    (61, "wait4"),
    (73, "flock"),
    (74, "fsync"),
    (75, "fdatasync"),
    (277, "sync_file_range"),
    (306, "syncfs"),
];

#[cfg(target_arch = "aarch64")]
const CALLS: &[(u64, &str)] = &[
    (32, "flock"),
    (82, "fsync"),
    (83, "fdatasync"),
    (84, "sync_file_range"),
    (227, "msync"),
    (260, "wait4"),
    (267, "syncfs"),
];

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
const CALLS: &[(u64, &str)] = &[];

impl Work {
    /// Label in readings. It has no space. `peer` returns the remote address of a socket's connection if the system opened it.
    pub(crate) fn label(self, peer: impl Fn(u64) -> Option<String>) -> String {
        match self {
            Self::Running => "running".to_owned(),
            Self::Call(name) => name.to_owned(),
            Self::Reply(inode) => match peer(inode) {
                Some(address) => format!("socket_read@{}", address.replace(' ', "_")),
                None => "socket_read".to_owned(),
            },
        }
    }
}

/// Work of a thread now. `None` if the process has no such thread.
pub(crate) fn current_work(process: u32, thread: u32) -> Option<Work> {
    let call = fs::read_to_string(format!("/proc/{process}/task/{thread}/syscall")).ok()?;
    let number = call.split_ascii_whitespace().next().and_then(|number| number.parse::<u64>().ok());
    if let Some((_, name)) = CALLS.iter().find(|(of, _)| Some(*of) == number) {
        return Some(Work::Call(name));
    }
    let link = |file: u64| {
        let link = fs::read_link(format!("/proc/{process}/fd/{file}")).unwrap_or_default();
        link.to_string_lossy().into_owned()
    };
    let Some(wait) = Wait::parse_syscall(&call) else { return Some(Work::Running) };
    Some(match wait {
        Wait::Futex { .. } => Work::Call("futex"),
        Wait::In(state) => work_in_state(state),
        Wait::Receive(file) => socket_work(&link(file)),
        Wait::Read(file) => file_work(&link(file), true),
        Wait::Write(file) => file_work(&link(file), false),
        Wait::Unclear => work_by_state(process, thread),
    })
}

fn work_in_state(state: State) -> Work {
    let (_, metric) = STATES[state as usize];
    Work::Call(metric.trim_start_matches("threads_"))
}

fn socket_work(link: &str) -> Work {
    parse_inode(link).map_or(work_in_state(State::SocketRead), Work::Reply)
}

fn file_work(link: &str, is_read: bool) -> Work {
    match Wait::from_file(link, is_read) {
        Wait::In(State::SocketRead) => socket_work(link),
        Wait::In(state) => work_in_state(state),
        _ if is_read => Work::Call("file_read"),
        _ => Work::Call("file_write"),
    }
}

/// Work of a thread in another call, or in a page fault, according to the state letter of its `stat`.
fn work_by_state(process: u32, thread: u32) -> Work {
    let stat = fs::read_to_string(format!("/proc/{process}/task/{thread}/stat")).unwrap_or_default();
    match stat.rsplit_once(')').and_then(|(_, rest)| rest.trim_start().chars().next()) {
        Some('R') => Work::Running,
        Some('D') => work_in_state(State::Disk),
        Some('T' | 't') => work_in_state(State::Stopped),
        _ => work_in_state(State::Other),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_thread_runs_and_an_unknown_one_has_no_work() {
        let process = std::process::id();
        let thread = rustix::thread::gettid().as_raw_nonzero().get().unsigned_abs();
        // Some kernels show the system call that reads this file.
        assert!(matches!(current_work(process, thread), Some(Work::Running | Work::Call("file_read"))));
        assert_eq!(current_work(process, u32::MAX), None);
    }

    #[test]
    fn files_determine_reads_and_writes() {
        assert_eq!(file_work("pipe:[3]", false), Work::Call("pipe_write"));
        assert_eq!(file_work("socket:[3]", true), Work::Reply(3));
        assert_eq!(file_work("socket:[3]", false), Work::Call("socket_write"));
        assert_eq!(file_work("/var/log/app.log", false), Work::Call("file_write"));
    }
}
