//! Tests of causes that follow from an account of all requests in flight: who holds them, and where they are.

use crate::bottleneck::planted::Planted;
use crate::causes::Resource;
use crate::dependencies::Called;
use crate::held_lock::HeldLock;
use crate::inside::DatabaseStatistics;

/// Plants sixteen users, each with a thread of its own, as in servers of Ruby, Python, or Java.
fn with_threads(per_s: f64, fastest_ms: f64, states: &[(&str, f64)], timed: f64) -> Planted {
    let mut planted = Planted::closed(16, per_s, fastest_ms);
    planted.threads(states).timed_futex = Some(timed);
    planted
}

#[test]
fn one_thread_at_work_of_many_that_hold_requests_is_a_lock() {
    let sleeping = || with_threads(193.4, 5.2, &[("futex", 15.97), ("on_cpu", 0.02)], 1.0);
    let causes = sleeping().causes();
    assert_eq!(causes[0].resource, Resource::LOCK, "{causes:?}");
    let because = &causes[0].because;
    assert!(because.starts_with("15.0 of 16.0 threads of app waited for another thread"), "{because}");
    // A thread that waits for events may hold the requests, while the others are idle.
    let mut events = sleeping();
    events.threads(&[("futex", 15.97), ("poll", 1.0)]);
    assert_eq!(events.said(), ["unknown"]);
    // Twice as many idle threads as requests.
    let mut idle = sleeping();
    idle.threads(&[("futex", 31.0), ("on_cpu", 0.02)]);
    assert_eq!(idle.said(), ["unknown"]);
}

#[test]
fn lock_around_a_call_is_a_lock() {
    let mut planted =
        with_threads(182.0, 5.3, &[("futex", 15.6), ("socket_read", 1.0), ("on_cpu", 0.3)], 0.6);
    planted
        .threads(&[("futex", 15.6), ("socket_read", 1.0), ("on_cpu", 0.3)])
        .dependencies
        .insert("127.0.0.1:4711".to_owned(), 1.0);
    assert_eq!(planted.said()[0], "lock", "{:?}", planted.causes());
}

#[test]
fn permits_are_a_pool_if_two_counts_agree() {
    // Three permits, and a thread of the program that computes and sleeps in turns.
    let states = [("futex", 13.0), ("timer", 3.55), ("on_cpu", 0.36), ("runnable", 0.02)];
    let planted = with_threads(195.4, 15.1, &states, 0.03);
    let causes = planted.causes();
    assert_eq!(causes[0].resource, Resource::POOL, "{causes:?}");
    assert!(causes[0].because.starts_with("3 of 16.9 threads"), "{}", causes[0].because);
    let other_pace = with_threads(195.4, 30.0, &states, 0.03);
    assert_eq!(other_pace.said(), ["unknown"], "throughput × the fastest answer is 5.9");
}

#[test]
fn workers_that_all_threads_with_requests_wait_for_are_a_pool() {
    let planted = with_threads(198.0, 10.1, &[("futex", 18.0)], 2.0);
    let causes = planted.causes();
    assert_eq!(causes[0].resource, Resource::POOL, "{causes:?}");
    assert!(causes[0].because.starts_with("2 of 18.0 threads"), "{}", causes[0].because);
}

#[test]
fn connections_whose_callee_works_on_all_of_them_are_a_pool() {
    let mut planted = Planted::closed(24, 183.0, 120.0);
    planted.pace().fastest_ns = Some(26e6);
    let workers = planted.threads(&[("futex", 4.9), ("on_cpu", 0.1)]);
    workers.event_loops = 1.0;
    workers.connections.insert("127.0.0.1:4711".to_owned(), 4.0);
    let stock = crate::waits::Workers { states: [("timer".to_owned(), 3.8)].into(), ..Default::default() };
    planted.signals.waits.workers.insert("stock".to_owned(), stock);
    let called = Called { program: "stock".to_owned(), connections: 4.0, ..Default::default() };
    planted.signals.dependencies.called.insert(("app".to_owned(), "127.0.0.1:4711".to_owned()), called);
    assert_eq!(planted.said(), ["event_loop", "pool"], "{:?}", planted.causes());
    // One connection that carries many requests at once, and a thread of the callee that sleeps without a request.
    planted.threads(&[("futex", 4.9), ("on_cpu", 0.1)]).connections.insert("127.0.0.1:4711".to_owned(), 1.0);
    let asleep = |timer: f64, on_cpu: f64| crate::waits::Workers {
        states: [("timer", timer), ("on_cpu", on_cpu), ("poll", 1.0)]
            .map(|(state, threads)| (state.to_owned(), threads))
            .into(),
        ..Default::default()
    };
    planted.signals.waits.workers.insert("stock".to_owned(), asleep(1.0, 0.0));
    assert!(!planted.said().contains(&"pool"), "{:?}", planted.causes());
    planted.threads(&[("futex", 4.9), ("on_cpu", 0.1)]).connections.insert("127.0.0.1:4711".to_owned(), 2.0);
    planted.signals.waits.workers.insert("stock".to_owned(), asleep(1.0, 0.9));
    assert!(!planted.said().contains(&"pool"), "{:?}", planted.causes());
}

