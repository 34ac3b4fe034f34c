/**
 * What the page is made from: one JSON object that `tenbin report --format html` puts into the page.
 *
 * `crates/report/src/html` writes it; the two change together. It is not for other programs: those read `--format json`.
 * Every judgement and every sentence is made in Rust; the page draws. Texts from outside are plain text, never markup.
 * A figure that is not known, or rests on too few samples, is null.
 */
export interface Report {
  schema: 'tenbin.page/1';
  /** A study; one run; several stored runs side by side, of which nothing is ranked. */
  kind: 'study' | 'run' | 'runs';
  /** The name of the plan, or what was loaded. */
  title: string;
  question: string | null;
  /** Such as `s-20261121-142500-ab12`, or the name of the run. */
  id: string;
  /** When it began, such as `2026-11-21 14:25:00 UTC`. */
  begun: string;
  tenbin_version: string;
  /** How what was counted is called. */
  counted: Counted;
  /** What every reader must know before anything else. */
  notices: Notice[];
  validity: Validity;
  /** What was compared by what, how many runs, machine, versions. */
  facts: Fact[];
  loads: Load[];
  /** How much each variant bears; null if that is not what was asked. A search has no `loads`. */
  capacity: CapacitySearch | null;
  /** In order of their positions. `Row.runs` points into it. */
  runs: Run[];
  /** What there is to draw over time. `Series.tracks` has figures by `Track.key`. */
  charts: TimeChart[];
  /** How to make it again, and to see it again. */
  commands: Fact[];
  /** The text of the plan file. */
  plan: string | null;
}

/** How much load each variant bears while it meets objectives. */
export interface CapacitySearch {
  /** What had to hold in a run, all together. */
  objectives: Objective[];
  /** A variant each. */
  rows: Capacity[];
}

export interface Objective {
  /** Such as `p99 < 200 ms`. */
  words: string;
  /** Of which response time it speaks, if it speaks of one, and the limit. */
  time: TimeKey | null;
  limit_ms: number | null;
}

export type TimeKey = 'mean' | 'p50' | 'p90' | 'p95' | 'p99' | 'p99_9' | 'max';

export interface Capacity {
  /** System and variant. */
  name: string;
  system: string;
  answer: Answer;
  /** The largest rate that was shown to hold, and the smallest that was shown to fail. */
  held_per_s: number | null;
  failed_per_s: number | null;
  /** Between these rates runs passed and failed by chance. */
  noise_per_s: [number, number] | null;
  /** In order of their rates. */
  levels: Level[];
  /** A row for each level, and for each size of the sizing. */
  table: Table;
  /** What else the search found: overload and recovery, soak, fit of a law. */
  facts: Fact[];
}

/** A rate that was asked of a system, over all its runs. */
export interface Level {
  per_s: number;
  /** Of its runs. */
  passed: number;
  failed: number;
  invalid: number;
  /** Such as `p99 < 200 ms was 412 ms`; empty where nothing failed. */
  failed_by: string;
  /** Of all its runs that may be believed together. */
  ok_per_s: number | null;
  response_ms: Times | null;
}

