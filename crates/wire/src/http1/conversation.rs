//! The conversation of one HTTP/1.1 connection: requests of steps, their replies, and redirects.

use alloc::boxed::Box;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::sync::Arc;
use alloc::vec::Vec;

use super::checks::UNDECODED_BODY;
use super::fault::Fault;
use super::first_replies::Comparison;
use super::reading::{QUOTED_BYTES_MAX, ReplyParser};
use super::redirect::{self, RedirectError};
use super::step::{CompiledStep, Step};
use super::template::target_of;
use super::{Steps, capture, jar};
use crate::ErrorClass;
use crate::blame::PeerFault;
use crate::content::Content;
use crate::conversation::{
    Closing, Conversation, FirstReplies, Next, PartEnd, Progress, Rejection, Reply, Stage,
};

/// Number of encoded bodies of a connection that are decoded for their size.
const SAMPLES: u8 = 8;

/// The client's side of one HTTP/1.1 connection.
#[derive(Debug)]
pub struct HttpConversation {
    script: Arc<Steps>,
    reading: ReplyParser,
    /// Request in flight, if it has inserted values or follows a redirect.
    filled: Option<Box<FilledRequest>>,
}

/// State that most loads never need; boxed because each byte of a conversation is multiplied by all connections.
#[derive(Debug, Default)]
struct FilledRequest {
    bytes: Vec<u8>,
    /// Bytes of the replies that led to this request.
    received_bytes: u64,
    /// First replies of the connection, if they are compared.
    comparison: Option<Box<Comparison>>,
}

impl HttpConversation {
    pub(super) fn new(script: Arc<Steps>) -> Self {
        let reading = ReplyParser::new(script.variables);
        Self { script, reading, filled: None }
    }

    /// Compares the first replies of the connection.
    pub(super) fn with_comparison(mut self) -> Self {
        self.reading.compares = true;
        self
    }

    /// Decodes the first encoded bodies of the connection for their size.
    pub(super) fn with_sampling(mut self) -> Self {
        self.reading.samples_left = SAMPLES;
        self
    }

    #[cold]
    fn begin_comparison(&mut self) {
        let mut filled = self.filled.take().unwrap_or_default();
        let fixed = self.step().step.request.fixed_bytes();
        filled.comparison.get_or_insert_default().begin(fixed.unwrap_or(&filled.bytes));
        self.filled = Some(filled);
    }

    /// Compares the body of a reply with earlier bodies.
    #[cold]
    fn compare(&mut self, reply: Reply) {
        let quoted = self.reading.quoted.take();
        let body = quoted.as_ref().map_or(&[][..], |quoted| &quoted.0);
        let is_ok = reply.rejection.is_none() && (200..300).contains(&reply.status);
        let comparison = self.filled.get_or_insert_default().comparison.get_or_insert_default();
        self.reading.compares = comparison.take(is_ok.then_some(body));
    }

    #[inline]
    fn step(&self) -> &CompiledStep {
        &self.script.list[usize::from(self.reading.step)]
    }

