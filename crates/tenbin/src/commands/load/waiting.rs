//! `--wait`: waits for a server that is still starting.

use std::thread;
use std::time::{Duration, Instant};

use plan::{Fault, Plan, units};
use runner::{Prepared, PublicLoads, Refusal, ResolveError};

use crate::arguments::with_seconds;
use crate::commands::list_faults;
use crate::exit::BadArguments;

/// Interval between attempts to reach a server that is starting.
const RETRY_INTERVAL: Duration = Duration::from_millis(100);

/// Reads the time of `--wait`. A bare number is in seconds.
pub(super) fn wait(text: &str) -> Result<Duration, BadArguments> {
    let ns = units::duration_ns(&with_seconds(text)).map_err(|what| {
        BadArguments(list_faults(
            &[Fault::new("--wait", what, "write a time such as 30s")],
            "nothing was sent",
        ))
    })?;
    Ok(Duration::from_nanos(ns))
}

/// Prepares the load. Tries again until `wait` has passed, if the server cannot be reached or its name cannot be resolved.
pub(super) fn prepared(
    plan: &Plan,
    public: &PublicLoads,
    wait: Option<Duration>,
) -> Result<Prepared, Refusal> {
    let until = wait.map(|wait| Instant::now() + wait);
    loop {
        match runner::prepare(plan, public) {
            Err(
                Refusal::Probe(_)
                | Refusal::Resolve(ResolveError::Unknown { .. } | ResolveError::Slow { .. }),
            ) if until.is_some_and(|until| Instant::now() < until) => {
                thread::sleep(RETRY_INTERVAL);
            }
            prepared => return prepared,
        }
    }
}
