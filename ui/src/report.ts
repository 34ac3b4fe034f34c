/**
 * The input of the page: one JSON object that `tenbin report --format html` embeds.
 *
 * `crates/report/src/html` writes it; the two change together. Other programs read `--format json` instead.
 * Rust makes every verdict and every sentence; the page only draws. Texts from outside are plain text, never markup.
 * A value that is unknown, or has too few samples, is null.
 */
import type { Compared, CostTable, FurtherMeasure } from './report_compared';
import type { EventCauses, Slower, StatementTimes } from './report_causes';
import type { Experiment } from './report_experiment';
import type { Fairness, RowFairness } from './report_fairness';

export interface Report {
  schema: 'tenbin.page/1';
  /** A study; one run; several stored runs side by side, without a ranking. */
  kind: 'study' | 'run' | 'runs';
  /** The name of the plan, or the target. */
  title: string;
  question: string | null;
  /** Such as `s-20261121-142500-ab12`, or the name of the run. */
  id: string;
  /** Start time, such as `2026-11-21 14:25:00 UTC`. */
  begun: string;
  tenbin_version: string;
  /** The names of what is counted. */
  counted: Counted;
  /** Warnings shown above the results. */
  notices: Notice[];
  validity: Validity;
  /** Comparison metric, number of runs, machine, versions. */
  facts: Fact[];
  loads: Load[];
  /** The maximum sustainable load of each variant; null unless this is a capacity search, which has no `loads`. */
  capacity: CapacitySearch | null;
  /** In the order of execution. `Row.runs` has indexes into it. */
  runs: Run[];
  /** The charts over time. `Series.tracks` has the values by `Track.key`. */
  charts: TimeChart[];
  /** Commands that repeat the measurement or show the report again. */
  commands: Fact[];
  /** The text of the plan file. */
  plan: string | null;
}

/** The maximum sustainable load of each variant. */
export interface CapacitySearch {
  /** The conditions; a run passes if it meets all of them. */
  objectives: Objective[];
  /** One per variant. */
  rows: Capacity[];
}

export interface Objective {
  /** Such as `p99 < 200 ms`. */
  words: string;
  /** The response time that the condition limits, if it limits one, and the limit. */
  time: TimeKey | null;
  limit_ms: number | null;
}

export type TimeKey = 'mean' | 'p50' | 'p90' | 'p95' | 'p99' | 'p99_9' | 'max';

export interface Capacity {
  /** System and variant. */
  name: string;
  system: string;
  answer: Answer;
  /** The highest passing rate, and the lowest failing rate. */
  held_per_s: number | null;
  failed_per_s: number | null;
  /** Between these rates some runs passed and some failed. */
  noise_per_s: [number, number] | null;
  /** In order of rate. */
  levels: Level[];
  /** One row per level, and per step of the initial sizing. */
  table: Table;
  /** Other results of the search: overload and recovery, soak, fitted scaling law. */
  facts: Fact[];
  /** What probably limits the variant; null if no rate failed. */
  limit: CapacityLimit | null;
}

/** The causes at the lowest failing rate. */
export interface CapacityLimit {
  per_s: number;
  /** How many runs they are from. */
  runs: number;
  /** The most likely first. */
  causes: Cause[];
  /** Why there is no cause; empty if there is one. */
  reason: string;
}

/** One target rate, over all its runs. */
export interface Level {
  per_s: number;
  /** Numbers of runs. */
  passed: number;
  failed: number;
  invalid: number;
  /** Such as `p99 < 200 ms was 412 ms`; empty if no run failed. */
  failed_by: string;
  /** Over all its valid runs. */
  ok_per_s: number | null;
  response_ms: Times | null;
}

/** Requests and their answers, or transactions. */
export interface Counted {
  /** Such as `request`. */
  one: string;
  many: string;
  answers: string;
  /** The unit of a scenario: `step` or `transaction`. */
  step: string;
}

