//! Data of one stored run for all formats.

use std::borrow::Cow;

use evidence::{EvidenceError, Level, LoadTool, Run, RunState, StudyPlace, Unit, Validity, Verdict};
use judge::{
    ComparedBy, Eligibility, EndpointPool, Measured, MeasuredRun, ShardBalance, Signals, Window, Written,
};
use record::{Phase, Tally};
use units::Utc;

use crate::figures::{Figures, TallyKind};
use crate::load_tool;
use crate::notes;
use crate::noun::Noun;

/// Run with its figures. Figures exclude the warm-up unless noted otherwise.
pub(crate) struct View<'a> {
    pub(crate) run: &'a Run,
    pub(crate) verdict: Verdict,
    pub(crate) validity: Validity,
    /// Figures of all steps together.
    pub(crate) whole: Figures,
    /// Figures by step, in order of the scenario.
    pub(crate) steps: Vec<StepView<'a>>,
    /// Figures of the warm-up.
    pub(crate) warm_up: Figures,
    /// Measurements for verdicts.
    pub(crate) measured: Measured,
    /// Signals of resource shortages. `None` if nothing was read.
    pub(crate) signals: Option<Signals>,
    /// Balance of its lists of shards.
    pub(crate) shards: Vec<ShardBalance>,
    /// Connections that users share at its endpoints.
    pub(crate) pools: Vec<EndpointPool>,
    /// Rows that it wrote. `None` if they were not checked.
    pub(crate) written: Option<Written>,
    /// Notes for people, next to the figures.
    pub(crate) notes: Vec<String>,
}

/// Figures of one step of a run.
pub(crate) struct StepView<'a> {
    /// Name of the step. Arbitrary text: escape it.
    pub(crate) name: &'a str,
    pub(crate) figures: Figures,
    /// Statements of the step. Empty if they were not measured.
    pub(crate) statements: Vec<Statement<'a>>,
}

/// A statement of a transaction.
pub(crate) struct Statement<'a> {
    /// Text of the statement. Arbitrary text: escape it.
    pub(crate) name: &'a str,
    /// Number of the statement in the store.
    pub(crate) number: u16,
    pub(crate) figures: Figures,
}

/// Tally kind of statements: each retry counts as another request.
pub(crate) const STATEMENT_TALLY: TallyKind = TallyKind { unit: Unit::Requests, latency_limit_ns: None };

impl<'a> View<'a> {
    pub(crate) fn of(run: &'a Run) -> Result<Self, EvidenceError> {
        let (mut whole, mut steps) = (Tally::default(), Vec::new());
        let tool = |of: &Tally| -> Vec<(&LoadTool, u64)> {
            load_tool::of_run(run).map(|tool| (tool, load_tool::requests(&of.counts))).into_iter().collect()
        };
        let kind = TallyKind { unit: run.new.unit(), latency_limit_ns: run.new.latency_limit_ns };
        for ((step, name), unit) in (0..=u16::MAX).zip(&run.new.steps).zip(&run.new.units) {
            let of_step = run.total(step, Phase::Measured)?;
            whole.merge(&of_step);
            let window = Window::of_step(run, step);
            let figures = Figures::of(&of_step, window, TallyKind { unit: *unit, ..kind });
            let figures = figures.with_tool_figures(&tool(&of_step));
            steps.push(StepView { name, figures, statements: statements(run, step)? });
        }
        let (verdict, validity) = match &run.ending {
            Some(ending) => (ending.verdict, ending.validity.clone()),
            None => (Verdict::Partial, validity_without_ending(run.state)),
        };
        let window = Window::of(run);
        let before = run.whole(Phase::WarmUp)?;
        let measured = Measured::of_tallies(run, &before, &whole);
        let of_tool = tool(&whole);
        let whole = Figures::of_all(&whole, window, kind, steps.iter().map(|step| &step.figures));
        let whole = whole.with_tool_figures(&of_tool);
        let warm_up = Figures::of(&before, None, kind);
        let signals = Signals::of(run);
        let shards = ShardBalance::of_run(run)?;
        let pools = EndpointPool::of_run(run)?;
        let written = Written::of_run(run)?;
        let mut view = Self {
            run,
            verdict,
            validity,
            whole,
            steps,
            warm_up,
            measured,
            signals,
            shards,
            pools,
            written,
            notes: Vec::new(),
        };
        view.notes = notes::all_notes(&view);
        Ok(view)
    }

