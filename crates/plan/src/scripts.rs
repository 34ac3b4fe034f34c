//! Checks the transactions on a database: scripts, weights, variables, and query mode.

use std::fs;
use std::path::Path;

use load::{Order, Scenario, Scenarios, ThinkTime, Visit};
use sql::script::{
    self, Allow, DefinedVariables, Distribution, Language, PREDEFINED_VARIABLES, Read, ReadForm, ScriptSet,
};
use sql::workload::{self, Style, Tables, Workload, find_style, styled};
use sql::{Engine, Mode, SCRIPT_BYTES_MAX, ScriptExplanation, Settings, SqlStep};

use crate::check_load::CheckedLoad;
use crate::database::Database;
use crate::database::Transactions;
use crate::draft::ScriptSource;
use crate::error::{PlanError, Problem, Spelling, StepProblem};
use crate::fault::Fault;
use crate::file::near;
use crate::plan::{Action, OwnedAction, PlannedStep, connections};
use crate::script_error;
use crate::spec::{At, Field, Spanned, SqlSpec, values};
use crate::visible::visible;
use crate::ycsb;

const SCRIPTS_MAX: usize = 128;
const WEIGHT_MAX: u32 = 1_000_000;
/// sysbench's default.
const PARETO_DEFAULT: f64 = 0.2;
const ZIPF_DEFAULT: f64 = 1.1;
/// Seed of the values that explain a script.
const EXAMPLE_SEED: u64 = 1;
/// Place of the error that nothing is played.
const SQL: Field = Field { key: "sql", flag: "SQL" };

/// Result of the check: steps, scenarios, and all other parts of an SQL load except its database and its amount.
pub(crate) struct CheckedScripts {
    names: Vec<String>,
    pub(crate) scenarios: Scenarios,
    all_scripts: ScriptSet,
    texts: Vec<Vec<u8>>,
    settings: Settings,
    workloads: Vec<&'static str>,
    is_scale_asked: bool,
}

/// Checks the scripts for one kind of database. Appends errors to `errors`.
pub(crate) fn check(
    played: &[ScriptSource],
    spec: &SqlSpec,
    engine: Engine,
    errors: &mut Vec<PlanError>,
) -> CheckedScripts {
    let played = expand_mixes(played);
    let mut reader = Checker { played: &played, spec, errors };
    let workloads = reader.workloads();
    let style = reader.style(&workloads);
    let (variables, rows) = reader.variables(&workloads);
    let scripts = reader.scripts(engine, style, rows);
    let mut all_scripts = reader.all_scripts(&scripts);
    let mode = reader.mode(&workloads, &all_scripts);
    reader.report_undefined(&scripts, &variables, mode);
    let has_terminal_times = reader.has_terminal_times(&workloads);
    let max_tries = reader.max_tries(&workloads);
    let distribution = reader.distribution(&workloads);
    let scale = reader.count(Field::SCALE, &spec.scale, 1, 1_000_000).map(|scale| scale as i64);
    let mut retries: Vec<_> =
        workloads.iter().flat_map(|workload| workload.retries(engine)).copied().collect();
    retries.dedup();
    all_scripts.set_distribution(distribution);
    let has_scale = workloads.iter().any(|workload| workload.tables.has_stored_scale());
    CheckedScripts {
        scenarios: scenarios(&scripts, has_terminal_times),
        names: scripts.iter().map(|script| script.name.clone()).collect(),
        all_scripts,
        texts: scripts.into_iter().map(|script| script.text).collect(),
        settings: Settings {
            mode,
            max_tries,
            scale,
            variables,
            distribution,
            retries,
            ..Settings::default()
        },
        workloads: workloads.iter().map(|workload| workload.name).collect(),
        is_scale_asked: has_scale && scale.is_none(),
    }
}

