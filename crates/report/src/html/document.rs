//! Data of the page, which mirrors `ui/src/report.ts`.
//!
//! Texts have no control characters and are short, but are not escaped: the page makes text nodes of them. serde_json writes
//! figures that are not finite as null.

use serde::Serialize;

use super::charts::TimeChart;
use super::happened::LoadCourse;
use super::series::Series;
use super::spectrum::Spectrum;
use crate::durations::KeyedFigures;
use crate::noun::Noun;

/// Everything that the page shows.
#[derive(Serialize)]
pub(crate) struct Document {
    pub(crate) schema: &'static str,
    pub(crate) kind: DocumentKind,
    pub(crate) title: String,
    pub(crate) question: Option<String>,
    pub(crate) id: String,
    pub(crate) begun: String,
    pub(crate) tenbin_version: String,
    /// Unit that was counted.
    pub(crate) counted: &'static Noun,
    pub(crate) notices: Vec<Notice>,
    pub(crate) validity: Validity,
    pub(crate) facts: Vec<Fact>,
    pub(crate) loads: Vec<Load>,
    pub(crate) capacity: Option<CapacitySearch>,
    /// Runs, ordered by position.
    pub(crate) runs: Vec<Run>,
    pub(crate) charts: Vec<TimeChart>,
    pub(crate) commands: Vec<Fact>,
    pub(crate) plan: Option<String>,
}

/// Version of the document.
pub(crate) const SCHEMA: &str = "tenbin.page/1";

#[derive(Clone, Copy, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum DocumentKind {
    Study,
    Run,
    Runs,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Tone {
    Plain,
    Good,
    Doubtful,
    Bad,
}

#[derive(Serialize)]
pub(crate) struct Notice {
    pub(crate) tone: Tone,
    pub(crate) text: String,
}

#[derive(Serialize)]
pub(crate) struct Fact {
    pub(crate) name: String,
    pub(crate) value: String,
}

impl Fact {
    pub(crate) fn new(name: &str, value: String) -> Self {
        Self { name: name.to_owned(), value }
    }
}

#[derive(Serialize)]
pub(crate) struct Validity {
    pub(crate) level: &'static str,
    pub(crate) sentence: String,
    pub(crate) doubts: Vec<Doubt>,
}

#[derive(Serialize)]
pub(crate) struct Doubt {
    pub(crate) tone: Tone,
    #[serde(rename = "where")]
    pub(crate) place: String,
    pub(crate) sentence: String,
    pub(crate) remedy: String,
    pub(crate) quote: Vec<String>,
}

/// Results under one load.
#[derive(Serialize)]
pub(crate) struct Load {
    pub(crate) name: String,
    pub(crate) words: String,
    pub(crate) answer: Answer,
    pub(crate) metric: Metric,
    pub(crate) rows: Vec<Row>,
    pub(crate) table: Table,
    pub(crate) legend: Vec<String>,
    pub(crate) steps: Option<Table>,
    pub(crate) statements: Option<Table>,
    /// Row of the baseline, with which all others are compared. `None` without a baseline.
    pub(crate) baseline: Option<usize>,
    pub(crate) pairs: Vec<Pair>,
    /// Physical costs, with a column for each row, and a note below. `None` outside a study.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) costs: Option<CostTable>,
    /// Measures with values in [`RowFigures::further`].
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) measures: Vec<Measure>,
    pub(crate) caveats: Vec<String>,
    pub(crate) bottlenecks: Vec<Bottleneck>,
    pub(crate) errors: Vec<ErrorKind>,
    pub(crate) written: Vec<String>,
    pub(crate) gates: Vec<Notice>,
    /// Costs of events. `None` without events.
    pub(crate) event_costs: Option<EventCosts>,
    /// Experiment under this load. `None` without one.
    pub(crate) experiment: Option<Experiment>,
    /// Explanations of pairs that differ.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) slower: Vec<Slower>,
    /// Execution times of statements, for rows whose database reports them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) statement_times: Vec<StatementTimes>,
    /// CPU profiles. `None` if no run was profiled.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) cpu_profiles: Option<CpuProfiles>,
}

