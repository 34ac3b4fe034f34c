//! Consistency conditions of a workload's tables, checked after its load.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use evidence::Failure;
use loading::HeldSession;
use plan::Transactions;
use sql::workload::tpcc::CONDITIONS;
use sql::workload::{self, Tables};

use crate::load_data;
use crate::time_limit::TimeLimit;

/// Time limit for all conditions.
const WITHIN: Duration = Duration::from_secs(60);

/// Checks the conditions of the tables that a load used. Returns a note for the run. `None` if its tables have no conditions.
///
/// # Errors
///
/// A condition is violated.
pub(crate) fn check(sql: &Transactions) -> Option<Result<String, Failure>> {
    let mut workloads = sql.workloads.iter().filter_map(|name| workload::find(name));
    workloads.any(|workload| workload.tables == Tables::Tpcc).then(|| match violations(sql) {
        Ok(violated) if violated.is_empty() => {
            let note = "consistency conditions 1 to 4 of TPC-C (clauses 3.3.2.1 to 3.3.2.4) hold after the load; this is not TPC-C";
            Ok(note.to_owned())
        }
        Ok(violated) => Err(Failure {
            stage: Failure::CONSISTENCY.to_owned(),
            process: None,
            what: format!("CONSISTENCY VIOLATED after the load: {}", violated.join("; ")),
            way_out: "the figures are those of a database with wrong contents: find out if the load or an earlier one broke them \
                      (`tenbin prepare URL --workload tpcc-like --drop` makes new tables)"
                .to_owned(),
        }),
        Err(reason) => Ok(format!("the consistency of the tables is unknown after the load: {reason}")),
    })
}

/// Violated conditions, with the number of places.
fn violations(sql: &Transactions) -> Result<Vec<String>, String> {
    let place = load_data::place(&sql.database).map_err(|error| error.to_string())?;
    let is_canceled = Arc::new(AtomicBool::new(false));
    let limit = TimeLimit::start("consistency", WITHIN, Arc::clone(&is_canceled));
    let mut session = HeldSession::open(&place, is_canceled).map_err(|error| error.to_string())?;
    let mut violated = Vec::new();
    for condition in &CONDITIONS {
        let answer = session.ask(condition.query).map_err(|error| error.to_string())?;
        let count = answer.first().and_then(|row| row.first()?.clone()).unwrap_or_default();
        if count != "0" {
            violated.push(format!(
                "clause {}: {}, and not so in {count} places",
                condition.clause, condition.words
            ));
        }
    }
    drop(limit);
    Ok(violated)
}
