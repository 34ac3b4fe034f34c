//! Counters of a proxy.

use record::{Histogram, Percentile};
use rustix::io::Errno;

/// Counters since the start of the proxy.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Connections that were accepted and forwarded.
    pub accepted: u64,
    /// Currently open connections.
    pub open: u64,
    /// Maximum number of concurrently open connections.
    pub open_max: u64,
    /// New connections that were closed immediately.
    pub dropped: u64,
    /// Connections whose target could not be reached.
    pub connect_failed: u64,
    /// Error of the last connection whose target could not be reached. `None` if there was none.
    pub connect_error: Option<String>,
    /// Connections that the proxy reset on purpose.
    pub resets: u64,
    /// Connections that a client or the target reset.
    pub peer_resets: u64,
    /// Number of stalls that have begun.
    pub stalls: u64,
    /// Bytes forwarded from clients to the target.
    pub bytes_to_target: u64,
    /// Bytes forwarded from the target to clients.
    pub bytes_to_clients: u64,
    /// Delay with which data left the proxy after it was due. `None` if no data left.
    pub late: Option<ForwardingDelay>,
    /// CPU time of the proxy's thread. `None` until it has ended.
    pub cpu_ns: Option<u64>,
}

/// Delay from the time when data was due until it was passed to the kernel. Time spent waiting for a peer that does not read is
/// excluded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ForwardingDelay {
    /// Number of counted sends.
    pub count: u64,
    /// Median. `None` with too few sends.
    pub p50_ns: Option<u64>,
    /// 99th percentile. `None` with too few sends.
    pub p99_ns: Option<u64>,
    /// Maximum.
    pub max_ns: u64,
}

/// Counters that the reactor updates.
#[derive(Clone, Default)]
pub(crate) struct Tally {
    pub(crate) accepted: u64,
    pub(crate) open: u64,
    pub(crate) open_max: u64,
    pub(crate) dropped: u64,
    pub(crate) connect_failed: u64,
    pub(crate) connect_error: Option<Errno>,
    pub(crate) resets: u64,
    pub(crate) peer_resets: u64,
    pub(crate) stalls: u64,
    /// Bytes by the side that sent them.
    pub(crate) bytes: [u64; 2],
    pub(crate) late: Histogram,
    pub(crate) cpu_ns: Option<u64>,
}

impl Tally {
    pub(crate) fn counters(&self) -> Counters {
        let late = &self.late;
        Counters {
            accepted: self.accepted,
            open: self.open,
            open_max: self.open_max,
            dropped: self.dropped,
            connect_failed: self.connect_failed,
            connect_error: self.connect_error.map(|errno| std::io::Error::from(errno).to_string()),
            resets: self.resets,
            peer_resets: self.peer_resets,
            stalls: self.stalls,
            bytes_to_target: self.bytes[0],
            bytes_to_clients: self.bytes[1],
            late: late.max_ns().map(|max_ns| ForwardingDelay {
                count: late.count(),
                p50_ns: late.printable_at(Percentile::P50),
                p99_ns: late.printable_at(Percentile::P99),
                max_ns,
            }),
            cpu_ns: self.cpu_ns,
        }
    }
}