/// Physical costs of a load.
#[derive(Serialize)]
pub(crate) struct CostTable {
    pub(crate) table: Table,
    /// Note below the table. Empty if nothing is compared.
    pub(crate) legend: String,
}

/// Figure that charts can show in addition to the standard ones.
#[derive(Serialize)]
pub(crate) struct Measure {
    pub(crate) key: String,
    pub(crate) words: String,
    pub(crate) unit: &'static str,
    pub(crate) higher_is_better: bool,
}

/// Explanation why a row is slower than another.
#[derive(Serialize)]
pub(crate) struct Slower {
    pub(crate) row: usize,
    pub(crate) than: usize,
    pub(crate) sentence: String,
    /// Component of the response time that grew, in microseconds per request: in the faster row, and in the slower one.
    pub(crate) us_per_request: [f64; 2],
    pub(crate) texts: [String; 2],
    /// Difference between the two, with 95 % confidence.
    pub(crate) interval_us: Option<[f64; 2]>,
    /// Whether the component is CPU time, not a wait.
    pub(crate) is_cpu: bool,
}

/// Execution times of statements in a database, over the runs of a row.
#[derive(Serialize)]
pub(crate) struct StatementTimes {
    pub(crate) row: usize,
    pub(crate) runs: usize,
    /// Statements, longest total time first.
    pub(crate) statements: Vec<StatementTime>,
    pub(crate) left_out: usize,
}

/// Time of one statement, without its values.
#[derive(Serialize)]
pub(crate) struct StatementTime {
    pub(crate) statement: String,
    pub(crate) calls: String,
    pub(crate) mean: String,
    pub(crate) total_s: f64,
    pub(crate) total: String,
    /// Share of the execution time of all statements.
    pub(crate) share: Option<f64>,
}

/// Experiment under a load: interventions and results.
#[derive(Serialize)]
pub(crate) struct Experiment {
    /// Name of the variant.
    pub(crate) about: String,
    pub(crate) table: Table,
    /// Noise, next limit, and untested changes.
    pub(crate) facts: Vec<Fact>,
    /// Effect of each intervention, starting with the second control.
    pub(crate) effects: Vec<ChangeEffect>,
    /// Throughput by number of users. `None` if no other numbers were tested.
    pub(crate) scaling: Option<Scaling>,
}

/// Throughput with an intervention ÷ throughput of the control.
#[derive(Serialize)]
pub(crate) struct ChangeEffect {
    /// Name of the intervention. `none` for the second control.
    pub(crate) name: String,
    /// Ratio in each block.
    pub(crate) in_blocks: Vec<f64>,
    pub(crate) ratio: Option<f64>,
    pub(crate) interval: Option<[f64; 2]>,
    /// Predicted ratio if the intervention removes the limit. `None` for the second control.
    pub(crate) predicted: Option<f64>,
    /// `confirmed`, `contributing`, `refuted`, or `undecided`. Empty for the second control.
    pub(crate) finding: &'static str,
}

/// Throughput by number of users.
#[derive(Serialize)]
pub(crate) struct Scaling {
    /// Steps, fewest users first.
    pub(crate) steps: Vec<ScalingStep>,
    /// Users, and throughput per second by the scalability law. Empty if it does not fit.
    pub(crate) law: Vec<[f64; 2]>,
    /// Number of users beyond which throughput does not grow. `None` if it was not reached.
    pub(crate) saturated_at: Option<f64>,
    /// Saturation as text. May be empty.
    pub(crate) saturated_words: String,
}

#[derive(Serialize)]
pub(crate) struct ScalingStep {
    pub(crate) users: u32,
    pub(crate) per_s: f64,
    /// Throughput per user.
    pub(crate) per_user_per_s: f64,
    pub(crate) runs: usize,
}

/// CPU profiles of rows.
#[derive(Serialize)]
pub(crate) struct CpuProfiles {
    /// Name, module, and kind of a frame: 0 for a process, 1 for user space, 2 for the kernel.
    pub(crate) frames: Vec<(String, String, u8)>,
    pub(crate) profiles: Vec<CpuProfile>,
    pub(crate) differences: Vec<CpuDifference>,
    /// Number of rows with a profile that were omitted.
    pub(crate) left_out: usize,
}

