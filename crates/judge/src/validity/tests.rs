//! Tests of the rules on planted signals.

use evidence::{Distorted, Level, Unit, Validity};
use record::{Counts, ErrorClass, Finish, Health, Outcome, Tally};

use super::{Environment, Evidence, Process, judge};
use crate::planned::{Offered, Planned};

const MS: u64 = 1_000_000;
const SECOND: u64 = 1_000_000_000;

/// Builds the plan of a load over eight connections for ten seconds: an open load at `rate`, or a closed load.
fn planned(rate: Option<u32>) -> Planned {
    let offered = match rate {
        Some(_) => Offered::Open { connections: 8, shed_after_ns: None },
        None => Offered::Closed { users: 8, pool: 8 },
    };
    Planned {
        offered,
        pools: Vec::new(),
        units: vec![Unit::Requests],
        warm_up_ns: 0,
        settles_from_ns: Some(0),
        ends_at_ns: Some(10 * SECOND),
        latency_limit_ns: None,
        is_trial: false,
        is_pinned: false,
        is_in_process: false,
    }
}

/// Builds requests with the given service time, each sent `lateness_ns` after its intended time.
fn tally(count: u64, service_ns: u64, lateness_ns: u64) -> Tally {
    let mut tally = Tally::default();
    for number in 0..count {
        let intended_ns = number * 10 * SECOND / count;
        let sent_ns = intended_ns + lateness_ns;
        tally.note_sent(sent_ns);
        tally.note_finished(&Finish {
            intended_ns,
            sent_ns,
            first_byte_ns: None,
            finished_ns: sent_ns + service_ns,
            outcome: Outcome::Ok,
            status: 200,
        });
    }
    tally
}

/// Builds a worker over ten seconds, whose slowest twentieth has the given lag and response time.
fn worker(tally: &Tally, lag_ns: u64, response_ns: u64) -> Health {
    let mut health = Health { wall_ns: 10 * SECOND, cpu_ns: SECOND, ..Health::default() };
    let count = tally.response.all().count();
    (0..count).for_each(|number| {
        let is_slow = number % 20 == 0;
        health.tail.note(if is_slow { response_ns } else { 1_000 }, if is_slow { lag_ns } else { 0 });
    });
    health.in_flight_ns = tally.service.all().sum_ns() as u64;
    health
}

fn judged(planned: &Planned, tally: &Tally, end: Health, environment: &Environment) -> Validity {
    judge(&Evidence::of(planned, tally, &[end], environment))
}

fn codes(validity: &Validity) -> Vec<&str> {
    validity.causes.iter().map(|cause| cause.code.as_str()).collect()
}

#[test]
fn undisturbed_run_is_valid() {
    let tally = tally(2_000, 5 * MS, 50_000);
    let validity =
        judged(&planned(Some(200)), &tally, worker(&tally, 50_000, 6 * MS), &Environment::default());
    assert_eq!((validity.verdict, codes(&validity).len()), (Level::Valid, 0), "{validity:?}");
}

#[test]
fn load_without_requests_is_invalid() {
    let tally = Tally::default();
    let validity = judged(&planned(Some(200)), &tally, Health::default(), &Environment::default());
    assert_eq!(
        (validity.verdict, codes(&validity)),
        (Level::Invalid, vec!["nothing_planned"]),
        "{validity:?}"
    );
}

#[test]
fn own_delay_in_the_tail_makes_a_run_suspect() {
    let tally = tally(2_000, 5 * MS, 50_000);
    let planned = planned(Some(200));
    let level = |lag_ns, response_ns| {
        judged(&planned, &tally, worker(&tally, lag_ns, response_ns), &Environment::default()).verdict
    };
    assert_eq!(level(150 * MS, 200 * MS), Level::Suspect);
    assert_eq!(level(2 * MS, 20 * MS), Level::Suspect);
    assert_eq!(level(MS / 2, 20 * MS), Level::Valid, "2.5 %");
    assert_eq!(level(100_000, 200_000), Level::Valid, "half, and nobody can see it");
}

#[test]
fn few_requests_tolerate_a_delay_of_milliseconds() {
    let few = tally(50, 5 * MS, 50_000);
    let planned = planned(Some(5));
    let level =
        |lag_ns| judged(&planned, &few, worker(&few, lag_ns, 2 * lag_ns), &Environment::default()).verdict;
    assert_eq!(level(30 * MS), Level::Valid);
    assert_eq!(level(400 * MS), Level::Suspect);
}

