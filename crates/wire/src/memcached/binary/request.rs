//! Requests of the binary protocol: the operations, and the encoding of a step.
//!
//! A request is a header of 24 bytes, extras, key, and value. Numbers are big-endian.

use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::super::content::Kind;
use super::super::step::MemcachedStep;
use crate::secrets::Secrets;
use crate::shards::crc32;
use crate::step::Template;

/// First byte of a request.
const REQUEST: u8 = 0x80;
/// Bytes of the header of a request, and of a response.
pub(super) const HEADER_BYTES: usize = 24;
/// Number in each request that its response repeats.
pub(super) const OPAQUE: [u8; 4] = *b"tnbn";
/// Max bytes of a key.
const KEY_BYTES_MAX: usize = 250;
/// Max bytes of the extras of a request.
const EXTRAS_BYTES_MAX: u64 = 20;
/// Expiration with which `incr` and `decr` do not create a missing counter.
const DO_NOT_CREATE: u64 = 0xffff_ffff;

/// An operation with exactly one response.
#[derive(Debug, PartialEq, Eq)]
pub(in super::super) struct Operation {
    /// Name in steps.
    pub(in super::super) name: &'static str,
    pub(super) code: u8,
    /// Type of a response without an error.
    pub(super) success: Kind,
    /// Type of the response for a key that is absent.
    pub(super) absent: Kind,
    /// Form of the step, for messages.
    form: &'static str,
    /// Allowed numbers of words in the order of the text protocol, without the data.
    words: &'static [usize],
    /// Number of the word with the key. `None` if the operation has none.
    key: Option<usize>,
    /// Extras: bytes of each number, and its source.
    extras: &'static [(u8, Source)],
    /// Number of the word with the unique number of the value to replace.
    unique: Option<usize>,
}

/// Source of a number.
#[derive(Debug, PartialEq, Eq)]
enum Source {
    Word(usize),
    /// A word, or a number if the step has no such word.
    WordOr(usize, u64),
}

const STORING_EXTRAS: &[(u8, Source)] = &[(4, Source::Word(2)), (4, Source::Word(3))];
const COUNTER_EXTRAS: &[(u8, Source)] =
    &[(8, Source::Word(2)), (8, Source::WordOr(3, 0)), (4, Source::WordOr(4, DO_NOT_CREATE))];

/// Operation without key and extras.
const fn plain(name: &'static str, code: u8, success: Kind) -> Operation {
    let absent = Kind::NotFound;
    Operation { name, code, success, absent, form: name, words: &[1], key: None, extras: &[], unique: None }
}

/// Operation on a key.
const fn keyed(name: &'static str, code: u8, success: Kind, form: &'static str) -> Operation {
    Operation { form, words: &[2], key: Some(1), ..plain(name, code, success) }
}

/// Operation that stores a value.
const fn storing(name: &'static str, code: u8, form: &'static str) -> Operation {
    Operation { words: &[4], extras: STORING_EXTRAS, ..keyed(name, code, Kind::Stored, form) }
}

/// Operation on a counter.
const fn counting(name: &'static str, code: u8, form: &'static str) -> Operation {
    Operation { words: &[3, 5], extras: COUNTER_EXTRAS, ..keyed(name, code, Kind::Number, form) }
}

