//! Keeps and reads what events cost.

use evidence::{EventCost, Run, RunId};
use rusqlite::{Connection, params};

use crate::Result;
use crate::error::StoreError;
use crate::store::{Durability, Store};

/// Of one run, occurrences included.
const COSTS_MAX: usize = 1_000;

impl Store {
    /// Keeps what the events of a loaded run cost, in place of what was kept of them before: in the store, and in `run`.
    pub fn keep_event_costs(&self, run: &mut Run, costs: Vec<EventCost>) -> Result<()> {
        if !costs.iter().all(EventCost::is_finite) {
            return Err(StoreError::NOT_FINITE);
        }
        if costs.len() > COSTS_MAX {
            return Err(StoreError::Unstorable { what: "the costs of over 1,000 events of a run" });
        }
        let transaction = self.transaction(Durability::Full)?;
        let number = self.number(&run.id)?;
        insert(&transaction, number, &costs).map_err(|error| self.explain(error))?;
        transaction.commit().map_err(|error| self.explain(error))?;
        run.set_event_costs(costs);
        Ok(())
    }

    pub(crate) fn event_costs(&self, snapshot: &Connection, id: &RunId, run: i64) -> Result<Vec<EventCost>> {
        let query =
            "SELECT name, occurrence, cost FROM event_cost WHERE run = ?1 ORDER BY name, occurrence LIMIT ?2";
        let costs = self.all(snapshot, query, (run, COSTS_MAX as i64 + 1), |row| {
            let judged = self.json(id, "the cost of an event", &self.get::<String>(row, "cost")?)?;
            Ok(EventCost { name: self.get(row, "name")?, occurrence: self.get(row, "occurrence")?, judged })
        })?;
        if costs.len() > COSTS_MAX {
            return Err(self.damaged(id, "it has too many events"));
        }
        Ok(costs)
    }
}

fn insert(connection: &Connection, run: i64, costs: &[EventCost]) -> rusqlite::Result<()> {
    connection.execute("DELETE FROM event_cost WHERE run = ?1", [run])?;
    let mut insert = connection
        .prepare_cached("INSERT INTO event_cost (run, name, occurrence, cost) VALUES (?, ?, ?, ?)")?;
    for EventCost { name, occurrence, judged } in costs {
        let cost = serde_json::to_string(judged)
            .map_err(|error| rusqlite::Error::ToSqlConversionFailure(error.into()))?;
        insert.execute(params![run, name, occurrence, cost])?;
    }
    Ok(())
}
