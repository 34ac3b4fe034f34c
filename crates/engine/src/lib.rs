//! Load engine: one reactor thread per core sends requests at their scheduled times, reads replies, and records them.
//!
//! [`start`] runs a [`Job`] and returns a [`Running`], whose messages carry the results. Read `worker.rs` first: one turn of its
//! event loop shows how all modules work together. The crate does not depend on plan files, stores, or reports.

mod address_accounts;
mod answers;
mod clock;
mod contents;
mod dispatch;
mod driver;
mod embedded;
mod endings;
mod exchange;
mod first_requests;
mod health;
mod iterations;
mod job;
pub mod limits;
mod link;
mod net;
mod pending_windows;
mod pin;
mod read_delays;
mod running;
mod signals;
mod step_account;
mod timers;
mod user;
mod worker;

pub use address_accounts::address_accounts;
pub use contents::Contents;
pub use embedded::start_embedded;
pub use first_requests::{FirstRequests, first_requests};
pub use job::{Endpoint, Job, Peer, Selection};
pub use net::errand::ExchangeClient;
pub use net::interview::{AskError, RequestClient};
pub use net::line::BlockingConnection;
pub use net::probe::{ProbeError, ProbeReply, ProbeResult, ask, probe};
pub use net::tls::{ClientFiles, TlsError, TlsPeer, TlsTrust};
pub use pin::{allowed_cores, pin_to};
pub use running::{Message, Running, StopLevel, WorkerEnd, start};