export type Tone = 'plain' | 'good' | 'doubtful' | 'bad';

export interface Notice {
  tone: Tone;
  text: string;
}

export interface Fact {
  name: string;
  value: string;
}

/** Whether the numbers can be trusted, and if not, why. */
export interface Validity {
  level: 'valid' | 'suspect' | 'invalid';
  /** Such as `All 42 runs are valid.` */
  sentence: string;
  doubts: Doubt[];
}

export interface Doubt {
  tone: Tone;
  /** The variant and the number of affected runs; empty for a single run. */
  where: string;
  sentence: string;
  /** Suggested fix; may be empty. */
  remedy: string;
  /** Output lines of a system. */
  quote: string[];
}

/** The results under one load. A page of runs outside a study has one load. */
export interface Load {
  name: string;
  /** Such as `100 users, closed, 60 s after 10 s of warm-up`. */
  words: string;
  answer: Answer;
  metric: Metric;
  rows: Row[];
  table: Table;
  /** Notes on the table, one sentence each. */
  legend: string[];
  /** The metrics of each step; for several runs side by side, their service times. */
  steps: Table | null;
  /** The time of each SQL statement, and its share of the transaction. */
  statements: Table | null;
  /** The row that all others are compared with: an index into `rows`. */
  baseline: number | null;
  /** Physical costs, with a column for each row. */
  costs?: CostTable;
  /** Figures that charts can show besides those that every run has: `Figures.further` has their values. */
  measures?: FurtherMeasure[];
  /** Head-to-head comparisons of the best rows, the best first; or of every row with the baseline. */
  pairs: Pair[];
  /** Caveats of the comparisons. */
  caveats: string[];
  /** The likely bottleneck of each row. */
  bottlenecks: Bottleneck[];
  errors: ErrorKind[];
  /** The most frequent output lines of systems with errors. */
  written: string[];
  gates: Notice[];
  /** Of a study with events. */
  event_costs?: EventCosts | null;
  /** Of the load that a study experimented under. */
  experiment?: Experiment | null;
  /** Left out if no pair is explained. */
  slower?: Slower[];
  /** Left out if no database tells it. */
  statement_times?: StatementTimes[];
  /** If runs were profiled. */
  cpu_profiles?: CpuProfiles | null;
}

/** Where the CPU time of rows goes, from sampled stacks. */
export interface CpuProfiles {
  /** Name, file, and 0 for a process, 1 for user space, 2 for the kernel. */
  frames: [string, string, number][];
  profiles: CpuProfile[];
  /** In both directions: a function that only one row has is in the difference of that row. */
  differences: CpuDifference[];
  /** The number of profiled rows that there is no room for. */
  left_out: number;
}

export interface CpuProfile {
  /** An index into `Load.rows`. */
  row: number;
  runs: number;
  samples: number;
  us_per_request: number | null;
  /** Depth, index into `CpuProfiles.frames`, and samples that ended there; each call after its caller. Empty with too few samples. */
  calls: [number, number, number][];
  /** Branches with a smaller share of the samples are in `[other functions]` of their caller. */
  least_share: number;
  /** Caveats, one sentence each. */
  doubts: string[];
}

/** How much more CPU time per request a row uses than another. */
export interface CpuDifference {
  /** Indexes into `Load.rows`. */
  row: number;
  from: number;
  sentence: string;
  /** In and below each of `CpuProfile.calls` of the row, in microseconds; 0 within the sampling error. */
  more_us: number[];
}

/** What events cost under a load, over all blocks. */
export interface EventCosts {
  events: PooledEvent[];
  /** The number of events that there is no room for. */
  left_out: number;
}

/** What one event cost; all its occurrences in a run together. */
export interface PooledEvent {
  name: string;
  rows: CostRow[];
  /** The row that the others are compared with: an index into `Load.rows`. */
  from: number | null;
  figures: CostFigure[];
  /** The differences in words. */
  sentences: string[];
  /** What held requests up, of rows in which it cost something; left out if there are none. */
  causes?: EventCauses[];
}

