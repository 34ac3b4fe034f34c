//! What tells causes apart that look alike: for each rule a system with the limit, and one without that reads nearly the same.

use record::Counts;
use store::{Outage, OutageTime};

use super::planted::Planted;
use crate::inside::Inside;
use crate::waits::Workers;

/// Four threads that sleep for 20 ms each, and an event loop.
fn pool() -> Planted {
    let mut planted = Planted::closed(16, 200.0, 20.2);
    planted.spread(78.0, 80.0, 83.0);
    planted.threads(&[("timer", 3.97), ("poll", 1.0), ("runnable", 0.02), ("on_cpu", 0.01)]);
    planted
}

#[test]
fn threads_that_all_sleep_while_requests_wait_are_a_pool() {
    let planted = pool();
    let causes = planted.causes();
    assert_eq!(planted.said(), ["pool"]);
    assert_eq!((causes[0].share, causes[0].scope.to_string()), (Some(0.75), "process app".to_owned()));
    assert!(causes[0].because.starts_with("4 of 5.0 threads of app"), "{}", causes[0].because);
    assert!(causes[0].next.contains("more than 4"), "{}", causes[0].next);
}

#[test]
fn a_thread_for_each_request_is_no_pool() {
    let mut planted = Planted::closed(4, 200.0, 19.8);
    planted.spread(19.9, 20.0, 20.3);
    planted.threads(&[("timer", 3.97), ("poll", 1.0)]);
    assert_eq!(planted.said(), ["load"]);
    // Half of the threads of a pool had nothing to do.
    let mut planted = pool();
    planted.threads(&[("timer", 3.4), ("futex", 4.6), ("poll", 1.0)]);
    planted.pace().fastest_ns = Some(0.2e6);
    assert_eq!(planted.said(), ["unknown"]);
}

#[test]
fn a_thread_of_a_runtime_that_sleeps_is_no_pool_of_one() {
    // Requests wait in timers of an event loop, as in Go; its monitor sleeps by itself.
    let mut planted = Planted::closed(16, 200.0, 79.0);
    planted.threads(&[("timer", 0.98), ("poll", 1.0), ("futex", 4.0)]);
    assert_eq!(planted.said(), ["load"]);
    planted.pace().began_slowly = true;
    assert_eq!(planted.said(), ["unknown"], "the fastest of a cold program tells nothing");
    planted.pace().fastest_ns = Some(5e6);
    assert_eq!(planted.said(), ["pool"]);
}

#[test]
fn threads_at_futexes_of_their_own_wait_for_a_monitor_if_one_is_served_at_a_time() {
    let mut planted = Planted::closed(16, 185.0, 5.5);
    let workers = planted.threads(&[("futex", 17.6), ("poll", 0.9), ("runnable", 0.2), ("on_cpu", 0.1)]);
    (workers.same_futex, workers.timed_futex) = (1.0, Some(2.0));
    assert_eq!(planted.said(), ["lock"]);
    // Idle threads of a program that answers from an event loop.
    planted.pace().fastest_ns = Some(80e6);
    assert_eq!(planted.said(), ["load"]);
}

#[test]
fn threads_that_sleep_at_futexes_are_a_pool_where_no_other_thread_holds_requests() {
    let mut planted = Planted::closed(16, 191.0, 77.0);
    planted.pace().began_slowly = true;
    planted.threads(&[("futex", 3.86), ("poll", 0.95), ("runnable", 0.14), ("on_cpu", 0.05)]).timed_futex =
        Some(3.85);
    assert_eq!(planted.said(), ["pool"]);
    // Threads that wait for work, while requests are on their way to a peer.
    let workers = planted.threads(&[("futex", 3.86), ("poll", 0.95), ("runnable", 0.14), ("on_cpu", 0.05)]);
    workers.connections.insert("10.0.0.7:80".to_owned(), 16.0);
    assert_eq!(planted.said(), ["dependency"]);
}

#[test]
fn one_thread_that_wants_a_core_all_the_time_is_the_limit_although_others_took_the_core() {
    let mut planted = Planted::closed(8, 233.0, 14.5);
    planted.uses(0.63, 0.36);
    (planted.signals.busy, planted.signals.busy_cores) = (Some(0.995), Some(1.99));
    planted.signals.busiest_thread = Some(0.62);
    planted.threads(&[("on_cpu", 0.63), ("runnable", 0.36), ("futex", 4.0)]);
    let causes = planted.causes();
    assert_eq!(planted.said(), ["one_core"]);
    assert!(causes[0].against.iter().any(|text| text.contains("other processes used")), "{causes:?}");
    // A pair of threads, of which each wants half a core.
    planted.signals.busiest_thread = Some(0.3);
    assert_eq!(planted.said(), ["unknown"]);
    assert!(
        planted.causes()[0]
            .because
            .starts_with("the run was disturbed: other processes used 1.31 of 2 cores")
    );
}

