//! Messages between Tenbin and a keeper: lines of JSON over one socket, which is the standard input of the keeper.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::exit::Exit;
use crate::limits::Membership;

/// Message from Tenbin to the keeper.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Order {
    /// Starts a command. Valid as the first order, and after `Rest`.
    Start {
        argv: Vec<String>,
        env: Vec<(String, String)>,
        dir: PathBuf,
        cores: Vec<usize>,
        groups: Vec<Membership>,
        namespace: Option<String>,
        disk: Option<PathBuf>,
    },
    /// Ends everything as `Stop` does, and waits for another `Start`.
    Rest { signal: Option<i32>, within_ms: u64 },
    /// Pauses all descendants with SIGSTOP, and resumes them after `for_ms`.
    Pause { for_ms: u64 },
    /// Resumes all descendants now.
    Continue,
    /// Last order: ends everything, first with this signal, and with KILL after `within_ms`. Without a signal, waits for an end
    /// that something else causes.
    Stop { signal: Option<i32>, within_ms: u64 },
}

/// Message from the keeper to Tenbin.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Report {
    Started {
        pid: u32,
    },
    /// The command could not be started. Nothing runs.
    Refused {
        what: String,
    },
    /// Header of output: `bytes` raw bytes follow the line. `dropped` bytes before them were dropped.
    Output {
        bytes: usize,
        dropped: u64,
    },
    /// The main process has ended. Its descendants may still run.
    Exited(Exit),
    /// All descendants have ended.
    Empty,
    /// Number of processes that were paused with SIGSTOP.
    Paused {
        processes: usize,
    },
    /// The processes have resumed.
    Continued,
    /// Answer to `Rest`: nothing runs, and the keeper waits.
    Resting(EndedProcesses),
    /// Answer to the last order.
    Stopped(EndedProcesses),
}

/// Result of ending all processes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct EndedProcesses {
    /// Number of processes that had to be killed.
    pub(crate) killed: usize,
    /// Whether the main process was killed.
    pub(crate) is_main_killed: bool,
    /// Number of processes that did not end in time even after KILL.
    pub(crate) left: usize,
}