    /// Follows the redirect of a reply, or rejects the reply. `rest` is the bytes after it.
    #[cold]
    fn follow(&mut self, used: usize, reply: Reply, rest: &[u8]) -> Result<Progress, PeerFault> {
        let script = Arc::clone(&self.script);
        let step = &script.list[usize::from(self.reading.step)];
        let Some(origin) = step.step.request.origin() else { return Ok(Progress::Replied { used, reply }) };
        if reply.reusable && !rest.is_empty() {
            return Err(Fault::unsolicited(rest));
        }
        let of = |variable: u16| self.reading.values.list.get(usize::from(variable)).map(Vec::as_slice);
        let hop = self.reading.hop;
        let next = if hop >= origin.redirects.max {
            Err(RedirectError::TooMany)
        } else {
            let cookies = step.step.request.cookies().filter(|_| origin.sends_cookies);
            let jar = cookies.map(|cookies| of(cookies.jar).unwrap_or_default());
            let location = of(origin.redirects.location).unwrap_or_default();
            redirect::next_request(self.outgoing(), reply.status, location, origin, jar)
        };
        let next = match next {
            Ok(next) => next,
            Err(why) => {
                let class = match why {
                    RedirectError::TooMany => ErrorClass::RedirectLimit,
                    RedirectError::OtherOrigin | RedirectError::TooLong | RedirectError::SavedUrl => {
                        ErrorClass::RedirectTarget
                    }
                };
                let rejection = Some(Rejection { class, code: why as u32 });
                return Ok(Progress::Replied {
                    used,
                    reply: self.with_earlier_bytes(Reply { rejection, ..reply }),
                });
            }
        };
        if let Some(cookies) = step.step.request.cookies() {
            self.reading.values.set(cookies.path, jar::kept_path(target_of(&next)));
        }
        let filled = self.filled.get_or_insert_default();
        filled.bytes = next;
        filled.received_bytes = if hop == 0 { 0 } else { filled.received_bytes } + reply.received_bytes;
        self.reading.hop = hop + 1;
        self.reading.begin(self.reading.step);
        let next = if reply.reusable && origin.keeps_alive { Next::Send } else { Next::Reopen };
        let part = step.first_part.map(|first| PartEnd { part: first + u16::from(hop), rejection: None });
        Ok(Progress::PartReplied { used, part, next })
    }

    /// Rejects a request that would go to another server, before anything is sent.
    #[cold]
    fn reject(&mut self) -> Next {
        self.reading.forget();
        let rejection = Rejection { class: ErrorClass::RedirectTarget, code: RedirectError::SavedUrl as u32 };
        Next::Done(Reply {
            status: 0,
            rejection: Some(rejection),
            reusable: true,
            received_bytes: 0,
            idle_max_s: 0,
        })
    }

    /// Last reply of a step, with the bytes of the replies before it added.
    #[cold]
    fn with_earlier_bytes(&self, reply: Reply) -> Reply {
        let before = self.filled.as_ref().filter(|_| self.reading.hop > 0);
        let received_bytes = reply.received_bytes + before.map_or(0, |filled| filled.received_bytes);
        Reply { received_bytes, ..reply }
    }
}

impl Conversation for HttpConversation {
    fn set(&mut self, variable: u16, value: &[u8]) {
        self.reading.values.set(variable, value);
    }

    fn saved(&mut self, take: &mut dyn FnMut(u16, &[u8])) {
        for variable in &self.script.captured {
            take(*variable, self.reading.values.list.get(usize::from(*variable)).map_or(&[], Vec::as_slice));
        }
    }

    fn set_address(&mut self, address: u16) {
        let first = usize::from(address) * self.script.count;
        self.reading.first_step = if first < self.script.list.len() { first as u16 } else { 0 };
    }

    fn change_user(&mut self) {
        for step in &self.script.list {
            if let Some(cookies) = step.step.request.cookies() {
                self.reading.values.set(cookies.jar, b"");
            }
        }
    }

    #[inline]
    fn begin(&mut self, step: u16) -> Next {
        let step = self.reading.first_step + step;
        self.reading.begin(step);
        self.reading.hop = 0;
        let request = &self.script.list[usize::from(step)].step.request;
        if request.fixed_bytes().is_none() {
            let filled = &mut self.filled.get_or_insert_default().bytes;
            if request.fill(&self.reading.values.list, filled).is_err() {
                return self.reject();
            }
            if let Some(cookies) = request.cookies() {
                self.reading.values.set(cookies.path, jar::kept_path(target_of(filled)));
            }
        }
        if self.reading.compares {
            self.begin_comparison();
        }
        Next::Send
    }