/** In how many runs of a row the cost is known. */
export interface CostRow {
  /** An index into `Load.rows`. */
  row: number;
  runs: number;
  runs_unknown: number;
  /** Of the runs with a known cost. */
  not_recovered: number;
  words: string[];
}

/** One figure of what an event cost. */
export interface CostFigure {
  title: string;
  unit: Unit;
  rows: RowCost[];
  /** By how much more it was than in the row `PooledEvent.from`. */
  differences: RowCost[];
}

/** A figure of one row over runs, or its difference over blocks. */
export interface RowCost {
  /** An index into `Load.rows`. */
  row: number;
  middle: number | null;
  /** The ends of its 95 % interval; null with fewer than six runs or blocks. */
  low: number | null;
  high: number | null;
  /** As in the other report formats: `812 ms (790 ms – 830 ms)`. */
  text: string;
  /** Of a difference. */
  verdict: 'more' | 'less' | 'no difference shown' | 'no interval' | 'unknown' | null;
  /** Each block, from 0; null where it is not known, or where there was no recovery. */
  blocks: { block: number; value: number | null }[];
}

export interface Answer {
  /** `sure`: conclusive. `open`: not conclusive yet. `none`: no verdict possible. `plain`: nothing was compared. */
  certainty: 'sure' | 'open' | 'none' | 'plain';
  /** One sentence. */
  text: string;
  /** The evidence in short, such as `differs, 6 of 6 blocks, 96.9 % confidence`. */
  how_sure: string;
}

/** The comparison metric. */
export interface Metric {
  name: string;
  words: string;
  /** `per_s`, `ms`, `share`, `us`, `bytes`. */
  unit: Unit;
  higher_is_better: boolean;
  /** How rows are compared: by ratio, or by difference if the metric can be 0. */
  scale: 'ratio' | 'difference';
  /** The `min-effect` threshold: a share, or a difference in the unit. */
  matters: number;
  /** Formatted: `3 %`, `20.0 ms`. */
  matters_text: string;
}

export type Unit =
  'per_s' | 'ms' | 'us' | 'share' | 'bytes' | 'bytes_per_s' | 'cores' | 'count' | 's' | 'request-seconds';

/** One variant under one load, over all blocks; or one stored run. */
export interface Row {
  /** System and variant, such as `puma workers=2 threads=4`. */
  name: string;
  system: string;
  /** Empty if the system has no parameters. */
  variant: string;
  parameters: { name: string; value: string }[];
  /** Indexes into `Report.runs`, in order of blocks. */
  runs: number[];
  /** The median run by the metric, among the valid ones if there are any; null without results. */
  median_run: number | null;
  /** The best configuration of its system. */
  is_best: boolean;
  /** Better than every row it was compared with; at most one row has the star. */
  is_winner: boolean;
  /** Whether the row has valid runs. */
  is_valid: boolean;
  /** Over the samples of all valid runs: percentiles are never averaged. */
  figures: Figures | null;
  /** How evenly connections were served in all valid runs. */
  fairness: RowFairness | null;
  /** The metric over its runs. */
  metric: Spread | null;
  /** Over the samples of all valid runs. */
  spectrum: Spectrum | null;
  /** Left out if nothing is compared. */
  compared?: Compared;
}

/** Over runs. */
export interface Spread {
  n: number;
  median: number;
  min: number;
  max: number;
}

