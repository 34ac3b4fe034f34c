//! Errands: the requests of `setup` and `teardown` before and after a load. One client sends them, and they are not counted.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use engine::{ExchangeClient, Peer};
use load::chance::Chance;
use load::values::{DataSource, RowOrder, Source};
use load::{Scenarios, Share, Values};
use plan::{ErrandSql, Errands, Plan, PlannedStep};

use crate::consent::PublicLoads;
use crate::databases;
use crate::describe::unix_ms;
use crate::load_data;
use crate::lone_pass::printable;
use crate::prepare::{Refusal, ask_owners, peers, shards};
use crate::protocol::Steps;
use crate::stopper::{StopLevel, Stopper};

/// Mixed into the seed of the plan, so that these draws differ from those of the load.
const SEED: u64 = 0x7365_7475_7020_2020;
const STOP_CHECK_INTERVAL: Duration = Duration::from_millis(20);

/// Client of a plan that has sent the `setup` requests.
pub struct SetUp {
    /// Client of the requests. `None` if there are none.
    client: Option<Client>,
    /// Statements of `teardown`.
    sql: Vec<ErrandSql>,
    /// Number of `setup` requests, which is also the index of the first `teardown` request.
    setup_count: u16,
    /// Values saved by `setup`, for all users. `None` if there are none.
    values: Option<DataSource>,
}

/// Client of the requests of `setup` and `teardown`.
struct Client {
    errand: ExchangeClient,
    /// Name of each request, and name of its endpoint. The latter is empty for `url`.
    steps: Vec<(String, String)>,
}

impl fmt::Debug for SetUp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SetUp").field("setup_count", &self.setup_count).finish_non_exhaustive()
    }
}

/// Makes the `setup` requests. `None` if the plan has neither `setup` nor `teardown`.
pub(crate) fn set_up(plan: &Plan, public: &PublicLoads, stopper: &Stopper) -> Result<Option<SetUp>, Refusal> {
    if plan.errands.is_empty() {
        return Ok(None);
    }
    let (own_plan, own_public) = (plan.clone(), public.clone());
    let made = unless_stopped(stopper, move || made(&own_plan, &own_public));
    made.unwrap_or(Err(Refusal::Stopped)).map(Some)
}

fn made(plan: &Plan, public: &PublicLoads) -> Result<SetUp, Refusal> {
    let mut client = Client::read(plan, public)?;
    let setup_count = plan.errands.setup.len() as u16;
    let sql = &plan.errands.setup_sql;
    run("setup", sql, client.as_mut(), 0, setup_count).map_err(Refusal::ExchangeClient)?;
    let values = client.as_ref().and_then(|client| saved(plan, &client.errand));
    Ok(SetUp { client, sql: plan.errands.teardown_sql.clone(), setup_count, values })
}

/// Makes `count` requests from `first` on, and the statements between them.
fn run(
    section: &str,
    sql: &[ErrandSql],
    mut client: Option<&mut Client>,
    first: u16,
    count: u16,
) -> Result<(), String> {
    for number in 0..=count {
        run_sql(sql, number.into()).map_err(|what| format!("sql of {section}: {what}"))?;
        if let Some(client) = client.as_deref_mut().filter(|_| number < count) {
            client.run(section, first + number)?;
        }
    }
    if let Some(client) = client {
        // The connections would be counted as connections of the load.
        client.errand.close();
    }
    Ok(())
}

impl Client {
    /// Creates the client without connections. `None` if the plan has no requests of `setup` and `teardown`.
    fn read(plan: &Plan, public: &PublicLoads) -> Result<Option<Self>, Refusal> {
        if plan.errands.steps().next().is_none() {
            return Ok(None);
        }
        let plan = plan_of_requests(plan);
        let discovered = databases::discovered(&plan)?;
        let plan = discovered.as_deref().unwrap_or(&plan);
        let (found, _) = peers(&plan.endpoints, public)?;
        if let PublicLoads::WithConsent(token) = public {
            ask_owners(plan, &plan.endpoints, &found, token)?;
        }
        let found = plan.endpoints.iter().zip(&found);
        let found: Vec<Peer> = found.flat_map(|(endpoint, peer)| shards(endpoint, peer)).collect();
        let found = found.into_iter().map(|peer| Peer { keep_alive: plan.keep_alive(), ..peer }).collect();
        let steps = Steps::read(plan)?.with_quoted_replies();
        let mut errand = steps.errand(found, Duration::from_nanos(plan.timeout_ns));
        draw(plan, &mut errand);
        let endpoint = |step: &PlannedStep| plan.endpoints[usize::from(step.endpoint)].name.clone();
        let steps = plan.steps.iter().map(|step| (step.name.clone(), endpoint(step))).collect();
        Ok(Some(Self { errand, steps }))
    }

