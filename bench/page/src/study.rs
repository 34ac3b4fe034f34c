//! Creates a synthetic study of many runs: three systems, several variants of each, and as many blocks as needed.

use evidence::{Compare, NewStudy, StudyEnding, StudyId, StudyPlace, Verdict};
use record::Phase;
use store::Store;

use crate::chance::Chance;
use crate::describe::{self, STAMP, STARTED_AT_UNIX_MS, VERSION, WARM_UP_S};
use crate::readings::{self, Use};
use crate::second::{self, Behavior};

/// Size of a study.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Size {
    /// Minimum number of runs.
    pub(crate) runs: u32,
    /// Duration of each run, in seconds, without warm-up.
    pub(crate) seconds: u64,
    /// Number of cores of the machine.
    pub(crate) cores: u32,
}

const LOAD: &str = "100 users";
const THREADS: u64 = 2;
const WORKERS: [u32; 4] = [1, 2, 4, 8];
const SYSTEMS: [(&str, &[u32]); 3] = [("heron", &[1, 16]), ("ibis", &[1, 16]), ("stork", &[1])];

/// Configuration of a system, with its behavior.
struct Variant {
    system: &'static str,
    knobs: Vec<(String, String)>,
    behavior: Behavior,
    system_cores: f64,
}

/// Writes a study in which each variant runs once per block.
pub(crate) fn make(store: &Store, size: &Size) -> store::Result<StudyId> {
    let variants = variants(size);
    let blocks = size.runs.div_ceil(variants.len() as u32);
    let places = (0..blocks).flat_map(|block| variants.iter().map(move |variant| (block, variant)));
    let places: Vec<(StudyPlace, &Variant)> = (0..)
        .zip(places)
        .map(|(position, (block, variant))| (place(block, position, variant), variant))
        .collect();
    let planned = places.iter().map(|(place, _)| place.clone()).collect();
    let study = store.begin_study(&new_study(planned, blocks, size.cores))?;
    for (place, variant) in &places {
        make_run(store, &study, place, variant, size)?;
    }
    let ended_after_s = places.len() as i64 * run_interval_s(size) as i64;
    let ended_at_unix_ms = STARTED_AT_UNIX_MS + ended_after_s * 1_000;
    store.finish_study(&study, &StudyEnding { ended_at_unix_ms, verdict: Verdict::Complete, why: None })?;
    Ok(study)
}

/// Returns the time from the start of a run to the start of the next, in seconds: warm-up, run, and a pause.
fn run_interval_s(size: &Size) -> u64 {
    WARM_UP_S + size.seconds + 5
}

fn variants(size: &Size) -> Vec<Variant> {
    let of_system = |(place, (system, threads)): (usize, &(&'static str, &[u32]))| {
        let settings =
            WORKERS.iter().flat_map(|workers| threads.iter().map(move |threads| (*workers, *threads)));
        let variant = |(workers, threads): (u32, u32)| {
            let useful = f64::from((workers * threads).min(size.cores * 2)) / f64::from(size.cores * 2);
            let share = (0.25 + 0.75 * useful) * (1.0 - 0.1 * place as f64);
            Variant {
                system,
                knobs: vec![
                    ("workers".to_owned(), workers.to_string()),
                    ("threads".to_owned(), threads.to_string()),
                ],
                behavior: Behavior {
                    per_s: 250.0 * share,
                    median_ms: 4.0 / share,
                    sigma: 0.5 + 0.01 * f64::from(threads),
                    refused_permille: if threads == 16 { 1.5 } else { 0.0 },
                },
                system_cores: f64::from(size.cores) * 0.8 * share,
            }
        };
        settings.map(variant).collect::<Vec<_>>()
    };
    SYSTEMS.iter().enumerate().flat_map(of_system).collect()
}

fn place(block: u32, position: u32, variant: &Variant) -> StudyPlace {
    let words: Vec<String> = variant.knobs.iter().map(|(knob, value)| format!("{knob}={value}")).collect();
    StudyPlace { block, position, load: LOAD.to_owned(), ..fixtures::place(variant.system, &words.join(" ")) }
}

fn new_study(planned: Vec<StudyPlace>, blocks: u32, cores: u32) -> NewStudy {
    NewStudy {
        started_at_unix_ms: STARTED_AT_UNIX_MS,
        title: "made-up".to_owned(),
        question: Some("Which of three made-up servers answers most, and with which setting?".to_owned()),
        source: "# Nothing was measured.\n".to_owned(),
        plan_hash: "0000000000000000".to_owned(),
        tenbin_version: VERSION.to_owned(),
        host: describe::host(cores),
        seed: 1,
        compare: Compare { blocks, ..fixtures::compare() },
        stamps: vec![STAMP.to_owned()],
        ..fixtures::new_study(planned)
    }
}

fn make_run(
    store: &Store,
    study: &StudyId,
    place: &StudyPlace,
    variant: &Variant,
    size: &Size,
) -> store::Result<()> {
    let title = format!("made-up: {} {}", place.system, place.variant);
    let after_s = u64::from(place.position) * run_interval_s(size);
    let new =
        describe::new_run(title, after_s, size.seconds, size.cores, Some((study.clone(), place.clone())));
    let run = store.begin(&new)?;
    let mut chance = Chance::new(u64::from(place.position));
    let luck = 1.0 + 0.01 * chance.normal();
    let behavior = Behavior { per_s: variant.behavior.per_s * luck, ..variant.behavior };
    let used =
        Use { cores: size.cores, system_cores: variant.system_cores, rss_bytes: 1.2e8, leak_bytes: 2_048.0 };
    for second in 0..WARM_UP_S + size.seconds {
        let phase = if second < WARM_UP_S { Phase::WarmUp } else { Phase::Measured };
        store.keep_second(&run, 0, &second::of(&behavior, second, THREADS, phase, &mut chance))?;
        store.keep_readings(&run, second, &readings::of(&used, second, &mut chance))?;
    }
    store.finish(&run, &describe::ending(&new, size.seconds))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_variant_is_measured_in_every_block() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(&folder.path().join("s")).unwrap();
        let id = make(&store, &Size { runs: 21, seconds: 2, cores: 2 }).unwrap();
        let study = store.load_study(&id).unwrap();
        assert_eq!(study.runs.len(), 40, "20 variants in two blocks");
        assert_eq!(study.missing().count(), 0);
        assert!(study.runs.iter().all(|run| run.whole(Phase::Measured).unwrap().counts.ok > 0));
    }
}
