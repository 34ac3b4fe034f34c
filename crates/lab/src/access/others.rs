//! Finds the processes on which read permissions are tested: a child of this process, and processes that ran before.

use std::fs;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use crate::processes::{self, PROC};

/// Processes for the tests. `None` where no such process exists.
#[derive(Debug, Default)]
pub(super) struct Others {
    child: Option<Child>,
    /// Child of another user. Started only by root, and only if no other process of another user exists.
    stranger: Option<Child>,
    /// Process of this user that is not a descendant of this process.
    pub(super) same_user: Option<u32>,
    /// Process of another user.
    pub(super) other_user: Option<u32>,
}

/// User ID of `nobody`, by convention.
const NOBODY: u32 = 65_534;

impl Others {
    pub(super) fn find() -> Self {
        let below = processes::below(std::process::id()).into_iter().map(|seen| seen.pid);
        let own: Vec<u32> = below.chain([std::process::id()]).collect();
        let user = rustix::process::geteuid().as_raw();
        let (same_user, other_user) = find_in(Path::new(PROC), user, &own);
        let needs_stranger = other_user.is_none() && user == 0;
        let stranger = needs_stranger.then(|| start_idle(Command::new("cat").uid(NOBODY))).flatten();
        let other_user = other_user.or(stranger.as_ref().map(Child::id));
        Self { child: start_idle(&mut Command::new("cat")), stranger, same_user, other_user }
    }

    pub(super) fn child(&self) -> Option<u32> {
        self.child.as_ref().map(Child::id)
    }
}

/// Starts a command that waits for input that never arrives.
fn start_idle(command: &mut Command) -> Option<Child> {
    command.stdin(Stdio::piped()).stdout(Stdio::null()).spawn().ok()
}

impl Drop for Others {
    fn drop(&mut self) {
        for child in self.child.iter_mut().chain(&mut self.stranger) {
            // The process may have exited on its own.
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// Finds a process of `user` that is not in `own`, and a process of another user.
fn find_in(proc: &Path, user: u32, own: &[u32]) -> (Option<u32>, Option<u32>) {
    let (mut same, mut other) = (None, None);
    // Process 1 is protected more than others, so it is the last choice.
    let (first, later): (Vec<u32>, Vec<u32>) =
        processes::pids_in(proc).into_iter().partition(|pid| *pid == 1);
    for pid in later.into_iter().chain(first).filter(|pid| !own.contains(pid)) {
        let read = |file: &str| fs::read(proc.join(pid.to_string()).join(file)).unwrap_or_default();
        // Kernel threads and zombies have an empty command line.
        let Some(of) = effective_user(&String::from_utf8_lossy(&read("status"))) else { continue };
        if read("cmdline").is_empty() {
            continue;
        }
        let slot = if of == user { &mut same } else { &mut other };
        slot.get_or_insert(pid);
        if same.is_some() && other.is_some() {
            break;
        }
    }
    (same, other)
}

/// Effective user ID, from `/proc/PID/status`.
fn effective_user(status: &str) -> Option<u32> {
    status.lines().find_map(|line| line.strip_prefix("Uid:"))?.split_ascii_whitespace().nth(1)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn processes_are_distinguished_by_user() {
        let proc = tempfile::tempdir().expect("a folder");
        let make = |pid: u32, user: u32, command: &str| {
            let folder = proc.path().join(pid.to_string());
            fs::create_dir(&folder).expect("a folder");
            fs::write(folder.join("status"), format!("Name:\tx\nUid:\t7\t{user}\t7\t7\n")).expect("a file");
            fs::write(folder.join("cmdline"), command).expect("a file");
        };
        make(1, 33, "init\0");
        make(2, 0, "");
        make(3, 33, "nginx\0");
        make(4, 1_000, "tenbin\0");
        make(5, 1_000, "sh\0");
        make(6, 0, "cron\0");
        fs::create_dir(proc.path().join("9")).expect("a folder");
        assert_eq!(find_in(proc.path(), 1_000, &[4]), (Some(5), Some(3)));
        assert_eq!(find_in(proc.path(), 0, &[]), (Some(6), Some(3)));
        assert_eq!(find_in(proc.path(), 33, &[3]), (Some(1), Some(4)));
        for text in ["", "Uid:", "Uid:\t1", "Uid: 1 x"] {
            assert_eq!(effective_user(text), None, "{text:?}");
        }
    }

    #[test]
    fn child_ends_when_dropped() {
        let others = Others::find();
        let child = others.child().expect("a child");
        assert!(processes::look(child).is_some());
        drop(others);
        assert!(processes::look(child).is_none());
    }
}
