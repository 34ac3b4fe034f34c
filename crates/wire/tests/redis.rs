//! Redis: commands, checks of replies, and pipelines, with bytes split at any place.

use std::sync::Arc;

use wire::redis::{PROTOCOL, RedisStep};
use wire::step::{LoadSteps, SavedValue, Step, Text, Value, WrittenStep};
use wire::{Channel, Channels, Closing, ErrorClass, Event, Next, Stage, StepError, Ticket, Values};

fn text(text: &str) -> Value {
    Value::Text(Text { written: text.to_owned(), template: text.into() })
}

fn step(command: &str, expect: Option<Value>, saves: &[SavedValue]) -> Arc<dyn Step> {
    let own = PROTOCOL.own_steps().expect("own steps");
    let value = text(command);
    let written = WrittenStep { expect: expect.as_ref(), saves, ..WrittenStep::of("redis", &value) };
    (own.read)(&written).expect("a step")
}

fn compile(steps: &[Arc<dyn Step>], pipeline: u32) -> Result<Box<dyn Channels>, StepError> {
    let own = PROTOCOL.own_steps().expect("own steps");
    (own.compile)(&LoadSteps { pipeline, ..LoadSteps::of(steps, &["v".to_owned(), "w".to_owned()]) })
}

fn values(value: &[u8]) -> Values {
    let mut values = Values::default();
    values.set(0, value);
    values
}

fn sent(channel: &mut dyn Channel) -> Vec<u8> {
    let bytes = channel.outgoing().to_vec();
    channel.sent(bytes.len());
    bytes
}

/// Tickets of replies in pieces, each with whether its reply was rejected.
fn events<'a>(channel: &mut dyn Channel, pieces: impl Iterator<Item = &'a [u8]>) -> Vec<(u32, bool)> {
    let mut events = Vec::new();
    for mut piece in pieces {
        while let Some((used, event)) = channel.received(piece).expect("replies") {
            let Event::Replied { ticket, reply } = event else { panic!("{event:?}") };
            events.push((ticket.0, reply.rejection.is_some()));
            piece = &piece[used..];
        }
    }
    events
}

#[test]
fn value_with_any_bytes_is_one_word() {
    let channels = compile(&[step("SET user:{v} \"a {v}\"", None, &[])], 1).expect("channels");
    let mut channel = channels.open(0, 0);
    assert_eq!(channel.begin(Ticket(1), 0, &values(b"x y\r\n*1\r\n")), Next::Send);
    let expected = b"*3\r\n$3\r\nSET\r\n$14\r\nuser:x y\r\n*1\r\n\r\n$11\r\na x y\r\n*1\r\n\r\n";
    assert_eq!(channel.outgoing().escape_ascii().to_string(), expected.escape_ascii().to_string());
}

#[test]
fn pipeline_replies_end_exchanges_in_order_in_any_pieces() {
    let steps = [
        step("GET {v}", None, &[]),
        step("GET b", Some(Value::Table(vec![("type", Value::Bytes(b"nil".to_vec()))])), &[]),
    ];
    let replies = b"$3\r\nabc\r\n>2\r\n+invalidate\r\n_\r\n-ERR no\r\n_\r\n$1\r\nx\r\n";
    for piece_bytes in 1..replies.len() {
        let channels = compile(&steps, 4).expect("channels");
        let mut channel = channels.open(0, 0);
        assert_eq!((channel.room(), channels.room(0), channels.is_multiplexed(0)), (4, 4, true));
        for (ticket, step) in [(7, 0), (3, 0), (9, 1), (1, 1)] {
            assert_eq!(channel.begin(Ticket(ticket), step, &values(b"a")), Next::Send);
        }
        assert_eq!((channel.room(), sent(&mut *channel).len()), (0, 80));
        let events = events(&mut *channel, replies.chunks(piece_bytes));
        assert_eq!(events, [(7, false), (3, true), (9, false), (1, true)], "{piece_bytes}");
        assert!(channel.is_idle() && channel.room() == 4);
        let fault = channel.received(b"+OK\r\n").expect_err("a fifth reply");
        assert_eq!(fault.class, ErrorClass::ExcessBytes);
    }
}

