//! One variant under one load, over all blocks.

use std::collections::BTreeMap;

use alphanumeric_sort::compare_str;
use evidence::{EvidenceError, Study, StudyPlace, stage};
use judge::{Eligibility, Usage, Window, rates};
use record::{Phase, Tally};
use stats::Spread;

use crate::figures::{Figures, TallyKind};
use crate::load_tool;
use crate::metric::{self, ComparedBy, error_share};
use crate::view::{OF_STATEMENTS, Statement, View};
use crate::words;

/// One variant under one load.
pub(crate) struct VariantRow<'a> {
    /// Of one of its runs; all but block and position are shared.
    pub(crate) place: &'a StudyPlace,
    /// How many of its runs that count are planned.
    pub(crate) planned: usize,
    /// Its runs that count, in order of blocks, as places in [`super::StudyView::runs`], each with its eligibility.
    pub(crate) runs: Vec<(usize, Eligibility)>,
    /// Its runs that were for something else, such as a pilot.
    pub(crate) others: Vec<(usize, Eligibility)>,
    /// Whether it may be ranked: its runs are those by which the study judges.
    pub(crate) is_ranked: bool,
    /// How long its system was gone.
    pub(crate) gone: Gone,
    /// Whether the figures are of runs that may be believed. If there is none, they are of those that may not.
    pub(crate) is_valid: bool,
    /// All samples of these runs together; `None` if nothing was measured.
    pub(crate) figures: Option<Figures>,
    /// The same by step.
    pub(crate) steps: Vec<RowStep<'a>>,
    /// Of the metric by which variants are compared, over runs.
    pub(crate) metric: Option<Spread>,
    /// Ok answers per second, over runs.
    pub(crate) throughput: Option<Spread>,
    /// All answers per second, over runs.
    pub(crate) answers: Option<Spread>,
    /// What a run used, the median of all runs.
    pub(crate) middle: Middle,
}

/// A step over all runs of a row.
pub(crate) struct RowStep<'a> {
    /// May hold anything: escape it.
    pub(crate) name: &'a str,
    pub(crate) figures: Figures,
    /// Its statements, with their names.
    pub(crate) statements: Vec<(&'a str, Figures)>,
}

/// Figures of a run, the median of all runs.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Middle {
    pub(crate) received_kb_per_s: Option<f64>,
    pub(crate) sent_kb_per_s: Option<f64>,
    pub(crate) system_cores_used: Option<f64>,
    pub(crate) generator_cores_used: Option<f64>,
    pub(crate) system_us_per_request: Option<f64>,
    /// Of loads over raw TCP.
    pub(crate) system_switches_per_mb: Option<f64>,
    /// The largest of all runs, not the median.
    pub(crate) rss_peak_bytes: Option<f64>,
    /// The same of connections that waited to be accepted.
    pub(crate) listen_queue_peak: Option<f64>,
    /// The same of memory that was swapped out.
    pub(crate) swap_peak_bytes: Option<f64>,
}

impl VariantRow<'_> {
    /// How many of its runs stand so.
    pub(crate) fn count(&self, wanted: Eligibility) -> usize {
        self.runs.iter().filter(|(_, eligibility)| *eligibility == wanted).count()
    }

    /// The runs that stand so, as places in [`super::StudyView::runs`].
    pub(crate) fn eligibility(&self, wanted: Eligibility) -> impl Iterator<Item = usize> {
        self.runs.iter().filter(move |(_, eligibility)| *eligibility == wanted).map(|(run, _)| *run)
    }

    /// The runs of fresh blocks that confirm a tournament, as places in [`super::StudyView::runs`].
    pub(super) fn confirming(&self, views: &[View<'_>]) -> impl Iterator<Item = usize> {
        let is_fresh =
            |run: usize| views[run].place().is_some_and(|place| stage::is_confirming(&place.stage));
        self.others.iter().map(|(run, _)| *run).filter(move |run| is_fresh(*run))
    }

    /// The runs whose figures are shown, as places in [`super::StudyView::runs`]: the valid ones, or else the invalid ones.
    pub(crate) fn shown(&self) -> impl Iterator<Item = usize> {
        self.eligibility(if self.is_valid { Eligibility::Valid } else { Eligibility::Invalid })
    }

    /// All samples of these runs together; `None` if nothing was measured.
    pub(crate) fn tally(&self, views: &[View<'_>]) -> Result<Option<Tally>, EvidenceError> {
        if self.figures.is_none() {
            return Ok(None);
        }
        let mut tally = Tally::default();
        for run in self.shown() {
            tally.merge(&views[run].run.whole(Phase::Measured)?);
        }
        Ok(Some(tally))
    }

    /// Planned requests that the system did not serve, as a share.
    pub(crate) fn error_share(&self) -> Option<f64> {
        self.figures.as_ref().and_then(error_share)
    }

    /// The same, or the share of the time for which the system was gone, if that is larger: what stands before speed.
    pub(crate) fn unserved_share(&self) -> Option<f64> {
        self.error_share().map(|share| share.max(self.gone.share))
    }
}

/// How long the system of a row was gone, over the runs that are shown.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Gone {
    /// Degraded runs.
    pub(crate) runs: usize,
    /// The mean over all runs; 0 of a run that is not degraded.
    pub(crate) share: f64,
    /// Others were answered all the time: the share is of the time of users.
    pub(crate) is_of_users: bool,
}

