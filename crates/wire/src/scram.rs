//! Client of SCRAM-SHA-256 and SCRAM-SHA-1 (RFC 5802, RFC 7677), which may be bound to a TLS connection.

use alloc::borrow::ToOwned as _;
use alloc::format;
use alloc::string::{String, ToString as _};
use alloc::vec::Vec;
use core::fmt;
use core::str;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use sha1::Sha1;
use sha2::{Digest as _, Sha256};

use crate::ErrorClass;
use crate::blame::PeerFault;
use crate::channel_binding;
use crate::sql::Stretcher;

/// Max rounds that a session computes without a [`Stretcher`]. PostgreSQL's default is 4096.
const ROUNDS_MAX: u32 = 100_000;
const BLOCK_BYTES: usize = 64;

/// Hash. A SHA-1 hash is followed by zeros.
type Hash = [u8; 32];

/// A SASL mechanism, by its hash function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mechanism {
    /// SCRAM-SHA-1.
    Sha1,
    /// SCRAM-SHA-256.
    Sha256,
}

impl Mechanism {
    /// Mechanism with this name. `None` if it is another one.
    pub(crate) fn of(name: &str) -> Option<Self> {
        [Self::Sha1, Self::Sha256].into_iter().find(|mechanism| mechanism.name() == name)
    }

    /// Name of the mechanism in SASL.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Sha1 => "SCRAM-SHA-1",
            Self::Sha256 => "SCRAM-SHA-256",
        }
    }

    /// Name of the mechanism with channel binding.
    pub(crate) const fn bound_name(self) -> &'static str {
        match self {
            Self::Sha1 => "SCRAM-SHA-1-PLUS",
            Self::Sha256 => "SCRAM-SHA-256-PLUS",
        }
    }

    const fn hash_bytes(self) -> usize {
        match self {
            Self::Sha1 => 20,
            Self::Sha256 => 32,
        }
    }

    fn digest(self, bytes: &[u8]) -> Hash {
        let mut hasher = Hasher::of(self);
        hasher.update(bytes);
        hasher.finish()
    }
}

/// Hash function with the bytes so far.
#[derive(Clone)]
enum Hasher {
    Sha1(Sha1),
    Sha256(Sha256),
}

impl Hasher {
    fn of(mechanism: Mechanism) -> Self {
        match mechanism {
            Mechanism::Sha1 => Self::Sha1(Sha1::new()),
            Mechanism::Sha256 => Self::Sha256(Sha256::new()),
        }
    }

    fn update(&mut self, bytes: &[u8]) {
        match self {
            Self::Sha1(hasher) => hasher.update(bytes),
            Self::Sha256(hasher) => hasher.update(bytes),
        }
    }

    fn finish(self) -> Hash {
        match self {
            Self::Sha1(hasher) => {
                let mut hash = [0; 32];
                hash[..20].copy_from_slice(&hasher.finalize());
                hash
            }
            Self::Sha256(hasher) => hasher.finalize().into(),
        }
    }
}

/// A rule of SCRAM that the server broke, or a reason not to log in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    OutOfTurn,
    TooManyRounds,
    Malformed,
    ForeignNonce,
    Rejected,
    BadSignature,
    NotProven,
}

impl Fault {
    /// Class, code, and message. Codes are those that sessions of PostgreSQL have always reported.
    const fn parts(self) -> (ErrorClass, u32, &'static str) {
        let (protocol, log_in) = (ErrorClass::ProtocolError, ErrorClass::LoginRefused);
        match self {
            Self::OutOfTurn => (protocol, 6, "the server sent a message out of turn"),
            Self::TooManyRounds => (
                log_in,
                25,
                "the server asks for more rounds of SCRAM than can be computed within the connect time-out",
            ),
            Self::Malformed => (protocol, 26, "the server's part of the log-in by SCRAM is malformed"),
            Self::ForeignNonce => (protocol, 27, "the server's nonce does not begin with the client's"),
            Self::Rejected => (log_in, 28, "the server rejected the log-in by SCRAM"),
            Self::BadSignature => {
                (log_in, 29, "the server does not know the password: it is not the server that it should be")
            }
            Self::NotProven => {
                (log_in, 30, "the server ended the log-in by SCRAM without proof that it knows the password")
            }
        }
    }