    #[inline]
    fn outgoing(&self) -> &[u8] {
        let request = &self.step().step.request;
        let fixed = if self.reading.hop == 0 { request.fixed_bytes() } else { None };
        fixed.unwrap_or_else(|| self.filled.as_ref().map_or(&[], |filled| &filled.bytes))
    }

    #[inline]
    fn received(&mut self, bytes: &[u8]) -> Result<Progress, PeerFault> {
        let step = &self.script.list[usize::from(self.reading.step)];
        let progress = self.reading.received(step, bytes)?;
        if self.reading.compares
            && !self.reading.is_redirect
            && let Progress::Replied { reply, .. } = &progress
        {
            self.compare(*reply);
        }
        let step = &self.script.list[usize::from(self.reading.step)];
        match progress {
            Progress::Replied { used, reply } if step.first_part.is_some() => {
                if self.reading.is_redirect {
                    return self.follow(used, reply, &bytes[used..]);
                }
                Ok(Progress::Replied { used, reply: self.with_earlier_bytes(reply) })
            }
            progress => Ok(progress),
        }
    }

    fn peer_closed(&mut self) -> Closing {
        let closing = self.reading.peer_closed(&self.script.list[usize::from(self.reading.step)]);
        if self.reading.compares
            && let Closing::Replied(reply) = &closing
        {
            self.compare(*reply);
        }
        closing
    }

    #[inline]
    fn content(&self) -> Content {
        self.reading.content()
    }

    fn first_replies(&self) -> Option<FirstReplies> {
        self.filled
            .as_ref()?
            .comparison
            .as_ref()?
            .summary(|body| self.script.secrets.redact(body).into_owned())
    }

    fn resume(&mut self) -> Next {
        // The connection was opened again for a redirect.
        self.reading.begin(self.reading.step);
        Next::Send
    }

    fn stage(&self) -> Stage {
        self.reading.stage()
    }

    fn part(&self) -> Option<u16> {
        self.step().first_part.map(|first| first + u16::from(self.reading.hop))
    }

    fn explain(&self, rejection: Rejection) -> String {
        let Step { checks, captures, .. } = &self.step().step;
        let number = rejection.code & !UNDECODED_BODY;
        let rule = match rejection.class {
            ErrorClass::Status => Some(format!("status {}, expected {}", rejection.code, checks.status)),
            ErrorClass::RedirectTarget if number == RedirectError::SavedUrl as u32 => {
                let variable = self.step().step.request.target_variable();
                let value = variable.and_then(|variable| self.reading.values.list.get(usize::from(variable)));
                let value = self.script.secrets.redact(value.map_or(&[], Vec::as_slice));
                Some(redirect::explain(number, 0, &value))
            }
            ErrorClass::RedirectLimit | ErrorClass::RedirectTarget => {
                self.step().step.request.origin().map(|origin| {
                    let location = self.reading.values.list.get(usize::from(origin.redirects.location));
                    let location = self.script.secrets.redact(location.map_or(&[], Vec::as_slice));
                    redirect::explain(number, origin.redirects.max, &location)
                })
            }
            ErrorClass::Capture => capture::explain(captures, number),
            _ => checks.explain(number, &self.reading.values.list),
        };
        let mut rule = rule.unwrap_or_else(|| rejection.class.to_string());
        if number != rejection.code {
            rule.push_str(
                "; the body is compressed (Content-Encoding) and cannot be unpacked: send Accept-Encoding: identity",
            );
        }
        let quoted = self.reading.quoted.as_ref().map_or(&[][..], |quoted| &quoted.0);
        let quoted = self.script.secrets.redact(quoted);
        match String::from_utf8_lossy(&quoted[..quoted.len().min(QUOTED_BYTES_MAX)]) {
            quoted if quoted.is_empty() => rule,
            // Escaped, so that the message is one line of printable characters.
            quoted => format!("{rule}; the body begins with {quoted:?}"),
        }
    }

    fn forget(&mut self) {
        self.reading.forget();
    }
}
