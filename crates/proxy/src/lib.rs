//! TCP proxy that simulates a distant client or a slow dependency: it delays data, limits bandwidth, resets connections, stalls,
//! and rejects new connections.
//!
//! `shape.rs` computes when bytes may leave, in virtual time. `reactor.rs` moves them: one thread, edge-triggered epoll, and one
//! timer per direction. Settings can be changed and counters can be read while the proxy runs.

mod clock;
mod commands;
mod counters;
mod jitter;
mod listener;
mod pair;
mod reactor;
mod running;
mod settings;
mod shape;
mod timers;

pub use counters::{Counters, ForwardingDelay};
pub use running::{Running, StartError, start};
pub use settings::{
    BUFFER_BYTES, CONNECTIONS, DELAY_MAX, Jitter, NewConnections, ProxyConfig, Reset, ResetAfter, Settings,
    Spread,
};
pub use sockets::Endpoint;