/// Operations that steps can name.
pub(in super::super) static OPERATIONS: [Operation; 14] = [
    Operation { absent: Kind::Miss, ..keyed("get", 0x00, Kind::Value, "get KEY") },
    storing("set", 0x01, "set KEY VALUE [EXPTIME [FLAGS]]"),
    storing("add", 0x02, "add KEY VALUE [EXPTIME [FLAGS]]"),
    storing("replace", 0x03, "replace KEY VALUE [EXPTIME [FLAGS]]"),
    Operation { extras: &[], ..storing("append", 0x0e, "append KEY VALUE") },
    Operation { extras: &[], ..storing("prepend", 0x0f, "prepend KEY VALUE") },
    Operation {
        words: &[5],
        unique: Some(4),
        ..storing("cas", 0x01, "cas KEY VALUE UNIQUE [EXPTIME [FLAGS]]")
    },
    keyed("delete", 0x04, Kind::Deleted, "delete KEY"),
    counting("incr", 0x05, "incr KEY NUMBER [INITIAL EXPTIME]"),
    counting("decr", 0x06, "decr KEY NUMBER [INITIAL EXPTIME]"),
    Operation {
        words: &[3],
        extras: &[(4, Source::Word(2))],
        ..keyed("touch", 0x1c, Kind::Touched, "touch KEY EXPTIME")
    },
    Operation {
        words: &[3],
        key: Some(2),
        extras: &[(4, Source::Word(1))],
        absent: Kind::Miss,
        ..keyed("gat", 0x1d, Kind::Value, "gat EXPTIME KEY")
    },
    plain("version", 0x0b, Kind::Version),
    plain("noop", 0x0a, Kind::Ok),
];

/// Log-in with a mechanism of SASL (RFC 4422).
pub(super) static SASL_AUTH: Operation = plain("SASL_AUTH", 0x21, Kind::Ok);
/// Choice of a bucket of Couchbase.
pub(super) static SELECT_BUCKET: Operation = plain("SELECT_BUCKET", 0x89, Kind::Ok);

impl Operation {
    /// Operation with this name in steps.
    pub(in super::super) fn named(name: &[u8]) -> Option<&'static Self> {
        OPERATIONS.iter().find(|operation| operation.name.as_bytes().eq_ignore_ascii_case(name))
    }

    /// Checks the number of words in the order of the text protocol.
    ///
    /// # Errors
    ///
    /// The error and the advice.
    pub(in super::super) fn check(&self, words: usize) -> Result<(), (String, String)> {
        match self.words.contains(&words) {
            true => Ok(()),
            false => Err((
                format!("`{}` has too few words, or too many", self.name),
                format!("write {}; quotes keep a value with spaces together", self.form),
            )),
        }
    }
}

/// A compiled request of a load.
#[derive(Debug)]
pub(in super::super) struct Request {
    pub(in super::super) operation: &'static Operation,
    key: Template,
    /// Numbers of the extras, with their bytes.
    extras: Box<[(u8, Template)]>,
    /// Unique number of the value to replace. `None`: any value.
    unique: Option<Template>,
    value: Template,
    /// Number of virtual buckets for keys, at least 1.
    vbuckets: u32,
}

impl Request {
    /// Compiles the request of a step.
    ///
    /// # Errors
    ///
    /// The message for an unknown operation, and for an unknown variable.
    pub(in super::super) fn compile(
        step: &MemcachedStep,
        vbuckets: u32,
        variables: &[String],
        secrets: &Secrets,
    ) -> Result<Self, String> {
        let name = step.words.first().map_or(&[][..], Vec::as_slice);
        let unknown = || format!("{:?} is no operation", String::from_utf8_lossy(name));
        let operation = Operation::named(name).ok_or_else(unknown)?;
        let template = |text: &[u8]| Template::compile(text, variables, secrets);
        let word = |number: usize| template(step.words.get(number).map_or(&[][..], Vec::as_slice));
        let number = |source: &Source| match source {
            Source::WordOr(number, other) if step.words.len() <= *number => {
                Ok(Template::fixed(itoa::Buffer::new().format(*other).as_bytes()))
            }
            Source::Word(number) | Source::WordOr(number, _) => word(*number),
        };
        let extras =
            operation.extras.iter().map(|(bytes, source)| Ok::<_, String>((*bytes, number(source)?)));
        Ok(Self {
            operation,
            key: operation.key.map_or_else(|| Ok(Template::fixed(b"")), word)?,
            extras: extras.collect::<Result<_, _>>()?,
            unique: operation.unique.map(word).transpose()?,
            value: template(step.data.as_ref().map_or(&[][..], |(_, value)| value))?,
            vbuckets,
        })
    }

