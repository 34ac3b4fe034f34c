//! Which process writes a run or a study, and whether it still lives.

use std::fs;

use serde::{Deserialize, Serialize};

/// A process, distinguished from later ones with the same number.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Writer {
    pid: u32,
    /// Changes with every start of the machine.
    boot_id: String,
    /// When the process started, in clock ticks since the machine did.
    start_ticks: u64,
}

impl Writer {
    /// This process. Where `/proc` does not tell, the fields are empty and the process counts as gone.
    pub(crate) fn this_process() -> Self {
        let pid = std::process::id();
        Self { pid, boot_id: boot_id(), start_ticks: start_ticks(pid).unwrap_or(0) }
    }

    /// Its number, for people.
    pub(crate) fn pid(&self) -> u32 {
        self.pid
    }

    /// Whether it still runs, as far as this machine can tell.
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

/// Field 22 of `/proc/PID/stat`. The command in field 2 may hold anything, so fields are counted from its closing bracket.
/// `None` for a process that is gone, or dead and only waits for its parent to notice.
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
    fn this_process_lives_and_another_boot_or_start_does_not() {
        let this = Writer::this_process();
        assert!(this.is_alive());
        assert!(!Writer { boot_id: "another".to_owned(), ..this.clone() }.is_alive());
        assert!(!Writer { boot_id: String::new(), ..this.clone() }.is_alive());
        assert!(!Writer { start_ticks: this.start_ticks + 1, ..this }.is_alive());
    }
}
