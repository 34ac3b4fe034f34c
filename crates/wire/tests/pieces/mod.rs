//! Feeds a conversation or a channel with bytes as a whole and in pieces, and compares the results.

use wire::{
    Channel, Closing, Conversation, ErrorClass, Event, Next, Open, Progress, Protocol, Reply, Ticket, Values,
};

/// Max replies on one connection that are recorded.
const REPLIES_MAX: usize = 8;
/// Max concurrent exchanges on a channel.
const CONCURRENT_MAX: u32 = 3;

/// Record of the bytes of one connection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Transcript {
    /// Complete replies, each with its end in the bytes.
    pub(crate) replies: Vec<(usize, Reply)>,
    /// Tickets of the exchanges that ended, in order; empty for a conversation.
    pub(crate) tickets: Vec<Ticket>,
    /// End of the connection after the replies.
    pub(crate) end: End,
}

/// The end of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// The peer broke the protocol: class and sentence.
    Fault(ErrorClass, &'static str),
    /// The close completed a reply.
    RepliedAtClose(Reply),
    /// The close came without a reply in progress.
    Empty,
    /// The close cut a reply short.
    CutShort,
    /// [`REPLIES_MAX`] replies arrived, or the last one ended the connection.
    Enough,
}

/// Feeds these pieces, and returns the record. A connection continues as long as its replies allow.
///
/// # Panics
///
/// If the protocol uses more bytes than it got, or names an exchange that is not under way.
pub(crate) fn feed<'a>(protocol: &Protocol, pieces: impl Iterator<Item = &'a [u8]>) -> Transcript {
    match protocol.open {
        Open::Conversation(open) => feed_conversation(open(), pieces),
        Open::Channel(open) => feed_channel(open(), pieces),
    }
}

fn feed_conversation<'a>(
    mut conversation: Box<dyn Conversation>,
    pieces: impl Iterator<Item = &'a [u8]>,
) -> Transcript {
    let (mut replies, tickets) = (Vec::new(), Vec::new());
    let mut before = 0;
    for piece in pieces {
        let mut rest = piece;
        while !rest.is_empty() {
            match conversation.received(rest) {
                Err(fault) => {
                    return Transcript { replies, tickets, end: End::Fault(fault.class, fault.sentence) };
                }
                Ok(Progress::NeedMore) => rest = &[],
                Ok(Progress::Replied { used, reply }) => {
                    assert!(used <= rest.len(), "{used} of {} bytes were used", rest.len());
                    let ends_at = before + (piece.len() - rest.len()) + used;
                    replies.push((ends_at, reply));
                    rest = &rest[used..];
                    if !reply.reusable || replies.len() == REPLIES_MAX {
                        return Transcript { replies, tickets, end: after_last(&mut *conversation, rest) };
                    }
                    conversation.begin(0);
                }
                Ok(Progress::PartReplied { used, part: None, next: Next::Send | Next::Await }) => {
                    assert!(used <= rest.len(), "{used} of {} bytes were used", rest.len());
                    rest = &rest[used..];
                }
                Ok(Progress::PartReplied { .. } | Progress::Redirected { .. }) => {
                    panic!("a plain request has no parts")
                }
            }
        }
        before += piece.len();
    }
    let end = match conversation.peer_closed() {
        Closing::Replied(reply) => End::RepliedAtClose(reply),
        Closing::Empty => End::Empty,
        Closing::Incomplete => End::CutShort,
    };
    assert_eq!(conversation.peer_closed(), Closing::Empty, "a closed connection has nothing under way");
    Transcript { replies, tickets, end }
}

/// The exchanges of a channel. Each is begun again when it ends.
struct Link {
    channel: Box<dyn Channel>,
    in_flight: Vec<Ticket>,
    replies: Vec<(usize, Reply)>,
    tickets: Vec<Ticket>,
}

impl Link {
    fn begin(&mut self, ticket: Ticket) {
        self.channel.begin(ticket, 0, &Values::default());
        let all = self.channel.outgoing().len();
        self.channel.sent(all);
        self.in_flight.push(ticket);
    }

