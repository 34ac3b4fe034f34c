//! Every protocol takes each of its samples whole, in pieces, and followed by junk.

use wire::PROTOCOLS;
use wire::testing::feed_three_ways;

#[test]
fn every_protocol_takes_every_sample_three_ways() {
    let mut fed = 0;
    for protocol in PROTOCOLS {
        let samples = (protocol.samples)();
        assert!(samples.len() >= 10, "{} has too few samples to be trusted", protocol.name);
        for sample in samples {
            feed_three_ways(&|| (protocol.open)(), &sample)
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