#[test]
fn stalls_make_suspect_and_invalidate_if_they_fill_the_time() {
    let tally = tally(2_000, 5 * MS, 50_000);
    let level = |longest_ns, stalled_ns| {
        let mut end = worker(&tally, 0, 6 * MS);
        (end.heartbeat_max_ns, end.stalled_ns) = (longest_ns, stalled_ns);
        judged(&planned(None), &tally, end, &Environment::default()).verdict
    };
    assert_eq!(level(200 * MS, 6 * SECOND), Level::Invalid);
    assert_eq!(level(200 * MS, 2 * SECOND), Level::Suspect);
    assert_eq!(level(150 * MS, 150 * MS), Level::Suspect);
    assert_eq!(level(60 * MS, 60 * MS), Level::Valid);
}

#[test]
fn wait_for_a_core_names_the_process_that_took_it() {
    let tally = tally(2_000, 5 * MS, 50_000);
    let found_over = |over_s: f64, others: Vec<Process>| {
        let mut end = worker(&tally, 0, 6 * MS);
        end.run_queue_wait_ns = Some(4 * SECOND);
        judged(&planned(None), &tally, end, &Environment { others, over_s, ..Environment::default() })
    };
    let found = |others: Vec<Process>| found_over(10.1, others);
    let alone = found(Vec::new());
    assert_eq!((alone.verdict, codes(&alone)), (Level::Suspect, vec!["generator_waited"]));
    let spinner = Process { pid: 77, name: "spinner".to_owned(), cpu_s: 9.5 };
    let disturbed = found(vec![spinner.clone()]);
    assert_eq!(disturbed.verdict, Level::Suspect);
    let sentence = &disturbed.causes[0].sentence;
    assert!(sentence.contains("process 77 (spinner) used 0.94 cores"), "{sentence}");
    // Connections were opened for a minute before the load.
    let before = found_over(70.0, vec![spinner]);
    assert_eq!(before.verdict, Level::Suspect, "{before:?}");
}

#[test]
fn throttling_makes_a_run_suspect_and_invalidates_if_it_fills_the_time() {
    let tally = tally(2_000, 5 * MS, 50_000);
    let level = |throttled_s| {
        let environment = Environment { throttled_s: Some(throttled_s), ..Environment::default() };
        judged(&planned(None), &tally, worker(&tally, 0, 6 * MS), &environment).verdict
    };
    let expected = [Level::Valid, Level::Suspect, Level::Suspect, Level::Invalid];
    assert_eq!([0.0, 0.2, 3.0, 8.0].map(level), expected);
}

#[test]
fn saturated_proxy_makes_a_run_suspect() {
    let tally = tally(2_000, 5 * MS, 50_000);
    let validity = |share| {
        let environment =
            Environment { busiest_proxy: Some(("proxy far".to_owned(), share)), ..Environment::default() };
        judged(&planned(None), &tally, worker(&tally, 0, 6 * MS), &environment)
    };
    assert_eq!(validity(0.05).verdict, Level::Valid);
    let busy = validity(0.5);
    assert_eq!((busy.verdict, codes(&busy)), (Level::Suspect, vec!["proxy_cpu"]));
    let sentence = &busy.causes[0].sentence;
    assert!(
        sentence.starts_with("the proxy far used or waited for more than 90 % of a core in 50.0 % of"),
        "{sentence}"
    );
}

#[test]
fn unsent_requests_due_to_busy_connections_do_not_blame_the_generator() {
    let mut tally = tally(800, 100 * MS, 1_500 * MS);
    tally.note_not_sent(1_200);
    let mut end = worker(&tally, 0, 1_600 * MS);
    end.in_flight_ns = 80 * SECOND;
    let validity = judged(&planned(Some(200)), &tally, end, &Environment::default());
    assert_eq!((validity.verdict, codes(&validity)), (Level::Invalid, vec!["not_sent"]));
    let cause = &validity.causes[0];
    assert!(cause.sentence.starts_with("1200 of 2000 planned requests (60.0 %) were not sent"), "{cause:?}");
    assert!(cause.sentence.contains("all 8 connections were busy"), "{cause:?}");
    assert!(cause.remedy.starts_with("the generator is not the cause"), "{cause:?}");
    assert!(cause.remedy.contains("about 26 connections"), "{cause:?}");
}

