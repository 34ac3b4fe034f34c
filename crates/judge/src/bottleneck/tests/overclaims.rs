//! Tests of systems for which arithmetic alone would name a wrong resource, and of the order of rungs.

use record::{ClassName, Counts, ErrorClass};

use crate::bottleneck::planted::Planted;
use crate::bottleneck::{Certainty, RULES};
use crate::causes::Resource;
use crate::rung::Rung;

/// Returns the sentence of the first cause, which must be unknown.
fn unknown_because(planted: &Planted) -> String {
    let causes = planted.causes();
    assert_eq!(planted.said(), ["unknown"], "{causes:?}");
    assert_eq!((causes[0].certainty, causes[0].rung), (Certainty::Unknown, Rung::Arithmetic));
    causes[0].because.clone()
}

#[test]
fn arithmetic_names_no_resource_of_the_system() {
    let by_arithmetic = RULES.iter().filter(|rule| rule.rung == Rung::Arithmetic);
    let named: Vec<&str> = by_arithmetic.flat_map(|rule| rule.finds).map(|resource| resource.code).collect();
    assert!(named.iter().all(|code| *code == Resource::LOAD.code), "{named:?}");
    assert!(RULES.iter().all(|rule| rule.rung != Rung::Experiment), "a rule changes nothing");
}

#[test]
fn idle_threads_at_one_futex_are_no_lock() {
    // A timer of 9 ms behind a queue, and a pool of eight mostly idle threads: seven sleep at the futex of the pool.
    let mut planted = Planted::closed(8, 110.0, 9.0);
    planted.spread(70.0, 72.0, 74.0);
    let workers = planted.threads(&[("futex", 7.0), ("timer", 1.0)]);
    (workers.same_futex, workers.timed_futex) = (7.0, Some(0.0));
    let because = unknown_because(&planted);
    assert!(because.starts_with("about 1 request at once"), "{because}");
    let cause = &planted.causes()[0];
    assert!(cause.for_.iter().any(|text| text.contains("for a lock, or for work")), "{:?}", cause.for_);
}

#[test]
fn threads_at_futexes_of_their_own_are_no_lock() {
    let mut planted = Planted::closed(16, 185.0, 5.5);
    let workers = planted.threads(&[("futex", 15.0), ("poll", 0.9), ("runnable", 0.2), ("on_cpu", 0.1)]);
    (workers.same_futex, workers.timed_futex) = (1.0, Some(0.0));
    assert!(unknown_because(&planted).starts_with("about 1 request at once"));
}

#[test]
fn answers_of_different_kinds_show_no_number_at_once() {
    // Independent waits of 2 to 40 ms in an event loop: the fastest answer does not represent a typical one.
    let mut planted = Planted::closed(16, 760.0, 2.0);
    planted.spread(4.0, 20.0, 38.0);
    planted.threads(&[("poll", 1.0)]);
    let because = unknown_because(&planted);
    assert!(because.starts_with("no reading explains it"), "{because}");
}

#[test]
fn evenly_spaced_answers_name_no_rate_limit() {
    let mut planted = Planted::closed(16, 200.0, 0.3);
    planted.spread(79.0, 80.0, 81.0);
    planted.threads(&[("poll", 1.0)]);
    let because = unknown_because(&planted);
    assert!(because.starts_with("answers came 200.0 a second at an even distance"), "{because}");
    assert!(because.contains("what limits them was not seen"), "{because}");
}

#[test]
fn blocked_write_to_a_pipe_outranks_the_pace_of_answers() {
    let mut planted = Planted::closed(16, 200.0, 0.3);
    planted.spread(79.0, 80.0, 81.0);
    planted.threads(&[("pipe_write", 1.0), ("poll", 0.0)]);
    let causes = planted.causes();
    assert_eq!((planted.said()[0], causes[0].rung), ("log_pipe", Rung::Kernel), "{causes:?}");
    assert!(causes[0].because.contains("1.0 of the 1.0 threads"), "{}", causes[0].because);
}

