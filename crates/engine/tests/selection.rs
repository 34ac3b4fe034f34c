//! Choice among several addresses: in turn, the first that answers, or by the hash of a value.

use std::net::SocketAddr;
use std::thread;
use std::time::Duration;

use crate::support::scenario::{data, get, in_turn, script, visit, with_scenarios};
use crate::support::tls::{Authority, TlsServer};
use crate::support::{MS, SECOND, closed, count, finish, lasting, limit, reply, run, tcp};
use engine::{Endpoint, Job, Peer, Selection, TlsPeer, TlsTrust};
use load::values::Source;
use target::scripted::closed_port;
use target::{Running, Settings};
use wire::http1::{Checks, Http1, HttpStep, Request};
use wire::{Mix, PeerStep, Secrets, ShardRule, Shards, Values};

fn target() -> Running {
    target::start(Settings::default()).expect("a target")
}

fn list(addresses: &[SocketAddr], selection: Selection) -> Peer {
    let endpoints = addresses.iter().copied().map(Endpoint::Tcp).collect();
    Peer { endpoints, selection, ..tcp(addresses[0]) }
}

fn requests(targets: &[Running]) -> Vec<u64> {
    targets.iter().map(|target| target.counters().requests).collect()
}

#[test]
fn new_connections_take_the_addresses_in_turn() {
    let targets = [target(), target(), target()];
    let addresses: Vec<SocketAddr> = targets.iter().map(Running::address).collect();
    let mut job = closed(list(&addresses, Selection::InTurn), 1, count(30));
    job.peers[0].keep_alive = false;
    run(job, crate::support::get("/status")).assert_all_ok(30);
    assert_eq!(requests(&targets), [10, 10, 10]);
}

#[test]
fn every_connection_goes_to_the_first_address_that_answers() {
    let (gone, targets) = (closed_port().expect("a port"), [target(), target()]);
    let addresses = [gone.address(), targets[0].address(), targets[1].address()];
    run(closed(list(&addresses, Selection::First), 4, count(40)), crate::support::get("/status"))
        .assert_all_ok(40);
    assert_eq!(requests(&targets), [40, 0]);
}

#[test]
fn fails_over_to_next_address() {
    let [first, second] = [target(), target()];
    let peer = list(&[first.address(), second.address()], Selection::First);
    let job = closed(peer, 4, lasting(1_500 * MS));
    let limit = limit(&job);
    let running = engine::start(job, crate::support::get("/hold?mean_us=5000")).expect("threads");
    thread::sleep(Duration::from_millis(500));
    let before = (first.counters().requests, second.counters().requests);
    first.stop();
    let done = finish(running, limit);
    assert!(before.0 > 0 && before.1 == 0, "{before:?}");
    assert!(second.counters().requests > 0);
    assert_eq!(done.errors("connect_refused"), 0, "{:?}", done.classes());
    // The request under way, and one on a connection that the server still took while it stopped.
    assert!(done.tally.counts.failed <= 2 * 4, "{:?}", done.classes());
}

#[test]
fn request_fails_once_if_no_address_answers() {
    let gone = [closed_port().expect("a port"), closed_port().expect("a port")];
    let addresses = gone.each_ref().map(|port| port.address());
    let done = run(closed(list(&addresses, Selection::First), 1, count(3)), crate::support::get("/"));
    done.assert_all_failed("connect_refused", 3);
}

#[test]
fn leaves_unanswering_address_after_one_time_out() {
    let (hole, target) = (target::scripted::blackhole().expect("a full queue"), target());
    let mut job = closed(list(&[hole.address(), target.address()], Selection::First), 2, count(20));
    (job.connect_timeout_ns, job.timeout_ns) = (200 * MS, 5 * SECOND);
    let done = run(job, crate::support::get("/status"));
    assert_eq!((done.tally.counts.ok, target.counters().requests), (20, 20), "{:?}", done.classes());
}

