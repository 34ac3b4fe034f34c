//! stderr format: a prefix, a severity, and a text with further lines that begin with a tab.

use super::message::{Message, PARTS};
use super::prefix::{KNOWN_PREFIXES, Prefix};
use super::sessions::Sessions;
use crate::formats::Format;
use crate::lines;
use crate::output::{Output, Reader};
use crate::skipped::Reason;

/// Entry in [`crate::FORMATS`].
pub(crate) const FORMAT: Format = Format {
    name: "postgres",
    sentence: "PostgreSQL, log_destination = stderr, with any log_line_prefix (--log-prefix)",
    traffic: &super::TRAFFIC,
    count: |sample| detect(sample).map_or(0, |(_, count)| count),
    open: |layout, sample| {
        let prefix = match &layout.prefix {
            Some(text) => Prefix::compile(text)?,
            None => {
                let unknown = || "no known log_line_prefix fits: write yours with --log-prefix".to_owned();
                detect(sample).map(|(prefix, _)| prefix).ok_or_else(unknown)?
            }
        };
        Ok(Box::new(Stderr::new(prefix)))
    },
};

/// Reader of the format.
#[derive(Debug)]
pub(crate) struct Stderr {
    prefix: Prefix,
    sessions: Sessions,
    message: Option<Message>,
    /// Field of the message that a line with a tab continues.
    part: &'static str,
}

impl Stderr {
    pub(crate) fn new(prefix: Prefix) -> Self {
        Self { prefix, sessions: Sessions::default(), message: None, part: "" }
    }

    fn finish(&mut self, out: &mut Output) {
        if let Some(message) = self.message.take() {
            self.sessions.take(&message, out);
        }
    }

    fn append(&mut self, text: &str, joint: &str, out: &mut Output) {
        let Some(message) = &mut self.message else { return out.skip(Reason::Unparsable) };
        let field = match self.part {
            "DETAIL" => &mut message.detail,
            "CONTEXT" => &mut message.context,
            "STATEMENT" => &mut message.statement,
            part if PARTS.contains(&part) => return,
            _ => &mut message.text,
        };
        if field.len() + text.len() > lines::BYTES_MAX {
            self.message = None;
            return out.skip(Reason::TooLong);
        }
        field.push_str(joint);
        field.push_str(text);
    }
}

impl Reader for Stderr {
    fn line(&mut self, line: &[u8], out: &mut Output) {
        let line = String::from_utf8_lossy(line);
        if let Some(further) = line.strip_prefix('\t') {
            return self.append(further, "\n", out);
        }
        let Some(found) = self.prefix.read(&line) else { return out.skip(Reason::Unparsable) };
        if PARTS.contains(&found.word) {
            if self.message.as_ref().is_some_and(|message| message.session != found.fields.session) {
                return out.skip(Reason::Unparsable);
            }
            self.part = found.word;
            return self.append(found.text, "", out);
        }
        self.finish(out);
        let mut message = Message { severity: found.word.to_owned(), ..found.fields };
        message.text = match found.text.split_once(": ") {
            // If `log_error_verbosity` is `verbose`, the SQLSTATE comes first.
            Some((code, text)) if is_code(code) => {
                message.code = code.to_owned();
                text.to_owned()
            }
            _ => found.text.to_owned(),
        };
        (self.message, self.part) = (Some(message), "");
    }

    fn end(&mut self, out: &mut Output) {
        self.finish(out);
        self.sessions.end(out);
    }
}

/// Whether a word is a SQLSTATE.
fn is_code(word: &str) -> bool {
    word.len() == 5
        && word.bytes().all(|byte| byte.is_ascii_digit() || byte.is_ascii_uppercase())
        && word.bytes().any(|byte| byte.is_ascii_digit())
}

/// The known prefix that most lines of a sample begin with, and their number. `None` if no line begins with any.
fn detect(sample: &[u8]) -> Option<(Prefix, usize)> {
    let sample = String::from_utf8_lossy(sample);
    let count =
        |prefix: &Prefix| sample.lines().take(1_000).filter(|line| prefix.read(line).is_some()).count();
    let known = KNOWN_PREFIXES.iter().filter_map(|text| Prefix::compile(text).ok());
    let counted = known.map(|prefix| (count(&prefix), prefix)).filter(|(count, _)| *count > 0);
    // If several prefixes match the most lines, the first one has more fields.
    let counted: Vec<_> = counted.collect();
    counted.into_iter().rev().max_by_key(|(count, _)| *count).map(|(count, prefix)| (prefix, count))
}
