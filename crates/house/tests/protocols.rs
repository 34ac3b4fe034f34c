//! Every protocol of the list is tested and fuzzed.

use house::files;

const SAMPLES_MIN: usize = 10;

#[test]
fn every_protocol_has_samples_and_a_fuzz_target_of_its_name() {
    for protocol in wire::PROTOCOLS {
        let name = protocol.name;
        let samples = (protocol.samples)().len();
        assert!(samples >= SAMPLES_MIN, "{name} has {samples} samples: give it at least {SAMPLES_MIN}");
        let path = format!("fuzz/fuzz_targets/{name}.rs");
        let target = files::read(&path);
        assert!(target.contains(&format!("\"{name}\"")), "{path} must look up the protocol {name:?}");
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
