//! Tests of causes that look alike: for each rule, a system with the limit, and one without it but with nearly equal
//! readings.

use evidence::{Model, Outage, OutageTime};
use record::{ClassName, Counts, ErrorClass, Interval};

use crate::bottleneck::cause::Scope;
use crate::bottleneck::planted::Planted;
use crate::causes::Resource;
use crate::endpoint_pool::EndpointPool;
use crate::endpoint_pool::tests::{MS, interval, run as run_at_endpoints};
use crate::event_cost::EventSums;
use crate::group_io::LimitedIo;
use crate::inside::DatabaseStatistics;
use crate::waits::Workers;

/// Plants four threads that sleep for 20 ms per request, and an event loop.
fn pool() -> Planted {
    let mut planted = Planted::closed(16, 200.0, 20.2);
    planted.spread(78.0, 80.0, 83.0);
    planted.threads(&[("timer", 3.97), ("poll", 1.0), ("runnable", 0.02), ("on_cpu", 0.01)]);
    planted
}

#[test]
fn sleeping_threads_and_waiting_requests_are_a_pool() {
    let planted = pool();
    let causes = planted.causes();
    assert_eq!(planted.said(), ["pool"]);
    assert_eq!((causes[0].share, causes[0].scope.to_string()), (Some(0.75), "process app".to_owned()));
    assert!(causes[0].because.starts_with("4 of 5.0 threads of app"), "{}", causes[0].because);
    assert!(causes[0].next.contains("more than 4"), "{}", causes[0].next);
}

#[test]
fn one_thread_per_request_is_no_pool() {
    let mut planted = Planted::closed(4, 200.0, 19.8);
    planted.spread(19.9, 20.0, 20.3);
    planted.threads(&[("timer", 3.97), ("poll", 1.0)]);
    assert_eq!(planted.said(), ["load"]);
    // Some threads of the pool were idle.
    let mut planted = pool();
    planted.threads(&[("timer", 3.4), ("futex", 4.6), ("poll", 1.0)]);
    planted.pace().fastest_ns = Some(0.2e6);
    assert_eq!(planted.said(), ["unknown"]);
}

#[test]
fn sleeping_runtime_thread_is_no_pool_of_one() {
    // Requests wait in timers of an event loop, as in Go; the runtime's monitor thread sleeps independently.
    let mut planted = Planted::closed(16, 200.0, 79.0);
    planted.threads(&[("timer", 0.98), ("poll", 1.0), ("futex", 4.0)]);
    assert_eq!(planted.said(), ["load"]);
    planted.pace().is_cold_start = true;
    assert_eq!(planted.said(), ["unknown"], "the fastest of a cold program tells nothing");
    planted.pace().fastest_ns = Some(5e6);
    assert_eq!(planted.said(), ["unknown"], "one at a time, in whichever thread");
    planted.threads(&[("timer", 0.98), ("on_cpu", 0.02)]);
    assert_eq!(planted.said(), ["pool"], "the only thread of the process");
}

#[test]
fn timed_futex_waits_are_a_pool_if_no_other_thread_holds_requests() {
    let mut planted = Planted::closed(16, 191.0, 77.0);
    planted.pace().is_cold_start = true;
    planted.threads(&[("futex", 3.86), ("poll", 0.95), ("runnable", 0.14), ("on_cpu", 0.05)]).timed_futex =
        Some(3.85);
    assert_eq!(planted.said(), ["pool"]);
    // Threads that wait for work while requests are at a peer.
    let workers = planted.threads(&[("futex", 3.86), ("poll", 0.95), ("runnable", 0.14), ("on_cpu", 0.05)]);
    workers.connections.insert("10.0.0.7:80".to_owned(), 16.0);
    assert_eq!(planted.said(), ["dependency"]);
}

#[test]
fn one_always_ready_thread_is_the_limit_despite_other_processes() {
    let mut planted = Planted::closed(8, 233.0, 14.5);
    planted.uses(0.63, 0.36);
    (planted.signals.busy, planted.signals.busy_cores) = (Some(0.995), Some(1.99));
    planted.signals.busiest_thread = Some(0.62);
    planted.threads(&[("on_cpu", 0.63), ("runnable", 0.36), ("futex", 4.0)]);
    let causes = planted.causes();
    assert_eq!(planted.said(), ["one_core"]);
    assert!(causes[0].against.iter().any(|text| text.contains("other processes used")), "{causes:?}");
    // Several threads that need more than one core.
    planted.signals.busiest_thread = Some(0.3);
    planted.threads(&[("on_cpu", 0.63), ("runnable", 0.7), ("futex", 4.0)]);
    assert_eq!(planted.said(), ["unknown"]);
    assert!(
        planted.causes()[0]
            .because
            .starts_with("the run was disturbed: other processes used 1.31 of 2 cores")
    );
}