#[test]
fn unsent_requests_due_to_generator_lag_say_so() {
    let mut tally = tally(1_500, 5 * MS, 300 * MS);
    tally.note_not_sent(500);
    let mut end = worker(&tally, 0, MS);
    end.tail = record::Tail::default();
    (0..1_500).for_each(|_| end.tail.note(305 * MS, 300 * MS));
    let validity = judged(&planned(Some(200)), &tally, end, &Environment::default());
    assert_eq!(codes(&validity), ["not_sent", "generator_lag"]);
    assert!(validity.causes[0].sentence.contains("the generator came too late"), "{validity:?}");
}

#[test]
fn refused_connections_are_not_reported_as_held() {
    let sentence = |errors: u64| {
        let mut tally = tally(1_500, 5 * MS, 50_000);
        tally.note_not_sent(500);
        tally.counts.failed += errors;
        tally.counts.ok -= errors;
        (0..errors).for_each(|_| tally.errors.note(ErrorClass::ConnectRefused, 111, || "refused".to_owned()));
        let validity = judged(&planned(Some(200)), &tally, worker(&tally, 0, MS), &Environment::default());
        validity.causes.iter().find(|cause| cause.code == "not_sent").unwrap().sentence.clone()
    };
    let refused = sentence(150);
    assert!(
        refused.contains("150 of 1500 requests ended in errors, 150 of them connect_refused"),
        "{refused}"
    );
    assert!(!refused.contains("iterations"), "{refused}");
    assert!(sentence(0).contains("held by iterations"));
}

#[test]
fn requests_due_at_a_steady_end_are_accepted_but_shed_ones_are_not() {
    let level = |shed_after_ns: Option<u64>, not_sent: u64| {
        // The run may be extended twice.
        let asked = planned(Some(200));
        let offered = Offered::Open { connections: 8, shed_after_ns };
        let planned = Planned { offered, ends_at_ns: Some(30 * SECOND), ..asked };
        let mut tally = tally(2_000, 5 * MS, 50_000);
        tally.note_not_sent(not_sent);
        let ends = [worker(&tally, 0, 6 * MS)];
        let environment = Environment::default();
        // The run ended at the first planned end.
        let window_ns = Some(10 * SECOND);
        let evidence = Evidence::of(&planned, &tally, &ends, &environment);
        judge(&Evidence { is_settled: true, window_ns, ..evidence }).verdict
    };
    assert_eq!(level(None, 90), Level::Valid, "they waited for a connection");
    assert_eq!(level(Some(500 * MS), 90), Level::Valid, "they may all have waited");
    assert_eq!(level(Some(500 * MS), 600), Level::Invalid, "so many did not come in half a second");
}

#[test]
fn count_of_the_target_must_match_requests_sent() {
    let tally = tally(2_000, 5 * MS, 50_000);
    let planned = planned(Some(200));
    let level = |heard| {
        let environment = Environment { server_requests: Some(heard), ..Environment::default() };
        let warm_up = Counts { sent: 50, ok: 40, timed_out: 10, ..Counts::default() };
        let ends = [worker(&tally, 0, 6 * MS)];
        judge(&Evidence { warm_up, ..Evidence::of(&planned, &tally, &ends, &environment) }).verdict
    };
    let valid = [2_040, 2_050].map(level);
    assert_eq!((valid, level(2_039), level(2_051)), ([Level::Valid; 2], Level::Invalid, Level::Invalid));
}

#[test]
fn violation_of_littles_law_is_reported() {
    let tally = tally(2_000, 5 * MS, 50_000);
    let found = |share: f64| {
        let mut end = worker(&tally, 0, 6 * MS);
        end.in_flight_ns = (end.in_flight_ns as f64 * share) as u64;
        codes(&judged(&planned(None), &tally, end, &Environment::default())).len()
    };
    assert_eq!([1.0, 1.01, 1.05].map(found), [0, 0, 1]);
}

#[test]
fn load_near_the_ceiling_is_suspect() {
    let tally = tally(2_000, 5 * MS, 50_000);
    let level = |rate: Option<u32>, ceiling: f64| {
        let environment = Environment { ceiling_per_s: Some(ceiling), ..Environment::default() };
        judged(&planned(rate), &tally, worker(&tally, 0, 6 * MS), &environment).verdict
    };
    assert_eq!(level(Some(200), 300.0), Level::Suspect);
    assert_eq!(level(None, 300.0), Level::Valid, "a closed load may come nearer");
    assert_eq!(level(None, 210.0), Level::Suspect);
}

