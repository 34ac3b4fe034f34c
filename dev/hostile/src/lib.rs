//! Untrusted input for tests and the fuzzer: seed inputs, and the invariants that must hold for any input.
//!
//! [`targets`] lists the kinds of input. The tests of this crate feed a fixed number of mutated seeds to each. The programs in
//! `fuzz/` feed inputs guided by coverage until they are stopped.

#[path = "../../../crates/wire/tests/greetings/mod.rs"]
mod greetings;
mod logs;
mod mutate;
#[path = "../../../crates/wire/tests/pieces/mod.rs"]
mod pieces;
mod sessions;

use std::fs;
use std::net::Ipv4Addr;
use std::path::{Path, PathBuf};

pub use mutate::Mutator;
use plan::{Action, Environment, Study};
use record::{ErrorClass, Histogram, Interval, IntervalDecodeError, Loss, Moment, Percentile, Phase, Tally};
use wire::{Greeting, Open, PROTOCOLS, Protocol};

/// Maximum length of an input, in bytes. Longer inputs exceed parser limits at a point that depends on how the bytes are split.
/// Separate tests cover these limits.
pub const BYTES_MAX: usize = 32 * 1024;

/// Function that processes one input of any length. Panics if an invariant is violated.
pub type Feed = Box<dyn Fn(&[u8]) + Send + Sync>;

/// One kind of input.
pub struct Target {
    /// Unique name.
    pub name: &'static str,
    /// Seed inputs, valid and invalid.
    pub seeds: Vec<Vec<u8>>,
    /// Processes one input.
    pub feed: Feed,
}

impl Target {
    fn new(name: &'static str, seeds: Vec<Vec<u8>>, feed: impl Fn(&[u8]) + Send + Sync + 'static) -> Self {
        Self { name, seeds, feed: Box::new(feed) }
    }
}

/// Returns all kinds of input: plans, stored intervals, HTTP replies to a session, logs to replay, and server messages of each
/// protocol.
pub fn targets() -> Vec<Target> {
    let mut targets = vec![
        Target::new("plan", plans(), read_plan),
        Target::new("interval_decode", intervals(), decode_interval),
        Target::new("sessions", sessions::replies(), sessions::feed),
        Target::new("logs", logs::samples(), logs::feed),
    ];
    targets.extend(PROTOCOLS.iter().map(|protocol| {
        let seeds = (protocol.samples)().into_iter().map(|sample| sample.bytes);
        let seeds = seeds.filter(|bytes| bytes.len() <= BYTES_MAX).collect();
        Target::new(protocol.name, seeds, |bytes| {
            feed_protocol(protocol, bytes);
            greet_protocol(protocol, bytes);
        })
    }));
    targets
}

/// Returns valid and broken plans.
fn plans() -> Vec<Vec<u8>> {
    let mut paths: Vec<PathBuf> = ["good", "broken"]
        .iter()
        .flat_map(|folder| fs::read_dir(plan_tests().join(folder)).expect("the plans are there").flatten())
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|ending| ending == "yaml"))
        .collect();
    paths.sort();
    paths.iter().map(|path| fs::read(path).expect("a plan can be read")).collect()
}

fn plan_tests() -> PathBuf {
    [env!("CARGO_MANIFEST_DIR"), "..", "..", "crates", "plan", "tests"].iter().collect()
}

/// Returns encoded intervals, small and large, and encoded windows of 100 ms.
fn intervals() -> Vec<Vec<u8>> {
    let forms = [0u32, 1, 4, 40].map(|values| {
        let mut tally = Tally::default();
        (0..values).for_each(|value| {
            tally.statuses.add(200 + value as u16, 1);
            tally.errors.note(ErrorClass::Status, 200 + value, || value.to_string());
        });
        (0..values).for_each(|value| {
            tally.response.ok.record_many(1 << value, u64::from(value) + 1);
            tally.first_byte.record(u64::from(value));
        });
        Interval { second: u64::from(values), phase: Phase::Measured, tally, sampled: Vec::new() }.encode()
    });
    let moments = [0u64, 1, 40].map(|answers| {
        let mut window = Moment { planned: answers, sent: answers, ..Moment::numbered(answers) };
        (0..answers).for_each(|answer| window.note_ok(1 << answer, answer * 1_000_000));
        window.note_lost(Loss::Reset, 0);
        Moment::encode_all(&[window])
    });
    forms.into_iter().chain(moments).collect()
}

