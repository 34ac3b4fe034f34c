//! Finds the ends of SQL statements like psql.

use std::ops::Range;

use crate::script::script_set::Language;

/// A part of a text that is quoted, commented out, or protected by a backslash.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Quoted {
    pub(crate) range: Range<usize>,
    pub(crate) quote: Quote,
}

/// Kind of quotation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Quote {
    /// `'…'`
    Text,
    /// `E'…'`, in which a backslash is always an escape. The range excludes the `E`.
    Escaped,
    /// `"…"`
    Double,
    /// `` `…` ``
    Backtick,
    /// `$tag$…$tag$`
    Dollar,
    /// `/* … */` or `-- …`
    Comment,
    /// `;` or `:` after a backslash, which is removed.
    Protected,
}

/// Text between two ends.
#[derive(Debug, Default)]
pub(crate) struct Collected {
    /// Statement text including its `;`, without leading white space and `--` comments. Empty if there was nothing else.
    pub(crate) text: Vec<u8>,
    /// Quotations in text order.
    pub(crate) quoted: Vec<Quoted>,
    /// Start of the text in the script.
    pub(crate) start: usize,
}

/// Position in the script of a byte of a collected text, which lacks the backslashes of protected characters.
pub(crate) fn place_in_source(start: usize, at: usize, quoted: &[Quoted]) -> usize {
    let is_before = |quoted: &&Quoted| quoted.quote == Quote::Protected && quoted.range.start <= at;
    start + at + quoted.iter().filter(is_before).count()
}

/// Reason why a text ended.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// A `;` at the outermost level.
    Semicolon,
    /// A backslash. The scanner is positioned after it.
    Backslash,
    /// End of the script.
    Script,
    /// End of the script within a quotation or comment that began at this position.
    Open { at: usize, what: &'static str },
}

/// Scanner of a script.
#[derive(Debug)]
pub(crate) struct Scanner<'a> {
    source: &'a [u8],
    /// Current position.
    pub(crate) at: usize,
    collected: Collected,
    parens: u32,
    body: Body,
    /// True if backticks quote names, as in MySQL.
    has_backticks: bool,
}

/// Tracks the body of a standard SQL function, `BEGIN ATOMIC … END`, in which `;` does not end the statement.
#[derive(Debug, Default)]
struct Body {
    /// First letters of the first words of a statement.
    first: [u8; 4],
    words: usize,
    depth: u32,
}

impl Body {
    fn word(&mut self, word: &[u8]) {
        let is = |name: &[u8]| word.eq_ignore_ascii_case(name);
        if self.words < self.first.len() {
            const ROUTINE_WORDS: [&[u8]; 5] = [b"create", b"function", b"procedure", b"or", b"replace"];
            if ROUTINE_WORDS.iter().any(|name| is(name)) {
                self.first[self.words] = word[0].to_ascii_lowercase();
            }
            self.words += 1;
        }
        if !matches!(self.first, [b'c', b'f' | b'p', ..] | [b'c', b'o', b'r', b'f' | b'p']) {
            return;
        }
        if is(b"begin") || (is(b"case") && self.depth > 0) {
            self.depth += 1;
        } else if is(b"end") {
            self.depth = self.depth.saturating_sub(1);
        }
    }
}

impl<'a> Scanner<'a> {
    /// Creates a scanner at the start of a script, after a byte order mark. Backticks are quotes only in the extended language,
    /// because psql does not support them.
    pub(crate) fn new(source: &'a [u8], language: Language) -> Self {
        let at = if source.starts_with(b"\xef\xbb\xbf") { 3 } else { 0 };
        let has_backticks = language == Language::Extended;
        Self { source, at, collected: Collected::default(), parens: 0, body: Body::default(), has_backticks }
    }

    /// Returns the text up to the next end, and the kind of end.
    pub(crate) fn scan(&mut self) -> (Collected, End) {
        self.collected = Collected::default();
        (self.parens, self.body) = (0, Body::default());
        let end = self.advance();
        (std::mem::take(&mut self.collected), end)
    }

    fn advance(&mut self) -> End {
        while let Some(byte) = self.byte(0) {
            let opened = self.at;
            let what = match byte {
                b' ' | b'\t' | b'\n' | b'\r' | 0x0b | 0x0c => {
                    self.space(1);
                    continue;
                }
                b'-' if self.byte(1) == Some(b'-') => {
                    self.line_comment();
                    continue;
                }
                b'/' if self.byte(1) == Some(b'*') => (self.block_comment(), "comment"),
                b'\'' => (self.quoted(b'\'', Quote::Text), "quoted text"),
                b'e' | b'E' if self.byte(1) == Some(b'\'') => {
                    self.copy(1);
                    (self.quoted(b'\'', Quote::Escaped), "quoted text")
                }
                b'"' => (self.quoted(b'"', Quote::Double), "quoted name"),
                b'`' if self.has_backticks => (self.quoted(b'`', Quote::Backtick), "quoted name"),
                b'$' => (self.dollar(), "dollar-quoted text"),
                b'\\' => match self.backslash() {
                    Some(end) => return end,
                    None => continue,
                },
                _ => {
                    if self.plain(byte) {
                        return End::Semicolon;
                    }
                    continue;
                }
            };
            let (is_closed, what) = what;
            if !is_closed {
                return End::Open { at: opened, what };
            }
        }
        End::Script
    }

