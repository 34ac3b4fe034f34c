//! Normalizes statements: text without values, whitespace, and comments, so that statements that differ only in values are equal.

/// Maximum length of a normalized statement, in characters.
const CHARACTERS_MAX: usize = 100;

/// Meaning of double quotes. Single quotes always enclose values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Quotes {
    /// Double quotes enclose names.
    Names,
    /// Double quotes enclose values, and a backslash escapes.
    Values,
}

/// Normalizes a statement. The text may be cut off anywhere, and may contain any characters.
pub(crate) fn shape(text: &str, quotes: Quotes) -> String {
    let mut shape = Shape::default();
    let mut rest = text.chars().peekable();
    while let Some(character) = rest.next() {
        let next = rest.peek().copied();
        match character {
            '\'' => shape.value(&mut rest, '\'', quotes),
            '"' if quotes == Quotes::Values => shape.value(&mut rest, '"', quotes),
            '-' if next == Some('-') => skip_past(&mut rest, |_, now| now == '\n'),
            '/' if next == Some('*') => {
                rest.next();
                skip_past(&mut rest, |before, now| (before, now) == ('*', '/'));
            }
            '0'..='9' if !shape.is_in_name() => shape.number(&mut rest),
            '$' if !shape.is_in_name() && next.is_some_and(|next| next.is_ascii_digit()) => {
                shape.number(&mut rest);
            }
            blank if blank.is_whitespace() || blank.is_control() => shape.needs_blank = true,
            ';' => {}
            other => shape.push(other),
        }
    }
    shape.text.chars().take(CHARACTERS_MAX).collect()
}

type Rest<'a> = std::iter::Peekable<std::str::Chars<'a>>;

fn skip_past(rest: &mut Rest<'_>, is_end: impl Fn(char, char) -> bool) {
    let mut before = ' ';
    for now in rest.by_ref() {
        if is_end(before, now) {
            return;
        }
        before = now;
    }
}

#[derive(Default)]
struct Shape {
    text: String,
    needs_blank: bool,
}

impl Shape {
    fn is_in_name(&self) -> bool {
        let last = self.text.chars().next_back();
        !self.needs_blank && last.is_some_and(|last| last.is_alphanumeric() || last == '_' || last == '$')
    }

    fn push(&mut self, character: char) {
        if std::mem::take(&mut self.needs_blank) && !self.text.is_empty() {
            self.text.push(' ');
        }
        self.text.push(character);
    }

    /// Appends `?` for a value. A list of values becomes a single `?`.
    fn put_value(&mut self) {
        let before = self.text.trim_end_matches([' ', ',', '-']);
        if before.ends_with('?') && before.len() < self.text.len() {
            self.text.truncate(before.len());
            self.needs_blank = false;
        } else {
            self.push('?');
        }
    }

    fn value(&mut self, rest: &mut Rest<'_>, quote: char, quotes: Quotes) {
        while let Some(character) = rest.next() {
            if character == '\\' && quotes == Quotes::Values {
                rest.next();
            } else if character == quote && rest.next_if_eq(&quote).is_none() {
                break;
            }
        }
        self.put_value();
    }

    fn number(&mut self, rest: &mut Rest<'_>) {
        while rest.next_if(|next| next.is_alphanumeric() || *next == '.').is_some() {}
        self.put_value();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn normalizes_values_whitespace_and_comments() {
        for (text, expected) in [
            ("UPDATE t SET a = a + 17 WHERE id = 5;", "UPDATE t SET a = a + ? WHERE id = ?"),
            ("UPDATE t SET a = a + $1 WHERE id = $2", "UPDATE t SET a = a + ? WHERE id = ?"),
            ("SELECT  *\n FROM sbtest1 -- all\n WHERE k IN (1, 2,3)", "SELECT * FROM sbtest1 WHERE k IN (?)"),
            ("/* trace 12 */ INSERT INTO \"t\" VALUES ('it''s', 1.5e3)", "INSERT INTO \"t\" VALUES (?)"),
            ("SELECT 'cut of", "SELECT ?"),
            ("SELECT /* cut of", "SELECT"),
            ("", ""),
        ] {
            assert_eq!(shape(text, Quotes::Names), expected, "{text}");
        }
        assert_eq!(shape("SELECT \"it\\\"s\", 'a\\'b' FROM t", Quotes::Values), "SELECT ? FROM t");
    }

    #[test]
    fn normalized_statement_is_short_without_control_characters() {
        let shape = shape(&"\u{1b}[31m名 \0".repeat(1_000), Quotes::Names);
        assert!(shape.chars().count() <= CHARACTERS_MAX && !shape.chars().any(char::is_control), "{shape}");
    }
}