/// Feeds bytes to a protocol. It must terminate, with the same result for any split of the bytes.
fn feed_protocol(protocol: &Protocol, bytes: &[u8]) {
    if bytes.len() > BYTES_MAX {
        return;
    }
    let whole = pieces::feed(protocol, [bytes].into_iter());
    let mut chance = bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash: u64, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    });
    let mut rest = bytes;
    let drawn = std::iter::from_fn(|| {
        chance = chance.rotate_left(17).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let (piece, later) = rest.split_at((chance as usize % 97 + 1).min(rest.len()));
        rest = later;
        (!piece.is_empty()).then_some(piece)
    });
    for story in [pieces::feed(protocol, bytes.chunks(1)), pieces::feed(protocol, drawn)] {
        pieces::compare(&whole, &story).unwrap_or_else(|what| panic!("{what}"));
    }
}

/// Feeds bytes to a protocol as the server's greeting. It must terminate, with the same result for any split of the bytes.
fn greet_protocol(protocol: &Protocol, bytes: &[u8]) {
    // Channels have no greeting to feed.
    let Open::Conversation(open) = protocol.open else { return };
    if bytes.len() > BYTES_MAX || open().greet() == Greeting::Done {
        return;
    }
    let whole = greetings::greet(&mut *open(), [bytes].into_iter());
    let single = greetings::greet(&mut *open(), bytes.chunks(1));
    assert_eq!(whole, single, "the greeting depends on how it is cut");
}

/// Parses bytes as a plan file. The result must be a study that can be explained and launched, or a list of printable errors.
fn read_plan(bytes: &[u8]) {
    let folder = plan_tests().join("good").canonicalize().expect("the plans are there");
    for is_quick in [false, true] {
        match Study::from_bytes(bytes, "plan.yaml", "plan".to_owned(), folder.clone(), is_quick) {
            Err(faults) => assert!(faults.count() > 0 && !faults.to_string().contains('\u{1b}')),
            Ok(study) => {
                assert!(!study.explain().is_empty());
                let ports: Vec<(String, u16)> = study.ports(0).into_iter().zip(7000..).collect();
                let (dir, tenbin) = (Path::new("/run/1"), Path::new("/bin/tenbin"));
                let host = Ipv4Addr::LOCALHOST;
                let launch = study.launch(0, &Environment { ports: &ports, dir, tenbin, host });
                for load in 0..study.loads.len() {
                    if let Ok(plan) = study.plan(load, &launch) {
                        let compiled = plan.steps.iter().all(|step| match &step.action {
                            Action::Owned(action) => {
                                let compiled = action.compile(&plan.variables, &plan.secrets);
                                compiled.is_none_or(|channels| channels.is_ok())
                            }
                            Action::Tool(_) => true,
                        });
                        assert!(compiled, "what is accepted can be sent");
                    }
                }
            }
        }
    }
}

/// Decodes bytes as an interval, as histograms (the last section of an interval), and as windows of 100 ms. Accepted values must be
/// consistent, and survive a round trip through the encoder.
fn decode_interval(bytes: &[u8]) {
    if let Ok(windows) = Moment::decode_all(bytes) {
        let again = Moment::decode_all(&Moment::encode_all(&windows));
        assert_eq!(again, Ok(windows), "what was accepted can be kept again");
    }
    match Interval::decode(bytes) {
        Ok(interval) => {
            let again = Interval::decode(&interval.encode());
            assert_eq!(again, Ok(interval), "what was accepted can travel on");
        }
        Err(IntervalDecodeError::Version(_) | IntervalDecodeError::Malformed) => decode_histograms(bytes),
    }
}

fn decode_histograms(bytes: &[u8]) {
    let mut tally = Tally::default();
    let (checked, decoded) = (Tally::check_histograms(bytes), tally.decode_histograms(bytes));
    assert_eq!(checked.is_ok(), decoded.is_ok(), "what is checked can be added");
    if decoded.is_err() {
        return;
    }
    let Tally { response, service, lateness, first_byte, connect, tls, .. } = &tally;
    let splits = [response, service, lateness].into_iter();
    splits
        .flat_map(|split| [&split.ok, &split.rejected, &split.other])
        .chain([first_byte, connect, tls])
        .for_each(|histogram: &Histogram| {
            let sum = histogram.counters().try_fold(0u64, |sum, (_, count)| sum.checked_add(count));
            assert_eq!(sum, Some(histogram.count()), "the counters add up to the count");
            assert_eq!(histogram.value_at(Percentile::P99_99).is_some(), !histogram.is_empty());
        });
    let mut again = Tally::default();
    assert!(again.decode_histograms(&tally.encode_histograms()).is_ok(), "what was accepted can be kept");
    assert_eq!(again, tally);
}
