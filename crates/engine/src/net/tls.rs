//! TLS by rustls, without buffers of its own: records are opened where they were read.

mod config;
mod fault;
mod insecure;
mod session;
mod vouched;

pub use config::{TlsError, TlsPeer, TlsTrust};
pub(crate) use session::Session;
