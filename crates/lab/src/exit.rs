//! Exit status of a process.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::Signal;

/// Exit code of a process, or the signal that ended it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Exit {
    Code(i32),
    Signal(i32),
}

impl Exit {
    pub(crate) fn is_success(self) -> bool {
        self == Exit::Code(0)
    }

    /// Hint about the cause, in addition to the output.
    pub(crate) fn hint(self) -> &'static str {
        match self {
            Exit::Code(126 | 127) => "the command was not found: write its full path",
            Exit::Signal(number) if Signal::numbered(number) == Signal::KILL => {
                "look at its output, and whether the machine ran out of memory (dmesg)"
            }
            _ => "look at its output",
        }
    }
}

/// Formats as "exited with code 1" or "was ended by SEGV".
impl fmt::Display for Exit {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Exit::Code(code) => write!(out, "exited with code {code}"),
            Exit::Signal(number) => write!(out, "was ended by {}", Signal::numbered(*number)),
        }
    }
}
