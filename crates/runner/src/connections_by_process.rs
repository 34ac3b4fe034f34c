//! Connections of a load by process, assembled from readings of probes.

use std::collections::BTreeMap;

use evidence::{ConnectionsByProcess, HeldReading, ServingProcess};
use lab::probes::{HeldConnections, Holder};

/// Maximum number of processes in a result.
const PROCESSES_MAX: usize = 256;

/// Assembles readings with times in nanoseconds since the start of the load. `None` if there are none, or too many processes.
pub(crate) fn from_readings(readings: &[(u64, HeldConnections)]) -> Option<ConnectionsByProcess> {
    // Readings are skipped if two processes hold a connection, or a connection cannot be assigned to a process.
    let complete = || readings.iter().filter(|(_, held)| held.is_complete);
    let mut processes: BTreeMap<u32, ServingProcess> = BTreeMap::new();
    for Holder { pid, name, listens, .. } in complete().flat_map(|(_, held)| &held.processes) {
        let process = processes.entry(*pid).or_default();
        let listens = process.listens || *listens;
        *process = ServingProcess { pid: *pid, name: name.clone(), listens };
    }
    let reading = |(at_ns, held): &(u64, HeldConnections)| {
        let of = |pid: &u32| held.processes.iter().find(|one| one.pid == *pid).map(|one| one.connections);
        HeldReading { at_ns: *at_ns, connections: processes.keys().map(of).collect() }
    };
    let readings: Vec<HeldReading> = complete().map(reading).collect();
    let is_known = !readings.is_empty() && processes.len() <= PROCESSES_MAX;
    is_known.then(|| ConnectionsByProcess { processes: processes.into_values().collect(), readings })
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use super::*;

    fn held(is_complete: bool, processes: &[(u32, u32)]) -> HeldConnections {
        let holder = |(pid, connections): &(u32, u32)| Holder {
            pid: *pid,
            name: "app".to_owned(),
            connections: *connections,
            listens: true,
        };
        HeldConnections { at: Instant::now(), processes: processes.iter().map(holder).collect(), is_complete }
    }

    #[test]
    fn process_without_reading_has_no_connections() {
        let readings =
            [(1, held(true, &[(7, 3)])), (2, held(true, &[(5, 0), (7, 3)])), (3, held(false, &[(9, 1)]))];
        let all = from_readings(&readings).expect("readings");
        assert_eq!(all.processes.iter().map(|one| one.pid).collect::<Vec<_>>(), [5, 7]);
        let connections: Vec<_> = all.readings.iter().map(|one| one.connections.clone()).collect();
        assert_eq!(connections, [vec![None, Some(3)], vec![Some(0), Some(3)]]);
        assert_eq!(from_readings(&readings[2..]), None);
    }
}