/// Reports workloads that a command line names twice. In a plan file, each is a separate step with a name.
pub(crate) fn reject_repeats(played: &[ScriptSource], errors: &mut Vec<PlanError>) {
    let mut seen: Vec<String> = Vec::new();
    for one in expand_mixes(played) {
        let ScriptSource::Workload(text) = one else { continue };
        let workload = split_weight(&text).0.to_owned();
        if seen.contains(&workload) {
            let problem = StepProblem::PlayedTwice { workload: workload.clone() }.into();
            errors.push(PlanError { field: Field::WORKLOAD, problem, at: None });
        }
        seen.push(workload);
    }
}

/// Replaces each mix of workloads by its parts. The weight of the mix multiplies the weights of its parts.
fn expand_mixes(played: &[ScriptSource]) -> Vec<ScriptSource> {
    let parts = |one: &ScriptSource| -> Option<Vec<ScriptSource>> {
        let ScriptSource::Workload(text) = one else { return None };
        let (name, weight) = split_weight(text);
        let mix = workload::find_mix(name)?;
        let weight = weight.map_or(Some(1), |weight| weight.parse::<u32>().ok())?;
        let parts = mix
            .parts
            .iter()
            .map(|(part, share)| ScriptSource::Workload(format!("{part}@{}", share.saturating_mul(weight))));
        Some(parts.collect())
    };
    played.iter().flat_map(|one| parts(one).unwrap_or_else(|| vec![one.clone()])).collect()
}

impl CheckedScripts {
    /// Names of the scripts.
    pub(crate) fn title(&self) -> String {
        self.names.join(", ")
    }

    /// Builds one step for each script.
    pub(crate) fn steps(&self) -> Vec<PlannedStep> {
        let step = |(name, text): (&String, &Vec<u8>)| {
            let played = ScriptSource::Text { name: name.clone(), text: text.clone() };
            let step = SqlStep { title: name.clone(), played, expects: None, saves: Vec::new() };
            let action = Action::Owned(OwnedAction::transaction(step));
            PlannedStep { name: name.clone(), endpoint: 0, action }
        };
        self.names.iter().zip(&self.texts).map(step).collect()
    }

    /// Transactions on a database under a load.
    pub(crate) fn on_database(self, database: Database, load: &CheckedLoad) -> Transactions {
        let clients = connections(&load.load);
        Transactions {
            database,
            all_scripts: self.all_scripts,
            texts: self.texts,
            settings: Settings { seed: load.seed, clients, ..self.settings },
            workloads: self.workloads,
            is_scale_asked: self.is_scale_asked,
            pool: load.pool,
            keep_alive: load.keep_alive,
            checks_room: load.checks_room,
            latency_limit_ns: load.latency_limit_ns,
        }
    }
}

/// Explains a script in pgbench's language, parsed as for PostgreSQL.
///
/// # Errors
///
/// All errors of the script and of the variables.
pub fn explained_script(path: &str, spec: &SqlSpec) -> Result<ScriptExplanation, Vec<Fault>> {
    let (mut errors, played) = (Vec::new(), [ScriptSource::File(path.to_owned())]);
    let checked = check(&played, spec, Engine::FOR_WORKLOADS, &mut errors);
    // Explains every mode, not only the default one.
    errors.retain(|error| !matches!(error.problem, Problem::Step(StepProblem::PipelineInSimpleMode { .. })));
    let mut faults: Vec<Fault> = errors.iter().map(|error| error.to_fault(Spelling::Flags)).collect();
    if let (true, Some(name), Some(text)) = (faults.is_empty(), checked.names.first(), checked.texts.first())
    {
        let text = String::from_utf8_lossy(text);
        match sql::explain(name, &text, &checked.settings.variables, Engine::FOR_WORKLOADS, EXAMPLE_SEED) {
            Ok(explanation) => return Ok(explanation),
            Err(errors) => faults
                .extend(errors.iter().map(|error| Fault::new(path, error.to_string(), "correct the script"))),
        }
    }
    Err(faults)
}