/// CPU profile of one row.
#[derive(Serialize)]
pub(crate) struct CpuProfile {
    pub(crate) row: usize,
    pub(crate) runs: usize,
    pub(crate) samples: u64,
    pub(crate) us_per_request: Option<f64>,
    /// Depth, index of the frame, and samples that ended in it. Each call comes after its caller; siblings are sorted by name.
    pub(crate) calls: Vec<(u32, usize, u64)>,
    /// Smallest share of a branch. The samples of smaller branches are in the rest of their caller.
    pub(crate) least_share: f64,
    /// Limitations of the profile.
    pub(crate) doubts: Vec<String>,
}

/// Additional CPU time per request of a row over another one.
#[derive(Serialize)]
pub(crate) struct CpuDifference {
    pub(crate) row: usize,
    pub(crate) from: usize,
    pub(crate) sentence: String,
    /// Difference in each call of the row and below, in microseconds. 0 if the samples show none.
    pub(crate) more_us: Vec<f64>,
}

/// Costs of events under a load, over all blocks.
#[derive(Serialize)]
pub(crate) struct EventCosts {
    pub(crate) events: Vec<PooledEvent>,
    /// Number of events that were omitted.
    pub(crate) left_out: usize,
}

/// Cost of one event. All occurrences in a run are combined.
#[derive(Serialize)]
pub(crate) struct PooledEvent {
    pub(crate) name: String,
    pub(crate) rows: Vec<CostRow>,
    /// Reference row of differences.
    pub(crate) from: Option<usize>,
    pub(crate) figures: Vec<CostFigure>,
    /// Differences as sentences.
    pub(crate) sentences: Vec<String>,
    /// Causes in rows in which the event cost something.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) causes: Vec<EventCauses>,
}

/// Causes of the delays during an event.
#[derive(Serialize)]
pub(crate) struct EventCauses {
    pub(crate) row: usize,
    /// Causes, most likely first. Empty if unknown.
    pub(crate) causes: Vec<Cause>,
    /// Data that the causes are based on, or the reason why they are unknown.
    pub(crate) about: String,
}

/// Numbers of runs of a row in which the cost is known, and unknown.
#[derive(Serialize)]
pub(crate) struct CostRow {
    pub(crate) row: usize,
    pub(crate) runs: usize,
    pub(crate) runs_unknown: usize,
    /// Number of runs with a known cost in which the system did not recover.
    pub(crate) not_recovered: usize,
    pub(crate) words: Vec<String>,
}

/// Figure of the cost of an event.
#[derive(Serialize)]
pub(crate) struct CostFigure {
    pub(crate) title: String,
    pub(crate) unit: &'static str,
    pub(crate) rows: Vec<RowCost>,
    /// Differences from the row [`PooledEvent::from`].
    pub(crate) differences: Vec<RowCost>,
}

/// Figure of one row over runs, or its difference over blocks.
#[derive(Serialize)]
pub(crate) struct RowCost {
    pub(crate) row: usize,
    pub(crate) middle: Option<f64>,
    /// Bounds of the 95 % confidence interval.
    pub(crate) low: Option<f64>,
    pub(crate) high: Option<f64>,
    /// Figure in the format of the terminal.
    pub(crate) text: String,
    /// Verdict on a difference. `None` for other figures.
    pub(crate) verdict: Option<&'static str>,
    pub(crate) blocks: Vec<BlockCost>,
}

/// Figure in one block, counted from 0. `None` if unknown.
#[derive(Serialize)]
pub(crate) struct BlockCost {
    pub(crate) block: u32,
    pub(crate) value: Option<f64>,
}

/// Maximum sustainable load of each variant.
#[derive(Serialize)]
pub(crate) struct CapacitySearch {
    pub(crate) objectives: Vec<Objective>,
    pub(crate) rows: Vec<Capacity>,
}

