//! Shards: peers of which one takes a request, by the hash of a value of its user.

use alloc::boxed::Box;
use alloc::string::{String, ToString};
use core::ops::Range;

use crate::braces::{Piece, pieces};
use crate::values::Values;

/// How the bytes of a value become a number.
#[derive(Debug)]
pub struct ShardHash {
    /// Its name.
    pub name: &'static str,
    /// The number of the bytes of all parts, in order.
    pub of: fn(&mut dyn Iterator<Item = &[u8]>) -> u32,
}

/// Every hash that a plan can choose shards with. The first is the default.
pub const SHARD_HASHES: [ShardHash; 1] = [ShardHash { name: "crc32", of: crc32 }];

/// Consecutive peers that carry the same steps, and the value that chooses one of them: its hash modulo their number.
#[derive(Debug)]
pub struct Shards {
    peers: Range<u16>,
    key: Box<[Part]>,
    hash: &'static ShardHash,
}

#[derive(Debug)]
enum Part {
    Text(Box<[u8]>),
    Variable(u16),
}

impl Shards {
    /// `key` is a text with names in braces, which are among `variables`.
    ///
    /// # Errors
    ///
    /// The first name that is not.
    pub fn new(
        peers: Range<u16>,
        key: &str,
        variables: &[String],
        hash: &'static ShardHash,
    ) -> Result<Self, String> {
        let part = |piece: Piece<'_>| match piece {
            Piece::Text(text) => Ok(Part::Text(text.into())),
            Piece::Name(name) | Piece::Raw(name) => {
                let number = variables.iter().position(|known| known == name);
                number.map(|number| Part::Variable(number as u16)).ok_or_else(|| name.to_string())
            }
        };
        let key = pieces(key.as_bytes()).map(part).collect::<Result<_, _>>()?;
        Ok(Self { peers, key, hash })
    }

    /// The peers.
    pub fn peers(&self) -> Range<u16> {
        self.peers.clone()
    }

    /// Whether the choice hangs on a variable.
    pub fn needs(&self, variable: u16) -> bool {
        self.key.iter().any(|part| matches!(part, Part::Variable(needed) if *needed == variable))
    }

    /// The peer for these values. A variable without a value counts as empty.
    pub fn choose(&self, values: &Values) -> u16 {
        let mut parts = self.key.iter().map(|part| match part {
            Part::Text(text) => text,
            Part::Variable(variable) => values.get(*variable).unwrap_or_default(),
        });
        let count = u32::from(self.peers.end - self.peers.start).max(1);
        self.peers.start + ((self.hash.of)(&mut parts) % count) as u16
    }
}

/// CRC-32 of ISO-HDLC, as zlib, PHP, and MySQL compute it.
fn crc32(parts: &mut dyn Iterator<Item = &[u8]>) -> u32 {
    let bytes = parts.flatten();
    !bytes.fold(!0, |sum, byte| (sum >> 8) ^ CRC32_TABLE[usize::from(sum as u8 ^ byte)])
}

static CRC32_TABLE: [u32; 256] = crc32_table();

const fn crc32_table() -> [u32; 256] {
    const POLYNOMIAL: u32 = 0xedb8_8320;
    let mut table = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        let (mut sum, mut bit) = (byte as u32, 0);
        while bit < 8 {
            sum = if sum & 1 == 1 { (sum >> 1) ^ POLYNOMIAL } else { sum >> 1 };
            bit += 1;
        }
        table[byte] = sum;
        byte += 1;
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;

    #[test]
    fn crc32_is_that_of_the_catalog_and_of_turntable() {
        let of = |parts: &[&[u8]]| crc32(&mut parts.iter().copied());
        assert_eq!(of(&[b"123456789"]), 0xcbf4_3926);
        assert_eq!(of(&[b"1234", b"", b"56789"]), 0xcbf4_3926, "parts count as one text");
        assert_eq!(of(&[]), 0);
        let slots = [b"1", b"2", b"3"].map(|key: &[u8; 1]| of(&[key]) % 16_384);
        assert_eq!(slots, [12_215, 15_885, 3_739], "slots of ActiveRecord Turntable");
    }

    #[test]
    fn equal_values_choose_equal_peers_and_many_values_choose_every_peer() {
        let names: Vec<String> = ["a", "user"].map(String::from).into();
        let shards = Shards::new(4..7, "u{user}", &names, &SHARD_HASHES[0]).expect("known names");
        assert!(shards.needs(1) && !shards.needs(0));
        let mut counts = [0; 3];
        for user in 0..3_000_u32 {
            let mut values = Values::default();
            values.set(1, user.to_string().as_bytes());
            let peer = shards.choose(&values);
            values.set(0, b"other");
            assert_eq!(shards.choose(&values), peer);
            counts[usize::from(peer - 4)] += 1;
        }
        assert!(counts.iter().all(|count| (900..1_100).contains(count)), "{counts:?}");
    }

    #[test]
    fn unknown_name_in_a_key_is_an_error() {
        assert_eq!(Shards::new(0..2, "{user}", &[], &SHARD_HASHES[0]).err().as_deref(), Some("user"));
    }
}