#[test]
fn unsolicited_replies_cast_doubt_on_earlier_ones() {
    let (mut tally, planned) = (tally(2_000, 5 * MS, 50_000), planned(Some(200)));
    tally.errors.note(ErrorClass::UnsolicitedReply, u32::MAX, String::new);
    let mut end = worker(&tally, 50_000, 6 * MS);
    assert_eq!(judged(&planned, &tally, end.clone(), &Environment::default()).verdict, Level::Valid);
    end.doubted_replies = 7;
    let validity = judged(&planned, &tally, end, &Environment::default());
    assert_eq!((validity.verdict, codes(&validity)), (Level::Suspect, vec!["unsolicited_replies"]));
    assert!(validity.causes[0].sentence.contains("7 earlier replies"), "{validity:?}");
}

#[test]
fn pinned_generator_is_not_advised_to_pin() {
    let tally = tally(2_000, 5 * MS, 50_000);
    let mut planned = planned(Some(200));
    let remedies = |planned: &Planned| {
        let validity = judged(planned, &tally, worker(&tally, 150 * MS, 200 * MS), &Environment::default());
        validity.causes.iter().map(|cause| cause.remedy.clone()).collect::<Vec<_>>().join("; ")
    };
    assert!(remedies(&planned).contains("--pin"), "{}", remedies(&planned));
    planned.is_pinned = true;
    assert!(remedies(&planned).contains("pinned already") && !remedies(&planned).contains("--pin"));
}

/// Judges a closed load of eight users who always wait for answers, whose replies waited in the kernel for `lain_ns`.
fn read_late(service_ns: u64, lain_ns: u64, others: Vec<Process>) -> Validity {
    let count = 8 * 10 * SECOND / service_ns;
    let tally = tally(count, service_ns, 0);
    let mut end = worker(&tally, 0, service_ns);
    end.tail = record::Tail::default();
    (0..count).for_each(|_| end.tail.note(service_ns, 0));
    end.run_queue_wait_ns = Some(4 * SECOND);
    (0..1_000).for_each(|_| end.read_delay.record(lain_ns));
    let environment = Environment { others, over_s: 10.1, ..Environment::default() };
    judged(&planned(None), &tally, end, &environment)
}

/// Returns the effect of a generator that was stopped for `stopped_ns`, with a lag of `lag_ns` in one of 20 requests.
fn effect(rate: Option<u32>, stopped_ns: u64, lag_ns: u64) -> evidence::GeneratorEffect {
    let tally = tally(2_000, 5 * MS, 50_000);
    let mut end = worker(&tally, lag_ns, 6 * MS);
    (end.stalled_ns, end.heartbeat_max_ns) = (stopped_ns, stopped_ns.min(200 * MS));
    judged(&planned(rate), &tally, end, &Environment::default()).effect.expect("an effect")
}

#[test]
fn effect_of_a_stop_has_a_direction_by_the_model_of_the_load() {
    let open = effect(Some(200), SECOND, MS);
    assert_eq!((open.missing_share, open.moved_share, open.is_at_limit), (0.0, 0.02, false));
    assert!(
        (open.disturbed_share - 0.28).abs() < 1e-9 && (open.stopped_share - 0.14).abs() < 1e-9,
        "{open:?}"
    );
    assert_eq!(open.delay_ns, 100.0 * MS as f64, "the observed lag, in one of 20 requests");
    let closed = effect(None, SECOND, MS);
    assert!((0.14..0.16).contains(&closed.missing_share) && closed.moved_share == 0.0, "{closed:?}");
    let undisturbed = effect(None, 0, 0);
    assert_eq!(undisturbed, evidence::GeneratorEffect::default());
}

#[test]
fn busy_generator_leaves_the_throughput_without_an_upper_bound() {
    let tally = tally(2_000, 5 * MS, 50_000);
    let environment = Environment { ceiling_per_s: Some(210.0), ..Environment::default() };
    let is_at_limit = |rate| {
        let validity = judged(&planned(rate), &tally, worker(&tally, 0, 6 * MS), &environment);
        validity.effect.is_some_and(|effect| effect.is_at_limit)
    };
    assert_eq!([None, Some(200)].map(is_at_limit), [true, false]);
}

#[test]
fn invalid_run_is_invalid_in_every_figure() {
    for rate in [None, Some(200)] {
        let tally = tally(2_000, 5 * MS, 50_000);
        let mut end = worker(&tally, 0, 6 * MS);
        (end.heartbeat_max_ns, end.stalled_ns) = (2 * SECOND, 7 * SECOND);
        let validity = judged(&planned(rate), &tally, end, &Environment::default());
        assert_eq!(Distorted::ALL.map(|figure| validity.of(figure)), [Level::Invalid; 3], "{validity:?}");
    }
}

