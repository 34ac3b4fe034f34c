//! Replaces secrets in the text of a plan, so that it can be stored and shown. Names decide what counts as a secret.

use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

/// Replacement of a secret.
const SECRET: &str = "(secret)";
/// Parts of names of keys, headers, variables, and flags with secret values.
const SECRET_NAME_PARTS: [&str; 15] = [
    "bearer",
    "password",
    "passwd",
    "passphrase",
    "secret",
    "token",
    "apikey",
    "api-key",
    "api_key",
    "authorization",
    "cookie",
    "credential",
    "private-key",
    "private_key",
    "jwt",
];
/// Whole words in names with secret values.
const SECRET_NAMES: [&str; 3] = ["pw", "pwd", "pass"];
/// Words that may precede a reference to a variable.
const SCHEMES: [&str; 4] = ["Bearer", "Basic", "Token", "Digest"];
/// Min length of a `code` in a query that counts as a secret. A shorter one is a status or a country.
const CODE_CHARS_MIN: usize = 8;

/// Replaces passwords in URLs, and the values of keys, headers, variables, flags, and parameters whose names suggest a secret. It works for
/// YAML, JSON, commands, and URLs. In doubt it replaces too much. The number of lines does not change.
pub fn mask_secrets(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    // Indentation of a secret's key while its value continues on the lines below.
    let mut below: Option<usize> = None;
    for line in text.split_inclusive('\n') {
        let (content, end) = line.split_at(line.trim_end_matches(['\n', '\r']).len());
        let trimmed = content.trim_start();
        let indent = content.len() - trimmed.len();
        let is_below =
            |key: usize| trimmed.is_empty() || indent > key || (indent == key && trimmed.starts_with("- "));
        below = below.filter(|key| is_below(*key));
        if below.is_none() {
            let mut line = MaskedLine { rest: content, before: None, shown: &mut shown, continues: false };
            line.show();
            below = line.continues.then_some(indent);
        } else if !trimmed.is_empty() {
            shown.push_str(&content[..indent]);
            shown.push_str(SECRET);
        }
        shown.push_str(end);
    }
    shown
}

/// Path or URL, with query values replaced if their keys suggest a secret.
pub fn mask_query_secrets(text: &str) -> String {
    let Some((path, query)) = text.split_once('?') else { return text.to_owned() };
    let shown = query.split('&').map(|pair| match pair.split_once('=') {
        Some((key, _)) if suggests_secret(key) => format!("{key}={SECRET}"),
        _ => pair.to_owned(),
    });
    format!("{path}?{}", shown.collect::<Vec<_>>().join("&"))
}

/// Whether the name of a parameter or a header suggests a secret value.
pub fn suggests_secret(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    // Parameters of connection URLs that contain no secret.
    if matches!(name.as_str(), "target_session_attrs" | "require_auth" | "sslkey" | "ssl-key") {
        return false;
    }
    [
        "auth",
        "key",
        "token",
        "secret",
        "passw",
        "pwd",
        "sig",
        "session",
        "cookie",
        "credential",
        "csrf",
        "jwt",
    ]
    .iter()
    .any(|part| name.contains(part))
}

/// A line while secrets in it are replaced.
struct MaskedLine<'a, 'b> {
    rest: &'a str,
    /// Character before `rest`.
    before: Option<char>,
    shown: &'b mut String,
    /// Whether a secret continues on the next line.
    continues: bool,
}

