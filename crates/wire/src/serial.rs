//! Adapters from conversations and scripts to channels, for protocols with one exchange at a time.

use alloc::boxed::Box;
use alloc::string::String;
use core::ops::Range;

use crate::blame::PeerFault;
use crate::channel::{Channel, Channels, Event, Footprint, PeerStep, Ticket};
use crate::content::Content;
use crate::conversation::{
    Cancel, Closing, Conversation, FirstReplies, Greeting, Interrupt, Next, Progress, Rejection, Script,
    Stage,
};
use crate::values::Values;

/// Channel of a conversation, with one exchange in flight at a time.
pub struct Serial<C> {
    conversation: C,
    /// Ticket of the exchange in flight, or [`Ticket::NONE`].
    ticket: Ticket,
    /// Number of outgoing bytes of the conversation that were sent. [`NOTHING_TO_SEND`] if it has none.
    written: u32,
    /// User with variables in the conversation, and the stamp of the latest value there.
    known: (Ticket, u32),
}

const NOTHING_TO_SEND: u32 = u32::MAX;

impl<C: Conversation> Serial<C> {
    /// Creates the channel of a conversation with nothing under way.
    pub fn new(conversation: C) -> Self {
        let known = (Ticket::NONE, 0);
        Self { conversation, ticket: Ticket::NONE, written: NOTHING_TO_SEND, known }
    }

    /// Returns the conversation, with the values saved from replies.
    pub fn conversation(&mut self) -> &mut C {
        &mut self.conversation
    }

    /// Returns the conversation at the end of the channel.
    pub fn into_conversation(self) -> C {
        self.conversation
    }

    /// Passes the user's variables that have changed to the conversation.
    #[inline]
    fn update_variables(&mut self, ticket: Ticket, values: &Values) {
        if self.known != (ticket, values.latest()) {
            let (whose, stamp) = self.known;
            let since = if whose == ticket { stamp } else { 0 };
            if whose != ticket && whose != Ticket::NONE {
                self.conversation.change_user();
            }
            values.since(since).for_each(|(variable, value)| self.conversation.set(variable, value));
            self.known = (ticket, values.latest());
        }
    }

    /// Resets the send position before a new request, or ends the exchange.
    #[inline]
    fn apply_next(&mut self, next: &Next) {
        match next {
            Next::Send => self.written = 0,
            Next::Done(_) => self.ticket = Ticket::NONE,
            Next::Await | Next::Pause { .. } | Next::Reopen | Next::Broken(_) => {}
        }
    }

    fn apply_greeting(&mut self, greeting: Greeting) -> Greeting {
        if greeting == Greeting::Send {
            self.written = 0;
        }
        greeting
    }

    /// Ends the exchange. The conversation gets the bytes after the reply, and returns an error if they are unsolicited: the reply may then
    /// belong to another request.
    #[inline]
    fn end(&mut self, rest: &[u8]) -> Result<(), PeerFault> {
        self.ticket = Ticket::NONE;
        if rest.is_empty() { Ok(()) } else { self.conversation.received(rest).map(drop) }
    }
}

impl<C: Conversation> Channel for Serial<C> {
    fn room(&self) -> u32 {
        u32::from(self.ticket == Ticket::NONE)
    }

    fn set_address(&mut self, address: u16) {
        self.conversation.set_address(address);
    }

    fn greet(&mut self) -> Greeting {
        let greeting = self.conversation.greet();
        self.apply_greeting(greeting)
    }

    fn greeted(&mut self, bytes: &[u8]) -> Result<(usize, Greeting), PeerFault> {
        let (used, greeting) = self.conversation.greeted(bytes)?;
        Ok((used, self.apply_greeting(greeting)))
    }

    fn certificate(&mut self, der: &[u8]) {
        self.conversation.certificate(der);
    }

    fn secured(&mut self) -> Greeting {
        let greeting = self.conversation.secured();
        self.apply_greeting(greeting)
    }

    fn announce_redirect(&mut self) {
        self.conversation.announce_redirect();
    }

    #[inline]
    fn begin(&mut self, ticket: Ticket, step: u16, values: &Values) -> Next {
        self.update_variables(ticket, values);
        self.ticket = ticket;
        let next = self.conversation.begin(step);
        self.apply_next(&next);
        next
    }

    fn resume(&mut self, ticket: Ticket) -> Next {
        self.ticket = ticket;
        let next = self.conversation.resume();
        self.apply_next(&next);
        next
    }

    #[inline]
    fn outgoing(&self) -> &[u8] {
        let rest = self.conversation.outgoing().get(self.written as usize..).unwrap_or_default();
        &rest[..rest.len().min(self.conversation.write_bytes_max())]
    }

    #[inline]
    fn sent(&mut self, count: usize) {
        self.written += count as u32;
    }

    #[inline]
    fn received(&mut self, bytes: &[u8]) -> Result<Option<(usize, Event)>, PeerFault> {
        let ticket = self.ticket;
        match self.conversation.received(bytes) {
            Ok(Progress::NeedMore) => Ok(None),
            Ok(Progress::Replied { used, reply }) => {
                self.end(&bytes[used..])?;
                Ok(Some((bytes.len(), Event::Replied { ticket, reply })))
            }
            Ok(Progress::Redirected { used, redirect }) => {
                self.end(&bytes[used..])?;
                Ok(Some((bytes.len(), Event::Redirected { ticket, redirect })))
            }
            Ok(Progress::PartReplied { used, part, next }) => {
                let mut used = used.min(bytes.len());
                if matches!(next, Next::Done(_)) {
                    self.end(&bytes[used..])?;
                    used = bytes.len();
                }
                self.apply_next(&next);
                Ok(Some((used, Event::PartReplied { ticket, part, next })))
            }
            Err(fault) => Err(fault),
        }
    }