#[test]
fn busy_thread_next_to_a_full_pool_is_not_the_limit() {
    // Two workers sleep for 20 ms per request, and another thread polls all the time.
    let mut planted = Planted::closed(8, 99.0, 20.1);
    planted.spread(78.0, 80.0, 83.0);
    planted.uses(1.02, 0.02);
    planted.signals.busiest_thread = Some(1.0);
    planted.threads(&[("timer", 1.97), ("on_cpu", 1.0), ("runnable", 0.02)]);
    assert_eq!(planted.said(), ["pool", "one_core"]);
    let causes = planted.causes();
    assert!(causes[1].against[0].starts_with("2 threads of app slept all the time"), "{causes:?}");
    // Threads that sleep while another one computes for all requests.
    planted.pace().fastest_ns = Some(10e6);
    assert_eq!(planted.said()[0], "one_core", "{:?}", planted.causes());
}

#[test]
fn thread_that_ran_before_the_load_is_not_the_limit() {
    // Eight users wait for 20 ms each, and a report computes all the time.
    let mut planted = Planted::closed(8, 397.0, 20.1);
    planted.uses(1.02, 0.02);
    planted.signals.busiest_thread = Some(1.0);
    planted.threads(&[("poll", 1.0), ("on_cpu", 1.0), ("runnable", 0.02)]);
    planted.signals.thread_at_rest = Some(0.4);
    assert_eq!(planted.said(), ["one_core"], "it did not run all the time");
    planted.signals.thread_at_rest = Some(0.97);
    assert!(!planted.said().contains(&"one_core"), "{:?}", planted.causes());
}

#[test]
fn one_core_in_use_without_threads_in_turn_is_no_limit() {
    let mut planted = Planted::closed(16, 600.0, 1.0);
    planted.uses(1.0, 0.0);
    assert!(!planted.said().contains(&"one_core"), "{:?}", planted.said());
    // Two threads that need half a core each.
    planted.signals.busiest_thread = Some(0.5);
    planted.threads(&[("on_cpu", 1.0), ("poll", 1.0)]);
    assert!(!planted.said().contains(&"one_core"), "{:?}", planted.said());
}

#[test]
fn pace_that_fits_no_pool_is_printed_as_a_contradiction() {
    let mut planted = Planted::closed(16, 200.0, 20.2);
    planted.threads(&[("timer", 3.97), ("poll", 1.0)]);
    assert!(planted.causes()[0].against.is_empty());
    planted.pace().fastest_ns = Some(5.0e6);
    let against = planted.causes()[0].against.clone();
    assert!(against[0].starts_with("contradiction: throughput × the fastest answer is 1.0"), "{against:?}");
}

#[test]
fn cores_used_by_the_generator_are_not_those_of_other_processes() {
    let mut planted = Planted::closed(16, 4_000.0, 1.0);
    planted.uses(1.2, 3.0);
    (planted.signals.busy, planted.signals.busy_cores) = (Some(1.0), Some(2.0));
    if let Some(resources) = &mut planted.measured.resources {
        resources.generator.get_or_insert_default().cpu_user_s = 8.0;
    }
    planted.threads(&[("on_cpu", 1.2), ("runnable", 3.0)]);
    let cause = &planted.causes()[0];
    assert_eq!(cause.what, "CPU of the machine, shared with the generator");
    assert!(!cause.next.contains("nothing else runs"), "{}", cause.next);
}

#[test]
fn dead_or_rejecting_system_is_named() {
    let served_nothing = || {
        let mut planted = Planted::closed(8, 100.0, 1.0);
        planted.together.counts = Counts { planned: 800, sent: 800, rejected: 800, ..Counts::default() };
        planted.together.samples = 800;
        planted
    };
    let mut rejecting = served_nothing();
    rejecting.together.statuses.insert(503, 800);
    let causes = rejecting.causes();
    assert_eq!((rejecting.said(), causes[0].rung), (vec!["errors"], Rung::Runtime));
    assert_eq!(causes[0].because, "no request ended ok: 100 % were answered 503");
    let mut dead = served_nothing();
    dead.together.errors.insert(ClassName::from(ErrorClass::ConnectRefused), 800);
    let because = dead.causes()[0].because.clone();
    assert!(because.starts_with("no request ended ok: most errors were connect_refused: "), "{because}");
    assert!(served_nothing().causes().is_empty(), "no request ended");
}
