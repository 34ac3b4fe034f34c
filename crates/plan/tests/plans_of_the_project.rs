//! All plans of this repository can be read, in full and quick, and each has a question.

use std::path::{Path, PathBuf};

use plan::Study;

/// Max load of a quick study, which must finish within three minutes, including starts and stops.
const QUICK_LOAD_NS: u64 = 150_000_000_000;
/// Length of `plans/replay-two-versions/traffic.log`.
const LOG_NS: u64 = 2_000_000_000;

/// Folders with plans.
const FOLDERS: [&str; 2] = ["../../plans", "../../docs/gallery"];

fn plans() -> Vec<PathBuf> {
    let folders = FOLDERS.map(|folder| Path::new(env!("CARGO_MANIFEST_DIR")).join(folder));
    let entries = folders.iter().flat_map(|folder| std::fs::read_dir(folder).expect("a folder of plans"));
    let paths = entries.map(|entry| entry.expect("an entry").path());
    paths.filter(|path| path.extension().is_some_and(|extension| extension == "yaml")).collect()
}

/// Reads a plan, with a value for each secret that it needs.
fn read(path: &Path, is_quick: bool) -> Study {
    let environment = |name: &str| Ok(format!("the value of {name}"));
    let bytes = std::fs::read(path).expect("it can be read");
    let folder = path.parent().and_then(|folder| folder.canonicalize().ok()).expect("a folder");
    let shown = path.display().to_string();
    Study::from_bytes_in(&environment, &bytes, &shown, "plan".to_owned(), folder, is_quick)
        .unwrap_or_else(|errors| panic!("{errors}"))
}

#[test]
fn reads_every_plan_in_full_and_quick() {
    let plans = plans();
    assert!(!plans.is_empty());
    for path in &plans {
        for is_quick in [false, true] {
            let study = read(path, is_quick);
            assert!(study.question.is_some(), "{} asks nothing", path.display());
            assert!(!study.variants.is_empty());
        }
    }
}

#[test]
fn quick_study_fits_into_time_limit() {
    for path in plans() {
        let study = read(&path, true);
        // A load that ends with its log has no length before the log is read.
        let log_ns = path.ends_with("replay-two-versions.yaml").then_some(LOG_NS);
        let load_ns: Option<u64> = (0..study.loads.len()).map(|load| study.run_ns(load).or(log_ns)).sum();
        let runs = study.variants.len() as u64 * u64::from(study.compare.blocks);
        let load_ns = load_ns.expect("an end") * runs;
        assert!(load_ns <= QUICK_LOAD_NS, "{}: {} s of load", path.display(), load_ns / 1_000_000_000);
    }
}
