//! Steadiness of a run as text.

use evidence::{Steadiness, SteadinessVerdict};

use crate::units::{decimal, percent_of};
use crate::view::View;

/// Steadiness of a run. `None` if it was not determined.
pub(crate) fn of<'a>(view: &View<'a>) -> Option<&'a Steadiness> {
    view.run.ending.as_ref()?.steadiness.as_ref()
}

/// Steadiness in one line, for a list of facts.
pub(crate) fn words(seen: &Steadiness) -> String {
    let mut words = match seen.verdict {
        SteadinessVerdict::Steady => "from the start".to_owned(),
        SteadinessVerdict::WarmingUp => {
            format!(
                "NOT STEADY: warm-up until {} s of the measured time, steady after it",
                decimal(seen.cut_s, 1)
            )
        }
        SteadinessVerdict::NotSteady => match &seen.why {
            Some(why) => format!("NOT STEADY: {why}"),
            None => "NOT STEADY".to_owned(),
        },
        SteadinessVerdict::TooShort => "the run is too short to tell".to_owned(),
    };
    let signed = |share: f64| format!("{}{}", if share < 0.0 { "−" } else { "+" }, percent_of(share.abs()));
    let figures = [
        seen.drift_share.map(|share| format!("drift {}", signed(share))),
        seen.halves_share.map(|share| format!("second half {}", signed(share))),
        seen.step_s.map(|s| format!("a step at {} s", decimal(s, 1))),
        (seen.extended > 0).then(|| match seen.extended {
            1 => "made longer once to settle".to_owned(),
            times => format!("made longer {times} times to settle"),
        }),
    ];
    let figures: Vec<String> = figures.into_iter().flatten().collect();
    if !figures.is_empty() {
        words.push_str(&format!(" ({})", figures.join(", ")));
    }
    words
}

/// Doubt and advice. `None` if the run is steady, or if this cannot be determined.
pub(crate) fn doubt(seen: &Steadiness) -> Option<(String, String)> {
    match seen.verdict {
        SteadinessVerdict::WarmingUp => {
            let cut = decimal(seen.cut_s, 1);
            let sentence =
                format!("the first {cut} s of the measured time were still warm-up, and are in the figures");
            Some((sentence, format!("make the warm-up {cut} s longer, and measure again")))
        }
        SteadinessVerdict::NotSteady => {
            let why = seen.why.as_deref().unwrap_or("its figures change over the time");
            let sentence = format!("the run did not settle: {why}");
            let remedy =
                "run it for longer (--extend 2), or find out what grows: its figures hold for this run only";
            Some((sentence, remedy.to_owned()))
        }
        SteadinessVerdict::Steady | SteadinessVerdict::TooShort => None,
    }
}

/// Marks for charts over time: seconds since the end of the warm-up, and text.
pub(crate) fn events(seen: &Steadiness) -> Vec<(f64, String)> {
    let cut = (seen.verdict == SteadinessVerdict::WarmingUp)
        .then(|| (seen.cut_s, "steady from here on".to_owned()));
    let step = seen.step_s.map(|at_s| (at_s, "a step in response time".to_owned()));
    cut.into_iter().chain(step).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(verdict: SteadinessVerdict) -> Steadiness {
        Steadiness {
            verdict,
            why: None,
            window_ns: 250_000_000,
            windows: 80,
            cut_s: 0.0,
            drift_share: None,
            halves_share: None,
            step_s: None,
            extended: 0,
        }
    }

    #[test]
    fn describes_steadiness_with_its_figures() {
        let steady = Steadiness { drift_share: Some(-0.004), ..seen(SteadinessVerdict::Steady) };
        assert_eq!(words(&steady), "from the start (drift −0.40 %)");
        assert_eq!(doubt(&steady), None);
        let warming = Steadiness { cut_s: 21.5, ..seen(SteadinessVerdict::WarmingUp) };
        assert!(words(&warming).starts_with("NOT STEADY: warm-up until 21.5 s"));
        assert_eq!(events(&warming), [(21.5, "steady from here on".to_owned())]);
        let why = Some("it takes longer and longer".to_owned());
        let drifting = Steadiness { why, extended: 2, ..seen(SteadinessVerdict::NotSteady) };
        assert_eq!(
            words(&drifting),
            "NOT STEADY: it takes longer and longer (made longer 2 times to settle)"
        );
        assert!(doubt(&drifting).is_some());
    }
}
