//! Publishing of a message, and its delivery to the connection that published it.
//!
//! ```text
//!   begin ──► SUBSCRIBE channel (unless subscribed), PUBLISH channel message
//!                 │ the reply, and the message as a push, in any order
//!                 ▼
//!              the end of the exchange
//! ```
//!
//! A connection is subscribed to the channel of its last message. It recognizes its own message by a number at its end. RESP3 allows
//! commands on a subscribed connection, RESP2 does not.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::command::{put_count, put_word};
use super::kept::{KEPT_BYTES_MAX, ScalarItems};
use crate::conversation::Rejection;
use crate::secrets::Secrets;
use crate::step::Template;

/// Max bytes of a message, so that a push with its channel is kept as a whole.
const MESSAGE_BYTES_MAX: usize = KEPT_BYTES_MAX / 2;
/// Max bytes of the number at the end of a message.
const NUMBER_BYTES_MAX: u64 = 32;

/// Compiled channel and message of a step.
#[derive(Debug)]
pub(super) struct Published {
    channel: Template,
    message: Template,
}

impl Published {
    /// Compiles the words of a step `PUBLISH channel message`.
    ///
    /// # Errors
    ///
    /// The message for an unknown variable.
    pub(super) fn compile(
        words: &[Vec<u8>],
        variables: &[String],
        secrets: &Secrets,
    ) -> Result<Self, String> {
        let template = |at: usize| {
            let word = words.get(at).map_or(&[][..], Vec::as_slice);
            Template::compile(word, variables, secrets)
        };
        Ok(Self { channel: template(1)?, message: template(2)? })
    }

    /// Max bytes of the commands and of the message that is awaited, beyond those of PUBLISH itself.
    pub(super) fn bytes_max(&self, longest_bytes: &dyn Fn(u16) -> u64) -> u64 {
        let (channel, message) =
            (self.channel.bytes_max(longest_bytes), self.message.bytes_max(longest_bytes));
        channel.saturating_mul(4).saturating_add(message).saturating_add(2 * NUMBER_BYTES_MAX + 128)
    }
}

/// Subscription of a connection, and the delivery that it waits for.
#[derive(Debug, Default)]
pub(super) struct Subscriber {
    /// Number of the connection in the load.
    number: u32,
    /// Whether the connection uses RESP3, which has pushes.
    pub(super) has_pushes: bool,
    /// Number of the last message.
    latest: u64,
    /// Channel of the subscription; empty if there is none.
    channel: Vec<u8>,
    /// Message under way, with its number; empty if none is.
    awaited: Vec<u8>,
    has_reply: bool,
    is_delivered: bool,
    /// Whether the server has not confirmed the subscription yet. If it rejects the subscription, one more reply arrives.
    is_subscribing: bool,
    /// Rejection of the subscription. `None` if it was not rejected.
    subscription_rejection: Option<Rejection>,
}

impl Subscriber {
    /// Creates the state of a connection.
    pub(super) fn new(number: u32) -> Self {
        Self { number, ..Self::default() }
    }

    /// Appends the commands for a message.
    ///
    /// # Errors
    ///
    /// Why the message cannot be published.
    pub(super) fn publish<'v>(
        &mut self,
        published: &Published,
        value: &impl Fn(u16) -> &'v [u8],
        out: &mut Vec<u8>,
    ) -> Result<(), String> {
        let mut channel = Vec::new();
        published.channel.fill(value, &mut channel);
        self.awaited.clear();
        published.message.fill(value, &mut self.awaited);
        if self.awaited.len() + channel.len() > MESSAGE_BYTES_MAX {
            return Err(format!("a message with its channel is longer than {MESSAGE_BYTES_MAX} bytes"));
        }
        self.latest += 1;
        self.awaited.extend_from_slice(format!(" #{}-{}", self.number, self.latest).as_bytes());
        (self.has_reply, self.is_delivered, self.subscription_rejection) = (false, false, None);
        if self.channel != channel || channel.is_empty() {
            if !self.channel.is_empty() {
                put(&[b"UNSUBSCRIBE", &self.channel], out);
            }
            put(&[b"SUBSCRIBE", &channel], out);
            self.channel = channel;
            self.is_subscribing = true;
        }
        put(&[b"PUBLISH", &self.channel, &self.awaited], out);
        Ok(())
    }

    /// Whether a delivery is awaited.
    #[inline]
    pub(super) fn is_waiting(&self) -> bool {
        !self.awaited.is_empty()
    }

    /// Notes a push of the server. Returns whether it completes the exchange.
    pub(super) fn take_push(&mut self, push: &ScalarItems) -> bool {
        if push.item(0) == Some(b"subscribe") {
            self.is_subscribing = false;
        }
        let is_own = self.is_waiting()
            && push.item(0) == Some(b"message")
            && push.item(1) == Some(&self.channel)
            && push.item(2) == Some(&self.awaited);
        self.is_delivered |= is_own;
        is_own && self.has_reply
    }

    /// Notes a reply, to PUBLISH or to a subscription that is rejected. Returns whether it completes the exchange, with its refusal.
    pub(super) fn take_reply(&mut self, rejection: Option<Rejection>) -> (bool, Option<Rejection>) {
        if rejection.is_some() && core::mem::take(&mut self.is_subscribing) {
            self.channel.clear();
            self.subscription_rejection = rejection;
            return (false, None);
        }
        self.has_reply = true;
        let rejection = rejection.or(self.subscription_rejection);
        (rejection.is_some() || self.is_delivered, rejection)
    }

    /// Ends the exchange.
    pub(super) fn end(&mut self) {
        self.awaited.clear();
    }

    /// Forgets the subscription, which belongs to a connection.
    pub(super) fn forget(&mut self) {
        (self.has_pushes, self.is_subscribing) = (false, false);
        self.channel.clear();
        self.awaited.clear();
    }
}

fn put(words: &[&[u8]], out: &mut Vec<u8>) {
    put_count(words.len(), out);
    words.iter().for_each(|word| put_word(word, out));
}