    pub(crate) fn plain(self) -> PeerFault {
        let (class, code, sentence) = self.parts();
        PeerFault::new(class, code, sentence)
    }

    fn with_peer_message(self, server_error: impl Into<String>) -> PeerFault {
        self.plain().with_peer_message(server_error)
    }
}

/// State of a log-in.
pub(crate) struct Scram {
    mechanism: Mechanism,
    nonce: String,
    /// GS2 header, which states whether the log-in is bound.
    header: String,
    /// Data of the binding; empty if there is none.
    bound_to: Vec<u8>,
    /// The client's first message, without the GS2 header.
    first: String,
    /// Signature that the server must send. `None` before the client's proof was sent.
    server_signature: Option<Hash>,
    is_proven: bool,
}

/// Keys that are slow to compute. Reused for equal salt and rounds.
pub(crate) struct Keys {
    mechanism: Mechanism,
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
    /// Begins a log-in. The user's name may be empty if the server knows it already. The nonce must be printable, and must not contain a
    /// comma.
    pub(crate) fn new(mechanism: Mechanism, user: &str, nonce: String) -> Self {
        let first = format!("n={user},r={nonce}");
        let header = "n,,".to_owned();
        Self {
            mechanism,
            nonce,
            header,
            bound_to: Vec::new(),
            first,
            server_signature: None,
            is_proven: false,
        }
    }

    /// Binds the log-in to the TLS connection of a server with this hash of its certificate.
    #[must_use]
    pub(crate) fn bound_to(self, certificate_hash: Vec<u8>) -> Self {
        Self { header: format!("p={},,", channel_binding::TYPE), bound_to: certificate_hash, ..self }
    }

    /// Declares that the client supports channel binding. A server that offered it then detects that the offer was removed.
    #[must_use]
    pub(crate) fn without_binding_offer(self) -> Self {
        Self { header: "y,,".to_owned(), ..self }
    }

    /// Whether the log-in is bound to the TLS connection.
    pub(crate) fn is_bound(&self) -> bool {
        !self.bound_to.is_empty()
    }

    /// Mechanism of the log-in.
    pub(crate) fn mechanism(&self) -> Mechanism {
        self.mechanism
    }

    /// The client's first message.
    pub(crate) fn first(&self) -> String {
        [self.header.as_str(), &self.first].concat()
    }

    /// The client's reply to the server's first message. Keys of an earlier log-in are used if they fit, or replaced.
    ///
    /// A password that is not ASCII is used without normalization (SASLprep, RFC 4013).
    pub(crate) fn answer(
        &mut self,
        server_first: &[u8],
        password: &str,
        stretcher: Option<&Stretcher>,
        keys: &mut Option<Keys>,
    ) -> Result<String, PeerFault> {
        if self.server_signature.is_some() {
            return Err(Fault::OutOfTurn.plain());
        }
        let (server_first, nonce, salt, rounds) = read_first(server_first)?;
        if !nonce.starts_with(&self.nonce) || nonce.len() == self.nonce.len() {
            return Err(Fault::ForeignNonce.plain());
        }
        let keys = match keys.take().filter(|keys| keys.apply_to(self.mechanism, &salt, rounds)) {
            Some(known) => keys.insert(known),
            None => keys.insert(Keys::derive(self.mechanism, password, salt, rounds, stretcher)?),
        };
        let header = STANDARD.encode([self.header.as_bytes(), &self.bound_to].concat());
        let last = format!("c={header},r={nonce}");
        let message = [&self.first, server_first, &last].join(",");
        let length = self.mechanism.hash_bytes();
        let stored = self.mechanism.digest(&keys.client[..length]);
        let signature = Hmac::keyed(self.mechanism, &stored[..length]).of(&[message.as_bytes()]);
        let mut proof = keys.client;
        proof.iter_mut().zip(signature).for_each(|(byte, other)| *byte ^= other);
        self.server_signature =
            Some(Hmac::keyed(self.mechanism, &keys.server[..length]).of(&[message.as_bytes()]));
        Ok(format!("{last},p={}", STANDARD.encode(&proof[..length])))
    }

