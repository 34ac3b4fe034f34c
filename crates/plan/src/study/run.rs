//! Builds the plan of one run: a load of the study on a system that was started.

use std::collections::BTreeSet;

use ::load::Scenarios;
use wire::Protocol;
use wire::step::Site;

use super::figures;
use super::tool::{TOOL_GRACE_NS, ToolText};
use super::written;
use super::{Launch, LaunchEndpoint, Study, StudyPin};
use crate::database::Database;
use crate::endpoint::Endpoint;
use crate::fault::Fault;
use crate::plan::{Action, Errands, Pin, Plan, PlannedStep};
use crate::replay::{Replay, STEP};
use crate::request;
use crate::requests;
use crate::running::RunningAs;
use crate::spec::LoadSpec;
use crate::system_kind::SystemKind;

impl Study {
    /// Plan of one run of a load on a started system. With [`StudyPin::Auto`], the caller chooses the generator's cores. An error
    /// is about a URL of the launch.
    pub fn plan(&self, load: usize, launch: &Launch) -> Result<Plan, Vec<Fault>> {
        let setting = self.setting(launch.number);
        if !std::ptr::eq(setting, self) {
            return setting.plan(load, launch);
        }
        if let Some(tool) = &self.loads[load].tool {
            return self.plan_of_tool(tool, load, launch);
        }
        if let Some(replay) = &self.loads[load].replay {
            return self.plan_of_replay(replay, load, launch);
        }
        if let Some(scenario) = &self.loads[load].scenario {
            return self.with_scenario(scenario, load).plan(load, launch);
        }
        let (mut plan, sites) = self.plan_with_sites(launch, &self.loads[load].spec)?;
        plan.steps.clone_from(&self.script.steps);
        for step in &mut plan.steps {
            send_to(step, sites[usize::from(step.endpoint)].as_ref());
        }
        plan.errands = self.errands(&plan, launch)?;
        plan.variables.clone_from(&self.script.variables);
        plan.scenarios.clone_from(&self.script.scenarios);
        plan.data.clone_from(&self.script.data);
        plan.secrets.clone_from(&self.secrets);
        if let StudyPin::Cores { generator, .. } = &self.pin {
            plan.pin = Pin::Cores(generator.clone());
        }
        plan.title = self.run_title(launch);
        plan.running = self.running(launch)?;
        plan.figures = figures::planned(&plan, launch)?;
        plan.written = written::planned(self.written.as_ref(), &plan, launch)?;
        Ok(plan)
    }

    /// Plan of a load on all systems that its steps talk to, and the site of each system. `None` for a database.
    fn plan_with_sites(
        &self,
        launch: &Launch,
        load: &LoadSpec,
    ) -> Result<(Plan, Vec<Option<Site>>), Vec<Fault>> {
        let (mut endpoints, mut sites) = (Vec::new(), Vec::new());
        let (mut first, mut connect_timeout_ns) = (None, None);
        for (number, role) in (0..).zip(&self.script.endpoints) {
            let place = launch.place(role);
            let mut plan = (role.kind.plan_of_steps)(&place, &role.scripts, load, self.script.unit())?;
            let pool = place.pool;
            let (mut endpoint, site) = place_endpoint(&role.name, place, &mut plan)?;
            endpoint.load.bind(&role.scripts.bindings, self.saved_by_steps(number));
            endpoints.push(Endpoint { pool, ..endpoint });
            sites.push(site);
            if role.kind.has_connect_timeout {
                connect_timeout_ns.get_or_insert(plan.connect_timeout_ns);
            }
            first.get_or_insert(plan);
        }
        let Some(first) = first else {
            return Err(vec![Fault::new("scenario", "there are no steps", "add a step such as `get: /`")]);
        };
        let takes_any =
            self.script.endpoints.iter().any(|role| role.kind.may_be_second && role.name.is_empty());
        let watched = launch.database.as_ref().filter(|_| !takes_any);
        let plan = Plan {
            front: (SystemKind::by_url(&launch.url).front)(&launch.front())?,
            endpoints,
            watched: watched.map(|url| Database::read(url)).transpose()?,
            connect_timeout_ns: connect_timeout_ns.unwrap_or(first.connect_timeout_ns),
            ..first
        };
        Ok((plan, sites))
    }