#[test]
fn reply_to_an_abandoned_exchange_is_dropped() {
    let channels = compile(&[step("PING", None, &[])], 3).expect("channels");
    let mut channel = channels.open(0, 0);
    for ticket in [1, 2] {
        channel.begin(Ticket(ticket), 0, &Values::default());
    }
    assert!(channel.abandon(Ticket(1)), "the other goes on");
    assert_eq!((channel.room(), channel.stage(Ticket(2))), (1, Stage::FirstByte));
    assert_eq!(events(&mut *channel, [&b"+A\r\n+B\r\n"[..]].into_iter()), [(2, false)]);
    channel.begin(Ticket(5), 0, &Values::default());
    assert!(!channel.abandon(Ticket(5)), "nothing but late replies is left");
}

#[test]
fn close_within_reply_differs_from_close_before_it() {
    let channels = compile(&[step("PING", None, &[])], 2).expect("channels");
    let mut channel = channels.open(0, 0);
    channel.begin(Ticket(1), 0, &Values::default());
    channel.begin(Ticket(2), 0, &Values::default());
    assert_eq!(channel.received(b"$5\r\nab"), Ok(None));
    assert_eq!((channel.stage(Ticket(1)), channel.stage(Ticket(2))), (Stage::Body, Stage::FirstByte));
    let closings = (channel.peer_closed(Ticket(1)), channel.peer_closed(Ticket(2)));
    assert_eq!(closings, (Closing::Incomplete, Closing::Empty));
    channel.forget();
    assert!(channel.is_idle() && channel.room() == 2);
}

#[test]
fn saves_items_and_checks_them_with_user_values() {
    let saves = [SavedValue {
        name: "w".to_owned(),
        variable: 1,
        value: Value::Table(vec![("item", Value::Count(2))]),
    }];
    let expect = Value::Table(vec![("contains", text("{v}"))]);
    let steps = [step("LRANGE a 0 2", Some(expect), &saves)];
    for pipeline in [1, 4] {
        for (reply, class) in [
            (&b"*3\r\n$1\r\nx\r\n:12\r\n$4\r\nlast\r\n"[..], None),
            (b"*2\r\n$1\r\nx\r\n:12\r\n", Some(ErrorClass::Capture)),
            (b"*3\r\n$1\r\nx\r\n:12\r\n_\r\n", Some(ErrorClass::Capture)),
            (b"*1\r\n$1\r\nx\r\n", Some(ErrorClass::CheckBody)),
            (b"-WRONGTYPE x\r\n", Some(ErrorClass::WrongType)),
        ] {
            let mut channel = compile(&steps, pipeline).expect("channels").open(0, 0);
            let mut user = values(b"1");
            channel.begin(Ticket(0), 0, &user);
            let event = channel.received(reply).expect("a reply");
            let Some((_, Event::Replied { reply: ended, .. })) = event else { panic!("{event:?}") };
            assert_eq!(ended.rejection.map(|rejection| rejection.class), class, "{}", reply.escape_ascii());
            if let Some(rejection) = ended.rejection {
                assert!(!channel.explain(rejection).is_empty());
            } else {
                channel.saved(Ticket(0), &mut user);
                assert_eq!(user.get(1), Some(&b"last"[..]));
            }
        }
    }
}

#[test]
fn commands_that_change_a_shared_connection_are_rejected_in_pipelines() {
    for command in ["MULTI", "WATCH a", "select 1", "AUTH x"] {
        let steps = [step(command, None, &[])];
        assert!(compile(&steps, 1).is_ok(), "{command}");
        let wrong = compile(&steps, 2).expect_err(command);
        assert!(wrong.what.contains("users share connections"), "{}", wrong.what);
    }
}

#[test]
fn memory_of_a_connection_grows_with_pipeline_depth() {
    let large = vec![b'x'; 1 << 20];
    let steps: [Arc<dyn Step>; 1] = [Arc::new(RedisStep::of(vec![b"SET".to_vec(), large], "SET".to_owned()))];
    let footprint = |pipeline| compile(&steps, pipeline).expect("channels").footprint(&|_| 0);
    assert!(footprint(1).kept_bytes >= 2 << 20 && footprint(16).kept_bytes >= 32 << 20);
    assert!(footprint(1).kept_bytes < 3 << 20, "{:?}", footprint(1));
}