    /// Makes a request of a section. The error has its step, its endpoint, and the reason.
    fn run(&mut self, section: &str, step: u16) -> Result<(), String> {
        let Self { errand, steps } = self;
        errand.run(step).map_err(|reason| {
            let (name, endpoint) = &steps[usize::from(step)];
            let at = if endpoint.is_empty() { String::new() } else { format!(" at the endpoint {endpoint}") };
            format!("step {name:?} of {section}{at}: {}", printable(&reason))
        })
    }
}

/// Plan with the requests of `setup` and `teardown` as steps, which no scenario contains.
fn plan_of_requests(plan: &Plan) -> Plan {
    let mut own = plan.clone();
    own.steps = plan.errands.steps().cloned().collect();
    own.endpoints.clone_from(&plan.errands.at);
    own.scenarios = Scenarios { list: Vec::new() };
    (own.errands, own.pipeline) = (Errands::default(), 1);
    own
}

impl SetUp {
    /// Passes the saved values to the users of a plan.
    pub(crate) fn pass_values(&mut self, plan: &mut Cow<'_, Plan>) {
        if let Some(values) = self.values.take() {
            plan.to_mut().data.push(values);
        }
    }

    /// Sends the `teardown` requests. The error names the failed step and the reason.
    pub(crate) fn tear_down(self, stopper: &Stopper) -> Result<(), String> {
        let Self { mut client, sql, setup_count, .. } = self;
        let made = unless_stopped(stopper, move || {
            let all = client.as_ref().map_or(0, |client| client.steps.len()) as u16;
            run("teardown", &sql, client.as_mut(), setup_count, all.saturating_sub(setup_count))
        });
        made.unwrap_or_else(|| Err("teardown was not completed: the run was aborted".to_owned()))
    }
}

/// Runs the statements after this number of requests, each on its database.
fn run_sql(all: &[ErrandSql], after_requests: usize) -> Result<(), String> {
    for one in all.iter().filter(|one| one.after_requests == after_requests) {
        let Some(database) = &one.database else { return Err("they go to no database".to_owned()) };
        load_data::run_sql(database, one.sql.file.as_deref(), &one.sql.text)
            .map_err(|error| error.to_string())?;
    }
    Ok(())
}

/// Runs `make` on a thread, because it may block. `None` if the run was aborted meanwhile.
fn unless_stopped<T: Send + 'static>(
    stopper: &Stopper,
    make: impl FnOnce() -> T + Send + 'static,
) -> Option<T> {
    let (teller, told) = mpsc::channel();
    // Sending fails if the run was aborted and the receiver was dropped.
    let waiting = thread::Builder::new().name("errand".to_owned()).spawn(move || drop(teller.send(make())));
    waiting.ok()?;
    loop {
        match told.recv_timeout(STOP_CHECK_INTERVAL) {
            Ok(made) => return Some(made),
            Err(RecvTimeoutError::Timeout) if stopper.level() != StopLevel::Abort => {}
            Err(_) => return None,
        }
    }
}

/// Draws every value once, for all of the requests.
fn draw(plan: &Plan, errand: &mut ExchangeClient) {
    let mut values = Values::new(&plan.data, Share::WHOLE);
    let mut chance = Chance::stream(plan.seed ^ SEED, 0);
    let wall_ns = || (unix_ms() as u64).saturating_mul(1_000_000);
    for source in 0..plan.data.len() {
        values.draw(source, 0, &mut chance, wall_ns, |variable, value| errand.set(variable, value));
    }
}

/// Saved values as a table with one row. `None` if there are none.
fn saved(plan: &Plan, errand: &ExchangeClient) -> Option<DataSource> {
    let variables = plan.errands.saved();
    let value = |variable: &u16| String::from_utf8_lossy(errand.value(*variable).unwrap_or_default()).into();
    let row: Box<[Box<str>]> = variables.iter().map(value).collect();
    let fills = variables.iter().enumerate().map(|(column, variable)| (*variable, column)).collect();
    let rows = Arc::from(vec![row]);
    (!variables.is_empty())
        .then_some(DataSource { fills, source: Source::Rows { rows, order: RowOrder::Random } })
}
