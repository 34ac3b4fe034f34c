//! Checks a draft and turns it into a plan. Reports all errors at once.

use std::path::Path;

use load::{DataSource, Scenarios};
use sql::Engine;
use wire::step::Unit;

use crate::check_load::{CheckedLoad, Destination};
use crate::command_mix::CommandMix;
use crate::database::Database;
use crate::draft::{Draft, ScriptSource};
use crate::endpoint::{Endpoint, EndpointLoad};
use crate::error::Spelling;
use crate::fault::Fault;
use crate::plan::{Action, Errands, OwnedAction, Plan, PlannedStep};
use crate::request::{self, RequestSource};
use crate::requests::{ExternalLoad, Requests};
use crate::scripts;
use crate::spec::{Field, LoadSpec, SqlSpec};
use crate::system_kind::SystemKind;
use crate::ycsb::{self, RecordLayout};

/// Steps of a load and their system, before the load itself is checked.
pub(crate) struct Target {
    title: String,
    steps: Vec<PlannedStep>,
    scenarios: Scenarios,
    /// Names of the variables of the steps.
    variables: Vec<String>,
    /// Sources of the values of these variables.
    data: Vec<DataSource>,
    /// Connect timeout from the URL, in nanoseconds. `None` if the URL does not set one.
    connect_timeout_ns: Option<u64>,
    /// Max requests in flight per connection. `None` if an external load generator makes the load.
    pipeline_max: Option<u32>,
    /// Combines the system with a load, once that is checked.
    under: MakeLoad,
}

/// Makes the load of a system from the checked values of a load.
type MakeLoad = Box<dyn FnOnce(&CheckedLoad) -> Box<dyn EndpointLoad>>;

impl Target {
    /// Reads the target of a command line with the URL of a database.
    pub(crate) fn from_database_flags(draft: &Draft, faults: &mut Vec<Fault>) -> Option<Self> {
        forbid(&draft.command_mix.given(), &command_mix_protocols(), faults);
        let noun = wire::step::requests().noun();
        let what = format!("it applies to {noun} requests, and the URL is that of a database");
        forbid(&request_flags(draft), &what, faults);
        if draft.sql.terminal_times.is_some() && draft.load.is_open() {
            let what = "times at terminals belong to users, and transactions start at a rate";
            faults.push(Fault::new(
                Field::TERMINAL_TIMES.flag,
                what,
                "replace -R by -c with the number of terminals",
            ));
        }
        Self::database(&draft.url, &draft.played, &draft.sql, Spelling::Flags, faults)
    }

    /// Reads the target of a command line with another URL.
    pub(crate) fn from_request_flags(draft: &Draft, faults: &mut Vec<Fault>) -> Option<Self> {
        let target = request::target(draft, faults);
        forbid_database_workload(draft, faults);
        if target
            .as_ref()
            .is_some_and(|target| target.protocol.steps().is_none_or(|steps| steps.workload.is_none()))
        {
            forbid(&draft.command_mix.given(), &command_mix_protocols(), faults);
        }
        let request::Target { title, name, peer, protocol, sends } = target?;
        let planned =
            |name, action: OwnedAction| PlannedStep { name, endpoint: 0, action: Action::Owned(action) };
        let single = Self {
            title,
            steps: Vec::new(),
            scenarios: Scenarios::single(),
            variables: Vec::new(),
            data: Vec::new(),
            connect_timeout_ns: None,
            pipeline_max: Some(protocol.steps().map_or(1, |steps| steps.pipeline_max)),
            under: Box::new(move |_| Box::new(Requests { protocol, peers: vec![peer] })),
        };
        Some(match sends {
            RequestSource::Step(action) => Self { steps: vec![planned(name, action)], ..single },
            RequestSource::Commands(actions, mix) => {
                let steps = actions.into_iter().map(|action| planned(action.step.title(), action)).collect();
                let CommandMix { scenarios, variables, data, .. } = *mix;
                Self { steps, scenarios, variables, data, ..single }
            }
        })
    }

