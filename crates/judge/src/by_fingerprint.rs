//! Compares two variants by fingerprint: finds statements of a replayed log that became slower or faster, fail more
//! often, or return other rows.
//!
//! Each statement is tested by up to four figures of each block: its mean time, and its errors, rows, and checksum of rows. All tests
//! under a load share one error rate.

use std::collections::BTreeMap;

use evidence::{EvidenceError, Run};
use record::Phase;
use stats::{Family, PairedTest, median};

/// Max probability that any statement is reported without a difference.
pub const FAMILY_ERROR_RATE: f64 = 0.05;
/// Key of the replay in the stored plan of a run.
const REPLAY_OF_PLAN: &str = "replay";
/// Subject of readings at the end of a replay. The label is the number of the fingerprint.
pub const REPLAY_SUBJECT: &str = "replay";
/// Metric: number of rows that a fingerprint returned.
pub const REPLAYED_ROWS: &str = "rows";
/// Metric: low 48 bits of the checksum over the rows of a fingerprint.
pub const REPLAYED_CHECKSUM: &str = "rows_checksum";

/// Returns the name of the output with the plan of a fingerprint's statements.
pub fn plan_output(number: usize) -> String {
    format!("plan of statement {number}")
}

/// Figure by which a statement differs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Aspect {
    /// Mean time from sending to the end of the reply.
    Time,
    /// Share of statements that failed.
    Errors,
    /// Rows per statement.
    Rows,
    /// Contents of the rows.
    Contents,
}

impl Aspect {
    /// All aspects, in the order of tests.
    pub const ALL: [Self; 4] = [Self::Time, Self::Errors, Self::Rows, Self::Contents];

    /// Returns the name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::Time => "time",
            Self::Errors => "errors",
            Self::Rows => "rows",
            Self::Contents => "contents",
        }
    }
}

/// Two variants, by fingerprint.
#[derive(Clone, Debug)]
pub struct FingerprintComparison {
    /// Indexes of the reference and of the other variant among the rows of the load.
    pub variants: [usize; 2],
    /// Number of blocks in which both have a run.
    pub blocks: usize,
    /// Number of tests that share the error rate, over all comparisons of the load.
    pub family: usize,
    /// Number of blocks in which a statement could be reported.
    pub blocks_needed: u32,
    /// Statements: first those that differ, then by extra time in the other variant.
    pub statements: Vec<ComparedStatement>,
}

/// One statement of two variants. Pairs have the reference first.
#[derive(Clone, Debug)]
pub struct ComparedStatement {
    /// Number of the fingerprint.
    pub number: usize,
    /// Text with masked values.
    pub text: String,
    /// Number of statements over all blocks.
    pub counts: [u64; 2],
    /// Number of errors over all blocks.
    pub errors: [u64; 2],
    /// Median over blocks of the mean time, in nanoseconds. `None` if nothing ended.
    pub mean_ns: [Option<f64>; 2],
    /// Median over blocks of rows per statement. `None` if no run records it.
    pub rows: [Option<f64>; 2],
    /// Median over blocks of the ratio of mean times, other to reference. `None` if nothing ended.
    pub ratio: Option<f64>,
    /// Median over blocks of the extra time of the other variant for all statements, in nanoseconds.
    pub extra_ns: f64,
    /// Figures that differ.
    pub differs: Vec<Aspect>,
    /// Smallest p-value of its tests. `None` if no test was possible.
    pub p: Option<f64>,
    /// Newest plan in each variant, with masked values. `None` if it does not differ, or if none was stored.
    pub plans: [Option<String>; 2],
}

impl ComparedStatement {
    /// Returns whether the other variant is worse: slower, with more errors, or with other rows.
    pub fn is_regression(&self) -> bool {
        self.differs.iter().any(|aspect| match aspect {
            Aspect::Time => self.ratio.is_some_and(|ratio| ratio > 1.0),
            Aspect::Errors => self.errors[1] > self.errors[0],
            Aspect::Rows | Aspect::Contents => true,
        })
    }
}

