//! Data of a study for all formats: a row per variant under each load, the ranking, and the comparisons.

use alphanumeric_sort::compare_str;
use evidence::{EvidenceError, Procedure, Study, StudyPlace, UNLIKE_OK};
use judge::alike::VariantDifferences;
use judge::comparison::{self, Pairs, Standings, StudyLoad, Variant};
use judge::results::TournamentFindings;
use judge::words::LASTS;
use judge::{Diagnosis, Eligibility, MeasuredRun, Observed};
use units::Utc;

use crate::LoadRun;
use crate::apart;
use crate::capacity::CapacityView;
use crate::compared::StoredComparison;
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
pub(crate) mod by_fingerprint;
mod certainty;
mod cores;
pub(crate) mod cpu_profiles;
pub(crate) mod event_costs;
pub(crate) mod experiment;
pub(crate) mod explained;
mod failing;
mod gates;
pub(crate) mod grid;
mod layout;
mod of_baseline;
pub(crate) mod others;
mod over_runs;
mod pieces;
mod reference;
mod rows;
mod rows_and_shards;
mod screen;
mod sentences;
pub(crate) mod tables;
pub(crate) mod tournament;
pub(crate) mod troubles;
mod validity;
mod written;

pub(crate) use answer::{answer, headline, winner};
pub(crate) use brief::Brief;
pub(crate) use certainty::certainty;
pub(crate) use gates::{failed, of_load as gates_of_load, unjudged, why_unjudged};
pub(crate) use layout::items;
pub(crate) use of_baseline::{Answer as BaselineAnswer, BaselineGate, facts as of_baseline};
pub(crate) use over_runs::median_run;
pub(crate) use pieces::{StudyPieces, runs, tone};
pub(crate) use reference::compared;
pub(crate) use rows::VariantRow;
pub(crate) use rows_and_shards::facts as rows_and_shards;
pub(crate) use sentences::{Name, caveats, pair, reason, row_name, scale, verdict_name, verdict_word};
pub(crate) use validity::validity;

pub(crate) use judge::comparison::{Pair, Ranked, SliceFindings};

/// A study with its figures.
pub(crate) struct StudyView<'a> {
    pub(crate) study: &'a Study,
    /// Loads a run of the study with its per-second data.
    pub(crate) load_run: LoadRun<'a>,
    /// Metric of the comparison. `None` if this version does not know it.
    pub(crate) metric: Option<ComparedBy>,
    /// Runs, ordered by position.
    pub(crate) runs: Vec<View<'a>>,
    /// Loads in the order of the plan, or in natural order of their names if the plan does not have them.
    pub(crate) loads: Vec<LoadView<'a>>,
    /// Number of places without a completed run.
    pub(crate) missing: usize,
    /// Result of a capacity search. Its loads are not compared. `None` for other studies.
    pub(crate) capacity: Option<CapacityView>,
    /// Gates that are baseline conditions, one for each configuration.
    pub(crate) of_baseline: Vec<BaselineGate>,
    /// Comparison with the stored baseline. Empty without one.
    pub(crate) against_stored: StoredComparison,
    /// Result of an experiment. `None` if the study has none.
    pub(crate) diagnosis: Option<Diagnosis>,
}

/// Results under one load.
pub(crate) struct LoadView<'a> {
    /// Name of the load. Arbitrary text: escape it.
    pub(crate) name: &'a str,
    /// Load and its duration as text, from any of its runs. `None` without runs.
    pub(crate) words: Option<String>,
    /// Rows in natural order, one per variant.
    pub(crate) rows: Vec<VariantRow<'a>>,
    /// Rows that can be ranked, best first.
    pub(crate) ranking: Vec<Ranked>,
    /// Comparisons of the best row with others, or of every row with the baseline.
    pub(crate) pairs: Vec<Pair>,
    /// Comparisons of these pairs by further metrics.
    pub(crate) further: Vec<Pair>,
    /// Comparisons of these pairs by each physical cost.
    pub(crate) costs: Vec<Pair>,
    /// Row of the baseline, with which all others are compared. `None` without a baseline.
    pub(crate) baseline: Option<usize>,
    /// Findings of a search for the best. Configurations are indexes of `rows`. `None` for other studies.
    pub(crate) found: Option<TournamentFindings>,
    /// Findings that are only possible with slices. `None` if the study has none.
    pub(crate) sliced: Option<SliceFindings>,
    /// Variants that do other work than the baseline, or than the first variant. Empty for a capacity search.
    pub(crate) unlike: Vec<VariantDifferences>,
    /// Large differences in all runs of too few blocks for a verdict.
    pub(crate) observed: Vec<Observed>,
}

