//! Sets up the corpus of a fuzz target, and passes inputs to the code under test.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{self, Command};
use std::sync::OnceLock;

use hostile::Target;
use wire::PROTOCOLS;

/// Environment variable with the name of the protocol to fuzz.
const PROTOCOL: &str = "FUZZ_PROTOCOL";

static TARGET: OnceLock<Target> = OnceLock::new();

/// Selects a kind of input by name, and writes its seeds to its corpus. Call it once, before [`feed`].
pub fn begin(name: &str) {
    let target = hostile::targets().into_iter().find(|target| target.name == name);
    let target = target.unwrap_or_else(|| panic!("{name} is none of the kinds of input"));
    let folder = corpus(name);
    for (number, bytes) in target.seeds.iter().enumerate() {
        fs::write(folder.join(format!("seed-{number}")), bytes).expect("the corpus can be written");
    }
    assert!(TARGET.set(target).is_ok(), "one program fuzzes one kind of input");
}

/// Like [`begin`], for the protocol in `FUZZ_PROTOCOL`. If the variable is not set, fuzzes each protocol in its own process, one
/// after the other, and does not return.
pub fn begin_protocol() {
    let Ok(name) = env::var(PROTOCOL) else {
        PROTOCOLS.iter().for_each(|protocol| fuzz_alone(protocol.name));
        process::exit(0);
    };
    begin(&name);
}

/// Runs the code under test on one input of the selected kind.
pub fn feed(bytes: &[u8]) {
    (TARGET.get().expect("a kind of input was chosen").feed)(bytes);
}

/// Runs this program again for one protocol. Passes the arguments on, but replaces the corpus folder with that of the protocol.
fn fuzz_alone(protocol: &str) {
    eprintln!("Fuzzing the protocol {protocol}");
    let corpus = corpus(protocol);
    let arguments = env::args_os().skip(1).map(|argument| match Path::new(&argument).is_dir() {
        true => corpus.clone().into_os_string(),
        false => argument,
    });
    let mut again = Command::new(env::current_exe().expect("this program has a path"));
    let status = again.args(arguments).env(PROTOCOL, protocol).status().expect("this program starts");
    if !status.success() {
        eprintln!("error: the protocol {protocol} failed");
        process::exit(status.code().unwrap_or(1));
    }
}

fn corpus(name: &str) -> PathBuf {
    let folder: PathBuf = [env!("CARGO_MANIFEST_DIR"), "corpus", name].iter().collect();
    fs::create_dir_all(&folder).expect("the corpus can be made");
    folder
}
