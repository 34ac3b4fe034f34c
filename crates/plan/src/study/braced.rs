//! Texts with variables in braces: `{port}` is filled in, `{{port}}` says `{port}`, any other brace stands for itself.

/// A text with variables.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Braced {
    parts: Vec<Part>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    Text(String),
    /// A variable, and where its braces stand in the text.
    Name {
        name: String,
        start: usize,
        end: usize,
    },
}

impl Braced {
    pub(crate) fn read(text: &str) -> Self {
        let mut parts = Vec::new();
        let (mut plain, mut at) = (String::new(), 0);
        while let Some(distance) = text[at..].find('{') {
            let brace = at + distance;
            plain.push_str(&text[at..brace]);
            if let Some(end) = name_in(text, brace, "{{", "}}") {
                plain.push_str(&text[brace + 1..end - 1]);
                at = end;
            } else if let Some(end) = name_in(text, brace, "{", "}") {
                if !plain.is_empty() {
                    parts.push(Part::Text(std::mem::take(&mut plain)));
                }
                parts.push(Part::Name { name: text[brace + 1..end - 1].to_owned(), start: brace, end });
                at = end;
            } else {
                plain.push('{');
                at = brace + 1;
            }
        }
        plain.push_str(&text[at..]);
        if !plain.is_empty() {
            parts.push(Part::Text(plain));
        }
        Self { parts }
    }

    pub(crate) fn parts(&self) -> &[Part] {
        &self.parts
    }

    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.parts.iter().filter_map(|part| match part {
            Part::Name { name, .. } => Some(name.as_str()),
            Part::Text(_) => None,
        })
    }

    /// The text, with what `value` says for each name; a name without a value stays as it is written.
    pub(crate) fn fill(&self, value: impl Fn(&str) -> Option<String>) -> String {
        let parts = self.parts.iter().map(|part| match part {
            Part::Text(text) => text.clone(),
            Part::Name { name, .. } => value(name).unwrap_or_else(|| format!("{{{name}}}")),
        });
        parts.collect()
    }
}

/// Whether a name can stand in braces.
pub(crate) fn is_name(text: &str) -> bool {
    name_length(text) == text.len() && !text.is_empty()
}

/// Where `{name}` ends that begins at `start` with these braces.
fn name_in(text: &str, start: usize, open: &str, close: &str) -> Option<usize> {
    let name = text[start..].strip_prefix(open)?;
    let length = Some(name_length(name)).filter(|length| *length > 0)?;
    name[length..].starts_with(close).then_some(start + open.len() + length + close.len())
}

fn name_length(text: &str) -> usize {
    let mut bytes = text.bytes();
    if !bytes.next().is_some_and(|byte| byte.is_ascii_alphabetic() || byte == b'_') {
        return 0;
    }
    1 + bytes.take_while(|byte| byte.is_ascii_alphanumeric() || b"_.-".contains(byte)).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_filled_in_and_other_braces_stay() {
        let fill = |text: &str| Braced::read(text).fill(|name| Some(format!("<{name}>")));
        assert_eq!(fill("a {b}{c.d-1} e"), "a <b><c.d-1> e");
        assert_eq!(fill("{{b}} {{{b}}}"), "{b} {{b}}");
        assert_eq!(fill(r#"{"id": {id}, "x": {}}"#), r#"{"id": <id>, "x": {}}"#);
        assert_eq!(fill("{ b } {1} {b"), "{ b } {1} {b");
        assert_eq!(fill("ü{ü}{b}ü"), "ü{ü}<b>ü");
        assert_eq!(Braced::read("{x}").fill(|_| None), "{x}");
        let at = Braced::read("ä {x}").parts().to_vec();
        assert_eq!(at[1], Part::Name { name: "x".to_owned(), start: 3, end: 6 });
    }
}
