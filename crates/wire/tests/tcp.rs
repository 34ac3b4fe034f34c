//! Raw TCP: the end of replies in any pieces, and the limit of writes.

use std::sync::Arc;

use proptest::prelude::*;
use wire::step::{LoadSteps, Step};
use wire::tcp::{Exchange, Receive, Tcp, TcpStep};
use wire::{Channel, Closing, Conversation, ErrorClass, Progress, Script, Serial, Ticket, Values};

fn awaiting(receive: Receive) -> impl Conversation {
    let mut conversation = Tcp::single(b"x", Exchange { write_bytes: None, receive }).open(0);
    conversation.begin(0);
    conversation
}

/// End of the reply in the bytes, and its size. `None` if it did not end.
fn fed<'a>(receive: &Receive, pieces: impl IntoIterator<Item = &'a [u8]>) -> Option<(usize, u64)> {
    let mut conversation = awaiting(receive.clone());
    let mut before = 0;
    for piece in pieces {
        match conversation.received(piece).expect("no fault before the end") {
            Progress::NeedMore => before += piece.len(),
            Progress::Replied { used, reply } => return Some((before + used, reply.received_bytes)),
            other => panic!("{other:?}"),
        }
    }
    None
}

proptest! {
    #[test]
    fn reply_ends_at_same_byte_in_any_pieces(
        bytes in prop::collection::vec(0_u8..3, 0..60),
        delimiter in prop::collection::vec(0_u8..3, 1..5),
        cuts in prop::collection::vec(1_usize..7, 60),
    ) {
        let receive = Receive::Until(delimiter.clone());
        let expected = bytes.windows(delimiter.len()).position(|window| window == delimiter);
        let expected = expected.map(|at| at + delimiter.len()).map(|end| (end, end as u64));
        prop_assert_eq!(fed(&receive, [bytes.as_slice()]), expected);
        prop_assert_eq!(fed(&receive, bytes.chunks(1)), expected);
        let mut rest = bytes.as_slice();
        let pieces: Vec<&[u8]> = cuts.iter().map(|cut| {
            let (piece, later) = rest.split_at((*cut).min(rest.len()));
            rest = later;
            piece
        }).filter(|piece| !piece.is_empty()).collect();
        prop_assert_eq!(fed(&receive, pieces), expected);
    }
}

#[test]
fn reply_of_given_length_ends_after_it() {
    let receive = Receive::Bytes(5);
    assert_eq!(fed(&receive, [&b"hello"[..]]), Some((5, 5)));
    assert_eq!(fed(&receive, [&b"he"[..], b"llo and more"]), Some((5, 5)));
    assert_eq!(fed(&receive, [&b"hell"[..]]), None);
}

#[test]
fn rejects_unsolicited_bytes_and_early_close_is_incomplete() {
    let mut conversation = awaiting(Receive::Bytes(3));
    conversation.received(b"ab").expect("no fault");
    assert_eq!(conversation.peer_closed(), Closing::Incomplete);
    let fault = conversation.received(b"c").expect_err("nothing is awaited");
    assert_eq!(fault.class, ErrorClass::ExcessBytes);
    assert_eq!(awaiting(Receive::Bytes(3)).peer_closed(), Closing::Empty);
    let mut conversation = awaiting(Receive::Bytes(3));
    conversation.forget();
    assert!(conversation.received(b"late").is_err());
}

#[test]
fn write_is_limited_to_max_bytes() {
    let exchange = Exchange { write_bytes: Some(4), receive: Receive::Bytes(1) };
    let mut channel = Serial::new(Tcp::single(b"0123456789", exchange).open(0));
    channel.begin(Ticket(1), 0, &Values::default());
    let mut writes = Vec::new();
    while !channel.outgoing().is_empty() {
        writes.push(channel.outgoing().to_vec());
        let sent = writes.last().map_or(0, Vec::len);
        channel.sent(sent);
    }
    assert_eq!(writes, [&b"0123"[..], b"4567", b"89"]);
}

#[test]
fn rejects_step_whose_reply_has_no_end() {
    for receive in [Receive::Bytes(0), Receive::Until(Vec::new()), Receive::Until(vec![b'x'; 65])] {
        let exchange = Exchange { write_bytes: None, receive };
        let step: Arc<dyn Step> =
            Arc::new(TcpStep { message: b"x".to_vec(), exchange, title: String::new() });
        let wrong = Tcp::compile(&LoadSteps::of(&[step], &[])).expect_err("it has no end");
        assert_eq!(
            (wrong.step, wrong.what.as_str()),
            (0, "the end of its reply is nowhere: write 1 byte or more, or a delimiter of 1 to 64 bytes")
        );
    }
}
