//! Data of a capacity search for all formats: passing rates, failing rates, and every level.

mod drawn;
mod limit;
mod page;
mod sentences;
mod table;

use evidence::{EvidenceError, Procedure, Study};
use judge::results::Capacity;
use judge::results::Usl;
use judge::{Condition, Setting, settings};

use crate::LoadRun;

pub(crate) use judge::levels::{LevelRow, SearchLevels, SizeRow};
pub(crate) use limit::Limit;
pub(crate) use page::{answers, brief, details};
pub(crate) use sentences::{answer, facts, objectives};
pub(crate) use table::table;

/// Maximum number of rates outside of the details.
const RATES_MAX: usize = 9;

/// Result of a capacity search, with all variants.
pub(crate) struct CapacityView {
    /// Conditions of a run. Empty if this version does not understand them.
    pub(crate) slos: Vec<Condition>,
    /// Conditions as written in the plan.
    pub(crate) asked: Vec<String>,
    /// Planned length of the soak run, in seconds. `None` without one.
    pub(crate) soak_s: Option<f64>,
    /// Rows, sorted by the names of their variants.
    pub(crate) rows: Vec<CapacityRow>,
}

/// Capacity of one variant under one load.
pub(crate) struct CapacityRow {
    /// Name of the variant. Arbitrary text: escape it.
    pub(crate) setting: Setting,
    /// Name of the load. Arbitrary text: escape it.
    pub(crate) load: String,
    pub(crate) found: Capacity,
    pub(crate) levels: SearchLevels,
    /// Likely bottleneck. `None` if no rate failed.
    pub(crate) limit: Option<Limit>,
    /// Fit of the universal scalability law to the sizing runs. `None` without a fit.
    pub(crate) usl: Option<Usl>,
}

impl CapacityRow {
    /// Rates near the highest passing and the lowest failing one, lowest first.
    fn rates_near_result(&self) -> &[LevelRow] {
        let rates = &self.levels.rates;
        let below = |limit: f64| rates.iter().filter(|rate| rate.per_s < limit).count();
        let ends = [self.found.held_per_s, self.found.failed_per_s].map(|end| end.map_or(0, below));
        let from = ends[0].midpoint(ends[1]).saturating_sub(RATES_MAX / 2);
        let from = from.min(rates.len().saturating_sub(RATES_MAX));
        &rates[from..rates.len().min(from + RATES_MAX)]
    }
}

impl CapacityView {
    /// `None` if the study is not a capacity search.
    pub(crate) fn of(study: &Study, load_run: LoadRun<'_>) -> Result<Option<Self>, EvidenceError> {
        let Procedure::Capacity(rules) = &study.new.compare.procedure else { return Ok(None) };
        let slos: Result<Vec<Vec<Condition>>, _> =
            rules.slos.iter().map(|slo| Condition::parse_list(slo)).collect();
        let slos: Vec<Condition> = slos.map(|slos| slos.into_iter().flatten().collect()).unwrap_or_default();
        let mut rows = Vec::new();
        for load in study.new.loads_of_places() {
            for setting in settings(study, load) {
                let mut levels = SearchLevels::default();
                let search = judge::search_by(study, load, &setting, &mut |run, level| {
                    levels.note(&load_run(&run.id)?, level, &slos)
                })?;
                let Some(search) = search else { continue };
                levels.rates.sort_by(|a, b| a.per_s.total_cmp(&b.per_s));
                let found = search.finding();
                rows.push(CapacityRow {
                    limit: Limit::of(study, &found, &levels)?,
                    found,
                    usl: levels.scalability(study.new.seed),
                    load: load.to_owned(),
                    setting,
                    levels,
                });
            }
        }
        Ok(Some(Self { slos, asked: rules.slos.clone(), soak_s: rules.soak_s, rows }))
    }

    /// Name of a row, with its load if there are several loads. Not escaped.
    pub(crate) fn name(&self, row: &CapacityRow) -> String {
        let has_others = self.rows.iter().any(|other| other.load != row.load);
        let name = row.setting.name();
        if has_others { format!("{name}, {}", row.load) } else { name }
    }
}
