//! Explanation why one row is slower than another, for the page: the sentence of other formats, and the time per request of both.

use judge::explanation::Explanation;

use super::document::Slower;
use super::of_run::sentence;
use crate::study::{LoadView, StudyPieces, StudyView, explained};
use crate::units::duration;

/// Maximum number of pairs of a load.
const PAIRS_MAX: usize = 40;

/// Explanations for all pairs of a load that differ, and that a reading explains.
pub(super) fn of_load(view: &StudyView<'_>, page: &StudyPieces<'_>, load: &LoadView<'_>) -> Vec<Slower> {
    let of_pair = |pair| {
        let explanation = explained::of_pair(view, load, pair)??;
        let (ahead, behind) = pair.ahead();
        let name = |load: &LoadView<'_>, row: usize| page.row(load, row);
        let words = explained::sentence(view, load, pair, &name, &|text| page.text(text))?;
        Some(slower([ahead, behind], sentence(&words), &explanation))
    };
    load.pairs.iter().filter_map(of_pair).take(PAIRS_MAX).collect()
}

fn slower([than, row]: [usize; 2], sentence: String, of: &Explanation) -> Slower {
    let text = |us: f64| duration(us * 1e3);
    Slower {
        row,
        than,
        sentence,
        us_per_request: of.us_per_request,
        texts: of.us_per_request.map(text),
        interval_us: of.interval_us,
        is_cpu: of.part == judge::explanation::Part::Cpu,
    }
}
