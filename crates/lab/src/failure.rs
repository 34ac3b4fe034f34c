//! Failures of a system: the stage, the cause, and the remedy.

use std::fmt;

/// Stage in the life of a system in which a failure occurred.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// Writing the folder and its files.
    Files,
    /// A command before the start.
    Before,
    /// A port that is in use before the start or after the stop.
    Port,
    /// Applying the limits.
    Limits,
    /// Creating the host of the system.
    Host,
    /// Creating the disk.
    Disk,
    /// Preparing the data of the system.
    Prepare,
    /// Starting a process.
    Start,
    /// Waiting until a process is ready.
    Ready,
    /// A process ended unexpectedly.
    Died,
    /// Stopping a process.
    Stop,
    /// A command after the stop.
    After,
}

impl Stage {
    /// Name of the stage in one lower-case word, as it is stored.
    pub fn word(self) -> &'static str {
        match self {
            Stage::Files => "files",
            Stage::Before => "before",
            Stage::Port => "port",
            Stage::Limits => "limits",
            Stage::Host => "host",
            Stage::Disk => "disk",
            Stage::Prepare => "prepare",
            Stage::Start => "start",
            Stage::Ready => "ready",
            Stage::Died => "died",
            Stage::Stop => "stop",
            Stage::After => "after",
        }
    }
}

/// Failure of a system, with its evidence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// Stage in which it occurred.
    pub stage: Stage,
    /// Process in which it occurred. `None` if no single process is the cause.
    pub process: Option<String>,
    /// Cause: a sentence without its full stop.
    pub what: String,
    /// Remedy.
    pub way_out: String,
    /// Output of the processes and commands until the failure.
    pub outputs: Vec<Output>,
}

impl fmt::Display for Failure {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(process) = &self.process {
            write!(out, "{process}: ")?;
        }
        write!(out, "{}: {}", self.what, self.way_out)
    }
}

impl std::error::Error for Failure {}

/// Raw bytes that one process or command wrote to standard output and standard error, interleaved.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Output {
    /// Name of the process, or the command line.
    pub process: String,
    /// First 64 KiB and last 192 KiB of the output.
    pub text: Vec<u8>,
    /// Number of bytes between the two parts that were dropped.
    pub dropped_bytes: u64,
}