    /// Checks the server's proof that it knows the password.
    pub(crate) fn verify(&mut self, server_last: &[u8]) -> Result<(), PeerFault> {
        let text = str::from_utf8(server_last).map_err(|_| Fault::Malformed.plain())?;
        let value = text.split(',').next().unwrap_or_default();
        if let Some(reason) = value.strip_prefix("e=") {
            return Err(Fault::Rejected.with_peer_message(reason.chars().take(100).collect::<String>()));
        }
        let signature = value.strip_prefix("v=").and_then(|value| STANDARD.decode(value).ok());
        let signature = signature.ok_or_else(|| Fault::Malformed.plain())?;
        let Some(expected) = self.server_signature.filter(|_| !self.is_proven) else {
            return Err(Fault::OutOfTurn.plain());
        };
        let expected = &expected[..self.mechanism.hash_bytes()];
        // Constant-time comparison, so that its duration does not reveal how many bytes are right.
        let differing = expected.iter().zip(&signature).fold(0, |sum, (byte, other)| sum | (byte ^ other));
        if signature.len() != expected.len() || differing != 0 {
            return Err(Fault::BadSignature.plain());
        }
        self.is_proven = true;
        Ok(())
    }

    /// Whether the server has proved that it knows the password.
    pub(crate) fn is_proven(&self) -> bool {
        self.is_proven
    }
}

/// Parses the server's first message: its text, the nonce, the salt, and the rounds.
fn read_first(bytes: &[u8]) -> Result<(&str, &str, Vec<u8>, u32), PeerFault> {
    let bad = || Fault::Malformed.plain();
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
        Ok(rounds) => Ok((text, nonce, salt, rounds)),
        Err(_) => Err(too_many(rounds)),
    }
}

fn too_many(rounds: &str) -> PeerFault {
    Fault::TooManyRounds.with_peer_message(rounds.chars().take(20).collect::<String>())
}

impl Keys {
    fn apply_to(&self, mechanism: Mechanism, salt: &[u8], rounds: u32) -> bool {
        (self.mechanism, self.salt.as_slice(), self.rounds) == (mechanism, salt, rounds)
    }

    fn derive(
        mechanism: Mechanism,
        password: &str,
        salt: Vec<u8>,
        rounds: u32,
        stretcher: Option<&Stretcher>,
    ) -> Result<Self, PeerFault> {
        let stretched = match stretcher {
            Some(Stretcher(stretcher)) => stretcher.stretched(mechanism, password, &salt, rounds),
            None if rounds <= ROUNDS_MAX => {
                Stretching::begin(mechanism, password, &salt, rounds).resume(rounds)
            }
            None => None,
        };
        let stretched = stretched.ok_or_else(|| too_many(&rounds.to_string()))?;
        let stretched = Hmac::keyed(mechanism, &stretched[..mechanism.hash_bytes()]);
        let (client, server) = (stretched.of(&[b"Client Key"]), stretched.of(&[b"Server Key"]));
        Ok(Self { mechanism, salt, rounds, client, server })
    }
}

/// PBKDF2 (RFC 8018) with the HMAC of a mechanism, limited to its first block, and computed some rounds at a time.
pub struct Stretching {
    hash_bytes: usize,
    keyed: Hmac,
    round: Hash,
    sum: Hash,
    rounds_left: u32,
}

impl fmt::Debug for Stretching {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Stretching(secret)")
    }
}

impl Stretching {
    /// Computes the first round. There is always at least one.
    pub fn begin(mechanism: Mechanism, password: &str, salt: &[u8], rounds: u32) -> Self {
        let keyed = Hmac::keyed(mechanism, password.as_bytes());
        let round = keyed.of(&[salt, &1u32.to_be_bytes()]);
        let hash_bytes = mechanism.hash_bytes();
        Self { hash_bytes, keyed, round, sum: round, rounds_left: rounds.saturating_sub(1) }
    }

