//! Patterns of access logs: `log_format` of nginx, and `LogFormat` of Apache.

/// Combined format of nginx. Apache's differs only in its escapes.
pub(crate) const COMBINED: &str = r#"$remote_addr - $remote_user [$time_local] "$request" $status $body_bytes_sent "$http_referer" "$http_user_agent""#;
/// Common format, without referrer and user agent.
pub(crate) const COMMON: &str =
    r#"$remote_addr - $remote_user [$time_local] "$request" $status $body_bytes_sent"#;

/// Value of a line that a replay uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Field {
    Ignored,
    User,
    Host,
    /// `28/Sep/2026:12:00:00 +0600`.
    LocalTime,
    /// ISO 8601.
    IsoTime,
    /// Seconds since 1970.
    Epoch,
    /// Method, target, and protocol.
    Line,
    Method,
    Target,
    Path,
    Query,
    Status,
    Seconds,
    Microseconds,
    Milliseconds,
}

/// A compiled pattern: texts with a value after each but the last.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Pattern {
    /// Text before each value.
    pub(crate) parts: Vec<(String, Field)>,
    /// Text after the last value.
    pub(crate) last: String,
    /// Whether the time of a line is the end of its request, as in nginx.
    pub(crate) is_end: bool,
    /// Whether quotes and control characters are escaped with a backslash.
    pub(crate) is_json: bool,
}

/// Variables of nginx.
const VARIABLES: &[(&str, Field)] = &[
    ("remote_user", Field::User),
    ("host", Field::Host),
    ("http_host", Field::Host),
    ("time_local", Field::LocalTime),
    ("time_iso8601", Field::IsoTime),
    ("msec", Field::Epoch),
    ("request", Field::Line),
    ("request_method", Field::Method),
    ("request_uri", Field::Target),
    ("uri", Field::Path),
    ("args", Field::Query),
    ("query_string", Field::Query),
    ("status", Field::Status),
    ("request_time", Field::Seconds),
];

/// Letters of Apache, with the name in braces before them if it matters.
const LETTERS: &[(&str, char, Field)] = &[
    ("", 'u', Field::User),
    ("", 'v', Field::Host),
    ("Host", 'i', Field::Host),
    ("", 't', Field::LocalTime),
    ("", 'r', Field::Line),
    ("", 'm', Field::Method),
    ("", 'U', Field::Path),
    ("", 'q', Field::Query),
    ("", 's', Field::Status),
    ("", 'D', Field::Microseconds),
    ("us", 'T', Field::Microseconds),
    ("ms", 'T', Field::Milliseconds),
    ("", 'T', Field::Seconds),
    ("s", 'T', Field::Seconds),
];

impl Pattern {
    /// Compiles a pattern with variables of nginx (`$request`) or letters of Apache (`%r`).
    ///
    /// # Errors
    ///
    /// A message if the pattern has no time or no request, or if two values have no text between them.
    pub(crate) fn compile(text: &str) -> Result<Self, String> {
        let is_apache = !text.contains('$') && text.contains('%');
        let (mut parts, mut literal, mut rest) = (Vec::new(), String::new(), text);
        while let Some(char) = rest.chars().next() {
            let taken = match (char, is_apache) {
                ('$', false) => variable(rest),
                ('%', true) => letter(rest),
                _ => None,
            };
            match taken {
                Some((field, bytes)) => {
                    if literal.is_empty() && !parts.is_empty() {
                        return Err("the format has two values with no text between them".to_owned());
                    }
                    if is_apache && field == Field::LocalTime {
                        literal.push('[');
                    }
                    parts.push((std::mem::take(&mut literal), field));
                    if is_apache && field == Field::LocalTime {
                        literal.push(']');
                    }
                    rest = &rest[bytes..];
                }
                None => {
                    literal.push(char);
                    rest = &rest[char.len_utf8()..];
                }
            }
        }
        let has = |wanted: &[Field]| parts.iter().any(|(_, field)| wanted.contains(field));
        if !has(&[Field::LocalTime, Field::IsoTime, Field::Epoch]) {
            return Err("the format has no time: $time_local, $time_iso8601, $msec, or %t".to_owned());
        }
        let has_request = has(&[Field::Line]) || has(&[Field::Method]) && has(&[Field::Target, Field::Path]);
        if !has_request {
            return Err("the format has no request: $request or %r".to_owned());
        }
        let is_json = text.trim_start().starts_with('{');
        Ok(Self { parts, last: literal, is_end: !is_apache, is_json })
    }
}

/// Variable of nginx at the beginning of `text`, with its length.
fn variable(text: &str) -> Option<(Field, usize)> {
    let inner = &text[1..];
    let (name, bytes) = match inner.strip_prefix('{') {
        Some(braced) => {
            let end = braced.find('}')?;
            (&braced[..end], end + 3)
        }
        None => {
            let end = inner.bytes().take_while(|byte| byte.is_ascii_alphanumeric() || *byte == b'_').count();
            (&inner[..end], end + 1)
        }
    };
    let field =
        VARIABLES.iter().find(|(known, _)| *known == name).map_or(Field::Ignored, |(_, field)| *field);
    (!name.is_empty()).then_some((field, bytes))
}

/// Letter of Apache at the beginning of `text`, with its length: `%>s`, `%{Referer}i`.
fn letter(text: &str) -> Option<(Field, usize)> {
    let mut rest = text[1..]
        .trim_start_matches(|char: char| matches!(char, '<' | '>' | '!' | ',') || char.is_ascii_digit());
    let mut argument = "";
    if let Some(braced) = rest.strip_prefix('{') {
        let end = braced.find('}')?;
        (argument, rest) = (&braced[..end], &braced[end + 1..]);
    }
    let letter = rest.chars().next().filter(char::is_ascii_alphabetic)?;
    let bytes = text.len() - rest.len() + 1;
    let known = LETTERS.iter().find(|(name, known, _)| *known == letter && *name == argument);
    Some((known.map_or(Field::Ignored, |(.., field)| *field), bytes))
}
