//! Configuration of a proxy.

use std::num::NonZeroU64;
use std::time::Duration;

use sockets::Endpoint;

/// Default buffer per direction of a connection, in bytes.
pub const BUFFER_BYTES: usize = 256 * 1024;
/// Default maximum number of open connections.
pub const CONNECTIONS: u32 = 4096;
/// Maximum delay and jitter.
pub const DELAY_MAX: Duration = Duration::from_secs(3600);

/// Fixed configuration of a proxy, which does not change while it runs.
#[derive(Clone, Debug)]
pub struct ProxyConfig {
    /// Endpoint for clients. Port 0 selects a free port.
    pub listen: Endpoint,
    /// Endpoint to which client data is forwarded.
    pub target: Endpoint,
    /// Maximum number of open connections; further ones wait in the listen queue. `None` for [`CONNECTIONS`], or for as many as the
    /// limit on file descriptors allows.
    pub connections_max: Option<u32>,
    /// Buffer per direction of a connection, in bytes. When it is full, nothing more is read.
    pub buffer_bytes: usize,
    /// Seed of the jitter, and of the choice of connections to reset.
    pub seed: u64,
}

/// Configuration that can be changed at any time.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Settings {
    /// Delay added in each direction. A round trip takes longer by twice this delay.
    pub delay: Duration,
    /// Variation of the delay. `None` for a constant delay.
    pub jitter: Option<Jitter>,
    /// Bytes per second in each direction of each connection. `None` for no limit.
    pub bandwidth: Option<NonZeroU64>,
    /// Resets of connections that are accepted from now on. `None` for none.
    pub reset: Option<Reset>,
    /// Treatment of new connections.
    pub new_connections: NewConnections,
    /// True to cut the network: no data passes, and new connections stay in the listen queue. Nothing is lost.
    pub is_cut: bool,
}

/// Variation of the delay. Data never overtakes earlier data of its connection, so dense data is delayed longer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Jitter {
    /// Maximum deviation (uniform) or standard deviation (normal).
    pub by: Duration,
    /// Distribution of the deviation.
    pub spread: Spread,
}

/// Distribution of jitter around the delay.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Spread {
    /// Uniform within the delay ± jitter.
    #[default]
    Uniform,
    /// Normal, with the jitter as standard deviation. Negative delays become 0.
    Normal,
}

/// Rule that resets connections.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Reset {
    /// Condition of the reset.
    pub after: ResetAfter,
    /// Share of connections that are reset, from 0 to 1.
    pub share: f64,
}

/// Condition of a reset.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResetAfter {
    /// After this many bytes have been forwarded, in both directions together.
    Bytes(u64),
    /// After this time since the connection was accepted.
    Time(Duration),
}

/// Treatment of new connections.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum NewConnections {
    /// Accept and forward.
    #[default]
    Accept,
    /// Accept and reset immediately.
    Close,
    /// Leave in the listen queue.
    Ignore,
}