#[derive(Serialize)]
pub(crate) struct Objective {
    pub(crate) words: String,
    /// Key of [`Times`]. `None` if the condition is not about response times.
    pub(crate) time: Option<String>,
    pub(crate) limit_ms: Option<f64>,
}

#[derive(Serialize)]
pub(crate) struct Capacity {
    pub(crate) name: String,
    pub(crate) system: String,
    pub(crate) answer: Answer,
    pub(crate) held_per_s: Option<f64>,
    pub(crate) failed_per_s: Option<f64>,
    pub(crate) noise_per_s: Option<[f64; 2]>,
    pub(crate) levels: Vec<Level>,
    pub(crate) table: Table,
    pub(crate) facts: Vec<Fact>,
    /// Likely bottleneck. `None` if no rate failed.
    pub(crate) limit: Option<CapacityLimit>,
}

/// Likely causes at the lowest failing rate.
#[derive(Serialize)]
pub(crate) struct CapacityLimit {
    pub(crate) per_s: f64,
    /// Number of runs that the causes are based on.
    pub(crate) runs: usize,
    /// Causes, most likely first.
    pub(crate) causes: Vec<Cause>,
    /// Reason why there is no cause. Empty if there is one.
    pub(crate) reason: &'static str,
}

/// A rate of the search, over all its runs.
#[derive(Serialize)]
pub(crate) struct Level {
    pub(crate) per_s: f64,
    pub(crate) passed: u32,
    pub(crate) failed: u32,
    pub(crate) invalid: u32,
    pub(crate) failed_by: String,
    pub(crate) ok_per_s: Option<f64>,
    pub(crate) response_ms: Option<Times>,
}

#[derive(Serialize)]
pub(crate) struct Answer {
    /// `sure`, `open`, `none`, or `plain`.
    pub(crate) certainty: &'static str,
    pub(crate) text: String,
    pub(crate) how_sure: String,
}

#[derive(Serialize)]
pub(crate) struct Metric {
    pub(crate) name: String,
    pub(crate) words: String,
    pub(crate) unit: &'static str,
    pub(crate) higher_is_better: bool,
    /// Scale of comparisons: `ratio` or `difference`.
    pub(crate) scale: &'static str,
    /// Minimum effect: a share, or a difference in the unit.
    pub(crate) matters: f64,
    pub(crate) matters_text: String,
}

/// Table row: one variant under one load, or one stored run.
#[derive(Serialize)]
pub(crate) struct Row {
    pub(crate) name: String,
    pub(crate) system: String,
    pub(crate) variant: String,
    #[serde(rename = "parameters")]
    pub(crate) knobs: Vec<Knob>,
    pub(crate) runs: Vec<usize>,
    /// Median run by the metric. `None` without results, or if the page has no room for the run.
    pub(crate) median_run: Option<usize>,
    /// Runs whose figures are shown.
    #[serde(skip)]
    pub(crate) shown: Vec<usize>,
    pub(crate) is_best: bool,
    pub(crate) is_winner: bool,
    pub(crate) is_valid: bool,
    pub(crate) figures: Option<RowFigures>,
    /// Distribution over connections in all valid runs.
    pub(crate) fairness: Option<RowFairness>,
    pub(crate) metric: Option<Spread>,
    pub(crate) spectrum: Option<Spectrum>,
    /// Comparison with the reference of the load. `None` if nothing is compared.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) compared: Option<Compared>,
}

/// Comparison of a row with the reference of its load.
#[derive(Serialize)]
pub(crate) struct Compared {
    /// Ratio or difference, or the reason why there is none.
    pub(crate) text: String,
    /// `reference`, `better`, `worse`, `below`, `equivalent`, `inconclusive`, or `none`.
    pub(crate) verdict: &'static str,
}

#[derive(Serialize)]
pub(crate) struct Knob {
    pub(crate) name: String,
    pub(crate) value: String,
}

#[derive(Serialize)]
pub(crate) struct Spread {
    pub(crate) n: usize,
    pub(crate) median: f64,
    pub(crate) min: f64,
    pub(crate) max: f64,
}