#[test]
fn sessions_of_a_database_keep_connections_to_its_address_busy() {
    let mut planted = Planted::closed(24, 183.0, 120.0);
    planted.pace().fastest_ns = Some(26e6);
    planted.signals.inside = Some(DatabaseStatistics { samples: 50.0, active: 3.9, ..Default::default() });
    let [cache, database] = ["127.0.0.1:6379", "127.0.0.1:5432"].map(str::to_owned);
    planted.threads(&[("futex", 4.9), ("on_cpu", 0.1)]).connections.insert(database.clone(), 4.0);
    assert!(planted.said().contains(&"pool"), "{:?}", planted.causes());
    let connections = &mut planted.threads(&[("futex", 4.9), ("on_cpu", 0.1)]).connections;
    (*connections).extend([(cache, 4.0), (database.clone(), 8.0)]);
    assert!(!planted.said().contains(&"pool"), "{:?}", planted.causes());
    planted.threads(&[("futex", 4.9), ("on_cpu", 0.1)]).connections.insert(database.clone(), 4.0);
    let called = Called { program: "postgres".to_owned(), ..Default::default() };
    planted.signals.dependencies.called.insert(("app".to_owned(), database), called);
    let causes = planted.causes();
    assert!(
        causes.iter().any(|cause| cause.because.starts_with("app has 4 connections to 127.0.0.1:5432")),
        "{causes:?}"
    );
}

#[test]
fn threads_that_wait_by_design_are_no_pool_and_no_lock() {
    // Twelve long polls, and four requests that sleep for 10 ms each.
    let mut polls = with_threads(400.0, 10.0, &[("futex", 12.0), ("timer", 4.0)], 0.0);
    assert_eq!(polls.said()[0], "pool");
    polls.spread(10.0, 10.1, 30_000.0);
    assert!(!polls.said().contains(&"pool"), "{:?}", polls.causes());
    // Fifteen subscribers, and one who publishes.
    let mut subscribers =
        with_threads(193.4, 5.2, &[("futex", 15.0), ("on_cpu", 0.02), ("timer", 0.98)], 0.0);
    assert_eq!(subscribers.said()[0], "lock");
    subscribers.spread(5.0, 5.2, 5.4);
    assert!(!subscribers.said().contains(&"lock"), "{:?}", subscribers.causes());
}

#[test]
fn requests_on_the_way_wait_for_no_pool() {
    // A client that is 100 ms away, and a pool of sixteen connections, most of which are idle.
    let mut planted = Planted::closed(32, 290.0, 101.0);
    planted.pace().is_cold_start = true;
    planted.threads(&[("timer", 15.9), ("poll", 1.0)]);
    assert_eq!(planted.said()[0], "pool");
    planted.signals.idle_connections_share = Some(0.9);
    let causes = planted.causes();
    assert_eq!(causes[0].resource, Resource::LOAD, "{causes:?}");
    assert!(
        causes[0].because.contains("of 110 ms, which a request took on average, 93.8 ms or more"),
        "{causes:?}"
    );
    assert!(!planted.said().contains(&"pool"));
    if let Some(resources) = &mut planted.measured.resources {
        resources.generator.get_or_insert_default().run_queue_wait_s = Some(4.0);
    }
    assert_ne!(planted.said()[0], "load", "the generator waits for a core");
    planted.uses(0.1, 0.0);
    planted.pace().first_byte_ns = Some(2e6);
    assert_ne!(planted.said()[0], "load", "the system streams its answers");
    planted.pace().first_byte_ns = Some(105e6);
    planted.signals.busiest_thread = Some(0.95);
    assert_ne!(planted.said()[0], "load", "a thread is used up");
}

