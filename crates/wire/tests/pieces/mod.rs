//! Feeds a conversation the same bytes whole and in pieces, and compares what became of each reply.

use wire::{Closing, Conversation, ErrorClass, Next, Progress, Protocol, Reply};

/// Requests made on one connection; more replies than this are not looked for.
const REPLIES_MAX: usize = 8;

/// What became of the bytes of one connection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Story {
    /// The replies that were complete, and where in the bytes each ended.
    pub(crate) replies: Vec<(usize, Reply)>,
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
/// When a conversation claims bytes that it was not given.
pub(crate) fn feed<'a>(protocol: &Protocol, pieces: impl Iterator<Item = &'a [u8]>) -> Story {
    let mut conversation = (protocol.open)();
    let mut replies = Vec::new();
    let mut before = 0;
    for piece in pieces {
        let mut rest = piece;
        while !rest.is_empty() {
            match conversation.received(rest) {
                Err(fault) => return Story { replies, end: End::Fault(fault.class, fault.sentence) },
                Ok(Progress::NeedMore) => rest = &[],
                Ok(Progress::Replied { used, reply }) => {
                    assert!(used <= rest.len(), "{used} of {} bytes were used", rest.len());
                    let ends_at = before + (piece.len() - rest.len()) + used;
                    replies.push((ends_at, reply));
                    rest = &rest[used..];
                    if !reply.reusable || replies.len() == REPLIES_MAX {
                        return Story { replies, end: after_last(&mut *conversation, rest) };
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
    Story { replies, end }
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
