//! What a step over raw TCP sends, and where its reply ends: from the key `tcp` of a plan, or from the query of a URL.

use wire::braces;
use wire::tcp::{DELIMITER_BYTES_MAX, Exchange, Receive};

use crate::request::BODY_BYTES_MAX;
use crate::units;

/// Its parts as they are written. An empty field was not given.
#[derive(Clone, Debug, Default)]
pub(crate) struct RawText<'a> {
    /// How many bytes are sent.
    pub(crate) send: Option<&'a str>,
    /// What is sent, in place of that.
    pub(crate) text: Option<&'a str>,
    /// Bytes of each write.
    pub(crate) write: Option<&'a str>,
    /// How long the reply is.
    pub(crate) bytes: Option<&'a str>,
    /// What it ends with, in place of that.
    pub(crate) until: Option<&'a str>,
}

/// What is sent, how, and what it is called.
pub(crate) struct Raw {
    /// Names in braces stand for variables.
    pub(crate) body: Vec<u8>,
    pub(crate) exchange: Exchange,
    pub(crate) words: String,
}

/// What is wrong, and what to do.
pub(crate) struct WrongRaw {
    /// The part that is wrong.
    pub(crate) part: &'static str,
    pub(crate) what: String,
    pub(crate) help: &'static str,
}

impl RawText<'_> {
    /// The parts of a text have the characters of escapes: a plan file writes them in double quotes.
    pub(crate) fn read(&self) -> Result<Raw, WrongRaw> {
        let (body, sent) = match (self.send, self.text) {
            (Some(_), Some(_)) => {
                return Err(wrong("text", "`send` and `text` exclude each other", "remove one of them"));
            }
            (Some(send), None) => {
                let bytes = size("send", send, BODY_BYTES_MAX)?;
                (vec![b'x'; bytes as usize], format!("send {send}"))
            }
            (None, text) => {
                let text = text.unwrap_or("\n");
                (text.as_bytes().to_vec(), format!("send {}", shown(text)))
            }
        };
        let write_bytes = self
            .write
            .map(|write| size("write", write, u32::MAX.into()))
            .transpose()?
            .map(|bytes| bytes as u32);
        let receive = match (self.bytes, self.until) {
            (Some(_), Some(_)) => {
                return Err(wrong("until", "`bytes` and `until` exclude each other", "remove one of them"));
            }
            (Some(bytes), None) => Receive::Bytes(size("bytes", bytes, 1 << 40)?),
            (None, until) => {
                let until = until.unwrap_or("\n").as_bytes();
                if !(1..=DELIMITER_BYTES_MAX).contains(&until.len()) {
                    let what =
                        format!("a delimiter has 1 to {DELIMITER_BYTES_MAX} bytes, not {}", until.len());
                    return Err(WrongRaw { part: "until", what, help: "write a delimiter such as \"\\n\"" });
                }
                Receive::Until(until.to_vec())
            }
        };
        let written = self.write.map_or(String::new(), |write| format!(" in writes of {write}"));
        Ok(Raw { body, exchange: Exchange { write_bytes, receive }, words: format!("{sent}{written}") })
    }
}

fn wrong(part: &'static str, what: &str, help: &'static str) -> WrongRaw {
    WrongRaw { part, what: what.to_owned(), help }
}

fn size(part: &'static str, text: &str, most: u64) -> Result<u64, WrongRaw> {
    let help = "write a size from 1 byte on, such as 4KiB or 1MiB";
    let bytes = units::size_bytes(text).map_err(|what| WrongRaw { part, what, help })?;
    if !(1..=most).contains(&bytes) {
        let what = format!("{text} is not from 1 to {most} bytes");
        return Err(WrongRaw { part, what, help });
    }
    Ok(bytes)
}

/// The beginning of a text, on one line.
fn shown(text: &str) -> String {
    const CHARACTERS_MAX: usize = 24;
    let dots = if text.chars().count() > CHARACTERS_MAX { " …" } else { "" };
    let start: String = text.chars().take(CHARACTERS_MAX).collect();
    format!("\"{}\"{dots}", start.escape_debug())
}

/// From the query of a URL, such as `tcp://127.0.0.1:9000?send=1MiB&write=4KiB&bytes=1`. `body`: what `-b` says.
pub(crate) fn of_query(url: &url::Url, body: Option<&[u8]>) -> Result<Raw, WrongRaw> {
    let pairs: Vec<(String, String)> =
        url.query_pairs().map(|(name, value)| (name.into_owned(), value.into_owned())).collect();
    let known = ["send", "text", "write", "bytes", "until"];
    if let Some((name, _)) = pairs.iter().find(|(name, _)| !known.contains(&name.as_str())) {
        let what = format!("unknown part {name:?} of the query; known are {}", known.join(", "));
        return Err(WrongRaw {
            part: "query",
            what,
            help: "write ?send=1MiB&write=4KiB&bytes=1, for example",
        });
    }
    let of = |name: &str| pairs.iter().find(|(given, _)| given == name).map(|(_, value)| value.as_str());
    let text = RawText {
        send: of("send"),
        text: of("text"),
        write: of("write"),
        bytes: of("bytes"),
        until: of("until"),
    };
    if body.is_some() && (text.send.is_some() || text.text.is_some()) {
        return Err(wrong("query", "both the query and the body say what is sent", "remove one of them"));
    }
    let mut raw = text.read()?;
    // On the command line braces are only braces.
    raw.body = braces::literal(body.unwrap_or(&raw.body));
    if let Some(body) = body {
        raw.words = format!("send {} bytes", body.len());
    }
    Ok(raw)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(url: &str) -> Result<Raw, String> {
        of_query(&url::Url::parse(url).unwrap(), None)
            .map_err(|wrong| format!("{}: {}", wrong.part, wrong.what))
    }

    #[test]
    fn a_query_says_what_is_sent_in_which_writes_and_where_the_reply_ends() {
        let raw = read("tcp://h:1?send=1KiB&write=64&bytes=1").ok().unwrap();
        assert_eq!((raw.body.len(), raw.exchange.write_bytes), (1024, Some(64)));
        assert_eq!(raw.exchange.receive, Receive::Bytes(1));
        assert_eq!(raw.words, "send 1KiB in writes of 64");
        let raw = read("tcp://h:1/?text=%7Bx%7D%0D%0A&until=%0D%0A").ok().unwrap();
        assert_eq!(raw.body, b"{{x}}\r\n");
        assert_eq!(raw.exchange.receive, Receive::Until(b"\r\n".to_vec()));
        let raw = read("tcp://h:1").ok().unwrap();
        assert_eq!((raw.body.as_slice(), raw.exchange), (&b"\n"[..], Exchange::default()));
    }

    #[test]
    fn what_cannot_be_sent_or_end_is_an_error() {
        for (query, expected) in [
            ("send=0", "send: 0 is not from 1"),
            ("send=65MiB", "send: 65MiB is not from 1"),
            ("send=much", "send: \"much\""),
            ("send=1&text=a", "text: `send` and `text` exclude"),
            ("write=0", "write: 0 is not from 1"),
            ("bytes=0", "bytes: 0 is not from 1"),
            ("until=", "until: a delimiter has 1 to 64 bytes, not 0"),
            ("bytes=1&until=a", "until: `bytes` and `until` exclude"),
            ("size=1", "query: unknown part \"size\""),
        ] {
            let error = read(&format!("tcp://h:1?{query}")).err().unwrap_or_default();
            assert!(error.starts_with(expected), "{query}: {error}");
        }
    }
}