export interface Figures {
  /** Completed requests. */
  samples: number;
  counts: Counts;
  /** Ok answers per second; for a row, the median of its runs. */
  ok_per_s: number | null;
  /** The share of planned requests that were rejected, failed, timed out, or not sent: 0.01 is 1 %. */
  error_share: number | null;
  response_ms: Times;
  service_ms: Times;
  lateness_ms: Times;
  received_bytes: number | null;
  sent_bytes: number | null;
  /** Average CPU use, in cores. */
  system_cores: number | null;
  generator_cores: number | null;
  system_us_per_request: number | null;
  generator_us_per_request: number | null;
  /** Peak resident memory of the system. */
  rss_peak_bytes: number | null;
  /** The comparison metric of the load. */
  metric: number | null;
  /** The values of `Load.measures`, in their order. */
  further?: (number | null)[];
}

export interface Counts {
  planned: number;
  sent: number;
  not_sent: number;
  ok: number;
  rejected: number;
  failed: number;
  timed_out: number;
  unfinished: number;
}

/** Milliseconds. */
export interface Times {
  n: number;
  min: number | null;
  mean: number | null;
  p50: number | null;
  p90: number | null;
  p95: number | null;
  p99: number | null;
  p99_9: number | null;
  p99_99: number | null;
  max: number | null;
  /** Other percentiles that the report contains. */
  [percentile: `p${number}` | `p${number}_${number}`]: number | null;
}

/** Percentiles from 0 up to the last one with ten samples beyond it. */
export interface Spectrum {
  n: number;
  /** Pairs of a share from 0 to 1, and milliseconds. Both are ascending. */
  response: [number, number][];
  service: [number, number][];
}

/** The comparison of two rows over the blocks in which both were measured. */
export interface Pair {
  /** Indexes into `Load.rows`. The second is the baseline, if there is one. Otherwise the better row is the first. */
  first: number;
  second: number;
  /** The metric of the first divided by that of the second, or minus it, in the unit. */
  estimate: number | null;
  low: number | null;
  high: number | null;
  /** The confidence of the interval from low to high: 0.969 is 96.9 %. */
  confidence: number | null;
  verdict: 'differs' | 'differs_below' | 'equivalent' | 'inconclusive' | 'none';
  blocks: number;
  /** The ratio or difference in each of these blocks. */
  in_blocks: number[];
  /** The formatted estimate `1.12 ×` or `−398 ms`, and the interval ends. */
  estimate_text: string | null;
  ends_text: [string, string] | null;
  in_blocks_text: string[];
  sentence: string;
}

/** The likely bottleneck of a row: a ranked list of causes. */
export interface Bottleneck {
  /** An index into `Load.rows`. */
  row: number;
  /** That of its first cause. */
  certainty: Certainty;
  /** The most likely first; at least one. */
  causes: Cause[];
}

/** A cause is only suspected until an experiment confirms or refutes it. `none`: the offered load was below capacity. */
export type Certainty = 'confirmed' | 'suspected' | 'unknown' | 'none' | 'refuted';

export interface Cause {
  /** Short name, such as `CPU of the system`. */
  what: string;
  certainty: Certainty;
  /** Who vouches for it, such as `seen by the kernel`. */
  rung: string;
  /** Where it is, such as `machine`, `process app`, or `dependency 127.0.0.1:5432`. */
  scope: string;
  /** The share of the response time that it explains, from 0 to 1; null if no reading tells. */
  share: number | null;
  /** The evidence, with its numbers. */
  because: string;
  /** Further readings that support it. */
  also: string[];
  /** Readings that speak against it. */
  against: string[];
  /** What to do next; may be empty. */
  next: string;
  /** If nothing explains the row: the highest readings, the highest first. */
  highest: { words: string; share: number }[];
}

export interface ErrorKind {
  /** An index into `Load.rows`. */
  row: number;
  class: string;
  /** May contain text from the system. */
  message: string;
  count: number;
  /** Share of the planned requests of the row. */
  share: number;
  /** The meaning of the class and what to do, with code between backticks; null if unknown. */
  help: string | null;
}

/** A table whose cells are formatted in Rust, as in every other report format. */
export interface Table {
  heads: Head[];
  rows: TableRow[];
  /** The number of columns at the left that name a row. */
  names: number;
}

