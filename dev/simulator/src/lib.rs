//! Queues in virtual time for testing statistical procedures: hours of load in milliseconds, with known results.
//!
//! The load comes from [`load`], and results go to the recorder of [`record`], as in a real run. Only the response times are
//! simulated. [`closed_forms`] has the theoretical results of these queues.
//!
//! ```
//! use load::{Load, Open, Schedule, Spacing, open::Profile};
//! use simulator::{LoadTimes, Queue, Service, closed_forms::Mm1, play};
//!
//! let rate = Profile::constant(100.0);
//! let load = Load::Open(Open { schedule: Schedule::Rate(rate, Spacing::poisson(1)), connections: 64, shed_after_ns: None });
//! let queue = Queue { servers: 1, service: Service::Exponential { mean_ns: 5_000_000 } };
//! let times = LoadTimes { warm_up_ns: 1_000_000_000, stop_ns: 200_000_000_000 };
//! let mean_s = play(&load, &queue, times, 1).mean_response_s().unwrap();
//! let expected_s = Mm1 { arrivals_per_s: 100.0, services_per_s: 200.0 }.response_mean_s();
//! assert!((mean_s / expected_s - 1.0).abs() < 0.1);
//! ```

pub mod closed_forms;
mod connections;
mod freeze;
mod level;
mod noise;
mod play;
mod played;
mod queue;
mod service;
pub mod trials;

pub use freeze::Freeze;
pub use level::{Condition, judge};
pub use noise::{Noise, Noisy, Shape};
pub use play::{LoadTimes, play, play_frozen};
pub use played::{Played, WINDOW_NS};
pub use queue::Queue;
pub use service::Service;
