//! Texts with variables in braces. `{port}` is replaced, `{{port}}` yields `{port}`, and any other brace is literal.

use wire::braces::{Piece, RAW, pieces};

/// A parsed text with variables.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Braced {
    parts: Vec<TextPart>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum TextPart {
    Text(String),
    Name(String),
}

impl Braced {
    pub(crate) fn read(text: &str) -> Self {
        let parts = pieces(text.as_bytes()).map(|piece| match piece {
            // Braces are ASCII, so every piece between them is valid UTF-8.
            Piece::Text(bytes) => TextPart::Text(String::from_utf8_lossy(bytes).into_owned()),
            Piece::Name(name) | Piece::Raw(name) => TextPart::Name(name.to_owned()),
        });
        Self { parts: parts.collect() }
    }

    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.parts.iter().filter_map(|part| match part {
            TextPart::Name(name) => Some(name.as_str()),
            TextPart::Text(_) => None,
        })
    }

    /// Fills in a URL like [`Self::fill`], but keeps names of secrets. Only the log-in of connections may replace those.
    pub(crate) fn fill_url(
        &self,
        is_secret: impl Fn(&str) -> bool,
        value: impl Fn(&str) -> Option<String>,
    ) -> String {
        self.fill(|name| if is_secret(name) { None } else { value(name) })
    }

    /// Replaces each name by its `value`. A name without a value stays as written.
    pub(crate) fn fill(&self, value: impl Fn(&str) -> Option<String>) -> String {
        let parts = self.parts.iter().map(|part| match part {
            TextPart::Text(text) => text.clone(),
            TextPart::Name(name) => value(name).unwrap_or_else(|| format!("{{{name}}}")),
        });
        parts.collect()
    }
}

/// Names in a text, each with the start and end of its braces in bytes.
pub(crate) fn names_in(text: &str) -> impl Iterator<Item = (&str, usize, usize)> {
    pieces(text.as_bytes()).filter_map(|piece| {
        let (name, behind) = match piece {
            Piece::Name(name) => (name, 1),
            Piece::Raw(name) => (name, 1 + RAW.len()),
            Piece::Text(_) => return None,
        };
        let start = name.as_ptr() as usize - text.as_ptr() as usize;
        Some((name, start - 1, start + name.len() + behind))
    })
}

/// Whether a text can be a name in braces.
pub(crate) fn is_name(text: &str) -> bool {
    let braced = format!("{{{text}}}");
    names_in(&braced).any(|(name, ..)| name == text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fills_in_names_and_keeps_other_braces() {
        let fill = |text: &str| Braced::read(text).fill(|name| Some(format!("<{name}>")));
        assert_eq!(fill("a {b}{c.d-1} e"), "a <b><c.d-1> e");
        assert_eq!(fill("{{b}} x"), "{b} x");
        assert_eq!(fill(r#"{"id": {id}, "x": {}}"#), r#"{"id": <id>, "x": {}}"#);
        assert_eq!(fill("{ b } {1} {b"), "{ b } {1} {b");
        assert_eq!(fill("ü{ü}{b}ü"), "ü{ü}<b>ü");
        assert_eq!(Braced::read("{x}").fill(|_| None), "{x}");
        assert_eq!(names_in("ä {x}").next(), Some(("x", 3, 6)));
        assert_eq!(names_in("{x:raw}.").next(), Some(("x", 0, 7)));
        assert!(is_name("a.b-c_1") && !is_name("1") && !is_name("") && !is_name("a b") && !is_name("a}{b"));
    }
}
