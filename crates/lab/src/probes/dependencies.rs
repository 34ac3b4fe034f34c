//! Probe for the dependencies of a system: connections that the system opened itself, by remote address. Their traffic comes from the
//! counters of the kernel's `tcp_info`.

mod programs;

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::fs;
use std::io;
use std::net::SocketAddr;
use std::time::{Duration, Instant};

use super::Subject;
use super::own_time::own_time;
use super::sheet::Sheet;
use super::sock_diag::{SockDiag, TcpConnection, Traffic};
use super::threads::{Members, parse_inode};
use crate::access::Need;
pub(crate) use programs::CalledServer;
use programs::Programs;

/// Max number of remote addresses that are reported separately. Those with the most connections are kept.
const DEPENDENCIES_MAX: usize = 8;
/// Max open files of the system that are searched for sockets in one look.
const FILES_MAX: usize = 8_192;
/// Max sockets of other processes that are remembered.
const OTHERS_MAX: usize = 1 << 16;
/// Max share of a core. If searches take longer, they become less frequent.
const SHARE: f64 = 0.0015;
/// Max share of a core for samples between two searches, and the shortest pause between samples.
const SAMPLES_SHARE: f64 = 0.001;
const SAMPLES_PAUSE: Duration = Duration::from_millis(90);

pub(crate) struct Dependencies {
    served: Option<u16>,
    ports: Vec<u16>,
    kernel: io::Result<SockDiag>,
    /// Index of the group of the process that owns a socket, by inode.
    owners: HashMap<u32, usize>,
    others: HashSet<u32>,
    /// Listening ports of the machine, as of the last search. A connection with a listening local port was accepted.
    listening: HashSet<u16>,
    last: HashMap<u32, TcpConnection>,
    sums: BTreeMap<(usize, SocketAddr), Sums>,
    /// Number of times the connections were read since the last look that wrote them.
    reads: u32,
    programs: Programs,
    /// Addresses that were written in the last look, so that one without a connection is written as 0.
    written: BTreeSet<(usize, SocketAddr)>,
    /// Earliest time of the next search. `None` before the first one.
    next: Option<Instant>,
    /// Earliest time of the next sample.
    next_sample: Option<Instant>,
    is_cut: bool,
}

/// Sums over the connections to one address since the last written look. Queues are from the last reading.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Sums {
    connections: u64,
    receive_queue_bytes: u64,
    send_queue_bytes: u64,
    retransmits: u64,
    /// Connections that were not there in the reading before. Those that open and close between two readings are missing.
    opened: u64,
    /// Connections on which a reply was awaited, summed over readings.
    awaited: u64,
    segments_sent: u64,
    segments_received: u64,
    bytes_sent: u64,
    bytes_received: u64,
    busy_us: u64,
    peer_window_us: u64,
    send_buffer_us: u64,
}

impl Sums {
    /// Adds a connection, with its counters at the reading before. `None` for a new connection.
    fn add(&mut self, connected: &TcpConnection, before: Option<&Traffic>) {
        let (now, is_new) = (&connected.traffic, before.is_none());
        let before = before.copied().unwrap_or_default();
        let short = |of: fn(&Traffic) -> u32| u64::from(of(now).saturating_sub(of(&before)));
        let long = |of: fn(&Traffic) -> u64| of(now).saturating_sub(of(&before));
        self.connections += 1;
        self.receive_queue_bytes += u64::from(connected.receive_queue_bytes);
        self.send_queue_bytes += u64::from(connected.send_queue_bytes);
        self.opened += u64::from(is_new);
        // A reply that was received but not read waits for the system, not for the dependency.
        self.awaited += u64::from(now.awaits_reply() && connected.receive_queue_bytes == 0);
        self.retransmits += short(|of| of.retransmits);
        self.segments_sent += short(|of| of.segments_sent);
        self.segments_received += short(|of| of.segments_received);
        self.bytes_sent += long(|of| of.bytes_sent);
        self.bytes_received += long(|of| of.bytes_received);
        self.busy_us += long(|of| of.busy_us);
        self.peer_window_us += long(|of| of.peer_window_us);
        self.send_buffer_us += long(|of| of.send_buffer_us);
    }

