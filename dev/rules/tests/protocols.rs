//! Every protocol of the list is tested and fuzzed.

use rules::files;

const SAMPLES_MIN: usize = 10;

#[test]
fn every_protocol_has_samples() {
    for protocol in wire::PROTOCOLS {
        let (name, samples) = (protocol.name, (protocol.samples)().len());
        assert!(samples >= SAMPLES_MIN, "{name} has {samples} samples: give it at least {SAMPLES_MIN}");
    }
}

#[test]
fn one_kind_of_hostile_input_is_each_protocol_of_the_list() {
    let shared = files::read("dev/hostile/src/lib.rs");
    assert!(shared.contains("PROTOCOLS.iter()"));
    assert!(files::read("fuzz/fuzz_targets/protocol.rs").contains("fuzz::begin_protocol()"));
    for protocol in wire::PROTOCOLS {
        let name = format!("\"{}\"", protocol.name);
        assert!(!shared.contains(&name), "{name} is in the list already");
    }
}

#[test]
fn every_fuzz_target_is_run() {
    let (manifest, makefile) = (files::read("fuzz/Cargo.toml"), files::read("Makefile"));
    let targets = files::rust().into_iter().filter_map(|file| {
        file.path.strip_prefix("fuzz/fuzz_targets/").map(|name| name.trim_end_matches(".rs").to_owned())
    });
    for name in targets {
        assert!(
            manifest.contains(&format!("name = \"{name}\"")),
            "fuzz/Cargo.toml must list the target {name}"
        );
        let list = makefile.lines().find(|line| line.starts_with("FUZZ_TARGETS")).unwrap_or_default();
        assert!(
            list.split_whitespace().any(|word| word == name),
            "FUZZ_TARGETS in the Makefile must name {name}"
        );
    }
}
