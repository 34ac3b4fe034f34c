//! What went wrong with a system: where, what, and what to do.

use std::fmt;

/// The part of a system's life in which something failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// Writing its folder and files.
    Files,
    /// A command before the start.
    Before,
    /// A port that is taken, or was not given back.
    Port,
    /// Holding it to its limits.
    Limits,
    /// Making the host that it runs on.
    Host,
    /// Making its disk.
    Disk,
    /// Starting a process.
    Start,
    /// Waiting until a process is ready.
    Ready,
    /// A process ended that should still run.
    Died,
    /// Stopping a process.
    Stop,
    /// A command after the stop.
    After,
}

impl Stage {
    /// The stage in one lower-case word, as it is stored.
    pub fn word(self) -> &'static str {
        match self {
            Stage::Files => "files",
            Stage::Before => "before",
            Stage::Port => "port",
            Stage::Limits => "limits",
            Stage::Host => "host",
            Stage::Disk => "disk",
            Stage::Start => "start",
            Stage::Ready => "ready",
            Stage::Died => "died",
            Stage::Stop => "stop",
            Stage::After => "after",
        }
    }
}

/// One thing that went wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// When it happened.
    pub stage: Stage,
    /// The process it happened to, if one can be named.
    pub process: Option<String>,
    /// What happened: a sentence without its full stop.
    pub what: String,
    /// What can be done about it.
    pub way_out: String,
    /// What the processes and commands had written by then.
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

/// What one process or command wrote to its standard output and standard error, in order, unescaped.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Output {
    /// The name of the process, or the command line.
    pub process: String,
    /// The first 64 KiB and the last 192 KiB.
    pub text: Vec<u8>,
    /// How many bytes between the two were not kept.
    pub dropped_bytes: u64,
}