/// Name of a built-in workload, or an error that suggests the nearest one.
pub fn known_workload(name: &str) -> Result<&'static str, Fault> {
    let mixes = workload::MIXES.iter().map(|mix| mix.name);
    let records = ycsb::WORKLOADS.iter().map(|workload| workload.name);
    let workloads = workload::WORKLOADS.iter().map(|workload| workload.name);
    let known = || mixes.clone().chain(workloads.clone()).chain(records.clone());
    known().find(|known| *known == name).ok_or_else(|| {
        let letters = |name: &str| name.to_lowercase().replace(['-', '_'], "");
        // A unique part of a name is enough: `tpc-b`, `read-only`.
        let mut parts = known().filter(|known| letters(known).contains(&letters(name)));
        let part = parts.next().filter(|_| name.len() > 2 && parts.next().is_none());
        let help = match near::nearest(name, known()).or(part) {
            Some(near) => format!("write {near}"),
            None => format!("write one of {}", known().collect::<Vec<_>>().join(", ")),
        };
        Fault::new("--workload", format!("unknown workload {name:?}"), help)
    })
}

/// A script that is played.
struct ChosenScript {
    name: String,
    text: Vec<u8>,
    language: Language,
    weight: u32,
}

/// Pause after a transaction that has times at a terminal: the think time, and the keying time of the next transaction.
fn terminal_pause(script: &ChosenScript) -> Option<ThinkTime> {
    let terminal = workload::find(styled(&script.name).0)?.terminal?;
    let [constant_ns, mean_ns] =
        [terminal.keying_s, terminal.think_s].map(|seconds| u64::from(seconds) * 1_000_000_000);
    Some(ThinkTime::Exponential { constant_ns, mean_ns })
}

/// Builds a scenario from a single script. With several scripts, each transaction draws one of them by weight.
fn scenarios(scripts: &[ChosenScript], has_terminal_times: bool) -> Scenarios {
    if scripts.len() == 1 && !has_terminal_times {
        return Scenarios::single();
    }
    let pause = |script| terminal_pause(script).filter(|_| has_terminal_times).unwrap_or(ThinkTime::None);
    let visits = scripts
        .iter()
        .enumerate()
        .map(|(number, script)| (Visit::of(number as u16, pause(script)), f64::from(script.weight)));
    let order = Order::Mix(visits.collect());
    Scenarios { list: vec![Scenario { name: String::new(), share: 1.0, once: Vec::new(), order }] }
}

struct Checker<'a> {
    played: &'a [ScriptSource],
    spec: &'a SqlSpec,
    errors: &'a mut Vec<PlanError>,
}

