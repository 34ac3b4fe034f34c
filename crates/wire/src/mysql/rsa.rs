//! Encryption of passwords with the server's public key: RSA with OAEP and SHA-1 (RFC 8017, section 7.1), as servers require.

use alloc::vec;
use alloc::vec::Vec;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use num_bigint::BigUint;
use sha1::{Digest, Sha1};

use super::fault::Fault;
use super::plugin::zero_terminated;

const HASH_BYTES: usize = 20;
/// Max length of a modulus; larger keys would only cost CPU time.
const MODULUS_BYTES_MAX: usize = 1024;
const MODULUS_BYTES_MIN: usize = 64;
const EXPONENT_BYTES_MAX: usize = 8;

/// Encrypts a password, XORed with the challenge, with the public key in a PEM text. `oaep_seed` must be random: an eavesdropper who can
/// predict it could test passwords against the ciphertext.
pub(super) fn encrypt(
    password: &[u8],
    seed: &[u8],
    pem: &[u8],
    oaep_seed: [u8; HASH_BYTES],
) -> Result<Vec<u8>, Fault> {
    let (modulus, exponent) = public_key(pem).ok_or(Fault::BadKey)?;
    let seed = seed.get(..HASH_BYTES).ok_or(Fault::BadSeed)?;
    let clear = zero_terminated(password);
    let mixed: Vec<u8> = clear.iter().zip(seed.iter().cycle()).map(|(byte, mask)| byte ^ mask).collect();
    let size = modulus.to_bytes_be().len();
    let padded = pad(&mixed, oaep_seed, size).ok_or(Fault::BadKey)?;
    let encrypted = BigUint::from_bytes_be(&padded).modpow(&exponent, &modulus).to_bytes_be();
    Ok([vec![0; size.saturating_sub(encrypted.len())], encrypted].concat())
}

/// OAEP padding. `None` if the message is too long for the key.
fn pad(message: &[u8], oaep_seed: [u8; HASH_BYTES], size: usize) -> Option<Vec<u8>> {
    let room = size.checked_sub(2 * HASH_BYTES + 2 + message.len())?;
    let mut block = Sha1::digest([]).to_vec();
    block.resize(HASH_BYTES + room, 0);
    block.push(1);
    block.extend_from_slice(message);
    mask(&mut block, &oaep_seed);
    let mut masked_chance = oaep_seed;
    mask(&mut masked_chance, &block);
    Some([&[0], &masked_chance[..], &block].concat())
}

/// XORs bytes with the mask that MGF1 generates from `from`.
fn mask(bytes: &mut [u8], from: &[u8]) {
    for (chunk, count) in bytes.chunks_mut(HASH_BYTES).zip(0u32..) {
        let hash = Sha1::new().chain_update(from).chain_update(count.to_be_bytes()).finalize();
        chunk.iter_mut().zip(hash).for_each(|(byte, mask)| *byte ^= mask);
    }
}

/// Modulus and exponent of an RSA key in X.509 form. `None` if the key is malformed or unsafe.
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

/// Content of a DER value with this tag, and the bytes after it.
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

/// Decodes the Base64 between the PEM boundary lines.
fn decode_pem(pem: &[u8]) -> Option<Vec<u8>> {
    let text = core::str::from_utf8(pem).ok()?;
    let (_, rest) = text.split_once("-----BEGIN PUBLIC KEY-----")?;
    let (digits, _) = rest.split_once("-----END")?;
    let digits: Vec<u8> = digits.bytes().filter(|byte| !byte.is_ascii_whitespace()).collect();
    STANDARD.decode(digits).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    const PEM: &[u8] = b"-----BEGIN PUBLIC KEY-----
MIGfMA0GCSqGSIb3DQEBAQUAA4GNADCBiQKBgQC0kLh4HFupJ1h1BVYORmyktANN
1C41QUQthZZ105o0IWOSLiVY/jZCQonlBpoVYKRJT+H6SaLDAz+oMe00ggKyidwc
B7MLxW5B5hYgQvQAGfwwBLiNofrgFbHqcms1G+fl7kZ74/5kvo37BFSbZ49iewML
LgjPEs8VhRAI2JMPpQIDAQAB
-----END PUBLIC KEY-----
";
    /// Private exponent of the test key.
    const PRIVATE: &[u8] = b"9110a3e37b84f8852fbff4258b1a7136719925f20d9da36dced4c068b133f625\
        cd052825c1359b09e8c33848f189b336c9df6fc1d15efe25a202d2f9ab71b80f\
        b6cb9d91af275f4ff13fc394b1b97fcb4bce044e1a2cf1238c583b7afb1a4fb9\
        96a25d0d231bbe1554eb573c2a078f116882edcf16d42c1209767da869424881";
    const SEED: &[u8; 20] = b"12345678901234567890";
    const OAEP_SEED: [u8; HASH_BYTES] = [7; HASH_BYTES];

    /// Decrypts with the private key, and checks and removes the padding.
    fn decrypt(encrypted: &[u8]) -> Vec<u8> {
        let (modulus, _) = public_key(PEM).expect("a key");
        let private = BigUint::parse_bytes(PRIVATE, 16).expect("a number");
        let padded = BigUint::from_bytes_be(encrypted).modpow(&private, &modulus).to_bytes_be();
        // The first byte is zero, and `to_bytes_be` omits it.
        let (oaep_seed, block) = padded.split_at(HASH_BYTES);
        let (mut oaep_seed, mut block) = (oaep_seed.to_vec(), block.to_vec());
        mask(&mut oaep_seed, &block);
        mask(&mut block, &oaep_seed);
        let (label, rest) = block.split_at(HASH_BYTES);
        assert_eq!(label, Sha1::digest([]).as_slice());
        let start = rest.iter().position(|byte| *byte != 0).expect("a one");
        assert_eq!(rest[start], 1);
        rest[start + 1..].to_vec()
    }

    #[test]
    fn private_key_decrypts_password() {
        for password in ["secret", "", "one that is longer than the challenge"] {
            let encrypted = encrypt(password.as_bytes(), SEED, PEM, OAEP_SEED).expect("a key");
            assert_eq!(encrypted.len(), 128);
            let read = decrypt(&encrypted);
            let clear: Vec<u8> =
                read.iter().zip(SEED.iter().cycle()).map(|(byte, mask)| byte ^ mask).collect();
            assert_eq!(clear, [password.as_bytes(), &[0]].concat());
        }
    }

    #[test]
    fn rejects_malformed_key_and_too_long_password() {
        assert_eq!(encrypt(&[b'x'; 86], SEED, PEM, OAEP_SEED), Err(Fault::BadKey));
        assert_eq!(encrypt(b"secret", b"short", PEM, OAEP_SEED), Err(Fault::BadSeed));
        let whole = core::str::from_utf8(PEM).expect("text");
        let even = whole.replace("JMPpQIDAQAB", "JMPpAIDAQAB");
        for pem in
            ["", "-----BEGIN PUBLIC KEY-----\n-----END", &whole[..100], &even, &whole.replace("MIGf", "MIGg")]
        {
            assert_eq!(encrypt(b"secret", SEED, pem.as_bytes(), OAEP_SEED), Err(Fault::BadKey), "{pem}");
        }
    }
}
