//! `log_line_prefix`: compiled from its escapes, and matched against lines.

use super::message::{Message, PARTS, SEVERITIES};
use crate::instant;

/// Prefixes to try if none is given: the ones of PostgreSQL, Debian, RDS, and the manuals of pgBadger and pgreplay.
pub(crate) const KNOWN_PREFIXES: [&str; 14] = [
    "%m [%p] %q%u@%d ",
    "%m [%p] ",
    "%t:%r:%u@%d:[%p]:",
    "%m|%u|%d|%c|",
    "%t [%p]: user=%u,db=%d,app=%a,client=%h ",
    "%t [%p]: [%l-1] user=%u,db=%d,app=%a,client=%h ",
    "%m [%p]: [%l-1] user=%u,db=%d,app=%a,client=%h ",
    "%t [%p]: db=%d,user=%u,app=%a,client=%h ",
    "%t [%p]: [%l-1] user=%u,db=%d,host=%h,app=%a ",
    "%t [%p]: [%l-1] user=%u,db=%d ",
    "%m [%p] user=%u,db=%d,app=%a,client=%h ",
    "%m [%p] user=%u,db=%d ",
    "%t [%p] %q%u@%d ",
    "%t [%p] ",
];

/// Max comparisons of parts with a line. Without a limit, several texts of any length in one prefix could take very long.
const STEPS_MAX: u32 = 2_000;

/// A compiled prefix.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Prefix {
    parts: Vec<Part>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Part {
    Literal(String),
    Escape(char),
    /// `%q`: processes without a session end the prefix here.
    Stop,
}

/// A line after its prefix.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Prefixed<'a> {
    /// Fields of the prefix, in the form of a message without a text.
    pub(crate) fields: Message,
    /// Severity, or word that continues a message.
    pub(crate) word: &'static str,
    /// Text after it.
    pub(crate) text: &'a str,
}

#[derive(Clone, Copy, Debug, Default)]
struct Fields<'a>([&'a str; 9]);

/// Escapes with texts that are used, in the order of [`Fields`].
const USED_ESCAPES: [char; 9] = ['m', 'c', 'p', 's', 'r', 'u', 'd', 'e', 'h'];

impl Prefix {
    /// Compiles a prefix.
    ///
    /// # Errors
    ///
    /// A message if an escape is unknown, or if the prefix lacks the time or the session.
    pub(crate) fn compile(text: &str) -> Result<Self, String> {
        let (mut parts, mut chars) = (Vec::new(), text.chars().peekable());
        while let Some(char) = chars.next() {
            if char != '%' {
                push_literal(&mut parts, char);
                continue;
            }
            while chars.next_if(|char| *char == '-' || char.is_ascii_digit()).is_some() {}
            match chars.next() {
                Some('%') => push_literal(&mut parts, '%'),
                Some('q') => parts.push(Part::Stop),
                Some(escape) if "audrhLbpPtmnieclsvxQ".contains(escape) => parts.push(Part::Escape(escape)),
                other => {
                    let escape = other.map(String::from).unwrap_or_default();
                    return Err(format!("%{escape} is no escape of log_line_prefix"));
                }
            }
        }
        let has = |escapes: &str| {
            parts.iter().any(|part| matches!(part, Part::Escape(escape) if escapes.contains(*escape)))
        };
        if !has("tmn") {
            return Err("the prefix has no time: %m, %t, or %n".to_owned());
        }
        if !has("cpr") {
            return Err("the prefix has no session: %c, %p, or %r".to_owned());
        }
        Ok(Self { parts })
    }

    /// Matches a line. `None` if it does not begin with the prefix and a severity.
    pub(crate) fn read<'a>(&self, line: &'a str) -> Option<Prefixed<'a>> {
        let (mut fields, mut steps) = (Fields::default(), STEPS_MAX);
        let rest = match_parts(&self.parts, line, &mut fields, &mut steps)?;
        let (word, text) = severity(rest)?;
        Some(Prefixed { fields: fields.message(), word, text })
    }
}

fn push_literal(parts: &mut Vec<Part>, char: char) {
    if let Some(Part::Literal(text)) = parts.last_mut() {
        text.push(char);
    } else {
        parts.push(Part::Literal(char.into()));
    }
}

