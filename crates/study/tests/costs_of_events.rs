//! Studies that compare by the cost of an event: they end, resume, and extend like others, and report in units.

use evidence::{StudyPlace, Verdict};
use study::{Journal, extend_study, run_study};

use crate::fakes::{Figures, Maker, Memory, SimulatedRun, n, with_event};
use crate::virtual_time::verdict;

/// Returns a run with an outage of `outage_ms` milliseconds. `None` if the cost of the event is unknown.
fn outage(outage_ms: Option<u64>) -> SimulatedRun {
    SimulatedRun::of(Figures { per_s: 100, response_ms: 10, busy_percent: None, outage_ms })
}

/// Makes the outage of the second variant 400 ms longer. Outages differ more than that between blocks.
fn longer(place: &StudyPlace) -> SimulatedRun {
    outage(Some(300 * u64::from(place.block % 5) + 400 * (n(place) - 1) + u64::from(place.position * 7 % 5)))
}

fn nothing(_: &StudyPlace) -> SimulatedRun {
    outage(Some(0))
}

fn alternating(place: &StudyPlace) -> SimulatedRun {
    outage(Some(if (u64::from(place.block) + n(place)).is_multiple_of(2) { 200 } else { 0 }))
}

fn lines_of(compare: &str, simulate: fn(&StudyPlace) -> SimulatedRun) -> (Memory, Vec<String>) {
    let study = with_event("1, 2", compare);
    let memory = Memory::begun(&study);
    let mut maker = Maker::new(&memory, &simulate);
    run_study(&study, &memory, &mut maker).expect("it ends");
    let lines = maker.lines;
    (memory, lines)
}

fn ended(memory: &Memory, why: &str) -> bool {
    let state = if why == "not fit" { Verdict::Partial } else { Verdict::Complete };
    verdict(memory) == Some((state, Some(why.to_owned())))
}

#[test]
fn difference_is_decided_at_first_look() {
    let (memory, lines) = lines_of("{ by: outage, min-effect: 50ms, pilot: 2 }", longer);
    assert!(ended(&memory, "decided"), "{lines:?}");
    assert_eq!(memory.made().len(), 2 * 2 + 2 * 7);
    assert!(
        lines.iter().any(|line| line.contains("a difference of 50.0 ms will show in 7 blocks")),
        "{lines:?}"
    );
    assert!(lines.iter().any(|line| line.contains("by outage web n=1 is ahead of web n=2")), "{lines:?}");
}

#[test]
fn zero_cost_on_both_sides_is_equal() {
    let (memory, lines) = lines_of("{ by: 'event deploy: outage', min-effect: 20ms }", nothing);
    assert!(ended(&memory, "decided"), "{lines:?}");
    assert!(lines.iter().any(|line| line.contains("are equal within 20.0 ms")), "{lines:?}");
    let (memory, lines) = lines_of("{ by: lost }", nothing);
    assert!(
        ended(&memory, "decided") && lines.iter().any(|line| line.contains("equal within 1 request")),
        "{lines:?}"
    );
}

#[test]
fn extends_inconclusive_comparison() {
    let study = with_event("1, 2", "{ by: outage, blocks: 8 }");
    let memory = Memory::begun(&study);
    let simulate: fn(&StudyPlace) -> SimulatedRun = alternating;
    run_study(&study, &memory, &mut Maker::new(&memory, &simulate)).expect("it ends");
    assert!(ended(&memory, "blocks"));
    let kept = memory.study().expect("it is kept");
    extend_study(&study, &kept, 12, None, &memory).expect("zeros are no obstacle");
    let mut maker = Maker::new(&memory, &simulate);
    run_study(&study, &memory, &mut maker).expect("it ends");
    assert_eq!((maker.made, memory.made().len()), (8, 24));
}

#[test]
fn unknown_costs_end_comparison() {
    let (memory, lines) = lines_of("{ by: outage }", |_| outage(None));
    assert!(ended(&memory, "not fit"), "{lines:?}");
    assert!(lines.iter().any(|line| line.contains("unknown what outage of events is")), "{lines:?}");
}
