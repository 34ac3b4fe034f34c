//! One stored study as every format sees it: under each load a row per variant, who is best, and by how much.

use alphanumeric_sort::compare_str;
use evidence::{EvidenceError, Study, StudyPlace};
use judge::comparison::{self, LoadOfStudy, Pairs, Standings, Variant};
use judge::results::TournamentFindings;
use judge::{Diagnosis, Eligibility, MeasuredRun};
use units::Utc;

use crate::LoadRun;
use crate::apart;
use crate::capacity::CapacityView;
use crate::compared::AgainstStored;
use crate::metric::ComparedBy;
use crate::noun::Noun;
use crate::short;
use crate::transactions;
use crate::view::View;
use crate::words;

mod against;
mod answer;
mod bottlenecks;
mod brief;
mod certainty;
mod cores;
pub(crate) mod cpu_profiles;
pub(crate) mod event_costs;
pub(crate) mod experiment;
pub(crate) mod explained;
mod failing;
mod gates;
mod layout;
mod of_baseline;
pub(crate) mod others;
mod over_runs;
mod pieces;
mod rows;
mod screen;
mod sentences;
pub(crate) mod tables;
pub(crate) mod tournament;
pub(crate) mod troubles;
mod validity;
mod written;

pub(crate) use answer::{answer, headline, winner};
pub(crate) use brief::Brief;
pub(crate) use gates::{failed, of_load as gates_of_load, unjudged, why_unjudged};
pub(crate) use layout::items;
pub(crate) use of_baseline::{Answer as BaselineAnswer, GateOfBaseline, facts as of_baseline};
pub(crate) use pieces::{StudyPieces, runs, tone};
pub(crate) use rows::VariantRow;
pub(crate) use sentences::{Name, caveats, pair, reason, row_name, scale, verdict_name, verdict_word};
pub(crate) use validity::validity;

pub(crate) use judge::comparison::{Pair, Ranked, Sliced};

/// A study with its figures worked out.
pub(crate) struct StudyView<'a> {
    pub(crate) study: &'a Study,
    /// Loads one of its runs with its seconds.
    pub(crate) load_run: LoadRun<'a>,
    /// What variants are compared by; `None` if this version does not know it.
    pub(crate) metric: Option<ComparedBy>,
    /// In order of their positions.
    pub(crate) runs: Vec<View<'a>>,
    /// In the order of the plan; of a study that does not have it, in natural order of their names.
    pub(crate) loads: Vec<LoadView<'a>>,
    /// Places of which no run is done.
    pub(crate) missing: usize,
    /// Of a search for a capacity, whose loads have nothing to compare.
    pub(crate) capacity: Option<CapacityView>,
    /// Gates that are conditions of a baseline, each with the configuration that it is about.
    pub(crate) of_baseline: Vec<GateOfBaseline>,
    /// Against the stored baseline, if there is one.
    pub(crate) against_stored: AgainstStored,
    /// What an experiment showed, if the study made one.
    pub(crate) diagnosis: Option<Diagnosis>,
}

/// Everything under one load.
pub(crate) struct LoadView<'a> {
    /// May hold anything: escape it.
    pub(crate) name: &'a str,
    /// The load in words, and how long it lasts, of any of its runs.
    pub(crate) words: Option<String>,
    /// A row per variant, in natural order.
    pub(crate) rows: Vec<VariantRow<'a>>,
    /// The rows that may be ranked, the best first.
    pub(crate) ranking: Vec<Ranked>,
    /// The best head-to-head, or every row against the baseline.
    pub(crate) pairs: Vec<Pair>,
    /// The same pairs by further metrics.
    pub(crate) further: Vec<Pair>,
    /// The row that all others are compared with, if there is one.
    pub(crate) baseline: Option<usize>,
    /// What a tournament has found, if the study is one: its settings are places in `rows`.
    pub(crate) found: Option<TournamentFindings>,
    /// What slices say beyond their figures, if it was made in slices.
    pub(crate) sliced: Option<Sliced>,
}

