//! Feeds a conversation or a channel the same bytes whole and in pieces, and compares what became of each reply.

use wire::{
    Channel, Closing, Conversation, ErrorClass, Event, Next, Open, Progress, Protocol, Reply, Ticket, Values,
};

/// Requests made on one connection; more replies than this are not looked for.
const REPLIES_MAX: usize = 8;
/// Exchanges under way at the same time on a channel that has room for them.
const SIDE_BY_SIDE_MAX: u32 = 3;

/// What became of the bytes of one connection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Story {
    /// The replies that were complete, and where in the bytes each ended.
    pub(crate) replies: Vec<(usize, Reply)>,
    /// Tickets of the exchanges that were over, in order; empty for a conversation.
    pub(crate) tickets: Vec<Ticket>,
    /// What came after them.
    pub(crate) end: End,
}

/// The end of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// The peer broke the protocol: class and sentence.
    Fault(ErrorClass, &'static str),
    /// The close ended a reply.
    RepliedAtClose(Reply),
    /// The close came when nothing was under way.
    Empty,
    /// The close cut a reply short.
    CutShort,
    /// As many replies as were asked for.
    Enough,
}

/// The story of these pieces. A connection goes on as long as its replies say that it can.
///
/// # Panics
///
/// When the protocol claims bytes that it was not given, or names an exchange that is not under way.
pub(crate) fn feed<'a>(protocol: &Protocol, pieces: impl Iterator<Item = &'a [u8]>) -> Story {
    match protocol.open {
        Open::Conversation(open) => feed_conversation(open(), pieces),
        Open::Channel(open) => feed_channel(open(), pieces),
    }
}

fn feed_conversation<'a>(
    mut conversation: Box<dyn Conversation>,
    pieces: impl Iterator<Item = &'a [u8]>,
) -> Story {
    let (mut replies, tickets) = (Vec::new(), Vec::new());
    let mut before = 0;
    for piece in pieces {
        let mut rest = piece;
        while !rest.is_empty() {
            match conversation.received(rest) {
                Err(fault) => {
                    return Story { replies, tickets, end: End::Fault(fault.class, fault.sentence) };
                }
                Ok(Progress::NeedMore) => rest = &[],
                Ok(Progress::Replied { used, reply }) => {
                    assert!(used <= rest.len(), "{used} of {} bytes were used", rest.len());
                    let ends_at = before + (piece.len() - rest.len()) + used;
                    replies.push((ends_at, reply));
                    rest = &rest[used..];
                    if !reply.reusable || replies.len() == REPLIES_MAX {
                        return Story { replies, tickets, end: after_last(&mut *conversation, rest) };
                    }
                    conversation.begin(0);
                }
                Ok(Progress::Answered { used, part: None, next: Next::Send | Next::Await }) => {
                    assert!(used <= rest.len(), "{used} of {} bytes were used", rest.len());
                    rest = &rest[used..];
                }
                Ok(Progress::Answered { .. }) => panic!("a plain request has no parts"),
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
    Story { replies, tickets, end }
}

/// The exchanges of a channel, begun again as they end.
struct Link {
    channel: Box<dyn Channel>,
    under_way: Vec<Ticket>,
    replies: Vec<(usize, Reply)>,
    tickets: Vec<Ticket>,
}

impl Link {
    fn begin(&mut self, ticket: Ticket) {
        self.channel.begin(ticket, 0, &Values::default());
        let all = self.channel.outgoing().len();
        self.channel.sent(all);
        self.under_way.push(ticket);
    }

    /// Takes note of an event that ends after so many bytes, and says whether more replies are looked for.
    fn note(&mut self, event: Event, ends_at: usize) -> bool {
        let (ticket, reply, is_over) = match event {
            Event::Replied { ticket, reply } => (ticket, Some(reply), true),
            Event::Answered { ticket, next: Next::Done(reply), .. } => (ticket, Some(reply), true),
            Event::Answered { ticket, .. } => (ticket, None, false),
            Event::Failed { ticket, .. } => (ticket, None, true),
        };
        let place = self.under_way.iter().position(|known| *known == ticket);
        let place = place.unwrap_or_else(|| panic!("{ticket:?} is not under way"));
        let is_reusable = reply.is_none_or(|reply| reply.reusable);
        self.replies.extend(reply.map(|reply| (ends_at, reply)));
        if is_over {
            self.under_way.remove(place);
            self.tickets.push(ticket);
        }
        let goes_on = is_reusable && self.tickets.len() < REPLIES_MAX;
        if is_over && goes_on && self.channel.room() > 0 {
            self.begin(ticket);
        }
        goes_on
    }

    fn end(self, end: End) -> Story {
        Story { replies: self.replies, tickets: self.tickets, end }
    }
}

fn feed_channel<'a>(channel: Box<dyn Channel>, pieces: impl Iterator<Item = &'a [u8]>) -> Story {
    let room = channel.room().min(SIDE_BY_SIDE_MAX);
    let mut link = Link { channel, under_way: Vec::new(), replies: Vec::new(), tickets: Vec::new() };
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
        link.under_way.iter().map(|ticket| link.channel.peer_closed(*ticket)).collect();
    let of_replied = |closing: &Closing| match closing {
        Closing::Replied(reply) => Some(End::RepliedAtClose(*reply)),
        Closing::Empty | Closing::Incomplete => None,
    };
    let is_cut_short = closings.contains(&Closing::Incomplete);
    let end = if is_cut_short { Some(End::CutShort) } else { closings.iter().find_map(of_replied) };
    link.end(end.unwrap_or(End::Empty))
}

/// Bytes that nobody asked for must not pass for a reply, wherever they come.
fn after_last(conversation: &mut dyn Conversation, rest: &[u8]) -> End {
    let answer = conversation.received(rest);
    let is_harmless = matches!(answer, Err(_) | Ok(Progress::NeedMore));
    assert!(is_harmless, "{answer:?} to {} bytes too many", rest.len());
    End::Enough
}

/// Says how two stories of the same bytes differ, if they do.
///
/// A head that never ends is the one exception: whole, its fault is seen at once; in pieces, it is looked for only when a
/// blank line comes, and then the close cuts the reply short. Neither is ever a reply.
pub(crate) fn compare(whole: &Story, pieces: &Story) -> Result<(), String> {
    let is_never_ending_head =
        matches!(whole.end, End::Fault(..)) && pieces.end == End::CutShort && whole.replies == pieces.replies;
    if whole == pieces || is_never_ending_head {
        Ok(())
    } else {
        Err(format!("whole: {whole:?}; in pieces: {pieces:?}"))
    }
}
