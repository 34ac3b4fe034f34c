//! Probe for the connections of the load at the system, by whose turn it is: a connection on which the system sent last waits for
//! its client, however far away that is.

use std::io;
use std::time::{Duration, Instant};

use super::Subject;
use super::own_time::own_time;
use super::sheet::Sheet;
use super::sock_diag::SockDiag;

/// Max share of a core, and the shortest pause between two readings.
const SHARE: f64 = 0.001;
const PAUSE_MIN: Duration = Duration::from_millis(90);

pub(crate) struct Served {
    /// Port of the system at which requests of the load arrive, and its connections. `None` if it is not on this machine, not a
    /// port, or if the kernel lists no connections.
    entry: Option<(u16, SockDiag)>,
    /// Number of readings since the last look, with sums of all connections and of those that wait for their client.
    reads: u32,
    connections: u64,
    idle: u64,
    next: Option<Instant>,
    /// Error of a reading since the last look; `None` without one.
    error: Option<io::Error>,
}

impl Served {
    pub(crate) fn of(subject: &Subject) -> Self {
        let (reads, connections, idle) = (0, 0, 0);
        Self {
            entry: subject.entry.and_then(|port| Some((port, SockDiag::open().ok()?))),
            reads,
            connections,
            idle,
            next: None,
            error: None,
        }
    }

    /// Reads the connections if a reading is due.
    pub(crate) fn sample(&mut self, now: Instant) {
        let Some((port, kernel)) = &mut self.entry else { return };
        if self.next.is_some_and(|next| now < next) {
            return;
        }
        let begun = own_time();
        match kernel.served(*port) {
            Ok(connections) => {
                let idle = connections
                    .iter()
                    .filter(|one| one.traffic.awaits_reply() && one.receive_queue_bytes == 0);
                self.reads += 1;
                self.idle += idle.count() as u64;
                self.connections += connections.len() as u64;
            }
            Err(error) => self.error = Some(error),
        }
        let pause = own_time().saturating_sub(begun).div_f64(SHARE);
        self.next = now.checked_add(pause.max(PAUSE_MIN));
    }

    /// Writes the means since the last look.
    pub(crate) fn look(&mut self, sheet: &mut Sheet) {
        if let Some(error) = self.error.take() {
            sheet.note_unavailable("connections of the load at the system", || error.to_string());
        }
        let reads = f64::from(std::mem::take(&mut self.reads));
        let sums = [std::mem::take(&mut self.connections), std::mem::take(&mut self.idle)];
        let [connections, idle] = sums.map(|sum| sum as f64 / reads);
        if sheet.over.is_some() && connections > 0.0 {
            sheet.add(super::SYSTEM, "load_connections", "", connections);
            sheet.add(super::SYSTEM, "load_connections_idle", "", idle);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::NotAvailable;
    use super::*;

    #[test]
    fn error_of_a_reading_is_noted() {
        let error = Some(io::Error::other("No buffer space available"));
        let mut served = Served { entry: None, reads: 0, connections: 0, idle: 0, next: None, error };
        let mut sheet = Sheet::default();
        served.look(&mut sheet);
        let probe = "connections of the load at the system".to_owned();
        assert_eq!(
            sheet.missing(),
            [NotAvailable { probe, because: "No buffer space available".to_owned() }]
        );
    }
}