#[test]
fn distortions_are_never_larger_than_their_figures() {
    for (rate, stopped_ns, lag_ns) in [(None, 9 * SECOND, 900 * MS), (Some(200), 9 * SECOND, 900 * MS)] {
        let tally = tally(2_000, MS, 0);
        let mut end = worker(&tally, lag_ns, SECOND);
        (end.stalled_ns, end.heartbeat_max_ns) = (stopped_ns, 4 * SECOND);
        end.run_queue_wait_ns = Some(30 * SECOND);
        let validity = judged(&planned(rate), &tally, end, &Environment::default());
        let mean_us = tally.response.all().mean_ns().unwrap() / 1e3;
        for of in validity.causes.iter().flat_map(|cause| &cause.distorts) {
            assert!(of.by_share.is_none_or(|share| (-1.0..=1.0).contains(&share)), "{of:?}");
            let is_mean = of.figure == Distorted::Mean;
            assert!(!is_mean || of.by_us.is_none_or(|us| us <= mean_us), "{of:?}");
        }
    }
}

#[test]
fn wait_without_effect_is_a_note() {
    let spinner = || vec![Process { pid: 77, name: "spinner".to_owned(), cpu_s: 9.5 }];
    for others in [Vec::new(), spinner()] {
        let validity = read_late(20 * MS, 100_000, others);
        assert_eq!((validity.verdict, codes(&validity).len()), (Level::Valid, 0), "{validity:?}");
        let [note] = &validity.notes[..] else { panic!("{validity:?}") };
        let told = super::told(note);
        assert!(
            told.starts_with("throughput up to −0.5 %, mean up to +100 µs (0.5 %), tail up to +100 µs"),
            "{told}"
        );
    }
}

#[test]
fn late_reads_distort_all_figures_of_a_closed_load() {
    let levels = |validity: &Validity| Distorted::ALL.map(|figure| validity.of(figure));
    // A tenth of each user's time is the generator's delay.
    let alone = read_late(5 * MS, MS / 2, Vec::new());
    assert_eq!(levels(&alone), [Level::Suspect; 3], "{alone:?}");
    let spinner = Process { pid: 77, name: "spinner".to_owned(), cpu_s: 9.5 };
    let disturbed = read_late(5 * MS, 2 * MS, vec![spinner]);
    assert_eq!(levels(&disturbed), [Level::Suspect; 3], "{disturbed:?}");
    let throughput = disturbed.causes[0].distorts[0];
    assert_eq!(throughput.by_share, Some(-0.4), "no more than it waited, and as much as users waited");
}

#[test]
fn open_load_may_have_a_suspect_tail_only() {
    let tally = tally(2_000, 5 * MS, 50_000);
    let validity =
        judged(&planned(Some(200)), &tally, worker(&tally, 150 * MS, 200 * MS), &Environment::default());
    assert_eq!(validity.of(Distorted::Tail), Level::Suspect);
    assert_eq!(validity.of(Distorted::Throughput), Level::Valid, "{validity:?}");
}

#[test]
fn validity_of_another_tools_load_is_unknown() {
    let (planned, environment) =
        (planned(None), Environment { steal_share: Some(0.5), ..Environment::default() });
    let mut tally = tally(2_000, 5 * MS, 0);
    let of = |tally: &Tally, hopeless: &[String]| {
        let evidence =
            Evidence { tool: Some("wrk"), hopeless, ..Evidence::of(&planned, tally, &[], &environment) };
        judge(&evidence)
    };
    let validity = of(&tally, &[]);
    assert_eq!((validity.verdict, codes(&validity)), (Level::Suspect, vec!["steal", "no_send_delay"]));
    assert!(validity.causes[1].sentence.contains("wrk reports no send delay"), "{validity:?}");
    let busy = Environment { tool_share: Some(0.97), ..Environment::default() };
    let busy = judge(&Evidence { tool: Some("wrk"), ..Evidence::of(&planned, &tally, &[], &busy) });
    assert_eq!(codes(&busy), ["tool_cpu", "no_send_delay"]);
    assert!(busy.causes[0].sentence.contains("wrk used 97 % of the cores"), "{busy:?}");
    let failed = of(&tally, &["wrk exited with code 1".to_owned()]);
    assert_eq!(failed.causes[0].code, "hopeless", "{failed:?}");
    tally.counts = Counts::default();
    assert!(of(&tally, &[]).causes.iter().any(|cause| cause.sentence == "wrk reported no requests at all"));
}
