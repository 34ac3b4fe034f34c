//! Runs external load generators: commands one after another below a single keeper. Measures their resource usage.

use std::ffi::OsString;
use std::fs;
use std::time::Duration;

use crate::deadline::Deadline;
use crate::kept_process::{Ended, KeeperOptions, KeptProcess};
use crate::marker::Marker;
use crate::probes::{Stat, bytes_of_kib};
use crate::{Command, Output, Signal, processes};

/// Time that remaining processes of a tool get to end by themselves.
const GRACE: Duration = Duration::from_secs(1);
/// Time for a keeper to report that all descendants have ended.
const LAST_REPORT_TIMEOUT: Duration = Duration::from_millis(100);

/// A load generator that Tenbin starts, observes, and ends.
#[derive(Debug)]
pub struct LoadTool {
    kept: KeptProcess,
    setting: KeeperOptions,
}

/// Sum of the resource usage of a tool's commands.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ToolUsage {
    /// CPU time in user mode of ended processes, in seconds. Resolution is one clock tick.
    pub cpu_user_s: f64,
    /// CPU time in the kernel of ended processes, in seconds.
    pub cpu_sys_s: f64,
}

impl LoadTool {
    /// Starts a keeper for a tool, without a command. `cores` are the cores of the tool; empty means any core.
    ///
    /// # Errors
    /// Reason of the failure, as the end of a sentence.
    pub fn hold(name: &str, keeper: Vec<OsString>, cores: Vec<usize>) -> Result<Self, String> {
        let setting = KeeperOptions {
            keeper,
            cores,
            marker: Marker::new(),
            groups: Vec::new(),
            namespace: None,
            disk: None,
        };
        let kept = KeptProcess::hold(&setting, name)?;
        Ok(Self { kept, setting })
    }

    /// Process ID of the keeper. All processes of the tool are its descendants.
    pub fn keeper_pid(&self) -> u32 {
        self.kept.keeper_pid()
    }

    /// Starts a command. No other command may be running.
    ///
    /// # Errors
    /// Reason why it could not be started, as the end of a sentence.
    pub fn start(&self, command: &Command) -> Result<(), String> {
        self.kept.start_command(&self.setting, command)?;
        self.kept.expect_running();
        Ok(())
    }

    /// Waits up to `at_most` until the command ends. `None` if it still runs. The error is the end of a sentence about the failure.
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

    /// Ends remaining processes with TERM and then KILL. Returns the output of the last command; a long output is reduced to its
    /// beginning and end.
    pub fn end_command(&self) -> Output {
        self.kept.wait(Deadline::after(LAST_REPORT_TIMEOUT), |state| state.is_empty || state.is_lost);
        let is_started = self.kept.state().main.is_some();
        if is_started {
            self.kept.rest(Some(Signal::TERM), GRACE);
        }
        self.kept.output_since_start()
    }

    /// Sum of the peak memory (VmHWM) of the processes of the tool that run now, in bytes.
    pub fn rss_peak_bytes(&self) -> u64 {
        processes::below(self.keeper_pid()).iter().filter_map(|seen| peak_bytes(seen.pid)).sum()
    }

    /// Resource usage of ended commands. It is read from the keeper, which reaps them.
    pub fn usage(&self) -> ToolUsage {
        let stat = fs::read_to_string(format!("/proc/{}/stat", self.keeper_pid())).unwrap_or_default();
        children_usage(&stat).unwrap_or_default()
    }
}

fn peak_bytes(pid: u32) -> Option<u64> {
    bytes_of_kib(&fs::read_to_string(format!("/proc/{pid}/status")).ok()?, "VmHWM")
}

fn children_usage(stat: &str) -> Option<ToolUsage> {
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
    fn cpu_time_of_children_is_parsed_after_any_process_name() {
        let stat = "7 (a) b (c)) S 1 2 3 4 5 6 7 8 9 10 11 12 250 50 0 0 1 0 9 0 0";
        let ticks = rustix::param::clock_ticks_per_second() as f64;
        let expected = ToolUsage { cpu_user_s: 250.0 / ticks, cpu_sys_s: 50.0 / ticks };
        assert_eq!(children_usage(stat), Some(expected));
        assert_eq!(children_usage(""), None);
        assert!(peak_bytes(std::process::id()) > Some(0));
    }
}
