//! Feeds a conversation the bytes of a greeting, and says how it went.

use wire::{Conversation, ErrorClass, Greeting};

/// How a greeting went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Met {
    /// The peer broke the protocol, or keeps us out: class and sentence.
    Fault(ErrorClass, &'static str),
    /// The connection can carry requests, after so many bytes.
    Done(usize),
    /// More is awaited.
    Waiting,
}

/// Greets, and feeds these pieces until the greeting ends.
///
/// # Panics
///
/// When a conversation claims bytes that it was not given, or sends nothing where it says that it does.
pub(crate) fn greet<'a>(conversation: &mut dyn Conversation, pieces: impl Iterator<Item = &'a [u8]>) -> Met {
    let mut greeting = conversation.greet();
    let mut before = 0;
    for piece in pieces {
        let mut rest = piece;
        while !rest.is_empty() {
            match greeting {
                Greeting::Done => return Met::Done(before),
                Greeting::Send => assert!(!conversation.outgoing().is_empty()),
                Greeting::Secure => {
                    greeting = conversation.secured();
                    continue;
                }
                Greeting::Await => {}
            }
            match conversation.greeted(rest) {
                Err(fault) => return Met::Fault(fault.class, fault.sentence),
                Ok((used, next)) => {
                    assert!(used <= rest.len() && (used > 0 || next != Greeting::Await));
                    greeting = next;
                    before += used;
                    rest = &rest[used..];
                }
            }
        }
    }
    if greeting == Greeting::Done { Met::Done(before) } else { Met::Waiting }
}
