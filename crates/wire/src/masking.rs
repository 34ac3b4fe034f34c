//! Replaces secrets in the text of a plan, so that it can be stored and shown. Names decide what counts as a secret.

use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

/// Replacement of a secret.
const SECRET: &str = "(secret)";
/// Parts of names of keys, headers, variables, and flags with secret values.
const TELLING: [&str; 15] = [
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
const TELLING_ALONE: [&str; 3] = ["pw", "pwd", "pass"];
/// Words that may precede a reference to a variable.
const SCHEMES: [&str; 4] = ["Bearer", "Basic", "Token", "Digest"];
/// Min length of a `code` in a query that counts as a secret. A shorter one is a status or a country.
const CODE_CHARS_MIN: usize = 8;

/// Replaces passwords in URLs, and the values of keys, headers, variables, flags, and parameters whose names suggest a secret. It works for
/// YAML, JSON, commands, and URLs. In doubt it replaces too much. The number of lines does not change.
pub fn without_secrets(text: &str) -> String {
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
            let mut line = MaskedLine { rest: content, before: None, shown: &mut shown, goes_on: false };
            line.show();
            below = line.goes_on.then_some(indent);
        } else if !trimmed.is_empty() {
            shown.push_str(&content[..indent]);
            shown.push_str(SECRET);
        }
        shown.push_str(end);
    }
    shown
}

/// Path or URL, with query values replaced if their keys suggest a secret.
pub fn without_secrets_in_query(text: &str) -> String {
    let Some((path, query)) = text.split_once('?') else { return text.to_owned() };
    let shown = query.split('&').map(|pair| match pair.split_once('=') {
        Some((key, _)) if sounds_secret(key) => format!("{key}={SECRET}"),
        _ => pair.to_owned(),
    });
    format!("{path}?{}", shown.collect::<Vec<_>>().join("&"))
}

/// Whether the name of a parameter or a header suggests a secret value.
pub fn sounds_secret(name: &str) -> bool {
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
    goes_on: bool,
}

impl<'a> MaskedLine<'a, '_> {
    fn show(&mut self) {
        while !self.rest.is_empty() {
            self.show_url_password();
            let word = self.rest.find(|character| !is_of_word(character)).unwrap_or(self.rest.len());
            if word == 0 {
                self.take(self.rest.chars().next().map_or(1, char::len_utf8));
                continue;
            }
            let is_in_query = matches!(self.before, Some('?' | '&'));
            let word = self.take(word);
            let is_flag = word.starts_with("--");
            if is_telling(word) || (is_in_query && sounds_secret(word)) {
                self.hide_value(is_flag);
            } else if is_in_query && word == "code" && self.value_of_query().chars().count() >= CODE_CHARS_MIN
            {
                self.hide_value(false);
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
    fn hide(&mut self, bytes: usize) {
        let (hidden, rest) = self.rest.split_at(bytes.min(self.rest.len()));
        self.shown.push_str(if is_reference(hidden) { hidden } else { SECRET });
        self.rest = rest;
    }

    /// Replaces the password in `//user:password@`.
    fn show_url_password(&mut self) {
        let Some(authority) = self.rest.strip_prefix("://") else { return };
        let end = authority.find(|character: char| character.is_whitespace() || "/?#\"'".contains(character));
        let Some(at) = authority[..end.unwrap_or(authority.len())].rfind('@') else { return };
        let Some(colon) = authority[..at].find(':') else { return };
        self.take("://".len() + colon + 1);
        self.hide(at - colon - 1);
    }

    fn value_of_query(&self) -> &'a str {
        let value = self.rest.strip_prefix('=').unwrap_or_default();
        &value[..end_of_bare(value)]
    }

    /// Replaces the value after the name of a secret, if one follows.
    fn hide_value(&mut self, is_flag: bool) {
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
            None | Some('|' | '>' | '#') if !is_assigned && !is_flag => self.goes_on = true,
            None => {}
            // The names within the braces decide what is secret there.
            Some('{') if !is_assigned && !is_reference(value.trim_end_matches([' ', '}'])) => {}
            Some('"' | '\'' | '\\') => self.hide_quoted(),
            Some(_) if is_assigned || is_flag => self.hide(end_of_bare(value)),
            Some(_) if matches!(value.trim(), "yes" | "no" | "true" | "false" | "null" | "~") => {}
            Some(_) => self.hide(value.len()),
        }
    }

    /// Replaces a quoted value. Without a closing quote, it replaces the rest of the line and the lines below it.
    fn hide_quoted(&mut self) {
        let escaped = self.rest.starts_with('\\');
        let opening = if escaped { 2.min(self.rest.len()) } else { 1 };
        if !self.rest.is_char_boundary(opening) {
            return self.hide(self.rest.len());
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
        self.goes_on = closing.is_none();
        self.hide(closing.unwrap_or(self.rest.len()));
    }
}

fn is_of_word(character: char) -> bool {
    character.is_alphanumeric() || matches!(character, '_' | '-' | '.')
}

fn is_telling(name: &str) -> bool {
    let name = name.to_lowercase();
    TELLING.iter().any(|part| name.contains(part))
        || name.split(['_', '-', '.']).any(|word| TELLING_ALONE.contains(&word))
}

/// End of an unquoted value in a command or a URL.
fn end_of_bare(value: &str) -> usize {
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
    name.is_some_and(|name| !name.is_empty() && name.chars().all(is_of_word))
}

#[cfg(test)]
mod tests {
    use super::without_secrets;

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
            assert_eq!(without_secrets(text), shown);
            assert!(!without_secrets(text).contains("s3cr"));
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
            assert_eq!(without_secrets(text), text);
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
            assert!(without_secrets(text).len() >= 3);
        }
    }
}
