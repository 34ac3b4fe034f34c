//! What a proxy has done so far.

use record::{Histogram, Percentile};
use rustix::io::Errno;

/// Counts since the start.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Connections accepted and passed on.
    pub accepted: u64,
    /// Connections that are open now.
    pub open: u64,
    /// Most connections that were open at a time.
    pub open_max: u64,
    /// New connections that were closed at once.
    pub dropped: u64,
    /// Connections whose target could not be reached.
    pub connect_failed: u64,
    /// Why the last one could not.
    pub connect_error: Option<String>,
    /// Connections that the proxy reset on purpose.
    pub resets: u64,
    /// Connections that a client or the target reset.
    pub peer_resets: u64,
    /// Stalls begun.
    pub stalls: u64,
    /// Bytes passed on from clients to the target.
    pub bytes_to_target: u64,
    /// Bytes passed on from the target to clients.
    pub bytes_to_clients: u64,
    /// How late data left the proxy; `None` if nothing did.
    pub late: Option<Late>,
    /// CPU time of the proxy's thread; known when it has ended.
    pub cpu_ns: Option<u64>,
}

/// How late data left the proxy: from when it was due until it was handed to the kernel. Waiting for a peer that does not read
/// is not counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Late {
    /// Sends that were counted.
    pub count: u64,
    /// The median; `None` for too few sends.
    pub p50_ns: Option<u64>,
    /// 99 % were not later.
    pub p99_ns: Option<u64>,
    /// The latest.
    pub max_ns: u64,
}

/// Counts as the reactor keeps them.
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
    /// By the side that sent them.
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
            late: late.max_ns().map(|max_ns| Late {
                count: late.count(),
                p50_ns: late.printable_at(Percentile::P50),
                p99_ns: late.printable_at(Percentile::P99),
                max_ns,
            }),
            cpu_ns: self.cpu_ns,
        }
    }
}