    /// Target with transactions on the database of a URL.
    pub(crate) fn database(
        url: &str,
        played: &[ScriptSource],
        spec: &SqlSpec,
        spelling: Spelling,
        faults: &mut Vec<Fault>,
    ) -> Option<Self> {
        let database = Database::read(url).map_err(|wrong| faults.extend(wrong)).ok();
        let engine = database.as_ref().map_or(Engine::FOR_WORKLOADS, |database| database.engine);
        let mut errors = Vec::new();
        let checked = scripts::check(played, spec, engine, &mut errors);
        if spelling == Spelling::Flags {
            scripts::reject_repeats(played, &mut errors);
        }
        faults.extend(errors.iter().map(|error| error.to_fault(spelling)));
        let database = database.filter(|_| faults.is_empty())?;
        Some(Self {
            title: format!("{} on {}", checked.title(), database.shown),
            steps: checked.steps(),
            scenarios: checked.scenarios.clone(),
            variables: Vec::new(),
            data: Vec::new(),
            connect_timeout_ns: database.connect_timeout_ns,
            pipeline_max: Some(1),
            under: Box::new(|load| Box::new(checked.on_database(database, load))),
        })
    }

    /// Target for a database that an external load generator loads.
    pub(crate) fn for_tool(database: &Database) -> Self {
        let peers = database.peers.clone();
        Self {
            title: database.shown.clone(),
            steps: Vec::new(),
            scenarios: Scenarios::single(),
            variables: Vec::new(),
            data: Vec::new(),
            connect_timeout_ns: None,
            pipeline_max: None,
            under: Box::new(|_| Box::new(ExternalLoad { peers })),
        }
    }

    /// Combines the target with a load.
    fn under(self, checked: CheckedLoad) -> Plan {
        let Self { title, steps, scenarios, variables, data, under, .. } = self;
        let endpoint = Endpoint { name: String::new(), load: under(&checked), select: None, pool: None };
        // A database in this process has a thread for each connection.
        let grows_to = checked.grows_to.filter(|_| !endpoint.is_in_process());
        Plan {
            title,
            system: None,
            front: endpoint.peer().clone(),
            endpoints: vec![endpoint],
            steps,
            errands: Errands::default(),
            variables,
            scenarios,
            data,
            secrets: wire::Secrets::default(),
            load: checked.load,
            pipeline: checked.pipeline,
            stop: checked.stop,
            extend: checked.extend,
            warm_up_ns: checked.warm_up_ns,
            timeout_ns: checked.timeout_ns,
            connect_timeout_ns: checked.connect_timeout_ns,
            connection_lifetime_ns: checked.connection_lifetime_ns,
            threads: checked.threads,
            pin: checked.pin,
            seed: checked.seed,
            log_per_second: checked.log_per_second,
            retry_stale: checked.retry_stale,
            grows_to,
            profile: checked.profile,
            is_trial: false,
            replay: None,
            watched: None,
            running: None,
            figures: Vec::new(),
            written: None,
        }
    }
}

fn forbid(flags: &[(&str, bool)], what: &str, faults: &mut Vec<Fault>) {
    let given = flags.iter().filter(|(_, is_given)| *is_given);
    faults.extend(given.map(|(flag, _)| Fault::new(*flag, what, replacement_help(flag))));
}

/// Words for the protocols that the flags of a command mix apply to.
fn command_mix_protocols() -> String {
    let owners = wire::step::owners().filter(|(_, own)| own.workload.is_some());
    let nouns: Vec<&str> = owners.map(|(_, own)| own.noun).collect();
    format!("it applies to {}", nouns.join(", "))
}

/// Help for a flag that a database URL replaces.
fn replacement_help(flag: &str) -> &'static str {
    match flag {
        "--unix-socket" => {
            "name the socket in the URL: postgres:///DB?host=FOLDER or mysql://USER@localhost/DB?socket=PATH"
        }
        "--cacert" => {
            "name the file in the URL: ?sslmode=verify-full&sslrootcert=FILE, or ?ssl-mode=VERIFY_IDENTITY&ssl-ca=FILE"
        }
        "--insecure" => {
            "remove it: without sslmode=verify-… or ssl-mode=VERIFY_…, any certificate is accepted"
        }
        "--cert" | "--key" => {
            "name the files in the URL: ?sslcert=FILE&sslkey=FILE, or ?ssl-cert=FILE&ssl-key=FILE for MySQL"
        }
        _ => "remove it",
    }
}