impl Gone {
    fn of(views: &[&View<'_>]) -> Self {
        let shares = views.iter().map(|view| view.measured.gone_share());
        let runs = shares.clone().filter(|share| *share > 0.0).count();
        let share = if runs > 0 { shares.sum::<f64>() / views.len() as f64 } else { 0.0 };
        let is_of_users = runs > 0 && views.iter().all(|view| words::is_for_some_users(view));
        Self { runs, share, is_of_users }
    }
}

/// A row for every variant that is planned under a load, in natural order of system and setting.
pub(super) fn of_load<'a>(
    study: &'a Study,
    load: &str,
    views: &[View<'a>],
    metric: Option<&ComparedBy>,
) -> Result<Vec<VariantRow<'a>>, EvidenceError> {
    let by_position: BTreeMap<u32, usize> =
        views.iter().enumerate().filter_map(|(run, view)| Some((view.place()?.position, run))).collect();
    let runs = |places: &[&StudyPlace]| {
        let run = |place: &&StudyPlace| Some((place.block, *by_position.get(&place.position)?));
        let mut runs: Vec<(u32, usize)> = places.iter().filter_map(run).collect();
        runs.sort_unstable();
        runs.into_iter().map(|(_, run)| (run, views[run].eligibility_by(metric))).collect::<Vec<_>>()
    };
    let mut rows = Vec::new();
    for counted in judge::counted(study, load) {
        let Some(place) = counted.places.first().or(counted.others.first()) else { continue };
        let others = runs(&counted.others);
        let row = row(place, counted.places.len(), runs(&counted.places), views, metric)?;
        rows.push(VariantRow { others, is_ranked: counted.is_ranked, ..row });
    }
    rows.sort_by(|a, b| {
        compare_str(&a.place.system, &b.place.system)
            .then_with(|| compare_str(&a.place.variant, &b.place.variant))
    });
    Ok(rows)
}

fn row<'a>(
    place: &'a StudyPlace,
    planned: usize,
    runs: Vec<(usize, Eligibility)>,
    views: &[View<'a>],
    metric: Option<&ComparedBy>,
) -> Result<VariantRow<'a>, EvidenceError> {
    let eligible_as = |wanted| runs.iter().filter(move |(_, eligibility)| *eligibility == wanted);
    let is_valid = eligible_as(Eligibility::Valid).next().is_some();
    let wanted = if is_valid { Eligibility::Valid } else { Eligibility::Invalid };
    let shown: Vec<&View<'a>> = eligible_as(wanted).map(|(run, _)| &views[*run]).collect();
    let (figures, steps) = merged(&shown)?;
    let over = |figure: &dyn Fn(&View<'a>) -> Option<f64>| {
        Spread::over(shown.iter().filter_map(|view| figure(view)))
    };
    let middle_of = |figure: &dyn Fn(&View<'a>) -> Option<f64>| over(figure).map(|spread| spread.median);
    let used = |view: &View<'a>| {
        let resources = view.measured.resources.as_ref()?;
        resources.cores_used(resources.system.as_ref()?)
    };
    let most = |figure: fn(&Usage) -> Option<f64>| {
        over(&|view: &View<'a>| figure(view.measured.resources.as_ref()?.system.as_ref()?))
            .map(|spread| spread.max)
    };
    let middle = Middle {
        received_kb_per_s: middle_of(&|view| view.whole.kb_per_s(view.whole.received_bytes)),
        sent_kb_per_s: middle_of(&|view| view.whole.kb_per_s(view.whole.sent_bytes)),
        system_cores_used: middle_of(&used),
        generator_cores_used: middle_of(&View::generator_cores_used),
        system_us_per_request: pooled(&shown),
        system_switches_per_mb: middle_of(&View::system_switches_per_mb),
        rss_peak_bytes: most(|usage| usage.rss_peak_bytes),
        listen_queue_peak: most(|usage| usage.listen_queue_peak),
        swap_peak_bytes: most(|usage| usage.swap_peak_bytes),
    };
    let over_all =
        |by: &ComparedBy| Spread::with_endless(shown.iter().filter_map(|view| metric::read(by, view)));
    let metric = metric.and_then(over_all);
    let throughput = over(&|view| view.whole.ok_per_s());
    let answers = over(&|view| view.whole.answers_per_s());
    let (others, is_ranked) = (Vec::new(), true);
    Ok(VariantRow {
        gone: Gone::of(&shown),
        place,
        planned,
        runs,
        others,
        is_ranked,
        is_valid,
        figures,
        steps,
        metric,
        throughput,
        answers,
        middle,
    })
}