    /// The run with its figures in the form that `judge` uses.
    pub(crate) fn measured_run(&self) -> MeasuredRun<'_> {
        MeasuredRun { run: self.run, measured: &self.measured }
    }

    /// Unit that was counted.
    pub(crate) fn unit(&self) -> Unit {
        self.whole.unit
    }

    /// Name of the unit that was counted.
    pub(crate) fn noun(&self) -> &'static Noun {
        self.whole.noun()
    }

    /// Short name for tables, not escaped.
    pub(crate) fn name(&self) -> Cow<'_, str> {
        match self.place() {
            Some(place) if place.variant.is_empty() => (&place.system).into(),
            Some(place) => format!("{} {}", place.system, place.variant).into(),
            None => self.run.new.named_system().unwrap_or(&self.run.new.title).into(),
        }
    }

    /// Place in a study. `None` outside a study.
    pub(crate) fn place(&self) -> Option<&'a StudyPlace> {
        self.run.new.place.as_ref().map(|(_, place)| place)
    }

    /// Start of the run.
    pub(crate) fn started_at(&self) -> Utc {
        Utc::from_unix_ms(self.run.new.started_at_unix_ms)
    }

    /// Measured time in seconds, from the end of the warm-up to the last request that ended. By the wall clock if none ended.
    /// `None` if neither is known.
    pub(crate) fn duration_s(&self) -> Option<f64> {
        self.measured_run().duration_s()
    }

    /// CPU time of the load generator per request, warm-up included, in microseconds.
    pub(crate) fn generator_us_per_request(&self) -> Option<f64> {
        self.measured_run().generator_us_per_request()
    }

    /// CPU time of the system per request that ended, in microseconds.
    pub(crate) fn system_us_per_request(&self) -> Option<f64> {
        self.measured.system_us_per_request()
    }

    /// Context switches of the system per 10⁶ bytes transferred. Only for loads over raw TCP, where they show the cost of small
    /// writes.
    pub(crate) fn system_switches_per_mb(&self) -> Option<f64> {
        self.measured_run().system_switches_per_mb()
    }

    /// Number of cores that the load generator kept busy in the measured time, or over the whole run if that is unknown.
    pub(crate) fn generator_cores_used(&self) -> Option<f64> {
        self.measured_run().generator_cores_used()
    }

    /// Verdict and validity in one or two words.
    pub(crate) fn judgement(&self) -> String {
        match (self.verdict, self.validity.verdict) {
            (Verdict::Invalid, _) | (_, Level::Invalid) => "invalid".to_owned(),
            (verdict, Level::Valid) => verdict.to_string(),
            (verdict, Level::Suspect) => format!("{verdict}, suspect"),
        }
    }

    /// Whether the figures cannot be compared.
    pub(crate) fn is_invalid(&self) -> bool {
        judge::is_invalid(self.run)
    }

    /// Whether the run has no ending and no stored second.
    pub(crate) fn has_nothing_stored(&self) -> bool {
        let planned = self.whole.counts.planned + self.warm_up.counts.planned;
        self.run.ending.is_none() && planned == 0
    }

    /// Whether all figures of the run count.
    pub(crate) fn eligibility(&self) -> Eligibility {
        judge::eligibility(self.run)
    }

    /// Whether the run counts in a study that compares by the metric `by`.
    pub(crate) fn eligibility_by(&self, by: Option<&ComparedBy>) -> Eligibility {
        judge::eligibility_by(self.run, by.and_then(ComparedBy::distorted))
    }
}

fn statements(run: &Run, step: u16) -> Result<Vec<Statement<'_>>, EvidenceError> {
    let of_part = |(number, name)| {
        let tally = run.total(number, Phase::Measured)?;
        let figures = Figures::of(&tally, Window::of_step(run, number), STATEMENT_TALLY);
        Ok(Statement { name, number, figures })
    };
    run.new.parts_of(step).map(of_part).collect()
}

/// Validity of a run without an ending.
fn validity_without_ending(state: RunState) -> Validity {
    let (sentence, remedy) = match state {
        RunState::Running => {
            ("the run is still in progress; these are its figures so far", "wait until it has ended")
        }
        _ => (
            "the run was cut short, because Tenbin was killed or could not write the store: its validity was not judged",
            "use it to see what happened, and measure again",
        ),
    };
    let cause = judge::Doubt::NO_ENDING.cause(Level::Suspect, sentence.to_owned(), remedy.to_owned());
    Validity { verdict: Level::Suspect, causes: vec![cause], ..Validity::default() }
}
