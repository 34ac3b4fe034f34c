//! Password scrambles: each authentication plugin combines the password with the server's challenge in its own way.

use alloc::vec::Vec;

use curve25519_dalek::{EdwardsPoint, Scalar};
use sha1::{Digest, Sha1};
use sha2::{Sha256, Sha512};

/// Length of the challenge for [`native`] and [`sha2`].
pub(super) const SEED_BYTES: usize = 20;
/// Length of the challenge for [`ed25519`].
pub(super) const ED25519_SEED_BYTES: usize = 32;

/// `mysql_native_password`: SHA1(password) ⊕ SHA1(seed · SHA1(SHA1(password))).
pub(super) fn native(password: &[u8], seed: &[u8; SEED_BYTES]) -> Vec<u8> {
    let once = Sha1::digest(password);
    let twice = Sha1::digest(once);
    xor(&once, &Sha1::new().chain_update(seed).chain_update(twice).finalize())
}

/// `caching_sha2_password`: SHA256(password) ⊕ SHA256(SHA256(SHA256(password)) · seed).
pub(super) fn sha2(password: &[u8], seed: &[u8; SEED_BYTES]) -> Vec<u8> {
    let once = Sha256::digest(password);
    let twice = Sha256::digest(once);
    xor(&once, &Sha256::new().chain_update(twice).chain_update(seed).finalize())
}

/// `client_ed25519`: signature of the seed as in RFC 8032, except that the private key is the password, of any length.
pub(super) fn ed25519(password: &[u8], seed: &[u8; ED25519_SEED_BYTES]) -> [u8; 64] {
    let (scalar, prefix) = ed25519_key(password);
    let public = EdwardsPoint::mul_base(&scalar).compress();
    let nonce = scalar_from_hash(Sha512::new().chain_update(prefix).chain_update(seed));
    let point = EdwardsPoint::mul_base(&nonce).compress();
    let hash = scalar_from_hash(
        Sha512::new().chain_update(point.as_bytes()).chain_update(public.as_bytes()).chain_update(seed),
    );
    let mut signature = [0; 64];
    signature[..32].copy_from_slice(point.as_bytes());
    signature[32..].copy_from_slice((nonce + hash * scalar).as_bytes());
    signature
}

/// Secret scalar of a password, and the prefix that makes nonces unpredictable.
fn ed25519_key(password: &[u8]) -> (Scalar, [u8; 32]) {
    let hash: [u8; 64] = Sha512::digest(password).into();
    let (mut scalar, mut prefix) = ([0; 32], [0; 32]);
    scalar.copy_from_slice(&hash[..32]);
    prefix.copy_from_slice(&hash[32..]);
    scalar[0] &= 0b1111_1000;
    scalar[31] = scalar[31] & 0b0111_1111 | 0b0100_0000;
    (Scalar::from_bytes_mod_order(scalar), prefix)
}

fn scalar_from_hash(hash: Sha512) -> Scalar {
    Scalar::from_bytes_mod_order_wide(&hash.finalize().into())
}

fn xor(a: &[u8], b: &[u8]) -> Vec<u8> {
    a.iter().zip(b).map(|(a, b)| a ^ b).collect()
}

#[cfg(test)]
mod tests {
    use alloc::format;
    use alloc::string::String;

    use curve25519_dalek::edwards::CompressedEdwardsY;

    use super::*;

    fn hex(bytes: &[u8]) -> String {
        bytes.iter().map(|byte| format!("{byte:02x}")).collect()
    }

    /// Test vectors of other clients: the first from PHP's, the second from Go's.
    #[test]
    fn native_scramble_matches_other_clients() {
        let mixed = native(b"hello", b"12345678901234567890");
        assert_eq!(mixed, b"}PQn\x0es\x0b\x0b\x1b\x12\xfb\xaa\x1b\xa0\x87o=\xb2\xc4\xdd");
        let seed = [70, 114, 92, 94, 1, 38, 11, 116, 63, 114, 23, 101, 126, 103, 26, 95, 81, 17, 24, 21];
        assert_eq!(hex(&native(b"secret", &seed)), "35b18c9ffbbd7f356dfcac32d3c0f0a41a30cf2d");
    }

    #[test]
    fn sha2_scramble_matches_other_clients() {
        let seed = [10, 47, 74, 111, 75, 73, 34, 48, 88, 76, 114, 74, 37, 13, 3, 80, 82, 2, 23, 21];
        for (password, mixed) in [
            ("secret", "f490e76f66d9d86665ce54d98c78d0acfe2fb0b08b423da807144873d30b312c"),
            ("secret2", "abc3934a012cf342e876071c8ee202de51785b430258a7a0138bc79c4d800bc6"),
        ] {
            assert_eq!(hex(&sha2(password.as_bytes(), &seed)), mixed);
        }
    }

    /// Base64 without padding.
    fn base64(bytes: &[u8]) -> String {
        const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
        let mut text = String::new();
        for chunk in bytes.chunks(3) {
            let bits =
                chunk.iter().fold(0u32, |bits, byte| bits << 8 | u32::from(*byte)) << (8 * (3 - chunk.len()));
            let digits = (0..=chunk.len()).map(|place| (bits >> (18 - 6 * place)) as usize & 63);
            text.extend(digits.map(|digit| char::from(DIGITS[digit])));
        }
        text
    }

    /// Test vectors from MariaDB's function `ed25519_password`.
    #[test]
    fn ed25519_public_keys_match_mariadb() {
        for (password, public) in [
            ("foo", "vubFBzIrapbfHct1/J72dnUryz5VS7lA6XHH8sIx4TI"),
            ("foobar", "qv2mG6HWCuy32Slb5xhV4THStewNz2VINVPbgk+XAJ8"),
            ("secret", "ZIgUREUg5PVgQ6LskhXmO+eZLS0nC8be6HPjYWR4YJY"),
        ] {
            let (scalar, _prefix) = ed25519_key(password.as_bytes());
            assert_eq!(base64(EdwardsPoint::mul_base(&scalar).compress().as_bytes()), public);
        }
    }

    #[test]
    fn ed25519_signature_verifies_with_public_key() {
        let seed = *b"a challenge that is as long as 32";
        let seed: [u8; 32] = seed[..32].try_into().expect("32 bytes");
        let signature = ed25519(b"foobar", &seed);
        let (point, rest): (&[u8; 32], &[u8]) = signature.split_first_chunk().expect("64 bytes");
        let (scalar, _prefix) = ed25519_key(b"foobar");
        let public = EdwardsPoint::mul_base(&scalar);
        let hash = scalar_from_hash(
            Sha512::new().chain_update(point).chain_update(public.compress().as_bytes()).chain_update(seed),
        );
        let answer =
            Scalar::from_canonical_bytes(rest.try_into().expect("32 bytes")).expect("a reduced number");
        let point = CompressedEdwardsY(*point).decompress().expect("a point of the curve");
        assert_eq!(EdwardsPoint::mul_base(&answer), point + public * hash);
    }
}
