//! Databases as a kind of system: URLs, steps, and words.

use wire::step::Unit;

use super::{Database, scheme};
use crate::check::{Target, put_on};
use crate::endpoint::Peer;
use crate::error::Spelling;
use crate::fault::Fault;
use crate::file;
use crate::plan::Plan;
use crate::spec::LoadSpec;
use crate::study::LaunchEndpoint;
use crate::system_kind::{KindWords, SystemKind};

/// Help for a wrong URL of a database.
pub(crate) const URL_HELP: &str = "write postgres://USER@HOST:PORT/DATABASE, mysql://… or sqlite:PATH";

/// Systems that take transactions.
pub(crate) static SYSTEMS: SystemKind = SystemKind {
    has_url: |url| scheme(url).is_some(),
    takes_step: sql::is_transaction,
    protocol_of_step: |_| None,
    unit: Unit::Transaction,
    words: Some(KindWords {
        steps: "transactions",
        step: "a transaction",
        system: "is a database",
        other_url: ["the steps are transactions, and the URL is not that of a database", URL_HELP],
    }),
    path_noun: "database",
    read_database: Some(Database::read),
    target: Target::from_database_flags,
    front,
    plan_of_tool,
    check_url: file::check_database_url,
    records: |_| Some(&sql::records::RECORDS),
    placeholder_url: |scheme| match scheme.eq_ignore_ascii_case(super::IN_PROCESS_SCHEME) {
        true => format!("{scheme}:records.db"),
        false => format!("{scheme}://user@127.0.0.1/records"),
    },
    in_process: |url| (scheme(url) == Some(super::IN_PROCESS_SCHEME)).then_some("SQLite"),
};

/// The first address of a database.
fn front(place: &LaunchEndpoint, _load: LoadSpec) -> Result<Peer, Vec<Fault>> {
    // A database has at least one address.
    Ok(Database::read(&place.url)?.peers.remove(0))
}

/// Plan of a load on a database that an external load generator makes.
fn plan_of_tool(place: &LaunchEndpoint, load: LoadSpec) -> Result<Plan, Vec<Fault>> {
    let database = Database::read(&place.url)?;
    if database.file.is_some() {
        let what = "another load generator cannot load SQLite, which runs within Tenbin";
        return Err(vec![Fault::new("url", what, "name a server, or remove `tool` from the load")]);
    }
    let plan =
        put_on(Some(Target::of_tool(&database)), Unit::Transaction, &load, Spelling::Keys, Vec::new())?;
    Ok(Plan { watched: Some(database), ..plan })
}
