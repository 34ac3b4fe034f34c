//! Assignment of cores to server and client.

use anyhow::{Context as _, bail};
use rustix::thread::{CpuSet, sched_getaffinity};
use serde::Serialize;

/// Cores of server and client.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Cores {
    /// Core of nginx.
    pub server: usize,
    /// Core of the load tools, which run one at a time.
    pub client: usize,
    /// Number of cores that this program may use. The others stay idle.
    pub count: u32,
}

/// Selects the first two usable cores.
///
/// # Errors
///
/// If there is only one core, on which client and server would disturb each other.
pub fn two_cores() -> anyhow::Result<Cores> {
    let set = sched_getaffinity(None).context("cannot ask for the cores of this machine")?;
    let mut cores = (0..CpuSet::MAX_CPU).filter(|core| set.is_set(*core));
    match (cores.next(), cores.next()) {
        (Some(server), Some(client)) => Ok(Cores { server, client, count: set.count() }),
        _ => bail!(
            "one core is not enough, since client and server need one each; use another machine or taskset -c 0,1"
        ),
    }
}
