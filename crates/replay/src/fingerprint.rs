//! Masks values in statements and requests, so that texts that differ only in values have one fingerprint.

use sql::{Engine, LexicalRules};

/// Max bytes of a fingerprint. Longer ones are truncated.
pub(crate) const BYTES_MAX: usize = 2_000;
/// Length from which a path segment is taken as a value.
const SEGMENT_CHARS_MAX: usize = 32;

/// Text of a statement with masked values, and facts about its tokens.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Scanned {
    /// Statement with `?` instead of values, without comments and in lower case.
    pub fingerprint: String,
    /// Largest number of a placeholder such as `$2`, or 0 if there is none.
    pub placeholders: usize,
    /// Whether a literal or comment is not terminated.
    pub is_cut: bool,
}

/// Masks the values of a statement.
pub fn scan(text: &str, engine: Engine) -> Scanned {
    let mut scan = Scan {
        bytes: text.as_bytes(),
        at: 0,
        lexical_rules: engine.lexical_rules(),
        out: Scanned::default(),
    };
    while scan.at < scan.bytes.len() {
        scan.token();
    }
    let mut out = scan.out;
    let trimmed = out.fingerprint.trim_end_matches([' ', ';']).len();
    out.fingerprint.truncate(trimmed);
    out.fingerprint = collapse_lists(&out.fingerprint);
    // Control characters are rare, and finding them byte by byte is fast.
    if out.fingerprint.bytes().any(|byte| !(0x20..0x7f).contains(&byte)) {
        out.fingerprint = out.fingerprint.replace(char::is_control, " ");
    }
    out
}

struct Scan<'a> {
    bytes: &'a [u8],
    at: usize,
    lexical_rules: LexicalRules,
    out: Scanned,
}