#[test]
fn a_system_that_may_run_on_one_core_has_one_whoever_uses_it() {
    let mut planted = Planted::closed(8, 490.0, 2.1);
    planted.uses(0.65, 6.4);
    (planted.signals.busy, planted.signals.busy_cores) = (Some(1.0), Some(2.0));
    planted.threads(&[("on_cpu", 0.65), ("runnable", 6.4)]);
    assert_eq!(planted.said()[0], "machine_cpu");
    planted.signals.cores_allowed = Some(1.0);
    assert_eq!(planted.said()[0], "one_core");
    assert!(planted.causes()[0].because.contains("`pin`"));
    planted.uses(0.1, 0.1);
    planted.threads(&[("poll", 1.0)]);
    assert!(!planted.said().contains(&"one_core"));
}

#[test]
fn connections_that_are_all_busy_are_a_pool() {
    let mut planted = Planted::closed(16, 195.0, 3.0);
    let workers = planted.threads(&[("futex", 13.0), ("socket_read", 1.95), ("poll", 1.0)]);
    workers.connections.insert("127.0.0.1:5432".to_owned(), 2.0);
    workers.dependencies.insert("127.0.0.1:5432".to_owned(), 1.95);
    assert_eq!(planted.said()[0], "pool");
    assert!(planted.causes()[0].because.starts_with("app has 2 connections to 127.0.0.1:5432"));
    // Connections that are mostly idle, and one that carries many requests at once.
    for (open, reading) in [(2.0, 0.5), (1.0, 0.1)] {
        let workers = planted.threads(&[("futex", 13.0), ("poll", 1.0)]);
        workers.connections.insert("127.0.0.1:5432".to_owned(), open);
        workers.dependencies.insert("127.0.0.1:5432".to_owned(), reading);
        assert_eq!(planted.said(), ["unknown"], "{open} {reading}");
    }
}

#[test]
fn a_whole_number_of_requests_at_once_is_a_pool_where_nothing_computes() {
    let mut planted = Planted::closed(16, 198.0, 10.2);
    planted.spread(10.0, 80.0, 200.0);
    planted.threads(&[("poll", 1.0)]);
    assert_eq!(planted.said(), ["pool"]);
    planted.uses(1.9, 3.0);
    assert_ne!(planted.said(), ["pool"], "two cores work on two requests at once");
    planted.uses(0.1, 0.0);
    planted.pace().fastest_ns = Some(12.5e6);
    assert_eq!(planted.said(), ["unknown"]);
}

#[test]
fn answers_that_are_let_out_at_a_distance_have_a_limit_on_their_rate() {
    let mut planted = Planted::closed(16, 200.0, 0.3);
    planted.spread(79.0, 80.0, 81.0);
    planted.threads(&[("poll", 1.0)]);
    assert_eq!(planted.said(), ["rate_limit"]);
    assert!(planted.causes()[0].next.contains("200 a second"), "{}", planted.causes()[0].next);
    // A round rate, although the first answer was held back, too.
    planted.pace().fastest_ns = Some(8e6);
    assert_eq!(planted.said(), ["rate_limit"]);
    planted.answers(197.6, 81.0);
    planted.spread(79.0, 80.0, 81.0);
    assert_eq!(planted.said(), ["unknown"]);
}

#[test]
fn answers_that_wait_for_something_else_have_no_limit_on_their_rate() {
    let limited = || {
        let mut planted = Planted::closed(16, 200.0, 0.3);
        planted.spread(79.0, 80.0, 81.0);
        planted
    };
    let mut planted = limited();
    planted.threads(&[("pipe_write", 14.0)]);
    assert!(!planted.said().contains(&"rate_limit"));
    let mut planted = limited();
    planted.threads(&[("futex", 15.0), ("timer", 1.0)]).same_futex = 15.0;
    assert!(!planted.said().contains(&"rate_limit"));
    let mut planted = limited();
    planted.uses(1.0, 0.5);
    assert!(!planted.said().contains(&"rate_limit"));
    let mut planted = limited();
    planted.spread(40.0, 80.0, 120.0);
    assert!(!planted.said().contains(&"rate_limit"));
}

#[test]
fn a_second_write_that_waits_for_an_ack_takes_as_long_as_linux_delays_it() {
    let mut planted = Planted::closed(8, 182.0, 0.2);
    planted.spread(43.8, 44.0, 44.2);
    planted.pace().first_byte_ns = Some(0.1e6);
    planted.threads(&[("socket_read", 8.0)]);
    assert_eq!(planted.said(), ["delayed_ack"]);
    // A handler that sleeps between two parts of its answer.
    planted.threads(&[("timer", 7.9)]);
    assert!(!planted.said().contains(&"delayed_ack"));
    // A handler of 44 ms.
    planted.threads(&[("socket_read", 8.0)]);
    planted.pace().first_byte_ns = Some(43.9e6);
    assert!(!planted.said().contains(&"delayed_ack"));
}

