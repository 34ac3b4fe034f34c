//! Random bytes for log-ins.

use sha1::{Digest, Sha1};

/// Random bytes of a session, and the number of log-ins made from them.
#[derive(Clone, Copy)]
pub(super) struct Nonce {
    bytes: [u8; 18],
    log_ins: u32,
}

impl Nonce {
    /// Creates a nonce from random bytes.
    pub(super) fn of(bytes: [u8; 18]) -> Self {
        Self { bytes, log_ins: 0 }
    }

    /// Nonce of the next log-in.
    pub(super) fn next(self) -> Self {
        Self { log_ins: self.log_ins.wrapping_add(1), ..self }
    }

    /// Pseudorandom bytes for one purpose of this log-in. Unpredictable without knowledge of the random bytes.
    pub(super) fn derive_bytes(self, purpose: &[u8]) -> [u8; 20] {
        let log_in = self.log_ins.to_be_bytes();
        Sha1::new().chain_update(self.bytes).chain_update(log_in).chain_update(purpose).finalize().into()
    }
}