/// Figures of a fingerprint in one run.
#[derive(Clone, Copy, Debug, Default)]
struct Figures {
    count: u64,
    errors: u64,
    sum_ns: f64,
    rows: Option<f64>,
    checksum: Option<f64>,
}

/// Runs of a variant by block.
pub type RunsByBlock<'a> = BTreeMap<u32, &'a Run>;

/// Returns whether a run replayed a log.
pub fn is_replay(run: &Run) -> bool {
    run.new.plan_json.get(REPLAY_OF_PLAN).is_some_and(|replay| !replay.is_null())
}

/// Compares the variants of a load with the one at `reference`. Empty if their runs replayed no log, or different ones.
///
/// # Errors
///
/// A stored run is damaged.
pub fn compare_fingerprints(
    variants: &[RunsByBlock<'_>],
    reference: usize,
) -> Result<Vec<FingerprintComparison>, EvidenceError> {
    let Some(first) = variants.iter().find_map(|runs| runs.values().next()).filter(|run| is_replay(run))
    else {
        return Ok(Vec::new());
    };
    let is_same = |run: &&Run| run.new.parts == first.new.parts;
    let names: Vec<String> = first.new.parts.iter().map(|part| part.name.clone()).collect();
    if !variants.iter().flat_map(BTreeMap::values).all(is_same) {
        return Ok(Vec::new());
    }
    let Some(base) = variants.get(reference) else { return Ok(Vec::new()) };
    let base = figures_by_block(base)?;
    let mut pairs = Vec::new();
    for (number, runs) in variants.iter().enumerate().filter(|(number, _)| *number != reference) {
        let other = figures_by_block(runs)?;
        let blocks: Vec<[&Vec<Figures>; 2]> =
            base.iter().filter_map(|(block, base)| Some([base, other.get(block)?])).collect();
        let statements: Vec<Blocks> = (0..names.len()).map(|place| Blocks::of(&blocks, place)).collect();
        pairs.push((number, blocks.len(), statements));
    }
    let tests: Vec<Option<PairedTest>> =
        pairs.iter().flat_map(|(.., statements)| statements.iter().flat_map(Blocks::tests)).collect();
    let Family { is_significant, size } = Family::judge(&tests, FAMILY_ERROR_RATE);
    let blocks_needed = stats::blocks_for_family(names.len() * pairs.len(), FAMILY_ERROR_RATE);
    let mut judged = tests.iter().zip(is_significant);
    let compared = pairs.into_iter().map(|(number, blocks, statements)| {
        let statement = |(place, of): (usize, Blocks)| {
            let own: Vec<(&Option<PairedTest>, bool)> = judged.by_ref().take(Aspect::ALL.len()).collect();
            of.statement(place, &names[place], &own)
        };
        let mut statements: Vec<ComparedStatement> =
            statements.into_iter().enumerate().map(statement).collect();
        statements.retain(|statement| statement.counts != [0, 0]);
        for statement in statements.iter_mut().filter(|statement| !statement.differs.is_empty()) {
            statement.plans = [reference, number].map(|row| newest_plan(&variants[row], statement.number));
        }
        statements.sort_by(|a, b| {
            let rank = |one: &ComparedStatement| (one.is_regression(), !one.differs.is_empty());
            rank(b).cmp(&rank(a)).then(b.extra_ns.total_cmp(&a.extra_ns))
        });
        FingerprintComparison {
            variants: [reference, number],
            blocks,
            family: size,
            blocks_needed,
            statements,
        }
    });
    Ok(compared.collect())
}

fn figures_by_block(runs: &RunsByBlock<'_>) -> Result<BTreeMap<u32, Vec<Figures>>, EvidenceError> {
    runs.iter().map(|(block, run)| Ok((*block, figures(run)?))).collect()
}

/// Returns the plan of a fingerprint in the newest run that has one.
fn newest_plan(runs: &RunsByBlock<'_>, number: usize) -> Option<String> {
    let name = plan_output(number);
    let mut outputs = runs.values().rev().flat_map(|run| run.outputs());
    let output = outputs.find(|output| output.process == name)?;
    Some(String::from_utf8_lossy(&output.text).into_owned())
}

/// Returns the figures of all fingerprints in a run, by number.
fn figures(run: &Run) -> Result<Vec<Figures>, EvidenceError> {
    let mut list = Vec::with_capacity(run.new.parts.len());
    for number in (run.new.steps.len()..).take(run.new.parts.len()) {
        let tally = run.total(number as u16, Phase::Measured)?;
        let times = tally.service.all();
        let counts = &tally.counts;
        list.push(Figures {
            count: times.count(),
            errors: counts.ended().saturating_sub(counts.ok),
            sum_ns: times.sum_ns() as f64,
            ..Figures::default()
        });
    }
    for reading in run.readings().filter(|reading| reading.subject == REPLAY_SUBJECT) {
        let Some(figures) = reading.label.parse().ok().and_then(|place: usize| list.get_mut(place)) else {
            continue;
        };
        match reading.metric {
            REPLAYED_ROWS => figures.rows = Some(reading.value),
            REPLAYED_CHECKSUM => figures.checksum = Some(reading.value),
            _ => {}
        }
    }
    Ok(list)
}

/// Figures of one fingerprint in all blocks, reference first.
struct Blocks(Vec<[Figures; 2]>);

impl Figures {
    fn mean_ns(&self) -> Option<f64> {
        (self.count > 0).then(|| self.sum_ns / self.count as f64)
    }

    fn error_share(&self) -> f64 {
        self.errors as f64 / self.count.max(1) as f64
    }

    fn rows_per_execution(&self) -> Option<f64> {
        Some(self.rows? / self.count.max(1) as f64)
    }
}

impl Blocks {
    fn of(blocks: &[[&Vec<Figures>; 2]], place: usize) -> Self {
        let figures = |of: &Vec<Figures>| of.get(place).copied().unwrap_or_default();
        Self(blocks.iter().map(|[base, other]| [figures(base), figures(other)]).collect())
    }

    /// Tests all aspects, in their order.
    fn tests(&self) -> [Option<PairedTest>; 4] {
        Aspect::ALL.map(|aspect| {
            let difference = |[base, other]: &[Figures; 2]| match aspect {
                Aspect::Time => Some((other.mean_ns()? / base.mean_ns()?).ln()),
                Aspect::Errors => Some(other.error_share() - base.error_share()),
                Aspect::Rows => Some(other.rows_per_execution()? - base.rows_per_execution()?),
                Aspect::Contents => Some(other.checksum? - base.checksum?),
            };
            let differences: Vec<f64> = self.0.iter().filter_map(difference).collect();
            PairedTest::of(&differences)
        })
    }

    fn statement(
        &self,
        number: usize,
        text: &str,
        tests: &[(&Option<PairedTest>, bool)],
    ) -> ComparedStatement {
        let sum = |figure: fn(&Figures) -> u64| {
            [0, 1].map(|side| self.0.iter().map(|pair| figure(&pair[side])).sum())
        };
        let middle = |figure: &dyn Fn(&[Figures; 2]) -> Option<f64>| {
            let values: Vec<f64> = self.0.iter().filter_map(figure).collect();
            median(values)
        };
        let differs = Aspect::ALL.into_iter().zip(tests).filter(|(_, (_, is_significant))| *is_significant);
        let p = tests.iter().filter_map(|(test, _)| test.map(|test| test.p)).reduce(f64::min);
        ComparedStatement {
            number,
            text: text.to_owned(),
            counts: sum(|figures| figures.count),
            errors: sum(|figures| figures.errors),
            mean_ns: [0, 1].map(|side: usize| middle(&|pair| pair[side].mean_ns())),
            rows: [0, 1].map(|side: usize| middle(&|pair| pair[side].rows_per_execution())),
            ratio: middle(&|[base, other]| Some(other.mean_ns()? / base.mean_ns()?)),
            extra_ns: middle(&|[base, other]| Some(other.sum_ns - base.sum_ns)).unwrap_or(0.0),
            differs: differs.map(|(aspect, _)| aspect).collect(),
            p,
            plans: [None, None],
        }
    }
}
