//! A server whose truth is known: the embedded default target, and what the tool is graded against.
//!
//! [`start`] it with [`Settings`]; [`endpoints`] lists what it answers; [`scripted`] is its hostile sibling.

mod chunked;
mod connection;
mod database;
mod draw;
mod endpoints;
mod gate;
mod handler;
mod limiter;
mod listener;
mod mailbox;
mod query;
mod reply;
mod request;
mod running;
pub mod scripted;
mod settings;
mod shared;
mod slab;
mod stalls;
mod stop;
mod tally;
mod timers;
mod worker;

pub use endpoints::{Endpoint, endpoints};
pub use running::{Running, StartError, start};
pub use settings::{Fault, RateLimit, Settings, Stall};
pub use stalls::Pause;
pub use tally::Counters;
