//! Sockets, TLS and waiting: everything that knows the kernel.

pub(crate) mod cancel;
pub(crate) mod errand;
pub(crate) mod line;
pub(crate) mod probe;
pub(crate) mod tls;

pub(crate) use sockets::{Dialled, Io, dial, poll, socket, unix};