#[derive(Serialize)]
pub(crate) struct RowFigures {
    pub(crate) samples: u64,
    pub(crate) counts: Counts,
    pub(crate) ok_per_s: Option<f64>,
    pub(crate) error_share: Option<f64>,
    pub(crate) response_ms: Times,
    pub(crate) service_ms: Times,
    pub(crate) lateness_ms: Times,
    pub(crate) received_bytes: Option<u64>,
    pub(crate) sent_bytes: Option<u64>,
    pub(crate) system_cores: Option<f64>,
    pub(crate) generator_cores: Option<f64>,
    pub(crate) system_us_per_request: Option<f64>,
    pub(crate) generator_us_per_request: Option<f64>,
    pub(crate) rss_peak_bytes: Option<f64>,
    pub(crate) metric: Option<f64>,
    /// Values of [`Load::measures`], in their order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) further: Vec<Option<f64>>,
}

#[derive(Serialize)]
pub(crate) struct Counts {
    pub(crate) planned: u64,
    pub(crate) sent: u64,
    pub(crate) not_sent: u64,
    pub(crate) ok: u64,
    pub(crate) rejected: u64,
    pub(crate) failed: u64,
    pub(crate) timed_out: u64,
    pub(crate) unfinished: u64,
}

/// Durations in milliseconds.
#[derive(Serialize)]
pub(crate) struct Times {
    pub(crate) n: u64,
    #[serde(flatten)]
    pub(crate) figures: KeyedFigures,
}

/// Comparison of two rows over their common blocks.
#[derive(Serialize)]
pub(crate) struct Pair {
    pub(crate) first: usize,
    pub(crate) second: usize,
    /// A ratio, or a difference in the unit of the metric.
    pub(crate) estimate: Option<f64>,
    pub(crate) low: Option<f64>,
    pub(crate) high: Option<f64>,
    pub(crate) confidence: Option<f64>,
    pub(crate) verdict: &'static str,
    pub(crate) blocks: usize,
    pub(crate) in_blocks: Vec<f64>,
    /// Figures as in sentences, because the page does not round them itself.
    pub(crate) estimate_text: Option<String>,
    pub(crate) ends_text: Option<[String; 2]>,
    pub(crate) in_blocks_text: Vec<String>,
    pub(crate) sentence: String,
}

/// Likely bottleneck of a row.
#[derive(Serialize)]
pub(crate) struct Bottleneck {
    pub(crate) row: usize,
    /// `confirmed`, `suspected`, `unknown`, or `none`.
    pub(crate) certainty: &'static str,
    /// Causes, most likely first. At least one.
    pub(crate) causes: Vec<Cause>,
}

/// Cause in the ranked list.
#[derive(Serialize)]
pub(crate) struct Cause {
    pub(crate) what: String,
    /// `confirmed`, `suspected`, `unknown`, `none`, or `refuted`.
    pub(crate) certainty: &'static str,
    /// Rung of evidence as text.
    pub(crate) rung: &'static str,
    /// Part of the system that it affects.
    pub(crate) scope: String,
    /// Share of the response time. `None` if unknown.
    pub(crate) share: Option<f64>,
    pub(crate) because: String,
    /// Further evidence for the cause.
    pub(crate) also: Vec<String>,
    pub(crate) against: Vec<String>,
    /// Next step. May be empty.
    pub(crate) next: String,
    /// Highest readings. Only if nothing explains the row.
    pub(crate) highest: Vec<HighReading>,
}

#[derive(Serialize)]
pub(crate) struct HighReading {
    pub(crate) words: String,
    /// Share of the maximum possible value, from 0 to 1.
    pub(crate) share: f64,
}

#[derive(Serialize)]
pub(crate) struct ErrorKind {
    pub(crate) row: usize,
    pub(crate) class: String,
    pub(crate) message: String,
    pub(crate) count: u64,
    pub(crate) share: f64,
    /// Meaning of the class, and advice. `None` for unknown classes.
    pub(crate) help: Option<String>,
}

#[derive(Serialize)]
pub(crate) struct Table {
    pub(crate) heads: Vec<Head>,
    pub(crate) rows: Vec<TableRow>,
    pub(crate) names: usize,
}

