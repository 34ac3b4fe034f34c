//! Another load generator: commands that run to their end below one keeper, one after the other, and what they used.

use std::ffi::OsString;
use std::fs;
use std::time::Duration;

use crate::deadline::Deadline;
use crate::kept_process::{Ended, KeptProcess, Setting};
use crate::marker::Marker;
use crate::probes::{Stat, bytes_of_kib};
use crate::{Command, Output, Signal, processes};

/// How long what a tool left running has to end by itself.
const GRACE: Duration = Duration::from_secs(1);
/// A keeper says at once whether something is left below it.
const LAST_WORD: Duration = Duration::from_millis(100);

/// A load generator that Tenbin starts, watches, and ends.
#[derive(Debug)]
pub struct LoadTool {
    kept: KeptProcess,
    setting: Setting,
}

/// What the commands of a tool have used together.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ToolUsage {
    /// CPU time in user mode, of processes that have ended; in steps of a clock tick.
    pub cpu_user_s: f64,
    /// CPU time in the kernel.
    pub cpu_sys_s: f64,
}

impl LoadTool {
    /// Makes room for a tool; nothing runs yet. `cores`: where it stays; empty: anywhere.
    ///
    /// # Errors
    /// Why it is not possible, as the end of a sentence.
    pub fn hold(name: &str, keeper: Vec<OsString>, cores: Vec<usize>) -> Result<Self, String> {
        let setting =
            Setting { keeper, cores, marker: Marker::new(), groups: Vec::new(), namespace: None, disk: None };
        let kept = KeptProcess::hold(&setting, name)?;
        Ok(Self { kept, setting })
    }

    /// Below this process is everything that the tool starts.
    pub fn keeper_pid(&self) -> u32 {
        self.kept.keeper_pid()
    }

    /// Starts a command. None may run.
    ///
    /// # Errors
    /// Why it could not be started, as the end of a sentence.
    pub fn start(&self, command: &Command) -> Result<(), String> {
        self.kept.start_command(&self.setting, command)?;
        self.kept.expect_life();
        Ok(())
    }

    /// Waits for the end of the command, so long at most. `None`: it still runs. The error says how it failed, as the end of a
    /// sentence.
    pub fn wait(&self, at_most: Duration) -> Option<Result<(), String>> {
        let is_over = |state: &crate::kept_process::KeeperState| state.exit.is_some() || state.is_lost;
        self.kept.wait(Deadline::after(at_most), is_over);
        let (exit, ended) = {
            let state = self.kept.state();
            (state.exit, state.ended())
        };
        match (exit, ended) {
            (Some(exit), _) if exit.is_success() => Some(Ok(())),
            (Some(exit), _) | (None, Some(Ended::Exit(exit))) => Some(Err(exit.to_string())),
            (None, Some(Ended::KeeperLost)) => Some(Err("was lost: its keeper was killed".to_owned())),
            (None, None) => None,
        }
    }

    /// Ends whatever still runs, by TERM and then by KILL. What the last command wrote: its beginning and its end, if it is long.
    pub fn end_command(&self) -> Output {
        self.kept.wait(Deadline::after(LAST_WORD), |state| state.is_empty || state.is_lost);
        let is_started = self.kept.state().main.is_some();
        if is_started {
            self.kept.rest(Some(Signal::TERM), GRACE);
        }
        self.kept.output_of_life()
    }

    /// The most memory that any process of the tool has held, added up over those that run now.
    pub fn rss_peak_bytes(&self) -> u64 {
        processes::below(self.keeper_pid()).iter().filter_map(|seen| peak_bytes(seen.pid)).sum()
    }

    /// What its commands have used that have ended: it is the keeper that reaps them.
    pub fn usage(&self) -> ToolUsage {
        let stat = fs::read_to_string(format!("/proc/{}/stat", self.keeper_pid())).unwrap_or_default();
        children_s(&stat).unwrap_or_default()
    }
}

fn peak_bytes(pid: u32) -> Option<u64> {
    bytes_of_kib(&fs::read_to_string(format!("/proc/{pid}/status")).ok()?, "VmHWM")
}

fn children_s(stat: &str) -> Option<ToolUsage> {
    let stat = Stat::parse(stat)?;
    let seconds = |ticks: u64| ticks as f64 / rustix::param::clock_ticks_per_second() as f64;
    Some(ToolUsage {
        cpu_user_s: seconds(stat.children_user_ticks),
        cpu_sys_s: seconds(stat.children_sys_ticks),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_of_children_is_read_behind_any_name() {
        let stat = "7 (a) b (c)) S 1 2 3 4 5 6 7 8 9 10 11 12 250 50 0 0 1 0 9 0 0";
        let ticks = rustix::param::clock_ticks_per_second() as f64;
        let expected = ToolUsage { cpu_user_s: 250.0 / ticks, cpu_sys_s: 50.0 / ticks };
        assert_eq!(children_s(stat), Some(expected));
        assert_eq!(children_s(""), None);
        assert!(peak_bytes(std::process::id()) > Some(0));
    }
}
