//! The channel of a connection with several commands in flight: replies arrive in the order of commands.

use alloc::boxed::Box;
use alloc::collections::VecDeque;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;

use super::command::put_words;
use super::log_in::LogIn;
use super::reader::{Kind, ReplyParser};
use super::rules::Expected;
use super::{Commands, Redis, UNSOLICITED};
use crate::ErrorClass;
use crate::blame::PeerFault;
use crate::channel::{Channel, Channels, Event, Footprint, Ticket};
use crate::content::Content;
use crate::conversation::{Closing, Greeting, Next, Rejection, Script, Stage};
use crate::values::Values;

/// Commands of a load, with several of them in flight on each connection.
#[derive(Debug)]
pub(super) struct Pipelined {
    pub(super) redis: Redis,
    /// Max commands in flight on each connection.
    pub(super) depth: u32,
}

impl Channels for Pipelined {
    fn open(&self, _peer: u16, _number: u32) -> Box<dyn Channel> {
        Box::new(RedisPipeline::new(Arc::clone(&self.redis.commands), self.depth))
    }

    fn room(&self, _peer: u16) -> u32 {
        self.depth
    }

    fn needs(&self, step: u16, variable: u16) -> bool {
        Script::needs(&self.redis, step, variable)
    }

    fn inspects_replies(&self, step: u16) -> bool {
        Script::inspects_replies(&self.redis, step)
    }

    fn footprint(&self, longest_bytes: &dyn Fn(u16) -> u64) -> Footprint {
        self.redis.footprint_at_depth(self.depth, longest_bytes)
    }
}

/// A connection with several commands in flight.
pub(super) struct RedisPipeline {
    commands: Arc<Commands>,
    depth: u32,
    log_in: LogIn,
    out: Vec<u8>,
    /// Bytes of `out` that were sent.
    sent: usize,
    /// Commands that await replies, in order.
    awaited: VecDeque<Awaited>,
    reader: ReplyParser,
    /// Step of the last reply.
    last_step: u16,
    /// Values that were saved from the last reply.
    saved: Vec<(u16, Vec<u8>)>,
}

struct Awaited {
    /// [`Ticket::NONE`] if the exchange was abandoned: its reply is dropped.
    ticket: Ticket,
    step: u16,
    expected: Option<Box<Expected>>,
}

impl RedisPipeline {
    pub(super) fn new(commands: Arc<Commands>, depth: u32) -> Self {
        Self {
            commands,
            depth,
            log_in: LogIn::default(),
            out: Vec::new(),
            sent: 0,
            awaited: VecDeque::new(),
            reader: ReplyParser::default(),
            last_step: 0,
            saved: Vec::new(),
        }
    }

    /// Whether the next reply to arrive belongs to the exchange.
    fn is_first(&self, ticket: Ticket) -> bool {
        self.awaited.front().is_some_and(|awaited| awaited.ticket == ticket)
    }

    /// Compares a reply with the checks of its step, and saves its values.
    fn check_reply(&mut self, awaited: &Awaited) -> Option<Rejection> {
        self.last_step = awaited.step;
        self.saved.clear();
        let command = self.commands.list.get(usize::from(awaited.step))?;
        let rejection = command.rules.check_reply(&self.reader, awaited.expected.as_deref());
        let saved = &mut self.saved;
        let mut keep = |variable: u16, value: &[u8]| saved.push((variable, value.into()));
        rejection.or_else(|| command.rules.save(&self.reader, &mut keep).err())
    }
}

impl Channel for RedisPipeline {
    fn room(&self) -> u32 {
        self.depth.saturating_sub(self.awaited.len() as u32)
    }

    fn greet(&mut self) -> Greeting {
        self.log_in.begin(&self.commands.identity, &mut self.out)
    }

    fn greeted(&mut self, bytes: &[u8]) -> Result<(usize, Greeting), PeerFault> {
        let keeps = self.commands.identity.needs_master();
        let Some(used) = self.reader.take(bytes, keeps)? else { return Ok((bytes.len(), Greeting::Await)) };
        if self.reader.kind() == Kind::Push {
            return Ok((used, Greeting::Await));
        }
        let greeting = self.log_in.resume(&self.reader, &self.commands.identity, &mut self.out)?;
        Ok((used, greeting))
    }

