//! A running study reports the likely bottleneck of a system as soon as a rule is certain.

use evidence::StudyPlace;
use study::run_study;

use crate::fakes::{Figures, Maker, Memory, SimulatedRun, n, of};
use crate::virtual_time::faster;

/// Simulates a first variant that keeps the cores busy. The others do so from their second block on.
fn planted(place: &StudyPlace) -> SimulatedRun {
    let busy_percent = if n(place) == 1 || place.block >= 1 { 97 } else { 40 };
    let per_s = 1_000 + u64::from(place.block * 7 % 5) * 10;
    SimulatedRun::of(Figures { per_s, response_ms: 10, busy_percent: Some(busy_percent), outage_ms: None })
}

fn bottleneck_lines(lines: &[String]) -> Vec<&str> {
    lines.iter().filter(|line| line.contains("bottleneck")).map(String::as_str).collect()
}

const AT_FIRST: &str = "likely bottleneck so far: CPU of the machine: web n=1";

#[test]
fn running_study_reports_likely_bottleneck() {
    for compare in ["{ blocks: 12 }", "{ find: best }"] {
        let study = of("1, 2, 3", compare);
        let memory = Memory::begun(&study);
        let mut maker = Maker::new(&memory, &planted);
        maker.stopped_in = Some(4);
        run_study(&study, &memory, &mut maker).expect("it ends");
        assert_eq!(bottleneck_lines(&maker.lines), [AT_FIRST], "{compare}");
    }
}

#[test]
fn bottleneck_is_reported_once_for_each_variant() {
    let study = of("1, 2, 3", "{ blocks: 12 }");
    let memory = Memory::begun(&study);
    let mut maker = Maker::new(&memory, &planted);
    run_study(&study, &memory, &mut maker).expect("it ends");
    let bottleneck_lines = bottleneck_lines(&maker.lines);
    assert_eq!(bottleneck_lines[..1], [AT_FIRST]);
    assert_eq!(bottleneck_lines[1..], ["likely bottleneck so far: CPU of the machine: web n=2, web n=3"]);
}

/// A stopped study reports its findings so far, even after a few runs.
#[test]
fn stopped_study_reports_findings_so_far() {
    let study = of("1, 2, 3", "{ blocks: 12 }");
    let memory = Memory::begun(&study);
    let mut maker = Maker::new(&memory, &planted);
    maker.stopped_in = Some(2);
    run_study(&study, &memory, &mut maker).expect("it ends");
    let made = memory.made();
    let first = made[0].2.trim_start_matches("1 user ");
    let known = (first == "n=1").then(|| AT_FIRST.to_owned());
    assert_eq!(bottleneck_lines(&maker.lines), known.as_slice(), "of the others no rule is sure");
}

#[test]
fn uncertain_bottleneck_is_not_reported() {
    let study = of("1, 2, 3", "{ blocks: 12 }");
    let memory = Memory::begun(&study);
    let mut maker = Maker::new(&memory, &faster);
    run_study(&study, &memory, &mut maker).expect("it ends");
    assert_eq!(maker.lines, [""; 0], "nothing was read");
}
