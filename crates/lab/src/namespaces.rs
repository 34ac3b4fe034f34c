//! Namespaces in which a process ID and a start time are valid.

use std::fs;
use std::os::unix::fs::MetadataExt;

/// Inode numbers of the namespace files of a process; 0 if unknown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Namespaces {
    pub(crate) pid: u64,
    pub(crate) time: u64,
}

impl Namespaces {
    /// Namespaces of this process. The PID namespace is unknown if `/proc` shows another one: process IDs in `/proc` then differ
    /// from those of this process's system calls.
    pub(crate) fn of_this_process() -> Namespaces {
        let number = |name: &str| fs::metadata(format!("/proc/self/ns/{name}")).map_or(0, |file| file.ino());
        let shown = fs::read_link("/proc/self").ok();
        let is_own_proc =
            shown.is_some_and(|shown| shown.as_os_str() == std::process::id().to_string().as_str());
        Namespaces { pid: if is_own_proc { number("pid") } else { 0 }, time: number("time") }
    }

    /// Whether process IDs can be looked up at all.
    pub(crate) fn are_known(self) -> bool {
        self.pid != 0
    }
}