    /// Removes what is only true of one reading.
    fn begin_reading(&mut self) {
        (self.connections, self.receive_queue_bytes, self.send_queue_bytes) = (0, 0, 0);
    }
}

impl Dependencies {
    pub(crate) fn of(subject: &Subject) -> Self {
        Self {
            served: subject.served,
            ports: subject.ports.clone(),
            kernel: SockDiag::open(),
            owners: HashMap::new(),
            others: HashSet::new(),
            listening: HashSet::new(),
            last: HashMap::new(),
            sums: BTreeMap::new(),
            reads: 0,
            programs: Programs::default(),
            written: BTreeSet::new(),
            next: None,
            next_sample: None,
            is_cut: false,
        }
    }

    /// Remote address of the connection of a socket. `None` if the system did not open it.
    pub(crate) fn peer(&self, inode: u64) -> Option<String> {
        let connected = self.last.get(&u32::try_from(inode).ok()?)?;
        Some(address(connected.remote))
    }

    /// Servers on this machine that were found since the last call.
    pub(crate) fn take_servers(&mut self) -> Vec<CalledServer> {
        self.programs.take_found()
    }

    pub(crate) fn look(&mut self, members: &[Members], now: Instant, sheet: &mut Sheet) {
        let begun = own_time();
        if self.next.is_some_and(|next| now < next) {
            return;
        }
        match self.find(members) {
            Ok(found) => {
                self.add(found);
                let is_first = sheet.over.is_none();
                if is_first {
                    self.sums.clear();
                } else {
                    self.write(members, sheet);
                }
                self.reads = 0;
            }
            Err(because) => sheet.note_unavailable("connections of the system to others", || because),
        }
        if self.is_cut {
            sheet.note_unavailable("some connections of the system to others", || {
                format!("the system has more than {FILES_MAX} open files")
            });
        }
        let cost = own_time().saturating_sub(begun);
        // Half a second is deducted, so that a cheap search runs every second.
        let pause = cost.div_f64(SHARE).saturating_sub(Duration::from_millis(500));
        self.next = now.checked_add(pause);
        self.programs.write(&self.written, members, sheet);
    }

    /// Reads the connections between two looks if a reading is due. A connection whose process has not been searched for yet is attributed
    /// to the process that is known to call its address, because many connections end before the next search.
    pub(crate) fn sample(&mut self, now: Instant) {
        let is_known = !self.written.is_empty() || !self.owners.is_empty();
        if !is_known || self.next_sample.is_some_and(|next| now < next) {
            return;
        }
        let begun = own_time();
        let Ok(found) = self.read() else { return };
        let callers: HashMap<SocketAddr, usize> =
            self.written.iter().map(|(group, remote)| (*remote, *group)).collect();
        let found = found.into_iter().filter_map(|connected| {
            let is_others = self.others.contains(&connected.inode);
            let owner = self.owners.get(&connected.inode).or_else(|| callers.get(&connected.remote))?;
            (!is_others).then_some((*owner, connected))
        });
        let found = found.collect();
        self.add(found);
        let pause = own_time().saturating_sub(begun).div_f64(SAMPLES_SHARE);
        self.next_sample = now.checked_add(pause.max(SAMPLES_PAUSE));
    }

    /// Reads connections that were not accepted.
    fn read(&mut self) -> io::Result<Vec<TcpConnection>> {
        let kernel = self.kernel.as_mut().map_err(|error| io::Error::new(error.kind(), error.to_string()))?;
        let mut found = kernel.established(&self.ports, self.served)?;
        found.retain(|connected| !self.listening.contains(&connected.local.port()));
        Ok(found)
    }

    /// Returns the connections that processes of the system opened, each with the index of its group.
    fn find(&mut self, members: &[Members]) -> Result<Vec<(usize, TcpConnection)>, String> {
        let refused =
            |error: io::Error| Need::TcpSockets.with_remedy(format!("the kernel does not tell: {error}"));
        let kernel = self
            .kernel
            .as_mut()
            .map_err(|error| Need::TcpSockets.with_remedy(format!("the kernel cannot be asked: {error}")))?;
        self.listening = kernel.tcp().map_err(refused)?.into_iter().map(|listening| listening.port).collect();
        let found = self.read().map_err(refused)?;
        let is_known = |inode| self.owners.contains_key(inode) || self.others.contains(inode);
        if !found.iter().all(|connected| is_known(&connected.inode)) {
            self.find_owners(members, &found);
        }
        let still: HashSet<u32> = found.iter().map(|connected| connected.inode).collect();
        self.owners.retain(|inode, _| still.contains(inode));
        let owned = found.into_iter();
        Ok(owned.filter_map(|connected| Some((*self.owners.get(&connected.inode)?, connected))).collect())
    }

