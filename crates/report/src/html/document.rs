//! What the page is made from, one to one with `ui/src/report.ts`.
//!
//! Texts in it are visible and short, but not escaped: the page makes text nodes of them. Figures are finite: serde_json
//! writes null for others.

use serde::Serialize;

use super::charts::TimeChart;
use super::happened::Course;
use super::series::Series;
use super::spectrum::Spectrum;
use crate::durations::Keyed;
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
    /// How what was counted is called.
    pub(crate) counted: &'static Noun,
    pub(crate) notices: Vec<Notice>,
    pub(crate) validity: Validity,
    pub(crate) facts: Vec<Fact>,
    pub(crate) loads: Vec<Load>,
    pub(crate) capacity: Option<CapacitySearch>,
    /// In order of their positions.
    pub(crate) runs: Vec<Run>,
    pub(crate) charts: Vec<TimeChart>,
    pub(crate) commands: Vec<Fact>,
    pub(crate) plan: Option<String>,
}

/// The version of all this.
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

/// Everything under one load.
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
    /// The row that all others are compared with.
    pub(crate) baseline: Option<usize>,
    pub(crate) pairs: Vec<Pair>,
    pub(crate) caveats: Vec<String>,
    pub(crate) bottlenecks: Vec<Bottleneck>,
    pub(crate) errors: Vec<ErrorKind>,
    pub(crate) written: Vec<String>,
    pub(crate) gates: Vec<Notice>,
    /// Of a study with events.
    pub(crate) event_costs: Option<EventCosts>,
    /// Of the load that a study experimented under.
    pub(crate) experiment: Option<Experiment>,
    /// Of pairs that differ, and that readings explain.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) slower: Vec<Slower>,
    /// Of rows whose database tells it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) statement_times: Vec<StatementTimes>,
    /// Where runs were profiled.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) cpu_profiles: Option<CpuProfiles>,
}

/// Why a row is slower than another.
#[derive(Serialize)]
pub(crate) struct Slower {
    pub(crate) row: usize,
    pub(crate) than: usize,
    pub(crate) sentence: String,
    /// The part of the time of a request that grew, in microseconds: of the faster and of the slower row.
    pub(crate) us_per_request: [f64; 2],
    pub(crate) texts: [String; 2],
    /// By how much more it is, with a confidence of 95 %.
    pub(crate) interval_us: Option<[f64; 2]>,
    /// Whether it is CPU time, and not a wait.
    pub(crate) is_cpu: bool,
}

/// How long a database executed statements, over the runs of a row.
#[derive(Serialize)]
pub(crate) struct StatementTimes {
    pub(crate) row: usize,
    pub(crate) runs: usize,
    /// Most time first.
    pub(crate) statements: Vec<StatementTime>,
    pub(crate) left_out: usize,
}

/// Of one statement, without values.
#[derive(Serialize)]
pub(crate) struct StatementTime {
    pub(crate) statement: String,
    pub(crate) calls: String,
    pub(crate) mean: String,
    pub(crate) total_s: f64,
    pub(crate) total: String,
    /// Of the execution time of all statements.
    pub(crate) share: Option<f64>,
}

/// What an experiment changed under a load, and what came of it.
#[derive(Serialize)]
pub(crate) struct Experiment {
    /// On which variant.
    pub(crate) about: String,
    pub(crate) table: Table,
    /// The noise, the next limit, and what was left.
    pub(crate) facts: Vec<Fact>,
    /// What each change did, the control again first.
    pub(crate) effects: Vec<EffectOfChange>,
    /// Throughput by users, if other numbers of them were tried.
    pub(crate) scaling: Option<Scaling>,
}

/// Throughput with a change ÷ that of the control.
#[derive(Serialize)]
pub(crate) struct EffectOfChange {
    /// What was changed; `none` of the control again.
    pub(crate) name: String,
    /// Of each block.
    pub(crate) in_blocks: Vec<f64>,
    pub(crate) ratio: Option<f64>,
    pub(crate) interval: Option<[f64; 2]>,
    /// What it would be if it were the limit; `None` of the control again.
    pub(crate) predicted: Option<f64>,
    /// `confirmed`, `contributing`, `refuted`, or `undecided`; empty of the control again.
    pub(crate) finding: &'static str,
}

/// How throughput grows with the users.
#[derive(Serialize)]
pub(crate) struct Scaling {
    /// Fewest users first.
    pub(crate) steps: Vec<ScalingStep>,
    /// Users and throughput per second of the scalability law; empty if it does not fit.
    pub(crate) law: Vec<[f64; 2]>,
    /// From so many users on throughput grows no more; `None` if that was not reached.
    pub(crate) saturated_at: Option<f64>,
    /// The same in words; may be empty.
    pub(crate) saturated_words: String,
}

#[derive(Serialize)]
pub(crate) struct ScalingStep {
    pub(crate) users: u32,
    pub(crate) per_s: f64,
    pub(crate) runs: usize,
}

