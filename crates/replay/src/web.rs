//! Logs of requests: access logs of web servers as lines of text, the JSON of Caddy, and HTTP archives.

pub(crate) mod caddy;
pub(crate) mod har;
pub(crate) mod pattern;
pub(crate) mod text;

use wire::step::{self, Unit};

use crate::entry::{Action, Entry, LoggedResult};
use crate::fingerprint;
use crate::output::Output;
use crate::play::{NOT_REPLAYABLE, RequestPlay};
use crate::skipped::Reason;
use crate::traffic::Traffic;

/// Requests, as access logs and archives have them.
pub(crate) static TRAFFIC: Traffic = Traffic {
    entries: "HTTP requests",
    entries_of_server: "HTTP requests",
    noun: "request",
    unit: Unit::Request,
    has_sessions: false,
    stand_in: None,
    fits_scheme: |scheme| step::requests().schemes.iter().any(|known| known.name == scheme),
    // Requests that a protocol cannot send are reported where they are compiled.
    fits: |_| true,
    help_for_flags: "name a web server with --to http://HOST:PORT",
    other_kind: ["the log has HTTP requests, and the system is a database", "name a web server"],
    other_server: ["the log has HTTP requests, and the system is another", "name a web server"],
    // The method of the request decides.
    may_write: |_| false,
    play: |replaying| {
        let (Some(protocol), Some(like)) = (replaying.protocol, replaying.like) else {
            return Err(NOT_REPLAYABLE.to_owned());
        };
        let (trace, outcomes) = (replaying.trace.clone(), replaying.outcomes.clone());
        let fingerprints = replaying.fingerprints.len();
        Ok(Box::new(RequestPlay::new(trace, outcomes, fingerprints, protocol, like, replaying.secrets)?))
    },
};

/// Request, as logged by an access log.
#[derive(Debug, Default)]
struct Access<'a> {
    /// End or start, in nanoseconds since 1970.
    at_ns: Option<u64>,
    user: &'a str,
    host: &'a str,
    method: &'a str,
    target: &'a str,
    status: Option<u16>,
    duration_ns: Option<u64>,
    /// Whether the time of a line is the end of its request.
    is_end: bool,
}

impl Access<'_> {
    fn emit(self, out: &mut Output) {
        let Some(at_ns) = self.at_ns else { return out.skip(Reason::NoTime) };
        let is_token = !self.method.is_empty() && self.method.bytes().all(|byte| byte.is_ascii_uppercase());
        let is_path =
            self.target.starts_with('/') && self.target.bytes().all(|byte| byte > b' ' && byte != 0x7f);
        if !is_token || !is_path {
            return out.skip(Reason::BadRequest);
        }
        if matches!(self.method, "POST" | "PUT" | "PATCH") {
            return out.skip(Reason::NoBody);
        }
        let duration_ns = self.duration_ns.filter(|_| self.is_end).unwrap_or(0);
        let name = |text: &str| if text == "-" { "".into() } else { text.into() };
        out.push(Entry {
            session: None,
            at_ns: at_ns.saturating_sub(duration_ns),
            user: name(self.user),
            database: name(self.host),
            action: Action::Request {
                method: self.method.to_owned(),
                target: self.target.to_owned(),
                headers: Vec::new(),
                body: None,
            },
            fingerprint: fingerprint::of_request(self.method, self.target),
            duration_ns: self.duration_ns,
            result: self.status.map_or(LoggedResult::Unknown, LoggedResult::Status),
            rows: None,
        });
    }
}
