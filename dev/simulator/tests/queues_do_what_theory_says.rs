//! Compares simulated queues with their closed forms.
//!
//! Neighboring responses of a busy queue are correlated, so standard errors are computed from 20 batches of a run instead of from
//! requests. A figure may deviate from theory by five standard errors; the probability of a larger deviation is below 1 in 10,000
//! (t with 19 degrees of freedom). Seeds are fixed.

use load::open::Profile;
use load::{Closed, Load, Open, Schedule, Spacing, ThinkTime};
use record::Percentile;
use simulator::closed_forms::{Mdc, Mg1, Mm1, Mmc};
use simulator::{LoadTimes, Played, Queue, Service, play};

const SECOND_NS: u64 = 1_000_000_000;
const BATCHES: u64 = 20;

fn open(per_s: f64, seed: u64) -> Load {
    let spacing = Spacing::poisson(seed);
    Load::Open(Open {
        schedule: Schedule::Rate(Profile::constant(per_s), spacing),
        connections: 100_000,
        shed_after_ns: None,
    })
}

fn batches(per_s: f64, queue: Queue) -> Vec<Played> {
    let times = LoadTimes { warm_up_ns: 20 * SECOND_NS, stop_ns: 220 * SECOND_NS };
    (1..=BATCHES).map(|seed| play(&open(per_s, seed), &queue, times, seed)).collect()
}

/// Compares a figure of the batches with theory.
fn compare(what: &str, batches: &[Played], figure: impl Fn(&Played) -> f64, theory: f64) {
    let values: Vec<f64> = batches.iter().map(figure).collect();
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let variance = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / (n - 1.0);
    let standard_error = (variance / n).sqrt();
    assert!(
        (mean - theory).abs() <= 5.0 * standard_error,
        "{what}: simulated {mean:.6}, theory {theory:.6}, standard error {standard_error:.6}"
    );
    assert!(standard_error <= 0.03 * theory, "{what}: too few samples to say anything");
}

fn response(percentile: Percentile) -> impl Fn(&Played) -> f64 {
    move |played| played.response_s(percentile).expect("samples enough")
}

fn mean(played: &Played) -> f64 {
    played.mean_response_s().expect("something ended")
}

#[test]
fn one_server_with_exponential_service() {
    let queue = Queue { servers: 1, service: Service::Exponential { mean_ns: 5_000_000 } };
    for per_s in [100.0, 160.0] {
        let theory = Mm1 { arrivals_per_s: per_s, services_per_s: 200.0 };
        let batches = batches(per_s, queue);
        compare("mean", &batches, mean, theory.response_mean_s());
        compare("median", &batches, response(Percentile::P50), theory.response_quantile_s(0.5));
        compare("p95", &batches, response(Percentile::P95), theory.response_quantile_s(0.95));
    }
    let batches = batches(100.0, queue);
    let p99_s = Mm1 { arrivals_per_s: 100.0, services_per_s: 200.0 }.response_quantile_s(0.99);
    compare("p99", &batches, response(Percentile::P99), p99_s);
}

#[test]
fn four_servers_with_exponential_service() {
    let queue = Queue { servers: 4, service: Service::Exponential { mean_ns: 10_000_000 } };
    let theory = Mmc { servers: 4, arrivals_per_s: 320.0, services_per_s: 100.0 };
    let batches = batches(320.0, queue);
    compare("mean", &batches, mean, theory.response_mean_s());
    compare("p90", &batches, response(Percentile::P90), theory.response_quantile_s(0.9));
    compare("p99", &batches, response(Percentile::P99), theory.response_quantile_s(0.99));
}

#[test]
fn one_server_with_constant_service() {
    let queue = Queue { servers: 1, service: Service::Constant { ns: 5_000_000 } };
    let theory = Mg1 { arrivals_per_s: 160.0, service_mean_s: 0.005, service_variance_s2: 0.0 };
    compare("mean", &batches(160.0, queue), mean, theory.response_mean_s());
}

#[test]
fn four_servers_with_constant_service() {
    let queue = Queue { servers: 4, service: Service::Constant { ns: 10_000_000 } };
    let theory = Mdc::new(4, 360.0, 0.010).expect("it does not grow for ever");
    let batches = batches(360.0, queue);
    compare("mean", &batches, mean, theory.response_mean_s());
    compare("p90", &batches, response(Percentile::P90), theory.response_quantile_s(0.9));
    compare("p99", &batches, response(Percentile::P99), theory.response_quantile_s(0.99));
}

