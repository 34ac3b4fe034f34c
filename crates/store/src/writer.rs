//! Identity of the process that writes a run or a study, and whether it is alive.

use std::fs;

use serde::{Deserialize, Serialize};

/// A process, with enough data to distinguish it from a later one with an equal PID.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Writer {
    pid: u32,
    /// Boot ID of the machine, which changes with every boot.
    boot_id: String,
    /// Start time of the process, in clock ticks since boot.
    start_ticks: u64,
}

impl Writer {
    /// Returns the writer for this process. Without `/proc`, the fields are empty and the process counts as dead.
    pub(crate) fn this_process() -> Self {
        let pid = std::process::id();
        Self { pid, boot_id: boot_id(), start_ticks: start_ticks(pid).unwrap_or(0) }
    }

    /// Returns the process ID, for messages.
    pub(crate) fn pid(&self) -> u32 {
        self.pid
    }

    /// Returns whether the process still runs, as far as this machine knows.
    pub(crate) fn is_alive(&self) -> bool {
        !self.boot_id.is_empty()
            && self.boot_id == boot_id()
            && start_ticks(self.pid) == Some(self.start_ticks)
    }
}

fn boot_id() -> String {
    fs::read_to_string("/proc/sys/kernel/random/boot_id")
        .map(|text| text.trim().to_owned())
        .unwrap_or_default()
}

/// Reads field 22 of `/proc/PID/stat`. The command in field 2 may contain anything, so fields are counted from its
/// closing parenthesis. `None` for a process that is gone or a zombie.
fn start_ticks(pid: u32) -> Option<u64> {
    let stat = fs::read(format!("/proc/{pid}/stat")).ok()?;
    let end_of_command = stat.iter().rposition(|byte| *byte == b')')?;
    let rest = std::str::from_utf8(&stat[end_of_command + 1..]).ok()?;
    let mut fields = rest.split_ascii_whitespace();
    let state = fields.next()?;
    (!matches!(state, "Z" | "X")).then(|| fields.nth(18)?.parse().ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_this_boot_and_start_time_count_as_alive() {
        let this = Writer::this_process();
        assert!(this.is_alive());
        assert!(!Writer { boot_id: "another".to_owned(), ..this.clone() }.is_alive());
        assert!(!Writer { boot_id: String::new(), ..this.clone() }.is_alive());
        assert!(!Writer { start_ticks: this.start_ticks + 1, ..this }.is_alive());
    }
}