export interface Head {
  text: string;
  /** Shown below the text; may be empty. */
  unit: string;
  is_left: boolean;
}

export interface TableRow {
  cells: Cell[];
  is_winner: boolean;
  /** An index into `Load.rows`, if the table row is about one. */
  row: number | null;
}

export interface Cell {
  text: string;
  /** The sort key; null for texts and missing values. */
  value: number | null;
}

export interface Run {
  id: string;
  /** An index into `Report.loads`. */
  load: number;
  /** An index into `Load.rows`. */
  row: number;
  /** From 0; null outside a study. */
  block: number | null;
  standing: 'valid' | 'invalid' | 'failed' | 'cut_short';
  verdict: string;
  validity: 'valid' | 'suspect' | 'invalid';
  begun: string;
  warm_up_s: number;
  duration_s: number | null;
  /** Null if nothing was measured. */
  figures: Figures | null;
  fairness: Fairness | null;
  /** Null if no time series was stored. */
  series: Series | null;
  /** Events, in seconds since the end of the warm-up. */
  events: { at_s: number; text: string }[];
  /** What was done to the system, if anything was. Times in seconds since the end of the warm-up. */
  happened?: HappenedEvent[];
}

/** Something that was done to the system, and what it cost. */
export interface HappenedEvent {
  name: string;
  action: string;
  outcome: 'done' | 'failed' | 'underway' | 'not begun';
  begun_s: number | null;
  ended_s: number | null;
  /** Null where it is not known; then `why` may say why. */
  cost: HappenedCost | null;
  why: string | null;
  /** What held requests up; left out if it cost nothing that is known. */
  causes?: EventCauses;
  /** The course of the load around it. */
  course: Course | null;
}

export interface HappenedCost {
  /** Until when it was looked at. */
  to_s: number;
  lost: number;
  outage_ms: number;
  worst_response_ms: number | null;
  /** In request-seconds. */
  excess_wait_s: number;
  recovered: 'yes' | 'no' | 'unconfirmed';
  recovery_ms: number | null;
  /** All of it, as on the terminal: `lost 12 (10 reset, 2 rejected) + 3 stale`, `outage 800 ms`. */
  words: string[];
}

/** The load around an event, in steps of equal length. */
export interface Course {
  /** Start of the first step, in seconds since the end of the warm-up. */
  from_s: number;
  step_s: number;
  planned: number[];
  ok: number[];
  /** By class, of those that occurred; `stale_reuse` is no loss. */
  lost: Partial<Record<string, number[]>>;
  p50_ms: (number | null)[];
  max_ms: (number | null)[];
}

/** One chart over time. */
export interface TimeChart {
  key: string;
  title: string;
  unit: Unit;
  /** `lines`: from zero; `times`: log scale; `heat`: one strip per track, from 0 to 1; `stack`: areas on one another. */
  kind: 'lines' | 'times' | 'heat' | 'stack';
  tracks: Track[];
}

export interface Track {
  key: string;
  label: string;
  /** What the values describe. */
  subject: 'load' | 'system' | 'generator' | 'machine' | 'database';
}

/** The time series of one run, from the start of the load: its first bin begins `Run.warm_up_s` before the end of the warm-up. */
export interface Series {
  /** Seconds in each bin. */
  bin_s: number;
  bins: number;
  /** Packed into a string as described in `crates/report/src/html/pack.rs`, or plain; `pointsOf` of `unpack.ts` reads both. */
  tracks: Record<string, Points | string>;
  /** What must be known of a chart, by its key. */
  notes?: Record<string, string>;
}

/**
 * One value per bin. If a bin is longer than a second, `low` and `high` are the extremes of its seconds; they are omitted
 * if they equal the value.
 */
export interface Points {
  mid: (number | null)[];
  low?: (number | null)[];
  high?: (number | null)[];
}
