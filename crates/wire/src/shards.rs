//! Shards: peers from which the hash of a user's value chooses one for each request.

use alloc::boxed::Box;
use alloc::string::{String, ToString};
use core::ops::Range;

mod count;
mod division;

use crate::braces::{Piece, pieces};
use crate::values::Values;

pub use count::ShardCount;
use division::Divider;
pub use division::ShardMap;

/// Hash function that maps the bytes of a value to a number.
#[derive(Debug)]
pub struct ShardHash {
    /// Name in plans.
    pub name: &'static str,
    /// Computes the hash of the concatenated parts of a value.
    pub of: fn(&mut dyn Iterator<Item = &[u8]>) -> u64,
}

impl PartialEq for ShardHash {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Eq for ShardHash {}

/// Hash functions that a plan can choose. The first is the default.
pub static SHARD_HASHES: [ShardHash; 4] = [
    ShardHash { name: "crc32", of: crc32 },
    ShardHash { name: "fnv1a", of: fnv1a },
    ShardHash { name: "number", of: number },
    ShardHash { name: CRC16, of: crc16_of_hash_tag },
];

/// Name of the hash of clusters of Redis, which divide slots by rounding.
const CRC16: &str = "crc16";

/// Rule that maps a value to one of several shards.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShardRule {
    /// Hash of the value.
    pub hash: &'static ShardHash,
    /// Number of slots. The slot of a value is its hash modulo this number. `None`: the hash itself is the slot.
    pub slots: Option<u32>,
    /// Division of the slots among the shards.
    pub map: ShardMap,
    /// Number of shards that get requests.
    pub in_use: ShardCount,
}

impl Default for ShardRule {
    fn default() -> Self {
        Self { hash: &SHARD_HASHES[0], slots: None, map: ShardMap::Even, in_use: ShardCount::default() }
    }
}

impl ShardRule {
    /// Returns the rule with a separate count, so that a change in one load does not affect another.
    #[must_use]
    pub fn detached(&self) -> Self {
        Self { in_use: ShardCount::new(self.in_use.get()), ..self.clone() }
    }
}

/// Consecutive peers with equal steps, and the value that chooses one of them.
#[derive(Debug)]
pub struct Shards {
    peers: Range<u16>,
    key: Box<[Part]>,
    rule: ShardRule,
    divider: Divider,
}

#[derive(Debug)]
enum Part {
    Text(Box<[u8]>),
    Variable(u16),
}

impl Shards {
    /// Compiles `key`, a text with names of `variables` in braces.
    ///
    /// # Errors
    ///
    /// The first unknown name.
    pub fn new(peers: Range<u16>, key: &str, variables: &[String], rule: ShardRule) -> Result<Self, String> {
        let part = |piece: Piece<'_>| match piece {
            Piece::Text(text) => Ok(Part::Text(text.into())),
            Piece::Name(name) | Piece::Raw(name) => {
                let number = variables.iter().position(|known| known == name);
                number.map(|number| Part::Variable(number as u16)).ok_or_else(|| name.to_string())
            }
        };
        let key = pieces(key.as_bytes()).map(part).collect::<Result<_, _>>()?;
        let divider = Divider::new(&rule, peers.len() as u32);
        Ok(Self { peers, key, rule, divider })
    }

    /// Numbers of the peers.
    pub fn peers(&self) -> Range<u16> {
        self.peers.clone()
    }

    /// Whether the choice depends on a variable.
    pub fn needs(&self, variable: u16) -> bool {
        self.key.iter().any(|part| matches!(part, Part::Variable(needed) if *needed == variable))
    }

    /// Peer for these values. A variable without a value counts as empty.
    pub fn choose(&self, values: &Values) -> u16 {
        let mut parts = self.key.iter().map(|part| match part {
            Part::Text(text) => text,
            Part::Variable(variable) => values.get(*variable).unwrap_or_default(),
        });
        let in_use = self.rule.in_use.among(self.peers.len() as u32);
        self.peers.start + self.divider.shard((self.rule.hash.of)(&mut parts), in_use) as u16
    }
}

/// CRC-32/ISO-HDLC, as in zlib, PHP, and MySQL.
pub(crate) fn crc32(parts: &mut dyn Iterator<Item = &[u8]>) -> u64 {
    let bytes = parts.flatten();
    u64::from(!bytes.fold(!0, |sum, byte| (sum >> 8) ^ CRC32_TABLE[usize::from(sum as u8 ^ byte)]))
}

/// 32-bit FNV-1a, as in clients of memcached (draft-eastlake-fnv, section 2).
fn fnv1a(parts: &mut dyn Iterator<Item = &[u8]>) -> u64 {
    const OFFSET_BASIS: u32 = 0x811c_9dc5;
    const PRIME: u32 = 0x0100_0193;
    let bytes = parts.flatten();
    u64::from(bytes.fold(OFFSET_BASIS, |sum, byte| (sum ^ u32::from(*byte)).wrapping_mul(PRIME)))
}

/// CRC-16/XMODEM of the hash tag of a key: the text between its first `{` and the next `}`. Of the whole key if that is empty or
/// absent.
pub(crate) fn crc16_of_hash_tag(parts: &mut dyn Iterator<Item = &[u8]>) -> u64 {
    let (mut whole, mut tag, mut place) = (0, 0, Place::Before);
    for byte in parts.flatten().copied() {
        whole = crc16(whole, byte);
        place = match (place, byte) {
            (Place::Before, b'{') => Place::Within { is_empty: true },
            (Place::Within { is_empty }, b'}') => Place::After { is_tag: !is_empty },
            (Place::Within { .. }, byte) => {
                tag = crc16(tag, byte);
                Place::Within { is_empty: false }
            }
            (place, _) => place,
        };
    }
    u64::from(if matches!(place, Place::After { is_tag: true }) { tag } else { whole })
}