    /// Appends the request. `value` returns the value of a variable, empty if it has none.
    ///
    /// # Errors
    ///
    /// The length of the key is not allowed by the protocol, or a value that must be a number is not one.
    pub(in super::super) fn encode<'v>(
        &self,
        value: &impl Fn(u16) -> &'v [u8],
        out: &mut Vec<u8>,
    ) -> Result<(), String> {
        let header = out.len();
        out.extend_from_slice(&[0; HEADER_BYTES]);
        for (bytes, template) in &self.extras {
            let number = number(template, *bytes, value)?.to_be_bytes();
            out.extend_from_slice(&number[number.len() - usize::from(*bytes)..]);
        }
        let key = out.len();
        self.key.fill(value, out);
        let key_bytes = out.len() - key;
        if self.operation.key.is_some() && !(1..=KEY_BYTES_MAX).contains(&key_bytes) {
            return Err(format!("a key has 1 to {KEY_BYTES_MAX} bytes, and this one has {key_bytes}"));
        }
        let vbucket = match self.operation.key {
            Some(_) => vbucket(&out[key..], self.vbuckets),
            None => 0,
        };
        let unique = self.unique.as_ref().map_or(Ok(0), |unique| number(unique, 8, value))?;
        self.value.fill(value, out);
        let body_bytes = u32::try_from(out.len() - header - HEADER_BYTES)
            .map_err(|_| String::from("a value has at most 4 GiB"))?;
        let extras_bytes = (key - header - HEADER_BYTES) as u8;
        let written = Header {
            code: self.operation.code,
            key_bytes: key_bytes as u16,
            extras_bytes,
            vbucket,
            body_bytes,
            unique,
        };
        out[header..header + HEADER_BYTES].copy_from_slice(&written.bytes());
        Ok(())
    }

    /// Key, numbers, and value.
    pub(in super::super) fn templates(&self) -> impl Iterator<Item = &Template> {
        let extras = self.extras.iter().map(|(_, template)| template);
        [&self.key, &self.value].into_iter().chain(extras).chain(&self.unique)
    }

    /// Max length in bytes.
    pub(in super::super) fn bytes_max(&self, longest_bytes: &dyn Fn(u16) -> u64) -> u64 {
        let bytes = [&self.key, &self.value].map(|template| template.bytes_max(longest_bytes));
        bytes.into_iter().fold(HEADER_BYTES as u64 + EXTRAS_BYTES_MAX, u64::saturating_add)
    }
}

/// Header of a request.
struct Header {
    code: u8,
    key_bytes: u16,
    extras_bytes: u8,
    vbucket: u16,
    body_bytes: u32,
    unique: u64,
}

impl Header {
    fn bytes(&self) -> [u8; HEADER_BYTES] {
        let mut bytes = [0; HEADER_BYTES];
        (bytes[0], bytes[1], bytes[4]) = (REQUEST, self.code, self.extras_bytes);
        bytes[2..4].copy_from_slice(&self.key_bytes.to_be_bytes());
        bytes[6..8].copy_from_slice(&self.vbucket.to_be_bytes());
        bytes[8..12].copy_from_slice(&self.body_bytes.to_be_bytes());
        bytes[12..16].copy_from_slice(&OPAQUE);
        bytes[16..].copy_from_slice(&self.unique.to_be_bytes());
        bytes
    }
}

/// Request of an operation with a constant key and value, without extras.
pub(super) fn fixed(operation: &Operation, key: &[u8], value: &[u8]) -> Vec<u8> {
    let (code, extras_bytes, vbucket, unique) = (operation.code, 0, 0, 0);
    let (key_bytes, body_bytes) = (key.len() as u16, (key.len() + value.len()) as u32);
    let header = Header { code, key_bytes, extras_bytes, vbucket, body_bytes, unique };
    [&header.bytes()[..], key, value].concat()
}

/// Number of a filled template that has to fit into `bytes` bytes.
fn number<'v>(template: &Template, bytes: u8, value: &impl Fn(u16) -> &'v [u8]) -> Result<u64, String> {
    let mut text = Vec::new();
    template.fill(value, &mut text);
    let max = u64::MAX >> (64 - 8 * u32::from(bytes));
    let parsed = core::str::from_utf8(&text).ok().and_then(|text| text.parse().ok());
    parsed.filter(|number| *number <= max).ok_or_else(|| {
        format!("\"{}\" is no number from 0 to {max}", text[..text.len().min(40)].escape_ascii())
    })
}