    /// Requests and statements before and after the load, with their systems.
    fn errands(&self, plan: &Plan, launch: &Launch) -> Result<Errands, Vec<Fault>> {
        let mut errands = self.script.errands.clone();
        if errands.is_empty() {
            return Ok(errands);
        }
        for errand in errands.sql_mut() {
            let named =
                errand.endpoint.as_deref().map(|name| launch.endpoints.iter().find(|one| one.name == name));
            let url = match named {
                Some(Some(endpoint)) => &endpoint.url,
                Some(None) => return Err(vec![no_database_fault(errand.endpoint.as_deref())]),
                None => launch.database.as_ref().unwrap_or(&launch.url),
            };
            if !SystemKind::by_url(url).does_answer("sql") {
                return Err(vec![no_database_fault(errand.endpoint.as_deref())]);
            }
            errand.database = Some(Database::read(url)?);
        }
        if errands.steps().next().is_none() {
            return Ok(errands);
        }
        let mut at = Vec::new();
        for role in &self.script.errands_at {
            let place = launch.place(role);
            let mut around = requests::alone(&place, LoadSpec::default())?;
            let (endpoint, site) = place_endpoint(&role.name, place, &mut around)?;
            at.push((endpoint, site.map(|site| Site { keep_alive: plan.keep_alive(), ..site })));
        }
        for step in errands.steps_mut() {
            let (endpoint, site) = &at[usize::from(step.endpoint)];
            check_protocol(step, endpoint)?;
            send_to(step, site.as_ref());
        }
        errands.at = at.into_iter().map(|(endpoint, _)| endpoint).collect();
        Ok(errands)
    }

    /// Plan of a load that an external load generator makes. The tool is its only step.
    fn plan_of_tool(&self, tool: &ToolText, load: usize, launch: &Launch) -> Result<Plan, Vec<Fault>> {
        let spec = LoadSpec { timeout_ns: Some(TOOL_GRACE_NS.into()), ..self.loads[load].spec.clone() };
        let mut plan = (SystemKind::by_url(&launch.url).plan_of_tool)(&launch.front(), spec)?;
        if let Some(database) = &launch.database {
            plan.watched = Some(Database::read(database)?);
        }
        if let StudyPin::Cores { generator, .. } = &self.pin {
            plan.pin = Pin::Cores(generator.clone());
        }
        // `tools` has an entry for every load of the study.
        let commands = launch.tools.get(load).cloned().flatten();
        let action = commands.map(|commands| tool.action(commands)).map(Action::Tool);
        let step = action.map(|action| PlannedStep { name: tool.tool.name.to_owned(), endpoint: 0, action });
        (plan.steps, plan.scenarios) = (step.into_iter().collect(), Scenarios::single());
        plan.title = self.run_title(launch);
        plan.running = self.running(launch)?;
        plan.figures = figures::planned(&plan, launch)?;
        Ok(plan)
    }

    /// Plan of a load that replays a log. All of its statements or requests are one step.
    fn plan_of_replay(&self, replay: &Replay, load: usize, launch: &Launch) -> Result<Plan, Vec<Fault>> {
        let (spec, is_started) = (&self.loads[load].spec, !launch.processes.is_empty());
        let replay = replay.for_system(is_started).map_err(|fault| vec![fault])?;
        let traffic = replay.traffic;
        let wrong = |[what, help]: [&str; 2]| vec![Fault::new("url", what, help)];
        let kind = SystemKind::for_traffic(traffic);
        let url = kind.url_at(launch).ok_or_else(|| wrong(traffic.other_kind))?;
        let mut plan = (kind.plan_of_traffic)(launch, url, spec)?;
        if !plan.endpoint().load.accepts_traffic(traffic) {
            return Err(wrong(traffic.other_server));
        }
        plan.steps.truncate(1);
        plan.steps.iter_mut().for_each(|step| STEP.clone_into(&mut step.name));
        plan.errands = self.errands(&plan, launch)?;
        plan.secrets.clone_from(&self.secrets);
        if let StudyPin::Cores { generator, .. } = &self.pin {
            plan.pin = Pin::Cores(generator.clone());
        }
        (plan.scenarios, plan.stop) = (Scenarios::single(), replay.stop());
        (plan.load, plan.grows_to, plan.extend) = (replay.load(plan.load), None, 0);
        plan.title = self.run_title(launch);
        plan.running = self.running(launch)?;
        plan.figures = figures::planned(&plan, launch)?;
        plan.replay = Some(replay);
        Ok(plan)
    }

