//! Probe for the dependencies of a system: connections that the system opened itself, by remote address.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::fs;
use std::io;
use std::net::SocketAddr;
use std::time::{Duration, Instant};

use super::Subject;
use super::own_time::own_time;
use super::sheet::Sheet;
use super::sock_diag::{Connected, SockDiag};
use super::threads::{Members, inode_of};
use crate::access::Need;

/// Max number of remote addresses that are reported separately. Those with the most connections are kept.
const DEPENDENCIES_MAX: usize = 8;
/// Max open files of the system that are searched for sockets in one look.
const FILES_MAX: usize = 8_192;
/// Max sockets of other processes that are remembered.
const OTHERS_MAX: usize = 1 << 16;
/// Max share of a core. If a search takes longer, it is made less often.
const SHARE: f64 = 0.0015;

pub(crate) struct Dependencies {
    served: Option<u16>,
    ports: Vec<u16>,
    kernel: io::Result<SockDiag>,
    /// Index of the group whose process owns a socket, by inode.
    owners: HashMap<u32, usize>,
    others: HashSet<u32>,
    last: HashMap<u32, Connected>,
    /// Addresses that were written in the last look, so that one without a connection is written as 0.
    written: BTreeSet<(usize, SocketAddr)>,
    /// Earliest time of the next search. `None` before the first one.
    next: Option<Instant>,
    is_cut: bool,
}

/// Sums over the connections to one address.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Sums {
    connections: u64,
    receive_queue_bytes: u64,
    send_queue_bytes: u64,
    retransmits: u64,
}

impl Dependencies {
    pub(crate) fn of(subject: &Subject) -> Self {
        Self {
            served: subject.served,
            ports: subject.ports.clone(),
            kernel: SockDiag::open(),
            owners: HashMap::new(),
            others: HashSet::new(),
            last: HashMap::new(),
            written: BTreeSet::new(),
            next: None,
            is_cut: false,
        }
    }

    /// Remote address of the connection of a socket. `None` if the system did not open it.
    pub(crate) fn peer(&self, inode: u64) -> Option<String> {
        let connected = self.last.get(&u32::try_from(inode).ok()?)?;
        Some(address(connected.remote))
    }

    pub(crate) fn look(&mut self, members: &[Members], now: Instant, sheet: &mut Sheet) {
        let begun = own_time();
        if self.next.is_some_and(|next| now < next) {
            return;
        }
        match self.find(members) {
            Ok(found) => {
                let is_first = sheet.over.is_none();
                if !is_first {
                    self.write(members, &found, sheet);
                }
                self.last = found.into_iter().map(|connected| (connected.inode, connected)).collect();
            }
            Err(because) => sheet.not_available("connections of the system to others", || because),
        }
        if self.is_cut {
            sheet.not_available("some connections of the system to others", || {
                format!("the system has more than {FILES_MAX} open files")
            });
        }
        let cost = own_time().saturating_sub(begun);
        // Half a second is deducted, so that a cheap search is made every second.
        let pause = cost.div_f64(SHARE).saturating_sub(Duration::from_millis(500));
        self.next = now.checked_add(pause);
    }

    /// Returns the connections that processes of the system opened.
    fn find(&mut self, members: &[Members]) -> Result<Vec<Connected>, String> {
        let kernel = self
            .kernel
            .as_mut()
            .map_err(|error| Need::TcpSockets.lacks(format!("the kernel cannot be asked: {error}")))?;
        let refused = |error: io::Error| Need::TcpSockets.lacks(format!("the kernel does not tell: {error}"));
        let mut found = kernel.established(&self.ports, self.served).map_err(refused)?;
        if found.is_empty() {
            return Ok(found);
        }
        let listening: HashSet<u16> =
            kernel.tcp().map_err(refused)?.into_iter().map(|listening| listening.port).collect();
        // A connection whose local port is listening is an incoming one.
        found.retain(|connected| !listening.contains(&connected.local.port()));
        let is_known = |inode| self.owners.contains_key(inode) || self.others.contains(inode);
        if !found.iter().all(|connected| is_known(&connected.inode)) {
            self.find_owners(members, &found);
        }
        found.retain(|connected| self.owners.contains_key(&connected.inode));
        let still: HashSet<u32> = found.iter().map(|connected| connected.inode).collect();
        self.owners.retain(|inode, _| still.contains(inode));
        Ok(found)
    }

    /// Searches the open files of the system for sockets without a known owner.
    fn find_owners(&mut self, members: &[Members], found: &[Connected]) {
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
                let inode = link.and_then(|link| u32::try_from(inode_of(link.to_str()?)?).ok());
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

    fn write(&mut self, members: &[Members], found: &[Connected], sheet: &mut Sheet) {
        let mut sums: BTreeMap<(usize, SocketAddr), Sums> =
            self.written.iter().map(|key| (*key, Sums::default())).collect();
        for connected in found {
            let Some(group) = self.owners.get(&connected.inode) else { continue };
            let sum = sums.entry((*group, connected.remote)).or_default();
            let before = self.last.get(&connected.inode).map_or(0, |last| last.retransmits);
            sum.connections += 1;
            sum.receive_queue_bytes += u64::from(connected.receive_queue_bytes);
            sum.send_queue_bytes += u64::from(connected.send_queue_bytes);
            sum.retransmits += u64::from(connected.retransmits.saturating_sub(before));
        }
        let mut largest: Vec<_> = sums.into_iter().collect();
        largest.sort_by_key(|(_, sums)| std::cmp::Reverse(sums.connections));
        self.written.clear();
        for ((group, remote), sums) in largest.into_iter().take(DEPENDENCIES_MAX) {
            let Some(Members { name, .. }) = members.get(group) else { continue };
            let label = address(remote);
            self.written.insert((group, remote));
            sheet.add(name, "dependency_connections", &label, sums.connections as f64);
            sheet.add(name, "dependency_receive_queue_bytes", &label, sums.receive_queue_bytes as f64);
            sheet.add(name, "dependency_send_queue_bytes", &label, sums.send_queue_bytes as f64);
            sheet.add(name, "dependency_retransmits", &label, sums.retransmits as f64);
        }
    }
}

/// Formats an address. An IPv4-mapped IPv6 address is written as IPv4.
fn address(at: SocketAddr) -> String {
    SocketAddr::new(at.ip().to_canonical(), at.port()).to_string()
}