impl Scan<'_> {
    fn peek(&self, ahead: usize) -> u8 {
        self.bytes.get(self.at + ahead).copied().unwrap_or(0)
    }

    fn token(&mut self) {
        match (self.peek(0), self.peek(1)) {
            (byte, _) if byte.is_ascii_whitespace() => {
                self.at += 1;
                self.blank();
            }
            (b'-', b'-') if !self.lexical_rules.dashes_need_blank || self.peek(2) <= b' ' => {
                self.line_comment()
            }
            (b'#', _) if self.lexical_rules.has_hash_comments => self.line_comment(),
            (b'/', b'*')
                if !self.lexical_rules.has_executable_comments || !matches!(self.peek(2), b'!' | b'M') =>
            {
                self.block_comment()
            }
            (quote @ (b'\'' | b'"'), _)
                if quote == b'\'' || self.lexical_rules.has_texts_in_double_quotes =>
            {
                self.literal(quote, self.lexical_rules.has_escapes_in_quotes)
            }
            (b'e' | b'E', b'\'') => {
                self.at += 1;
                self.literal(b'\'', true);
            }
            (b'b' | b'B' | b'x' | b'X' | b'n' | b'N', b'\'') => {
                self.at += 1;
                self.literal(b'\'', self.lexical_rules.has_escapes_in_quotes);
            }
            (quote @ (b'"' | b'`'), _) => self.identifier(quote),
            (b'$', digit) if digit.is_ascii_digit() => self.placeholder(),
            (b'$', _) if self.lexical_rules.has_dollar_quotes && self.dollar_quote() => {}
            (byte, _) if byte.is_ascii_digit() => self.number(),
            (b'.', digit) if digit.is_ascii_digit() && !self.follows_word() => self.number(),
            (byte, _) if is_word(byte) => self.word(),
            (byte, _) => {
                self.at += 1;
                self.push(byte);
            }
        }
    }

    fn push(&mut self, byte: u8) {
        if self.out.fingerprint.len() < BYTES_MAX {
            self.out.fingerprint.push(char::from(byte.to_ascii_lowercase()));
        }
    }

    fn blank(&mut self) {
        if !self.out.fingerprint.is_empty() && !self.out.fingerprint.ends_with(' ') {
            self.push(b' ');
        }
    }

    fn follows_word(&self) -> bool {
        self.out
            .fingerprint
            .as_bytes()
            .last()
            .is_some_and(|byte| is_word(*byte) || matches!(byte, b'"' | b'`'))
    }

    fn line_comment(&mut self) {
        let rest = &self.bytes[self.at..];
        self.at += memchr::memchr(b'\n', rest).unwrap_or(rest.len());
        self.blank();
    }

    fn block_comment(&mut self) {
        let mut depth = 0;
        loop {
            match (self.peek(0), self.peek(1)) {
                (b'/', b'*') if depth == 0 || self.lexical_rules.nests_comments => {
                    (depth, self.at) = (depth + 1, self.at + 2)
                }
                (b'*', b'/') => (depth, self.at) = (depth - 1, self.at + 2),
                _ if self.at >= self.bytes.len() => {
                    self.out.is_cut = true;
                    return;
                }
                _ => self.at += 1,
            }
            if depth == 0 {
                return self.blank();
            }
        }
    }

    fn literal(&mut self, quote: u8, has_escapes: bool) {
        self.skip_quoted(quote, has_escapes);
        self.mask();
    }

    fn skip_quoted(&mut self, quote: u8, has_escapes: bool) {
        self.at += 1;
        loop {
            match (self.peek(0), self.peek(1)) {
                _ if self.at >= self.bytes.len() => {
                    self.out.is_cut = true;
                    return;
                }
                (b'\\', _) if has_escapes => self.at += 2,
                (byte, next) if byte == quote && next == quote => self.at += 2,
                (byte, _) if byte == quote => {
                    self.at += 1;
                    return;
                }
                _ => self.at += 1,
            }
        }
    }

    fn identifier(&mut self, quote: u8) {
        let start = self.at;
        self.skip_quoted(quote, false);
        let end = self.at.min(self.bytes.len());
        self.text(start, end);
    }

    /// Appends bytes of the statement. They may be part of a character, which is replaced.
    fn text(&mut self, start: usize, end: usize) {
        if self.out.fingerprint.len() >= BYTES_MAX {
            return;
        }
        let bytes = &self.bytes[start..end];
        if bytes.is_ascii() {
            let lower = bytes.iter().take(BYTES_MAX).map(|byte| char::from(byte.to_ascii_lowercase()));
            self.out.fingerprint.extend(lower);
        } else {
            let text = String::from_utf8_lossy(bytes).to_lowercase();
            self.out.fingerprint.extend(text.chars().take(BYTES_MAX));
        }
    }

    fn word(&mut self) {
        let start = self.at;
        let is_part = |byte: u8| is_word(byte) || byte.is_ascii_digit() || byte == b'$';
        while is_part(self.peek(0)) {
            self.at += 1;
        }
        self.text(start, self.at);
    }

    fn placeholder(&mut self) {
        let digits = self.bytes[self.at + 1..].iter().take_while(|byte| byte.is_ascii_digit()).count();
        let number = crate::instant::number(&self.bytes[self.at + 1..][..digits]).unwrap_or(i64::MAX);
        self.out.placeholders = self.out.placeholders.max(usize::try_from(number).unwrap_or(usize::MAX));
        self.at += 1 + digits;
        self.mask();
    }

    /// Skips `$tag$ … $tag$`. Returns false if the text is not such a literal.
    fn dollar_quote(&mut self) -> bool {
        let rest = &self.bytes[self.at..];
        let tag = rest[1..].iter().take_while(|byte| is_word(**byte) || byte.is_ascii_digit()).count();
        if rest.get(1 + tag) != Some(&b'$') {
            return false;
        }
        let (mark, body) = rest.split_at(tag + 2);
        match memchr::memmem::find(body, mark) {
            Some(end) => self.at += 2 * mark.len() + end,
            None => {
                self.at = self.bytes.len();
                self.out.is_cut = true;
            }
        }
        self.mask();
        true
    }

    fn number(&mut self) {
        let is_part = |scan: &Self| {
            let (byte, before) = (scan.peek(0), scan.bytes[scan.at.saturating_sub(1)]);
            byte.is_ascii_alphanumeric()
                || matches!(byte, b'.' | b'_')
                || matches!(byte, b'+' | b'-') && matches!(before, b'e' | b'E')
        };
        self.at += 1;
        while is_part(self) {
            self.at += 1;
        }
        self.mask();
    }

    /// Appends the mark of a value, instead of a sign before it.
    fn mask(&mut self) {
        let text = &mut self.out.fingerprint;
        if text.strip_suffix(['-', '+']).is_some_and(|before| is_before_sign(before.trim_end())) {
            text.pop();
        }
        self.push(b'?');
    }
}

/// Whether a sign after this text belongs to a number: it follows an operator or a keyword.
fn is_before_sign(text: &str) -> bool {
    let word = text.rsplit(|char: char| !char.is_ascii_alphabetic()).next().unwrap_or_default();
    text.ends_with(['(', ',', '=', '<', '>', '*', '/', '%', '+', '-']) || KEYWORDS.contains(&word)
}

/// Keywords after which a sign belongs to a number.
const KEYWORDS: [&str; 12] =
    ["and", "between", "by", "else", "limit", "offset", "or", "return", "select", "then", "when", "where"];

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphabetic() || byte == b'_' || byte >= 0x80
}