    fn peer_closed(&mut self, _ticket: Ticket) -> Closing {
        self.conversation.peer_closed()
    }

    fn stage(&self, _ticket: Ticket) -> Stage {
        self.conversation.stage()
    }

    fn part(&self, _ticket: Ticket) -> Option<u16> {
        self.conversation.part()
    }

    fn explain(&self, rejection: Rejection) -> String {
        self.conversation.explain(rejection)
    }

    #[inline]
    fn content(&self, _ticket: Ticket) -> Content {
        self.conversation.content()
    }

    fn first_replies(&self) -> Option<FirstReplies> {
        self.conversation.first_replies()
    }

    fn saved(&mut self, ticket: Ticket, values: &mut Values) {
        self.conversation.saved(&mut |variable, value| values.set(variable, value));
        self.known = (ticket, values.latest());
    }

    fn is_idle(&self) -> bool {
        self.conversation.stage() == Stage::Idle
    }

    fn farewell(&self) -> &[u8] {
        self.conversation.farewell()
    }

    fn cancel(&self, _ticket: Ticket) -> Option<Cancel> {
        self.conversation.cancel()
    }

    fn forget(&mut self) {
        self.conversation.forget();
        (self.ticket, self.written) = (Ticket::NONE, NOTHING_TO_SEND);
    }

    fn interrupt(&self) -> Option<Interrupt> {
        self.conversation.interrupt()
    }
}

/// Channels of a script, which has one peer.
impl<S: Script> Channels for S
where
    S::Conversation: 'static,
{
    fn open(&self, _peer: u16, number: u32) -> Box<dyn Channel> {
        Box::new(Serial::new(Script::open(self, number)))
    }

    fn needs(&self, step: u16, variable: u16) -> bool {
        Script::needs(self, step, variable)
    }

    fn inspects_replies(&self, step: u16) -> bool {
        Script::inspects_replies(self, step)
    }

    fn is_idempotent(&self, step: u16) -> bool {
        Script::is_idempotent(self, step)
    }

    fn parts(&self) -> u16 {
        Script::parts(self)
    }

    fn footprint(&self, longest_bytes: &dyn Fn(u16) -> u64) -> Footprint {
        Script::footprint(self, longest_bytes)
    }

    fn quote(&mut self) {
        Script::quote(self);
    }
}

impl Channels for Box<dyn Channels> {
    fn open(&self, peer: u16, number: u32) -> Box<dyn Channel> {
        (**self).open(peer, number)
    }

    fn peers(&self) -> u16 {
        (**self).peers()
    }

    fn connects_lazily(&self, peer: u16) -> bool {
        (**self).connects_lazily(peer)
    }

    fn note_reachable(&self, peer: u16, is_reachable: bool) {
        (**self).note_reachable(peer, is_reachable);
    }

    fn place(&self, step: u16) -> PeerStep {
        (**self).place(step)
    }

    fn has_routes(&self) -> bool {
        (**self).has_routes()
    }

    fn route(&self, step: u16, values: &Values) -> u16 {
        (**self).route(step, values)
    }

    fn peers_of(&self, step: u16) -> Range<u16> {
        (**self).peers_of(step)
    }

    fn parts(&self) -> u16 {
        (**self).parts()
    }

    fn part_offset(&self, peer: u16) -> u16 {
        (**self).part_offset(peer)
    }

    fn room(&self, peer: u16) -> u32 {
        (**self).room(peer)
    }

    fn is_multiplexed(&self, peer: u16) -> bool {
        (**self).is_multiplexed(peer)
    }

    fn is_in_process(&self, peer: u16) -> bool {
        (**self).is_in_process(peer)
    }

    fn needs(&self, step: u16, variable: u16) -> bool {
        (**self).needs(step, variable)
    }

    fn inspects_replies(&self, step: u16) -> bool {
        (**self).inspects_replies(step)
    }

    fn is_idempotent(&self, step: u16) -> bool {
        (**self).is_idempotent(step)
    }

    fn footprint(&self, longest_bytes: &dyn Fn(u16) -> u64) -> Footprint {
        (**self).footprint(longest_bytes)
    }

    fn quote(&mut self) {
        (**self).quote();
    }
}

/// Script with a peer in this process.
#[derive(Debug)]
pub struct InProcess<S>(pub S);

impl<S: Script> Channels for InProcess<S>
where
    S::Conversation: 'static,
{
    fn open(&self, _peer: u16, number: u32) -> Box<dyn Channel> {
        Box::new(Serial::new(Script::open(&self.0, number)))
    }

    fn parts(&self) -> u16 {
        Script::parts(&self.0)
    }

    fn is_in_process(&self, _peer: u16) -> bool {
        true
    }

    fn needs(&self, step: u16, variable: u16) -> bool {
        Script::needs(&self.0, step, variable)
    }

    fn inspects_replies(&self, step: u16) -> bool {
        Script::inspects_replies(&self.0, step)
    }

    fn is_idempotent(&self, step: u16) -> bool {
        Script::is_idempotent(&self.0, step)
    }

    fn footprint(&self, longest_bytes: &dyn Fn(u16) -> u64) -> Footprint {
        Script::footprint(&self.0, longest_bytes)
    }

    fn quote(&mut self) {
        Script::quote(&mut self.0);
    }
}
