//! Feeds a parser the same reply three ways: whole, byte by byte, and followed by junk.

use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use crate::ErrorClass;
use crate::conversation::{Closing, Conversation, Progress, Reply};

/// A reply as it comes over the wire, and what it must come to.
#[derive(Clone, Debug)]
pub struct Sample {
    /// What it shows.
    pub name: &'static str,
    /// The bytes.
    pub bytes: Vec<u8>,
    /// What must come of it.
    pub end: End,
}

/// What a sample comes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// A reply of this status that ends with the last byte.
    Replied {
        /// The status.
        status: u16,
        /// Whether the connection can be used again.
        reusable: bool,
    },
    /// A reply of this status that ends when the peer closes.
    RepliedAtClose {
        /// The status.
        status: u16,
    },
    /// A fault of this class and sentence, at the last byte at the latest.
    Fault(ErrorClass, &'static str),
    /// Still waiting after the last byte; a close now is a cut-off reply.
    Incomplete,
}

/// Feeds one sample all three ways; says what differed.
pub fn feed_three_ways(open: &dyn Fn() -> Box<dyn Conversation>, sample: &Sample) -> Result<(), String> {
    let whole = run(&mut *open(), &[&sample.bytes], sample)?;
    let single: Vec<&[u8]> = sample.bytes.chunks(1).collect();
    let bytewise = run(&mut *open(), &single, sample)?;
    if whole != bytewise {
        return Err(format!("{}: whole gives {whole:?}, byte by byte gives {bytewise:?}", sample.name));
    }
    for cut in 1..sample.bytes.len() {
        let (head, tail) = sample.bytes.split_at(cut);
        let cut_once = run(&mut *open(), &[head, tail], sample)?;
        if whole != cut_once {
            return Err(format!("{}: cut at {cut} gives {cut_once:?} instead of {whole:?}", sample.name));
        }
    }
    with_junk(&mut *open(), sample)
}

fn run(
    conversation: &mut dyn Conversation,
    pieces: &[&[u8]],
    sample: &Sample,
) -> Result<Option<Reply>, String> {
    let wrong = |what: String| Err(format!("{}: expected {:?}, got {what}", sample.name, sample.end));
    for (number, piece) in pieces.iter().enumerate() {
        let is_last = number + 1 == pieces.len();
        match (conversation.received(piece), sample.end) {
            (Ok(Progress::NeedMore), _) => {}
            (Ok(Progress::Replied { used, reply }), End::Replied { status, reusable }) => {
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
    match (conversation.peer_closed(), sample.end) {
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

/// A complete reply must end exactly where it ends, whatever follows, and what follows must not pass for a reply.
fn with_junk(conversation: &mut dyn Conversation, sample: &Sample) -> Result<(), String> {
    let End::Replied { status, .. } = sample.end else { return Ok(()) };
    let mut bytes = sample.bytes.clone();
    bytes.extend_from_slice(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
    match conversation.received(&bytes) {
        Ok(Progress::Replied { used, reply }) if used == sample.bytes.len() && reply.status == status => {}
        other => return Err(format!("{}: with trailing junk: {other:?}", sample.name)),
    }
    match conversation.received(&bytes[sample.bytes.len()..]) {
        Err(_) => Ok(()),
        Ok(progress) => Err(format!("{}: the junk was taken as {progress:?}", sample.name)),
    }
}