    /// Computes up to `rounds_max` further rounds. Returns the stretched password after the last round; `None` before.
    pub fn resume(&mut self, rounds_max: u32) -> Option<Hash> {
        let rounds = self.rounds_left.min(rounds_max);
        for _ in 0..rounds {
            self.round = self.keyed.of(&[&self.round[..self.hash_bytes]]);
            self.sum.iter_mut().zip(self.round).for_each(|(byte, other)| *byte ^= other);
        }
        self.rounds_left -= rounds;
        (self.rounds_left == 0).then_some(self.sum)
    }
}

/// HMAC (RFC 2104) with a precomputed key, so that a short message costs only two blocks.
struct Hmac {
    inner: Hasher,
    outer: Hasher,
    hash_bytes: usize,
}

impl Hmac {
    fn keyed(mechanism: Mechanism, key: &[u8]) -> Self {
        let mut block = [0; BLOCK_BYTES];
        if key.len() > BLOCK_BYTES {
            block[..32].copy_from_slice(&mechanism.digest(key));
        } else {
            block[..key.len()].copy_from_slice(key);
        }
        let (mut inner, mut outer) = (Hasher::of(mechanism), Hasher::of(mechanism));
        inner.update(&block.map(|byte| byte ^ 0x36));
        outer.update(&block.map(|byte| byte ^ 0x5c));
        Self { inner, outer, hash_bytes: mechanism.hash_bytes() }
    }

    fn of(&self, parts: &[&[u8]]) -> Hash {
        let mut inner = self.inner.clone();
        parts.iter().for_each(|part| inner.update(part));
        let mut outer = self.outer.clone();
        outer.update(&inner.finish()[..self.hash_bytes]);
        outer.finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NONCE: &str = "rOprNGfwEbeRWgbNEkqO";
    const SERVER_FIRST: &[u8] =
        b"r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096";
    const SERVER_LAST: &[u8] = b"v=6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4=";

    fn hex(bytes: &[u8]) -> String {
        bytes.iter().map(|byte| format!("{byte:02x}")).collect()
    }

    fn fault(result: Result<String, PeerFault>) -> &'static str {
        result.expect_err("a fault").sentence
    }

    #[test]
    fn hmac_matches_rfc_4231() {
        for (key, text, value) in [
            (
                &[0x0b; 20][..],
                &b"Hi There"[..],
                "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7",
            ),
            (
                b"Jefe",
                b"what do ya want for nothing?",
                "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843",
            ),
            (
                &[0xaa; 131],
                b"Test Using Larger Than Block-Size Key - Hash Key First",
                "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54",
            ),
        ] {
            let (head, tail) = text.split_at(3);
            assert_eq!(hex(&Hmac::keyed(Mechanism::Sha256, key).of(&[head, tail])), value);
        }
    }

    #[test]
    fn pbkdf2_matches_rfc_7914() {
        let first_half = "55ac046e56e3089fec1691c22544b605f94185216dde0465e68b9d57c20dacbc";
        assert_eq!(
            Stretching::begin(Mechanism::Sha256, "passwd", b"salt", 1)
                .resume(0)
                .map(|hash| hex(&hash))
                .unwrap(),
            first_half
        );
    }

    #[test]
    fn stretching_in_steps_gives_same_result() {
        let whole = Stretching::begin(Mechanism::Sha256, "pencil", b"salt", 100).resume(99).unwrap();
        let mut stretching = Stretching::begin(Mechanism::Sha256, "pencil", b"salt", 100);
        for _ in 0..9 {
            assert_eq!(stretching.resume(10), None);
        }
        assert_eq!(stretching.resume(10), Some(whole));
    }

    #[test]
    fn exchange_matches_rfc_7677() {
        let mut keys = None;
        for _ in 0..2 {
            let mut scram = Scram::new(Mechanism::Sha256, "user", NONCE.into());
            assert_eq!(scram.first(), "n,,n=user,r=rOprNGfwEbeRWgbNEkqO");
            assert_eq!(
                scram.answer(SERVER_FIRST, "pencil", None, &mut keys).unwrap(),
                "c=biws,r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,\
                 p=dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ="
            );
            assert!(!scram.is_proven());
            scram.verify(SERVER_LAST).unwrap();
            assert!(scram.is_proven());
        }
    }

