//! TLS by rustls, without buffers of its own: records are opened where they were read.

mod config;
mod fault;
mod identity;
mod insecure;
mod session;
mod vouched;

pub use config::{TlsError, TlsPeer, TlsTrust};
pub use identity::ClientFiles;
pub(crate) use session::Session;