#[test]
fn awaited_lock_behind_a_delay_comes_before_the_way() {
    // A mutex held for 1 ms, and a proxy that delays by 10 ms: more users only wait for the lock, too.
    let mut planted = Planted::closed(16, 1_000.0, 11.0);
    planted.pace().is_cold_start = true;
    planted.threads(&[("futex", 5.0), ("timer", 1.0), ("poll", 1.0)]);
    planted.signals.idle_connections_share = Some(0.68);
    let awaited = |waiters: f64| HeldLock {
        process: "app".to_owned(),
        name: "mutex app+0x40c0".to_owned(),
        waiters,
        holders: 1.0,
        works: [("timer".to_owned(), 100.0)].into(),
        looks: 100.0,
    };
    planted.signals.waits.lock = Some(awaited(5.0));
    assert_eq!(planted.said(), ["lock", "load"], "{:?}", planted.causes());
    // A pool of four threads, which are all busy, and one that is not.
    planted.signals.waits.lock = None;
    planted.threads(&[("timer", 3.97), ("poll", 1.0)]);
    assert_eq!(planted.said(), ["pool", "load"], "{:?}", planted.causes());
    planted.threads(&[("timer", 3.4), ("poll", 1.6)]);
    assert_eq!(planted.said(), ["load"], "{:?}", planted.causes());
}

#[test]
fn sleep_that_changes_at_the_same_pace_is_a_further_cause() {
    let mut planted = Planted::closed(24, 193.0, 5.0);
    planted.spread(120.0, 124.0, 126.0);
    let workers = planted.threads(&[("timer", 6.2), ("file_lock", 17.7)]);
    workers.timer_quartiles = Some([0.9, 16.4]);
    assert_eq!(planted.said(), ["lock", "rate_limit"], "{:?}", planted.causes());
    planted.threads(&[("timer", 6.2), ("file_lock", 17.7)]).timer_quartiles = Some([6.0, 6.4]);
    assert_eq!(planted.said(), ["lock"], "the work itself sleeps");
}

#[test]
fn quota_that_is_nearly_used_is_a_further_cause() {
    let mut planted = Planted::closed(16, 200.0, 5.0);
    planted.threads(&[("file_lock", 15.0)]);
    planted.signals.cpu_quota_cores = Some(0.4);
    planted.uses(0.3, 0.0);
    assert_eq!(planted.said(), ["lock", "cpu_quota"]);
    let because = planted.causes()[1].because.clone();
    assert_eq!(
        because,
        "it used 0.30 of the 0.40 cores that it may use, which allow no more than 1.33 times as many requests at the same CPU time per request"
    );
    planted.uses(0.2, 0.0);
    assert_eq!(planted.said(), ["lock"]);
}

/// Plants a system that waits for cores next to greedy processes.
fn beside_others(cores: f64, others: f64) -> Planted {
    let mut planted = Planted::closed(8, 1_318.0, 0.2);
    planted.uses(cores, 0.85 + cores);
    (planted.signals.busy, planted.signals.busy_cores) = (Some(1.0), Some(cores + 0.05 + others));
    planted.signals.other_programs = vec![("rustc".to_owned(), 1.2), ("make".to_owned(), 0.4)];
    planted.threads(&[("on_cpu", cores), ("runnable", 0.85 + cores)]);
    planted
}

#[test]
fn greedy_neighbors_are_named_and_not_the_need_of_the_system() {
    let planted = beside_others(0.07, 1.88);
    assert_eq!(planted.said(), ["unknown"]);
    let causes = planted.causes();
    let expected = "the run was disturbed: other processes used 1.88 of 2 cores (rustc 1.20, make 0.40)";
    assert!(causes[0].because.starts_with(expected), "{}", causes[0].because);
    // A report that computed before the load, and hardly anything for requests.
    let mut report = beside_others(0.81, 1.18);
    (report.signals.busiest_thread, report.signals.thread_at_rest) = (Some(0.79), Some(1.0));
    assert!(!report.said().contains(&"machine_cpu"), "{:?}", report.causes());
    let computing = beside_others(0.9, 1.05);
    assert_eq!(computing.said()[0], "machine_cpu", "a system that uses half of the cores needs them");
}