impl<'a> MaskedLine<'a, '_> {
    fn show(&mut self) {
        while !self.rest.is_empty() {
            self.mask_url_password();
            let word = self.rest.find(|character| !is_word_character(character)).unwrap_or(self.rest.len());
            if word == 0 {
                self.take(self.rest.chars().next().map_or(1, char::len_utf8));
                continue;
            }
            let is_in_query = matches!(self.before, Some('?' | '&'));
            let word = self.take(word);
            let is_flag = word.starts_with("--");
            if is_secret_name(word) || (is_in_query && suggests_secret(word)) {
                self.mask_value(is_flag);
            } else if is_in_query && word == "code" && self.query_value().chars().count() >= CODE_CHARS_MIN {
                self.mask_value(false);
            }
        }
    }

    /// Copies `bytes` bytes unchanged.
    fn take(&mut self, bytes: usize) -> &'a str {
        let (taken, rest) = self.rest.split_at(bytes.min(self.rest.len()));
        self.shown.push_str(taken);
        self.before = taken.chars().next_back().or(self.before);
        self.rest = rest;
        taken
    }

    /// Replaces `bytes` bytes, unless they only refer to variables.
    fn mask(&mut self, bytes: usize) {
        let (hidden, rest) = self.rest.split_at(bytes.min(self.rest.len()));
        self.shown.push_str(if is_reference(hidden) { hidden } else { SECRET });
        self.rest = rest;
    }

    /// Replaces the password in `//user:password@`.
    fn mask_url_password(&mut self) {
        let Some(authority) = self.rest.strip_prefix("://") else { return };
        let end = authority.find(|character: char| character.is_whitespace() || "/?#\"'".contains(character));
        let Some(at) = authority[..end.unwrap_or(authority.len())].rfind('@') else { return };
        let Some(colon) = authority[..at].find(':') else { return };
        self.take("://".len() + colon + 1);
        self.mask(at - colon - 1);
    }

    fn query_value(&self) -> &'a str {
        let value = self.rest.strip_prefix('=').unwrap_or_default();
        &value[..bare_value_end(value)]
    }

    /// Replaces the value after the name of a secret, if one follows.
    fn mask_value(&mut self, is_flag: bool) {
        let quotes = self.rest.trim_start_matches(['"', '\'', '\\']);
        let spaced = quotes.trim_start();
        let is_assigned = spaced.starts_with('=');
        let value = match spaced.strip_prefix([':', '=']) {
            Some(value) => value.trim_start(),
            None if is_flag => spaced.trim_start_matches([',', ' ', '\t']),
            None => return,
        };
        self.take(self.rest.len() - value.len());
        match value.chars().next() {
            None | Some('|' | '>' | '#') if !is_assigned && !is_flag => self.continues = true,
            None => {}
            // The names within the braces decide what is secret there.
            Some('{') if !is_assigned && !is_reference(value.trim_end_matches([' ', '}'])) => {}
            Some('"' | '\'' | '\\') => self.mask_quoted(),
            Some(_) if is_assigned || is_flag => self.mask(bare_value_end(value)),
            Some(_) if matches!(value.trim(), "yes" | "no" | "true" | "false" | "null" | "~") => {}
            Some(_) => self.mask(value.len()),
        }
    }

    /// Replaces a quoted value. Without a closing quote, it replaces the rest of the line and the lines below it.
    fn mask_quoted(&mut self) {
        let escaped = self.rest.starts_with('\\');
        let opening = if escaped { 2.min(self.rest.len()) } else { 1 };
        if !self.rest.is_char_boundary(opening) {
            return self.mask(self.rest.len());
        }
        let quote = self.take(opening);
        let mut from = 0;
        let closing = loop {
            let Some(found) = self.rest[from..].find(quote).map(|at| from + at) else { break None };
            // A backslash escapes the next quote.
            let is_ordinary = quote == "\"" && self.rest[..found].ends_with('\\');
            if !is_ordinary {
                break Some(found);
            }
            from = found + quote.len();
        };
        self.continues = closing.is_none();
        self.mask(closing.unwrap_or(self.rest.len()));
    }
}

fn is_word_character(character: char) -> bool {
    character.is_alphanumeric() || matches!(character, '_' | '-' | '.')
}

fn is_secret_name(name: &str) -> bool {
    let name = name.to_lowercase();
    SECRET_NAME_PARTS.iter().any(|part| name.contains(part))
        || name.split(['_', '-', '.']).any(|word| SECRET_NAMES.contains(&word))
}