    /// Scans a character that is not part of a quotation. Returns true for a `;` that ends the text.
    fn plain(&mut self, byte: u8) -> bool {
        match byte {
            b'(' => self.parens += 1,
            b')' => self.parens = self.parens.saturating_sub(1),
            b';' if self.parens == 0 && self.body.depth == 0 => {
                self.copy(1);
                return true;
            }
            b'0'..=b'9' => return self.number(),
            _ if is_word_start(byte) => return self.word(),
            _ => {}
        }
        self.copy(1);
        false
    }

    fn byte(&self, ahead: usize) -> Option<u8> {
        self.source.get(self.at + ahead).copied()
    }

    fn copy(&mut self, length: usize) {
        if self.collected.text.is_empty() {
            self.collected.start = self.at;
        }
        let to = (self.at + length).min(self.source.len());
        self.collected.text.extend_from_slice(&self.source[self.at..to]);
        self.at = to;
    }

    /// Copies a quotation.
    fn copy_quoted(&mut self, to: usize, quote: Quote) {
        let from = self.collected.text.len();
        self.copy(to - self.at);
        self.collected.quoted.push(Quoted { range: from..self.collected.text.len(), quote });
    }

    /// Copies white space, except at the beginning of the text.
    fn space(&mut self, length: usize) {
        if self.collected.text.is_empty() { self.at += length } else { self.copy(length) }
    }

    fn line_comment(&mut self) {
        let rest = &self.source[self.at..];
        let length = rest.iter().position(|byte| matches!(byte, b'\n' | b'\r')).unwrap_or(rest.len());
        if self.collected.text.is_empty() {
            self.at += length
        } else {
            self.copy_quoted(self.at + length, Quote::Comment)
        }
    }

    /// Scans a comment, which may be nested. Returns false if it is not terminated.
    fn block_comment(&mut self) -> bool {
        let mut depth = 0_u32;
        let mut to = self.at;
        while to < self.source.len() {
            match &self.source[to..] {
                [b'/', b'*', ..] => (depth, to) = (depth + 1, to + 2),
                [b'*', b'/', ..] => (depth, to) = (depth - 1, to + 2),
                _ => to += 1,
            }
            if depth == 0 {
                self.copy_quoted(to, Quote::Comment);
                return true;
            }
        }
        self.copy_quoted(to, Quote::Comment);
        false
    }

    /// Scans a quotation. A doubled quote is treated as two adjacent quotations. Returns false if it is not terminated.
    fn quoted(&mut self, quote: u8, kind: Quote) -> bool {
        let has_escapes = kind == Quote::Escaped;
        let mut to = self.at + 1;
        while let Some(byte) = self.source.get(to) {
            to += 1;
            if *byte == b'\\' && has_escapes {
                to = (to + 1).min(self.source.len());
            } else if *byte == quote {
                // A text with escapes continues after a doubled quote, and after a line end followed by a quote.
                match continuation(&self.source[to..]) {
                    Some(length) if has_escapes => to += length,
                    _ => {
                        self.copy_quoted(to, kind);
                        return true;
                    }
                }
            }
        }
        self.copy_quoted(to, kind);
        false
    }

    /// Scans `$1`, `$tag$…$tag$`, or a single `$`. Returns false if a quotation is not terminated.
    fn dollar(&mut self) -> bool {
        let rest = &self.source[self.at..];
        let tag = rest[1..].iter().take_while(|byte| is_word(**byte) && **byte != b'$').count();
        let is_delimiter = rest.get(1 + tag) == Some(&b'$') && !rest[1].is_ascii_digit();
        if !is_delimiter {
            self.copy(1);
            if self.byte(0).is_some_and(|byte| byte.is_ascii_digit()) {
                self.number();
            }
            return true;
        }
        let delimiter = &rest[..tag + 2];
        let body = &rest[delimiter.len()..];
        let end = body.windows(delimiter.len()).position(|window| window == delimiter);
        let length = end.map_or(rest.len(), |end| end + 2 * delimiter.len());
        self.copy_quoted(self.at + length, Quote::Dollar);
        end.is_some()
    }

    /// Scans `\;` and `\:`, which stand for the character itself. Any other backslash ends the text.
    fn backslash(&mut self) -> Option<End> {
        self.at += 1;
        let byte = self.byte(0).filter(|byte| matches!(byte, b';' | b':'));
        let Some(byte) = byte else { return Some(End::Backslash) };
        self.copy_quoted(self.at + 1, Quote::Protected);
        if byte == b';' && self.parens == 0 && self.body.depth == 0 {
            self.body = Body::default();
        }
        None
    }