#[test]
fn large_answers_that_come_slowly_lack_bandwidth_unless_cores_are_busy() {
    let slow = || {
        let mut planted = Planted::closed(16, 16.0, 1_000.0);
        planted.pace().first_byte_ns = Some(1e6);
        planted.pace().bytes_per_answer = Some(204_800.0);
        planted.threads(&[("poll", 1.0)]);
        planted
    };
    let planted = slow();
    assert_eq!(planted.said(), ["bandwidth", "load"]);
    assert!(planted.causes()[0].because.contains("200 KiB"), "{}", planted.causes()[0].because);
    let mut generator = slow();
    if let Some(resources) = &mut generator.measured.resources {
        resources.generator.get_or_insert_default().cpu_user_s = 9.5;
    }
    let mut stream = slow();
    stream.threads(&[("timer", 15.0)]);
    let mut small = slow();
    small.pace().bytes_per_answer = Some(300.0);
    for other in [generator, stream, small] {
        assert!(!other.said().contains(&"bandwidth"), "{:?}", other.said());
    }
}

#[test]
fn connections_of_the_load_are_short_where_the_system_is_not() {
    let planted = Planted::open(5, 400.0, 100.0, 50.0);
    assert_eq!(planted.said(), ["connections"]);
    assert_eq!(planted.causes()[0].next, "give the load about 26 connections (-c)");
    // Here requests wait in the system: more connections would wait there, too.
    let mut planted = Planted::open(5, 400.0, 100.0, 50.0);
    planted.pace().fastest_ns = Some(10e6);
    assert!(!planted.said().contains(&"connections"));
}

#[test]
fn a_queue_that_gives_up_rejects_after_the_same_time() {
    let late = || {
        let mut planted = Planted::closed(32, 200.0, 100.0);
        planted.together.counts =
            Counts { planned: 2_000, sent: 2_000, ok: 500, rejected: 1_500, ..Counts::default() };
        planted.together.statuses.insert(503, 1_500);
        (planted.together.ok_ns, planted.together.rejected_ns) = (Some(248e6), Some(151e6));
        planted.pace().rejected_ns = Some([149e6, 151e6, 152e6]);
        planted
    };
    assert_eq!(late().said()[0], "request_queue");
    assert!(late().causes()[0].because.contains("151 ms each time"), "{}", late().causes()[0].because);
    let mut slow = late();
    slow.pace().rejected_ns = Some([80e6, 151e6, 300e6]);
    assert!(!slow.said().contains(&"request_queue"));
    // What fails after good answers have come is no queue.
    let mut later = late();
    later.together.ok_ns = Some(100e6);
    assert!(!later.said().contains(&"request_queue"));
}

#[test]
fn cpu_time_that_no_request_needs_is_spinning() {
    let spinning = || {
        let mut planted = Planted::closed(8, 400.0, 0.52);
        planted.spread(1.0, 8.6, 52.0);
        planted.uses(1.92, 5.8);
        (planted.signals.busy, planted.signals.busy_cores) = (Some(1.0), Some(2.0));
        planted.threads(&[("on_cpu", 1.9), ("runnable", 5.6), ("socket_read", 0.2)]);
        planted
    };
    assert_eq!(spinning().said()[..2], ["spinning", "machine_cpu"]);
    // Each request takes at least its own CPU time, however many compute at once.
    let mut computing = spinning();
    computing.pace().fastest_ns = Some(4.9e6);
    computing.spread(5.0, 18.0, 40.0);
    assert_eq!(computing.said()[0], "machine_cpu");
    let mut mixed = spinning();
    mixed.run.new.steps.push("/other".to_owned());
    assert!(!mixed.said().contains(&"spinning"));
}

/// Two workers behind an event loop of the same system; 14 connections wait for them.
fn behind_an_event_loop() -> Planted {
    let mut planted = Planted::closed(16, 65.6, 32.5);
    planted.spread(243.1, 243.6, 244.3);
    planted.threads(&[("timer", 1.87), ("accept", 0.11), ("poll", 1.0), ("on_cpu", 0.02)]);
    let mut events = Workers { states: [("poll".to_owned(), 0.98)].into(), ..Workers::default() };
    events.connections.insert("127.0.0.1:9000".to_owned(), 16.0);
    planted.signals.waits.workers.insert("nginx".to_owned(), events);
    planted.signals.queued.insert("9000".to_owned(), 14.0);
    planted
}