#[derive(Serialize)]
pub(crate) struct Head {
    pub(crate) text: String,
    pub(crate) unit: String,
    pub(crate) is_left: bool,
}

#[derive(Serialize)]
pub(crate) struct TableRow {
    pub(crate) cells: Vec<Cell>,
    pub(crate) is_winner: bool,
    pub(crate) row: Option<usize>,
}

#[derive(Serialize)]
pub(crate) struct Cell {
    pub(crate) text: String,
    pub(crate) value: Option<f64>,
}

/// Stored run.
#[derive(Serialize)]
pub(crate) struct Run {
    pub(crate) id: String,
    pub(crate) load: usize,
    pub(crate) row: usize,
    pub(crate) block: Option<u32>,
    /// `valid`, `invalid`, `failed`, or `cut_short`.
    pub(crate) standing: &'static str,
    pub(crate) verdict: &'static str,
    pub(crate) validity: &'static str,
    pub(crate) begun: String,
    pub(crate) warm_up_s: f64,
    pub(crate) duration_s: Option<f64>,
    pub(crate) figures: Option<RowFigures>,
    pub(crate) fairness: Option<Fairness>,
    pub(crate) series: Option<Series>,
    pub(crate) events: Vec<Event>,
    /// Events during the load, and their costs.
    pub(crate) happened: Vec<HappenedEvent>,
}

/// An event. Times are in seconds since the end of the warm-up.
#[derive(Serialize)]
pub(crate) struct HappenedEvent {
    pub(crate) name: String,
    pub(crate) action: String,
    pub(crate) outcome: &'static str,
    pub(crate) begun_s: Option<f64>,
    pub(crate) ended_s: Option<f64>,
    /// Cost of the event. `None` if unknown; then `why` may have the reason.
    pub(crate) cost: Option<HappenedCost>,
    pub(crate) why: Option<String>,
    /// Likely causes. `None` if the event has no known cost.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) causes: Option<EventCauses>,
    /// Load around the event.
    pub(crate) course: Option<LoadCourse>,
}

/// Cost of an event.
#[derive(Serialize)]
pub(crate) struct HappenedCost {
    pub(crate) to_s: f64,
    pub(crate) lost: u64,
    pub(crate) outage_ms: f64,
    pub(crate) worst_response_ms: Option<f64>,
    /// Excess waiting, in request-seconds.
    pub(crate) excess_wait_s: f64,
    /// `yes`, `no`, or `unconfirmed`.
    pub(crate) recovered: &'static str,
    pub(crate) recovery_ms: Option<f64>,
    /// All figures in the words of the terminal.
    pub(crate) words: Vec<String>,
}

/// A mark at a time of a run.
#[derive(Serialize)]
pub(crate) struct Event {
    /// Time in seconds since the end of the warm-up.
    pub(crate) at_s: f64,
    pub(crate) text: String,
}

/// Distribution of requests and response times over the connections.
#[derive(Serialize)]
pub(crate) struct Fairness {
    pub(crate) connections: u64,
    pub(crate) requests: MinMedianMax,
    pub(crate) response_mean_ms: Option<MinMedianMax>,
    pub(crate) response_max_ms: Option<MinMedianMax>,
}

#[derive(Serialize)]
pub(crate) struct MinMedianMax {
    pub(crate) min: f64,
    pub(crate) median: f64,
    pub(crate) max: f64,
    /// Minimum and maximum as multiples of the median. `None` if it is too small.
    pub(crate) relative: Option<[f64; 2]>,
}

/// Ranges over connections, as multiples of the median connection of each run. `None` if no run has one.
#[derive(Serialize)]
pub(crate) struct RowFairness {
    pub(crate) requests: Option<RelativeRanges>,
    pub(crate) response_mean_ms: Option<RelativeRanges>,
    pub(crate) response_max_ms: Option<RelativeRanges>,
}

#[derive(Serialize)]
pub(crate) struct RelativeRanges {
    pub(crate) low: f64,
    pub(crate) high: f64,
    /// Median over runs of the maximum.
    pub(crate) median_high: f64,
}
