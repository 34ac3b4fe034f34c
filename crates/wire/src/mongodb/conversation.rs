//! The conversation of a connection: a command, and the reply with all batches of its cursor.

use alloc::boxed::Box;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;

use super::log_in::LogIn;
use super::reader::ReplyParser;
use super::reply::Reply as Content;
use super::rules::Expected;
use super::{Commands, UNSOLICITED, errors};
use crate::ErrorClass;
use crate::blame::PeerFault;
use crate::conversation::{Closing, Conversation, Greeting, Next, Progress, Rejection, Reply, Stage};

/// Connection that carries one command at a time.
#[derive(Debug)]
pub struct MongoConversation {
    commands: Arc<Commands>,
    /// Values of the user's variables, by their numbers.
    values: Box<[Vec<u8>]>,
    log_in: LogIn,
    out: Vec<u8>,
    reader: ReplyParser,
    content: Content,
    /// Number of the latest request.
    request: u32,
    /// Number of the latest step.
    step: usize,
    is_awaited: bool,
    /// Whether any byte of a reply to the command in flight has arrived.
    is_answered: bool,
    /// Bytes of earlier replies to the command in flight.
    earlier_bytes: u64,
    expected: Expected,
}

impl MongoConversation {
    pub(super) fn new(commands: Arc<Commands>, number: u32) -> Self {
        let values = (0..commands.variables).map(|_| Vec::new()).collect();
        Self {
            commands,
            values,
            log_in: LogIn::of(number),
            out: Vec::new(),
            reader: ReplyParser::default(),
            content: Content::default(),
            request: 0,
            step: 0,
            is_awaited: false,
            is_answered: false,
            earlier_bytes: 0,
            expected: Expected::new(),
        }
    }

    fn next_request(&mut self) -> u32 {
        // Servers read the number as signed.
        self.request = self.request.wrapping_add(1) & 0x7fff_ffff;
        self.request
    }

    /// Requests the next batch if the server has more documents. Returns whether it did.
    fn request_next_batch(&mut self) -> bool {
        let request = self.next_request();
        let Some(command) = self.commands.list.get(self.step) else { return false };
        if !command.reads_whole_cursor || self.content.cursor == 0 || self.content.error().is_some() {
            return false;
        }
        self.out.clear();
        command.encode_next_batch(request, self.content.cursor, &self.content.namespace, &mut self.out);
        self.content.begin_message();
        true
    }

    /// Compares the reply with the checks of its step, and saves its values.
    fn check_reply(&mut self) -> Option<Rejection> {
        let command = self.commands.list.get(self.step)?;
        let rejection = command.rules.check_reply(&self.content, &self.expected);
        let values = &mut self.values;
        let mut keep = |variable: u16, value: &[u8]| {
            if let Some(kept) = values.get_mut(usize::from(variable)) {
                kept.clear();
                kept.extend_from_slice(value);
            }
        };
        rejection.or_else(|| command.rules.save(&self.content, &mut keep).err())
    }
}

impl Conversation for MongoConversation {
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
        self.content.clear();
        let request = self.next_request();
        self.log_in.begin(request, &self.commands.identity, &mut self.out)
    }

    fn greeted(&mut self, bytes: &[u8]) -> Result<(usize, Greeting), PeerFault> {
        let paths = &self.commands.identity.paths;
        let Some(used) = self.reader.take(bytes, self.request, paths, &mut self.content)? else {
            return Ok((bytes.len(), Greeting::Await));
        };
        self.out.clear();
        let request = self.next_request();
        let greeting = self.log_in.resume(&self.content, request, &self.commands.identity, &mut self.out)?;
        self.content.clear();
        Ok((used, greeting))
    }

    fn begin(&mut self, step: u16) -> Next {
        let request = self.next_request();
        self.step = step.into();
        self.is_awaited = true;
        self.is_answered = false;
        self.earlier_bytes = 0;
        self.out.clear();
        self.content.clear();
        let value = |number| self.values.get(usize::from(number)).map_or(&[][..], Vec::as_slice);
        if let Some(command) = self.commands.list.get(self.step) {
            if let Err(wrong) = command.encode(request, &value, &mut self.out) {
                return Next::Broken(wrong);
            }
            self.expected = command.rules.expected(&value);
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
        self.is_answered = true;
        let wanted = self.commands.list.get(self.step).map_or(&[][..], |command| &*command.rules.wanted);
        let Some(used) = self.reader.take(bytes, self.request, wanted, &mut self.content)? else {
            return Ok(Progress::NeedMore);
        };
        if self.request_next_batch() {
            self.earlier_bytes += self.reader.received_bytes();
            return Ok(Progress::PartReplied { used, part: None, next: Next::Send });
        }
        self.is_awaited = false;
        let rejection = self.check_reply();
        let reusable = rejection.is_none_or(|rejection| !errors::ends_connection(rejection.class));
        let received_bytes = self.earlier_bytes + self.reader.received_bytes();
        let reply = Reply { status: 0, rejection, reusable, received_bytes, idle_max_s: 0 };
        Ok(Progress::Replied { used, reply })
    }

    fn peer_closed(&mut self) -> Closing {
        self.reader.reset();
        match core::mem::take(&mut self.is_awaited) {
            true if self.is_answered => Closing::Incomplete,
            _ => Closing::Empty,
        }
    }

    fn stage(&self) -> Stage {
        match self.is_awaited {
            false => Stage::Idle,
            true if self.is_answered => Stage::Body,
            true => Stage::FirstByte,
        }
    }

    fn explain(&self, rejection: Rejection) -> String {
        let command = self.commands.list.get(self.step);
        command.map_or_else(String::new, |command| {
            command.rules.explain(rejection, &self.content, &self.commands.secrets)
        })
    }

    fn forget(&mut self) {
        self.reader.reset();
        self.log_in.forget();
        self.is_awaited = false;
    }
}