#[test]
fn workers_that_connections_wait_for_are_a_pool_and_who_calls_them_has_no_dependency_elsewhere() {
    let planted = behind_an_event_loop();
    assert_eq!(planted.said(), ["pool", "dependency"]);
    let causes = planted.causes();
    assert!(causes[1].against[0].contains("port of the system itself, where 14 connections"), "{causes:?}");
    // Nobody waits for a worker: those in accept have nothing to do.
    let mut planted = behind_an_event_loop();
    planted.signals.queued.clear();
    assert_eq!(planted.said(), ["dependency"]);
    assert!(planted.causes()[0].against.is_empty());
}

#[test]
fn the_few_connections_of_an_event_loop_are_a_pool_where_the_pace_fits() {
    let mut planted = Planted::closed(16, 94.4, 33.5);
    let workers = planted.threads(&[("futex", 3.99), ("poll", 0.96), ("on_cpu", 0.05)]);
    workers.connections.insert("10.0.0.7:80".to_owned(), 2.0);
    assert_eq!(planted.said(), ["pool"]);
    planted.pace().fastest_ns = Some(4e6);
    assert_eq!(planted.said(), ["unknown"], "two connections would be served faster");
}

#[test]
fn a_thread_that_blocks_an_event_loop_is_a_pool_of_one_although_the_first_answer_was_cold() {
    let mut planted = Planted::closed(16, 95.4, 12.75);
    planted.pace().began_slowly = true;
    planted.threads(&[("futex", 4.9), ("poll", 0.06), ("on_cpu", 0.04)]).timed_futex = Some(0.91);
    assert_eq!(planted.said(), ["pool"]);
    planted.pace().began_slowly = false;
    assert_eq!(planted.said(), ["unknown"]);
}

#[test]
fn requests_that_go_on_one_at_a_time_in_changing_threads_hold_each_other_up() {
    let mut planted = Planted::closed(16, 3_622.0, 0.25);
    planted.uses(0.86, 0.34);
    (planted.signals.busy, planted.signals.busy_cores) = (Some(0.45), Some(0.9));
    (planted.signals.disk_busy, planted.signals.disk_pressure) = (Some(0.72), Some(0.33));
    planted.signals.busiest_thread = Some(0.3);
    let states = [("disk", 0.27), ("futex", 2.8), ("on_cpu", 0.72), ("runnable", 0.29), ("poll", 1.1)];
    planted.threads(&states);
    let resources = planted.measured.resources.as_mut().unwrap();
    resources.system.as_mut().unwrap().disk_written_bytes = Some(7e7);
    assert_eq!(planted.said(), ["lock", "disk"]);
    planted.signals.busiest_thread = Some(0.8);
    assert_eq!(planted.said(), ["one_core", "disk"], "one thread does all of it");
    planted.signals.busiest_thread = Some(0.3);
    planted.pace().fastest_ns = Some(0.6e6);
    assert_eq!(planted.said(), ["unknown"], "two go on at a time");
}

#[test]
fn sessions_at_work_refute_a_delayed_ack() {
    let mut planted = Planted::closed(12, 282.0, 4.8);
    planted.spread(40.1, 41.2, 42.5);
    planted.pace().first_byte_ns = Some(40e3);
    assert_eq!(planted.said(), ["delayed_ack"]);
    let waits = [("Lock:row".to_owned(), 10.8), ("CPU".to_owned(), 1.1)].into();
    planted.signals.inside = Some(Inside { samples: 50.0, active: 11.9, waits, ..Inside::default() });
    assert_eq!(planted.said(), ["database_lock"]);
}

#[test]
fn a_process_that_is_stopped_holds_its_requests_unless_others_answer_them() {
    let mut planted = Planted::closed(4, 400.0, 2.0);
    planted.threads(&[("stopped", 0.4), ("poll", 0.5), ("on_cpu", 0.1)]);
    let causes = planted.causes();
    assert_eq!((causes[0].resource.code, causes[0].scope.to_string().as_str()), ("stopped", "process app"));
    assert_eq!(causes[0].share, Some(0.4));
    // They explain its pauses.
    let time = OutageTime { from_s: 1.0, to_s: 2.0, lasting_s: 1.0, is_open: false };
    planted.measured.outage = Some(Outage { longest_s: 1.0, gone_share: 0.4, times: vec![time; 4] });
    assert_eq!(planted.said()[0], "stopped");
    assert!(!planted.said().contains(&"pauses"));
    planted.threads(&[("stopped", 0.1), ("poll", 0.8), ("on_cpu", 0.1)]);
    assert!(!planted.said().contains(&"stopped"), "a tenth of the time");
    planted.threads(&[("stopped", 1.0)]);
    assert!(!planted.said().contains(&"stopped"), "who is stopped all the time has answered nothing");
    let planned = planted.together.counts.planned;
    planted.together.counts.ok = planned / 4;
    assert!(planted.said().contains(&"stopped"));
}
