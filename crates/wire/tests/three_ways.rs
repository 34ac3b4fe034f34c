//! Every protocol takes each of its samples whole, in pieces, and followed by junk.

use wire::http1::{Checks, Request};
use wire::testing::feed_three_ways;
use wire::{Compile, Next, PROTOCOLS, RequestStep, Secrets, Ticket, Values};

#[test]
fn every_protocol_takes_every_sample_three_ways() {
    let mut fed = 0;
    for protocol in PROTOCOLS {
        let samples = (protocol.samples)();
        assert!(samples.len() >= 10, "{} has too few samples to be trusted", protocol.name);
        for sample in samples {
            feed_three_ways(protocol.open, &sample)
                .unwrap_or_else(|what| panic!("{}: {what}", protocol.name));
            fed += 1;
        }
    }
    assert!(fed >= 40, "{fed} samples were fed");
}

#[test]
fn names_and_schemes_are_unique() {
    let mut names: Vec<_> = PROTOCOLS.iter().map(|protocol| protocol.name).collect();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), PROTOCOLS.len());
}

#[test]
fn every_protocol_of_requests_sends_what_a_user_writes() {
    for protocol in PROTOCOLS {
        let Compile::Requests(compile) = protocol.compile else { continue };
        let request = Request { body: Some(b"{v}".to_vec()), ..Request::get("localhost", "/") };
        let step = RequestStep { request, checks: Checks::default(), captures: Vec::new() };
        let script =
            compile(std::slice::from_ref(&step), &["v".to_owned()], &Secrets::default()).expect("a script");
        assert!(script.needs(0, 0), "{}: the step needs its variable", protocol.name);
        let (mut channel, mut values) = (script.open(0, 0), Values::default());
        assert!(channel.room() > 0);
        values.set(0, b"of a user");
        assert_eq!(channel.begin(Ticket(7), 0, &values), Next::Send);
        let sent = String::from_utf8_lossy(channel.outgoing()).into_owned();
        assert!(sent.contains("of a user"), "{}: {sent}", protocol.name);
        // A variable that nobody knows is the fault of its step.
        let wrong =
            compile(&[step.clone(), step], &[], &Secrets::default()).expect_err("an unknown variable");
        assert_eq!(wrong.step, 0);
    }
}
