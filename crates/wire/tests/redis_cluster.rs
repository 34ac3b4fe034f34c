//! Commands on a cluster of Redis: the node of a key, redirections, and nodes that cannot be reached.

use std::sync::Arc;

use wire::redis::RedisStep;
use wire::step::{LoadSteps, Step};
use wire::{Channel, Channels, ClusterNodes, Event, Next, Redirect, Ticket, Values};

const USER: Ticket = Ticket(7);

fn nodes() -> ClusterNodes {
    ClusterNodes {
        addresses: ["10.0.0.1:7000", "10.0.0.2:7000", "10.0.0.3:7000"].map(String::from).into(),
        slots: vec![(0..=8191, 0), (8192..=16383, 1)],
    }
}

fn compile(command: &str, pipeline: u32) -> Result<Box<dyn Channels>, String> {
    let words = command.split(' ').map(|word| word.as_bytes().to_vec()).collect();
    let steps: [Arc<dyn Step>; 1] = [Arc::new(RedisStep::of(words, command.into()))];
    let (variables, nodes) = (["k".to_owned()], nodes());
    let own = wire::find_scheme("redis").expect("a protocol").0.own_steps().expect("steps");
    let load = LoadSteps { pipeline, nodes: Some(&nodes), ..LoadSteps::of(&steps, &variables) };
    (own.compile)(&load).map_err(|wrong| wrong.what)
}

fn route(channels: &dyn Channels, key: &str) -> u16 {
    let mut values = Values::default();
    values.set(0, key.as_bytes());
    channels.route(0, &values)
}

fn begin(channel: &mut dyn Channel) -> String {
    let next = channel.begin(USER, 0, &Values::default());
    assert_eq!(next, Next::Send);
    let sent = String::from_utf8_lossy(channel.outgoing()).into_owned();
    channel.sent(sent.len());
    sent
}

/// Redirect in a reply. `None` if the exchange ends with the reply.
fn redirect(channel: &mut dyn Channel, reply: &str) -> Option<Redirect> {
    match channel.received(reply.as_bytes()) {
        Ok(Some((_, Event::Redirected { ticket: USER, redirect }))) => Some(redirect),
        Ok(Some((_, Event::Replied { ticket: USER, .. }))) => None,
        other => panic!("{other:?}"),
    }
}

#[test]
fn key_or_its_hash_tag_selects_the_node() {
    // The slots of `foo` and `key:1` are 12182 and 6657.
    let get = compile("GET {k}", 1).expect("channels");
    assert_eq!(["foo", "key:1", "key:{foo}", "{foo}:1"].map(|key| route(&*get, key)), [1, 0, 1, 1]);
    for command in ["EVAL s 1 {k}", "BITOP AND {k} a", "XREAD COUNT 1 STREAMS {k} 0", "OBJECT ENCODING {k}"] {
        let channels = compile(command, 1).expect("channels");
        assert_eq!([route(&*channels, "foo"), route(&*channels, "key:1")], [1, 0], "{command}");
    }
    assert_eq!(
        (get.peers(), get.peers_of(0), get.connects_lazily(1), get.connects_lazily(2)),
        (3, 0..3, false, true)
    );
}

#[test]
fn command_without_key_goes_to_masters_in_turn_and_transactions_are_rejected() {
    let ping = compile("PING", 1).expect("channels");
    let turns: Vec<u16> = (0..4).map(|_| route(&*ping, "")).collect();
    assert_eq!(turns, [0, 1, 0, 1]);
    assert!(compile("MULTI", 1).is_err_and(|what| what.contains("no key")));
}

#[test]
fn moved_changes_the_node_of_the_slot_and_ask_does_not() {
    for pipeline in [1, 4] {
        let get = compile("GET foo", pipeline).expect("channels");
        let mut channel = get.open(0, 0);
        begin(&mut *channel);
        let ask = redirect(&mut *channel, "-ASK 12182 10.0.0.3:7000\r\n").expect("a redirection");
        assert_eq!((ask.peer, ask.is_once, route(&*get, "")), (2, true, 1));
        begin(&mut *channel);
        let moved = redirect(&mut *channel, "-MOVED 12182 10.0.0.3:7000\r\n").expect("a redirection");
        assert_eq!((moved.peer, moved.is_once, route(&*get, "")), (2, false, 2));
        assert_eq!(moved.fault.class, wire::ErrorClass::Moved);
        for unknown in ["-MOVED 12182 10.0.0.9:7000\r\n", "-MOVED 99999 10.0.0.1:7000\r\n", "-MOVED x\r\n"] {
            begin(&mut *channel);
            assert_eq!(redirect(&mut *channel, unknown), None, "{unknown}");
        }
    }
}

#[test]
fn redirected_node_gets_asking_first_and_its_reply_is_skipped() {
    for pipeline in [1, 4] {
        let get = compile("GET foo", pipeline).expect("channels");
        let mut channel = get.open(2, 0);
        channel.announce_redirect();
        assert_eq!(begin(&mut *channel), "*1\r\n$6\r\nASKING\r\n*2\r\n$3\r\nGET\r\n$3\r\nfoo\r\n");
        for byte in b"+OK\r\n$1\r\n".iter() {
            assert_eq!(channel.received(&[*byte]), Ok(None));
        }
        assert_eq!(redirect(&mut *channel, "x\r\n"), None);
        assert_eq!(begin(&mut *channel), "*2\r\n$3\r\nGET\r\n$3\r\nfoo\r\n");
    }
}

#[test]
fn unreachable_node_is_skipped_until_it_is_reachable_again() {
    let get = compile("GET foo", 1).expect("channels");
    get.note_reachable(1, false);
    assert_eq!(route(&*get, ""), 0);
    get.note_reachable(0, false);
    assert_eq!(route(&*get, ""), 1, "no master is left");
    get.note_reachable(1, true);
    assert_eq!(route(&*get, ""), 1);
}
