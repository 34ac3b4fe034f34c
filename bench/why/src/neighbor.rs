//! Programs next to the system and the generator that take cores from them.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use harness::child::Child;

/// How much of the cores they take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Neighbor {
    /// A random core for a random time, then none for a while.
    Sometimes,
    /// All cores.
    Always,
}

impl Neighbor {
    /// Starts it. It ends with its value, with this program, and after this time.
    pub(crate) fn start(self, cases: &Path, lasting: Duration) -> Result<Child, String> {
        let how = match self {
            Self::Sometimes => "sometimes",
            Self::Always => "always",
        };
        let mut command = Command::new("python3");
        command.arg("-B").arg(cases.join("servers/neighbor.py")).arg(lasting.as_secs().to_string()).arg(how);
        Child::start(&mut command)
    }
}
