//! HTTP server with known behavior: the built-in default target, and the reference that Tenbin's measurements are checked against.
//!
//! ```
//! use std::io::{Read, Write};
//!
//! let settings = target::Settings { threads: 2, queue: Some(50), ..Default::default() };
//! let target = target::start(settings)?;
//! let mut socket = std::net::TcpStream::connect(target.address())?;
//! socket.write_all(b"GET /hold?dist=exp&mean_us=500 HTTP/1.0\r\n\r\n")?;
//! let mut reply = String::new();
//! socket.read_to_string(&mut reply)?;
//! assert!(reply.contains("x-service-us: "));
//! assert_eq!(target.counters().requests, 1);
//! target.stop();
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! [`start`] runs it with [`Settings`], [`endpoints`] lists its endpoints, and [`scripted`] is a hostile server for tests.

mod chunked;
mod connection;
mod database;
mod draw;
mod endpoints;
mod gate;
mod handler;
mod hangs;
mod head;
mod limiter;
mod listener;
mod mailbox;
mod pace;
mod query;
mod raw;
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
mod trouble;
mod worker;

pub use endpoints::{Endpoint, endpoints};
pub use hangs::Hang;
pub use pace::{Drift, Pace, PaceStep, SlowStart};
pub use raw::{RawMode, RawServer};
pub use running::{Running, StartError, start};
pub use settings::{Fault, RateLimit, Settings, Stall, ThreadPool};
pub use stalls::Pause;
pub use tally::Counters;
pub use trouble::{Trouble, TroubleKind};