/// Severity or continuing word at the beginning of `text`, and what follows its colon and two blanks.
fn severity(text: &str) -> Option<(&'static str, &str)> {
    let (word, rest) = text.split_once(':')?;
    let known = SEVERITIES.iter().chain(&PARTS).find(|known| **known == word)?;
    Some((known, rest.strip_prefix("  ")?))
}

/// Text after the parts at the beginning of `text`.
fn match_parts<'a>(
    parts: &[Part],
    text: &'a str,
    fields: &mut Fields<'a>,
    steps: &mut u32,
) -> Option<&'a str> {
    *steps = steps.checked_sub(1)?;
    let Some((part, rest)) = parts.split_first() else {
        return severity(text).map(|_| text);
    };
    match part {
        Part::Literal(literal) => match_parts(rest, text.strip_prefix(literal.as_str())?, fields, steps),
        Part::Stop => {
            let before = *fields;
            match_parts(rest, text, fields, steps).or_else(|| {
                *fields = before;
                severity(text).map(|_| text)
            })
        }
        Part::Escape(escape) => {
            for end in ends(*escape, rest, text) {
                let (value, after) = text.split_at_checked(end)?;
                let before = *fields;
                fields.set(*escape, value.trim());
                if let Some(found) = match_parts(rest, after, fields, steps) {
                    return Some(found);
                }
                *fields = before;
            }
            None
        }
    }
}

/// Places where the value of an escape may end.
fn ends<'a>(escape: char, next: &'a [Part], text: &'a str) -> Box<dyn Iterator<Item = usize> + 'a> {
    let blanks = text.len() - text.trim_start_matches(' ').len();
    let value = &text[blanks..];
    let count = |is_part: fn(&char) -> bool| {
        let bytes: usize = value.chars().take_while(is_part).map(char::len_utf8).sum();
        blanks + bytes
    };
    let one = |end: Option<usize>| -> Box<dyn Iterator<Item = usize>> { Box::new(end.into_iter()) };
    let padded = |end: usize| {
        let trailing = text[end..].len() - text[end..].trim_start_matches(' ').len();
        let ends: Vec<usize> = (end..=end + trailing.min(64)).collect();
        Box::new(ends.into_iter()) as Box<dyn Iterator<Item = usize>>
    };
    match escape {
        't' | 'm' | 's' => one(instant::iso(value.as_bytes()).map(|(_, used)| blanks + used)),
        'n' => padded(count(|char| char.is_ascii_digit() || *char == '.')),
        'p' | 'P' | 'l' | 'x' => padded(count(char::is_ascii_digit)),
        'c' => padded(count(|char| char.is_ascii_hexdigit() || *char == '.')),
        'e' => padded(count(char::is_ascii_alphanumeric)),
        'r' if value.starts_with("[local]") => padded(blanks + "[local]".len()),
        'r' => match value.find('(').zip(value.find(')')) {
            // A host contains no blank, so parentheses after one belong to the text.
            Some((open, close)) if open < close && !value[..open].contains(' ') => padded(blanks + close + 1),
            _ => one(Some(blanks)),
        },
        _ => {
            let literal = match next.iter().find(|part| **part != Part::Stop) {
                Some(Part::Literal(literal)) => literal.as_str(),
                // Two values without a text between them: the first one is as short as possible.
                Some(_) => "",
                None => "",
            };
            if literal.is_empty() {
                return Box::new(text.char_indices().map(|(at, _)| at));
            }
            Box::new(text.match_indices(literal).map(|(at, _)| at))
        }
    }
}

impl<'a> Fields<'a> {
    fn set(&mut self, escape: char, value: &'a str) {
        let escape = if matches!(escape, 't' | 'n') { 'm' } else { escape };
        if let Some(place) = USED_ESCAPES.iter().position(|used| *used == escape) {
            self.0[place] = value;
        }
    }