impl<'a> StudyView<'a> {
    pub(crate) fn of(study: &'a Study, load_run: LoadRun<'a>) -> Result<Self, EvidenceError> {
        let runs = study.runs.iter().map(View::of).collect::<Result<Vec<_>, _>>()?;
        let by = match study.new.compare.looks_for_failures() {
            true => failing::SHOWN_METRIC,
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
            let words = load_words(study, name, &runs);
            let variants: Vec<&Variant<'_>> = rows.iter().map(|row| &row.variant).collect();
            let found = comparison::tournament_findings(study, name, &variants)?;
            let of_load = |by| StudyLoad { study, load: name, variants: &variants, runs: &measured, by };
            let standings = metric.as_ref().map(|by| of_load(by).standings(found.as_ref())).transpose()?;
            let Standings { ranking, pairs, baseline } = standings.unwrap_or_default();
            let Pairs { first: pairs, further } = pairs;
            let by_costs = |by| of_load(by).by_costs(&pairs, baseline, found.as_ref());
            let costs = metric.as_ref().map_or(Ok(Vec::new()), by_costs)?;
            let sliced = |by| comparison::sliced(study, name, &variants, by);
            let sliced = metric.as_ref().map_or(Ok(None), sliced)?;
            let unlike = match study.new.compare.procedure {
                Procedure::Capacity { .. } => Vec::new(),
                _ => judge::alike::compare_work_of_variants(&variants, baseline.unwrap_or(0), &measured)?,
            };
            let mut observed =
                metric.as_ref().map_or_else(Vec::new, |by| judge::observed(&variants, &measured, by));
            observed.retain(|observed| has_too_few_blocks(&pairs, observed));
            let of_load = LoadView {
                name,
                words,
                rows,
                ranking,
                pairs,
                further,
                costs,
                baseline,
                found,
                sliced,
                unlike,
                observed,
            };
            loads.push(of_load);
        }
        let missing = study.missing().count();
        let capacity = CapacityView::of(study, load_run)?;
        let of_baseline = of_baseline::gates(study, &loads, &runs, load_run)?;
        let against_stored = StoredComparison::default();
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
        let against_stored = StoredComparison::of(&view)?;
        Ok(Self { against_stored, ..view })
    }

    /// Unit that was counted.
    pub(crate) fn noun(&self) -> &'static Noun {
        Noun::of_all(&self.runs)
    }

    /// Name of the metric of the comparison. Empty if this version does not know it.
    pub(crate) fn metric_words(&self) -> String {
        self.metric.as_ref().map_or_else(String::new, |by| by.words(self.noun().unit))
    }

    /// Whether the plan accepts differences between the work of its variants.
    pub(crate) fn accepts_unlike(&self) -> bool {
        self.study.new.stamps.iter().any(|stamp| stamp == UNLIKE_OK)
    }

    /// Whether the blocks consist of slices.
    pub(crate) fn is_in_slices(&self) -> bool {
        self.study.new.compare.procedure.slices().is_some()
    }

    /// Minimum effect as text. Empty if this version does not know the metric.
    pub(crate) fn matters(&self) -> String {
        let by = self.metric.as_ref();
        by.map_or_else(String::new, |by| apart::min_effect(by, by.min_effect(&self.study.new.compare)))
    }

    /// Warning about transactions that may have taken effect although they failed. `None` without any.
    pub(crate) fn unknown(&self) -> Option<String> {
        let rows = self.loads.iter().flat_map(|load| &load.rows);
        transactions::unknown(rows.filter_map(|row| row.figures.as_ref()))
    }

    /// Warning that runs are so short that throughput may be off. `None` if they are long enough.
    pub(crate) fn short_run_warning(&self) -> Option<String> {
        let counting = self.counting();
        let views = self.runs.iter().zip(counting).filter(|(_, counts)| *counts).map(|(view, _)| view);
        short::doubt_of_runs(views.filter(|_| self.capacity.is_none()))
    }

    /// Start of the study.
    pub(crate) fn started_at(&self) -> Utc {
        Utc::from_unix_ms(self.study.new.started_at_unix_ms)
    }

    /// Whether each run counts in tables, in the order of the runs.
    pub(crate) fn counting(&self) -> Vec<bool> {
        let mut counting = vec![false; self.runs.len()];
        let rows = self.loads.iter().flat_map(|load| &load.rows);
        let runs = rows.flat_map(|row| row.eligibility(Eligibility::Valid));
        runs.for_each(|run| counting[run] = true);
        counting
    }

    /// Number of planned runs.
    pub(crate) fn planned(&self) -> usize {
        self.study.new.planned.len()
    }

    /// Number of completed runs.
    pub(crate) fn done(&self) -> usize {
        self.planned().saturating_sub(self.missing)
    }
}

