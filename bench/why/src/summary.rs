//! Summary of all grades: counts, and planted resources against named ones.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use anyhow::Context as _;
use harness::aligned::aligned;
use serde::Serialize;

use crate::cases;
use crate::flags::{Flags, Profile};
use crate::grade::{Grade, Verdict};

/// Min share of right runs for the full profile to pass. With a neighbor, min share of runs that are not wrong.
const RIGHT_MIN: f64 = 0.9;

/// Run counts by grade.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Summary {
    /// All runs.
    pub(crate) runs: usize,
    /// Runs that named the planted resource first.
    pub(crate) top_1: usize,
    /// Runs that named the planted resource among the first three.
    pub(crate) top_3: usize,
    /// Runs that named no resource.
    pub(crate) undetermined: usize,
    /// Runs that named another resource first.
    pub(crate) wrong: usize,
    /// Runs that wrongly blamed the load or the generator, or reported a limit where there is none.
    pub(crate) denied: usize,
    /// Runs that called another bottleneck confirmed.
    pub(crate) falsely_confirmed: usize,
    /// Runs whose readings contradict the named bottleneck.
    pub(crate) refuted: usize,
    /// Whether the suite passed.
    pub(crate) is_passed: bool,
}

impl Summary {
    pub(crate) fn of(grades: &[Grade], flags: &Flags) -> Self {
        let count = |is: &dyn Fn(&Grade) -> bool| grades.iter().filter(|grade| is(grade)).count();
        let among = |grade: &Grade| cases::named(grade.case).is_some_and(|case| grade.is_among_three(case));
        let top_1 = count(&|grade| grade.verdict == Verdict::Right);
        let wrong = count(&|grade| matches!(grade.verdict, Verdict::Wrong | Verdict::Listed));
        let falsely_confirmed = count(&|grade| grade.is_falsely_confirmed);
        let refuted = count(&|grade| !grade.said.refuted.is_empty());
        let runs = grades.len();
        let good = if flags.noisy { runs - wrong } else { top_1 };
        let is_enough = match flags.profile {
            Profile::Short => good == runs,
            Profile::Full => good as f64 >= RIGHT_MIN * runs as f64,
        };
        Self {
            runs,
            top_1,
            top_3: count(&among),
            undetermined: count(&|grade| grade.verdict == Verdict::Undetermined),
            wrong,
            denied: count(&|grade| grade.is_denied),
            falsely_confirmed,
            refuted,
            is_passed: runs > 0 && is_enough && falsely_confirmed == 0 && refuted == 0,
        }
    }

    /// Formats the summary for the terminal: a table of all runs, refutations, planted against named resources, and counts.
    pub(crate) fn text(&self, grades: &[Grade]) -> String {
        let head = ["case", "planted", "said", "top 1", "top 3", "s"].map(str::to_owned).to_vec();
        let yes_no = |is: bool| if is { "yes" } else { "no" }.to_owned();
        let row = |grade: &Grade| {
            let case = cases::named(grade.case);
            vec![
                grade.case.to_owned(),
                grade.planted.to_owned(),
                grade.said.resource.clone(),
                yes_no(grade.verdict == Verdict::Right),
                yes_no(case.is_some_and(|case| grade.is_among_three(case))),
                format!("{:.1}", grade.seconds),
            ]
        };
        let lines: Vec<_> = std::iter::once(head).chain(grades.iter().map(row)).collect();
        let mut text = format!("\n{}\n", aligned(&lines));
        for grade in grades.iter().filter(|grade| !grade.said.refuted.is_empty()) {
            let readings = grade.said.refuted.join("; ");
            text.push_str(&format!("  REFUTED {}: {}, but {readings}\n", grade.case, grade.said.resource));
        }
        text.push_str("\n  planted: said\n");
        for (planted, said) in confusions(grades) {
            let said: Vec<String> = said.iter().map(|(code, runs)| format!("{runs} {code}")).collect();
            text.push_str(&format!("  {planted}: {}\n", said.join(", ")));
        }
        text + &self.counts()
    }

    fn counts(&self) -> String {
        let Self { runs, top_1, top_3, undetermined, wrong, denied, falsely_confirmed, refuted, is_passed } =
            self;
        format!(
            "\n  {runs} runs: top 1 {top_1}, top 3 {top_3}, undetermined {undetermined}, wrong {wrong} ({denied} of \
             them deny it), falsely confirmed {falsely_confirmed}, refuted by readings {refuted}: {}",
            if *is_passed { "pass" } else { "FAIL" }
        )
    }

    /// Writes the summary and all grades as JSON.
    pub(crate) fn write(&self, path: &Path, flags: &Flags, grades: &[Grade]) -> anyhow::Result<()> {
        let kept = StoredSummary {
            schema: "bench-why/1",
            profile: flags.profile.name(),
            mode: if flags.noisy { "noisy" } else { "quiet" },
            summary: self,
            confusions: confusions(grades),
            grades,
        };
        let text = serde_json::to_string_pretty(&kept).context("cannot write JSON")?;
        fs::write(path, text + "\n")
            .with_context(|| format!("cannot write {}; name another with --json", path.display()))
    }
}

#[derive(Serialize)]
struct StoredSummary<'a> {
    schema: &'static str,
    profile: &'static str,
    mode: &'static str,
    summary: &'a Summary,
    confusions: Confusions<'a>,
    grades: &'a [Grade],
}

/// Run counts by planted resource, then by named resource.
type Confusions<'a> = BTreeMap<&'a str, BTreeMap<&'a str, u32>>;

fn confusions(grades: &[Grade]) -> Confusions<'_> {
    let mut found = Confusions::new();
    for grade in grades {
        *found.entry(grade.planted).or_default().entry(grade.said.resource.as_str()).or_default() += 1;
    }
    found
}