impl Checker<'_> {
    fn error(&mut self, field: Field, at: Option<At>, problem: impl Into<Problem>) {
        self.errors.push(PlanError { field, problem: problem.into(), at });
    }

    /// Appends an error about a script or a workload. It has no place, because scripts are steps in a plan file.
    fn wrong(&mut self, field: Field, what: impl Into<String>, help: impl Into<String>) {
        self.error(field, None, Problem::Unreadable { what: what.into(), help: help.into() });
    }

    fn count(&mut self, field: Field, value: &Option<Spanned<u64>>, min: u64, max: u64) -> Option<u64> {
        let value = value.as_ref()?;
        let problem = match (value.get(), value.wrong()) {
            (Some(have), _) if (min..=max).contains(have) => return Some(*have),
            (Some(have), _) => Problem::OutOfRange { have: *have, min, max },
            (None, wrong) => wrong?.into(),
        };
        self.error(field, value.at(), problem);
        None
    }

    /// Built-in workloads that are played, each once.
    fn workloads(&mut self) -> Vec<&'static Workload> {
        let mut found: Vec<&'static Workload> = Vec::new();
        for played in self.played {
            let ScriptSource::Workload(text) = played else { continue };
            let (name, _) = styled(split_weight(text).0);
            match workload::find(name) {
                Some(one) if found.iter().any(|known| known.name == one.name) => {}
                Some(one) => found.push(one),
                None => {
                    if let Err(unknown) = known_workload(name) {
                        self.wrong(Field::WORKLOAD, unknown.what, unknown.help);
                    }
                }
            }
        }
        found
    }

    fn style(&mut self, workloads: &[&Workload]) -> Style {
        let Some(style) = &self.spec.style else { return Style::default() };
        let has_styles = workloads.iter().any(|workload| workload.styles.len() > 1);
        let problem = match (style.get(), style.wrong()) {
            (Some(style), _) if has_styles => return *style,
            (_, Some(wrong)) => Problem::from(wrong),
            _ => StepProblem::NoStyles.into(),
        };
        self.error(Field::STYLE, style.at(), problem);
        Style::default()
    }

    /// Variables of all clients, including the defaults of workloads, and the rows of a batch. The rows are `None` if no workload
    /// has them.
    fn variables(&mut self, workloads: &[&Workload]) -> (Vec<(String, String)>, Option<u32>) {
        let spec = self.spec;
        let mut given: Vec<(String, String)> = Vec::new();
        let at = spec.variables.as_ref().and_then(Spanned::at);
        for variable in spec.variables.as_ref().and_then(Spanned::get).into_iter().flatten() {
            let name = variable.name.clone();
            match &variable.value {
                Some(value) if ScriptSet::new().variable(&name).is_some() => {
                    given.retain(|(known, _)| *known != name);
                    given.push((name, value.clone()));
                }
                // The value may be a secret, so the error does not show it.
                _ => self.error(Field::VARIABLES, at, StepProblem::NoVariable { name }),
            }
        }
        let own = [
            (Field::TABLES, "tables", &spec.tables),
            (Field::TABLE_SIZE, "table_size", &spec.table_size),
            (Field::RANGE_SIZE, "range_size", &spec.range_size),
            (Field::ROWS, "rows", &spec.rows),
        ];
        let mut rows = None;
        for (field, name, value) in own {
            let variable =
                workloads.iter().flat_map(|workload| workload.variables).find(|one| one.name == name);
            let Some(variable) = variable else {
                if let Some(value) = value {
                    self.error(field, value.at(), StepProblem::NoSuchVariable { name });
                }
                continue;
            };
            let defined = given.iter().find(|(known, _)| known == name);
            let defined = defined.map(|(_, text)| Spanned::from_text(text, &values::COUNT).placed(at));
            let field = if value.is_some() { field } else { Field::VARIABLES };
            let value = value.clone().or(defined);
            let value = self.count(field, &value, variable.least.into(), variable.most.into());
            let value = value.unwrap_or(variable.default.into());
            given.retain(|(known, _)| known != name);
            given.push((name.to_owned(), value.to_string()));
            if name == "rows" {
                rows = Some(value as u32);
            }
        }
        (given, rows)
    }

    /// Scripts in the order of the plan, which is also the order of the steps.
    fn scripts(&mut self, engine: Engine, style: Style, rows: Option<u32>) -> Vec<ChosenScript> {
        let mut scripts: Vec<ChosenScript> = Vec::new();
        for played in self.played {
            let (field, text) = match played {
                ScriptSource::File(text) => (Field::SCRIPT, text),
                ScriptSource::Workload(text) => (Field::WORKLOAD, text),
                ScriptSource::Text { name, text } => {
                    let (name, text) = (name.clone(), text.clone());
                    scripts.push(ChosenScript { name, text, language: Language::Extended, weight: 1 });
                    continue;
                }
            };
            let (name, weight) = split_weight(text);
            let weight = match weight {
                None => Ok(1),
                Some(weight) => {
                    weight.parse::<u32>().ok().filter(|weight| *weight <= WEIGHT_MAX).ok_or(weight)
                }
            };
            let Ok(weight) = weight else {
                let what = format!("the weight of {name} is not a whole number from 0 to {WEIGHT_MAX}");
                self.wrong(field, what, format!("write {} {name}@3", field.flag));
                continue;
            };
            if let (ScriptSource::File(_), Some(instead)) = (played, sysbench_help(name)) {
                self.wrong(
                    field,
                    format!("{name} is a script of sysbench in Lua, which is not run"),
                    instead,
                );
                continue;
            }
            let found = match played {
                ScriptSource::File(_) => {
                    read_script(Path::new(name)).map(|text| (file_name(name), text, Language::Pgbench))
                }
                ScriptSource::Workload(_) | ScriptSource::Text { .. } => {
                    let (base, own) = styled(name);
                    let own = match own.map(find_style) {
                        None => style,
                        Some(Ok(style)) => style,
                        Some(Err(help)) => {
                            self.wrong(field, format!("{name} names no style"), help);
                            continue;
                        }
                    };
                    match workload::find(base).map(|one| one.script(engine, own, rows)) {
                        Some(Ok(text)) => Ok((name.to_owned(), text.into_bytes(), Language::Extended)),
                        Some(Err(what)) => Err(what),
                        None => continue,
                    }
                }
            };
            match found {
                Ok((name, text, language)) => {
                    let name = unique_name(name, |name| scripts.iter().any(|script| script.name == name));
                    scripts.push(ChosenScript { name, text, language, weight });
                }
                Err(what) => self.wrong(field, what, "name a script that can be read, or another workload"),
            }
        }
        if self.played.is_empty() {
            self.error(SQL, None, StepProblem::NothingPlayed);
        } else if scripts.len() > SCRIPTS_MAX {
            self.wrong(Field::SCRIPT, format!("there are more than {SCRIPTS_MAX} scripts"), "use fewer");
        } else if !scripts.is_empty() && scripts.iter().all(|script| script.weight == 0) {
            self.wrong(Field::SCRIPT, "no script has a weight above 0", "remove @0 from one of them");
        }
        scripts
    }

    fn all_scripts(&mut self, scripts: &[ChosenScript]) -> ScriptSet {
        let mut all_scripts = ScriptSet::new();
        for (number, script) in scripts.iter().enumerate() {
            if let Err(faults) = all_scripts.add(&script.name, &script.text, script.language, Allow::Nothing)
            {
                for fault in &faults {
                    self.error(Field::SCRIPT, None, script_error::problem(fault, number));
                }
            }
        }
        all_scripts
    }

    /// Reports undefined variables of pgbench scripts. In simple mode, pgbench leaves an undefined `:name` unchanged within quotes and in a
    /// possible array slice. Tenbin does too.
    fn report_undefined(&mut self, scripts: &[ChosenScript], variables: &[(String, String)], mode: Mode) {
        let mut given = DefinedVariables::default();
        let mut all = Vec::new();
        for script in scripts.iter().filter(|script| script.language == Language::Pgbench) {
            let Ok(text) = std::str::from_utf8(&script.text) else { continue };
            all.push((script, text, script::reads(text, Language::Pgbench, &mut given)));
        }
        let is_defined = |name: &str| {
            PREDEFINED_VARIABLES.contains(&name)
                || variables.iter().any(|(known, _)| known == name)
                || given.has(name)
        };
        for (script, text, reads) in all {
            let is_left = |read: &Read| mode == Mode::Simple && read.form != ReadForm::Value;
            for read in reads.iter().filter(|read| !is_defined(&read.name) && !is_left(read)) {
                let known: Vec<&str> = variables
                    .iter()
                    .map(|(name, _)| name.as_str())
                    .chain(given.names())
                    .chain(PREDEFINED_VARIABLES)
                    .collect();
                let meant = near::nearest(&read.name, known.into_iter()).map(str::to_owned);
                let before = &text[..read.range.start];
                let line = before.matches('\n').count() + 1;
                let column = before.chars().rev().take_while(|sign| *sign != '\n').count() + 1;
                let place = format!("{}:{line}:{column}", visible(&script.name));
                let problem = StepProblem::Undefined { place, name: visible(&read.name), meant };
                self.error(Field::SCRIPT, None, problem);
            }
        }
    }

    /// Whether the load has scripts other than built-in workloads.
    fn has_scripts(&self) -> bool {
        self.played.iter().any(|played| !matches!(played, ScriptSource::Workload(_)))
    }

    /// Query mode. Workloads have a default; for scripts it is `simple`, as in pgbench.
    fn mode(&mut self, workloads: &[&Workload], all_scripts: &ScriptSet) -> Mode {
        let given = self.spec.mode.as_ref();
        let at = given.and_then(Spanned::at);
        let mode = match given.map(|given| (given.get(), given.wrong())) {
            None => {
                let is_simple =
                    self.has_scripts() || workloads.iter().any(|workload| workload.mode == Mode::Simple);
                if is_simple { Mode::Simple } else { workloads.first().map_or(Mode::Simple, |one| one.mode) }
            }
            Some((Some(mode), _)) => *mode,
            Some((None, wrong)) => {
                if let Some(wrong) = wrong {
                    self.error(Field::MODE, at, wrong);
                }
                Mode::Simple
            }
        };
        let piped = all_scripts.scripts().iter().find(|script| script.has_pipeline());
        if let Some(script) = piped.filter(|_| mode == Mode::Simple) {
            let problem = StepProblem::PipelineInSimpleMode { script: script.name().to_owned() };
            self.error(Field::MODE, at, problem);
        }
        mode
    }

    fn max_tries(&mut self, workloads: &[&Workload]) -> u32 {
        let given = self.count(Field::MAX_TRIES, &self.spec.max_tries, 0, u32::MAX.into());
        let of_scripts = self.has_scripts().then_some(1);
        // 0 means unlimited, which applies only if all workloads ignore such failures.
        let tries = workloads.iter().map(|workload| workload.max_tries).chain(of_scripts);
        given.map_or_else(|| tries.max().unwrap_or(1), |given| given as u32)
    }

    /// Whether transactions have keying and think times at a terminal.
    fn has_terminal_times(&mut self, workloads: &[&Workload]) -> bool {
        let is_asked = self.spec.terminal_times.as_ref().and_then(Spanned::get) == Some(&true);
        if is_asked && !workloads.iter().any(|workload| workload.terminal.is_some()) {
            let what = "no workload has keying and think times";
            self.wrong(Field::TERMINAL_TIMES, what, "leave it out, or play --workload tpcc-like");
        }
        is_asked
    }

    fn distribution(&mut self, workloads: &[&Workload]) -> Distribution {
        let has_rows = workloads.iter().any(|workload| workload.tables == Tables::Sbtest);
        let Some(given) = &self.spec.distribution else {
            return if has_rows { Distribution::Special } else { Distribution::Uniform };
        };
        if !has_rows {
            self.error(Field::DISTRIBUTION, given.at(), StepProblem::NoRowsDrawn);
        }
        if let Some(wrong) = given.wrong() {
            self.error(Field::DISTRIBUTION, given.at(), wrong);
        }
        given.get().copied().unwrap_or(Distribution::Uniform)
    }
}

