//! Noisy neighbor: processes that compete with the system and the generator for cores.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use harness::child::Child;

/// Cores that the neighbor keeps busy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Neighbor {
    /// One random core at a time, with pauses, each of random length.
    Sometimes,
    /// All cores without a pause.
    Always,
}

impl Neighbor {
    /// Starts the neighbor. It ends when the returned child is dropped, when this program ends, or after `lasting`.
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