#[test]
fn each_address_must_show_a_certificate_for_its_own_name() {
    let authority = Authority::new("ours");
    let servers = ["one.test", "two.test"]
        .map(|name| TlsServer::answering(&authority.sign(&[name], |_| ()), reply(200, "hello")));
    let tls = TlsPeer::new("one.test", &TlsTrust::Authorities(authority.path())).expect("a TLS peer");
    let addresses = servers.each_ref().map(TlsServer::address);
    let with = |tls| Peer { tls: Some(tls), ..list(&addresses, Selection::InTurn) };
    let named = tls.clone().with_names(["one.test", "two.test"].into_iter()).expect("names");
    run(closed(with(named), 2, count(10)), crate::support::get("/")).assert_all_ok(10);
    let of_first = run(closed(with(tls), 2, count(10)), crate::support::get("/"));
    let (failures, why) = of_first.ends[0].opening_failures.as_ref().expect("a failure before the load");
    assert_eq!(*failures, 1, "the certificate of the second address is for another name: {why}");
}

#[test]
fn each_address_gets_its_own_host_header() {
    let answer = |stream: &mut std::net::TcpStream| {
        use std::io::{Read, Write};
        let (mut bytes, mut hosts) = ([0; 4096], Vec::new());
        while let Ok(length @ 1..) = stream.read(&mut bytes) {
            let head = String::from_utf8_lossy(&bytes[..length]).into_owned();
            hosts.extend(head.lines().find_map(|line| line.strip_prefix("Host: ").map(str::to_owned)));
            if stream.write_all(&reply(200, "ok")).is_err() {
                break;
            }
        }
        hosts
    };
    let listeners = [(); 2].map(|()| std::net::TcpListener::bind("127.0.0.1:0").expect("a port"));
    let addresses = listeners.each_ref().map(|listener| listener.local_addr().expect("an address"));
    let heard = listeners
        .map(|listener| thread::spawn(move || answer(&mut listener.accept().expect("a connection").0)));
    let other_hosts = vec!["two.test:82".to_owned()];
    let request = Request { other_hosts, ..Request::get("one.test", "/") };
    let step = HttpStep { request, checks: Checks::default(), captures: Vec::new() };
    let script = Http1::compile(&[step], &[], &Secrets::default()).expect("a script");
    run(closed(list(&addresses, Selection::InTurn), 2, count(8)), script).assert_all_ok(8);
    let heard = heard.map(|thread| thread.join().expect("no panic"));
    assert!(heard[0].iter().all(|host| host == "one.test") && !heard[0].is_empty(), "{heard:?}");
    assert!(heard[1].iter().all(|host| host == "two.test:82") && !heard[1].is_empty(), "{heard:?}");
}

#[test]
fn requests_with_equal_values_go_to_one_shard() {
    let targets = [target(), target(), target()];
    let names = ["user".to_owned()];
    let shards = || Shards::new(0..3, "{user}", &names, ShardRule::default()).expect("a known name");
    // Variable 0 counts from 0 to 99 over all users.
    let values = data(0, Source::Sequence { from: 0, until: Some(99), by: 1 });
    let job = closed(tcp(targets[0].address()), 4, count(200));
    let peers = targets.iter().map(|target| tcp(target.address())).collect();
    let job =
        with_scenarios(Job { peers, threads: 2, data: vec![values], ..job }, in_turn(vec![visit(0, 0)]));
    let scripts = (0..3).map(|_| Box::new(script(vec![get("/status")])) as _).collect();
    let mix = Mix::new(scripts, &[PeerStep { peer: 0, step: 0 }]).with_shards(vec![shards()]);
    run(job, mix).assert_all_ok(200);
    let mut expected = vec![0; 3];
    for value in 0..200_u32 {
        let mut values = Values::default();
        values.set(0, (value % 100).to_string().as_bytes());
        expected[usize::from(shards().choose(&values))] += 1;
    }
    assert_eq!(requests(&targets), expected);
}
