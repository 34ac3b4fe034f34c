//! Which core does what.

use anyhow::{Context as _, bail};
use rustix::thread::{CpuSet, sched_getaffinity};
use serde::Serialize;

/// Who runs where.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Cores {
    /// The core of nginx.
    pub server: usize,
    /// The core that the tools take turns on.
    pub client: usize,
    /// How many this program may use; the others are left alone.
    pub count: u32,
}

/// The first two cores that may be used.
///
/// # Errors
///
/// There is only one: then client and server would measure each other.
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
