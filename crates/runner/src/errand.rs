//! Errands: the requests of `setup` and `teardown` around a load. One client makes them, and they are not counted.

use std::borrow::Cow;
use std::fmt;
use std::slice;
use std::sync::Arc;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use engine::{Errand, Peer};
use load::chance::Chance;
use load::values::{DataSource, RowOrder, Source};
use load::{Share, Values};
use plan::{ErrandSql, Plan, PlannedStep};
use wire::step::{Step, StepsOfLoad};
use wire::{Conversation, Protocol};

use crate::consent::PublicLoads;
use crate::describe::unix_ms;
use crate::load_data;
use crate::lone_pass::printable;
use crate::prepare::{Refusal, ask_owners, peers};
use crate::stopper::{StopLevel, Stopper};

/// Mixed into the seed of the plan, so that these draws differ from those of the load.
const SEED: u64 = 0x7365_7475_7020_2020;
const STOP_CHECK_INTERVAL: Duration = Duration::from_millis(20);

/// Client of a plan that has made the `setup` requests.
pub struct SetUp {
    /// Client of the requests. `None` if there are none.
    errand: Option<Errand>,
    /// Statements of `teardown`.
    sql: Vec<ErrandSql>,
    /// Numbers and names of the `teardown` steps.
    teardown: Vec<(u16, String)>,
    /// Values saved by `setup`, for all users. `None` if there are none.
    values: Option<DataSource>,
}

impl fmt::Debug for SetUp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SetUp").field("teardown", &self.teardown).finish_non_exhaustive()
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
    let Some(endpoint) = &plan.errands.at else {
        run_sql(&plan.errands.setup_sql, None)
            .map_err(|what| Refusal::Errand(format!("sql of setup: {what}")))?;
        let sql = plan.errands.teardown_sql.clone();
        return Ok(SetUp { errand: None, sql, teardown: Vec::new(), values: None });
    };
    let to = slice::from_ref(endpoint);
    let (mut found, _) = peers(to, public)?;
    if let PublicLoads::WithConsent(token) = public {
        ask_owners(plan, to, &found, token)?;
    }
    let actions = plan.errands.steps().filter_map(PlannedStep::owned);
    let steps: Vec<Arc<dyn Step>> = actions.map(|action| Arc::clone(&action.step)).collect();
    let load = StepsOfLoad { secrets: &plan.secrets, ..StepsOfLoad::of(&steps, &plan.variables) };
    let Some(further) = endpoint.protocol().and_then(Protocol::further_keys) else {
        return Err(Refusal::Errand("their system takes no requests of one client".to_owned()));
    };
    let mut conversation = (further.converse)(&load).map_err(|wrong| Refusal::Errand(wrong.what))?;
    draw(plan, &mut *conversation);
    let timeout = Duration::from_nanos(plan.timeout_ns);
    let peer = Peer { keep_alive: plan.keep_alive(), ..found.remove(0) };
    let mut errand = Errand::new(peer, conversation, timeout);
    let before = plan.errands.setup.len() as u16;
    for number in 0..=before {
        run_sql(&plan.errands.setup_sql, Some(number.into()))
            .map_err(|what| Refusal::Errand(format!("sql of setup: {what}")))?;
        errand.run(number..before.min(number + 1)).map_err(|fault| {
            let name = name_of(&plan.errands.setup, fault.step);
            Refusal::Errand(format!("step {name:?} of setup: {}", printable(&fault.reason)))
        })?;
    }
    let values = saved(plan, errand.conversation());
    let names = plan.errands.teardown.iter().map(|step| step.name.clone());
    let sql = plan.errands.teardown_sql.clone();
    Ok(SetUp { errand: Some(errand), sql, teardown: (before..).zip(names).collect(), values })
}

impl SetUp {
    /// Passes the saved values to the users of a plan.
    pub(crate) fn hand_on(&mut self, plan: &mut Cow<'_, Plan>) {
        if let Some(values) = self.values.take() {
            plan.to_mut().data.push(values);
        }
    }

    /// Makes the `teardown` requests. The error names the failed step, and says why.
    pub(crate) fn tear_down(mut self, stopper: &Stopper) -> Result<(), String> {
        let made = unless_stopped(stopper, move || {
            for number in 0..=self.teardown.len() {
                run_sql(&self.sql, Some(number)).map_err(|what| format!("sql of teardown: {what}"))?;
                let (Some((step, name)), Some(errand)) = (self.teardown.get(number), &mut self.errand) else {
                    continue;
                };
                errand
                    .run(*step..*step + 1)
                    .map_err(|fault| format!("step {name:?} of teardown: {}", printable(&fault.reason)))?;
            }
            Ok(())
        });
        made.unwrap_or_else(|| Err("teardown was not completed: the run was aborted".to_owned()))
    }
}

/// Runs statements, each on its database: those after this number of requests, or all.
fn run_sql(all: &[ErrandSql], after_requests: Option<usize>) -> Result<(), String> {
    for one in all.iter().filter(|one| after_requests.is_none_or(|number| number == one.after_requests)) {
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
    // Sending fails if the run was aborted and the receiver is gone.
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
fn draw(plan: &Plan, conversation: &mut dyn Conversation) {
    let mut values = Values::new(&plan.data, Share::WHOLE);
    let mut chance = Chance::stream(plan.seed ^ SEED, 0);
    let wall_ns = || (unix_ms() as u64).saturating_mul(1_000_000);
    for source in 0..plan.data.len() {
        values.draw(source, 0, &mut chance, wall_ns, |variable, value| conversation.set(variable, value));
    }
}

/// Saved values as a table with one row; `None` if there are none.
fn saved(plan: &Plan, conversation: &mut dyn Conversation) -> Option<DataSource> {
    let variables = plan.errands.saved();
    let mut row = vec![Box::<str>::default(); variables.len()];
    conversation.saved(&mut |variable, value| {
        if let Ok(column) = variables.binary_search(&variable) {
            row[column] = String::from_utf8_lossy(value).into();
        }
    });
    let fills = variables.iter().enumerate().map(|(column, variable)| (*variable, column)).collect();
    let rows = Arc::from(vec![row.into_boxed_slice()]);
    (!variables.is_empty())
        .then_some(DataSource { fills, source: Source::Rows { rows, order: RowOrder::Random } })
}

fn name_of(steps: &[PlannedStep], number: u16) -> &str {
    steps.get(usize::from(number)).map_or("", |step| step.name.as_str())
}
