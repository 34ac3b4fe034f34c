//! Query strings and forms: `key=value` pairs joined by `&`.

use crate::reply::Reply;
use std::borrow::Cow;
use std::str::FromStr;

/// Query whose keys are all known and unique.
pub(crate) struct Query<'a>(&'a str);

impl<'a> Query<'a> {
    /// Validates the keys of `raw` against the `legal` ones. The error reply lists them.
    pub(crate) fn read(raw: &'a str, legal: &[&str]) -> Result<Self, Reply> {
        let query = Self(raw);
        for (at, (key, _)) in query.pairs().enumerate() {
            if !legal.contains(&key) {
                return Err(bad_request(&format!("unknown query key {key:?}; {}", known_keys(legal))));
            }
            if query.pairs().take(at).any(|(earlier, _)| earlier == key) {
                return Err(bad_request(&format!("query key {key:?} appears twice")));
            }
        }
        Ok(query)
    }

    /// Returns the decoded value of `key`. `None` if it is missing.
    pub(crate) fn text(&self, key: &str) -> Option<Cow<'a, str>> {
        self.pairs().find(|(known, _)| *known == key).map(|(_, value)| decode(value))
    }

    /// Parses the number under `key`. `None` if it is missing.
    pub(crate) fn number<T: FromStr>(&self, key: &str) -> Result<Option<T>, Reply> {
        let Some(text) = self.text(key) else { return Ok(None) };
        text.parse().map(Some).map_err(|_| bad_request(&format!("{key} must be a number, found {text:?}")))
    }

    fn pairs(&self) -> impl Iterator<Item = (&'a str, &'a str)> + use<'a> {
        self.0
            .split('&')
            .filter(|pair| !pair.is_empty())
            .map(|pair| pair.split_once('=').unwrap_or((pair, "")))
    }
}

/// Returns the value of `key` in a form body. Ignores other keys.
pub(crate) fn form_value(form: &str, key: &str) -> Option<String> {
    Query(form).text(key).map(Cow::into_owned)
}

/// Builds a `400` reply with this sentence.
pub(crate) fn bad_request(sentence: &str) -> Reply {
    Reply::text(400, format!("{sentence}\n"))
}

fn known_keys(legal: &[&str]) -> String {
    if legal.is_empty() { "no key is legal here".into() } else { format!("legal here: {}", legal.join(", ")) }
}

/// Decodes `+` and percent encoding. Invalid encodings are left unchanged.
fn decode(text: &str) -> Cow<'_, str> {
    if !text.contains(['+', '%']) {
        return Cow::Borrowed(text);
    }
    let bytes = text.as_bytes();
    let mut decoded = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        let hex = |offset: usize| bytes.get(at + offset).and_then(|&byte| (byte as char).to_digit(16));
        match (bytes[at], hex(1), hex(2)) {
            (b'%', Some(high), Some(low)) => {
                decoded.push((high * 16 + low) as u8);
                at += 2;
            }
            (b'+', ..) => decoded.push(b' '),
            (other, ..) => decoded.push(other),
        }
        at += 1;
    }
    Cow::Owned(String::from_utf8_lossy(&decoded).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_and_repeated_keys_are_rejected_by_name() {
        let body = |raw| match Query::read(raw, &["n", "us"]) {
            Err(Reply { body: crate::reply::Body::Owned(text), .. }) => {
                String::from_utf8(text).expect("text")
            }
            _ => panic!("accepted {raw}"),
        };
        assert_eq!(body("m=1"), "unknown query key \"m\"; legal here: n, us\n");
        assert_eq!(body("n=1&n=1"), "query key \"n\" appears twice\n");
    }

    #[test]
    fn values_are_decoded_and_invalid_encodings_kept() {
        assert_eq!(form_value("a=1&email=x%40y.z", "email").as_deref(), Some("x@y.z"));
        assert_eq!(decode("a+b%2"), "a b%2");
        assert_eq!(decode("%zz%41%"), "%zzA%");
    }
}
