//! Tests of the order of causes: which evidence ranks first, and which causes are reported only after another one.

use evidence::{Outage, OutageTime};

use crate::bottleneck::planted::Planted;
use crate::causes::Resource;
use crate::dependencies::Called;

fn called(planted: &mut Planted, awaited: f64) {
    let called = Called {
        program: "stock".to_owned(),
        connections: 16.0,
        awaited,
        segments_per_s: [148.0, 148.0],
        bytes_per_s: [1e4, 1e4],
        ..Called::default()
    };
    planted.signals.dependencies.called.insert(("app".to_owned(), "127.0.0.1:4711".to_owned()), called);
}

#[test]
fn lock_that_threads_wait_for_explains_pauses() {
    // A cron job holds a file lock for 300 ms at a time: all requests wait for it, and none is answered meanwhile.
    let mut planted = Planted::closed(16, 829.0, 1.0);
    let time = OutageTime { from_s: 1.0, to_s: 1.3, lasting_s: 0.3, is_open: false };
    planted.measured.outage =
        Some(Outage { longest_s: 0.3, gone_share: 0.73, times: vec![time; 12], ..Outage::default() });
    planted.threads(&[("timer", 0.1), ("socket_read", 0.5)]);
    assert_eq!(planted.said()[0], "pauses", "nothing else is seen");
    planted.threads(&[("file_lock", 15.6), ("on_cpu", 0.4)]);
    assert_eq!(planted.said()[..2], ["lock", "pauses"]);
}

#[test]
fn taken_slots_come_before_the_callee_that_holds_them() {
    // Four slots around a call of 20 ms: 12 threads wait for a slot, and 4 for a reply.
    let mut planted = Planted::closed(16, 197.0, 20.1);
    let workers =
        planted.threads(&[("futex", 12.0), ("socket_read", 4.0), ("on_cpu", 0.02), ("runnable", 0.02)]);
    (workers.same_futex, workers.timed_futex) = (12.0, Some(0.0));
    workers.dependencies.insert("127.0.0.1:4711".to_owned(), 4.2);
    called(&mut planted, 3.9);
    let causes = planted.causes();
    assert_eq!(causes[0].resource, Resource::POOL, "{causes:?}");
    assert!(causes[0].because.starts_with("4 of 16.0 threads of app were at work"), "{}", causes[0].because);
    assert_eq!(planted.said()[1], "dependency");
    // Without the limit of slots, all threads wait for the callee.
    let workers = planted.threads(&[("socket_read", 16.0)]);
    workers.same_futex = 0.0;
    workers.dependencies.insert("127.0.0.1:4711".to_owned(), 15.7);
    called(&mut planted, 15.7);
    assert_eq!(planted.said()[0], "dependency");
}

#[test]
fn callee_with_a_smaller_part_of_the_time_is_a_further_cause() {
    let mut planted = Planted::closed(24, 200.0, 80.0);
    planted.threads(&[("poll", 1.0)]);
    called(&mut planted, 6.0);
    assert_eq!(planted.said(), ["unknown"], "a quarter of the time is no likely cause");
    planted.signals.cpu_quota_cores = Some(0.4);
    planted.signals.throttled = Some(1.4);
    planted.signals.waits.throttled_periods = Some(1.0);
    planted.uses(0.4, 3.0);
    assert_eq!(planted.said(), ["cpu_quota", "dependency"]);
}

#[test]
fn disk_of_the_working_thread_counts_next_to_one_that_polls_for_its_lock() {
    // SQLite with two users: one writes its journal, and the other polls every few milliseconds for the file lock.
    let mut planted = Planted::closed(2, 1_336.0, 0.6);
    planted.uses(0.45, 0.03);
    (planted.signals.disk_busy, planted.signals.disk_pressure) = (Some(0.73), Some(0.54));
    planted.threads(&[("disk", 0.5), ("on_cpu", 0.39), ("runnable", 0.03), ("timer", 1.0)]);
    assert_eq!(planted.said()[0], "disk");
    planted.threads(&[("disk", 0.2), ("on_cpu", 0.69), ("runnable", 0.03), ("timer", 1.0)]);
    assert!(!planted.said().contains(&"disk"), "it mostly computes");
}

#[test]
fn requests_that_sleep_until_their_turn_are_held_back_by_a_rate() {
    let mut planted = Planted::closed(16, 200.0, 0.3);
    planted.spread(79.9, 80.0, 80.1);
    planted.threads(&[("timer", 16.0), ("on_cpu", 0.1)]);
    let causes = planted.causes();
    assert_eq!(causes[0].resource, Resource::RATE_LIMIT, "{causes:?}");
    assert!(
        causes[0]
            .because
            .starts_with("16.0 threads of app slept in timers on average, for 16.0 requests in flight")
    );
    // A sleep of 80 ms is the work itself: the fastest answer took as long.
    planted.pace().fastest_ns = Some(79.8e6);
    assert!(!planted.said().contains(&"rate_limit"));
}
