//! Hash of a server's certificate, to which a log-in is bound (`tls-server-end-point` of RFC 5929).

use alloc::vec::Vec;

use sha2::{Digest as _, Sha256, Sha384, Sha512};

/// Name of the binding in SCRAM.
pub(crate) const TYPE: &str = "tls-server-end-point";

const SEQUENCE: u8 = 0x30;
const OBJECT_IDENTIFIER: u8 = 6;

/// Beginnings of the object identifiers of signature algorithms: RSA (PKCS #1), and ECDSA.
const RSA: &[u8] = &[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 1, 1];
const ECDSA: &[u8] = &[0x2a, 0x86, 0x48, 0xce, 0x3d, 4];

/// Hashes a DER-encoded certificate with the hash function of its signature; SHA-256 replaces MD5 and SHA-1. `None` if the certificate is
/// malformed, or if its signature algorithm names no hash function, such as Ed25519.
pub(crate) fn certificate_hash(der: &[u8]) -> Option<Vec<u8>> {
    let (certificate, _) = contents(der, SEQUENCE)?;
    let (_, after) = contents(certificate, SEQUENCE)?;
    let (algorithm, _) = contents(after, SEQUENCE)?;
    let (identifier, _) = contents(algorithm, OBJECT_IDENTIFIER)?;
    let number = identifier.strip_prefix(RSA).or(identifier.strip_prefix(ECDSA))?;
    let is_ecdsa = identifier.starts_with(ECDSA);
    match (is_ecdsa, number) {
        (false, [4 | 5 | 11]) | (true, [1] | [3, 2]) => Some(Sha256::digest(der).to_vec()),
        (false, [12]) | (true, [3, 3]) => Some(Sha384::digest(der).to_vec()),
        (false, [13]) | (true, [3, 4]) => Some(Sha512::digest(der).to_vec()),
        _ => None,
    }
}

/// Contents of the first element of this type, and the bytes after it.
fn contents(der: &[u8], tag: u8) -> Option<(&[u8], &[u8])> {
    let (found, rest) = der.split_first()?;
    let (length, rest) = rest.split_first()?;
    let (length, rest) = match length {
        0..=0x7f => (usize::from(*length), rest),
        0x81..=0x83 => {
            let (bytes, rest) = rest.split_at_checked(usize::from(length & 0x7f))?;
            (bytes.iter().fold(0, |number, byte| number << 8 | usize::from(*byte)), rest)
        }
        _ => return None,
    };
    (*found == tag).then(|| rest.split_at_checked(length))?
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Certificate with an empty body, a signature algorithm, and a signature of one byte.
    fn certificate(identifier: &[u8]) -> Vec<u8> {
        let object = [&[OBJECT_IDENTIFIER, identifier.len() as u8], identifier].concat();
        let algorithm = [&[SEQUENCE, object.len() as u8], &object[..]].concat();
        let inner = [&[SEQUENCE, 0], &algorithm[..], &[3, 1, 0]].concat();
        [&[SEQUENCE, 0x81, inner.len() as u8], &inner[..]].concat()
    }

    #[test]
    fn uses_hash_function_of_the_signature() {
        let length = |identifier: &[&[u8]]| {
            certificate_hash(&certificate(&identifier.concat())).map(|hash| hash.len())
        };
        assert_eq!(length(&[RSA, &[5]]), Some(32), "SHA-256 replaces SHA-1");
        assert_eq!(length(&[RSA, &[11]]), Some(32));
        assert_eq!(length(&[RSA, &[12]]), Some(48));
        assert_eq!(length(&[RSA, &[13]]), Some(64));
        assert_eq!(length(&[ECDSA, &[3, 2]]), Some(32));
        assert_eq!(length(&[ECDSA, &[3, 3]]), Some(48));
        assert_eq!(length(&[&[0x2b, 0x65, 0x70]]), None, "Ed25519");
        let whole = certificate(&[RSA, &[11]].concat());
        for end in 0..whole.len() - 3 {
            assert_eq!(certificate_hash(&whole[..end]), None, "{end}");
        }
    }
}