    /// Adds a reading to the sums.
    fn add(&mut self, found: Vec<(usize, TcpConnection)>) {
        self.sums.values_mut().for_each(Sums::begin_reading);
        for (group, connected) in &found {
            let before = self.last.get(&connected.inode).map(|last| &last.traffic);
            self.sums.entry((*group, connected.remote)).or_default().add(connected, before);
        }
        self.reads += 1;
        self.last = found.into_iter().map(|(_, connected)| (connected.inode, connected)).collect();
    }

    /// Searches the open files of the system for sockets without a known owner.
    fn find_owners(&mut self, members: &[Members], found: &[TcpConnection]) {
        let mut wanted: HashSet<u32> = found.iter().map(|connected| connected.inode).collect();
        wanted.retain(|inode| !self.owners.contains_key(inode));
        let mut left = FILES_MAX;
        let processes =
            members.iter().enumerate().flat_map(|(group, of)| of.pids.iter().map(move |pid| (group, pid)));
        for (group, pid) in processes {
            for file in fs::read_dir(format!("/proc/{pid}/fd")).into_iter().flatten().flatten() {
                let Some(still_left) = left.checked_sub(1) else { break };
                left = still_left;
                let link = fs::read_link(file.path()).ok();
                let inode = link.and_then(|link| u32::try_from(parse_inode(link.to_str()?)?).ok());
                if let Some(inode) = inode.filter(|inode| wanted.remove(inode)) {
                    self.owners.insert(inode, group);
                }
            }
        }
        self.is_cut |= left == 0;
        if self.others.len() + wanted.len() > OTHERS_MAX {
            self.others.clear();
        }
        self.others.extend(wanted);
    }

    /// Writes the sums, and begins new ones.
    fn write(&mut self, members: &[Members], sheet: &mut Sheet) {
        let mut sums = std::mem::take(&mut self.sums);
        for key in &self.written {
            sums.entry(*key).or_default();
        }
        let mut largest: Vec<_> = sums.into_iter().collect();
        largest.sort_by_key(|(_, sums)| std::cmp::Reverse((sums.connections, sums.segments_sent)));
        self.written.clear();
        let reads = f64::from(self.reads.max(1));
        for ((group, remote), sums) in largest.into_iter().take(DEPENDENCIES_MAX) {
            let Some(Members { name, .. }) = members.get(group) else { continue };
            let label = address(remote);
            self.written.insert((group, remote));
            let mut add = |metric, value: f64| sheet.add(name, metric, &label, value);
            add("dependency_connections", sums.connections as f64);
            add("dependency_receive_queue_bytes", sums.receive_queue_bytes as f64);
            add("dependency_send_queue_bytes", sums.send_queue_bytes as f64);
            add("dependency_retransmits", sums.retransmits as f64);
            add("dependency_opened", sums.opened as f64);
            add("dependency_awaited", sums.awaited as f64 / reads);
            add("dependency_segments_sent", sums.segments_sent as f64);
            add("dependency_segments_received", sums.segments_received as f64);
            add("dependency_sent_bytes", sums.bytes_sent as f64);
            add("dependency_received_bytes", sums.bytes_received as f64);
            add("dependency_busy_s", sums.busy_us as f64 / 1e6);
            add("dependency_peer_window_s", sums.peer_window_us as f64 / 1e6);
            add("dependency_send_buffer_s", sums.send_buffer_us as f64 / 1e6);
        }
    }
}

/// Formats an address. An IPv4-mapped IPv6 address is written as IPv4.
fn address(at: SocketAddr) -> String {
    SocketAddr::new(at.ip().to_canonical(), at.port()).to_string()
}