/// Parses `special`, `uniform`, `zipf`, `zipf:1.1`, `pareto`, or `pareto:0.2`.
pub(crate) fn read_distribution(text: &str) -> Result<Distribution, String> {
    let (kind, number) = text.split_once(':').map_or((text, None), |(kind, number)| (kind, Some(number)));
    let number =
        number.map(|number| number.trim().parse::<f64>().map_err(|_| format!("{number:?} is no number")));
    let number = number.transpose()?;
    match (kind, number) {
        ("special", None) => Ok(Distribution::Special),
        ("uniform", None) => Ok(Distribution::Uniform),
        ("zipf", number) => match number.unwrap_or(ZIPF_DEFAULT) {
            exponent if (1.001..=1000.0).contains(&exponent) => Ok(Distribution::Zipf(exponent)),
            _ => Err("the exponent of zipf is not between 1.001 and 1000".to_owned()),
        },
        ("pareto", number) => match number.unwrap_or(PARETO_DEFAULT) {
            share if share > 0.0 && share < 1.0 => Ok(Distribution::Pareto(share)),
            _ => Err("the share of pareto is not between 0 and 1".to_owned()),
        },
        _ => Err(format!("{text:?} is not known")),
    }
}

/// Help for a script of sysbench: the built-in workload with its name. `None` if the file is not a sysbench script.
fn sysbench_help(path: &str) -> Option<String> {
    let name = file_name(path.strip_suffix(".lua")?).replace('_', "-");
    match workload::find(&name) {
        Some(workload) => Some(format!("write --workload {}, which sends the same statements", workload.name)),
        None if name == "tpcc" || name == "tpcc-run" => Some("write --workload tpcc-like".to_owned()),
        None => Some(
            "write its statements in pgbench's language: what event() does in a file for -f, and what prepare() does in one for psql or mysql"
                .to_owned(),
        ),
    }
}

