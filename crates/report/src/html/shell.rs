//! HTML around the document: script, style, and a content security policy.

use std::io::{self, Write};

use base64::prelude::{BASE64_STANDARD, Engine as _};
use ring::digest;
use serde::Serialize as _;
use serde_json::ser::{Formatter, Serializer};

use super::document::Document;

const TEMPLATE: &str = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../ui/page.html"));
const STYLE: &str = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../ui/dist/page.css"));
const SCRIPT: &str = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../ui/dist/page.js"));

/// Writes the page. The template is scanned only once, so that no value is mistaken for a placeholder.
pub(crate) fn write(document: &Document, out: &mut dyn Write) -> io::Result<()> {
    let mut rest = TEMPLATE;
    while let Some((before, (name, after))) =
        rest.split_once("{{").and_then(|(before, after)| Some((before, after.split_once("}}")?)))
    {
        out.write_all(before.as_bytes())?;
        rest = after;
        match name {
            "policy" => out.write_all(policy().as_bytes())?,
            "title" => out.write_all(escaped(&title(document)).as_bytes())?,
            "style" => out.write_all(STYLE.as_bytes())?,
            "without_script" => out.write_all(without_script(document).as_bytes())?,
            "report" => {
                document.serialize(&mut Serializer::with_formatter(&mut *out, ScriptSafeFormatter))?
            }
            "script" => out.write_all(SCRIPT.as_bytes())?,
            name => {
                return Err(io::Error::other(format!("ui/page.html has an unknown placeholder {name:?}")));
            }
        }
    }
    out.write_all(rest.as_bytes())
}

/// Number of bytes that [`write`] writes.
pub(crate) fn size(document: &Document) -> usize {
    struct Counter(usize);
    impl Write for Counter {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0 += bytes.len();
            Ok(bytes.len())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let mut counter = Counter(0);
    // Writing to a counter cannot fail. `write` reports a document that cannot be serialized.
    let _ = write(document, &mut counter);
    counter.0
}

/// Content security policy that allows only this script and this style, and no network access.
fn policy() -> String {
    let hash = |text: &str| BASE64_STANDARD.encode(digest::digest(&digest::SHA256, text.as_bytes()));
    format!(
        "default-src 'none'; script-src 'sha256-{}'; style-src 'sha256-{}'; base-uri 'none'; form-action 'none'; \
         require-trusted-types-for 'script'; trusted-types 'none'",
        hash(SCRIPT),
        hash(STYLE)
    )
}

fn title(document: &Document) -> String {
    format!("{} · Tenbin", document.question.as_ref().unwrap_or(&document.title))
}

fn without_script(document: &Document) -> String {
    let names: Vec<&str> = match document.kind {
        super::document::DocumentKind::Runs => document.runs.iter().map(|run| run.id.as_str()).collect(),
        _ => vec![&document.id],
    };
    escaped(&format!(
        "This page is drawn by its own script, and scripts are switched off. To read the same in a terminal: \
         tenbin report {}",
        names.join(" ")
    ))
}

/// Escapes a text for HTML, between tags and in attributes.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            _ => escaped.push(character),
        }
    }
    escaped
}

/// JSON formatter whose output can neither end a script element nor begin a comment. Limits figures to six significant digits.
struct ScriptSafeFormatter;

/// Whole numbers below this one are written with all their digits.
const WHOLE_MAX: f64 = 9_007_199_254_740_992.0;

impl Formatter for ScriptSafeFormatter {
    fn write_f64<W: ?Sized + Write>(&mut self, out: &mut W, value: f64) -> io::Result<()> {
        let is_whole = |value: f64| value.fract() == 0.0 && value.abs() < WHOLE_MAX;
        // Rounds to six significant digits. The text was just written, so it can be parsed.
        let digits = if is_whole(value) { value } else { format!("{value:.5e}").parse().unwrap_or(value) };
        if is_whole(digits) { write!(out, "{digits:.0}") } else { write!(out, "{digits:?}") }
    }

    fn write_string_fragment<W: ?Sized + Write>(&mut self, out: &mut W, fragment: &str) -> io::Result<()> {
        let mut rest = fragment;
        while let Some(at) = rest.find(['<', '>', '&', '\u{2028}', '\u{2029}']) {
            let (before, from) = rest.split_at(at);
            let mut characters = from.chars();
            out.write_all(before.as_bytes())?;
            write!(out, "\\u{:04x}", characters.next().map_or(0, u32::from))?;
            rest = characters.as_str();
        }
        out.write_all(rest.as_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_is_inert_and_parses_to_the_same_value() {
        let hostile = "</script><script>alert(1)</script><!-- & \u{2028}\u{2029} {{script}} \"\\\u{0} 天秤";
        let mut out = Vec::new();
        hostile.serialize(&mut Serializer::with_formatter(&mut out, ScriptSafeFormatter)).unwrap();
        let text = String::from_utf8(out).unwrap();
        assert!(!text.contains(['<', '>', '&', '\u{2028}', '\u{2029}']), "{text}");
        assert_eq!(serde_json::from_str::<String>(&text).unwrap(), hostile);
    }

    #[test]
    fn figures_have_six_digits_and_counts_have_all() {
        let cases = [
            (1_234.567_891, "1234.57"),
            (0.1 + 0.2, "0.3"),
            (123_456_789.0, "123456789"),
            (12_345_678.9, "12345700"),
            (1.5e-9, "1.5e-9"),
            (1e300, "1e300"),
            (0.0, "0"),
        ];
        for (figure, expected) in cases {
            let mut out = Vec::new();
            figure.serialize(&mut Serializer::with_formatter(&mut out, ScriptSafeFormatter)).unwrap();
            assert_eq!(String::from_utf8(out).unwrap(), expected);
        }
        let mut out = Vec::new();
        [f64::NAN, f64::INFINITY]
            .serialize(&mut Serializer::with_formatter(&mut out, ScriptSafeFormatter))
            .unwrap();
        assert_eq!(out, b"[null,null]");
    }

    #[test]
    fn escapes_html() {
        assert_eq!(
            escaped("<a href=\"x\">'&amp;'</a>"),
            "&lt;a href=&quot;x&quot;&gt;&#39;&amp;amp;&#39;&lt;/a&gt;"
        );
    }
}
