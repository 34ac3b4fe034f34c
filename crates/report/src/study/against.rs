//! Result of a study that compares every row with a baseline.

use judge::results::Verdict;

use super::answer::{FormatDifference, measured};
use super::sentences::{Name, is_undecided};
use super::{LoadView, Pair, StudyView};

/// Maximum number of rows in one list.
const NAMES_MAX: usize = 8;

/// Result in a sentence without its full stop: rows that are better than the baseline, worse, or neither.
pub(super) fn answer(
    view: &StudyView<'_>,
    load: &LoadView<'_>,
    baseline: usize,
    name: Name<'_>,
    write: FormatDifference,
) -> String {
    let named = name(load, baseline);
    let Some(of_baseline) = load.ranking.iter().find(|ranked| ranked.row == baseline) else {
        return format!("no verdict: {named}, the baseline, gave no figures that can be compared");
    };
    let figure = view
        .metric
        .as_ref()
        .map_or_else(String::new, |by| by.metric.kind.writer()(of_baseline.metric.median));
    let measured = measured(view, &figure);
    if load.pairs.is_empty() {
        return format!("{named}, the baseline: {measured}; nothing else gave figures that can be compared");
    }
    let with_figures = |pair: &Pair| format!("{}{}", name(load, pair.first), write(pair));
    let alone = |pair: &Pair| name(load, pair.first);
    let of = |is: &dyn Fn(&Pair) -> bool| load.pairs.iter().filter(|pair| is(pair)).collect::<Vec<_>>();
    let differs = |pair: &Pair| {
        pair.comparison.verdict == Verdict::Differs { below_matters: false } && !is_undecided(pair)
    };
    let parts = [
        ("better", "than", listed(of(&|pair| differs(pair) && !pair.is_behind()), with_figures)),
        ("worse", "than", listed(of(&|pair| differs(pair) && pair.is_behind()), with_figures)),
        (
            "no difference above the threshold",
            "from",
            listed(of(&|pair| !differs(pair) && !is_undecided(pair)), alone)
                .map(|names| format!("{names} (within {})", view.matters())),
        ),
        ("no verdict", "against", listed(of(&|pair| is_undecided(pair)), with_figures)),
    ];
    let told = parts.into_iter().filter_map(|(what, link, names)| Some((what, link, names?)));
    let told = told.enumerate().map(|(place, (what, link, names))| match place {
        0 => format!("{what} {link} {named}, the baseline ({measured}): {names}"),
        _ => format!("{what}: {names}"),
    });
    told.collect::<Vec<_>>().join("; ")
}

/// Joins the names of pairs. `None` without any.
fn listed(pairs: Vec<&Pair>, name: impl Fn(&Pair) -> String) -> Option<String> {
    let mut names: Vec<String> = pairs.iter().take(NAMES_MAX).map(|pair| name(pair)).collect();
    if pairs.len() > NAMES_MAX {
        names.push(format!("{} more", pairs.len() - NAMES_MAX));
    }
    (!names.is_empty()).then(|| names.join(", "))
}
