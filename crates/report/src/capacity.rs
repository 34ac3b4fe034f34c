//! A search for a capacity as every format sees it: what held, what failed, and every level between.

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

/// Rates that are shown without the details.
const RATES_MAX: usize = 9;

/// What a search has found, of every variant.
pub(crate) struct CapacityView {
    /// The conditions of a run; empty if this version does not understand it.
    pub(crate) slos: Vec<Condition>,
    /// The same as it was written.
    pub(crate) asked: Vec<String>,
    /// How long a soak was to be.
    pub(crate) soak_s: Option<f64>,
    /// In the order of their names.
    pub(crate) rows: Vec<CapacityRow>,
}

/// One variant under one load.
pub(crate) struct CapacityRow {
    /// May hold anything: escape it.
    pub(crate) setting: Setting,
    /// The name of the load; may hold anything.
    pub(crate) load: String,
    pub(crate) found: Capacity,
    pub(crate) levels: SearchLevels,
    /// What probably limits it; `None` if no rate failed.
    pub(crate) limit: Option<Limit>,
    /// What the scalability law says of the sizing.
    pub(crate) usl: Option<Usl>,
}

impl CapacityRow {
    /// The rates around the highest that passed and the lowest that failed, lowest first.
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
    /// `None` if the study searches for something else.
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

    /// How a row is called, not escaped: with its load where there are several.
    pub(crate) fn name(&self, row: &CapacityRow) -> String {
        let has_others = self.rows.iter().any(|other| other.load != row.load);
        let name = row.setting.name();
        if has_others { format!("{name}, {}", row.load) } else { name }
    }
}
