//! Connections that are renewed at the end of their lifetime, between two exchanges.

use crate::support::tagged::{Asked, Tagged, TaggedServer};
use crate::support::{MS, SECOND, closed, get, lasting, open, run, tcp};
use engine::{Job, Peer};
use target::Settings;

const LIFETIME_NS: u64 = 200 * MS;

fn renewed(peer: Peer) -> Peer {
    Peer { lifetime_ns: Some(LIFETIME_NS), ..peer }
}

#[test]
fn connections_are_renewed_after_lifetime_without_failures() {
    let target = target::start(Settings::default()).expect("a target");
    let done = run(closed(renewed(tcp(target.address())), 4, lasting(SECOND)), get("/"));
    done.assert_all_ok(done.tally.counts.planned);
    // Each connection is renewed at most five times; a busy machine may miss some.
    assert!((8..=24).contains(&done.tally.connections), "{}", done.tally.connections);
    let kept = run(closed(tcp(target.address()), 4, lasting(300 * MS)), get("/"));
    assert_eq!(kept.tally.connections, 4);
}

#[test]
fn open_load_renews_used_connections() {
    let target = target::start(Settings::default()).expect("a target");
    let done = run(open(renewed(tcp(target.address())), 400.0, SECOND, 4), get("/"));
    done.assert_all_ok(400);
    assert!(done.tally.connections >= 8, "{}", done.tally.connections);
}

#[test]
fn multiplexed_link_is_renewed_after_its_last_exchange() {
    let server = TaggedServer::start("", |_, waiting: &mut Vec<Asked>| {
        Some(
            waiting
                .drain(..)
                .map(|asked| format!("{} v{}-{}\n", asked.tag, asked.user, asked.step))
                .collect(),
        )
    });
    let job = closed(renewed(tcp(server.address)), 40, lasting(SECOND));
    let done = run(Job { pool: Some(4), ..job }, Tagged { room: 250, greets: false });
    done.assert_all_ok(done.tally.counts.planned);
    assert!((8..=24).contains(&done.tally.connections), "{}", done.tally.connections);
}
