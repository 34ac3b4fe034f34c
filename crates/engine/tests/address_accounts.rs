//! Accounts of steps by address, for peers with several addresses that ask for them.

use crate::support::scenario::{get, in_turn, script, visit, with_scenarios};
use crate::support::{Done, MS, closed, count, lasting, reply, run, server, tcp};
use engine::{Endpoint, Job, Peer, address_accounts};
use target::Settings;
use target::scripted::Step;

fn two_addresses(one: std::net::SocketAddr, two: std::net::SocketAddr) -> Peer {
    let endpoints = vec![Endpoint::Tcp(one), Endpoint::Tcp(two)];
    Peer { endpoints, has_address_accounts: true, ..tcp(one) }
}

fn sent(done: &Done) -> Vec<u64> {
    done.steps.iter().map(|account| account.counts.sent).collect()
}

#[test]
fn each_step_has_an_account_per_address() {
    let [one, two] = [(); 2].map(|()| target::start(Settings::default()).expect("a target"));
    let job = closed(two_addresses(one.address(), two.address()), 6, count(400));
    let job = with_scenarios(Job { threads: 2, ..job }, in_turn(vec![visit(0, 0), visit(1, 0)]));
    let steps = || script(vec![get("/status"), get("/status?again")]);
    assert_eq!(address_accounts(&job, &steps()), [(0, 0), (0, 1), (1, 0), (1, 1)]);
    let sent = sent(&run(job, steps()));
    assert_eq!((sent.len(), sent[0] + sent[1]), (6, 400));
    assert_eq!((sent[2] + sent[3], sent[4] + sent[5]), (sent[0], sent[1]));
    let requests = [&one, &two].map(|target| target.counters().requests);
    assert_eq!([sent[2] + sent[4], sent[3] + sent[5]], requests);
}

#[test]
fn failures_count_in_the_account_of_their_address() {
    let good = target::start(Settings::default()).expect("a target");
    let bad = server(vec![Step::ReadRequest, Step::Send(reply(503, ""))]);
    // Two users, each with a connection to one address. Neither address closes before the other has answered.
    let job = closed(two_addresses(good.address(), bad.address()), 2, count(2));
    let done = run(job, crate::support::get("/status"));
    let [_, to_good, to_bad] = done.steps.as_slice() else { panic!("{:?}", sent(&done)) };
    assert_eq!((to_good.counts.ok, to_good.counts.sent), (1, 1));
    assert_eq!((to_bad.counts.rejected, to_bad.counts.sent), (1, 1));
}

#[test]
fn no_address_accounts_for_single_address_or_by_default() {
    let target = target::start(Settings::default()).expect("a target");
    let alone = Peer { has_address_accounts: true, ..tcp(target.address()) };
    let unasked = Peer { has_address_accounts: false, ..two_addresses(target.address(), target.address()) };
    for peer in [alone, unasked] {
        let job = closed(peer, 2, lasting(50 * MS));
        assert_eq!(address_accounts(&job, &crate::support::get("/status")), []);
        assert_eq!(run(job, crate::support::get("/status")).steps.len(), 1);
    }
}
