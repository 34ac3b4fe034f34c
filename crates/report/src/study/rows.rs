//! Rows of a study: one variant under one load, over all blocks.

use std::ops::Deref;

use alphanumeric_sort::compare_str;
use evidence::{EvidenceError, Study};
use judge::comparison::{Variant, variants};
use judge::{MeasuredRun, NamedVariant, Window};
use record::{Phase, Tally};

use crate::figures::{Figures, TallyKind};
use crate::load_tool;
use crate::metric::ComparedBy;
use crate::view::{STATEMENT_TALLY, Statement, View};

/// A variant under a load, with all samples of its runs. Dereferences to the variant of `judge`.
pub(crate) struct VariantRow<'a> {
    pub(crate) variant: Variant<'a>,
    /// Name for people: system, and the parameters that differ.
    pub(crate) shown_name: String,
    /// Figures of all samples of the runs that are shown. `None` if nothing was measured.
    pub(crate) figures: Option<Figures>,
    /// Figures of each step over the runs of this row.
    pub(crate) steps: Vec<RowStep<'a>>,
}

impl<'a> Deref for VariantRow<'a> {
    type Target = Variant<'a>;

    fn deref(&self) -> &Self::Target {
        &self.variant
    }
}

/// A step over all runs of a row.
pub(crate) struct RowStep<'a> {
    /// Name of the step. Arbitrary text: escape it.
    pub(crate) name: &'a str,
    pub(crate) figures: Figures,
    /// Statements of the step: names and figures.
    pub(crate) statements: Vec<(&'a str, Figures)>,
}

impl VariantRow<'_> {
    /// Merged tally of the runs that are shown. `None` if nothing was measured.
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
}

/// Builds one row for each variant that is planned under a load, in natural order of system and variant.
pub(super) fn of_load<'a>(
    study: &'a Study,
    load: &str,
    views: &[View<'a>],
    metric: Option<&ComparedBy>,
) -> Result<Vec<VariantRow<'a>>, EvidenceError> {
    let runs: Vec<MeasuredRun<'_>> = views.iter().map(View::measured_run).collect();
    let row = |variant: Variant<'a>| -> Result<VariantRow<'a>, EvidenceError> {
        let shown: Vec<&View<'a>> = variant.shown().map(|run| &views[run]).collect();
        let (figures, steps) = merge_runs(&shown)?;
        Ok(VariantRow { shown_name: String::new(), variant, figures, steps })
    };
    let rows = variants(study, load, &runs, metric).into_iter().map(row);
    let mut rows = rows.collect::<Result<Vec<_>, _>>()?;
    rows.sort_by(|a, b| {
        compare_str(&a.place.system, &b.place.system)
            .then_with(|| compare_str(&a.place.variant, &b.place.variant))
    });
    let named = rows.iter().map(|row| NamedVariant {
        system: &row.place.system,
        variant: &row.place.variant,
        knobs: &row.place.knobs,
    });
    let names = judge::shown_names(&named.collect::<Vec<_>>());
    rows.iter_mut().zip(names).for_each(|(row, name)| row.shown_name = name);
    Ok(rows)
}

/// Figures of all steps together, and of each step.
type Merged<'a> = (Option<Figures>, Vec<RowStep<'a>>);

/// Merges the samples of several runs. Percentiles come from merged histograms, and are never averaged.
fn merge_runs<'a>(views: &[&View<'a>]) -> Result<Merged<'a>, EvidenceError> {
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
        let statements = of_step.statements.iter().map(|statement| merge_statement(views, step, statement));
        steps.push(RowStep {
            name: of_step.name,
            figures: Figures::of(&tally, window, kind).with_tool_figures(&tools),
            statements: statements.collect::<Result<_, _>>()?,
        });
    }
    let kind = TallyKind { unit: first.unit(), latency_limit_ns };
    let figures = Figures::of_all(&whole, window, kind, steps.iter().map(|step| &step.figures));
    Ok((Some(figures.with_tool_figures(&tools)), steps))
}

fn can_be_summed(view: &View<'_>) -> bool {
    let statements = view.steps.iter().flat_map(|step| &step.statements);
    view.whole.can_be_summed && statements.map(|statement| &statement.figures).all(|of| of.can_be_summed)
}

/// Merges a statement over all runs.
fn merge_statement<'a>(
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
    Ok((statement.name, Figures::of(&tally, Window::together(windows), STATEMENT_TALLY)))
}