/// Replaces lists of two or more values, and repetitions of them, by `(?, …)`.
fn collapse_lists(text: &str) -> String {
    let (mut out, mut rest) = (String::with_capacity(text.len()), text);
    while let Some(open) = rest.find('(') {
        out.push_str(&rest[..open]);
        rest = &rest[open..];
        match list_bytes(rest) {
            Some(bytes) => {
                out.push_str("(?, …)");
                rest = &rest[bytes..];
                while let Some(bytes) = rest.trim_start().strip_prefix(',').and_then(|further| {
                    let further = further.trim_start();
                    list_bytes(further).map(|bytes| rest.len() - further.len() + bytes)
                }) {
                    rest = &rest[bytes..];
                }
            }
            None => {
                out.push('(');
                rest = &rest[1..];
            }
        }
    }
    out + rest
}

/// Length of a list of two or more values at the start of `text`.
fn list_bytes(text: &str) -> Option<usize> {
    let inner = text.strip_prefix('(')?;
    let end = inner.find(|char: char| !matches!(char, '?' | ',' | ' '))?;
    let is_list = inner[end..].starts_with(')') && inner[..end].matches('?').count() > 1;
    is_list.then_some(end + 2)
}

/// Masks the values of a request: the values of its query, and path segments that have a digit or are long.
pub fn of_request(method: &str, target: &str) -> String {
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    let is_version = |segment: &str| {
        segment.strip_prefix('v').is_some_and(|digits| {
            (1..3).contains(&digits.len()) && digits.bytes().all(|byte| byte.is_ascii_digit())
        })
    };
    let segment = |segment: &str| {
        let is_value = segment.len() > SEGMENT_CHARS_MAX || segment.bytes().any(|byte| byte.is_ascii_digit());
        if is_value && !is_version(segment) { "?".to_owned() } else { segment.to_owned() }
    };
    let mut text = format!("{method} {}", path.split('/').map(segment).collect::<Vec<_>>().join("/"));
    let pairs = query.split('&').filter(|pair| !pair.is_empty());
    let names: Vec<String> = pairs
        .map(|pair| match pair.split_once('=') {
            Some((name, _)) => format!("{}=?", segment(name)),
            None => segment(pair),
        })
        .collect();
    if !names.is_empty() {
        text = format!("{text}?{}", names.join("&"));
    }
    text.chars().filter(|char| !char.is_control()).take(BYTES_MAX).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statements_that_differ_in_values_have_one_fingerprint() {
        for (text, fingerprint) in [
            ("SELECT  abalance FROM t WHERE aid = 42;", "select abalance from t where aid = ?"),
            ("select abalance\nfrom t where aid = $1", "select abalance from t where aid = ?"),
            ("UPDATE t SET b = b + -5, c=-.5e-3 WHERE d='it''s'", "update t set b = b + ?, c=? where d=?"),
            ("SELECT 1 -- secret\n, /* a /* b */ c */ 2", "select ? , ?"),
            ("SELECT E'a\\'b', $a$ it's $a$, x'ff', t1.c2", "select ?, ?, ?, t1.c2"),
            ("INSERT INTO t VALUES (1, 'a'), (2,'b'),(3, NULL)", "insert into t values (?, …),(?, null)"),
            ("SELECT * FROM t WHERE a IN (1,2, 3) AND f(1)", "select * from t where a in (?, …) and f(?)"),
            ("SELECT \"Name\" FROM \"T\" WHERE é = 'ü'", "select \"name\" from \"t\" where é = ?"),
        ] {
            let scanned = scan(text, Engine::PostgreSql);
            assert_eq!((scanned.fingerprint.as_str(), scanned.is_cut), (fingerprint, false), "{text}");
        }
        let mysql = "SELECT \"secret\", 'a\\'b' # c\n FROM `t` WHERE a--1";
        assert_eq!(scan(mysql, Engine::MySql).fingerprint, "select ?, ? from `t` where a-?");
    }

    #[test]
    fn cut_statement_and_placeholders_are_noticed() {
        for text in ["SELECT 'abc", "SELECT $a$ b", "SELECT /* b", "SELECT \"a"] {
            assert!(scan(text, Engine::PostgreSql).is_cut, "{text}");
        }
        assert_eq!(scan("SELECT $2, $11, '$99'", Engine::PostgreSql).placeholders, 11);
        assert!(scan("SELECT $99999999999999999999", Engine::PostgreSql).placeholders > 1 << 32);
    }

    #[test]
    fn requests_keep_path_and_names() {
        assert_eq!(of_request("GET", "/v1/users/42/a?id=7&full"), "GET /v1/users/?/a?id=?&full");
        assert_eq!(of_request("GET", "/"), "GET /");
    }
}