/// Virtual bucket of a key, as clients of Couchbase compute it: bits 16 to 30 of the CRC-32, modulo the number of buckets.
fn vbucket(key: &[u8], vbuckets: u32) -> u16 {
    let sum = crc32(&mut [key].into_iter()) as u32;
    (((sum >> 16) & 0x7fff) % vbuckets.max(1)) as u16
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::words;

    fn request(line: &str, v: &'static [u8]) -> Result<Vec<u8>, String> {
        let words = words::split(line.as_bytes()).expect("words");
        let step = MemcachedStep::binary(words, line.into()).map_err(|(what, _)| what)?;
        let request = Request::compile(&step, 1024, &["v".into()], &Secrets::default())?;
        let mut out = Vec::new();
        request.encode(&|_| v, &mut out)?;
        assert!(out.len() as u64 <= request.bytes_max(&|_| v.len() as u64), "{line}");
        Ok(out)
    }

    /// Opcode, bytes of the extras, and body of a request after its lengths were checked.
    fn parts(line: &str, v: &'static [u8]) -> (u8, usize, Vec<u8>) {
        let bytes = request(line, v).unwrap_or_else(|wrong| panic!("{line}: {wrong}"));
        let body = bytes[HEADER_BYTES..].to_vec();
        assert_eq!(bytes[8..12], (body.len() as u32).to_be_bytes(), "{line}");
        assert_eq!((bytes[0], &bytes[12..16]), (REQUEST, &OPAQUE[..]), "{line}");
        (bytes[1], bytes[4].into(), body)
    }

    #[test]
    fn request_has_extras_key_and_value() {
        assert_eq!(parts("get a{v}", b"bc"), (0x00, 0, b"abc".to_vec()));
        assert_eq!(parts("set k {v} 60 7", b"a b\r\n"), (0x01, 8, b"\0\0\0\x07\0\0\0\x3cka b\r\n".to_vec()));
        assert_eq!(parts("append k {v}", b"x"), (0x0e, 0, b"kx".to_vec()));
        let not_created = b"\0\0\0\0\0\0\0\x02\0\0\0\0\0\0\0\0\xff\xff\xff\xffk".to_vec();
        assert_eq!(parts("incr k {v}", b"2"), (0x05, 20, not_created));
        let created = b"\0\0\0\0\0\0\0\x02\0\0\0\0\0\0\0\x05\0\0\0\0k".to_vec();
        assert_eq!(parts("incr k 2 5 0", b""), (0x05, 20, created));
        assert_eq!(parts("gat 9 k", b""), (0x1d, 4, b"\0\0\0\x09k".to_vec()));
        assert_eq!(parts("noop", b""), (0x0a, 0, Vec::new()));
        let cas = request("cas k v {v}", b"258").expect("a request");
        assert_eq!(cas[16..24], [0, 0, 0, 0, 0, 0, 1, 2]);
    }

    #[test]
    fn rejects_wrong_words_numbers_and_keys() {
        for (line, v) in [
            ("quit", &b""[..]),
            ("get", b""),
            ("set k", b""),
            ("incr k 1 5", b""),
            ("incr k {v}", b"ten"),
            ("set k v {v}", b"4294967296"),
            ("cas k v {v}", b"-1"),
            ("get {v}", b""),
            ("get {v}", &[b'x'; KEY_BYTES_MAX + 1]),
        ] {
            assert!(request(line, v).is_err(), "{line}");
        }
    }

    #[test]
    fn vbucket_matches_couchbase_clients() {
        // Computed with zlib: (crc32(key) >> 16 & 0x7fff) & 1023.
        for (key, expected) in VBUCKETS {
            assert_eq!(vbucket(key.as_bytes(), 1024), *expected, "{key}");
        }
        assert_eq!(vbucket(b"hello", 1), 0);
    }

    const VBUCKETS: &[(&str, u16)] = &[("hello", 528), ("user:1", 933), ("user:1000", 884), ("a", 183)];
}