/// End of an unquoted value in a command or a URL.
fn bare_value_end(value: &str) -> usize {
    let ends = |character: char| character.is_whitespace() || "&\"',;)]".contains(character);
    value.find(ends).unwrap_or(value.len())
}

/// Whether a value only refers to variables, such as `Bearer {token}`.
fn is_reference(value: &str) -> bool {
    let mut rest = value.trim();
    if let Some((scheme, after)) = rest.split_once(' ')
        && SCHEMES.contains(&scheme)
    {
        rest = after.trim_start();
    }
    let name = rest.strip_prefix('{').map(|name| name.strip_suffix('}').unwrap_or(name));
    name.is_some_and(|name| !name.is_empty() && name.chars().all(is_word_character))
}

#[cfg(test)]
mod tests {
    use super::mask_secrets;

    #[test]
    fn replaces_values_of_secret_names_in_every_notation() {
        for (text, shown) in [
            (
                "headers: { Authorization: \"Bearer s3cr\", Accept: x }",
                "headers: { Authorization: \"(secret)\", Accept: x }",
            ),
            ("  Cookie: sid=s3cr; b=1", "  Cookie: (secret)"),
            (
                "body: '{\"user\": \"u\", \"password\": \"s3cr\", \"n\": 1}'",
                "body: '{\"user\": \"u\", \"password\": \"(secret)\", \"n\": 1}'",
            ),
            (
                "body: \"{\\\"passwd\\\":\\\"s3cr\\\",\\\"n\\\":1}\"",
                "body: \"{\\\"passwd\\\":\\\"(secret)\\\",\\\"n\\\":1}\"",
            ),
            ("start: app --db-password s3cr --port 1", "start: app --db-password (secret) --port 1"),
            ("start: [app, \"--api-key\", \"s3cr\", -v]", "start: [app, \"--api-key\", \"(secret)\", -v]"),
            ("start: sh -c 'PGPASSWORD=s3cr app'", "start: sh -c 'PGPASSWORD=(secret) app'"),
            ("pgbench -D pw=s3cr -D n=1", "pgbench -D pw=(secret) -D n=1"),
            ("env: { DB_PASS: s3cr }", "env: { DB_PASS: (secret)"),
            ("url: http://me:s3cr@127.0.0.1:1/x", "url: http://me:(secret)@127.0.0.1:1/x"),
            ("- get: /back?code=s3crs3cr&key=s3cr&n=1", "- get: /back?code=(secret)&key=(secret)&n=1"),
            ("password: 's3cr\n  s3cr'\nfor: 1s\n", "password: '(secret)\n  (secret)\nfor: 1s\n"),
            (
                "a:\n  token: |\n    s3cr\n\n    s3cr\n  b: 1\n",
                "a:\n  token: |\n    (secret)\n\n    (secret)\n  b: 1\n",
            ),
            ("tokens:\n- s3cr\nb: 1", "tokens:\n(secret)\nb: 1"),
            ("password: \"s3\\\"cr\" # x", "password: \"(secret)\" # x"),
        ] {
            assert_eq!(mask_secrets(text), shown);
            assert!(!mask_secrets(text).contains("s3cr"));
        }
    }

    #[test]
    fn keeps_everything_else() {
        for text in [
            "headers: { Authorization: \"Bearer {token}\" }",
            "save: { token: { json: /token } }",
            "- get: /status?code=503",
            "start: initdb --auth=trust -D {dir}/data",
            "url: http://127.0.0.1:8080",
            "expect: { status: 200, body: token }",
            "load: { users: 100, for: 60s }\r\n# a comment: nothing\r\n",
            "proxy_pass http://127.0.0.1:{port};",
            "ünïcödé: \"\\",
        ] {
            assert_eq!(mask_secrets(text), text);
        }
    }

    #[test]
    fn never_panics() {
        for text in [
            "password",
            "password:",
            "password: \\",
            "password: \\é",
            "://",
            "://:@",
            "token=\"",
            "--token",
            "{:\"password\"=",
        ] {
            assert!(mask_secrets(text).len() >= 3);
        }
    }
}
