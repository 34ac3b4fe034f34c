//! One run's plan: a load of the study against a system that was started.

use std::collections::BTreeSet;

use ::load::Scenarios;

use super::tool::{TOOL_GRACE_NS, ToolText};
use super::{Launch, Study, StudyPin};
use crate::check::{Target, put_on};
use crate::database::{Database, is_database};
use crate::draft::Draft;
use crate::endpoint::Gets;
use crate::error::Spelling;
use crate::fault::Fault;
use crate::file::SqlText;
use crate::plan::{Action, HttpAction, OwnedAction, Pin, Plan, PlannedStep};
use crate::running::RunningAs;
use crate::spec::LoadSpec;

impl Study {
    /// The plan of one run: a load, against what was started. With [`StudyPin::Auto`] the caller chooses the generator's
    /// cores. The error says what is wrong with the URL that came of the launch.
    pub fn plan(&self, load: usize, launch: &Launch) -> Result<Plan, Vec<Fault>> {
        if let Some(tool) = &self.loads[load].tool {
            return self.plan_of_tool(tool, load, launch);
        }
        if let Some(scenario) = &self.loads[load].scenario {
            return self.following(scenario, load).plan(load, launch);
        }
        let spec = &self.loads[load].spec;
        let mut plan = match (&self.script.sql, &launch.database) {
            (None, None) => requests(launch, spec.clone())?,
            (None, Some(database)) => {
                Plan { watched: Some(Database::read(database)?), ..requests(launch, spec.clone())? }
            }
            (Some(sql), None) => transactions(&launch.url, sql, spec)?,
            (Some(sql), Some(database)) => both(launch, database, sql, spec)?,
        };
        // Only a URL with a name and a password adds headers to the request of a draft.
        let base = plan.steps.remove(0);
        let is_secure = plan.endpoint().peer().tls.is_some();
        plan.steps.clone_from(&self.script.steps);
        plan.errands.clone_from(&self.script.errands);
        let base =
            base.request().map(|action| action.request.clone()).or(base.owned().map(OwnedAction::as_request));
        for step in plan.steps.iter_mut().chain(plan.errands.steps_mut()) {
            match (&mut step.action, &base) {
                (Action::Http(HttpAction { request, .. }), Some(base)) => {
                    request.host.clone_from(&base.host);
                    request.target = below(&base.target, &request.target);
                    request.keep_alive = base.keep_alive;
                    if let Some(redirects) = &mut request.redirects {
                        redirects.is_secure = is_secure;
                    }
                    request.headers.extend_from_slice(&base.headers);
                }
                (Action::Owned(action), Some(base)) => {
                    action.host.clone_from(&base.host);
                    action.keep_alive = base.keep_alive;
                }
                _ => {}
            }
        }
        plan.variables.clone_from(&self.script.variables);
        plan.scenarios.clone_from(&self.script.scenarios);
        plan.data.clone_from(&self.script.data);
        plan.secrets.clone_from(&self.secrets);
        for endpoint in &mut plan.endpoints {
            if let (Gets::Transactions(planned), Some(sql)) = (&mut endpoint.gets, &self.script.sql) {
                planned.settings.bindings.clone_from(&sql.bindings);
                planned.settings.saves = self.saved_by_transactions();
            }
        }
        if let StudyPin::Cores { generator, .. } = &self.pin {
            plan.pin = Pin::Cores(generator.clone());
        }
        plan.title = self.title_of(launch);
        plan.running = self.running(launch)?;
        Ok(plan)
    }

    /// The plan of a load that another load generator makes: its only step is the tool.
    fn plan_of_tool(&self, tool: &ToolText, load: usize, launch: &Launch) -> Result<Plan, Vec<Fault>> {
        let spec = LoadSpec { timeout_ns: Some(TOOL_GRACE_NS.into()), ..self.loads[load].spec.clone() };
        let mut plan =
            if is_database(&launch.url) { of_database(&launch.url, &spec)? } else { requests(launch, spec)? };
        if let Some(database) = &launch.database {
            plan.watched = Some(Database::read(database)?);
        }
        if let StudyPin::Cores { generator, .. } = &self.pin {
            plan.pin = Pin::Cores(generator.clone());
        }
        // Every load of the study has a place in the launch.
        let commands = launch.tools.get(load).cloned().flatten();
        let action = commands.map(|commands| tool.action(commands)).map(Action::Tool);
        let step = action.map(|action| PlannedStep { name: tool.tool.name.to_owned(), endpoint: 0, action });
        (plan.steps, plan.scenarios) = (step.into_iter().collect(), Scenarios::single());
        plan.title = self.title_of(launch);
        plan.running = self.running(launch)?;
        Ok(plan)
    }