/// Flags that apply only to requests, and whether each was given.
fn request_flags(draft: &Draft) -> Vec<(&'static str, bool)> {
    let own = [
        ("-X", draft.method.is_some()),
        ("-H", !draft.headers.is_empty()),
        ("-b", draft.body.is_some()),
        ("--body-file", draft.body_file.is_some()),
        ("--unix-socket", draft.unix_socket.is_some()),
        ("--resolve", !draft.resolve.is_empty()),
    ];
    own.into_iter().chain(draft.tls.flags()).chain(draft.expects.given()).collect()
}

/// Flags that apply only to transactions, and whether each was given.
fn transaction_flags(draft: &Draft) -> Vec<(&'static str, bool)> {
    let has = |is_meant: fn(&ScriptSource) -> bool| draft.played.iter().any(is_meant);
    let own = [
        (Field::SCRIPT.flag, has(|played| !matches!(played, ScriptSource::Workload(_)))),
        (Field::WORKLOAD.flag, has(|played| matches!(played, ScriptSource::Workload(_)))),
    ];
    own.into_iter().chain(draft.sql.given()).collect()
}

/// Error for a workload that only databases have, on another system.
fn forbid_database_workload(draft: &Draft, faults: &mut Vec<Fault>) {
    let what = "it applies to databases: postgres://…, mysql://…, sqlite:…";
    for (flag, _) in transaction_flags(draft).into_iter().filter(|(_, is_given)| *is_given) {
        let of_records =
            flag == Field::WORKLOAD.flag && ycsb::operations(&draft.url, RecordLayout::Columns).is_some();
        let help = match of_records {
            true => "write one of ycsb-a to ycsb-f, which run here as well",
            false => replacement_help(flag),
        };
        faults.push(Fault::new(flag, what, help));
    }
}

/// Checks a command line.
pub(crate) fn check(draft: &Draft) -> Result<Plan, Vec<Fault>> {
    let mut faults = Vec::new();
    let named = draft.running.as_ref();
    let running = named.map(|named| named.checked(format!("--{}", named.key()), Path::new(""))).transpose();
    let running = running.map_err(|fault| faults.push(fault)).unwrap_or_default();
    let plan = match ycsb::requested_workload(draft) {
        Some(workload) => match ycsb::check(draft, workload) {
            Ok(plan) if faults.is_empty() => plan,
            checked => return Err([checked.err().unwrap_or_default(), faults].concat()),
        },
        None => {
            let mut of_target = Vec::new();
            let kind = SystemKind::by_url(&draft.url);
            let target = (kind.target)(draft, &mut of_target);
            plan_load(target, kind.unit, &draft.load, Spelling::Flags, [of_target, faults].concat())?
        }
    };
    Ok(Plan { running, system: draft.system.clone(), ..plan })
}

/// Puts a load on a target, if both are free of errors.
pub(crate) fn plan_load(
    target: Option<Target>,
    unit: Unit,
    load: &LoadSpec,
    spelling: Spelling,
    mut faults: Vec<Fault>,
) -> Result<Plan, Vec<Fault>> {
    let connect_timeout_ns = target.as_ref().and_then(|target| target.connect_timeout_ns);
    let mut errors = Vec::new();
    let pipeline_max = target.as_ref().and_then(|target| target.pipeline_max);
    let checked = load.check(Destination { unit, connect_timeout_ns, pipeline_max }, &mut errors);
    faults.extend(errors.iter().map(|error| error.to_fault(spelling)));
    match target {
        Some(target) if faults.is_empty() => Ok(target.under(checked)),
        _ => Err(faults),
    }
}
