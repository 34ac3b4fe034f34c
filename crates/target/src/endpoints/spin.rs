//! `/spin`: uses a given amount of CPU time.

use super::{Computation, Endpoint, Work};
use crate::query::{Query, bad_request};
use crate::reply::Reply;
use crate::stop::Stop;
use rustix::time::{ClockId, clock_gettime};

/// Maximum CPU time, in microseconds.
const SPIN_MAX_US: u64 = 10_000_000;

pub(super) const ENDPOINT: Endpoint = Endpoint {
    path: "/spin",
    sentence: "Burns `us` microseconds of processor time (at most 10000000), counted on the thread's own clock.",
    example: "/spin?us=500",
    methods: &["GET", "HEAD"],
    keys: &["us"],
    prepare,
};

fn prepare(query: &Query<'_>) -> Result<Work, Reply> {
    match query.number("us")? {
        Some(us) if us <= SPIN_MAX_US => Ok(Work::Compute(Computation { run: burn, argument: us })),
        Some(us) => Err(bad_request(&format!("us must be at most {SPIN_MAX_US}, found {us}"))),
        None => Err(bad_request("us is missing; try /spin?us=500")),
    }
}

fn burn(us: u64, stop: &Stop) -> Reply {
    let begun_ns = processor_ns();
    loop {
        let spent_us = (processor_ns() - begun_ns) / 1000;
        if spent_us >= us {
            return Reply::text(200, format!("{spent_us}\n")).with("x-spin-us", spent_us);
        }
        if stop.is_set() {
            return Reply::fixed(503, "stopping\n");
        }
        // Reading the clock is a system call. Reading it less often leaves the time to user space.
        (0..64).for_each(|_| std::hint::spin_loop());
    }
}

fn processor_ns() -> u64 {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}
