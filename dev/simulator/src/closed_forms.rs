//! Closed-form results of queueing theory, exact in the long run.
//!
//! Arrivals are Poisson, queues are unbounded, and service is first come, first served. Sources: L. Kleinrock, *Queueing Systems*,
//! volume 1 (Wiley, 1975), for M/M/1, M/M/c, and the Pollaczek–Khinchine mean; G. J. Franx, "A simple solution for the M/D/c
//! waiting time distribution", Operations Research Letters 29 (2001).

mod mdc;
mod mg1;
mod mm1;
mod mmc;

pub use mdc::{Mdc, capacity_per_s};
pub use mg1::Mg1;
pub use mm1::Mm1;
pub use mmc::Mmc;

/// Returns the smallest time at which a decreasing function is at most `level`, with a relative error of 1e-9.
fn first_at_or_below(level: f64, step_s: f64, tail: impl Fn(f64) -> f64) -> f64 {
    let mut high_s = step_s;
    for _ in 0..60 {
        if tail(high_s) <= level {
            break;
        }
        high_s *= 2.0;
    }
    let mut low_s = 0.0;
    for _ in 0..100 {
        let middle_s = (low_s + high_s) / 2.0;
        if tail(middle_s) <= level {
            high_s = middle_s
        } else {
            low_s = middle_s
        }
        if high_s - low_s <= 1e-9 * high_s {
            break;
        }
    }
    high_s
}
