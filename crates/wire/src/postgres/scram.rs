//! SCRAM-SHA-256 (RFC 5802, RFC 7677) without channel binding.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;
use core::str;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest as _, Sha256};

use super::fault::Fault;
use crate::blame::PeerFault;

/// The name of the mechanism.
pub(super) const MECHANISM: &str = "SCRAM-SHA-256";
/// Rounds that a server may ask for; PostgreSQL asks for 4096 unless told otherwise.
const ROUNDS_MAX: u32 = 100_000;
const BLOCK_BYTES: usize = 64;

type Hash = [u8; 32];

/// A log-in under way.
pub(super) struct Scram {
    nonce: String,
    /// What was said so far, without the header.
    first: String,
    /// What the server must prove that it knows, once it was asked.
    server_signature: Option<Hash>,
    is_proven: bool,
}

/// What takes long to compute; the same for the same salt, rounds and password.
pub(super) struct Keys {
    salt: Vec<u8>,
    rounds: u32,
    client: Hash,
    server: Hash,
}

impl fmt::Debug for Scram {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Scram(secret)")
    }
}

impl Scram {
    /// The user's name may be empty where the server knows it already. The nonce must be printable, and hold no comma.
    pub(super) fn new(user: &str, nonce: String) -> Self {
        let first = format!("n={user},r={nonce}");
        Self { nonce, first, server_signature: None, is_proven: false }
    }

    /// The client's first message.
    pub(super) fn first(&self) -> String {
        ["n,,", &self.first].concat()
    }

    /// The client's answer to the server's first message. Keys of an earlier log-in are used if they fit, or replaced.
    ///
    /// A password that is not ASCII goes in as it is, without being normalised (RFC 4013).
    pub(super) fn answer(
        &mut self,
        server_first: &[u8],
        password: &str,
        keys: &mut Option<Keys>,
    ) -> Result<String, PeerFault> {
        if self.server_signature.is_some() {
            return Err(Fault::OutOfTurn.plain());
        }
        let (server_first, nonce, salt, rounds) = read_first(server_first)?;
        if !nonce.starts_with(&self.nonce) || nonce.len() == self.nonce.len() {
            return Err(Fault::ForeignNonce.plain());
        }
        let keys = match keys.take().filter(|keys| keys.salt == salt && keys.rounds == rounds) {
            Some(known) => keys.insert(known),
            None => keys.insert(Keys::derive(password.as_bytes(), salt, rounds)),
        };
        let last = format!("c=biws,r={nonce}");
        let message = [&self.first, server_first, &last].join(",");
        let stored = Sha256::digest(keys.client);
        let signature = Hmac::keyed(&stored).of(&[message.as_bytes()]);
        let mut proof = keys.client;
        proof.iter_mut().zip(signature).for_each(|(byte, other)| *byte ^= other);
        self.server_signature = Some(Hmac::keyed(&keys.server).of(&[message.as_bytes()]));
        Ok(format!("{last},p={}", STANDARD.encode(proof)))
    }

    /// Takes the server's proof that it knows the password.
    pub(super) fn verify(&mut self, server_last: &[u8]) -> Result<(), PeerFault> {
        let text = str::from_utf8(server_last).map_err(|_| Fault::BadScram.plain())?;
        let value = text.split(',').next().unwrap_or_default();
        if let Some(reason) = value.strip_prefix("e=") {
            return Err(Fault::ScramRefused.saying(reason.chars().take(100).collect::<String>()));
        }
        let signature = value.strip_prefix("v=").and_then(|value| STANDARD.decode(value).ok());
        let signature = signature.ok_or(Fault::BadScram.plain())?;
        let Some(expected) = self.server_signature.filter(|_| !self.is_proven) else {
            return Err(Fault::OutOfTurn.plain());
        };
        // How long this takes must not tell how much of it is right.
        let differing = expected.iter().zip(&signature).fold(0, |sum, (byte, other)| sum | (byte ^ other));
        if signature.len() != expected.len() || differing != 0 {
            return Err(Fault::BadSignature.plain());
        }
        self.is_proven = true;
        Ok(())
    }

    /// Whether the server has proved that it knows the password.
    pub(super) fn is_proven(&self) -> bool {
        self.is_proven
    }
}

/// The server's first message: as it is, its nonce, the salt and the rounds.
fn read_first(bytes: &[u8]) -> Result<(&str, &str, Vec<u8>, u32), PeerFault> {
    let bad = || Fault::BadScram.plain();
    let text = str::from_utf8(bytes).map_err(|_| bad())?;
    let mut parts = text.split(',');
    let mut next = |name: &str| parts.next().and_then(|part| part.strip_prefix(name)).ok_or_else(bad);
    let (nonce, salt, rounds) = (next("r=")?, next("s=")?, next("i=")?);
    let salt = STANDARD.decode(salt).map_err(|_| bad())?;
    if salt.is_empty() || rounds.is_empty() || !rounds.bytes().all(|digit| digit.is_ascii_digit()) {
        return Err(bad());
    }
    match rounds.parse() {
        Ok(0) => Err(bad()),
        Ok(rounds) if rounds <= ROUNDS_MAX => Ok((text, nonce, salt, rounds)),
        _ => Err(Fault::TooManyRounds.saying(rounds.chars().take(20).collect::<String>())),
    }
}

impl Keys {
    fn derive(password: &[u8], salt: Vec<u8>, rounds: u32) -> Self {
        let salted = Hmac::keyed(&salted(password, &salt, rounds));
        let (client, server) = (salted.of(&[b"Client Key"]), salted.of(&[b"Server Key"]));
        Self { salt, rounds, client, server }
    }
}

/// PBKDF2 (RFC 8018) with HMAC-SHA-256, its first block.
fn salted(password: &[u8], salt: &[u8], rounds: u32) -> Hash {
    let keyed = Hmac::keyed(password);
    let mut round = keyed.of(&[salt, &1u32.to_be_bytes()]);
    let mut sum = round;
    for _ in 1..rounds {
        round = keyed.of(&[&round[..]]);
        sum.iter_mut().zip(round).for_each(|(byte, other)| *byte ^= other);
    }
    sum
}

/// HMAC-SHA-256 (RFC 2104), its key taken in: what is left to do for a message is two blocks.
struct Hmac {
    inner: Sha256,
    outer: Sha256,
}

impl Hmac {
    fn keyed(key: &[u8]) -> Self {
        let mut block = [0; BLOCK_BYTES];
        if key.len() > BLOCK_BYTES {
            block[..32].copy_from_slice(&Sha256::digest(key));
        } else {
            block[..key.len()].copy_from_slice(key);
        }
        let inner = Sha256::new_with_prefix(block.map(|byte| byte ^ 0x36));
        let outer = Sha256::new_with_prefix(block.map(|byte| byte ^ 0x5c));
        Self { inner, outer }
    }

    fn of(&self, parts: &[&[u8]]) -> Hash {
        let mut inner = self.inner.clone();
        parts.iter().for_each(|part| inner.update(part));
        self.outer.clone().chain_update(inner.finalize()).finalize().into()
    }
}
