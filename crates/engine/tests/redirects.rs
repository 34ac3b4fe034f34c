//! Redirects are parts of one request, on a new connection if the reply closes the present one.

use engine::Job;
use record::Counts;
use target::scripted::{self, Script, Step};
use wire::http1::{Checks, Http1, Redirects, Request, Template};
use wire::{ErrorClass, Secrets};

use crate::support::{Done, closed, count, run, tcp};

fn follow(max: u8, replies: &'static [&'static str], requests: u64) -> (Done, usize) {
    let server = scripted::start(move |number| {
        let reply = replies[number % replies.len()];
        Script(vec![Step::ReadRequest, Step::Send(format!("HTTP/1.1 {reply}\r\n\r\n").into_bytes())])
    })
    .expect("a server");
    let redirects = Redirects { max, location: 0, is_secure: false };
    let request = Request { redirects: Some(redirects), ..Request::get("shop.example", "/") };
    let names = ["(location)".to_owned()];
    let request = Template::compile(&request, &names, &Secrets::default()).expect("a request");
    let step = wire::http1::Step { request, checks: Checks::default(), captures: Vec::new() };
    let script = Http1::new(vec![step], 1);
    let job = closed(tcp(server.address()), 1, count(requests));
    let done = run(Job { parts: u16::from(max) + 1, ..job }, script);
    (done, server.connections())
}

const AROUND: &str = "302 Found\r\nLocation: /next\r\nConnection: close\r\nContent-Length: 0";
const FOUND: &str = "200 OK\r\nConnection: close\r\nContent-Length: 0";

#[test]
fn redirect_continues_on_a_new_connection() {
    let (done, connections) = follow(2, &[AROUND, FOUND], 5);
    assert_eq!(connections, 10);
    let counts: Vec<(u64, u64)> =
        done.steps.iter().map(|tally| (tally.counts.planned, tally.counts.ok)).collect();
    assert_eq!(counts, [(5, 5), (5, 5), (5, 5)]);
    let service_ns = |number: usize| done.steps[number].service.ok.sum_ns();
    assert!(service_ns(0) >= service_ns(1) + service_ns(2), "the request covers its parts");
}

#[test]
fn too_many_redirects_and_lost_connections_end_the_request_once() {
    let (done, _) = follow(1, &[AROUND], 4);
    let first = done.steps[0].errors.entries().first().expect("an error");
    assert_eq!((first.class.as_str(), first.count), (ErrorClass::RedirectLimit.name(), 4));
    let Counts { planned, rejected, .. } = done.steps[0].counts;
    assert_eq!((planned, rejected, done.steps[2].counts.rejected), (4, 4, 4));
    let (done, _) = follow(1, &[AROUND, "2"], 3);
    assert_eq!(done.steps[0].counts.failed, 3);
    assert_eq!((done.steps[1].counts.ok, done.steps[2].counts.failed), (3, 3));
}
