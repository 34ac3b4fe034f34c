//! The client's side of one connection: the request of a step, and the reply to it.

use alloc::boxed::Box;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::sync::Arc;
use alloc::vec::Vec;

use super::checks::CODED;
use super::reading::{QUOTED_BYTES_MAX, Reading};
use super::step::{Prepared, Step};
use super::template::target_of;
use super::{Steps, capture, jar};
use crate::ErrorClass;
use crate::blame::PeerFault;
use crate::conversation::{Closing, Conversation, Next, Progress, Refusal, Stage};

/// The client's side of one HTTP/1.1 connection.
#[derive(Debug)]
pub struct HttpConversation {
    script: Arc<Steps>,
    reading: Reading,
    /// The request under way, if values were filled in.
    filled: Option<Box<Filled>>,
}

/// Most loads never have one, and each byte of a channel is one of every connection.
#[derive(Debug, Default)]
struct Filled(Vec<u8>);

impl HttpConversation {
    pub(super) fn new(script: Arc<Steps>) -> Self {
        let reading = Reading::new(script.variables);
        Self { script, reading, filled: None }
    }

    #[inline]
    fn step(&self) -> &Prepared {
        &self.script.list[usize::from(self.reading.step)]
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

    fn change_user(&mut self) {
        for step in &self.script.list {
            if let Some(cookies) = step.step.request.cookies() {
                self.reading.values.set(cookies.jar, b"");
            }
        }
    }

    #[inline]
    fn begin(&mut self, step: u16) -> Next {
        self.reading.begin(step);
        let request = &self.script.list[usize::from(step)].step.request;
        if request.fixed_bytes().is_none() {
            let filled = &mut self.filled.get_or_insert_default().0;
            request.fill(&self.reading.values.list, filled);
            if let Some(cookies) = request.cookies() {
                self.reading.values.set(cookies.path, jar::kept_path(target_of(filled)));
            }
        }
        Next::Send
    }

    #[inline]
    fn outgoing(&self) -> &[u8] {
        self.step()
            .step
            .request
            .fixed_bytes()
            .unwrap_or_else(|| self.filled.as_ref().map_or(&[], |filled| &filled.0))
    }

    #[inline]
    fn received(&mut self, bytes: &[u8]) -> Result<Progress, PeerFault> {
        self.reading.received(&self.script.list[usize::from(self.reading.step)], bytes)
    }

    fn peer_closed(&mut self) -> Closing {
        self.reading.peer_closed(&self.script.list[usize::from(self.reading.step)])
    }

    fn stage(&self) -> Stage {
        self.reading.stage()
    }

    fn explain(&self, refusal: Refusal) -> String {
        let Step { checks, captures, .. } = &self.step().step;
        let number = refusal.code & !CODED;
        let rule = match refusal.class {
            ErrorClass::Status => Some(format!("status {}, expected {}", refusal.code, checks.status)),
            ErrorClass::Capture => capture::explain(captures, number),
            _ => checks.explain(number),
        };
        let mut rule = rule.unwrap_or_else(|| refusal.class.to_string());
        if number != refusal.code {
            rule.push_str(
                "; the body is compressed (Content-Encoding) and is not unpacked: send Accept-Encoding: identity",
            );
        }
        let quoted = self.script.secrets.redact(&self.reading.quoted);
        match String::from_utf8_lossy(&quoted[..quoted.len().min(QUOTED_BYTES_MAX)]) {
            quoted if quoted.is_empty() => rule,
            // Whatever the peer wrote, it is one line of printable characters.
            quoted => format!("{rule}; the body begins with {quoted:?}"),
        }
    }

    fn forget(&mut self) {
        self.reading.forget();
    }
}