    /// Records an event that ends after `ends_at` bytes. Returns whether more replies are expected.
    fn note(&mut self, event: Event, ends_at: usize) -> bool {
        let (ticket, reply, is_over) = match event {
            Event::Replied { ticket, reply } => (ticket, Some(reply), true),
            Event::PartReplied { ticket, next: Next::Done(reply), .. } => (ticket, Some(reply), true),
            Event::PartReplied { ticket, .. } => (ticket, None, false),
            Event::Failed { ticket, .. } | Event::Redirected { ticket, .. } => (ticket, None, true),
        };
        let place = self.in_flight.iter().position(|known| *known == ticket);
        let place = place.unwrap_or_else(|| panic!("{ticket:?} is not under way"));
        let is_reusable = reply.is_none_or(|reply| reply.reusable);
        self.replies.extend(reply.map(|reply| (ends_at, reply)));
        if is_over {
            self.in_flight.remove(place);
            self.tickets.push(ticket);
        }
        let goes_on = is_reusable && self.tickets.len() < REPLIES_MAX;
        if is_over && goes_on && self.channel.room() > 0 {
            self.begin(ticket);
        }
        goes_on
    }

    fn end(self, end: End) -> Transcript {
        Transcript { replies: self.replies, tickets: self.tickets, end }
    }
}

fn feed_channel<'a>(channel: Box<dyn Channel>, pieces: impl Iterator<Item = &'a [u8]>) -> Transcript {
    let room = channel.room().min(CONCURRENT_MAX);
    let mut link = Link { channel, in_flight: Vec::new(), replies: Vec::new(), tickets: Vec::new() };
    (0..room).for_each(|ticket| link.begin(Ticket(ticket)));
    let mut before = 0;
    for piece in pieces {
        let mut used = 0;
        loop {
            match link.channel.received(&piece[used..]) {
                Err(fault) => return link.end(End::Fault(fault.class, fault.sentence)),
                Ok(None) => break,
                Ok(Some((more, event))) => {
                    used += more;
                    assert!(used <= piece.len(), "{used} of {} bytes were used", piece.len());
                    if !link.note(event, before + used) {
                        return link.end(End::Enough);
                    }
                }
            }
        }
        before += piece.len();
    }
    let closings: Vec<Closing> =
        link.in_flight.iter().map(|ticket| link.channel.peer_closed(*ticket)).collect();
    let of_replied = |closing: &Closing| match closing {
        Closing::Replied(reply) => Some(End::RepliedAtClose(*reply)),
        Closing::Empty | Closing::Incomplete => None,
    };
    let is_cut_short = closings.contains(&Closing::Incomplete);
    let end = if is_cut_short { Some(End::CutShort) } else { closings.iter().find_map(of_replied) };
    link.end(end.unwrap_or(End::Empty))
}

/// Asserts that unasked bytes do not count as a reply.
fn after_last(conversation: &mut dyn Conversation, rest: &[u8]) -> End {
    let answer = conversation.received(rest);
    let is_harmless = matches!(answer, Err(_) | Ok(Progress::NeedMore));
    assert!(is_harmless, "{answer:?} to {} bytes too many", rest.len());
    End::Enough
}

/// Compares two records for equal bytes.
///
/// An endless head is the one exception. As a whole, its error is found at once. In pieces, it is searched for only after a blank line, and
/// the close then cuts the reply short. Neither counts as a reply.
///
/// # Errors
///
/// Returns the difference.
pub(crate) fn compare(whole: &Transcript, pieces: &Transcript) -> Result<(), String> {
    let is_never_ending_head =
        matches!(whole.end, End::Fault(..)) && pieces.end == End::CutShort && whole.replies == pieces.replies;
    if whole == pieces || is_never_ending_head {
        Ok(())
    } else {
        Err(format!("whole: {whole:?}; in pieces: {pieces:?}"))
    }
}
