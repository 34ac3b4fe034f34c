//! Feeds a conversation the bytes of a greeting, and returns its result.

use wire::{Conversation, ErrorClass, Greeting};

/// Result of a greeting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum GreetingResult {
    /// The peer broke the protocol, or rejected the log-in: class and sentence.
    Fault(ErrorClass, &'static str),
    /// The connection can carry requests, after this number of bytes.
    Done(usize),
    /// More bytes are awaited.
    Waiting,
}

/// Starts a greeting, and feeds these pieces until it ends.
///
/// # Panics
///
/// If a conversation uses more bytes than it got, or has nothing to send after [`Greeting::Send`].
pub(crate) fn greet<'a>(
    conversation: &mut dyn Conversation,
    pieces: impl Iterator<Item = &'a [u8]>,
) -> GreetingResult {
    let mut greeting = conversation.greet();
    let mut before = 0;
    for piece in pieces {
        let mut rest = piece;
        while !rest.is_empty() {
            match greeting {
                Greeting::Done => return GreetingResult::Done(before),
                Greeting::Send => assert!(!conversation.outgoing().is_empty()),
                Greeting::Secure => {
                    greeting = conversation.secured();
                    continue;
                }
                Greeting::Await => {}
            }
            match conversation.greeted(rest) {
                Err(fault) => return GreetingResult::Fault(fault.class, fault.sentence),
                Ok((used, next)) => {
                    assert!(used <= rest.len() && (used > 0 || next != Greeting::Await));
                    greeting = next;
                    before += used;
                    rest = &rest[used..];
                }
            }
        }
    }
    if greeting == Greeting::Done { GreetingResult::Done(before) } else { GreetingResult::Waiting }
}
