//! What nobody can foresee of a log-in.

use sha1::{Digest, Sha1};

/// Random bytes from outside, and how many log-ins were made from them.
#[derive(Clone, Copy)]
pub(super) struct Nonce {
    bytes: [u8; 18],
    log_ins: u32,
}

impl Nonce {
    /// From random bytes.
    pub(super) fn of(bytes: [u8; 18]) -> Self {
        Self { bytes, log_ins: 0 }
    }

    /// That of the next log-in.
    pub(super) fn next(self) -> Self {
        Self { log_ins: self.log_ins.wrapping_add(1), ..self }
    }

    /// Bytes for one purpose of this log-in: only whoever knows the random bytes can tell them from chance.
    pub(super) fn hashed(self, purpose: &[u8]) -> [u8; 20] {
        let log_in = self.log_ins.to_be_bytes();
        Sha1::new().chain_update(self.bytes).chain_update(log_in).chain_update(purpose).finalize().into()
    }
}
