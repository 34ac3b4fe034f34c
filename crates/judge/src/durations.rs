//! Figures of one kind of duration: count, minimum, mean, percentiles, and maximum.

use evidence::{LoadTool, Run};
use record::{Counts, Histogram, PRINTED, Percentile};
use stats::median;

/// Figures of a histogram, in nanoseconds. `None` if there is no sample, or too few.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Durations {
    /// Number of durations.
    pub count: u64,
    /// Shortest duration.
    pub min_ns: Option<f64>,
    /// Mean duration.
    pub mean_ns: Option<f64>,
    /// Percentiles, in the order of [`PRINTED`].
    pub percentiles_ns: [Option<f64>; PRINTED.len()],
    /// Longest duration.
    pub max_ns: Option<f64>,
}

impl Durations {
    /// Returns the figures of all durations in a histogram.
    pub fn of(histogram: &Histogram) -> Self {
        Self {
            count: histogram.count(),
            min_ns: histogram.min_ns().map(|ns| ns as f64),
            mean_ns: histogram.mean_ns(),
            percentiles_ns: std::array::from_fn(|place| Some(histogram.printable_at(PRINTED[place])? as f64)),
            max_ns: histogram.max_ns().map(|ns| ns as f64),
        }
    }

    /// Returns the figures of `count` requests, as reported by another tool. A percentile needs as many requests as one
    /// measured by Tenbin.
    pub fn of_tool(tool: &LoadTool, count: u64) -> Self {
        let ns = |ns: Option<u64>| ns.map(|ns| ns as f64);
        let reported = |wanted: Percentile| {
            let is_it = |(ppm, _): &&(u32, u64)| *ppm == wanted.ppm();
            tool.percentiles_ns.iter().find(is_it).map(|(_, ns)| *ns as f64)
        };
        Self {
            count,
            min_ns: ns(tool.min_ns),
            mean_ns: ns(tool.mean_ns),
            percentiles_ns: std::array::from_fn(|place| {
                reported(PRINTED[place]).filter(|_| PRINTED[place].is_printable(count))
            }),
            max_ns: ns(tool.max_ns),
        }
    }

    /// Returns the figures of several runs of another tool, each with its number of requests. Percentiles are medians
    /// over runs, because such a tool reports no single times.
    pub fn of_tools(tools: &[(&LoadTool, u64)]) -> Self {
        let each: Vec<Self> = tools.iter().map(|(tool, count)| Self::of_tool(tool, *count)).collect();
        let count = each.iter().map(|of| of.count).fold(0, u64::saturating_add);
        let all = |figure: fn(&Self) -> Option<f64>| each.iter().map(figure).collect::<Option<Vec<f64>>>();
        let mean = |means: Vec<f64>| {
            let sum: f64 = means.iter().zip(&each).map(|(mean, of)| mean * of.count as f64).sum();
            (count > 0).then(|| sum / count as f64)
        };
        let of_place = |place: usize| {
            let of_runs: Option<Vec<f64>> = each.iter().map(|of| of.percentiles_ns[place]).collect();
            median(of_runs?)
        };
        let percentiles_ns: [Option<f64>; PRINTED.len()] = std::array::from_fn(of_place);
        Self {
            count,
            min_ns: all(|of| of.min_ns).and_then(|least| least.into_iter().reduce(f64::min)),
            mean_ns: all(|of| of.mean_ns).and_then(mean),
            percentiles_ns,
            max_ns: all(|of| of.max_ns).and_then(|most| most.into_iter().reduce(f64::max)),
        }
    }

    /// Returns the response times of a run, as reported by the tool if another tool made the load. `counts` are its
    /// requests by outcome.
    pub fn of_run(run: &Run, histogram: &Histogram, counts: &Counts) -> Self {
        let tool = run.ending.as_ref().and_then(|ending| ending.generator.tool.as_ref());
        tool.map_or_else(
            || Self::of(histogram),
            |tool| Self::of_tool(tool, counts.ended().saturating_sub(counts.unfinished)),
        )
    }

    /// Returns a printed percentile; `None` if it is unknown.
    pub fn at(&self, wanted: Percentile) -> Option<f64> {
        PRINTED.iter().zip(self.percentiles_ns).find(|(percentile, _)| **percentile == wanted)?.1
    }

    /// Returns the typical duration: the median, or the mean if there are too few samples for a median.
    pub fn typical_ns(&self) -> Option<f64> {
        self.at(Percentile::P50).or(self.mean_ns)
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
        let together = Durations::of_tools(&[(&first, 1_000), (&second, 1_000), (&third, 2_000)]);
        assert_eq!((together.count, together.mean_ns, together.max_ns), (4_000, Some(175.0), Some(900.0)));
        assert_eq!((together.at(Percentile::P50), together.at(Percentile::P99)), (Some(95.0), None));
        assert_eq!(together.min_ns, None, "no run reported it");
    }

    #[test]
    fn figure_that_one_run_lacks_is_missing_for_all() {
        let (known, unknown) = (LoadTool { max_ns: Some(5), ..LoadTool::default() }, LoadTool::default());
        assert_eq!(Durations::of_tools(&[(&known, 10), (&unknown, 10)]).max_ns, None);
    }
}
