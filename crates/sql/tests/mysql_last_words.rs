//! A fatal MySQL error rejects the transaction with its message: as a reply, and during a pause.

use std::sync::Arc;

use sql::script::{Allow, Language, ScriptSet};
use sql::{Engine, Settings, SqlConversation, TransactionStep};
use wire::sql::Login;
use wire::{Closing, Conversation as _, Greeting, Next, Progress, Reply, Script as _};

/// Packets with these payloads, numbered from `first`.
fn packets(first: u8, payloads: &[&[u8]]) -> Vec<u8> {
    let packet = |(number, payload): (u8, &&[u8])| [&[payload.len() as u8, 0, 0, number], *payload].concat();
    (first..).zip(payloads).flat_map(packet).collect()
}

/// A connection that is logged in, and has sent the first statement of a script.
fn conversation(script: &str) -> SqlConversation {
    let mut all_scripts = ScriptSet::new();
    assert_eq!(all_scripts.add("test", script.as_bytes(), Language::Pgbench, Allow::Nothing), Ok(0));
    let steps = [TransactionStep { name: "step".to_owned(), script: 0, expects: None }];
    let script = sql::on_server(
        Engine::MySql,
        all_scripts,
        &steps,
        Settings::default(),
        Arc::new(Login::default()),
        true,
        [5; 18],
    )
    .unwrap();
    let mut conversation = script.open(0);
    assert_eq!(conversation.greet(), Greeting::Await);
    let hello =
        b"\x0a8.0.36\0\x07\0\0\x0012345678\0\xff\xf7\x2d\x02\0\xff\x01\x15\0\0\0\0\0\0\0\0\0\0901234567890\0\
        mysql_native_password\0";
    let hello = packets(0, &[hello]);
    assert_eq!(conversation.greeted(&hello), Ok((hello.len(), Greeting::Send)));
    let welcome = packets(2, &[&[0, 0, 0, 2, 0, 0, 0]]);
    assert_eq!(conversation.greeted(&welcome), Ok((welcome.len(), Greeting::Done)));
    assert_eq!(conversation.begin(0), Next::Send);
    conversation
}

/// Asserts how a transaction ends whose connection ends with this error.
#[track_caller]
fn assert_ended(conversation: &mut SqlConversation, words: &[u8], expected: &str) {
    let event = conversation.received(words);
    let Ok(Progress::PartReplied {
        next: Next::Done(Reply { rejection: Some(rejection), reusable: false, .. }),
        ..
    }) = event
    else {
        panic!("{event:?}")
    };
    assert_eq!(format!("{}: {}", rejection.class, conversation.explain(rejection)), expected);
    // The engine checks for more data after the reply.
    assert_eq!(conversation.received(b""), Ok(Progress::NeedMore));
    assert_eq!(conversation.peer_closed(), Closing::Empty);
}

const SHUTDOWN: &[u8] = b"\xff\x1d\x04#08S01Server shutdown in progress";
const KILLED: &[u8] = b"\xff\x87\x07#70100Connection was killed";
const IDLE: &[u8] = b"\xff\xbf\x0f#HY000The client was disconnected by the server because of inactivity.";
const BEGUN: &[u8] = &[0, 0, 0, 3, 0, 0, 0];

#[test]
fn server_shutdown_is_reported_in_the_reply() {
    for sequence in [0, 1] {
        let words = packets(sequence, &[SHUTDOWN]);
        let expected = "server_shutdown: 08S01 (1053): Server shutdown in progress";
        assert_ended(&mut conversation("SELECT 1;\nSELECT 2;"), &words, expected);
    }
    let expected = "server_shutdown: 70100 (1927): Connection was killed";
    assert_ended(&mut conversation("BEGIN;\nSELECT 1;"), &packets(1, &[KILLED]), expected);
}

#[test]
fn idle_disconnect_in_a_pause_is_reported_with_the_server_message() {
    let mut conversation = conversation("BEGIN;\n\\sleep 9 s\nCOMMIT;");
    let paused = conversation.received(&packets(1, &[BEGUN]));
    assert!(matches!(paused, Ok(Progress::PartReplied { next: Next::Pause { .. }, .. })), "{paused:?}");
    let expected =
        "idle_timeout: HY000 (4031): The client was disconnected by the server because of inactivity.";
    assert_ended(&mut conversation, &packets(0, &[IDLE]), expected);
}
