//! The conversation of a connection that carries one command at a time.

use alloc::boxed::Box;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;

use super::command::Expected;
use super::format::Parser;
use super::{Commands, UNSOLICITED};
use crate::ErrorClass;
use crate::blame::PeerFault;
use crate::conversation::{Closing, Conversation, Greeting, Next, Progress, Rejection, Reply, Stage};

/// Connection that carries one command at a time.
#[derive(Debug)]
pub struct MemcachedConversation {
    commands: Arc<Commands>,
    /// Values of the user's variables, by their numbers.
    values: Box<[Vec<u8>]>,
    /// Number of the log-in message that awaits a reply.
    greeting: usize,
    out: Vec<u8>,
    reader: Parser,
    /// Number of the latest step.
    step: usize,
    is_awaited: bool,
    /// Expected texts of the current step. `None` if it has no checks of texts.
    expected: Option<Box<Expected>>,
}

impl MemcachedConversation {
    pub(super) fn new(commands: Arc<Commands>) -> Self {
        let values = (0..commands.variables).map(|_| Vec::new()).collect();
        let reader = Parser::new(commands.identity.format);
        Self {
            commands,
            values,
            greeting: 0,
            out: Vec::new(),
            reader,
            step: 0,
            is_awaited: false,
            expected: None,
        }
    }

    /// Compares the reply with the checks of its step, and saves its values.
    fn check_reply(&mut self) -> Option<Rejection> {
        let command = self.commands.list.get(self.step)?;
        let rejection = command.check_reply(self.reader.content(), self.expected.as_deref());
        let values = &mut self.values;
        let mut keep = |variable: u16, value: &[u8]| {
            if let Some(kept) = values.get_mut(usize::from(variable)) {
                kept.clear();
                kept.extend_from_slice(value);
            }
        };
        rejection.or_else(|| command.save(self.reader.content(), &mut keep).err())
    }

    /// Sends the next message of the log-in.
    fn resume_log_in(&mut self) -> Greeting {
        self.out.clear();
        let Some(message) = self.commands.identity.message(self.greeting) else { return Greeting::Done };
        self.out.extend_from_slice(&message.bytes);
        self.reader.expect_greeting(message.operation);
        Greeting::Send
    }
}

impl Conversation for MemcachedConversation {
    fn set(&mut self, variable: u16, value: &[u8]) {
        if let Some(kept) = self.values.get_mut(usize::from(variable)) {
            kept.clear();
            kept.extend_from_slice(value);
        }
    }

    fn saved(&mut self, take: &mut dyn FnMut(u16, &[u8])) {
        let saved = self.commands.list.iter().flat_map(|command| command.saved());
        saved.for_each(|variable| {
            if let Some(value) = self.values.get(usize::from(variable)) {
                take(variable, value);
            }
        });
    }

    fn greet(&mut self) -> Greeting {
        self.greeting = 0;
        self.resume_log_in()
    }

    fn greeted(&mut self, bytes: &[u8]) -> Result<(usize, Greeting), PeerFault> {
        let Some(used) = self.reader.take(bytes, false)? else { return Ok((bytes.len(), Greeting::Await)) };
        if let Some(message) = self.commands.identity.message(self.greeting) {
            message.check(self.reader.content())?;
        }
        self.greeting += 1;
        Ok((used, self.resume_log_in()))
    }

    fn begin(&mut self, step: u16) -> Next {
        self.step = step.into();
        self.is_awaited = true;
        self.out.clear();
        let value = |number| self.values.get(usize::from(number)).map_or(&[][..], Vec::as_slice);
        if let Some(command) = self.commands.list.get(self.step) {
            if let Err(wrong) = command.encode(&value, &mut self.out) {
                return Next::Broken(wrong);
            }
            self.expected = command.expected(&value);
            self.reader.expect(command);
        }
        Next::Send
    }

    fn outgoing(&self) -> &[u8] {
        &self.out
    }

    fn received(&mut self, bytes: &[u8]) -> Result<Progress, PeerFault> {
        if bytes.is_empty() {
            return Ok(Progress::NeedMore);
        }
        if !self.is_awaited {
            return Err(PeerFault::new(ErrorClass::ExcessBytes, 0, UNSOLICITED).with_first_bytes(bytes));
        }
        let keeps = self.commands.list.get(self.step).is_some_and(|command| command.inspects_replies());
        let Some(used) = self.reader.take(bytes, keeps)? else { return Ok(Progress::NeedMore) };
        self.is_awaited = false;
        let (rejection, received_bytes) = (self.check_reply(), self.reader.received_bytes());
        let reply = Reply { status: 0, rejection, reusable: true, received_bytes, idle_max_s: 0 };
        Ok(Progress::Replied { used, reply })
    }

    fn peer_closed(&mut self) -> Closing {
        let is_begun = !self.reader.is_idle();
        self.reader.reset();
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
        let secrets = &self.commands.secrets;
        command.map_or_else(String::new, |command| command.explain(rejection, self.reader.content(), secrets))
    }

    fn forget(&mut self) {
        self.reader.reset();
        self.is_awaited = false;
    }
}