#[test]
fn response_time_without_a_queue_is_the_service_time() {
    let service = Service::LogNormal { median_ns: 5_000_000, sigma: 0.99 };
    let batches = batches(100.0, Queue { servers: 1_000, service });
    compare("median", &batches, response(Percentile::P50), 0.005);
    // ln p99 is 2.326 standard deviations above the log median.
    compare("p99", &batches, response(Percentile::P99), 0.005 * (0.99f64 * 2.326_348).exp());
}

#[test]
fn closed_users_follow_the_response_time_law() {
    // As many servers as users: no waiting, and each user sends a request every 90 + 10 ms.
    let closed = Closed {
        users: 20,
        ramp_up_ns: 0,
        think_time: ThinkTime::Exponential { constant_ns: 0, mean_ns: 90_000_000 },
        pacing_ns: 0,
        throughput_per_s: None,
        seed: 3,
        schedule: None,
        is_unpaced: false,
    };
    let queue = Queue { servers: 20, service: Service::Constant { ns: 10_000_000 } };
    let times = LoadTimes { warm_up_ns: 5 * SECOND_NS, stop_ns: 205 * SECOND_NS };
    let played = play(&Load::Closed(closed), &queue, times, 1);
    let per_s = played.throughput_per_s().expect("something ended");
    assert!((per_s / 200.0 - 1.0).abs() < 0.02, "{per_s}");
    assert_eq!(played.tally.response.ok.max_ns(), Some(10_000_000));
}

#[test]
fn littles_law_holds_and_no_request_is_lost() {
    let queue = Queue { servers: 4, service: Service::Exponential { mean_ns: 10_000_000 } };
    let times = LoadTimes { warm_up_ns: 5 * SECOND_NS, stop_ns: 205 * SECOND_NS };
    let played = play(&open(300.0, 5), &queue, times, 5);
    played.tally.counts.check_settled().expect("the accounts add up");
    let by_law = played.throughput_per_s().expect("a throughput") * mean(&played);
    assert!((played.mean_in_flight() / by_law - 1.0).abs() < 0.01, "{} {by_law}", played.mean_in_flight());
    let series = played.series();
    assert_eq!(series.len(), 820);
    let in_flight = series[20..].iter().map(|window| window.in_flight).sum::<f64>() / 800.0;
    assert!((in_flight / played.mean_in_flight() - 1.0).abs() < 1e-9, "{in_flight}");
    assert!(played.completed_share() > 0.99);
}

#[test]
fn exhausted_connections_cause_send_delay_not_service_time() {
    // Eight connections with 100 ms each: 80 per second of the 200 that are due.
    let Load::Open(more) = open(200.0, 1) else { unreachable!() };
    let queue = Queue { servers: 1_000, service: Service::Constant { ns: 100_000_000 } };
    let times = LoadTimes { warm_up_ns: 0, stop_ns: 20 * SECOND_NS };
    let late = play(&Load::Open(Open { connections: 8, ..more.clone() }), &queue, times, 1);
    assert_eq!(late.tally.service.ok.max_ns(), Some(100_000_000));
    assert!(late.tally.lateness.ok.max_ns() > Some(10 * SECOND_NS));
    let per_s = late.throughput_per_s().expect("a throughput");
    assert!((per_s / 80.0 - 1.0).abs() < 0.02, "{per_s}");
    let shed = Open { connections: 8, shed_after_ns: Some(SECOND_NS), ..more };
    let counts = play(&Load::Open(shed), &queue, times, 1).tally.counts;
    counts.check_settled().expect("the accounts add up");
    assert!((0.5..0.65).contains(&(counts.not_sent as f64 / counts.planned as f64)), "{counts:?}");
}

#[test]
fn equal_seeds_give_equal_runs() {
    let queue = Queue { servers: 2, service: Service::Exponential { mean_ns: 10_000_000 } };
    let times = LoadTimes { warm_up_ns: SECOND_NS, stop_ns: 20 * SECOND_NS };
    let run = |seed| play(&open(150.0, 1), &queue, times, seed).tally;
    assert!(run(1) == run(1));
    assert!(run(1) != run(2), "another seed gives other service times");
}
