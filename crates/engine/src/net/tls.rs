//! TLS by rustls, without buffers of its own: records are opened where they were read.

mod any_name;
mod config;
mod insecure;
mod session;

pub use config::{TlsError, TlsPeer, TlsTrust};
pub(crate) use session::Session;
