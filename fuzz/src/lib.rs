//! The fuzzer's corpus and the kind of input that a program of this folder is about.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{self, Command};
use std::sync::OnceLock;

use hostile::Target;
use wire::PROTOCOLS;

/// Environment variable that names a protocol.
const PROTOCOL: &str = "FUZZ_PROTOCOL";

static TARGET: OnceLock<Target> = OnceLock::new();

/// Chooses a kind of input by its name, and puts its seeds into its corpus, where the search begins.
pub fn begin(name: &str) {
    let target = hostile::targets().into_iter().find(|target| target.name == name);
    let target = target.unwrap_or_else(|| panic!("{name} is none of the kinds of input"));
    let folder = corpus(name);
    for (number, bytes) in target.seeds.iter().enumerate() {
        fs::write(folder.join(format!("seed-{number}")), bytes).expect("the corpus can be written");
    }
    assert!(TARGET.set(target).is_ok(), "one program fuzzes one kind of input");
}

/// Like [`begin`] for the protocol that `FUZZ_PROTOCOL` names. Without a name, fuzzes each protocol in a process of its own, one
/// after the other, and does not return.
pub fn begin_protocol() {
    let Ok(name) = env::var(PROTOCOL) else {
        PROTOCOLS.iter().for_each(|protocol| fuzz_alone(protocol.name));
        process::exit(0);
    };
    begin(&name);
}

/// Handles one input of the kind that was chosen.
pub fn feed(bytes: &[u8]) {
    (TARGET.get().expect("a kind of input was chosen").feed)(bytes);
}

/// Runs this program again for one protocol, with its arguments, but with the protocol's own corpus.
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
