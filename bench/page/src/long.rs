//! Creates one synthetic run of many hours.

use evidence::RunId;
use record::Phase;
use store::Store;

use crate::chance::Chance;
use crate::describe::{self, WARM_UP_S};
use crate::readings::{self, Use};
use crate::second::{self, Behavior};

const CORES: u32 = 4;
const THREADS: u64 = 2;
/// Period of the load: each day has a quiet and a busy half.
const DAY_S: f64 = 86_400.0;

/// Writes a run with two threads, on a machine with four cores, of a system that leaks memory.
pub(crate) fn make(store: &Store, duration_s: u64) -> store::Result<RunId> {
    let new = describe::new_run("GET http://127.0.0.1:8080/".to_owned(), 0, duration_s, CORES, None);
    let run = store.begin(&new)?;
    let mut chance = Chance::new(86_400);
    for second in 0..WARM_UP_S + duration_s {
        let tide = 1.0 + 0.5 * (second as f64 / DAY_S * std::f64::consts::TAU).sin();
        let behavior =
            Behavior { per_s: 200.0 * tide, median_ms: 3.0 * tide, sigma: 0.6, refused_permille: 0.2 };
        let used = Use { cores: CORES, system_cores: 1.5 * tide, rss_bytes: 2e8, leak_bytes: 4_096.0 };
        let phase = if second < WARM_UP_S { Phase::WarmUp } else { Phase::Measured };
        let intervals = second::of(&behavior, second, THREADS, phase, &mut chance);
        store.keep_second(&run, 0, &intervals)?;
        store.keep_readings(&run, second, &readings::of(&used, second, &mut chance))?;
    }
    store.finish(&run, &describe::ending(&new, duration_s))?;
    Ok(run)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn generated_results_can_be_loaded() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(&folder.path().join("s")).unwrap();
        let run = store.load(&make(&store, 5).unwrap()).unwrap();
        assert_eq!(run.seconds().count(), 12, "two threads, one second of warm-up");
        assert!(run.whole(Phase::Measured).unwrap().counts.ok > 100);
        assert!(run.readings().count() > 100);
    }
}
