//! Reads the cost of a load for a database: its counters before the load and after it, when the sessions of the load have ended.
//!
//! Unlike the monitor, which queries each second during the load, two short sessions query before and after it. So the growth covers the
//! whole load, warm-up included, and is exact for any number of requests.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use evidence::Reading;
use judge::DATABASE;
use loading::{Answer, Database, HeldSession};

use crate::database_watch::MonitoredDatabase;
use crate::load_data;

/// Pause between two readings, and the number of readings until the values stop changing: servers count a session's work when it ends.
const PAUSE: Duration = Duration::from_millis(60);
const READINGS_MAX: u32 = 25;
/// Time limit for all readings of a side.
const WITHIN: Duration = Duration::from_secs(3);

/// Value of a counter or a size.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Cost {
    /// Name of the reading: `cost_wal_bytes`.
    pub(crate) metric: String,
    pub(crate) value: f64,
}

/// Reads all costs in one session.
pub(crate) type ReadCosts = fn(&mut dyn FnMut(&str) -> Option<Answer>) -> Vec<Cost>;

/// Values of each server of a database before a load.
#[derive(Debug)]
pub struct CostMeter {
    read: ReadCosts,
    servers: Vec<(Database, Vec<Cost>)>,
}

impl CostMeter {
    /// Reads the values before a load. `None` if a server reports none.
    pub(crate) fn begin(database: &MonitoredDatabase) -> Option<Self> {
        let (servers, read) = database.costs()?;
        let server = |server: plan::Database| {
            let place = load_data::place(&server).ok()?;
            let before = settled(&place, read).filter(|costs| !costs.is_empty())?;
            Some((place, before))
        };
        let servers = servers.into_iter().map(server).collect::<Option<Vec<_>>>()?;
        Some(Self { read, servers })
    }

    /// Reads the values after the load. Returns growth of counters, and sizes before and after, summed over the servers. Omits a cost that
    /// a server has stopped reporting.
    pub(crate) fn end(self) -> Vec<Reading> {
        let values =
            |(place, before): (Database, Vec<Cost>)| (before, settled(&place, self.read).unwrap_or_default());
        let servers: Vec<(Vec<Cost>, Vec<Cost>)> = self.servers.into_iter().map(values).collect();
        let Some((first, _)) = servers.first() else { return Vec::new() };
        first.iter().flat_map(|cost| readings(&cost.metric, &servers)).collect()
    }
}

/// Readings of a cost over all servers, each with its values before and after the load. Empty if a value is missing, or a counter was
/// reset.
fn readings(metric: &str, servers: &[(Vec<Cost>, Vec<Cost>)]) -> Vec<Reading> {
    let value = |costs: &[Cost]| costs.iter().find(|cost| cost.metric == metric).map(|cost| cost.value);
    let both = servers.iter().map(|(before, after)| Some([value(before)?, value(after)?]));
    let Some(both) = both.collect::<Option<Vec<_>>>() else { return Vec::new() };
    let [before, after] = [0, 1].map(|at| both.iter().map(|values| values[at]).sum::<f64>());
    if judge::is_size_cost(metric) {
        return vec![reading(metric, "before", before), reading(metric, "after", after)];
    }
    let is_growing = both.iter().all(|[before, after]| after >= before);
    if is_growing { vec![reading(metric, "", after - before)] } else { Vec::new() }
}

fn reading(metric: &str, label: &str, value: f64) -> Reading {
    Reading { subject: DATABASE.to_owned(), metric: metric.to_owned(), label: label.to_owned(), value }
}

/// Waits until the values stop changing, and returns them. `None` if the database does not answer in time.
fn settled(place: &Database, read: ReadCosts) -> Option<Vec<Cost>> {
    let (place, is_canceled) = (place.clone(), Arc::new(AtomicBool::new(false)));
    let (teller, told) = mpsc::channel();
    let ends = Arc::clone(&is_canceled);
    let work = move || {
        let Ok(mut session) = HeldSession::open_monitor(&place, Arc::clone(&ends)) else { return };
        let mut ask = |sql: &str| session.ask(sql).ok();
        let mut values = read(&mut ask);
        for _ in 0..READINGS_MAX {
            thread::sleep(PAUSE);
            let next = read(&mut ask);
            let is_settled = next == values;
            values = next;
            if is_settled || ends.load(Ordering::Relaxed) {
                break;
            }
        }
        // Sending fails if the receiver has stopped waiting.
        let _ = teller.send(values);
    };
    thread::Builder::new().name("costs".to_owned()).spawn(work).ok()?;
    let values = told.recv_timeout(WITHIN).ok();
    is_canceled.store(true, Ordering::Relaxed);
    values
}

/// Costs of a row with a value for each name. Missing values are omitted.
pub(crate) fn of_row(names: &[&str], answer: Option<Answer>) -> Vec<Cost> {
    let row = answer.and_then(|mut rows| rows.pop()).unwrap_or_default();
    let values = names.iter().zip(row).filter_map(|(name, value)| {
        let value: f64 = value?.parse().ok().filter(|value: &f64| value.is_finite() && *value >= 0.0)?;
        Some(Cost { metric: (*name).to_owned(), value })
    });
    values.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn costs(rows: f64, bytes: Option<f64>) -> Vec<Cost> {
        let cost = |metric: &str, value| Cost { metric: metric.to_owned(), value };
        [Some(cost("cost_rows_written", rows)), bytes.map(|bytes| cost("cost_wal_bytes", bytes))]
            .into_iter()
            .flatten()
            .collect()
    }

    #[test]
    fn costs_of_shards_are_summed_unless_one_is_unknown() {
        let shards =
            [(costs(10.0, Some(1.0)), costs(14.0, Some(9.0))), (costs(0.0, Some(5.0)), costs(3.0, None))];
        assert_eq!(readings("cost_rows_written", &shards), [reading("cost_rows_written", "", 7.0)]);
        assert_eq!(readings("cost_wal_bytes", &shards), []);
        // A restarted server counts from 0.
        assert_eq!(readings("cost_rows_written", &[(costs(10.0, None), costs(2.0, None))]), []);
    }
}