#[test]
fn system_pinned_to_one_core_is_limited_by_it() {
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
fn busy_connections_to_a_peer_are_a_pool() {
    let full = || {
        let mut planted = Planted::closed(16, 195.0, 3.0);
        let workers = planted.threads(&[("futex", 13.0), ("socket_read", 1.95), ("poll", 1.0)]);
        workers.connections.insert("127.0.0.1:5432".to_owned(), 2.0);
        workers.dependencies.insert("127.0.0.1:5432".to_owned(), 1.95);
        planted
    };
    let mut planted = full();
    assert_eq!(planted.said()[0], "pool");
    assert!(planted.causes()[0].because.starts_with("app has 2 connections to 127.0.0.1:5432"));
    // Connections that are mostly idle, and one connection that carries many requests at once.
    for (open, reading) in [(2.0, 0.5), (1.0, 0.1)] {
        let workers = planted.threads(&[("futex", 13.0), ("poll", 1.0)]);
        workers.connections.insert("127.0.0.1:5432".to_owned(), open);
        workers.dependencies.insert("127.0.0.1:5432".to_owned(), reading);
        assert_eq!(planted.said(), ["unknown"], "{open} {reading}");
    }
    // The peer computes on all cores, so further connections would wait there.
    let mut computes = full();
    (computes.signals.busy, computes.signals.busy_cores) = (Some(0.99), Some(2.0));
    computes.uses(1.76, 4.0);
    let said = computes.said();
    assert!(said[0] == "machine_cpu" && !said.contains(&"pool"), "{said:?}");
}

#[test]
fn low_concurrency_is_reported_without_a_pool() {
    let few =
        "about 2 requests at once were worked on, while 16.0 were in flight; what limits them was not seen";
    let mut planted = Planted::closed(16, 198.0, 10.2);
    planted.spread(60.0, 80.0, 100.0);
    planted.threads(&[("poll", 1.0)]);
    assert_eq!(planted.said(), ["unknown"]);
    assert!(planted.causes()[0].because.starts_with(few), "{:?}", planted.causes());
    // Two open connections to one address are not necessarily busy.
    planted.threads(&[("poll", 1.0)]).connections.insert("10.0.0.7:5432".to_owned(), 2.0);
    assert_eq!(planted.said(), ["unknown"]);
    // In a mixture of requests, the fastest answer does not represent a typical one.
    planted.spread(10.0, 80.0, 200.0);
    assert!(planted.causes()[0].because.starts_with("no reading explains it"), "{:?}", planted.causes());
}

#[test]
fn one_request_at_a_time_in_changing_threads_is_no_lock() {
    let planted = tasks_at_a_mutex();
    assert_eq!(planted.said(), ["unknown"]);
    assert!(planted.causes()[0].because.starts_with("about 1 request at once"), "{:?}", planted.causes());
}

#[test]
fn answers_of_40_ms_after_the_first_byte_are_delayed_acks() {
    let mut planted = Planted::closed(8, 182.0, 0.2);
    planted.spread(43.8, 44.0, 44.2);
    planted.pace().first_byte_ns = Some(0.1e6);
    planted.threads(&[("socket_read", 8.0)]);
    assert_eq!(planted.said(), ["delayed_ack"]);
    let mut alone = Planted::closed(1, 22.7, 0.02);
    alone.spread(43.8, 44.0, 44.2);
    alone.pace().first_byte_ns = Some(0.1e6);
    assert_eq!(alone.said(), ["delayed_ack"], "a lone user waits for nothing else");
    // A handler sleeps between two parts of its answer.
    planted.threads(&[("timer", 7.9)]);
    assert!(!planted.said().contains(&"delayed_ack"));
    // A handler takes 44 ms.
    planted.threads(&[("socket_read", 8.0)]);
    planted.pace().first_byte_ns = Some(43.9e6);
    assert!(!planted.said().contains(&"delayed_ack"));
}

#[test]
fn slow_large_answers_lack_bandwidth_unless_cores_are_busy() {
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
fn busy_connections_of_an_open_load_are_the_limit_if_the_system_is_not() {
    let planted = Planted::open(5, 400.0, 100.0, 50.0);
    assert_eq!(planted.said(), ["connections"]);
    assert_eq!(planted.causes()[0].next, "give the load about 26 connections (-c)");
    // Requests wait inside the system, and would still do so with more connections.
    let mut planted = Planted::open(5, 400.0, 100.0, 50.0);
    planted.pace().fastest_ns = Some(10e6);
    assert!(!planted.said().contains(&"connections"));
}

/// Plants sixteen users who share connections of a database that sleeps for 5 ms.
fn pooled(connections: u32, per_s: f64) -> Planted {
    let mut planted = Planted::closed(16, per_s, 5.0);
    planted.connections(connections.into());
    planted.run.new.users = Some(16);
    planted.together.ok_ns = Some(5.2e6);
    planted
}

#[test]
fn users_sharing_busy_connections_are_limited_by_them() {
    for (connections, per_s) in [(1, 190.0), (2, 380.0)] {
        let planted = pooled(connections, per_s);
        assert_eq!(planted.said(), ["connections"]);
        let cause = &planted.causes()[0];
        assert!(cause.because.starts_with("16 users shared "), "{}", cause.because);
        assert_eq!(cause.next, "let the users share more connections (--pool), up to 16");
    }
    // Answers of the system wait for each other, and would still do so with more connections.
    let mut planted = pooled(2, 380.0);
    planted.pace().fastest_ns = Some(1e6);
    assert!(!planted.said().contains(&"connections"), "{:?}", planted.said());
}

/// Plants sixteen users with a step at each endpoint of [`crate::endpoint_pool::tests::run`].
fn at_endpoints(endpoints: &str, intervals: [Interval; 3]) -> Planted {
    let mut planted = Planted::closed(16, 40.0, 5.0);
    planted.run = run_at_endpoints(endpoints, intervals);
    planted.run.new.users = Some(16);
    planted.pools = EndpointPool::of_run(&planted.run).expect("its seconds are sound");
    planted.connections(16);
    planted
}

#[test]
fn short_pool_of_an_endpoint_is_named_with_its_endpoint() {
    let endpoints = r#"[{ "name": "" }, { "name": "stock", "pool": 2 }, { "name": "cache", "pool": 8 }]"#;
    let slow = || [interval(40, 2, 0), interval(40, 50, 350), interval(40, 1, 0)];
    let planted = at_endpoints(endpoints, slow());
    let causes = planted.causes();
    assert_eq!(causes[0].resource, Resource::CONNECTIONS, "{causes:?}");
    let because = &causes[0].because;
    assert!(because.starts_with("the requests of 16 users shared 2 connections to stock"), "{because}");
    assert_eq!(causes[0].next, "raise `pool` of the endpoint stock, up to 16");

    let is_named = |planted: &Planted| planted.causes().iter().any(|cause| cause.next.contains("`pool`"));
    let mut open = at_endpoints(endpoints, slow());
    open.run.new.model = Model::Open;
    open.run.new.users = None;
    let cause = &open.causes()[0];
    assert!(cause.because.starts_with("requests shared 2 connections to stock"), "{cause:?}");
    assert_eq!(cause.next, "raise `pool` of the endpoint stock");

    let roomy = endpoints.replace("\"pool\": 2", "\"pool\": 4");
    assert!(!is_named(&at_endpoints(&roomy, slow())), "half of the connections are free");
    let [page, stock, cache] = slow();
    assert!(
        !is_named(&at_endpoints(endpoints, [interval(40, 500, 0), stock.clone(), cache.clone()])),
        "other waits"
    );
    let mut queued = stock.clone();
    queued.tally.service.ok.record(MS);
    (queued.tally.counts.planned, queued.tally.counts.sent, queued.tally.counts.ok) = (41, 41, 41);
    queued.tally.lateness.ok.record(0);
    queued.tally.response.ok.record(MS);
    assert!(
        !is_named(&at_endpoints(endpoints, [page.clone(), queued, cache.clone()])),
        "replies wait for each other"
    );
    let mut silent = stock;
    (silent.tally.counts.planned, silent.tally.counts.sent, silent.tally.counts.unfinished) = (56, 56, 16);
    assert!(!is_named(&at_endpoints(endpoints, [page, silent, cache])), "the endpoint does not answer");
}

#[test]
fn users_sharing_one_connection_are_not_a_single_user() {
    let mut planted = pooled(1, 190.0);
    assert!(!planted.said().contains(&"load"), "{:?}", planted.said());
    // Without a recorded number of users, there are as many as connections.
    planted.run.new.users = None;
    assert_eq!(planted.said(), ["load"]);
}

#[test]
fn think_time_is_recognized_with_shared_connections() {
    let mut planted = Planted::closed(16, 400.0, 5.0);
    planted.connections(4);
    planted.run.new.users = Some(16);
    planted.answers(400.0, 6.0);
    let cause = &planted.causes()[0];
    assert_eq!(cause.resource, Resource::LOAD);
    assert!(cause.because.starts_with("on average 2.4 of 16 users waited"), "{}", cause.because);
}

#[test]
fn shared_connections_bound_the_requests_in_the_system() {
    // Three of four threads wait for a dependency, while twelve users wait for a connection.
    let mut planted = pooled(4, 200.0);
    planted.pace().fastest_ns = Some(15e6);
    planted.together.ok_ns = Some(20e6);
    let workers = planted.threads(&[("poll", 30.0)]);
    workers.dependencies.insert("127.0.0.1:6379".to_owned(), 3.0);
    assert!(planted.said().contains(&"dependency"), "{:?}", planted.said());
    planted.run.new.users = Some(4);
    planted.answers(200.0, 20.0);
    assert!(planted.said().contains(&"dependency"), "{:?}", planted.said());
}

#[test]
fn rejections_after_a_fixed_time_are_a_request_queue() {
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
    let mut early = late();
    early.pace().rejected_ns = Some([80e6, 151e6, 200e6]);
    assert_eq!(early.said()[0], "request_queue", "before a good answer would have come");
    let mut slow = late();
    slow.pace().rejected_ns = Some([80e6, 151e6, 300e6]);
    assert!(!slow.said().contains(&"request_queue"));
    // Rejections that take longer than ok answers are not caused by a full queue.
    let mut later = late();
    later.together.ok_ns = Some(100e6);
    assert!(!later.said().contains(&"request_queue"));
}

#[test]
fn cpu_time_that_fast_answers_do_not_need_is_named_with_the_cores() {
    let spinning = || {
        let mut planted = Planted::closed(8, 400.0, 0.52);
        planted.spread(1.0, 8.6, 52.0);
        planted.uses(1.92, 5.8);
        (planted.signals.busy, planted.signals.busy_cores) = (Some(1.0), Some(2.0));
        planted.threads(&[("on_cpu", 1.9), ("runnable", 5.6), ("socket_read", 0.2)]);
        planted
    };
    let because = |planted: &Planted| planted.causes()[0].because.clone();
    assert_eq!(spinning().said()[0], "machine_cpu");
    assert!(because(&spinning()).contains("its threads may spin"), "{}", because(&spinning()));
    // Each request takes at least its own CPU time, even if many compute at once.
    let mut computing = spinning();
    computing.pace().fastest_ns = Some(4.9e6);
    computing.spread(5.0, 18.0, 40.0);
    let mut mixed = spinning();
    mixed.run.new.steps.push("/other".to_owned());
    for other in [computing, mixed] {
        assert!(!because(&other).contains("spin"), "{}", because(&other));
    }
}

/// Plants two workers behind an event loop in one system, with 14 connections waiting for the workers.
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
fn busy_workers_behind_an_event_loop_are_a_pool() {
    let planted = behind_an_event_loop();
    assert_eq!(planted.said(), ["pool", "dependency"]);
    let causes = planted.causes();
    assert!(causes[1].against[0].contains("port of the system itself, where 14 connections"), "{causes:?}");
    // In a separate system, no request is known to wait for its workers.
    let mut planted = behind_an_event_loop();
    planted.signals.queued.clear();
    assert_eq!(planted.said(), ["dependency"]);
    assert!(planted.causes()[0].against.is_empty());
}

#[test]
fn own_port_is_reported_as_another_process_of_the_system() {
    let mut planted = behind_an_event_loop();
    planted.threads(&[("poll", 3.0)]);
    planted.pace().fastest_ns = Some(120e6);
    planted.signals.queued.insert("9000".to_owned(), 0.0);
    let told = &planted.causes()[0];
    assert_eq!((told.resource.code, told.what), ("dependency", "another process of the system"));
    assert!(told.next.contains("app") && told.for_[1].contains("3.0 in poll"), "{told:?}");
    // The accept queue of the port is full, so most waiting requests are not in it.
    planted.signals.queued.insert("9000".to_owned(), 5.0);
    (planted.signals.listen_queue, planted.signals.listen_overflows) = (Some([5.0, 5.0]), Some(40.0));
    assert_eq!(planted.said(), ["listen_queue"]);
}

#[test]
fn queued_connections_with_idle_cores_are_a_pool() {
    let queued = || {
        let mut planted = behind_an_event_loop();
        planted.threads(&[("timer", 1.5), ("other", 0.4), ("poll", 1.0), ("on_cpu", 0.02)]);
        planted
    };
    let causes = queued().causes();
    assert_eq!(queued().said(), ["pool", "dependency"]);
    assert!(causes[0].because.starts_with("14 connections waited to be accepted at port 9000"), "{causes:?}");
    let mut full = queued();
    full.signals.listen_queue = Some([14.0, 16.0]);
    assert!(!full.said().contains(&"pool"), "{:?}", full.said());
    let mut computes = queued();
    computes.uses(0.9, 0.3);
    assert!(!computes.said().contains(&"pool"), "{:?}", computes.said());
}

#[test]
fn active_sessions_refute_a_delayed_ack() {
    let mut planted = Planted::closed(12, 282.0, 4.8);
    planted.spread(40.1, 41.2, 42.5);
    planted.pace().first_byte_ns = Some(40e3);
    assert_eq!(planted.said(), ["delayed_ack"]);
    let waits = [("Lock:row".to_owned(), 10.8), ("CPU".to_owned(), 1.1)].into();
    planted.signals.inside =
        Some(DatabaseStatistics { samples: 50.0, active: 11.9, waits, ..DatabaseStatistics::default() });
    assert_eq!(planted.said(), ["database_lock"]);
}

#[test]
fn stopped_process_is_a_cause_unless_others_answer() {
    let mut planted = Planted::closed(4, 400.0, 2.0);
    planted.threads(&[("stopped", 0.4), ("poll", 0.5), ("on_cpu", 0.1)]);
    let causes = planted.causes();
    assert_eq!((causes[0].resource.code, causes[0].scope.to_string().as_str()), ("stopped", "process app"));
    assert_eq!(causes[0].share, Some(0.4));
    // Stopped processes explain the pauses.
    let time = OutageTime { from_s: 1.0, to_s: 2.0, lasting_s: 1.0, is_open: false };
    planted.measured.outage =
        Some(Outage { longest_s: 1.0, gone_share: 0.4, times: vec![time; 4], ..Outage::default() });
    assert_eq!(planted.said()[0], "stopped");
    assert!(!planted.said().contains(&"pauses"));
    planted.threads(&[("stopped", 0.28), ("poll", 0.72), ("other", 1.0)]);
    assert_eq!(planted.said()[0], "stopped", "a shell that waits for its child carries no request");
    planted.threads(&[("stopped", 0.1), ("poll", 0.8), ("on_cpu", 0.1)]);
    assert!(!planted.said().contains(&"stopped"), "a tenth of the time");
    planted.threads(&[("stopped", 1.0)]);
    assert!(!planted.said().contains(&"stopped"), "who is stopped all the time has answered nothing");
    let planned = planted.together.counts.planned;
    planted.together.counts.ok = planned / 4;
    assert!(planted.said().contains(&"stopped"));
}

/// Plants a Go program whose tasks wait for a mutex that one task holds for 5 ms. No thread state shows it.
fn tasks_at_a_mutex() -> Planted {
    let mut planted = Planted::closed(16, 180.0, 5.56);
    planted.uses(0.06, 0.08);
    planted.signals.busiest_thread = Some(0.02);
    planted
        .threads(&[("futex", 2.2), ("timer", 0.65), ("poll", 0.9), ("on_cpu", 0.06), ("runnable", 0.08)])
        .same_futex = 1.0;
    planted
}

#[test]
fn processes_waiting_for_a_file_lock_are_no_pool_of_one() {
    let mut planted = Planted::closed(12, 123.0, 8.1);
    planted.uses(0.01, 0.0);
    planted.threads(&[("file_lock", 10.9), ("timer", 1.0)]);
    assert_eq!(planted.said(), ["lock"]);
    assert!(planted.causes()[0].next.contains("/proc/locks"), "{:?}", planted.causes());
    // Each thread waits for its own child.
    planted.threads(&[("other", 10.9), ("timer", 1.0)]);
    assert!(!planted.said().contains(&"lock"), "{:?}", planted.said());
}

#[test]
fn sleeping_thread_next_to_a_computing_one_is_no_pool() {
    let mut planted = tasks_at_a_mutex();
    planted.answers(790.0, 20.2);
    planted.pace().fastest_ns = Some(1.13e6);
    planted.uses(0.98, 0.37);
    planted.signals.busiest_thread = Some(0.38);
    planted.threads(&[("futex", 3.8), ("timer", 1.0), ("poll", 0.9), ("on_cpu", 0.98), ("runnable", 0.37)]);
    (planted.signals.busy, planted.signals.busy_cores) = (Some(0.9), Some(1.8));
    assert!(!planted.said().contains(&"pool"), "{:?}", planted.said());
    assert_eq!(planted.said()[0], "one_core");
}

#[test]
fn disk_waits_of_the_only_working_thread_delay_all_requests() {
    let flushes = || {
        let mut planted = Planted::closed(16, 293.0, 8.5);
        planted.uses(0.18, 0.38);
        (planted.signals.disk_busy, planted.signals.disk_pressure) = (Some(0.15), Some(0.28));
        planted.threads(&[("disk", 0.48), ("futex", 3.9), ("on_cpu", 0.17), ("runnable", 0.39)]);
        let resources = planted.measured.resources.as_mut().unwrap();
        resources.system.as_mut().unwrap().disk_written_bytes = Some(1.2e7);
        planted
    };
    let causes = flushes().causes();
    assert_eq!(flushes().said(), ["disk"]);
    assert!(causes[0].share.is_some_and(|share| (0.4..0.5).contains(&share)), "{causes:?}");
    let mut calls = flushes();
    calls.threads(&[("disk", 0.48), ("poll", 1.0)]).connections.insert("10.0.0.7:5432".to_owned(), 16.0);
    assert!(!calls.said().contains(&"disk"), "a thread next to others that answer");
    let mut computes = flushes();
    computes.threads(&[("disk", 0.35), ("on_cpu", 0.6), ("runnable", 0.05)]);
    assert!(!computes.said().contains(&"disk"));
    let mut idle = flushes();
    idle.signals.disk_pressure = Some(0.1);
    assert!(!idle.said().contains(&"disk"));
}

#[test]
fn pipe_readers_and_per_request_connections_are_a_dependency() {
    let mut planted = Planted::closed(8, 490.0, 15.1);
    planted.threads(&[("pipe_read", 7.9), ("timer", 7.9), ("on_cpu", 0.06)]);
    assert_eq!(planted.said(), ["dependency", "load"]);
    assert!(planted.causes()[0].because.contains("waited to read from a pipe"));
    // Idle helper threads, while requests compute.
    planted.threads(&[("pipe_read", 7.9), ("on_cpu", 1.5), ("runnable", 5.0)]);
    assert!(!planted.said().contains(&"dependency"));
    let workers = planted.threads(&[("socket_read", 7.8), ("on_cpu", 0.1), ("runnable", 0.1)]);
    workers.connections.insert("10.0.0.7:53".to_owned(), 8.0);
    assert_eq!(planted.said(), ["dependency", "load"]);
    assert!(planted.causes()[0].because.starts_with("app waited for replies"), "{:?}", planted.causes());
}

#[test]
fn changing_number_of_processes_is_a_program_per_request() {
    let mut planted = Planted::closed(16, 34.0, 216.0);
    planted.threads(&[("futex", 4.0), ("poll", 0.8), ("pipe_read", 0.1), ("on_cpu", 0.07)]);
    assert!(!planted.said().contains(&"dependency"));
    planted.signals.waits.changing.insert("app".to_owned(), 0.8);
    assert_eq!(planted.said()[0], "dependency");
    planted.signals.waits.changing.insert("app".to_owned(), 0.2);
    assert!(!planted.said().contains(&"dependency"), "a pool of processes that grows");
    planted.signals.waits.changing.insert("app".to_owned(), 0.8);
    planted.signals.inside =
        Some(DatabaseStatistics { samples: 50.0, active: 1.0, ..DatabaseStatistics::default() });
    assert!(!planted.said().contains(&"dependency"), "a database with a process for each connection");
}

#[test]
fn threads_taking_turns_are_limited_to_one_core() {
    let turns = || {
        let mut planted = Planted::closed(16, 626.0, 1.0);
        planted.uses(0.94, 1.2);
        (planted.signals.busy, planted.signals.busy_cores) = (Some(0.995), Some(1.99));
        planted.signals.busiest_thread = Some(0.25);
        planted.threads(&[("futex", 3.4), ("poll", 1.0), ("on_cpu", 0.94), ("runnable", 1.2)]).timed_futex =
            Some(1.6);
        planted
    };
    assert_eq!(turns().said(), ["one_core", "machine_cpu"]);
    // Idle threads of a runtime wait without a time-out.
    let mut computing = turns();
    computing.threads(&[("futex", 3.4), ("on_cpu", 0.94), ("runnable", 1.2)]).timed_futex = Some(0.0);
    assert_eq!(computing.said()[0], "machine_cpu");
}

fn waiting_without_a_time_out(planted: &mut Planted) {
    planted.signals.waits.workers.values_mut().for_each(|workers| workers.timed_futex = Some(0.5));
}

#[test]
fn threads_taking_turns_next_to_other_processes_need_about_one_core() {
    let turns = || {
        let mut planted = Planted::closed(16, 280.0, 2.6);
        planted.uses(0.72, 0.8);
        (planted.signals.busy, planted.signals.busy_cores) = (Some(0.95), Some(1.9));
        planted.signals.busiest_thread = Some(0.08);
        planted.threads(&[("futex", 13.4), ("on_cpu", 0.72), ("runnable", 0.8), ("socket_read", 1.0)]);
        planted
    };
    assert!(
        !turns().said().contains(&"one_core"),
        "no thread shows that it waits for its turn: {:?}",
        turns().said()
    );
    // Threads poll for their turn.
    let mut looks = turns();
    looks.pace().fastest_ns = Some(7.5e6);
    let waiting = looks.threads(&[("futex", 7.0), ("on_cpu", 0.84), ("runnable", 1.13), ("poll", 1.0)]);
    (waiting.same_futex, waiting.timed_futex) = (6.2, Some(4.0));
    assert_eq!(looks.said()[0], "one_core");
    waiting_without_a_time_out(&mut looks);
    assert!(!looks.said().contains(&"one_core"), "{:?}", looks.said());
    // No thread waits for a turn, or several requests proceed at once.
    let mut computing = turns();
    computing.threads(&[("on_cpu", 0.72), ("runnable", 0.8), ("socket_read", 14.0)]);
    assert!(!computing.said().contains(&"one_core"), "{:?}", computing.said());
}

#[test]
fn users_in_the_accept_queue_are_not_in_think_time() {
    // Two workers keep their connections. Six users are connected, but were never answered.
    let mut planted = Planted::closed(8, 98.0, 20.2);
    planted.answers(98.0, 20.4);
    planted.threads(&[("timer", 1.95), ("on_cpu", 0.02)]);
    assert_eq!(planted.said()[0], "load", "they pause");
    planted.signals.queued.insert("5000".to_owned(), 6.0);
    assert_eq!(planted.said(), ["pool"]);
}

#[test]
fn idle_runtime_threads_are_no_lock_if_several_requests_proceed() {
    let mut planted = Planted::closed(8, 2_400.0, 1.2);
    planted.uses(0.3, 0.1);
    let states = [("futex", 7.6), ("disk", 0.5), ("on_cpu", 0.3), ("runnable", 0.1), ("poll", 1.0)];
    (planted.signals.disk_busy, planted.signals.disk_pressure) = (Some(0.9), Some(0.8));
    planted.threads(&states).timed_futex = Some(0.3);
    let resources = planted.measured.resources.as_mut().unwrap();
    resources.system.as_mut().unwrap().disk_written_bytes = Some(7e7);
    assert_eq!(planted.said()[0], "disk", "{:?}", planted.causes());
    assert!(!planted.said().contains(&"lock"));
}

#[test]
fn flushing_pool_with_several_computing_threads_is_no_one_core() {
    let flushes = |ready| {
        let mut planted = Planted::closed(8, 14_555.0, 0.16);
        planted.pace().is_cold_start = true;
        planted.uses(1.1, ready);
        (planted.signals.busy, planted.signals.busy_cores) = (Some(0.77), Some(1.55));
        planted.signals.busiest_thread = Some(0.69);
        let states = [("futex", 6.6), ("disk", 0.3), ("on_cpu", 1.1), ("runnable", ready), ("poll", 0.15)];
        planted.threads(&states).timed_futex = Some(0.0);
        planted
    };
    let said = flushes(1.24).said();
    assert!(!said.contains(&"one_core") && !said.contains(&"lock"), "{said:?}");
    assert!(!flushes(0.2).said().contains(&"lock"), "{:?}", flushes(0.2).said());
}

#[test]
fn single_thread_blocked_on_a_pipe_is_a_log_pipe() {
    let mut planted = Planted::closed(8, 36.7, 0.11);
    planted.spread(200.0, 201.0, 301.0);
    planted.pace().is_cold_start = true;
    planted.threads(&[("pipe_write", 0.99), ("timer", 1.0), ("futex", 3.0), ("poll", 1.0), ("on_cpu", 0.02)]);
    assert_eq!(planted.said(), ["log_pipe"]);
    planted.threads(&[("pipe_write", 0.99), ("timer", 6.0), ("poll", 1.0)]);
    assert!(!planted.said().contains(&"log_pipe"), "{:?}", planted.said());
}

#[test]
fn steal_matters_only_to_a_system_that_needs_cores() {
    let mut planted = Planted::closed(16, 270.0, 3.0);
    planted.spread(20.0, 58.0, 120.0);
    planted.signals.steal = Some(0.1);
    planted.uses(0.8, 0.3);
    assert_eq!(planted.said(), ["steal"]);
    planted.uses(0.2, 0.1);
    assert_eq!(planted.said(), ["unknown"]);
}

#[test]
fn disk_limit_of_the_control_group_is_named_with_its_figures() {
    let mut planted = Planted::closed(4, 200.0, 5.0);
    planted.threads(&[("disk", 3.9), ("on_cpu", 0.05)]);
    planted.signals.disk_pressure = Some(0.9);
    assert_eq!(planted.causes()[0].scope, Scope::System);
    let limited = |per_s| LimitedIo { what: "writes", disk: "vda".to_owned(), per_s, max_per_s: 200.0 };
    planted.signals.waits.limited_io = Some(limited(198.0));
    let causes = planted.causes();
    assert_eq!((causes[0].resource, &causes[0].scope), (Resource::DISK, &Scope::ControlGroup));
    let because = "its control group did 198 of 200 allowed writes per second on vda, and something on the machine waited for disks 90 % of the time";
    assert_eq!(causes[0].because, because);
    planted.signals.waits.limited_io = Some(limited(100.0));
    assert_eq!(planted.causes()[0].scope, Scope::System, "there was room below the limit");
}

#[test]
fn pressure_of_the_own_control_group_overrides_that_of_the_machine() {
    let mut planted = Planted::closed(4, 200.0, 5.0);
    planted.threads(&[("disk", 3.9), ("on_cpu", 0.05)]);
    planted.signals.disk_pressure = Some(0.9);
    planted.signals.group_pressures = [None, None, Some(0.01)];
    assert!(!planted.said().contains(&"disk"), "others waited");
    planted.signals.disk_pressure = Some(0.01);
    planted.signals.group_pressures = [None, None, Some(0.8)];
    assert_eq!(planted.said()[0], "disk");
    assert!(planted.causes()[0].because.contains("its own control group waited for disks 80 % of the time"));
    planted.signals.group_pressures = [None, Some(0.5), Some(0.0)];
    assert!(planted.said().contains(&"memory"));
}

#[test]
fn unavailable_system_is_reported_as_errors() {
    let gone = |gone_share: f64| {
        let mut planted = Planted::closed(16, 200.0, 79.0);
        planted.threads(&[("timer", 0.98), ("poll", 1.0), ("futex", 4.0)]);
        planted.pace().is_cold_start = true;
        planted.measured.outage = Some(Outage { longest_s: 2.0, gone_share, ..Outage::default() });
        planted.together.errors.insert(ClassName::from(ErrorClass::ConnectRefused), 3);
        planted
    };
    let dead = gone(0.6);
    assert_eq!(dead.said(), ["errors"]);
    let cause = &dead.causes()[0];
    let because = "the system was gone for 60 % of the time; most errors were connect_refused: ";
    assert!(cause.because.starts_with(because), "{}", cause.because);
    assert!(!cause.next.is_empty());
    assert_eq!(gone(0.1).said(), ["unknown"]);
}

#[test]
fn late_answers_are_not_unavailability() {
    // One of two users waits for seconds while the other is answered, and no request is lost.
    let mut planted = Planted::closed(2, 1_336.0, 0.6);
    planted.threads(&[("disk", 0.1), ("poll", 1.0)]);
    planted.measured.outage = Some(Outage { gone_share: 0.39, ..Outage::default() });
    assert_eq!(planted.said(), ["unknown"]);
    let because = planted.causes()[0].because.clone();
    assert!(
        because.starts_with("users spent 39 % of their time on answers that came very late"),
        "{because}"
    );
    planted.measured.outage = Some(Outage { gone_share: 0.39, longest_s: 1.0, ..Outage::default() });
    assert_eq!(planted.said(), ["errors"], "nobody was answered for a second");
}

#[test]
fn quotients_above_1_are_not_printed_in_percent() {
    let mut planted = Planted::closed(16, 200.0, 79.0);
    planted.together.errors.insert(ClassName::from(ErrorClass::TooManyConnections), 9_000);
    let because = planted.causes()[0].because.clone();
    let expected = "the server took no more connections 9,000 times, more often than requests were planned";
    assert!(because.starts_with(expected), "{because}");

    let mut planted = Planted::closed(16, 200.0, 79.0);
    planted.together.errors.insert(ClassName::from(ErrorClass::Incomplete), 9_000);
    let because = planted.causes()[0].because.clone();
    let expected = "the error incomplete was met 9,000 times, with 2,000 requests planned: ";
    assert!(because.starts_with(expected), "{because}");

    let mut planted = Planted::closed(16, 200.0, 79.0);
    planted.signals.open_files_share = Some(1.12);
    let because = planted.causes()[0].because.clone();
    assert_eq!(because, "a process of it had more files open than it may have by now");
}

#[test]
fn load_without_a_rate_is_not_below_capacity() {
    let mut planted = Planted::closed(1, 200.0, 5.0);
    planted.threads(&[("poll", 1.0)]);
    let cause = &planted.causes()[0];
    assert_eq!((cause.resource, cause.what), (Resource::LOAD, "none seen: one user waits for each answer"));

    // Sessions of a log end at different times: most of the sixteen ended early.
    let mut planted = Planted::closed(16, 400.0, 5.0);
    planted.answers(400.0, 6.0);
    assert_eq!(planted.causes()[0].what, Resource::LOAD.words, "users with think time");
    planted.run.new.plan_json["replay"]["speed"] = 2.0.into();
    assert_eq!(planted.causes()[0].what, Resource::LOAD.words, "sessions with the pauses of the log");
    planted.run.new.plan_json["replay"]["speed"] = None::<f64>.into();
    assert!(!planted.said().contains(&"load"), "{:?}", planted.said());
}

#[test]
fn errors_of_events_are_named_where_the_load_was_below_capacity() {
    let mut planted = Planted::open(16, 200.0, 185.0, 5.0);
    let lost = planted.together.counts.planned - planted.together.counts.ok;
    planted.measured.events = Some(EventSums { lost, outage_ns: 0, recovery_ns: None });
    let cause = &planted.causes()[0];
    assert_eq!((cause.resource, cause.what), (Resource::LOAD, "none but the plan's events"));
    assert!(cause.because.contains(&format!("the plan's events cost {lost}")), "{}", cause.because);
    let mut planted = Planted::open(16, 200.0, 199.9, 5.0);
    planted.measured.events = Some(EventSums { lost: 1, outage_ns: 0, recovery_ns: None });
    assert_eq!(planted.causes()[0].what, Resource::LOAD.words, "a request or two are no errors to explain");
}
