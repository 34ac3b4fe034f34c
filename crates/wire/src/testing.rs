//! Test helpers that feed sample replies to a parser in three ways: whole, byte by byte, and followed by junk.

use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use crate::ErrorClass;
use crate::blame::PeerFault;
use crate::channel::{Channel, Event, Ticket};
use crate::conversation::{Closing, Conversation, Progress, Reply};
use crate::protocol::Open;
use crate::values::Values;

/// A reply as it arrives from a peer, and its expected result.
#[derive(Clone, Debug)]
pub struct Sample {
    /// Name of the case.
    pub name: &'static str,
    /// Bytes of the reply.
    pub bytes: Vec<u8>,
    /// Expected result.
    pub end: End,
}

/// Expected result of a sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// A reply with this status that ends with the last byte.
    Replied {
        /// Status code.
        status: u16,
        /// Whether the connection can be reused.
        reusable: bool,
    },
    /// A reply with this status that ends when the peer closes the connection.
    RepliedAtClose {
        /// Status code.
        status: u16,
    },
    /// Protocol error with this class and sentence, at or before the last byte.
    Fault(ErrorClass, &'static str),
    /// Incomplete after the last byte. If the peer closes the connection now, the reply is cut short.
    Incomplete,
}

/// Ticket of the exchange on a channel.
const TICKET: Ticket = Ticket(0);

/// The client's side of one exchange, for feeding samples.
enum Client {
    Conversation(Box<dyn Conversation>),
    Channel(Box<dyn Channel>),
}

/// Result of feeding bytes.
#[derive(Debug)]
enum FeedResult {
    /// The reply is incomplete.
    All,
    /// The reply ended after `used` of the bytes.
    Replied { used: usize, reply: Reply },
    /// A result that a plain request cannot have.
    #[allow(dead_code, reason = "it is printed")]
    Other(String),
}

impl Client {
    /// Opens a link with one request in flight.
    fn open(open: Open) -> Self {
        match open {
            Open::Conversation(open) => Self::Conversation(open()),
            Open::Channel(open) => {
                let mut channel = open();
                channel.begin(TICKET, 0, &Values::default());
                let all = channel.outgoing().len();
                channel.sent(all);
                Self::Channel(channel)
            }
        }
    }

    fn received(&mut self, bytes: &[u8]) -> Result<FeedResult, PeerFault> {
        Ok(match self {
            Self::Conversation(conversation) => match conversation.received(bytes)? {
                Progress::NeedMore => FeedResult::All,
                Progress::Replied { used, reply } => FeedResult::Replied { used, reply },
                other => FeedResult::Other(format!("{other:?}")),
            },
            Self::Channel(channel) => match channel.received(bytes)? {
                None => FeedResult::All,
                Some((used, Event::Replied { ticket: TICKET, reply })) => FeedResult::Replied { used, reply },
                Some((_, other)) => FeedResult::Other(format!("{other:?}")),
            },
        })
    }

    fn peer_closed(&mut self) -> Closing {
        match self {
            Self::Conversation(conversation) => conversation.peer_closed(),
            Self::Channel(channel) => channel.peer_closed(TICKET),
        }
    }
}

/// Feeds a sample in all three ways.
///
/// # Errors
///
/// The first difference from the expected result, or between the ways.
pub fn feed_three_ways(open: Open, sample: &Sample) -> Result<(), String> {
    let whole = run(open, &[&sample.bytes], sample)?;
    let single: Vec<&[u8]> = sample.bytes.chunks(1).collect();
    let bytewise = run(open, &single, sample)?;
    if whole != bytewise {
        return Err(format!("{}: whole gives {whole:?}, byte by byte gives {bytewise:?}", sample.name));
    }
    for cut in 1..sample.bytes.len() {
        let (head, tail) = sample.bytes.split_at(cut);
        let cut_once = run(open, &[head, tail], sample)?;
        if whole != cut_once {
            return Err(format!("{}: cut at {cut} gives {cut_once:?} instead of {whole:?}", sample.name));
        }
    }
    with_junk(open, sample)
}

fn run(open: Open, pieces: &[&[u8]], sample: &Sample) -> Result<Option<Reply>, String> {
    let mut client = Client::open(open);
    let wrong = |what: String| Err(format!("{}: expected {:?}, got {what}", sample.name, sample.end));
    for (number, piece) in pieces.iter().enumerate() {
        let is_last = number + 1 == pieces.len();
        match (client.received(piece), sample.end) {
            (Ok(FeedResult::All), _) => {}
            (Ok(FeedResult::Replied { used, reply }), End::Replied { status, reusable }) => {
                let fits =
                    is_last && used == piece.len() && reply.status == status && reply.reusable == reusable;
                return if fits {
                    Ok(Some(reply))
                } else {
                    wrong(format!("{reply:?} in piece {number} after {used} bytes"))
                };
            }
            (Err(fault), End::Fault(class, sentence))
                if (fault.class, fault.sentence) == (class, sentence) =>
            {
                return Ok(None);
            }
            (other, _) => return wrong(format!("{other:?} in piece {number}")),
        }
    }
    match (client.peer_closed(), sample.end) {
        (Closing::Replied(reply), End::RepliedAtClose { status })
            if reply.status == status && !reply.reusable =>
        {
            Ok(Some(reply))
        }
        (Closing::Incomplete, End::Incomplete) => Ok(None),
        (Closing::Empty, End::Incomplete) if sample.bytes.is_empty() => Ok(None),
        (other, _) => wrong(format!("{other:?} at the close")),
    }
}

/// Checks that a complete reply ends exactly at its last byte when junk follows, and that the junk does not count as a reply.
fn with_junk(open: Open, sample: &Sample) -> Result<(), String> {
    let End::Replied { status, .. } = sample.end else { return Ok(()) };
    let (mut client, mut bytes) = (Client::open(open), sample.bytes.clone());
    bytes.extend_from_slice(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
    match client.received(&bytes) {
        Ok(FeedResult::Replied { used, reply }) if used == sample.bytes.len() && reply.status == status => {}
        other => return Err(format!("{}: with trailing junk: {other:?}", sample.name)),
    }
    match client.received(&bytes[sample.bytes.len()..]) {
        Err(_) => Ok(()),
        Ok(taken) => Err(format!("{}: the junk was taken as {taken:?}", sample.name)),
    }
}
