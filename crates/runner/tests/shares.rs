//! A load made by two generators: its two halves add up to the whole.

use std::sync::mpsc::RecvTimeoutError;
use std::time::Duration;

use engine::Message;
use plan::{Draft, LoadSpec, Plan};
use record::{Counts, Pulses};
use runner::{Generator, Prepared, Share, Stopper};

use crate::fakes::World;

/// Counts of a share of a load, over all of its messages.
fn counted(plan: &Plan, share: Share) -> (Counts, u64) {
    let world = World::new();
    count(world.prepare(plan, &Stopper::default()).expect("nothing is in the way"), share)
}

/// Counts of a prepared load.
pub(crate) fn count(prepared: Prepared, share: Share) -> (Counts, u64) {
    let mut underway = prepared.ready.start(share).expect("there is room");
    let (mut counts, mut pulses) = (Counts::default(), Pulses::default());
    loop {
        match underway.next(Duration::from_secs(1)) {
            Ok(Message::Interval { interval, .. }) => counts.add(&interval.tally.counts),
            Ok(Message::Pulse { pulse, .. }) => pulses.note(&pulse),
            Ok(_) | Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => break,
        }
    }
    underway.join().expect("nothing died");
    (counts, pulses.windows().iter().map(|pulse| pulse.ended).sum())
}

#[test]
fn two_half_shares_add_up_to_the_load() {
    let url = "http://127.0.0.1:9/".to_owned();
    let load = LoadSpec { measured_ns: Some(3_000_000_000.into()), ..LoadSpec::default() };
    let plan = Draft { url, load, ..Draft::default() }.check().expect("a plan");
    let (whole, ended) = counted(&plan, Share::WHOLE);
    assert_eq!((whole.sent, whole.ok, ended), (300, 300, 300));
    let halves = [0, 1].map(|index| counted(&plan, Share { index, of: 2 }));
    let mut sum = halves[0].0;
    sum.add(&halves[1].0);
    assert_eq!((sum, halves[0].1 + halves[1].1), (whole, ended));
    assert!(halves.iter().all(|(half, _)| half.sent == 150));
}
