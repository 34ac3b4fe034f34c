//! What the fuzz targets share: seeds for their corpus, and the questions they ask.

#[path = "../../crates/wire/tests/greetings/mod.rs"]
mod greetings;
#[path = "../../crates/wire/tests/pieces/mod.rs"]
mod pieces;
mod sessions;

use std::net::Ipv4Addr;
use std::path::{Path, PathBuf};
use std::process::{self, Command};
use std::sync::OnceLock;
use std::{env, fs};

use plan::{Environment, Study};
use record::{ErrorClass, Histogram, Interval, Loss, Moment, NotAnInterval, Percentile, Phase, Tally};
pub use sessions::{feed_session, sow_sessions};
use wire::http1::Template;
use wire::{Greeting, PROTOCOLS, Protocol};

/// Longer inputs run into limits whose moment depends on how the bytes are cut; tests of their own look at those.
const BYTES_MAX: usize = 32 * 1024;

/// The variable of the environment that names a protocol.
const NAME: &str = "FUZZ_PROTOCOL";

/// The protocol that is fuzzed.
static PROTOCOL: OnceLock<&Protocol> = OnceLock::new();

/// Chooses the protocol that `FUZZ_PROTOCOL` names, and puts its samples into its corpus, where the search begins. Without a name
/// each protocol of the list is fuzzed in a process of its own, one after the other, and this function does not return.
pub fn choose_protocol() {
    let Ok(name) = env::var(NAME) else {
        PROTOCOLS.iter().for_each(fuzz_alone);
        process::exit(0);
    };
    let named = PROTOCOLS.iter().find(|protocol| protocol.name == name);
    let protocol = PROTOCOL.get_or_init(|| named.expect("FUZZ_PROTOCOL is the name of a protocol"));
    let samples = (protocol.samples)();
    let seeds = samples.iter().map(|sample| sample.bytes.as_slice());
    sow(&name, seeds.filter(|bytes| bytes.len() <= BYTES_MAX));
}

/// Runs this program again for one protocol: with the same arguments, but with a corpus of its own.
fn fuzz_alone(protocol: &Protocol) {
    eprintln!("Fuzzing the protocol {}", protocol.name);
    let corpus = corpus(protocol.name);
    let arguments = env::args_os().skip(1).map(|argument| match Path::new(&argument).is_dir() {
        true => corpus.clone().into_os_string(),
        false => argument,
    });
    let mut again = Command::new(env::current_exe().expect("this program has a path"));
    let status = again.args(arguments).env(NAME, protocol.name).status().expect("this program starts");
    if !status.success() {
        eprintln!("error: the protocol {} failed", protocol.name);
        process::exit(status.code().unwrap_or(1));
    }
}

/// Puts good and broken plans into the corpus.
pub fn sow_plans(name: &str) {
    let folders = [plans().join("good"), plans().join("broken")];
    let entries =
        folders.iter().flat_map(|folder| fs::read_dir(folder).expect("the plans are there").flatten());
    let paths = entries
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|ending| ending == "yaml"));
    let plans: Vec<Vec<u8>> = paths.map(|path| fs::read(path).expect("a plan can be read")).collect();
    sow(name, plans.iter().map(Vec::as_slice));
}

fn plans() -> PathBuf {
    [env!("CARGO_MANIFEST_DIR"), "..", "crates", "plan", "tests"].iter().collect()
}

/// Puts intervals, small and large, into the corpus.
pub fn sow_intervals(name: &str) {
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
    sow(name, forms.iter().chain(&moments).map(Vec::as_slice));
}

fn sow<'a>(name: &str, seeds: impl Iterator<Item = &'a [u8]>) {
    let folder = corpus(name);
    for (number, bytes) in seeds.enumerate() {
        fs::write(folder.join(format!("seed-{number}")), bytes).expect("the corpus can be written");
    }
}

fn corpus(name: &str) -> PathBuf {
    let folder: PathBuf = [env!("CARGO_MANIFEST_DIR"), "corpus", name].iter().collect();
    fs::create_dir_all(&folder).expect("the corpus can be made");
    folder
}

fn protocol() -> &'static Protocol {
    PROTOCOL.get().expect("a protocol was chosen")
}

/// Feeds the protocol any bytes: it must come to an end, and to the same one in pieces.
pub fn feed_protocol(bytes: &[u8]) {
    if bytes.len() > BYTES_MAX {
        return;
    }
    let protocol = protocol();
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

/// Feeds the protocol any bytes as its greeting: it must come to an end, and to the same one in pieces.
pub fn greet_protocol(bytes: &[u8]) {
    let open = protocol().open;
    if bytes.len() > BYTES_MAX || open().greet() == Greeting::Done {
        return;
    }
    let whole = greetings::greet(&mut *open(), [bytes].into_iter());
    let single = greetings::greet(&mut *open(), bytes.chunks(1));
    assert_eq!(whole, single, "the greeting depends on how it is cut");
}

/// Reads any bytes as a plan file: they are a study that can be explained and launched, or they have faults that can be drawn.
pub fn read_plan(bytes: &[u8]) {
    let folder = plans().join("good").canonicalize().expect("the plans are there");
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
                        let mut actions = plan.steps.iter().filter_map(|step| step.request());
                        let compiled = actions.all(|action| {
                            Template::compile(&action.request, &plan.variables, &plan.secrets).is_ok()
                        });
                        assert!(compiled, "what is accepted can be sent");
                    }
                }
            }
        }
    }
}

/// Reads any bytes as an interval, as the histograms that are its last section, and as windows of 100 ms: what is accepted must be
/// sound, and come back the same when it is kept again.
pub fn decode_interval(bytes: &[u8]) {
    if let Ok(windows) = Moment::decode_all(bytes) {
        let again = Moment::decode_all(&Moment::encode_all(&windows));
        assert_eq!(again, Ok(windows), "what was accepted can be kept again");
    }
    match Interval::decode(bytes) {
        Ok(interval) => {
            let again = Interval::decode(&interval.encode());
            assert_eq!(again, Ok(interval), "what was accepted can travel on");
        }
        Err(NotAnInterval::Version(_) | NotAnInterval::Malformed) => decode_histograms(bytes),
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
