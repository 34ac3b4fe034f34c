//! Timeline of a load in windows of 100 ms: it adds up to the account, and exists only if a job asks for it.

use engine::Job;
use record::{Loss, Moment};
use target::scripted::Step;

use crate::support::{MS, closed, count, each_request, get, lasting, open, reply, run, server, tcp};

fn sum(moments: &[Moment], of: impl Fn(&Moment) -> u64) -> u64 {
    moments.iter().map(of).sum()
}

#[test]
fn windows_add_up_to_the_account() {
    let server = server(each_request(vec![Step::ReadRequest, Step::Send(reply(200, "x"))]));
    let job = closed(tcp(server.address()), 4, lasting(450 * MS));
    let done = run(Job { threads: 2, keeps_timeline: true, warm_up_ns: 100 * MS, ..job.clone() }, get("/"));
    let counts = [&done.warm_up.counts, &done.tally.counts];
    let all = |of: fn(&record::Counts) -> u64| counts.map(of).iter().sum::<u64>();
    assert!(all(|counts| counts.ok) > 0);
    assert_eq!(sum(&done.moments, |window| window.planned), all(|counts| counts.planned));
    assert_eq!(sum(&done.moments, |window| window.sent), all(|counts| counts.sent));
    assert_eq!(sum(&done.moments, |window| window.ok), all(|counts| counts.ok));
    let response_ns =
        [&done.warm_up, &done.tally].map(|tally| tally.response.ok.sum_ns()).iter().sum::<u128>();
    assert_eq!(u128::from(sum(&done.moments, |window| window.ok_response_sum_ns)), response_ns);
    assert_eq!(sum(&done.moments, |window| window.responses.count()), all(|counts| counts.ok));
    assert!(done.moments.iter().filter(|window| window.ok > 0).all(|window| window.answered != 0));
    assert!(done.moments.len() >= 5, "{}", done.moments.len());

    let without = run(job, get("/"));
    assert_eq!(without.moments, []);
    server.stop();
}

#[test]
fn every_error_is_counted_by_class() {
    let rejected = each_request(vec![Step::ReadRequest, Step::Send(reply(503, ""))]);
    let closed_at_once = vec![Step::ReadRequest];
    let silent = vec![Step::ReadRequest, Step::HoldOpen];
    for (steps, loss) in [(rejected, Loss::Rejected), (closed_at_once, Loss::Reset), (silent, Loss::TimedOut)]
    {
        let server = server(steps);
        let job = closed(tcp(server.address()), 1, count(3));
        let done = run(Job { keeps_timeline: true, timeout_ns: 150 * MS, ..job }, get("/"));
        let losses: Vec<_> = done.moments.iter().flat_map(|window| window.losses.clone()).collect();
        assert!(losses.iter().all(|((kind, _), _)| *kind == loss), "{losses:?}");
        assert_eq!(losses.iter().map(|(_, count)| count).sum::<u64>(), 3);
        let is_late = losses.iter().all(|((_, before), _)| *before >= 1);
        assert_eq!(is_late, loss == Loss::TimedOut, "{losses:?}");
        server.stop();
    }
}

#[test]
fn unsent_arrivals_are_planned_in_their_intended_window() {
    let silent = server(vec![Step::ReadRequest, Step::HoldOpen]);
    let job = open(tcp(silent.address()), 100.0, 500 * MS, 1);
    let done = run(Job { keeps_timeline: true, timeout_ns: 5_000 * MS, ..job }, get("/"));
    let planned: Vec<u64> = done.moments.iter().take(5).map(|window| window.planned).collect();
    assert_eq!(planned, [10; 5]);
    assert_eq!(sum(&done.moments, Moment::not_sent), done.tally.counts.not_sent);
    assert!(done.tally.counts.not_sent > 40);
    silent.stop();
}
