//! The supported authentication plugins, by their names in the protocol.

use alloc::vec::Vec;

use super::fault::Fault;
use super::scramble;

/// An authentication plugin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Plugin {
    Native,
    CachingSha2,
    Sha256,
    Ed25519,
    Clear,
}

impl Plugin {
    const ALL: [Self; 5] = [Self::Native, Self::CachingSha2, Self::Sha256, Self::Ed25519, Self::Clear];

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Native => "mysql_native_password",
            Self::CachingSha2 => "caching_sha2_password",
            Self::Sha256 => "sha256_password",
            Self::Ed25519 => "client_ed25519",
            Self::Clear => "mysql_clear_password",
        }
    }

    pub(super) fn named(name: &[u8]) -> Option<Self> {
        Self::ALL.into_iter().find(|plugin| plugin.name().as_bytes() == name)
    }

    /// Response to a challenge for a password that is not empty.
    pub(super) fn answer(self, password: &[u8], seed: &[u8]) -> Result<Vec<u8>, Fault> {
        match self {
            Self::Native => Ok(scramble::native(password, challenge(seed)?)),
            Self::CachingSha2 => Ok(scramble::sha2(password, challenge(seed)?)),
            Self::Ed25519 => Ok(scramble::ed25519(password, challenge(seed)?).to_vec()),
            Self::Sha256 | Self::Clear => Ok(zero_terminated(password)),
        }
    }

    /// Whether [`Plugin::answer`] reveals the password.
    pub(super) fn reveals_password(self) -> bool {
        matches!(self, Self::Sha256 | Self::Clear)
    }
}

/// Takes the challenge without the zero that follows it.
fn challenge<const N: usize>(seed: &[u8]) -> Result<&[u8; N], Fault> {
    seed.first_chunk().ok_or(Fault::BadSeed)
}

/// Password with its terminating zero, as it is sent in plain text.
pub(super) fn zero_terminated(password: &[u8]) -> Vec<u8> {
    [password, &[0]].concat()
}