    /// The example of RFC 5802, section 5.
    #[test]
    fn exchange_with_sha_1_matches_rfc_5802() {
        let mut scram = Scram::new(Mechanism::Sha1, "user", "fyko+d2lbbFgONRv9qkxdawL".into());
        let first = b"r=fyko+d2lbbFgONRv9qkxdawL3rfcNHYJY1ZVvWVs7j,s=QSXCR+Q6sek8bf92,i=4096";
        assert_eq!(
            scram.answer(first, "pencil", None, &mut None).unwrap(),
            "c=biws,r=fyko+d2lbbFgONRv9qkxdawL3rfcNHYJY1ZVvWVs7j,p=v0X8v3Bz2T0CJGbJQyF0X+HI4Ts="
        );
        assert!(scram.verify(b"v=rmF9pqV8S7suAoZWja4dJRkFsKU").is_err(), "one byte short");
        scram.verify(b"v=rmF9pqV8S7suAoZWja4dJRkFsKQ=").unwrap();
    }

    #[test]
    fn derives_keys_again_for_another_salt() {
        let mut keys = None;
        Scram::new(Mechanism::Sha256, "", "a".into())
            .answer(b"r=ab,s=AAAA,i=2", "pencil", None, &mut keys)
            .unwrap();
        let first = keys.as_ref().map(|keys| keys.client);
        Scram::new(Mechanism::Sha256, "", "a".into())
            .answer(b"r=ab,s=AAAB,i=2", "pencil", None, &mut keys)
            .unwrap();
        assert_ne!(keys.map(|keys| keys.client), first);
    }

    #[test]
    fn rejects_malformed_and_hostile_server_messages() {
        let answer = |text: &str| {
            Scram::new(Mechanism::Sha256, "", "ours".into()).answer(
                text.as_bytes(),
                "pencil",
                None,
                &mut None,
            )
        };
        for text in ["", "r=oursX", "s=AAAA,r=oursX,i=1", "m=x,r=oursX,s=AAAA,i=1", "r=oursX,s=?,i=1"] {
            assert_eq!(fault(answer(text)), Fault::Malformed.plain().sentence, "{text}");
        }
        for rounds in ["", "0", "-1", "+1", "1e3", "4 096"] {
            let text = format!("r=oursX,s=AAAA,i={rounds}");
            assert_eq!(fault(answer(&text)), Fault::Malformed.plain().sentence, "{text}");
        }
        for rounds in ["100001", "2147483648", "99999999999999999999999999"] {
            let told = answer(&format!("r=oursX,s=AAAA,i={rounds}")).expect_err("too many");
            assert_eq!(told.class, ErrorClass::LoginRefused);
            assert!(told.message().contains(&rounds[..rounds.len().min(20)]), "{}", told.message());
        }
        for nonce in ["ours", "theirs", "ourX"] {
            let text = format!("r={nonce},s=AAAA,i=1");
            assert_eq!(fault(answer(&text)), Fault::ForeignNonce.plain().sentence, "{text}");
        }
    }

    #[test]
    fn rejects_server_without_valid_signature() {
        let mut scram = Scram::new(Mechanism::Sha256, "user", NONCE.into());
        assert!(scram.verify(SERVER_LAST).is_err(), "nothing was asked yet");
        scram.answer(SERVER_FIRST, "pencil", None, &mut None).unwrap();
        assert!(scram.answer(SERVER_FIRST, "pencil", None, &mut None).is_err(), "asked twice");
        for last in ["v=", "v=AAAA", "v=6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G8=", "", "x=y", "v=?"] {
            assert!(scram.verify(last.as_bytes()).is_err() && !scram.is_proven(), "{last}");
        }
        let refused = scram.verify(b"e=invalid-proof").expect_err("refused");
        assert_eq!(
            (refused.class, refused.said.as_deref()),
            (ErrorClass::LoginRefused, Some("invalid-proof"))
        );
        scram.verify(SERVER_LAST).unwrap();
    }
}
