//! The conversation of a connection that carries one command at a time.

use alloc::boxed::Box;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;

use super::command::Command;
use super::command::{put_count, put_word, put_words, recorded_words};
use super::delivery::Subscriber;
use super::log_in::LogIn;
use super::reader::{Kind, ReplyParser};
use super::rules::Expected;
use super::{Commands, UNSOLICITED};
use crate::ErrorClass;
use crate::blame::PeerFault;
use crate::content::Content;
use crate::conversation::{Closing, Conversation, Greeting, Next, Progress, Rejection, Stage};

/// Reason why a step cannot publish.
const NO_PUSHES: &str = "the server has no RESP3, in which a connection can publish and receive messages";

/// Connection that carries one command at a time.
#[derive(Debug)]
pub struct RedisConversation {
    commands: Arc<Commands>,
    /// Values of the user's variables, by their numbers.
    values: Box<[Vec<u8>]>,
    log_in: LogIn,
    out: Vec<u8>,
    reader: ReplyParser,
    /// Number of the latest step.
    step: usize,
    is_awaited: bool,
    /// Number of replies to skip before the reply to the step: the reply to ASKING.
    skipped: u8,
    /// Expected texts of the current step. `None` if it has no checks of texts.
    expected: Option<Box<Expected>>,
    subscriber: Subscriber,
}

impl RedisConversation {
    pub(super) fn new(commands: Arc<Commands>, number: u32) -> Self {
        let values = (0..commands.variables).map(|_| Vec::new()).collect();
        Self {
            commands,
            values,
            log_in: LogIn::default(),
            out: Vec::new(),
            reader: ReplyParser::default(),
            step: 0,
            is_awaited: false,
            skipped: 0,
            expected: None,
            subscriber: Subscriber::new(number),
        }
    }

    /// Begins the exchange of a command in the format of MONITOR, without checks of its reply. Returns `false` if the text is not a
    /// command.
    pub fn begin_recorded(&mut self, line: &[u8]) -> bool {
        let Some(words) = recorded_words(line) else { return false };
        (self.step, self.is_awaited) = (0, true);
        self.out.clear();
        put_count(words.len(), &mut self.out);
        words.iter().for_each(|word| put_word(word, &mut self.out));
        true
    }

    /// Compares the reply with the checks of its step, and saves its values.
    fn check_reply(&mut self) -> Option<Rejection> {
        let command = self.commands.list.get(self.step)?;
        let rejection = command.rules.check_reply(&self.reader, self.expected.as_deref());
        let values = &mut self.values;
        let mut keep = |variable: u16, value: &[u8]| {
            if let Some(kept) = values.get_mut(usize::from(variable)) {
                kept.clear();
                kept.extend_from_slice(value);
            }
        };
        rejection.or_else(|| command.rules.save(&self.reader, &mut keep).err())
    }
}

impl Conversation for RedisConversation {
    fn set(&mut self, variable: u16, value: &[u8]) {
        if let Some(kept) = self.values.get_mut(usize::from(variable)) {
            kept.clear();
            kept.extend_from_slice(value);
        }
    }

    fn saved(&mut self, take: &mut dyn FnMut(u16, &[u8])) {
        let saved = self.commands.list.iter().flat_map(|command| command.rules.saved());
        saved.for_each(|variable| {
            if let Some(value) = self.values.get(usize::from(variable)) {
                take(variable, value);
            }
        });
    }

    fn greet(&mut self) -> Greeting {
        self.out.clear();
        self.subscriber.forget();
        self.log_in.begin(&self.commands.identity, &mut self.out)
    }

    fn greeted(&mut self, bytes: &[u8]) -> Result<(usize, Greeting), PeerFault> {
        let keeps = self.commands.identity.needs_master();
        let Some(used) = self.reader.take(bytes, keeps)? else { return Ok((bytes.len(), Greeting::Await)) };
        if self.reader.kind() == Kind::Push {
            return Ok((used, Greeting::Await));
        }
        self.out.clear();
        let is_hello = self.log_in == LogIn::Hello;
        let greeting = self.log_in.resume(&self.reader, &self.commands.identity, &mut self.out)?;
        // A server that accepts HELLO uses RESP3.
        self.subscriber.has_pushes |= is_hello && self.reader.error().is_none();
        Ok((used, greeting))
    }