    fn announce_redirect(&mut self) {
        put_words(&[b"ASKING"], &mut self.out);
        self.awaited.push_back(Awaited { ticket: Ticket::NONE, step: 0, expected: None });
    }

    fn begin(&mut self, ticket: Ticket, step: u16, values: &Values) -> Next {
        let value = |number| values.get(number).unwrap_or_default();
        let command = self.commands.list.get(usize::from(step));
        let expected = command.and_then(|command| {
            command.encode(&value, &mut self.out);
            command.rules.expected(&value)
        });
        self.awaited.push_back(Awaited { ticket, step, expected });
        Next::Send
    }

    fn outgoing(&self) -> &[u8] {
        &self.out[self.sent..]
    }

    fn sent(&mut self, count: usize) {
        self.sent += count;
        if self.sent == self.out.len() {
            self.out.clear();
            self.sent = 0;
        }
    }

    fn received(&mut self, bytes: &[u8]) -> Result<Option<(usize, Event)>, PeerFault> {
        let mut used = 0;
        loop {
            let rest = &bytes[used..];
            let Some(first) = rest.first() else { return Ok(None) };
            if self.awaited.is_empty() && self.reader.is_idle() && *first != b'>' {
                return Err(PeerFault::new(ErrorClass::ExcessBytes, 0, UNSOLICITED).with_first_bytes(rest));
            }
            let step = self.awaited.front().map_or(0, |awaited| awaited.step);
            let command = self.commands.list.get(usize::from(step));
            let keeps = command.is_some_and(|command| command.rules.need_content());
            let Some(taken) = self.reader.take(rest, keeps)? else { return Ok(None) };
            used += taken;
            if self.reader.kind() == Kind::Push {
                continue;
            }
            let Some(awaited) = self.awaited.pop_front() else { continue };
            if awaited.ticket == Ticket::NONE {
                continue;
            }
            let rejection = self.check_reply(&awaited);
            if let Some(redirect) = self.commands.redirect(&self.reader, rejection) {
                return Ok(Some((used, Event::Redirected { ticket: awaited.ticket, redirect })));
            }
            let reply = self.commands.reply(&self.reader, rejection);
            return Ok(Some((used, Event::Replied { ticket: awaited.ticket, reply })));
        }
    }

    fn peer_closed(&mut self, ticket: Ticket) -> Closing {
        let is_begun = self.is_first(ticket) && !self.reader.is_idle();
        if is_begun { Closing::Incomplete } else { Closing::Empty }
    }

    fn stage(&self, ticket: Ticket) -> Stage {
        match self.is_first(ticket) {
            true if !self.reader.is_idle() => Stage::Body,
            _ if self.awaited.iter().any(|awaited| awaited.ticket == ticket) => Stage::FirstByte,
            _ => Stage::Idle,
        }
    }

    fn explain(&self, rejection: Rejection) -> String {
        let command = self.commands.list.get(usize::from(self.last_step));
        command.map_or_else(String::new, |command| {
            command.rules.explain(rejection, &self.reader, &self.commands.secrets)
        })
    }

    fn content(&self, _ticket: Ticket) -> Content {
        Content { size_bytes: Some(self.reader.received_bytes()), ..Content::default() }
    }

    fn saved(&mut self, _ticket: Ticket, values: &mut Values) {
        self.saved.drain(..).for_each(|(variable, value)| values.set(variable, &value));
    }

    fn is_idle(&self) -> bool {
        self.awaited.is_empty()
    }

    /// Returns whether any awaited reply belongs to an active exchange. If none does, the link is closed, so that no exchange
    /// waits for a silent server.
    fn abandon(&mut self, ticket: Ticket) -> bool {
        let given_up = self.awaited.iter_mut().find(|awaited| awaited.ticket == ticket);
        if let Some(awaited) = given_up {
            awaited.ticket = Ticket::NONE;
        }
        self.awaited.iter().any(|awaited| awaited.ticket != Ticket::NONE)
    }

    fn forget(&mut self) {
        self.reader.reset();
        self.log_in = LogIn::default();
        self.awaited.clear();
        self.out.clear();
        self.sent = 0;
    }
}
