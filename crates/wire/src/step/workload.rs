//! The load of a URL that has no step: commands on random keys.

use alloc::sync::Arc;
use alloc::vec::Vec;

use crate::step::Step;

/// Commands that a command line can name, and the load without any.
#[derive(Clone, Copy, Debug)]
pub struct Workload {
    /// Commands of a load that names none, separated by commas.
    pub default: &'static str,
    /// Names of all commands.
    pub names: fn() -> Vec<&'static str>,
    /// Number of keys if none is given.
    pub keys_default: u64,
    /// Bytes of the data of a command if none are given.
    pub data_bytes_default: u64,
    /// The step of a command; `None` if no command has this name.
    pub step: fn(name: &str, size: &WorkloadSize<'_>) -> Option<Arc<dyn Step>>,
}

/// Size of a workload.
#[derive(Clone, Copy, Debug)]
pub struct WorkloadSize<'a> {
    /// Name of the variable with the number of a random key.
    pub key: &'a str,
    /// Bytes of the data of a command.
    pub data_bytes: u64,
}