/// Splits `name@weight`. The weight is `None` if there is no `@`.
fn split_weight(text: &str) -> (&str, Option<&str>) {
    text.rsplit_once('@').map_or((text, None), |(name, weight)| (name, Some(weight)))
}

fn file_name(path: &str) -> String {
    Path::new(path).file_name().map_or(path.to_owned(), |name| name.to_string_lossy().into_owned())
}

/// Name, with a number appended if it is already used.
pub(crate) fn unique_name(name: String, is_taken: impl Fn(&str) -> bool) -> String {
    let numbered = (2..).map(|number| format!("{name} ({number})"));
    std::iter::once(name.clone()).chain(numbered).find(|name| !is_taken(name)).unwrap_or(name)
}

fn read_script(path: &Path) -> Result<Vec<u8>, String> {
    let shown = path.display();
    let about = fs::metadata(path).map_err(|error| format!("{shown}: {error}"))?;
    if !about.is_file() {
        return Err(format!("{shown} is not a regular file"));
    }
    if about.len() > SCRIPT_BYTES_MAX {
        return Err(format!("{shown} is larger than 8 MiB"));
    }
    fs::read(path).map_err(|error| format!("{shown}: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mix_is_replaced_by_its_parts() {
        let played =
            [ScriptSource::Workload("tpcc-like@2".to_owned()), ScriptSource::Workload("sign-up".to_owned())];
        let texts: Vec<String> = expand_mixes(&played)
            .into_iter()
            .map(|one| match one {
                ScriptSource::Workload(text) => text,
                other => panic!("{other:?}"),
            })
            .collect();
        let expected = [
            "tpcc-new-order@90",
            "tpcc-payment@86",
            "tpcc-order-status@8",
            "tpcc-delivery@8",
            "tpcc-stock-level@8",
            "sign-up",
        ];
        assert_eq!(texts, expected);
        let mut errors = Vec::new();
        let checked = check(&played[..1], &SqlSpec::default(), Engine::PostgreSql, &mut errors);
        assert!(errors.is_empty() && checked.is_scale_asked);
        assert_eq!(checked.settings.max_tries, 0);
    }

    #[test]
    fn script_of_sysbench_names_its_workload() {
        for (file, told) in [
            ("/usr/share/sysbench/oltp_read_write.lua", "write --workload oltp-read-write"),
            ("bulk_insert.lua@2", "write --workload bulk-insert"),
            ("tpcc.lua", "write --workload tpcc-like"),
            ("own.lua", "write its statements in pgbench's language"),
        ] {
            let mut errors = Vec::new();
            check(&[ScriptSource::File(file.to_owned())], &SqlSpec::default(), Engine::MySql, &mut errors);
            let said: String = errors
                .iter()
                .map(|error| error.to_fault(crate::error::Spelling::Flags).to_string())
                .collect();
            assert!(said.contains("is a script of sysbench in Lua") && said.contains(told), "{said}");
        }
    }
}
