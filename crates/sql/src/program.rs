//! State shared by the connections of a load: statements, parts, seeds, and the factory of sessions.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use crate::script::{Language, Player, ScriptSet, Seeds, Statement, StatementKind};
use wire::sql::{Login, Session};
use wire::{Footprint, Protocol, Script};

use crate::conversation::SqlConversation;
use crate::databases::{self, Engine};
use crate::effect::Effect;
use crate::parts;
use crate::settings::{Mode, RowCount, Settings, TransactionStep};

/// Upper bound of memory per connection beyond the shared state, in bytes: variables, a pending reply, and a server message.
pub const KEPT_BYTES: u64 = 256 * 1024;

/// Transactions of a load, as conversations over sessions.
pub struct Sql {
    program: Arc<Program>,
    open: Box<dyn Fn(u32) -> Box<dyn Session> + Send + Sync>,
}

impl fmt::Debug for Sql {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sql").field("program", &self.program).finish_non_exhaustive()
    }
}

/// State shared by all conversations of a load.
#[derive(Debug)]
pub(crate) struct Program {
    pub(crate) all_scripts: Arc<ScriptSet>,
    pub(crate) engine: Engine,
    pub(crate) settings: Settings,
    pub(crate) lines: Box<[CompiledStatement]>,
    pub(crate) steps: Box<[CompiledStep]>,
    seeds: Seeds,
    /// Initial values of variables for every client.
    values: Vec<(u16, String)>,
    /// Slot of each plan variable. `None` if no script uses it.
    slots: Vec<Option<u16>>,
    /// Number of statements that are counted separately.
    parts: u16,
}

/// A compiled statement.
#[derive(Debug)]
pub(crate) struct CompiledStatement {
    pub(crate) text: String,
    /// Number for preparing: the number of the first statement with an equal text, and with equal use of its rows.
    pub(crate) number: u16,
    /// True if the text never changes.
    pub(crate) is_fixed: bool,
    /// True if the extended mode sends it as text, because a server may not prepare it.
    pub(crate) is_plain: bool,
    /// True if values in its text are written as SQL literals instead of unchanged.
    pub(crate) has_literals: bool,
    pub(crate) gathers: bool,
    /// True if the statement loads rows, which are generated for each execution.
    pub(crate) is_load: bool,
    pub(crate) effect: Effect,
}

/// A compiled step.
#[derive(Debug)]
pub(crate) struct CompiledStep {
    pub(crate) script: u16,
    pub(crate) expects: Option<(u16, RowCount)>,
    first_statement: u16,
    accounts: parts::Accounts,
    inspects_replies: bool,
}

impl CompiledStep {
    pub(crate) fn account(&self, statement: u16) -> Option<u16> {
        *self.accounts.get(usize::from(statement.checked_sub(self.first_statement)?))?
    }
}

/// Creates transactions on a server, over sessions of its protocol. A private transport cannot be intercepted, such as a Unix socket.
/// `nonce` is random, and the nonce of each connection derives from it.
///
/// # Errors
///
/// Like [`Sql::new`], and if the engine has no protocol.
pub fn on_server(
    engine: Engine,
    all_scripts: ScriptSet,
    steps: &[TransactionStep],
    settings: Settings,
    login: Arc<Login>,
    is_private: bool,
    nonce: [u8; 18],
) -> Result<Sql, String> {
    Sql::new(all_scripts, steps, settings, engine, sessions(engine, login, is_private, nonce)?)
}

/// Creates the sessions of connections to a server, which are numbered from 0. The arguments match [`on_server`].
///
/// # Errors
///
/// The engine has no protocol.
pub fn sessions(
    engine: Engine,
    login: Arc<Login>,
    is_private: bool,
    nonce: [u8; 18],
) -> Result<impl Fn(u32) -> Box<dyn Session> + Send + Sync + use<>, String> {
    let Some(open) = engine.protocol().and_then(Protocol::session) else {
        return Err("this database is no server".to_owned());
    };
    Ok(move |number| open(login.clone(), is_private, numbered(nonce, number)))
}

/// Nonce of a connection.
fn numbered(mut nonce: [u8; 18], number: u32) -> [u8; 18] {
    nonce.iter_mut().zip(number.to_le_bytes()).for_each(|(byte, of_number)| *byte ^= of_number);
    nonce
}

impl Sql {
    /// Creates the steps over a deck of scripts. `open` creates the session of a connection, counted from 0.
    ///
    /// # Errors
    ///
    /// A message if a step has no script, a variable has an invalid name, or a pipeline is not supported.
    pub fn new(
        mut all_scripts: ScriptSet,
        steps: &[TransactionStep],
        settings: Settings,
        engine: Engine,
        open: impl Fn(u32) -> Box<dyn Session> + Send + Sync + 'static,
    ) -> Result<Self, String> {
        check(&all_scripts, steps, settings.mode, engine)?;
        all_scripts.set_distribution(settings.distribution);
        let mut values = Vec::new();
        let scale = settings.scale.map(|scale| ("scale".to_owned(), scale.to_string()));
        for (name, value) in scale.iter().chain(&settings.variables) {
            let slot = all_scripts
                .variable(name)
                .ok_or_else(|| format!("no variable can have the name {name:?}"))?;
            values.push((slot, value.clone()));
        }
        let has_default_seed = settings.variables.iter().any(|(name, _)| name == "default_seed");
        let seeds = if has_default_seed { Seeds::without_default } else { Seeds::new };
        let (parts, accounts) = parts::number(&all_scripts, steps);
        let program = Program {
            engine,
            lines: lines(&all_scripts, engine),
            steps: steps
                .iter()
                .zip(accounts)
                .map(|(step, accounts)| plan(&all_scripts, step, accounts))
                .collect(),
            seeds: seeds(settings.seed, settings.clients),
            values,
            slots: settings.bindings.iter().map(|name| all_scripts.find(name)).collect(),
            parts: parts.len() as u16,
            all_scripts: Arc::new(all_scripts),
            settings,
        };
        Ok(Self { program: Arc::new(program), open: Box::new(open) })
    }
}

