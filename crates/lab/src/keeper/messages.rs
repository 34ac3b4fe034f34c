//! What Tenbin and a keeper say to each other: lines of JSON over one socket, the keeper's standard input.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::exit::Exit;
use crate::limits::Membership;

/// From Tenbin to the keeper.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Order {
    /// The first order, and one after `Rest`: start this.
    Start {
        argv: Vec<String>,
        env: Vec<(String, String)>,
        dir: PathBuf,
        cores: Vec<usize>,
        groups: Vec<Membership>,
        namespace: Option<String>,
        disk: Option<PathBuf>,
    },
    /// End everything as in `Stop`, and wait for another `Start`.
    Rest { signal: Option<i32>, within_ms: u64 },
    /// Stop everything below the keeper by SIGSTOP, and let it go on after so long.
    Pause { for_ms: u64 },
    /// Let it go on now.
    Continue,
    /// The last order: end everything, first by this signal (or wait for another's signal), at last by KILL.
    Stop { signal: Option<i32>, within_ms: u64 },
}

/// From the keeper to Tenbin.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Report {
    Started {
        pid: u32,
    },
    /// It could not be started; nothing runs.
    Refused {
        what: String,
    },
    /// So many raw bytes follow the line. Before them as many as `dropped` were not kept.
    Output {
        bytes: usize,
        dropped: u64,
    },
    /// The process that was started has ended. Others below it may still run.
    Exited(Exit),
    /// Nothing runs any more.
    Empty,
    /// So many processes were stopped by SIGSTOP.
    Paused {
        processes: usize,
    },
    /// They go on.
    Continued,
    /// The answer to `Rest`: nothing runs, and the keeper waits.
    Resting(Toll),
    /// The answer to the last order.
    Stopped(Toll),
}

/// What it took to end everything.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Toll {
    /// Processes that had to be killed.
    pub(crate) killed: usize,
    /// Whether the process that was started was among them.
    pub(crate) is_main_killed: bool,
    /// Processes that even KILL did not end in time.
    pub(crate) left: usize,
}
