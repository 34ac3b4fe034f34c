//! Secret values of a plan: inserted into requests, and removed from every text that is shown.

use alloc::borrow::Cow;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;
use core::ops::Range;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use memchr::memmem;

use crate::step;

/// Replacement of a secret in a text.
pub const REDACTED: &str = "(secret)";
/// Min bytes of a truncated secret that are recognized at the end or the beginning of a text.
const PIECE_BYTES_MIN: usize = 4;
/// Max length of a text whose quotations are searched for truncated secrets.
const QUOTING_BYTES_MAX: usize = 4096;

/// Secrets by name. `Debug` prints only the names.
#[derive(Clone, Default)]
pub struct Secrets {
    list: Vec<Secret>,
    /// All encoded forms of all secrets, the longest first.
    encoded_forms: Vec<Vec<u8>>,
}

#[derive(Clone)]
struct Secret {
    name: String,
    value: String,
}

impl Secrets {
    /// Min length of a value in bytes; shorter values occur in other text by chance.
    pub const BYTES_MIN: usize = PIECE_BYTES_MIN;
    /// Max length of a value in bytes.
    pub const BYTES_MAX: usize = 4096;

    /// Creates an empty list.
    pub const fn new() -> Self {
        Self { list: Vec::new(), encoded_forms: Vec::new() }
    }

    /// Adds a secret, unless its name is in the list.
    pub fn add(&mut self, name: &str, value: &str) {
        if self.get(name).is_some() {
            return;
        }
        self.list.push(Secret { name: name.into(), value: value.into() });
        self.encoded_forms.extend(encoded_forms_of(value));
        self.encoded_forms.sort_by(|a, b| b.len().cmp(&a.len()).then_with(|| a.cmp(b)));
        self.encoded_forms.dedup();
    }

    /// Value of the secret with this name.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.list.iter().find(|secret| secret.name == name).map(|secret| secret.value.as_str())
    }

    /// Whether the list is empty.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Length of the longest encoded form in bytes.
    pub fn bytes_max(&self) -> usize {
        self.encoded_forms.first().map_or(0, Vec::len)
    }

    /// Removes all secrets from a text, in every form in which a request or a server may have written them: plain, percent-encoded,
    /// in JSON or another quoted text, or in Base64. Also removes truncated secrets at either end of the text, or of a short
    /// quotation in it.
    pub fn redact<'a>(&self, text: &'a [u8]) -> Cow<'a, [u8]> {
        let mut shown = Cow::Borrowed(text);
        for spelling in &self.encoded_forms {
            let found: Vec<_> =
                memmem::find_iter(&shown, spelling).map(|at| at..at + spelling.len()).collect();
            if !found.is_empty() {
                shown = Cow::Owned(replace_ranges(&shown, &found));
            }
        }
        let cut = self.encoded_forms.iter().flat_map(|spelling| truncated_ranges(&shown, spelling));
        let mut cut: Vec<_> = cut.collect();
        if !cut.is_empty() {
            cut.sort_by_key(|range| range.start);
            shown = Cow::Owned(replace_ranges(&shown, &cut));
        }
        shown
    }

    /// Removes all secrets from a text, like [`Self::redact`].
    pub fn redact_text(&self, text: &str) -> String {
        String::from_utf8_lossy(&self.redact(text.as_bytes())).into_owned()
    }
}

impl fmt::Debug for Secrets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.list.iter().map(|secret| &secret.name)).finish()
    }
}

/// Replaces ranges of a text, which are in order.
fn replace_ranges(text: &[u8], ranges: &[Range<usize>]) -> Vec<u8> {
    let mut shown = Vec::with_capacity(text.len());
    let mut from = 0;
    for range in ranges.iter().filter(|range| !range.is_empty()) {
        if range.start >= from {
            shown.extend_from_slice(&text[from..range.start]);
            shown.extend_from_slice(REDACTED.as_bytes());
        }
        from = from.max(range.end);
    }
    shown.extend_from_slice(&text[from..]);
    shown
}

