//! Stored baselines: figures of an earlier run or study, as they were when the run or study that is compared with them began.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::origin::Origin;

/// The stored baseline of a run or a study. Texts are untrusted: escape them before printing.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Baseline {
    /// How it was asked for.
    pub asked: AskedBaseline,
    /// The conditions that are held against it, as they were written.
    pub conditions: Vec<String>,
    /// The baseline, or why there is none.
    pub found: Result<Box<FoundBaseline>, String>,
}

/// How a stored baseline was asked for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum AskedBaseline {
    /// The newest one of this label.
    Label(String),
    /// The one in a file, as its path was written.
    File(String),
    /// The one of this name.
    Run(String),
}

/// A run or a study that others are held against.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct FoundBaseline {
    /// Its name.
    pub id: String,
    /// One line for people.
    pub title: String,
    /// When it began, in milliseconds since 1970 (UTC).
    pub started_at_unix_ms: i64,
    /// Build that was measured.
    pub origin: Origin,
    /// The version that measured.
    pub tenbin_version: String,
    /// The machine that measured: a JSON object.
    pub host: serde_json::Value,
    /// Hash of the plan of a study, equal for equal plans; `None` for a run.
    pub plan_hash: Option<String>,
    /// Its loads.
    pub loads: Vec<BaselineLoad>,
    /// Its configurations under each load.
    pub rows: Vec<BaselineRow>,
}

/// A load of a baseline.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct BaselineLoad {
    /// Its name; empty for a run that belongs to no study.
    pub name: String,
    /// How much, and for how long, in words.
    pub words: String,
    /// Title of its runs.
    pub title: String,
    /// The names of the steps.
    pub steps: Vec<String>,
    /// The plan of a run for programs.
    pub plan_json: serde_json::Value,
    /// Hash of the plan of a run, equal for equal plans.
    pub plan_hash: String,
}

/// A configuration of a baseline.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct BaselineRow {
    /// The name of the load; empty for a run that belongs to no study, as are the next two.
    pub load: String,
    /// The name of the system.
    pub system: String,
    /// The values of its parameters in words; empty if it has none.
    pub variant: String,
    /// Figures of its runs, by condition and by metric.
    pub sides: Vec<BaselineSide>,
    /// Times per request of each run that counts and whose system was read; empty if an earlier version kept it.
    #[serde(default)]
    pub spent: Vec<BaselineSpent>,
}

/// Mean times per request of a run, in microseconds: parts by names that their judge knows, and CPU time by process.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct BaselineSpent {
    /// The mean response time.
    pub response_us: f64,
    /// Its parts that were read. Names may hold anything.
    pub parts: BTreeMap<String, f64>,
    /// CPU time in user space, by process. Names may hold anything.
    pub user_us: BTreeMap<String, f64>,
    /// CPU time in the kernel, by process.
    pub kernel_us: BTreeMap<String, f64>,
}

/// Figures of the runs of a configuration by one condition or metric.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct BaselineSide {
    /// The condition as it was written, or the name of the metric.
    pub of: String,
    /// Figures of the runs that count, in order.
    pub figures: Vec<f64>,
    /// Runs that count, and have too few samples.
    pub too_few: u32,
    /// Runs that do not count.
    pub invalid: u32,
    /// Runs that count, in which the system was gone for part of the time.
    pub degraded: u32,
    /// Planned requests of the runs that count that the system did not serve.
    pub errors: u64,
    /// Planned requests of the runs that count.
    pub planned: u64,
}

impl Baseline {
    /// Whether every figure is finite, and so can be kept and printed.
    pub fn is_finite(&self) -> bool {
        let rows = self.found.iter().flat_map(|found| &found.rows);
        rows.clone()
            .flat_map(|row| &row.sides)
            .flat_map(|side| &side.figures)
            .all(|figure| figure.is_finite())
            && rows.flat_map(|row| &row.spent).all(BaselineSpent::is_finite)
    }
}

impl BaselineSpent {
    fn is_finite(&self) -> bool {
        let Self { response_us, parts, user_us, kernel_us } = self;
        let all = [parts, user_us, kernel_us].into_iter().flat_map(BTreeMap::values);
        all.chain([response_us]).all(|us| us.is_finite())
    }
}

impl FoundBaseline {
    /// Its configuration of this system and variant, under the load of this name.
    pub fn row(&self, load: &str, system: &str, variant: &str) -> Option<&BaselineRow> {
        self.rows.iter().find(|row| (&*row.load, &*row.system, &*row.variant) == (load, system, variant))
    }

    /// Its load of this name.
    pub fn load(&self, name: &str) -> Option<&BaselineLoad> {
        self.loads.iter().find(|load| load.name == name)
    }
}

impl BaselineRow {
    /// Figures of its runs by this condition or metric.
    pub fn side(&self, of: &str) -> Option<&BaselineSide> {
        self.sides.iter().find(|side| side.of == of)
    }
}
