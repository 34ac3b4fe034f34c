//! Plays the commands of a slot over one connection of a store.

use std::sync::Arc;

use wire::redis::{Discovery, Redis, RedisConversation, discovery};
use wire::step::Access;
use wire::{
    Closing, Conversation, ErrorClass, Footprint, Greeting, Next, PartEnd, PeerFault, Progress, Rejection,
    Reply, Script, Stage,
};

use crate::play::outcomes::{Outcomes, Replayed};
use crate::play::part;
use crate::sharing::Role;
use crate::trace::{Item, Trace};

/// The commands of a trace as a load. The connection with a slot's number sends the slot.
#[derive(Debug)]
pub struct CommandPlay {
    shared: Arc<Shared>,
    redis: Redis,
}

#[derive(Debug)]
struct Shared {
    trace: Arc<Trace>,
    outcomes: Arc<Outcomes>,
    /// Roles of the fingerprints.
    roles: Box<[Role]>,
    longest_bytes: u64,
}

impl CommandPlay {
    /// Creates the load with a log-in. `fingerprints` are the texts of all fingerprints, by number.
    ///
    /// # Errors
    ///
    /// The message for a log-in that the protocol does not have, and for a cluster or a Sentinel.
    pub fn new(
        trace: Arc<Trace>,
        outcomes: Arc<Outcomes>,
        fingerprints: &[String],
        access: &Access,
    ) -> Result<Self, String> {
        if discovery(access) != Discovery::Named {
            return Err(
                "recorded commands are sent to the server of the URL, and this one names others".into()
            );
        }
        let roles = fingerprints.iter().map(|text| Role::of(text)).collect();
        // An encoded word is at most 4 times as long as the word with its quotes and a space.
        let longest_bytes = trace.texts.iter().map(|text| 4 * text.len() as u64 + 32).max().unwrap_or(0);
        let shared = Shared { trace, outcomes, roles, longest_bytes };
        Ok(Self { shared: Arc::new(shared), redis: Redis::recorded(access)? })
    }
}

impl Script for CommandPlay {
    type Conversation = CommandPlayer;

    fn open(&self, number: u32) -> CommandPlayer {
        CommandPlayer {
            shared: Arc::clone(&self.shared),
            inner: self.redis.open(number),
            slot: number as usize,
            next: 0,
            current: None,
            is_in_transaction: false,
            has_lost_transaction: false,
        }
    }

    fn needs(&self, _step: u16, _variable: u16) -> bool {
        false
    }

    fn inspects_replies(&self, _step: u16) -> bool {
        false
    }

    fn parts(&self) -> u16 {
        self.shared.roles.len() as u16
    }

    fn footprint(&self, _longest_bytes: &dyn Fn(u16) -> u64) -> Footprint {
        let longest_bytes = self.shared.longest_bytes;
        let of_connection = Script::footprint(&self.redis, &|_| 0);
        let kept_bytes = of_connection.kept_bytes.saturating_add(2 * longest_bytes);
        Footprint { kept_bytes, request_bytes: longest_bytes, ..of_connection }
    }
}

/// Commands of one slot over one connection.
#[derive(Debug)]
pub struct CommandPlayer {
    shared: Arc<Shared>,
    inner: RedisConversation,
    slot: usize,
    /// Number of the next item.
    next: usize,
    /// Number of the item that awaits a reply.
    current: Option<usize>,
    /// Whether commands are queued until EXEC, or keys are watched.
    is_in_transaction: bool,
    /// Whether the connection was lost within a transaction, so that the rest of the transaction is skipped.
    has_lost_transaction: bool,
}

impl CommandPlayer {
    fn item(&self, number: usize) -> Option<&Item> {
        self.shared.trace.slots.get(self.slot)?.get(number)
    }

    fn role(&self, item: &Item) -> Role {
        self.shared.roles.get(usize::from(item.fingerprint)).copied().unwrap_or(Role::Other)
    }

    /// Ends the item in flight with its reply.
    fn end_item(&mut self, used: usize, reply: Reply) -> Progress {
        let Some(item) = self.current.take().and_then(|number| self.item(number)) else {
            return Progress::Replied { used, reply };
        };
        let is_error = reply.rejection.is_some();
        self.shared.outcomes.count_result(item, if is_error { Replayed::Failed } else { Replayed::Ok(None) });
        let part = Some(PartEnd { part: part(item.fingerprint), rejection: reply.rejection });
        let reply = Reply { status: 1, reusable: reply.reusable && !item.is_last, ..reply };
        let (role, is_last) = (self.role(item), item.is_last);
        self.is_in_transaction = match role {
            Role::Begins => !is_last,
            Role::Ends => false,
            Role::Other => self.is_in_transaction && !is_last,
        };
        Progress::PartReplied { used, part, next: Next::Done(reply) }
    }
}

impl Conversation for CommandPlayer {
    fn set(&mut self, _variable: u16, _value: &[u8]) {}

    fn greet(&mut self) -> Greeting {
        self.inner.greet()
    }

    fn greeted(&mut self, bytes: &[u8]) -> Result<(usize, Greeting), PeerFault> {
        self.inner.greeted(bytes)
    }

    fn begin(&mut self, _step: u16) -> Next {
        let number = self.next;
        self.next += 1;
        let shared = Arc::clone(&self.shared);
        let Some(item) = shared.trace.slots.get(self.slot).and_then(|items| items.get(number)) else {
            return Next::Broken("the trace has no further command".to_owned());
        };
        if self.has_lost_transaction {
            shared.outcomes.count_skipped(item);
            self.has_lost_transaction = !(self.role(item) == Role::Ends || item.is_last);
            let rejection = Some(Rejection { class: ErrorClass::OpenTransaction, code: 0 });
            return Next::Done(Reply {
                status: 1,
                rejection,
                reusable: true,
                idle_max_s: 0,
                received_bytes: 0,
            });
        }
        let text = shared.trace.texts.get(item.text as usize).map_or("", |text| text);
        if !self.inner.begin_recorded(text.as_bytes()) {
            return Next::Broken("a line of the trace is no command".to_owned());
        }
        self.current = Some(number);
        Next::Send
    }

    fn outgoing(&self) -> &[u8] {
        self.inner.outgoing()
    }

    fn received(&mut self, bytes: &[u8]) -> Result<Progress, PeerFault> {
        match self.inner.received(bytes)? {
            Progress::Replied { used, reply } => Ok(self.end_item(used, reply)),
            other => Ok(other),
        }
    }

    fn peer_closed(&mut self) -> Closing {
        self.inner.peer_closed()
    }

    fn stage(&self) -> Stage {
        self.inner.stage()
    }

    fn part(&self) -> Option<u16> {
        self.current.and_then(|number| self.item(number)).map(|item| part(item.fingerprint))
    }

    fn explain(&self, rejection: Rejection) -> String {
        match rejection.class {
            ErrorClass::OpenTransaction => "not sent: the connection was lost in its transaction".to_owned(),
            // The message of the server may quote values after its first word.
            _ => self.inner.explain(rejection).split(' ').next().unwrap_or_default().to_owned(),
        }
    }

    fn forget(&mut self) {
        if let Some(item) = self.current.and_then(|number| self.item(number)) {
            self.shared.outcomes.count_result(item, Replayed::Lost);
        }
        let last = self.current.take().or_else(|| self.next.checked_sub(1));
        if let Some(item) = last.and_then(|number| self.item(number)) {
            self.has_lost_transaction =
                !item.is_last && (self.has_lost_transaction || self.is_in_transaction);
        }
        self.is_in_transaction = false;
        self.inner.forget();
    }
}
