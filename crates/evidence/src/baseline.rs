//! Stored baselines: figures of an earlier run or study, copied when the run or study that is compared with them began.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::bounds::Bounds;
use crate::origin::Origin;

/// Stored baseline of a run or a study. Texts are untrusted: escape them before printing.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Baseline {
    /// Way in which the baseline was requested.
    pub asked: AskedBaseline,
    /// Conditions that compare the run or study with the baseline, as the user wrote them.
    pub conditions: Vec<String>,
    /// The baseline, or the reason why there is none.
    pub found: Result<Box<FoundBaseline>, String>,
}

/// Way in which a stored baseline was requested.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum AskedBaseline {
    /// The newest run or study with this label.
    Label(String),
    /// The baseline in a file. The path is as the user wrote it.
    File(String),
    /// The run or study with this name.
    Run(String),
}

/// A run or a study that others are compared with.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct FoundBaseline {
    /// Name of the run or study.
    pub id: String,
    /// Title, in one line.
    pub title: String,
    /// Start time, in milliseconds since 1970 (UTC).
    pub started_at_unix_ms: i64,
    /// Origin of the build that was measured.
    pub origin: Origin,
    /// Version of Tenbin that measured it.
    pub tenbin_version: String,
    /// Machine that measured it: a JSON object.
    pub host: serde_json::Value,
    /// Hash of the plan of a study, equal for equal plans; `None` for a run.
    pub plan_hash: Option<String>,
    /// Loads of the run or study.
    pub loads: Vec<BaselineLoad>,
    /// Configurations under each load.
    pub rows: Vec<BaselineRow>,
}

/// A load of a baseline.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct BaselineLoad {
    /// Name of the load; empty for a run that belongs to no study.
    pub name: String,
    /// Level and duration of the load, in words.
    pub words: String,
    /// Title of the runs under the load.
    pub title: String,
    /// Names of the steps.
    pub steps: Vec<String>,
    /// Plan of a run, in the form for programs.
    pub plan_json: serde_json::Value,
    /// Hash of the plan of a run, equal for equal plans.
    pub plan_hash: String,
}

/// A configuration of a baseline.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct BaselineRow {
    /// Name of the load; empty, like `system` and `variant`, for a run that belongs to no study.
    pub load: String,
    /// Name of the system.
    pub system: String,
    /// Values of the parameters, in words; empty if the system has none.
    pub variant: String,
    /// Figures of the runs, by condition and by metric.
    pub sides: Vec<BaselineSide>,
    /// Times per request of each run that counts and whose system was monitored; empty if an earlier version stored the run.
    #[serde(default)]
    pub spent: Vec<BaselineSpent>,
}

/// Mean times per request of a run, in microseconds: parts by the names that the judge uses, and CPU time by process.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct BaselineSpent {
    /// Mean response time.
    pub response_us: f64,
    /// Parts of the response time that were read, by name. Names are untrusted.
    pub parts: BTreeMap<String, f64>,
    /// CPU time in user space, by process. Names are untrusted.
    pub user_us: BTreeMap<String, f64>,
    /// CPU time in the kernel, by process. Names are untrusted.
    pub kernel_us: BTreeMap<String, f64>,
}

/// Figures of the runs of a configuration, for one condition or metric.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct BaselineSide {
    /// Condition as it was written, or name of the metric.
    pub of: String,
    /// Figures of the runs that count, in the order of the runs.
    pub figures: Vec<f64>,
    /// Bounds of these figures; `None` if they are exact, or if an earlier version stored them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bounds: Option<Vec<Bounds>>,
    /// Number of runs that count but have too few samples.
    pub too_few: u32,
    /// Number of runs that do not count.
    pub invalid: u32,
    /// Number of runs that count although the system was unavailable for part of the time.
    pub degraded: u32,
    /// Planned requests, over the runs that count, that the system did not serve.
    pub errors: u64,
    /// Planned requests, over the runs that count.
    pub planned: u64,
}

impl Baseline {
    /// Returns whether every figure is finite. NaN and infinity can be neither stored nor printed.
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
    /// Finds the configuration with this system and variant under the load `load`.
    pub fn row(&self, load: &str, system: &str, variant: &str) -> Option<&BaselineRow> {
        self.rows.iter().find(|row| (&*row.load, &*row.system, &*row.variant) == (load, system, variant))
    }

    /// Finds a load by name.
    pub fn load(&self, name: &str) -> Option<&BaselineLoad> {
        self.loads.iter().find(|load| load.name == name)
    }
}

impl BaselineRow {
    /// Finds the figures of a condition or metric.
    pub fn side(&self, of: &str) -> Option<&BaselineSide> {
        self.sides.iter().find(|side| side.of == of)
    }
}
