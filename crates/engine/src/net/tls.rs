//! TLS with rustls in unbuffered mode: records are decrypted in the buffer into which they were read.

mod certificate_check;
mod config;
mod fault;
mod identity;
mod insecure;
mod session;

pub use config::{TlsError, TlsPeer, TlsTrust};
pub use identity::ClientFiles;
pub(crate) use session::Session;
