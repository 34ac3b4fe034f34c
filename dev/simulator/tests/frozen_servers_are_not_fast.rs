//! The throughput of a server that freezes during the measurement does not exceed the offered load.

use load::open::Profile;
use load::{Load, Open, SECOND_NS, Schedule, Spacing};
use simulator::trials::freezes;
use simulator::{Freeze, LoadTimes, Queue, Service, play_frozen};

#[test]
fn freezes_never_make_a_server_faster_than_its_load() {
    let found = freezes(20_262, 1_000);
    assert_eq!((found.possible, found.conserved), (1_000, 1_000), "{found:?}");
    assert!(found.fast_by_span > 0, "a divisor that hangs on the data would not have been found: {found:?}");
}

#[test]
fn backlog_of_a_freeze_in_the_warm_up_is_reported() {
    // 200/s, frozen from 0.5 s to 2.5 s; the window is from 1 s to 4 s.
    let load = Load::Open(Open {
        schedule: Schedule::Rate(Profile::constant(200.0), Spacing::EVEN),
        connections: 1_000,
        shed_after_ns: None,
    });
    let queue = Queue { servers: 1_000, service: Service::Constant { ns: 1_000_000 } };
    let times = LoadTimes { warm_up_ns: SECOND_NS, stop_ns: 4 * SECOND_NS };
    let freeze = Freeze { from_ns: SECOND_NS / 2, to_ns: SECOND_NS * 5 / 2 };
    let played = play_frozen(&load, &queue, freeze, times, 1);
    assert!((99..=101).contains(&played.backlog), "{}", played.backlog);
    assert!((699..=701).contains(&played.answers), "{}", played.answers);
    assert!((played.throughput_per_s().unwrap() - 700.0 / 3.0).abs() < 1.0);
}