/// Ranges where a text, or a quotation in it, ends with the beginning of a secret, or begins with its end.
fn truncated_ranges(text: &[u8], spelling: &[u8]) -> Vec<Range<usize>> {
    let quotes =
        memchr::memchr_iter(b'"', &text[..if text.len() > QUOTING_BYTES_MAX { 0 } else { text.len() }]);
    let (mut starts, mut ends) = (Vec::from([0]), Vec::from([text.len()]));
    quotes.for_each(|at| {
        starts.push(at + 1);
        ends.push(at);
    });
    let lengths = || (PIECE_BYTES_MIN..spelling.len()).rev();
    let tail = |start: &usize| {
        let length =
            lengths().find(|length| text[*start..].starts_with(&spelling[spelling.len() - length..]))?;
        Some(*start..start + length)
    };
    let head = |end: &usize| {
        let length = lengths().find(|length| text[..*end].ends_with(&spelling[..*length]))?;
        Some(end - length..*end)
    };
    starts.iter().filter_map(tail).chain(ends.iter().filter_map(head)).collect()
}

fn encoded_forms_of(value: &str) -> Vec<Vec<u8>> {
    let encoded = |further: &step::ExtraKeys| (further.encoded_forms)(value.as_bytes());
    let mut all: Vec<Vec<u8>> = step::with_extra_keys().flat_map(|(_, further)| encoded(further)).collect();
    let percent = |bytes: &Vec<u8>| String::from_utf8_lossy(bytes).replace("%20", "+").into_bytes();
    all.extend(all.iter().map(percent).collect::<Vec<_>>());
    all.push(value.into());
    // Quoted as in Rust and other languages.
    let quoted = format!("{value:?}");
    all.push(quoted[1..quoted.len() - 1].into());
    all.push(value.as_bytes().escape_ascii().collect());
    all.extend((0..3).map(|before| base64_core(value.as_bytes(), before)));
    all.retain(|spelling| spelling.len() >= PIECE_BYTES_MIN);
    all
}

/// Characters of a Base64 text that depend only on the value. `before` is the offset of the value in the encoded bytes, modulo 3.
fn base64_core(value: &[u8], before: usize) -> Vec<u8> {
    let bytes = [&[0; 3][..before], value].concat();
    let text = STANDARD_NO_PAD.encode(&bytes);
    let (from, until) = ((before * 8).div_ceil(6), bytes.len() * 8 / 6);
    text.as_bytes()[from.min(until)..until].to_vec()
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::ToString;

    const VALUE: &str = "p/s \"wörd\\+12";

    fn secrets() -> Secrets {
        let mut secrets = Secrets::default();
        secrets.add("env.PASSWORD", VALUE);
        secrets.add("env.PASSWORD", "another");
        secrets
    }

    #[test]
    fn redacts_every_encoding_of_a_secret() {
        let base64 = |text: &str| base64::engine::general_purpose::STANDARD.encode(text);
        let quoted = format!("{VALUE:?}");
        for text in [
            VALUE.to_string(),
            "a=p%2Fs%20%22w%C3%B6rd%5C%2B12&b=1".to_string(),
            "a=p%2Fs+%22w%C3%B6rd%5C%2B12&b=1".to_string(),
            quoted,
            "{\"a\":\"p/s \\\"wörd\\\\+12\"}".to_string(),
        ] {
            let shown = secrets().redact_text(&text);
            assert!(shown.contains(REDACTED) && !shown.contains("rd"), "{text}: {shown}");
        }
        for user in ["", "a", "ab", "abc"] {
            let shown = secrets().redact_text(&base64(&format!("{user}{VALUE}:x")));
            assert!(shown.contains(REDACTED) && shown.len() < 24, "{user}: {shown}");
        }
    }

    #[test]
    fn redacts_truncated_secret_at_both_ends() {
        let secrets = secrets();
        assert_eq!(secrets.redact_text("it is p/s \"wör"), "it is (secret)");
        assert_eq!(secrets.redact_text("rd\\+12 it was"), "(secret) it was");
        assert_eq!(secrets.redact_text("it is p/s it was"), "it is p/s it was");
        assert_eq!(secrets.redact_text("it is p/s"), "it is p/s");
        let cut = secrets.redact_text(r#"it says "it is p/s \"w\xc3\xb6" (idle)"#);
        assert_eq!(cut, "it says \"it is (secret)\" (idle)");
    }

    #[test]
    fn keeps_other_text_and_debug_hides_values() {
        let secrets = secrets();
        assert!(matches!(secrets.redact(b"some text"), Cow::Borrowed(b"some text")));
        assert!(matches!(Secrets::default().redact(b"x"), Cow::Borrowed(b"x")));
        assert_eq!(format!("{secrets:?}"), "[\"env.PASSWORD\"]");
        assert_eq!((secrets.get("env.PASSWORD"), secrets.get("PASSWORD")), (Some(VALUE), None));
    }
}