    /// The processes that the plan names.
    fn running(&self, launch: &Launch) -> Result<Option<RunningAs>, Vec<Fault>> {
        let named = launch.running.as_ref();
        named
            .map(|named| named.checked(named.key().to_owned(), &self.dir))
            .transpose()
            .map_err(|fault| vec![fault])
    }

    fn title_of(&self, launch: &Launch) -> String {
        match launch.variant.as_str() {
            "" => format!("{}: {}", self.title, launch.system),
            variant => format!("{}: {} {variant}", self.title, launch.system),
        }
    }

    /// The numbers of the variables that transactions give values to.
    fn saved_by_transactions(&self) -> Vec<u16> {
        let saves = self.script.steps.iter().flat_map(|step| match &step.action {
            Action::Sql(action) => action.saves.as_slice(),
            Action::Http(_) | Action::Owned(_) | Action::Tool(_) => &[],
        });
        let saves: BTreeSet<&String> = saves.collect();
        (0..)
            .zip(&self.script.variables)
            .filter(|(_, name)| saves.contains(name))
            .map(|(number, _)| number)
            .collect()
    }

    /// How long a run of a load takes, warm-up included, if time ends it.
    pub fn run_ns(&self, load: usize) -> Option<u64> {
        self.loads[load].run_ns
    }

    /// The names of the steps, in the order of their numbers.
    pub fn step_names(&self) -> impl Iterator<Item = &str> {
        self.script.steps.iter().map(|step| step.name.as_str())
    }
}

/// The path of a step below that of its system's URL.
fn below(base: &str, target: &str) -> String {
    let base = base.split('?').next().unwrap_or_default().trim_end_matches('/');
    if target == "*" { target.to_owned() } else { format!("{base}{target}") }
}

fn requests(launch: &Launch, load: LoadSpec) -> Result<Plan, Vec<Fault>> {
    Draft {
        url: with_step(&launch.url),
        unix_socket: launch.socket.clone(),
        tls: launch.tls.clone(),
        load,
        ..Draft::default()
    }
    .check()
}

/// The URL of a system with a step that the plan's own steps replace, if its protocol takes steps from queries.
fn with_step(url: &str) -> String {
    let scheme = url.split_once("://").map_or("", |(scheme, _)| scheme);
    let own = wire::of_scheme(scheme).and_then(|(protocol, _)| protocol.own_steps());
    own.map_or_else(|| url.to_owned(), |own| format!("{url}{}", own.query))
}

/// A load on a database whose statements are not known.
fn of_database(url: &str, load: &LoadSpec) -> Result<Plan, Vec<Fault>> {
    let database = Database::read(url)?;
    if database.file.is_some() {
        let what = "another load generator cannot load SQLite, which runs within Tenbin";
        return Err(vec![Fault::new("url", what, "name a server, or remove `tool` from the load")]);
    }
    let plan = put_on(Some(Target::of_tool(&database)), true, load, Spelling::Keys, Vec::new())?;
    Ok(Plan { watched: Some(database), ..plan })
}

fn transactions(url: &str, sql: &SqlText, load: &LoadSpec) -> Result<Plan, Vec<Fault>> {
    let mut faults = Vec::new();
    let target = Target::database(url, &sql.played, &sql.spec, Spelling::Keys, &mut faults);
    put_on(target, true, load, Spelling::Keys, faults)
}

/// A load whose steps are requests and transactions: the rules of each hold for its own part of what is asked for.
fn both(launch: &Launch, database: &str, sql: &SqlText, load: &LoadSpec) -> Result<Plan, Vec<Fault>> {
    let of_sql = transactions(database, sql, load)?;
    let of_requests = LoadSpec { pool: None, room_check: None, latency_limit_ns: None, ..load.clone() };
    let of_http = requests(launch, of_requests)?;
    let endpoints = [of_http.endpoints, of_sql.endpoints].concat();
    Ok(Plan { endpoints, connect_timeout_ns: of_sql.connect_timeout_ns, ..of_http })
}
