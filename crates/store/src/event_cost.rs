//! Stores and loads the costs of events.

use evidence::{EventCost, Run, RunId};
use rusqlite::{Connection, params};

use crate::Result;
use crate::error::StoreError;
use crate::store::{Durability, Store};

/// Maximum number of costs of one run, including those of occurrences.
const COSTS_MAX: usize = 1_000;

impl Store {
    /// Stores the costs of events of a loaded run, and sets them in `run`. Replaces earlier ones.
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
