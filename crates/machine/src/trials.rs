//! All trials in order, and the brief trials whose figures are stored with studies.

use crate::figure::Findings;
use crate::site::Site;
use crate::stat::Ticks;
use crate::stopwatch::Stopwatch;
use crate::{disk, loopback, shift, switch, timer, words};

type Trial = fn(&Site<'_>, &mut Findings);

/// All trials, in the order of [`crate::FIGURES`].
const TRIALS: &[Trial] =
    &[shift::measure, words::measure, disk::measure, timer::measure, switch::measure, loopback::measure];

/// Brief trials. Excludes disk trials, which depend on a folder and cause wear.
const BRIEF: &[Trial] =
    &[shift::measure_brief, timer::measure_brief, switch::measure_same_core, loopback::measure];

/// Callback that measures the null-server ceiling once, in requests per second, or returns the reason why that is not possible. The
/// caller supplies it, because it needs an engine, which this crate does not depend on.
pub type NullServer<'a> = &'a dyn Fn() -> Result<f64, String>;

/// Runs all trials.
pub fn measure(site: &Site<'_>, null_server: Option<NullServer<'_>>) -> Findings {
    run_trials(TRIALS, site, null_server)
}

/// Runs the few trials that distinguish machines, within 2 s with [`crate::Effort::BRIEF`]. Writes no file.
pub fn brief(site: &Site<'_>) -> Findings {
    run_trials(BRIEF, site, None)
}

fn run_trials(trials: &[Trial], site: &Site<'_>, null_server: Option<NullServer<'_>>) -> Findings {
    let (mut findings, watch, before) = (Findings::default(), Stopwatch::start(), Ticks::now());
    for trial in trials {
        if !(site.is_stopped)() {
            trial(site, &mut findings);
        }
    }
    if let Some(once) = null_server {
        findings.note("null_server", site.repeat(once));
    }
    let stolen = before.and_then(|before| Ticks::now()?.stolen_percent_since(before));
    findings.note(
        "steal",
        stolen.map(|percent| vec![percent]).ok_or_else(|| "/proc/stat does not say".to_owned()),
    );
    findings.took_s = watch.elapsed_s();
    findings.is_partial = (site.is_stopped)();
    findings
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::effort::Effort;
    use crate::figure::{FIGURES, definition};

    const SHORT: Effort =
        Effort { repetitions: 5, slice: Duration::from_millis(2), file_bytes_max: 16 << 20 };

    #[test]
    fn every_figure_is_measured_or_missing_in_list_order() {
        let dir = tempfile::tempdir().unwrap();
        let null_server = || Ok(1_000.0);
        let site = Site { dir: dir.path(), effort: SHORT, is_stopped: &|| false };
        let findings = measure(&site, Some(&null_server));
        for figure in FIGURES {
            let is_of = |key: &str| definition(key).is_some_and(|found| found.key == figure.key);
            let measured = findings.figures.iter().filter(|found| is_of(&found.key)).count();
            let missing = findings.missing.iter().filter(|missing| is_of(&missing.key)).count();
            assert!(measured + missing > 0, "{} is not measured", figure.key);
        }
        for figure in &findings.figures {
            assert!(figure.definition().is_some(), "{} is not in the list", figure.key);
            assert!(figure.samples.iter().all(|sample| *sample >= 0.0), "{figure:?}");
        }
        assert!(!findings.is_partial && findings.took_s > 0.0);
    }

    #[test]
    fn stopped_trials_are_partial_without_invented_figures() {
        let dir = tempfile::tempdir().unwrap();
        let site = Site { dir: dir.path(), effort: SHORT, is_stopped: &|| true };
        let findings = measure(&site, None);
        assert!(findings.is_partial);
        assert!(findings.figures.iter().all(|figure| figure.key == "steal"), "{:?}", findings.figures);
    }

    #[test]
    fn brief_trials_write_no_file() {
        let site = Site { dir: std::path::Path::new("/nonexistent"), effort: SHORT, is_stopped: &|| false };
        let findings = brief(&site);
        for key in ["timer_late_p50", "switch_same_core", "loopback_bytes", "loopback_round_trips"] {
            assert!(findings.figure(key).is_some(), "{key}: {:?}", findings.missing);
        }
        assert!(findings.figures.iter().any(|figure| figure.key.starts_with("shift.memmove.forward")));
    }
}