    fn announce_redirect(&mut self) {
        self.skipped = 1;
    }

    fn begin(&mut self, step: u16) -> Next {
        self.step = step.into();
        self.is_awaited = true;
        self.out.clear();
        if self.skipped > 0 {
            put_words(&[b"ASKING"], &mut self.out);
        }
        let value = |number| self.values.get(usize::from(number)).map_or(&[][..], Vec::as_slice);
        if let Some(command) = self.commands.list.get(self.step) {
            self.expected = command.rules.expected(&value);
            let Some(published) = &command.published else {
                command.encode(&value, &mut self.out);
                return Next::Send;
            };
            if !self.subscriber.has_pushes {
                return Next::Broken(NO_PUSHES.into());
            }
            if let Err(words) = self.subscriber.publish(published, &value, &mut self.out) {
                return Next::Broken(words);
            }
        }
        Next::Send
    }

    fn outgoing(&self) -> &[u8] {
        &self.out
    }

    fn received(&mut self, bytes: &[u8]) -> Result<Progress, PeerFault> {
        let mut used = 0;
        loop {
            let rest = &bytes[used..];
            let Some(first) = rest.first() else { return Ok(Progress::NeedMore) };
            // If no command is in flight, a server may only send pushes.
            if !self.is_awaited && self.reader.is_idle() && *first != b'>' {
                return Err(PeerFault::new(ErrorClass::ExcessBytes, 0, UNSOLICITED).with_first_bytes(rest));
            }
            let command = self.commands.list.get(self.step);
            let keeps = self.is_awaited && command.is_some_and(Command::inspects_replies);
            let Some(taken) = self.reader.take(rest, keeps)? else { return Ok(Progress::NeedMore) };
            used += taken;
            let mut rejection = None;
            if self.reader.kind() == Kind::Push {
                if !self.subscriber.take_push(self.reader.kept()) {
                    continue;
                }
            } else if self.skipped > 0 {
                self.skipped -= 1;
                continue;
            } else {
                rejection = self.check_reply();
                if let Some(redirect) = self.commands.redirect(&self.reader, rejection) {
                    self.is_awaited = false;
                    self.subscriber.end();
                    return Ok(Progress::Redirected { used, redirect });
                }
                if self.subscriber.is_waiting() {
                    let (is_complete, of_message) = self.subscriber.take_reply(rejection);
                    if !is_complete {
                        continue;
                    }
                    rejection = of_message;
                }
            }
            self.is_awaited = false;
            self.subscriber.end();
            return Ok(Progress::Replied { used, reply: self.commands.reply(&self.reader, rejection) });
        }
    }

    fn content(&self) -> Content {
        Content { size_bytes: Some(self.reader.received_bytes()), ..Content::default() }
    }

    fn peer_closed(&mut self) -> Closing {
        let is_begun = !self.reader.is_idle();
        self.reader.reset();
        self.subscriber.forget();
        match core::mem::take(&mut self.is_awaited) {
            true if is_begun => Closing::Incomplete,
            _ => Closing::Empty,
        }
    }

    fn stage(&self) -> Stage {
        match self.is_awaited {
            false => Stage::Idle,
            true if self.reader.is_idle() => Stage::FirstByte,
            true => Stage::Body,
        }
    }

    fn explain(&self, rejection: Rejection) -> String {
        let command = self.commands.list.get(self.step);
        command.map_or_else(String::new, |command| {
            command.rules.explain(rejection, &self.reader, &self.commands.secrets)
        })
    }

    fn forget(&mut self) {
        self.reader.reset();
        self.log_in = LogIn::default();
        self.subscriber.forget();
        self.is_awaited = false;
        self.skipped = 0;
    }
}
