//! Reads processes from `/proc`: ancestors, descendants, and signals to exactly the process that was read.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use rustix::process::{Pid, PidfdFlags, pidfd_open, pidfd_send_signal};

use crate::{Signal, in_words};

/// Mount point of the proc file system.
pub(crate) const PROC: &str = "/proc";
const COMMAND_CHARS_MAX: usize = 120;

/// State of a process when it was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Seen {
    pub(crate) pid: u32,
    pub(crate) parent: u32,
    pub(crate) group: u32,
    pub(crate) is_zombie: bool,
    /// Start in ticks since boot. Together with the pid it identifies a process for good.
    pub(crate) started_ticks: u64,
}

impl Seen {
    /// Placeholder for a process that ended before it could be read.
    pub(crate) fn gone(pid: u32) -> Seen {
        Seen { pid, parent: 0, group: pid, is_zombie: true, started_ticks: 0 }
    }
}

/// All process IDs, in ascending order.
pub(crate) fn pids() -> Vec<u32> {
    pids_in(Path::new(PROC))
}

/// Like `pids`, but reads from another directory than `/proc`.
pub(crate) fn pids_in(proc: &Path) -> Vec<u32> {
    let Ok(entries) = fs::read_dir(proc) else { return Vec::new() };
    let mut pids: Vec<u32> =
        entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect();
    pids.sort_unstable();
    pids
}

/// Reads a process. `None` if it does not exist.
pub(crate) fn look(pid: u32) -> Option<Seen> {
    look_in(Path::new(PROC), pid)
}

/// Like `look`, but reads from another directory than `/proc`.
pub(crate) fn look_in(proc: &Path, pid: u32) -> Option<Seen> {
    let stat = fs::read(proc.join(pid.to_string()).join("stat")).ok()?;
    parse(pid, &String::from_utf8_lossy(&stat))
}

/// Parses `/proc/PID/stat`. The name in field 2 may contain any character, so fields are counted from its closing parenthesis.
fn parse(pid: u32, stat: &str) -> Option<Seen> {
    let (_, fields) = stat.rsplit_once(')')?;
    let mut fields = fields.split_whitespace();
    let state = fields.next()?;
    let parent = fields.next()?.parse().ok()?;
    let group = fields.next()?.parse().ok()?;
    let started_ticks = fields.nth(16)?.parse().ok()?;
    Some(Seen { pid, parent, group, is_zombie: matches!(state, "Z" | "X"), started_ticks })
}

/// All descendants of a process that are not zombies.
pub(crate) fn below(root: u32) -> Vec<Seen> {
    let all: Vec<Seen> = pids().into_iter().filter_map(look).collect();
    let mut children: BTreeMap<u32, Vec<&Seen>> = BTreeMap::new();
    for seen in &all {
        children.entry(seen.parent).or_default().push(seen);
    }
    let (mut found, mut reached, mut next) = (Vec::new(), BTreeSet::from([root]), vec![root]);
    while let Some(pid) = next.pop() {
        for child in children.get(&pid).into_iter().flatten() {
            if reached.insert(child.pid) {
                next.push(child.pid);
                found.push((*child).clone());
            }
        }
    }
    found.retain(|seen| !seen.is_zombie);
    found
}

/// Process IDs of this process and its ancestors.
pub(crate) fn self_and_ancestors() -> BTreeSet<u32> {
    let mut line = BTreeSet::new();
    let mut pid = std::process::id();
    while pid != 0 && line.insert(pid) {
        pid = look(pid).map_or(0, |seen| seen.parent);
    }
    line
}

/// Sends a signal to exactly this process, not to a later one that reuses its PID. Returns whether it was sent.
pub(crate) fn signal(seen: &Seen, signal: Signal) -> bool {
    let Some(pid) = i32::try_from(seen.pid).ok().and_then(Pid::from_raw) else { return false };
    let Ok(handle) = pidfd_open(pid, PidfdFlags::empty()) else { return false };
    let is_the_same = look(seen.pid).is_some_and(|now| now.started_ticks == seen.started_ticks);
    is_the_same && pidfd_send_signal(&handle, signal.raw()).is_ok()
}

/// Command line of a process, shortened. If it is empty, the name in brackets.
pub(crate) fn command_line(pid: u32) -> String {
    let words = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    let text = String::from_utf8_lossy(&words).replace('\0', " ");
    let text: String = text.trim().chars().take(COMMAND_CHARS_MAX).collect();
    if !text.is_empty() {
        return in_words::escaped(&text);
    }
    let name = fs::read_to_string(format!("/proc/{pid}/comm")).unwrap_or_default();
    format!("[{}]", in_words::escaped(name.trim()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn process_name_may_contain_any_character() {
        let tail = "S 7 8 9 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 998877 1 1";
        for name in ["sh", "a b", ") S 1 2", "((("] {
            let seen = parse(5, &format!("5 ({name}) {tail}")).expect("a process");
            assert_eq!((seen.parent, seen.group, seen.started_ticks, seen.is_zombie), (7, 8, 998_877, false));
        }
        assert!(parse(5, "").is_none());
        assert!(parse(5, "5 (sh) S 1").is_none());
    }

    #[test]
    fn this_process_is_found() {
        let seen = look(std::process::id()).expect("this process");
        assert!(!seen.is_zombie);
        assert!(self_and_ancestors().contains(&seen.parent));
        assert!(below(seen.parent).contains(&seen));
    }
}