/** Requests and their answers; or transactions, of which there are only these. */
export interface Counted {
  /** Such as `request`. */
  one: string;
  many: string;
  answers: string;
  /** What a load goes through: `step`, or `transaction`. */
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

/** May the numbers be believed, and if not, what is to be done? */
export interface Validity {
  level: 'valid' | 'suspect' | 'invalid';
  /** Such as `All 42 runs are valid.` */
  sentence: string;
  doubts: Doubt[];
}

export interface Doubt {
  tone: Tone;
  /** Which variant and how many of its runs; empty for a single run. */
  where: string;
  sentence: string;
  /** What to do; may be empty. */
  remedy: string;
  /** Lines that a system wrote. */
  quote: string[];
}

/** Everything under one load. A page of runs that are no study has one, too. */
export interface Load {
  name: string;
  /** Such as `100 users, closed, 60 s after 10 s of warm-up`. */
  words: string;
  answer: Answer;
  metric: Metric;
  rows: Row[];
  table: Table;
  /** What the table leaves unsaid, a sentence each. */
  legend: string[];
  /** All figures of each step; of several runs side by side, their service times. */
  steps: Table | null;
  /** What each statement of transactions took, and how much of their time. */
  statements: Table | null;
  /** The row that all others are compared with: a place in `rows`. */
  baseline: number | null;
  /** The best against each other, the best first; or all against the baseline. */
  pairs: Pair[];
  /** What to keep in mind about them. */
  caveats: string[];
  /** What stopped each row from being faster, as far as the readings tell. */
  bottlenecks: Bottleneck[];
  errors: ErrorKind[];
  /** What systems with errors wrote most often. */
  written: string[];
  gates: Notice[];
}

export interface Answer {
  /** `sure`: a verdict. `open`: none yet. `none`: there can be none. `plain`: nothing was compared. */
  certainty: 'sure' | 'open' | 'none' | 'plain';
  /** One sentence. */
  text: string;
  /** How sure that is and why, in a few words, such as `differs, 6 of 6 blocks, 96.9 % confidence`. */
  how_sure: string;
}

/** What variants are compared by. */
export interface Metric {
  name: string;
  words: string;
  /** `per_s`, `ms`, `share`, `us`, `bytes`. */
  unit: Unit;
  higher_is_better: boolean;
  /** The smallest difference that matters, as a share. */
  matters: number;
}

export type Unit = 'per_s' | 'ms' | 'us' | 'share' | 'bytes' | 'bytes_per_s' | 'cores' | 'count' | 's';

/** One variant under one load, over all blocks; or one stored run. */
export interface Row {
  /** System and variant, such as `puma workers=2 threads=4`. */
  name: string;
  system: string;
  /** Empty if the system has no knobs. */
  variant: string;
  knobs: { name: string; value: string }[];
  /** Places in `Report.runs`, in order of blocks. */
  runs: number[];
  /** The best setting of its system. */
  is_best: boolean;
  /** Better than every row it was compared with: it alone has the star. */
  is_winner: boolean;
  /** Whether the figures are of runs that may be believed. */
  is_valid: boolean;
  /** Of all its valid runs together: percentiles are never averaged. */
  figures: Figures | null;
  /** The metric over its runs. */
  metric: Spread | null;
  /** Of all its valid runs together. */
  spectrum: Spectrum | null;
}

/** Over runs. */
export interface Spread {
  n: number;
  median: number;
  min: number;
  max: number;
}

export interface Figures {
  /** Requests that ended. */
  samples: number;
  counts: Counts;
  /** Ok answers per second; of a row the median over runs. */
  ok_per_s: number | null;
  /** Of the planned requests, those that were rejected, failed, timed out, or were not sent: 0.01 is 1 %. */
  error_share: number | null;
  response_ms: Times;
  service_ms: Times;
  lateness_ms: Times;
  received_bytes: number;
  sent_bytes: number;
  /** Cores kept busy on average. */
  system_cores: number | null;
  generator_cores: number | null;
  system_us_per_request: number | null;
  generator_us_per_request: number | null;
  /** The most resident memory of the system. */
  rss_peak_bytes: number | null;
  /** The metric of the load it belongs to. */
  metric: number | null;
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
  /** Other percentiles that Rust has worked out. */
  [percentile: `p${number}` | `p${number}_${number}`]: number | null;
}

/** Percentiles from 0 up, as far as there are ten samples beyond each. */
export interface Spectrum {
  n: number;
  /** Pairs of a share from 0 to 1, and milliseconds. Both grow. */
  response: [number, number][];
  service: [number, number][];
}

/** Two rows over the blocks in which both were measured. */
export interface Pair {
  /** Places in `Load.rows`. The second is the baseline, if there is one; else, if either is better, it is the first. */
  first: number;
  second: number;
  /** The metric of the first as a multiple of the second's. */
  ratio: number | null;
  low: number | null;
  high: number | null;
  /** Of the interval from low to high: 0.969 is 96.9 %. */
  confidence: number | null;
  verdict: 'differs' | 'differs_below' | 'equivalent' | 'inconclusive' | 'none';
  blocks: number;
  /** The ratio in each of these blocks. */
  ratios: number[];
  /** The same as sentences write them: `1.12 ×`, the ends `1.08` and `1.15`. */
  ratio_text: string | null;
  ends_text: [string, string] | null;
  ratios_text: string[];
  sentence: string;
}

/** What probably kept a row from doing more. */
export interface Bottleneck {
  /** A place in `Load.rows`. */
  row: number;
  /** Such as `CPU of the system`, in a few words. */
  what: string;
  /** The evidence, in a sentence with its figures. */
  because: string;
  /** Nothing is more than suspected until a perturbation has confirmed it. */
  certainty: 'suspected' | 'unknown';
}

export interface ErrorKind {
  /** A place in `Load.rows`. */
  row: number;
  class: string;
  /** May quote the system. */
  message: string;
  count: number;
  /** Of the planned requests of the row. */
  share: number;
  /** What the class means and what to do, in sentences with code between backticks; null where it is not known. */
  help: string | null;
}

/** A table in words and figures, written in Rust as in every other format. */
export interface Table {
  heads: Head[];
  rows: TableRow[];
  /** So many columns at the left name a row. */
  names: number;
}

export interface Head {
  text: string;
  /** Below the text; may be empty. */
  unit: string;
  is_left: boolean;
}

export interface TableRow {
  cells: Cell[];
  is_winner: boolean;
  /** A place in `Load.rows`, where the row of the table is about one. */
  row: number | null;
}

export interface Cell {
  text: string;
  /** What the column is sorted by; null for words, and where there is no figure. */
  value: number | null;
}

export interface Run {
  id: string;
  /** A place in `Report.loads`. */
  load: number;
  /** A place in `Load.rows`. */
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
  /** Null if no second was kept. */
  series: Series | null;
  /** What happened at an instant, in seconds since the load began. */
  events: { at_s: number; text: string }[];
}

/** How evenly the connections were served. */
export interface Fairness {
  connections: number;
  requests: MinMedianMax;
  response_mean_ms: MinMedianMax | null;
  response_max_ms: MinMedianMax | null;
}

export interface MinMedianMax {
  min: number;
  median: number;
  max: number;
}

/** One picture over time. */
export interface TimeChart {
  key: string;
  title: string;
  unit: Unit;
  /** `lines` from zero; `times` on a log axis; `heat`: a strip per track, from 0 to 1. */
  kind: 'lines' | 'times' | 'heat';
  tracks: Track[];
}

export interface Track {
  key: string;
  label: string;
  /** Whose figure it is. */
  subject: 'load' | 'system' | 'generator' | 'machine';
}

/** Figures of one run over time, from the start of the load, warm-up included. */
export interface Series {
  /** Seconds in each bin; the first bin begins at 0. */
  bin_s: number;
  bins: number;
  /** Rust packs them into letters, by the rules of `crates/report/src/html/pack.rs`; `pointsOf` of `unpack.ts` gives either. */
  tracks: Record<string, Points | string>;
}

/**
 * One figure a bin. Where a bin is longer than a second, `low` and `high` are the extremes of its seconds; they are left out
 * where they say nothing more.
 */
export interface Points {
  mid: (number | null)[];
  low?: (number | null)[];
  high?: (number | null)[];
}