/// CPU time per request over all runs: one run may have too little of it to tell.
fn pooled(views: &[&View<'_>]) -> Option<f64> {
    let each =
        views.iter().filter_map(|view| Some((view.system_cpu_s()?, view.whole.window?.counts.ended())));
    let (cpu_s, requests) =
        each.fold((0.0, 0), |(cpu_s, requests), (of_run, in_run)| (cpu_s + of_run, requests + in_run));
    rates::us_per_request(cpu_s, requests)
}

/// The whole, and each step with its name.
type Merged<'a> = (Option<Figures>, Vec<RowStep<'a>>);

/// All samples of several runs: percentiles come from the merged histograms, and are never averaged.
fn merged<'a>(views: &[&View<'a>]) -> Result<Merged<'a>, EvidenceError> {
    let Some(first) = views.first() else { return Ok((None, Vec::new())) };
    if let Some(view) = views.iter().find(|view| !can_be_summed(view)) {
        return Err(EvidenceError::DamagedRun { run: view.run.id.clone() });
    }
    let (mut whole, mut steps) = (Tally::default(), Vec::new());
    let tools: Vec<_> = views.iter().filter_map(|view| load_tool::of_view(view)).collect();
    let window = Window::together(views.iter().map(|view| view.whole.window));
    let latency_limit_ns = first.run.new.latency_limit_ns;
    for (step, of_step) in (0..=u16::MAX).zip(&first.steps) {
        let mut tally = Tally::default();
        for view in views.iter().filter(|view| usize::from(step) < view.steps.len()) {
            tally.merge(&view.run.total(step, Phase::Measured)?);
        }
        let of_views = views.iter().filter_map(|view| view.steps.get(usize::from(step)));
        let window = Window::together(of_views.map(|step| step.figures.window));
        whole.merge(&tally);
        let kind = TallyKind { unit: of_step.figures.unit, latency_limit_ns };
        let statements = of_step.statements.iter().map(|statement| merged_statement(views, step, statement));
        steps.push(RowStep {
            name: of_step.name,
            figures: Figures::of(&tally, window, kind).by_tools(&tools),
            statements: statements.collect::<Result<_, _>>()?,
        });
    }
    let kind = TallyKind { unit: first.unit(), latency_limit_ns };
    let figures = Figures::of_all(&whole, window, kind, steps.iter().map(|step| &step.figures));
    Ok((Some(figures.by_tools(&tools)), steps))
}

fn can_be_summed(view: &View<'_>) -> bool {
    let statements = view.steps.iter().flat_map(|step| &step.statements);
    view.whole.can_be_summed && statements.map(|statement| &statement.figures).all(|of| of.can_be_summed)
}

/// The same statement of all runs.
fn merged_statement<'a>(
    views: &[&View<'a>],
    step: u16,
    statement: &Statement<'a>,
) -> Result<(&'a str, Figures), EvidenceError> {
    let (mut tally, mut windows) = (Tally::default(), Vec::new());
    for view in views {
        let of_view = view.steps.get(usize::from(step)).map_or(&[][..], |step| &step.statements);
        let is_same =
            |other: &&Statement<'_>| (other.number, other.name) == (statement.number, statement.name);
        if let Some(same) = of_view.iter().find(is_same) {
            windows.push(same.figures.window);
            tally.merge(&view.run.total(statement.number, Phase::Measured)?);
        }
    }
    Ok((statement.name, Figures::of(&tally, Window::together(windows), OF_STATEMENTS)))
}
