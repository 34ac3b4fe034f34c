//! What a proxy does to the connections that it passes on.

use std::num::NonZeroU64;
use std::time::Duration;

use sockets::Endpoint;

/// Bytes on their way in one direction of a connection, unless something else is asked for.
pub const BUFFER_BYTES: usize = 256 * 1024;
/// Open connections at a time, unless something else is asked for.
pub const CONNECTIONS: u32 = 4096;
/// The longest delay and jitter.
pub const DELAY_MAX: Duration = Duration::from_secs(3600);

/// Where a proxy stands. This stays as it is while the proxy runs.
#[derive(Clone, Debug)]
pub struct Place {
    /// Where clients connect. Port 0 is a free one.
    pub listen: Endpoint,
    /// Where their bytes go.
    pub target: Endpoint,
    /// Open connections at a time; further ones wait in the listen queue. `None` is [`CONNECTIONS`], or as many as the limit on
    /// descriptors allows.
    pub connections_max: Option<u32>,
    /// Bytes on their way in one direction of a connection. Once there are so many, nothing more is read.
    pub buffer_bytes: usize,
    /// Of jitter, and of the connections that are reset.
    pub seed: u64,
}

/// What a proxy does now. It may be changed at any time.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Settings {
    /// Added to each direction: a round trip takes twice as much longer.
    pub delay: Duration,
    /// How much the delay varies.
    pub jitter: Option<Jitter>,
    /// Bytes per second of each direction of each connection.
    pub bandwidth: Option<NonZeroU64>,
    /// Which connections are reset: those that are accepted from now on.
    pub reset: Option<Reset>,
    /// What happens to new connections.
    pub new_connections: NewConnections,
    /// Whether the network is cut: nothing passes, and new connections stay in the listen queue. Nothing is lost.
    pub is_cut: bool,
}

/// How much the delay varies. Data never overtakes earlier data of its connection, so that delays of dense data are longer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Jitter {
    /// The largest deviation, or the standard deviation.
    pub by: Duration,
    /// Its distribution.
    pub spread: Spread,
}

/// The distribution of jitter around the delay.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Spread {
    /// Even, up to the jitter more or less.
    #[default]
    Uniform,
    /// Bell-shaped: the jitter is its standard deviation. What would be negative is 0.
    Normal,
}

/// Which connections are reset, and when.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Reset {
    /// When.
    pub after: ResetAfter,
    /// The share of connections that this happens to, from 0 to 1.
    pub share: f64,
}

/// When a connection is reset.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResetAfter {
    /// When so many bytes have been passed on, both directions together.
    Bytes(u64),
    /// So long after it was accepted.
    Time(Duration),
}

/// What happens to new connections.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum NewConnections {
    /// They are accepted and passed on.
    #[default]
    Accept,
    /// They are accepted and reset at once.
    Close,
    /// They stay in the listen queue.
    Ignore,
}
