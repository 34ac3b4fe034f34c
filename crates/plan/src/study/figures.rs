//! Figures that a plan defines itself: how each is read, and when.

use judge::OwnFigure;

use super::Study;
use super::braced::Braced;
use super::environment::{Launch, LaunchCommand};
use super::launch::Fill;
use crate::database::Database;
use crate::fault::Fault;
use crate::plan::Plan;

/// A figure of the plan, with variables in its texts.
#[derive(Clone, Debug)]
pub(crate) struct FigureText {
    pub(crate) figure: OwnFigure,
    pub(crate) every_ns: Option<u64>,
    pub(crate) summary: FigureSummary,
    pub(crate) source: SourceText,
}

/// Source of a figure, with variables in its texts.
#[derive(Clone, Debug)]
pub(crate) enum SourceText {
    Command(Vec<Braced>),
    Sql { endpoint: Option<String>, query: Braced },
    Prometheus { url: Braced, name: String },
}

/// Value of a run from the readings of a figure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FigureSummary {
    /// The reading after the load.
    After,
    /// The reading after the load minus the one before.
    Change,
    /// Mean of the readings in the measured time.
    Mean,
    /// Largest of the readings in the measured time.
    Max,
}

impl FigureSummary {
    /// Names in plans, with their values.
    pub(crate) const NAMED: [(&'static str, Self); 4] =
        [("after", Self::After), ("change", Self::Change), ("mean", Self::Mean), ("max", Self::Max)];

    /// Whether the figure needs readings during the load.
    pub fn needs_load_readings(self) -> bool {
        matches!(self, Self::Mean | Self::Max)
    }
}

/// A figure that is read in a run.
#[derive(Clone, Debug)]
pub struct PlannedFigure {
    /// Name, unit, and direction.
    pub figure: OwnFigure,
    /// Interval of readings during the load, in nanoseconds. `None` if it is read only before and after.
    pub every_ns: Option<u64>,
    /// Value of the run.
    pub summary: FigureSummary,
    /// Source of the readings.
    pub source: FigureSource,
}

/// Source of a figure.
#[derive(Clone, Debug)]
pub enum FigureSource {
    /// A command that prints one number.
    Command(LaunchCommand),
    /// A statement that returns one number.
    Sql {
        /// Database that answers it.
        database: Box<Database>,
        /// The statement.
        query: String,
    },
    /// A metric of an exporter in the text format of Prometheus.
    Prometheus {
        /// URL of the exporter: http:// with a host, and a path.
        url: String,
        /// Name of the metric, with labels in braces if several series have the name.
        name: String,
    },
}

/// A figure with every variable replaced.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LaunchFigure {
    figure: OwnFigure,
    every_ns: Option<u64>,
    summary: FigureSummary,
    source: LaunchSource,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum LaunchSource {
    Command(LaunchCommand),
    Sql { endpoint: Option<String>, query: String },
    Prometheus { url: String, name: String },
}

impl FigureText {
    /// Texts that may have variables.
    pub(crate) fn texts(&self) -> &[Braced] {
        match &self.source {
            SourceText::Command(words) => words,
            SourceText::Sql { query: text, .. } | SourceText::Prometheus { url: text, .. } => {
                std::slice::from_ref(text)
            }
        }
    }

    pub(super) fn fill(&self, fill: &Fill<'_>) -> LaunchFigure {
        let source = match &self.source {
            SourceText::Command(words) => LaunchSource::Command(fill.command(words, None)),
            SourceText::Sql { endpoint, query } => {
                LaunchSource::Sql { endpoint: endpoint.clone(), query: fill.text(query) }
            }
            SourceText::Prometheus { url, name } => {
                LaunchSource::Prometheus { url: fill.text(url), name: name.clone() }
            }
        };
        LaunchFigure { figure: self.figure.clone(), every_ns: self.every_ns, summary: self.summary, source }
    }
}

impl Study {
    /// Figures that the plan defines itself.
    pub fn own_figures(&self) -> impl Iterator<Item = &OwnFigure> {
        self.figures.iter().map(|figure| &figure.figure)
    }

    /// Texts of the figures that may have variables.
    pub(crate) fn texts_of_figures(&self) -> impl Iterator<Item = &Braced> {
        self.figures.iter().flat_map(FigureText::texts)
    }
}

/// Figures of a run, each with the database that answers its statement.
pub(super) fn planned(plan: &Plan, launch: &Launch) -> Result<Vec<PlannedFigure>, Vec<Fault>> {
    let one = |figure: &LaunchFigure| -> Result<PlannedFigure, Vec<Fault>> {
        let source = match &figure.source {
            LaunchSource::Command(command) => FigureSource::Command(command.clone()),
            LaunchSource::Sql { endpoint, query } => {
                let database = database(plan, launch, endpoint.as_deref(), &figure.figure.name)?;
                FigureSource::Sql { database: Box::new(database), query: query.clone() }
            }
            LaunchSource::Prometheus { url, name } => {
                FigureSource::Prometheus { url: url.clone(), name: name.clone() }
            }
        };
        Ok(PlannedFigure {
            figure: figure.figure.clone(),
            every_ns: figure.every_ns,
            summary: figure.summary,
            source,
        })
    };
    launch.figures.iter().map(one).collect()
}

/// Database of a statement: the one of an endpoint, else the one of the load, else the one behind the system.
fn database(
    plan: &Plan,
    launch: &Launch,
    endpoint: Option<&str>,
    figure: &str,
) -> Result<Database, Vec<Fault>> {
    if let Some(name) = endpoint {
        let known = launch.endpoints.iter().find(|known| known.name == name);
        return known.map_or_else(
            || {
                let what = format!("the system `{}` has no endpoint `{name}`", launch.system);
                Err(vec![Fault::new(
                    format!("figures: {figure}: endpoint"),
                    what,
                    "add it under `endpoints`",
                )])
            },
            |known| Database::read(&known.url),
        );
    }
    plan.database().cloned().ok_or_else(|| {
        let what = format!("the system `{}` has no database that could answer `sql`", launch.system);
        let help = "name its database under `database`, or write `endpoint`";
        vec![Fault::new(format!("figures: {figure}: sql"), what, help)]
    })
}