impl<'a> StudyView<'a> {
    pub(crate) fn of(study: &'a Study, load_run: LoadRun<'a>) -> Result<Self, EvidenceError> {
        let runs = study.runs.iter().map(View::of).collect::<Result<Vec<_>, _>>()?;
        let by = match study.new.compare.asks_for_failures() {
            true => failing::SHOWN_BY,
            false => &study.new.compare.by,
        };
        let metric = ComparedBy::named(by);
        let mut names = study.new.loads_of_places();
        names.sort_by(|a, b| compare_str(a, b));
        study.new.sort_loads(&mut names);
        let measured: Vec<MeasuredRun<'_>> = runs.iter().map(View::measured_run).collect();
        let mut loads = Vec::with_capacity(names.len());
        for name in names {
            let rows = rows::of_load(study, name, &runs, metric.as_ref())?;
            let words = runs.iter().find(|view| view.place().is_some_and(|place| place.load == name));
            let words = words.map(|view| match study.new.compare.procedure.slices() {
                None => words::planned_load(&view.run.new),
                Some(rules) => words::load_in_slices(&view.run.new, rules),
            });
            let variants: Vec<&Variant<'_>> = rows.iter().map(|row| &row.variant).collect();
            let found = comparison::tournament_findings(study, name, &variants)?;
            let of_load = |by| LoadOfStudy { study, load: name, variants: &variants, runs: &measured, by };
            let standings = metric.as_ref().map(|by| of_load(by).standings(found.as_ref())).transpose()?;
            let Standings { ranking, pairs, baseline } = standings.unwrap_or_default();
            let Pairs { first: pairs, further } = pairs;
            let sliced = |by| comparison::sliced(study, name, &variants, by);
            let sliced = metric.as_ref().map_or(Ok(None), sliced)?;
            loads.push(LoadView { name, words, rows, ranking, pairs, further, baseline, found, sliced });
        }
        let missing = study.missing().count();
        let capacity = CapacityView::of(study, load_run)?;
        let of_baseline = of_baseline::gates(study, &loads, &runs, load_run)?;
        let against_stored = AgainstStored::default();
        let diagnosis = Diagnosis::of(study)?;
        let view = Self {
            study,
            load_run,
            metric,
            runs,
            loads,
            missing,
            capacity,
            of_baseline,
            against_stored,
            diagnosis,
        };
        let against_stored = AgainstStored::of(&view)?;
        Ok(Self { against_stored, ..view })
    }

    /// What was counted in it, in words.
    pub(crate) fn noun(&self) -> &'static Noun {
        Noun::of_all(&self.runs)
    }

    /// What variants are compared by, in words; empty if this version does not know it.
    pub(crate) fn metric_words(&self) -> String {
        self.metric.as_ref().map_or_else(String::new, |by| by.words(self.noun().unit))
    }

    /// What does not matter, in words; empty if this version does not know the metric.
    pub(crate) fn matters(&self) -> String {
        let by = self.metric.as_ref();
        by.map_or_else(String::new, |by| apart::min_effect(by, by.min_effect(&self.study.new.compare)))
    }

    /// What everybody must know of transactions in it that may or may not have taken effect.
    pub(crate) fn unknown(&self) -> Option<String> {
        let rows = self.loads.iter().flat_map(|load| &load.rows);
        transactions::unknown(rows.filter_map(|row| row.figures.as_ref()))
    }

    /// That throughput may be off, where runs are too short.
    pub(crate) fn too_short(&self) -> Option<String> {
        let counting = self.counting();
        let views = self.runs.iter().zip(counting).filter(|(_, counts)| *counts).map(|(view, _)| view);
        short::doubt_of_many(views.filter(|_| self.capacity.is_none()))
    }

    /// When it began.
    pub(crate) fn started_at(&self) -> Utc {
        Utc::from_unix_ms(self.study.new.started_at_unix_ms)
    }

    /// Which of its runs count in tables, in their order.
    pub(crate) fn counting(&self) -> Vec<bool> {
        let mut counting = vec![false; self.runs.len()];
        let rows = self.loads.iter().flat_map(|load| &load.rows);
        let runs = rows.flat_map(|row| row.eligibility(Eligibility::Valid));
        runs.for_each(|run| counting[run] = true);
        counting
    }

    /// How many runs it plans.
    pub(crate) fn planned(&self) -> usize {
        self.study.new.planned.len()
    }

    /// How many of them are done.
    pub(crate) fn done(&self) -> usize {
        self.planned().saturating_sub(self.missing)
    }
}

impl LoadView<'_> {
    /// The best row of each system, the best first.
    pub(crate) fn bests(&self) -> impl Iterator<Item = &Ranked> {
        self.ranking.iter().filter(|ranked| ranked.is_best)
    }
}

/// How a variant is called, not escaped.
pub(crate) fn name(place: &StudyPlace) -> String {
    match place.variant.as_str() {
        "" => place.system.clone(),
        variant => format!("{} {variant}", place.system),
    }
}