impl Program {
    pub(crate) fn player(self: &Arc<Self>, client: u32) -> Player {
        let mut player = Player::new(self.all_scripts.clone(), &self.seeds, client);
        self.values.iter().for_each(|(slot, value)| player.set(*slot, value.as_bytes()));
        player
    }

    pub(crate) fn slot(&self, variable: u16) -> Option<u16> {
        *self.slots.get(usize::from(variable))?
    }
}

impl Script for Sql {
    type Conversation = SqlConversation;

    fn open(&self, number: u32) -> SqlConversation {
        SqlConversation::new(self.program.clone(), (self.open)(number), number)
    }

    fn needs(&self, step: u16, variable: u16) -> bool {
        let slot = self.program.slot(variable);
        let script = self.program.steps.get(usize::from(step)).map(|step| step.script);
        slot.zip(script).is_some_and(|(slot, script)| self.program.all_scripts.may_read(script, slot))
    }

    fn inspects_replies(&self, step: u16) -> bool {
        self.program.steps.get(usize::from(step)).is_some_and(|step| step.inspects_replies)
    }

    fn parts(&self) -> u16 {
        self.program.parts
    }

    fn footprint(&self, _longest_bytes: &dyn Fn(u16) -> u64) -> Footprint {
        Footprint { kept_bytes: KEPT_BYTES, request_bytes: KEPT_BYTES, ..Footprint::default() }
    }
}

/// Maximum number of separate values per statement in pgbench.
const PGBENCH_VALUES_MAX: usize = 255;

/// Checks that the steps can be run in a query mode on a kind of database. The error is a message.
pub(crate) fn check(
    all_scripts: &ScriptSet,
    steps: &[TransactionStep],
    mode: Mode,
    engine: Engine,
) -> Result<(), String> {
    let has_too_many = |statement: &&Statement| {
        statement.language() == Language::Pgbench && statement.values() > PGBENCH_VALUES_MAX
    };
    if mode != Mode::Simple
        && let Some(statement) = all_scripts.statements().iter().find(has_too_many)
    {
        return Err(format!(
            "{}:{}: the statement has {} arguments, and the maximum is {PGBENCH_VALUES_MAX} in the query modes extended and \
             prepared, as with pgbench: take the mode simple",
            all_scripts.scripts()[usize::from(statement.script())].name(),
            statement.line(),
            statement.values(),
        ));
    }
    for step in steps {
        let Some(script) = all_scripts.scripts().get(usize::from(step.script)) else {
            return Err(format!("the step {:?} has no script", step.name));
        };
        let mut statements = script.statements().map(|number| &all_scripts.statements()[usize::from(number)]);
        if let Some(statement) = statements.find(|statement| statement.load().is_some())
            && engine.dialect().load_rows.is_none()
        {
            let known = databases::with_loads();
            return Err(format!("{}:{}: \\copy works with {known} only", script.name(), statement.line()));
        }
        if script.has_pipeline() && !engine.dialect().has_pipelines {
            let known = databases::with_pipelines();
            return Err(format!("{}: \\startpipeline works with {known} only", script.name()));
        }
        if script.has_pipeline() && mode == Mode::Simple {
            return Err(format!(
                "{}: \\startpipeline cannot be used with the query mode simple: take extended or prepared",
                script.name()
            ));
        }
    }
    Ok(())
}

fn lines(all_scripts: &ScriptSet, engine: Engine) -> Box<[CompiledStatement]> {
    let mut known = HashMap::new();
    let line = |(number, statement): (usize, &Statement)| {
        let load = statement.load().and_then(|rows| Some((engine.dialect().load_rows?)(rows)));
        let is_load = load.is_some();
        let text = load.unwrap_or_else(|| statement.extended(engine.placeholders()));
        // Prepared statements without stored rows omit column names.
        let gathers = statement.gather().is_some();
        let ends = matches!(
            statement.kind(),
            StatementKind::Begin | StatementKind::Commit | StatementKind::Rollback
        );
        CompiledStatement {
            number: *known.entry((text.clone(), gathers)).or_insert(number as u16),
            is_fixed: statement.is_fixed(),
            is_plain: !engine.dialect().prepares_transaction_control
                && ends
                && statement.is_fixed()
                && statement.values() == 0,
            has_literals: statement.language() == Language::Extended,
            gathers,
            is_load,
            effect: Effect::of(statement, engine),
            text,
        }
    };
    all_scripts.statements().iter().enumerate().map(line).collect()
}

fn plan(all_scripts: &ScriptSet, step: &TransactionStep, accounts: parts::Accounts) -> CompiledStep {
    let numbers = all_scripts.scripts()[usize::from(step.script)].statements();
    let statement = |number: u16| &all_scripts.statements()[usize::from(number)];
    let is_about_rows =
        |number: &u16| matches!(statement(*number).kind(), StatementKind::Read | StatementKind::Other);
    let last = numbers.clone().rev().find(is_about_rows);
    let gathers = numbers.clone().any(|number| statement(number).gather().is_some());
    CompiledStep {
        script: step.script,
        expects: last.zip(step.expects),
        first_statement: numbers.start,
        accounts,
        inspects_replies: gathers || numbers.len() > 1 || step.expects.is_some(),
    }
}
