//! What one kind of duration amounts to.

use evidence::{LoadTool, Run};
use record::{Counts, Histogram, PRINTED, Percentile};

/// The figures of a histogram, in nanoseconds. `None` where there is nothing to say, or too little to say it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Durations {
    /// How many durations there were.
    pub count: u64,
    /// The shortest.
    pub min_ns: Option<f64>,
    /// The mean.
    pub mean_ns: Option<f64>,
    /// In the order of [`PRINTED`].
    pub percentiles_ns: [Option<f64>; PRINTED.len()],
    /// The longest.
    pub max_ns: Option<f64>,
}

impl Durations {
    /// Of all durations in a histogram.
    pub fn of(histogram: &Histogram) -> Self {
        Self {
            count: histogram.count(),
            min_ns: histogram.min_ns().map(|ns| ns as f64),
            mean_ns: histogram.mean_ns(),
            percentiles_ns: std::array::from_fn(|place| Some(histogram.printable_at(PRINTED[place])? as f64)),
            max_ns: histogram.max_ns().map(|ns| ns as f64),
        }
    }

    /// Of requests of which a tool reported these figures. A percentile needs as many requests as one of Tenbin's own.
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

    /// Response times of a run, as its tool reported them where one made the load. `counts`: how its requests ended.
    pub fn of_run(run: &Run, histogram: &Histogram, counts: &Counts) -> Self {
        let tool = run.ending.as_ref().and_then(|ending| ending.generator.tool.as_ref());
        tool.map_or_else(
            || Self::of(histogram),
            |tool| Self::of_tool(tool, counts.ended().saturating_sub(counts.unfinished)),
        )
    }

    /// One of the printed percentiles.
    pub fn at(&self, wanted: Percentile) -> Option<f64> {
        PRINTED.iter().zip(self.percentiles_ns).find(|(percentile, _)| **percentile == wanted)?.1
    }

    /// A figure that stands for the whole: the median, or the mean of too few.
    pub fn middle_ns(&self) -> Option<f64> {
        self.at(Percentile::P50).or(self.mean_ns)
    }
}