/// Where the CPU time of rows goes.
#[derive(Serialize)]
pub(crate) struct CpuProfiles {
    /// Name, file, and 0 for a process, 1 for user space, 2 for the kernel.
    pub(crate) frames: Vec<(String, String, u8)>,
    pub(crate) profiles: Vec<CpuProfile>,
    pub(crate) differences: Vec<CpuDifference>,
    /// Rows with a profile that there is no room for.
    pub(crate) left_out: usize,
}

/// Of one row.
#[derive(Serialize)]
pub(crate) struct CpuProfile {
    pub(crate) row: usize,
    pub(crate) runs: usize,
    pub(crate) samples: u64,
    pub(crate) us_per_request: Option<f64>,
    /// Depth, frame, and samples that ended there: each call below its caller, siblings by name.
    pub(crate) calls: Vec<(u32, usize, u64)>,
    /// A branch with a smaller share of the samples is in the rest of its caller.
    pub(crate) least_share: f64,
    /// What makes it say less than it seems to.
    pub(crate) doubts: Vec<String>,
}

/// By how much more CPU time per request a row spends than another.
#[derive(Serialize)]
pub(crate) struct CpuDifference {
    pub(crate) row: usize,
    pub(crate) from: usize,
    pub(crate) sentence: String,
    /// Below each call of the row, in microseconds; 0 where samples do not tell.
    pub(crate) more_us: Vec<f64>,
}

/// What events cost under a load, over all blocks.
#[derive(Serialize)]
pub(crate) struct EventCosts {
    pub(crate) events: Vec<PooledEvent>,
    /// Events that there is no room for.
    pub(crate) left_out: usize,
}

/// What one event cost, all its occurrences in a run together.
#[derive(Serialize)]
pub(crate) struct PooledEvent {
    pub(crate) name: String,
    pub(crate) rows: Vec<CostRow>,
    /// The row from which others differ.
    pub(crate) from: Option<usize>,
    pub(crate) figures: Vec<CostFigure>,
    /// The differences in words.
    pub(crate) sentences: Vec<String>,
    /// What held requests up, of rows in which it cost something.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) causes: Vec<EventCauses>,
}

/// What held requests up while an event was felt.
#[derive(Serialize)]
pub(crate) struct EventCauses {
    pub(crate) row: usize,
    /// Most likely first; empty where nobody knows.
    pub(crate) causes: Vec<Cause>,
    /// What they rest on, or why nobody knows.
    pub(crate) about: String,
}

/// In how many runs of a row a cost is known.
#[derive(Serialize)]
pub(crate) struct CostRow {
    pub(crate) row: usize,
    pub(crate) runs: usize,
    pub(crate) runs_unknown: usize,
    /// Of the runs with a known cost.
    pub(crate) not_recovered: usize,
    pub(crate) words: Vec<String>,
}

/// One figure of what an event cost.
#[derive(Serialize)]
pub(crate) struct CostFigure {
    pub(crate) title: String,
    pub(crate) unit: &'static str,
    pub(crate) rows: Vec<RowCost>,
    /// By how much more it was than in the row [`PooledEvent::from`].
    pub(crate) differences: Vec<RowCost>,
}

/// A figure of one row over runs, or its difference over blocks.
#[derive(Serialize)]
pub(crate) struct RowCost {
    pub(crate) row: usize,
    pub(crate) middle: Option<f64>,
    /// The interval of 95 %.
    pub(crate) low: Option<f64>,
    pub(crate) high: Option<f64>,
    /// As the terminal writes it.
    pub(crate) text: String,
    /// Of a difference.
    pub(crate) verdict: Option<&'static str>,
    pub(crate) blocks: Vec<BlockCost>,
}

/// In one block, from 0; `None` where it is not known.
#[derive(Serialize)]
pub(crate) struct BlockCost {
    pub(crate) block: u32,
    pub(crate) value: Option<f64>,
}

/// The maximum sustainable load of each variant.
#[derive(Serialize)]
pub(crate) struct CapacitySearch {
    pub(crate) objectives: Vec<Objective>,
    pub(crate) rows: Vec<Capacity>,
}

#[derive(Serialize)]
pub(crate) struct Objective {
    pub(crate) words: String,
    /// A key of [`Times`].
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
    /// What probably limits it; `None` if no rate failed.
    pub(crate) limit: Option<CapacityLimit>,
}

/// The causes at the lowest rate that failed.
#[derive(Serialize)]
pub(crate) struct CapacityLimit {
    pub(crate) per_s: f64,
    /// How many runs they are of.
    pub(crate) runs: usize,
    /// Most likely first.
    pub(crate) causes: Vec<Cause>,
    /// Why there is none; empty if there is one.
    pub(crate) reason: &'static str,
}

