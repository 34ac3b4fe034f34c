//! A password for the eyes of whoever has the private key: RSA with OAEP and SHA-1 (RFC 8017, section 7.1), as servers ask.

use alloc::vec;
use alloc::vec::Vec;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use num_bigint::BigUint;
use sha1::{Digest, Sha1};

use super::fault::Fault;
use super::plugin::with_zero;

const HASH_BYTES: usize = 20;
/// Larger keys would only cost time.
const MODULUS_BYTES_MAX: usize = 1024;
const MODULUS_BYTES_MIN: usize = 64;
const EXPONENT_BYTES_MAX: usize = 8;

/// Encrypts a password, mixed with the challenge, under the key in a PEM text.
pub(super) fn encrypt(password: &[u8], seed: &[u8], pem: &[u8]) -> Result<Vec<u8>, Fault> {
    let (modulus, exponent) = public_key(pem).ok_or(Fault::BadKey)?;
    let seed = seed.get(..HASH_BYTES).ok_or(Fault::BadSeed)?;
    let clear = with_zero(password);
    let mixed: Vec<u8> = clear.iter().zip(seed.iter().cycle()).map(|(byte, mask)| byte ^ mask).collect();
    // Nobody who does not know the password can foresee this, and whoever does has nothing left to find out.
    let chance: [u8; HASH_BYTES] = Sha1::new().chain_update(&clear).chain_update(seed).finalize().into();
    let size = modulus.to_bytes_be().len();
    let padded = pad(&mixed, chance, size).ok_or(Fault::BadKey)?;
    let encrypted = BigUint::from_bytes_be(&padded).modpow(&exponent, &modulus).to_bytes_be();
    Ok([vec![0; size.saturating_sub(encrypted.len())], encrypted].concat())
}

/// The padding of OAEP; `None` if the message is too long for the key.
fn pad(message: &[u8], chance: [u8; HASH_BYTES], size: usize) -> Option<Vec<u8>> {
    let room = size.checked_sub(2 * HASH_BYTES + 2 + message.len())?;
    let mut block = Sha1::digest([]).to_vec();
    block.resize(HASH_BYTES + room, 0);
    block.push(1);
    block.extend_from_slice(message);
    mask(&mut block, &chance);
    let mut masked_chance = chance;
    mask(&mut masked_chance, &block);
    Some([&[0], &masked_chance[..], &block].concat())
}

/// Mixes with what MGF1 makes of `from`.
fn mask(bytes: &mut [u8], from: &[u8]) {
    for (chunk, count) in bytes.chunks_mut(HASH_BYTES).zip(0u32..) {
        let hash = Sha1::new().chain_update(from).chain_update(count.to_be_bytes()).finalize();
        chunk.iter_mut().zip(hash).for_each(|(byte, mask)| *byte ^= mask);
    }
}

/// Modulus and exponent of an RSA key as X.509 has them.
fn public_key(pem: &[u8]) -> Option<(BigUint, BigUint)> {
    let der = decode_pem(pem)?;
    let (key, _) = value(&der, 0x30)?;
    let (_algorithm, key) = value(key, 0x30)?;
    let (bits, _) = value(key, 0x03)?;
    let (numbers, _) = value(bits.strip_prefix(&[0])?, 0x30)?;
    let (modulus, rest) = value(numbers, 0x02)?;
    let (exponent, _) = value(rest, 0x02)?;
    let modulus = modulus.strip_prefix(&[0]).unwrap_or(modulus);
    let sizes = MODULUS_BYTES_MIN..=MODULUS_BYTES_MAX;
    let is_sound = sizes.contains(&modulus.len())
        && modulus.first().is_some_and(|byte| *byte != 0)
        && modulus.last().is_some_and(|byte| byte & 1 == 1)
        && (1..=EXPONENT_BYTES_MAX).contains(&exponent.len());
    is_sound.then(|| (BigUint::from_bytes_be(modulus), BigUint::from_bytes_be(exponent)))
}

/// The content of a DER value with this tag, and what follows it.
fn value(bytes: &[u8], tag: u8) -> Option<(&[u8], &[u8])> {
    let [found, length, rest @ ..] = bytes else { return None };
    if *found != tag {
        return None;
    }
    let (length, rest) = match length {
        0..=0x7f => (usize::from(*length), rest),
        0x81..=0x84 => {
            let (digits, rest) = rest.split_at_checked(usize::from(length & 0x7f))?;
            (digits.iter().fold(0, |length, digit| length << 8 | usize::from(*digit)), rest)
        }
        _ => return None,
    };
    rest.split_at_checked(length)
}

/// The bytes between the first two lines of dashes.
fn decode_pem(pem: &[u8]) -> Option<Vec<u8>> {
    let text = core::str::from_utf8(pem).ok()?;
    let (_, rest) = text.split_once("-----BEGIN PUBLIC KEY-----")?;
    let (digits, _) = rest.split_once("-----END")?;
    let digits: Vec<u8> = digits.bytes().filter(|byte| !byte.is_ascii_whitespace()).collect();
    STANDARD.decode(digits).ok()
}
