//! Databases as a kind of system: URLs, steps, and words.

use wire::step::Unit;

use super::{Database, scheme};
use crate::check::{Target, plan_load};
use crate::draft::ScriptSource;
use crate::endpoint::Peer;
use crate::error::Spelling;
use crate::fault::Fault;
use crate::file;
use crate::plan::Plan;
use crate::replay::STEP;
use crate::spec::{Field, LoadSpec, SqlSpec};
use crate::study::{Launch, LaunchEndpoint};
use crate::system_kind::{KindWords, SystemKind};
use crate::ycsb::{RecordLayout, RecordsOfKind};

/// Help for a wrong URL of a database.
pub(crate) const URL_HELP: &str = "write postgres://USER@HOST:PORT/DATABASE, mysql://… or sqlite:PATH";

/// Systems that run transactions.
pub(crate) static SYSTEMS: SystemKind = SystemKind {
    has_url: |url| scheme(url).is_some(),
    takes_step: sql::is_transaction,
    protocol_of_step: |_| None,
    protocol_of_url: |_| None,
    read_step: file::read_transaction,
    unit: Unit::Transaction,
    words: Some(KindWords {
        steps: "transactions",
        step: "a transaction",
        system: "is a database",
        other_url: ["the steps are transactions, and the URL is not that of a database", URL_HELP],
    }),
    path_noun: "database",
    answers: &["sql", "written"],
    keeps_writes: true,
    has_connect_timeout: true,
    // The URL is read and checked together with the load.
    url_fault: |_| None,
    shown: |url| Ok(Database::read(url)?.shown),
    first_plan_misfit: Some([
        "this is the URL of a database, and the plan is for HTTP",
        "write the plan of a database as in docs/plan.md, or run tenbin URL --workload NAME",
    ]),
    target: Target::from_database_flags,
    front,
    plan_of_steps: |place, scripts, load, _| {
        plan_of_scripts(&place.url, &scripts.played, &scripts.spec, load)
    },
    plan_of_tool,
    plan_of_traffic,
    may_be_second: true,
    check_url: file::check_database_url,
    records: RecordsOfKind {
        operations: |_, layout| {
            Some(match layout {
                RecordLayout::Columns => &sql::records::RECORDS,
                RecordLayout::Jsonb => &sql::records::JSONB,
            })
        },
        has_tables: true,
        section: "sql: { mode: prepared }\n",
        flags: &[Field::TABLE_SIZE.flag, Field::MODE.flag, Field::MAX_TRIES.flag],
    },
    placeholder_url: |scheme| match scheme.eq_ignore_ascii_case(super::IN_PROCESS_SCHEME) {
        true => format!("{scheme}:records.db"),
        false => format!("{scheme}://user@127.0.0.1/records"),
    },
    in_process: |url| (scheme(url) == Some(super::IN_PROCESS_SCHEME)).then_some("SQLite"),
};

/// The first address of a database.
fn front(place: &LaunchEndpoint) -> Result<Peer, Vec<Fault>> {
    // A database has at least one address.
    Ok(Database::read(&place.url)?.peers.remove(0))
}

/// Plan of a load that replays a log on the database with this URL. Its statements are known only when they are sent, so it has a
/// placeholder statement that every database accepts.
fn plan_of_traffic(launch: &Launch, url: &str, load: &LoadSpec) -> Result<Plan, Vec<Fault>> {
    let placeholder_script = ScriptSource::Text { name: STEP.to_owned(), text: b"SELECT 1;\n".to_vec() };
    let plan = plan_of_scripts(url, &[placeholder_script], &SqlSpec::default(), load)?;
    let front = (SystemKind::by_url(&launch.url).front)(&launch.front())?;
    Ok(Plan { front, ..plan })
}

/// Plan of a load of scripts on the database with this URL.
fn plan_of_scripts(
    url: &str,
    played: &[ScriptSource],
    spec: &SqlSpec,
    load: &LoadSpec,
) -> Result<Plan, Vec<Fault>> {
    let mut faults = Vec::new();
    let target = Target::database(url, played, spec, Spelling::Keys, &mut faults);
    plan_load(target, Unit::Transaction, load, Spelling::Keys, faults)
}

/// Plan of a load on a database that an external load generator makes.
fn plan_of_tool(place: &LaunchEndpoint, load: LoadSpec) -> Result<Plan, Vec<Fault>> {
    let database = Database::read(&place.url)?;
    if database.file.is_some() {
        let what = "another load generator cannot load SQLite, which runs within Tenbin";
        return Err(vec![Fault::new("url", what, "name a server, or remove `tool` from the load")]);
    }
    let plan =
        plan_load(Some(Target::for_tool(&database)), Unit::Transaction, &load, Spelling::Keys, Vec::new())?;
    Ok(Plan { watched: Some(database), ..plan })
}