    fn number(&mut self) -> bool {
        let rest = &self.source[self.at..];
        let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
        let junk = match rest.get(digits) {
            Some(byte) if is_word_start(*byte) => {
                rest[digits..].iter().take_while(|byte| is_word(**byte)).count()
            }
            _ => 0,
        };
        self.copy(digits + junk);
        false
    }

    fn word(&mut self) -> bool {
        let rest = &self.source[self.at..];
        let length = rest.iter().take_while(|byte| is_word(**byte)).count();
        if self.parens == 0 {
            self.body.word(&rest[..length]);
        }
        self.copy(length);
        false
    }
}

/// Number of bytes up to and including the quote that continues a text after its closing quote. `None` if it does not continue.
fn continuation(rest: &[u8]) -> Option<usize> {
    let space =
        rest.iter().take_while(|byte| matches!(byte, b' ' | b'\t' | b'\n' | b'\r' | 0x0b | 0x0c)).count();
    let has_line_end = rest[..space].iter().any(|byte| matches!(byte, b'\n' | b'\r'));
    (rest.get(space) == Some(&b'\'') && (space == 0 || has_line_end)).then_some(space + 1)
}

fn is_word_start(byte: u8) -> bool {
    byte.is_ascii_alphabetic() || byte == b'_' || byte >= 0x80
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$') || byte >= 0x80
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(source: &str) -> Vec<String> {
        let mut scanner = Scanner::new(source.as_bytes(), Language::Pgbench);
        let mut found = Vec::new();
        loop {
            let (collected, end) = scanner.scan();
            if !collected.text.is_empty() {
                found.push(String::from_utf8(collected.text).unwrap());
            }
            match end {
                End::Semicolon => {}
                End::Script => return found,
                other => {
                    found.push(format!("{other:?}"));
                    return found;
                }
            }
        }
    }

    #[test]
    fn semicolons_end_statements_outside_quotes_comments_and_parentheses() {
        for (source, count) in [
            ("select 1; select 2", 2),
            ("select ';' ; select 'it''s; one'", 2),
            (r"select E'\';' ; select '\';", 2),
            ("select E'a'\n '\\';'; select 2", 2),
            ("select \"a;b\"\"c;\"; select U&\"d;\"", 2),
            ("select $$a;b$$, $x$ ; $$ ; $y$ $x$; select $1;", 2),
            ("select a$b$c; select d$b$e;", 2),
            ("create rule r as on insert to t do (select 1; select 2); select 3", 2),
            ("/* a; /* b; */ c; */ select 1 -- d;\n; -- e;\nselect 2", 2),
            ("select 1@/* ; */-- ;\n;", 1),
            (r"select 1\; select 2; select 3", 2),
            (
                "create function f() returns int begin atomic select 1; select case when true then 1 end; end; select 2",
                2,
            ),
            ("create or replace procedure p() begin atomic; insert into t values (1); end; select 2", 2),
            ("begin; create table f (a int); end;", 3),
            ("select 1e'a;'; select B'01', X'1f', N'a;'", 2),
            (";", 1),
            ("  -- nothing\n\t", 0),
        ] {
            assert_eq!(texts(source).len(), count, "{source}: {:?}", texts(source));
        }
    }

    #[test]
    fn leading_space_and_line_comments_are_removed() {
        assert_eq!(texts("-- a\n  /* b */ select -- c\n 1;"), ["/* b */ select -- c\n 1;"]);
        assert_eq!(texts(r"a\;b\:c"), ["a;b:c"]);
    }

    #[test]
    fn unterminated_quotations_are_reported() {
        for (source, what) in [
            ("select 'a", "quoted text"),
            (r"select e'a\'", "quoted text"),
            ("select \"a", "quoted name"),
            ("/* a /* b */", "comment"),
            ("select $x$ a $y$", "dollar-quoted text"),
        ] {
            let mut scanner = Scanner::new(source.as_bytes(), Language::Pgbench);
            let (_, end) = scanner.scan();
            assert!(matches!(end, End::Open { what: said, .. } if said == what), "{source}: {end:?}");
        }
    }

    #[test]
    fn quotations_are_recorded() {
        let (collected, _) = Scanner::new(br"select ':a', :b -- :c", Language::Pgbench).scan();
        let part = |quoted: &Quoted| {
            (String::from_utf8_lossy(&collected.text[quoted.range.clone()]).into_owned(), quoted.quote)
        };
        let quoted: Vec<_> = collected.quoted.iter().map(part).collect();
        assert_eq!(quoted, [("':a'".to_owned(), Quote::Text), ("-- :c".to_owned(), Quote::Comment)]);
    }

    #[test]
    fn backticks_are_quotes_in_the_extended_language_only() {
        let quotes = |language| {
            let (collected, _) = Scanner::new(b"select `it's`, 'a'", language).scan();
            collected.quoted.iter().map(|quoted| quoted.quote).collect::<Vec<_>>()
        };
        assert_eq!(quotes(Language::Extended), [Quote::Backtick, Quote::Text]);
        assert_eq!(quotes(Language::Pgbench), [Quote::Text, Quote::Text]);
    }
}