    fn message(&self) -> Message {
        let [time, session, pid, start, remote, user, database, code, _] = self.0;
        let at_ns =
            instant::iso(time.as_bytes()).map(|(ns, _)| ns).or_else(|| instant::epoch(time.as_bytes()));
        let is_by_pid = session.is_empty() && start.is_empty();
        let session = match (session, pid) {
            ("", "") => remote.to_owned(),
            ("", pid) => format!("{pid} {start}"),
            (session, _) => session.to_owned(),
        };
        let name = |text: &str| if text == "[unknown]" { String::new() } else { text.to_owned() };
        Message {
            at_ns,
            session,
            is_by_pid,
            user: name(user),
            database: name(database),
            code: code.to_owned(),
            ..Message::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(prefix: &str, line: &str) -> Option<(String, String, String, String)> {
        let prefix = Prefix::compile(prefix).unwrap();
        let Prefixed { fields, word, text } = prefix.read(line)?;
        assert!(fields.at_ns.is_some(), "{line}");
        Some((fields.session, fields.user, fields.database, format!("{word}|{text}")))
    }

    fn some(
        session: &str,
        user: &str,
        database: &str,
        rest: &str,
    ) -> Option<(String, String, String, String)> {
        Some((session.into(), user.into(), database.into(), rest.into()))
    }

    #[test]
    fn known_prefixes_are_read() {
        for (prefix, line, found) in [
            ("%m [%p] ", "2026-01-02 03:04:05.678 UTC [12] LOG:  a: b", some("12 ", "", "", "LOG|a: b")),
            (
                "%m [%p] %q%u@%d ",
                "2026-01-02 03:04:05.678 UTC [12] bob@shop LOG:  x",
                some("12 ", "bob", "shop", "LOG|x"),
            ),
            ("%m [%p] %q%u@%d ", "2026-01-02 03:04:05.678 UTC [12] LOG:  x", some("12 ", "", "", "LOG|x")),
            (
                "%t:%r:%u@%d:[%p]:",
                "2026-01-02 03:04:05 UTC:10.0.0.1(51234):bob@shop:[12]:ERROR:  no",
                some("12 ", "bob", "shop", "ERROR|no"),
            ),
            (
                "%t:%r:%u@%d:[%p]:",
                "2026-01-02 03:04:05 UTC:fe80::1(51234):bob@shop:[12]:STATEMENT:  s",
                some("12 ", "bob", "shop", "STATEMENT|s"),
            ),
            (
                "%t:%r:%u@%d:[%p]:",
                "2026-01-02 03:04:05 UTC::@:[12]:LOG:  checkpoint",
                some("12 ", "", "", "LOG|checkpoint"),
            ),
            (
                "%t:%r:%u@%d:[%p]:",
                "2026-01-02 03:04:05 UTC:[local]:[unknown]@[unknown]:[12]:LOG:  c",
                some("12 ", "", "", "LOG|c"),
            ),
            (
                "%t [%p]: user=%u,db=%d,app=%a,client=%h ",
                "2026-01-02 03:04:05 UTC [12]: user=bob,db=shop,app=a, b,client=::1 LOG:  statement: SELECT 1, 2",
                some("12 ", "bob", "shop", "LOG|statement: SELECT 1, 2"),
            ),
            (
                "%m|%u|%d|%c|",
                "2026-01-02 03:04:05.678 CET|bob|shop|6957.c|LOG:  x",
                some("6957.c", "bob", "shop", "LOG|x"),
            ),
            ("%n %-10u %8p %%", "1767323045.5 bob              12 %LOG:  x", some("12 ", "bob", "", "LOG|x")),
        ] {
            assert_eq!(read(prefix, line), found, "{prefix} {line}");
        }
    }

    #[test]
    fn foreign_lines_do_not_match() {
        for line in
            ["", "TopMemoryContext: 1", "2026-01-02 03:04:05.678 UTC [12] foo:  x", "2026-01-02 [1] LOG:  x"]
        {
            assert_eq!(read("%m [%p] ", line), None, "{line}");
        }
        let wide = format!("2026-01-02 03:04:05 UTC {}", ",".repeat(5_000));
        assert_eq!(read("%t %p%a,%u,%d,%h,%a,%u,", &wide), None, "a hostile line takes bounded time");
    }

    #[test]
    fn prefix_without_time_or_session_is_rejected() {
        for (prefix, what) in [("%p ", "time"), ("%m ", "session"), ("%m %p %y", "%y"), ("%m %p %", "escape")]
        {
            assert!(Prefix::compile(prefix).unwrap_err().contains(what), "{prefix}");
        }
    }
}
