//! Sockets, TLS and waiting: everything that knows the kernel.

pub(crate) mod cancel;
pub(crate) mod line;
pub(crate) mod poll;
pub(crate) mod probe;
pub(crate) mod socket;
pub(crate) mod stamped;
pub(crate) mod tcp;
pub(crate) mod tls;
pub(crate) mod unix;

use socket::Socket;

use crate::job::Endpoint;

/// What came of one call to the transport.
#[derive(Debug)]
pub(crate) enum Io {
    /// So many bytes moved.
    Moved(usize),
    /// Nothing can move now.
    NotYet,
    /// The peer will send nothing more.
    Closed,
    /// The connection is lost, or never came about.
    Lost(rustix::io::Errno),
}

/// A socket on its way to the endpoint.
#[derive(Debug)]
pub(crate) struct Dialled {
    pub(crate) socket: Socket,
    /// Whether it is connected already; otherwise the poller says when to ask.
    pub(crate) is_connected: bool,
}

/// Begins to connect, without waiting.
pub(crate) fn dial(endpoint: &Endpoint) -> Result<Dialled, rustix::io::Errno> {
    match endpoint {
        Endpoint::Tcp(address) => tcp::dial(*address),
        Endpoint::Unix(path) => unix::dial(path),
    }
}