/// A rate that was asked of a system, over all its runs.
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
    /// `sure`, `open`, `none` or `plain`.
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
    /// By what rows are compared: `ratio` or `difference`.
    pub(crate) scale: &'static str,
    /// A share, or a difference in the unit.
    pub(crate) matters: f64,
    pub(crate) matters_text: String,
}

/// One variant under one load, or one stored run.
#[derive(Serialize)]
pub(crate) struct Row {
    pub(crate) name: String,
    pub(crate) system: String,
    pub(crate) variant: String,
    #[serde(rename = "parameters")]
    pub(crate) knobs: Vec<Knob>,
    pub(crate) runs: Vec<usize>,
    pub(crate) is_best: bool,
    pub(crate) is_winner: bool,
    pub(crate) is_valid: bool,
    pub(crate) figures: Option<RowFigures>,
    pub(crate) metric: Option<Spread>,
    pub(crate) spectrum: Option<Spectrum>,
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

/// Milliseconds.
#[derive(Serialize)]
pub(crate) struct Times {
    pub(crate) n: u64,
    #[serde(flatten)]
    pub(crate) figures: Keyed,
}

/// Two rows over the blocks in which both were measured.
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
    /// As sentences write them: the page rounds none itself.
    pub(crate) estimate_text: Option<String>,
    pub(crate) ends_text: Option<[String; 2]>,
    pub(crate) in_blocks_text: Vec<String>,
    pub(crate) sentence: String,
}

/// What probably kept a row from doing more.
#[derive(Serialize)]
pub(crate) struct Bottleneck {
    pub(crate) row: usize,
    /// `confirmed`, `suspected`, `unknown`, or `none`.
    pub(crate) certainty: &'static str,
    /// Most likely first; there is at least one.
    pub(crate) causes: Vec<Cause>,
}

/// One cause in the ranked list.
#[derive(Serialize)]
pub(crate) struct Cause {
    pub(crate) what: String,
    /// `confirmed`, `suspected`, `unknown`, `none`, or `refuted`.
    pub(crate) certainty: &'static str,
    /// Where it is.
    pub(crate) scope: String,
    /// Of the response time; `None` where no reading tells.
    pub(crate) share: Option<f64>,
    pub(crate) because: String,
    /// What else speaks for it.
    pub(crate) also: Vec<String>,
    pub(crate) against: Vec<String>,
    /// What to do next; may be empty.
    pub(crate) next: String,
    /// Where nothing explains the row, the highest readings.
    pub(crate) highest: Vec<HighReading>,
}

#[derive(Serialize)]
pub(crate) struct HighReading {
    pub(crate) words: String,
    /// Of what it can be at most, from 0 to 1.
    pub(crate) share: f64,
}

#[derive(Serialize)]
pub(crate) struct ErrorKind {
    pub(crate) row: usize,
    pub(crate) class: String,
    pub(crate) message: String,
    pub(crate) count: u64,
    pub(crate) share: f64,
    /// What the class means and what to do about it; `None` where it is not known.
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

/// One stored run.
#[derive(Serialize)]
pub(crate) struct Run {
    pub(crate) id: String,
    pub(crate) load: usize,
    pub(crate) row: usize,
    pub(crate) block: Option<u32>,
    /// `valid`, `invalid`, `failed` or `cut_short`.
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
    /// What was done to the system, and what that cost.
    pub(crate) happened: Vec<HappenedEvent>,
}

/// Something that was done to the system. Times in seconds since the end of the warm-up.
#[derive(Serialize)]
pub(crate) struct HappenedEvent {
    pub(crate) name: String,
    pub(crate) action: String,
    pub(crate) outcome: &'static str,
    pub(crate) begun_s: Option<f64>,
    pub(crate) ended_s: Option<f64>,
    /// `None` where nobody knows it; then `why` may say why.
    pub(crate) cost: Option<HappenedCost>,
    pub(crate) why: Option<String>,
    /// What held requests up; `None` where it cost nothing that is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) causes: Option<EventCauses>,
    /// The course of the load around it.
    pub(crate) course: Option<Course>,
}

/// What it cost.
#[derive(Serialize)]
pub(crate) struct HappenedCost {
    pub(crate) to_s: f64,
    pub(crate) lost: u64,
    pub(crate) outage_ms: f64,
    pub(crate) worst_response_ms: Option<f64>,
    /// In request-seconds.
    pub(crate) excess_wait_s: f64,
    /// `yes`, `no` or `unconfirmed`.
    pub(crate) recovered: &'static str,
    pub(crate) recovery_ms: Option<f64>,
    /// All of it, in the words of the terminal.
    pub(crate) words: Vec<String>,
}

/// What happened at an instant of a run.
#[derive(Serialize)]
pub(crate) struct Event {
    /// In seconds since the end of the warm-up.
    pub(crate) at_s: f64,
    pub(crate) text: String,
}

/// How evenly the connections were served.
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
}
