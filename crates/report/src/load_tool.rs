//! Loads that another load generator made: their figures, and what must be known of them.

use evidence::{LoadTool, Run};
use judge::Durations;
use record::PRINTED;
use stats::median;

use crate::view::View;

/// The tool that made the load of a run, if it was not Tenbin's engine.
pub(crate) fn of_run(run: &Run) -> Option<&LoadTool> {
    run.ending.as_ref()?.generator.tool.as_ref()
}

/// The same of a view, with the number of its requests.
pub(crate) fn of_view<'a>(view: &View<'a>) -> Option<(&'a LoadTool, u64)> {
    Some((of_run(view.run)?, requests(&view.whole.counts)))
}

/// Requests that ended.
pub(crate) fn requests(counts: &record::Counts) -> u64 {
    counts.ended().saturating_sub(counts.unfinished)
}

/// Times of several runs: a tool reports no single times, so percentiles are medians over runs.
pub(crate) fn together(tools: &[(&LoadTool, u64)]) -> Durations {
    let each: Vec<Durations> = tools.iter().map(|(tool, count)| Durations::of_tool(tool, *count)).collect();
    let count = each.iter().map(|of| of.count).fold(0, u64::saturating_add);
    let all = |figure: fn(&Durations) -> Option<f64>| each.iter().map(figure).collect::<Option<Vec<f64>>>();
    let mean = |means: Vec<f64>| {
        let sum: f64 = means.iter().zip(&each).map(|(mean, of)| mean * of.count as f64).sum();
        (count > 0).then(|| sum / count as f64)
    };
    let of_place = |place: usize| {
        let of_runs: Option<Vec<f64>> = each.iter().map(|of| of.percentiles_ns[place]).collect();
        median(of_runs?)
    };
    let percentiles_ns: [Option<f64>; PRINTED.len()] = std::array::from_fn(of_place);
    Durations {
        count,
        min_ns: all(|of| of.min_ns).and_then(|least| least.into_iter().reduce(f64::min)),
        mean_ns: all(|of| of.mean_ns).and_then(mean),
        percentiles_ns,
        max_ns: all(|of| of.max_ns).and_then(|most| most.into_iter().reduce(f64::max)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use record::Percentile;

    #[test]
    fn means_are_pooled_and_percentiles_are_medians_over_runs() {
        let tool = |mean_ns, p50_ns, max_ns| LoadTool {
            mean_ns: Some(mean_ns),
            max_ns: Some(max_ns),
            percentiles_ns: vec![(500_000, p50_ns)],
            ..LoadTool::default()
        };
        let (first, second, third) = (tool(100, 90, 500), tool(400, 95, 900), tool(100, 200, 300));
        let together = together(&[(&first, 1_000), (&second, 1_000), (&third, 2_000)]);
        assert_eq!((together.count, together.mean_ns, together.max_ns), (4_000, Some(175.0), Some(900.0)));
        assert_eq!((together.at(Percentile::P50), together.at(Percentile::P99)), (Some(95.0), None));
        assert_eq!(together.min_ns, None, "no run reported it");
    }

    #[test]
    fn what_one_run_lacks_is_not_taken_from_the_others() {
        let (known, unknown) = (LoadTool { max_ns: Some(5), ..LoadTool::default() }, LoadTool::default());
        assert_eq!(super::together(&[(&known, 10), (&unknown, 10)]).max_ns, None);
    }
}
