//! Access to the kernel: sockets, TLS, and event polling. Also blocking connections for checks and single exchanges outside a load.

pub(crate) mod cancel;
pub(crate) mod errand;
mod exchange;
pub(crate) mod interview;
pub(crate) mod line;
pub(crate) mod probe;
pub(crate) mod tls;

pub(crate) use sockets::{ConnectingSocket, Io, dial, poll, socket, unix};
