//! The namespaces that give a process number and a start time their meaning.

use std::fs;
use std::os::unix::fs::MetadataExt;

/// By the numbers of the kernel's files for them; 0: not known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Namespaces {
    pub(crate) pid: u64,
    pub(crate) time: u64,
}

impl Namespaces {
    /// Those of this process. Where `/proc` shows the processes of another PID namespace, that one is not known: the
    /// numbers in `/proc` then mean other processes than the numbers that this process hears of.
    pub(crate) fn of_this_process() -> Namespaces {
        let number = |name: &str| fs::metadata(format!("/proc/self/ns/{name}")).map_or(0, |file| file.ino());
        let shown = fs::read_link("/proc/self").ok();
        let is_own_proc =
            shown.is_some_and(|shown| shown.as_os_str() == std::process::id().to_string().as_str());
        Namespaces { pid: if is_own_proc { number("pid") } else { 0 }, time: number("time") }
    }

    /// Whether process numbers can be looked up at all.
    pub(crate) fn are_known(self) -> bool {
        self.pid != 0
    }
}