    /// Processes of a system that already runs, if the plan names them.
    fn running(&self, launch: &Launch) -> Result<Option<RunningAs>, Vec<Fault>> {
        let named = launch.running.as_ref();
        named
            .map(|named| named.checked(named.key().to_owned(), &self.dir))
            .transpose()
            .map_err(|fault| vec![fault])
    }

    fn run_title(&self, launch: &Launch) -> String {
        match launch.variant.as_str() {
            "" => format!("{}: {}", self.title, launch.system),
            variant => format!("{}: {} {variant}", self.title, launch.system),
        }
    }

    /// Numbers of the variables that steps on a system save.
    fn saved_by_steps(&self, endpoint: u16) -> Vec<u16> {
        let steps = self.script.steps.iter().filter(|step| step.endpoint == endpoint);
        let saved: BTreeSet<u16> = steps.flat_map(PlannedStep::saves).collect();
        saved.into_iter().collect()
    }

    /// Duration of a run of a load in nanoseconds, including the warm-up. `None` if a number of requests ends it.
    pub fn run_ns(&self, load: usize) -> Option<u64> {
        self.loads[load].run_ns
    }

    /// Names of the steps, in the order of their numbers.
    pub fn step_names(&self) -> impl Iterator<Item = &str> {
        self.script.steps.iter().map(|step| step.name.as_str())
    }
}

/// Endpoint with this name at a place, from the plan of a load on that place alone, and its site. `None` for a database.
fn place_endpoint(
    name: &str,
    place: LaunchEndpoint,
    plan: &mut Plan,
) -> Result<(Endpoint, Option<Site>), Vec<Fault>> {
    let other_hosts = add_addresses(&mut plan.endpoints[0], &place)?;
    let site = request::site(&place.url, plan).map(|site| Site { other_hosts, ..site });
    let (name, load) = (name.to_owned(), plan.endpoint().load.clone());
    Ok((Endpoint { name, load, select: place.further.select, pool: None }, site))
}

/// Sends a request to a system.
fn send_to(step: &mut PlannedStep, site: Option<&Site>) {
    if let (Action::Owned(action), Some(site)) = (&mut step.action, site) {
        action.send_to(site);
    }
}

/// Rejects a request of `setup` or `teardown` to a system with another protocol, or to one that accepts no requests.
fn check_protocol(step: &PlannedStep, endpoint: &Endpoint) -> Result<(), Vec<Fault>> {
    let (sent, spoken) = (step.owned().and_then(|action| action.protocol), endpoint.protocol());
    if sent == spoken {
        return Ok(());
    }
    let [sent, spoken] = [sent, spoken].map(|protocol| protocol.map_or("transactions", Protocol::noun));
    let what =
        format!("step {:?} of `setup` or `teardown` sends {sent}, and its system takes {spoken}", step.name);
    Err(vec![Fault::new("endpoint", what, "name the system of the step with `endpoint`, or remove the step")])
}

/// Adds the addresses of the further URLs of a list. Returns the value of the Host header of each, for requests.
fn add_addresses(endpoint: &mut Endpoint, place: &LaunchEndpoint) -> Result<Vec<String>, Vec<Fault>> {
    let mut hosts = Vec::new();
    for url in &place.further.urls {
        hosts.extend(endpoint.load.add_address(&LaunchEndpoint { url: url.clone(), ..place.clone() })?);
    }
    Ok(hosts)
}

/// Error for statements of `setup` or `teardown` that go to no database.
fn no_database_fault(endpoint: Option<&str>) -> Fault {
    match endpoint {
        Some(name) => {
            let what =
                format!("`sql` of `setup` or `teardown` goes to {name}, which is no database of this system");
            Fault::new(
                "endpoint",
                what,
                "name an endpoint with a URL such as postgres://, mysql://, or sqlite:",
            )
        }
        None => Fault::new(
            "setup",
            "`sql` of `setup` or `teardown` needs a database, and `url` is none",
            "add `database: postgres://…`, or `endpoint` with the name of a database",
        ),
    }
}