/// Place in a key, relative to its hash tag.
#[derive(Clone, Copy)]
enum Place {
    Before,
    Within { is_empty: bool },
    After { is_tag: bool },
}

/// Adds a byte to a CRC-16/XMODEM.
fn crc16(sum: u16, byte: u8) -> u16 {
    sum << 8 ^ CRC16_TABLE[usize::from((sum >> 8) as u8 ^ byte)]
}

static CRC16_TABLE: [u16; 256] = crc16_table();

const fn crc16_table() -> [u16; 256] {
    const POLYNOMIAL: u16 = 0x1021;
    let mut table = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        let (mut sum, mut bit) = ((byte as u16) << 8, 0);
        while bit < 8 {
            sum = if sum & 0x8000 == 0 { sum << 1 } else { sum << 1 ^ POLYNOMIAL };
            bit += 1;
        }
        table[byte] = sum;
        byte += 1;
    }
    table
}

/// Decimal digits of the value as one whole number, modulo 2^64. Other characters are ignored.
fn number(parts: &mut dyn Iterator<Item = &[u8]>) -> u64 {
    let digits = parts.flatten().filter(|byte| byte.is_ascii_digit());
    digits.fold(0, |sum: u64, digit| sum.wrapping_mul(10).wrapping_add(u64::from(digit - b'0')))
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
    fn crc32_matches_catalog_and_turntable() {
        let of = |parts: &[&[u8]]| crc32(&mut parts.iter().copied());
        assert_eq!(of(&[b"123456789"]), 0xcbf4_3926);
        assert_eq!(of(&[b"1234", b"", b"56789"]), 0xcbf4_3926, "parts count as one text");
        assert_eq!(of(&[]), 0);
        let slots = [b"1", b"2", b"3"].map(|key: &[u8; 1]| of(&[key]) % 16_384);
        assert_eq!(slots, [12_215, 15_885, 3_739], "slots of ActiveRecord Turntable");
    }

    #[test]
    fn equal_values_choose_same_peer_and_values_spread_evenly() {
        let names: Vec<String> = ["a", "user"].map(String::from).into();
        let shards = Shards::new(4..7, "u{user}", &names, ShardRule::default()).expect("known names");
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
    fn fnv1a_matches_draft_and_number_reads_digits() {
        let of = |hash: fn(&mut dyn Iterator<Item = &[u8]>) -> u64, text: &str| {
            hash(&mut [text.as_bytes()].into_iter())
        };
        assert_eq!(
            [of(fnv1a, ""), of(fnv1a, "a"), of(fnv1a, "foobar")],
            [0x811c_9dc5, 0xe40c_292c, 0xbf9c_f968]
        );
        assert_eq!([of(number, "42"), of(number, "user-1007"), of(number, "none")], [42, 1_007, 0]);
    }

    #[test]
    fn crc16_covers_only_the_hash_tag() {
        let of = |key: &str| crc16_of_hash_tag(&mut [key.as_bytes()].into_iter());
        assert_eq!(of("123456789"), 0x31c3);
        // CLUSTER KEYSLOT of Redis 7.0.
        assert_eq!(["foo", "", "key:1"].map(|key| of(key) % 16_384), [12_182, 0, 6_657]);
        assert_eq!(of("a{foo}b"), of("foo"));
        assert_eq!(of("{foo}{bar}"), of("foo"));
        assert_eq!(of("{user}"), crc16_of_hash_tag(&mut [&b"x{us"[..], b"er", b"}y"].into_iter()), "parts");
        for whole in ["a{}foo", "a{foo", "a}foo{"] {
            let all = whole.bytes().fold(0, crc16);
            assert_eq!(of(whole), u64::from(all), "{whole}");
        }
    }

    #[test]
    fn crc16_divides_slots_as_redis_cli() {
        let rule = ShardRule { hash: &SHARD_HASHES[3], slots: Some(16_384), ..ShardRule::default() };
        let divider = Divider::new(&rule, 6);
        for (shards, firsts) in
            [(3, &[5_461, 10_923][..]), (5, &[3_277, 6_554, 9_830, 13_107]), (6, &[2_731])]
        {
            let shard = |slot: u64| {
                // Inverts the hash: finds a key of this slot.
                let key = (0..).map(|number: u32| number.to_string());
                let key = key
                    .clone()
                    .find(|key| crc16_of_hash_tag(&mut [key.as_bytes()].into_iter()) % 16_384 == slot);
                divider
                    .shard(crc16_of_hash_tag(&mut [key.unwrap_or_default().as_bytes()].into_iter()), shards)
            };
            for (number, first) in (1..).zip(firsts) {
                assert_eq!([shard(*first - 1), shard(*first)], [number - 1, number], "{shards} shards");
            }
            assert_eq!([shard(0), shard(16_383)], [0, shards - 1]);
        }
    }

    #[test]
    fn unknown_name_in_a_key_is_an_error() {
        assert_eq!(Shards::new(0..2, "{user}", &[], ShardRule::default()).err().as_deref(), Some("user"));
    }
}
