//! Default load of a URL without steps: commands on random keys.

use alloc::format;
use alloc::sync::Arc;
use alloc::vec;
use alloc::vec::Vec;

use crate::step::Step;

/// Commands that a command line can name, and the default commands.
#[derive(Clone, Copy, Debug)]
pub struct Workload {
    /// Default commands, separated by commas.
    pub default: &'static str,
    /// Function that returns the names of all commands.
    pub names: fn() -> Vec<&'static str>,
    /// Default number of keys.
    pub keys_default: u64,
    /// Default bytes of a command's data.
    pub data_bytes_default: u64,
    /// Creates the step of a command. `None` if no command has this name.
    pub step: fn(name: &str, size: &WorkloadSize<'_>) -> Option<Arc<dyn Step>>,
}

/// Parameters of a workload's steps.
#[derive(Clone, Copy, Debug)]
pub struct WorkloadSize<'a> {
    /// Name of the variable with the number of a random key.
    pub key: &'a str,
    /// Bytes of the data of a command.
    pub data_bytes: u64,
}

impl WorkloadSize<'_> {
    /// Splits a command line into words. `V` is replaced by data, and `K` or `E` after a colon by a random key.
    pub fn words(&self, line: &str) -> Vec<Vec<u8>> {
        let word = |word: &str| match word.strip_suffix(['K', 'E']).filter(|prefix| prefix.ends_with(':')) {
            _ if word == "V" => vec![b'x'; self.data_bytes as usize],
            Some(prefix) => format!("{prefix}{{{}}}", self.key).into_bytes(),
            None => word.into(),
        };
        line.split(' ').map(word).collect()
    }
}