/// Load and its duration as text. If parameters change it between variants, it has the name from the plan.
fn load_words(study: &Study, name: &str, runs: &[View<'_>]) -> Option<String> {
    let of_load = runs.iter().filter(|view| view.place().is_some_and(|place| place.load == name));
    let mut words = of_load
        .filter(|view| view.place().is_some_and(|place| place.intervention.is_none()))
        .map(|view| match study.new.compare.procedure.slices() {
            None => words::planned_load(&view.run.new),
            Some(rules) => words::load_in_slices(&view.run.new, rules),
        });
    let first = words.next()?;
    if !name.contains('{') {
        return Some(first);
    }
    let others: Vec<String> = words.filter(|words| *words != first).collect();
    let lasts = |words: &str| words.rsplit_once(LASTS).map(|(_, lasts)| lasts.to_owned());
    Some(match lasts(&first) {
        _ if others.is_empty() => first,
        Some(length) if others.iter().all(|other| lasts(other).as_ref() == Some(&length)) => {
            format!("{}{LASTS}{length}", fill_values(name, runs))
        }
        _ => fill_values(name, runs),
    })
}

/// Maximum number of values of a parameter in the words of a load.
const VALUES_MAX: usize = 4;

/// Name of a load with the values of its parameters instead of their names: `1, 2, 4 users` for `{users} users`.
fn fill_values(name: &str, runs: &[View<'_>]) -> String {
    let knobs = || {
        let of_load = runs.iter().filter_map(View::place).filter(|place| place.load == name);
        of_load.flat_map(|place| &place.knobs)
    };
    let mut words = name.to_owned();
    for (knob, _) in knobs() {
        let placeholder = format!("{{{knob}}}");
        if !words.contains(&placeholder) {
            continue;
        }
        let mut values: Vec<&str> = Vec::new();
        for (_, value) in knobs().filter(|(other, _)| other == knob) {
            if !values.contains(&value.as_str()) {
                values.push(value);
            }
        }
        values.sort_by(|a, b| compare_str(a, b));
        let shown = match values[..] {
            [first, .., last] if values.len() > VALUES_MAX => format!("{first} to {last}"),
            _ => values.join(", "),
        };
        words = words.replace(&placeholder, &shown);
    }
    words
}

/// Whether the observed pair has too few blocks for a verdict.
fn has_too_few_blocks(pairs: &[Pair], observed: &Observed) -> bool {
    let is_of = |pair: &&Pair| {
        [[pair.first, pair.second], [pair.second, pair.first]].contains(&[observed.faster, observed.slower])
    };
    pairs.iter().find(is_of).is_some_and(|pair| !pair.has_look())
}

impl LoadView<'_> {
    /// Best row of each system, best first.
    pub(crate) fn best_rows(&self) -> impl Iterator<Item = &Ranked> {
        self.ranking.iter().filter(|ranked| ranked.is_best)
    }
}

/// Name of a variant with its system. Not escaped.
pub(crate) fn name(place: &StudyPlace) -> String {
    match place.variant.as_str() {
        "" => place.system.clone(),
        variant => format!("{} {variant}", place.system),
    }
}
