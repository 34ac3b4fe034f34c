//! Finds the processes of the system that hold the connections of the load, and the ones that could accept more, a few times per run.
//!
//! An open listening socket is not enough: a master that only forks workers has it too, and so do helper processes that inherited it. A
//! process counts as accepting if one of its threads is in `accept`, or in `epoll_wait` with the listening socket.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::io;
use std::time::{Duration, Instant};

use super::Subject;
use super::sheet::Sheet;
use super::sock_diag::SockDiag;
use super::threads::{Call, Members, parse_inode};
use crate::access::Need;

/// Time from the first look to the first reading. Servers have accepted the connections by then.
const FIRST_AFTER: Duration = Duration::from_millis(250);
/// Time of the second reading. Each further reading comes at twice the time of the previous one.
const SECOND_AFTER: Duration = Duration::from_secs(1);
/// Max open files of the system that are searched in one reading.
const FILES_MAX: usize = 65_536;
/// Max threads of one process that are checked for waiting for connections.
const THREADS_MAX: usize = 64;

/// Connections of the load at one point in time, by the process that holds them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeldConnections {
    /// Time of the reading.
    pub at: Instant,
    /// Processes that hold a connection or wait for one, by PID.
    pub processes: Vec<Holder>,
    /// Whether every accepted connection is known to be held by exactly one process.
    pub is_complete: bool,
}

/// Process of the system that can hold connections of the load.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Holder {
    /// Process ID.
    pub pid: u32,
    /// Name of the program, as the kernel reports it.
    pub name: String,
    /// Number of connections of the process. A connection that several processes have open counts for each of them.
    pub connections: u32,
    /// Whether the process has the listening socket open.
    pub listens: bool,
}

pub(crate) struct Holders {
    served: Option<u16>,
    kernel: Option<io::Result<SockDiag>>,
    /// Time of the next reading, and its distance from the first look. `None` before the first look.
    next: Option<(Instant, Duration)>,
    begun: Option<Instant>,
    read: Option<HeldConnections>,
    /// Whether the newest reading has listening sockets that none of the known processes has open.
    has_unheld_listeners: bool,
}

impl Holders {
    pub(crate) fn of(subject: &Subject) -> Self {
        let kernel = subject.served.map(|_| SockDiag::open());
        Self {
            served: subject.served,
            kernel,
            next: None,
            begun: None,
            read: None,
            has_unheld_listeners: false,
        }
    }

    /// Makes a reading if one is due. Returns whether other processes listen on a port of the system: they may be a part of the system that
    /// is not known yet.
    pub(crate) fn sample(&mut self, members: &[Members], now: Instant) -> bool {
        let begun = *self.begun.get_or_insert(now);
        let (due, after) = *self.next.get_or_insert((begun + FIRST_AFTER, FIRST_AFTER));
        if now < due || self.served.is_none() {
            return false;
        }
        self.read(members, now);
        let after = if after < SECOND_AFTER { SECOND_AFTER } else { after * 2 };
        self.next = Some((begun + after, after));
        self.has_unheld_listeners
    }

    /// Makes a reading. Replaces one that was not written yet.
    pub(crate) fn read<'a>(&mut self, members: impl IntoIterator<Item = &'a Members>, now: Instant) {
        self.has_unheld_listeners = false;
        self.read = self.look(members, now).ok().flatten().or(self.read.take());
    }

    /// Writes the reading since the last look, if there is one.
    pub(crate) fn write(&mut self, sheet: &mut Sheet) {
        if let Some(Err(error)) = &self.kernel {
            sheet.note_unavailable("connections by process", || {
                Need::TcpSockets.with_remedy(format!("the kernel cannot be asked: {error}"))
            });
        }
        sheet.held = self.read.take();
    }

    /// Makes a reading. `None` if no connection has been accepted.
    fn look<'a>(
        &mut self,
        members: impl IntoIterator<Item = &'a Members>,
        now: Instant,
    ) -> io::Result<Option<HeldConnections>> {
        let (Some(port), Some(Ok(kernel))) = (self.served, &mut self.kernel) else { return Ok(None) };
        // Connections in the accept queue belong to no process yet, and have inode 0.
        let accepted: HashSet<u32> = kernel.accepted(port)?.into_iter().filter(|inode| *inode != 0).collect();
        if accepted.is_empty() {
            return Ok(None);
        }
        let listening = kernel.tcp()?.into_iter().filter(|socket| socket.port == port);
        let listening: HashSet<u32> = listening.map(|socket| socket.inode).collect();
        let mut files_left = FILES_MAX;
        let mut is_complete = true;
        let mut files: Vec<(u32, OpenSockets)> = Vec::new();
        for pid in members.into_iter().flat_map(|of| &of.pids) {
            match OpenSockets::of(*pid, &mut files_left) {
                Ok(open) => files.push((*pid, open)),
                // A process that has ended holds no connection.
                Err(error) => is_complete &= error.kind() == io::ErrorKind::NotFound,
            }
        }
        let mut holders: HashMap<u32, u32> = HashMap::new();
        for inode in files.iter().flat_map(|(_, open)| open.inodes()) {
            *holders.entry(inode).or_default() += 1;
        }
        self.has_unheld_listeners = listening.iter().any(|inode| !holders.contains_key(inode));
        is_complete &= files_left > 0 && accepted.iter().all(|inode| holders.get(inode) == Some(&1));
        let held = files.iter().filter_map(|(pid, open)| {
            let connections = open.inodes().filter(|inode| accepted.contains(inode)).count() as u32;
            let listens = open.inodes().any(|inode| listening.contains(&inode));
            let is_holder = connections > 0 || (listens && waits_for_connections(*pid, open, &listening));
            is_holder.then(|| Holder { pid: *pid, name: name(*pid), connections, listens })
        });
        let mut processes: Vec<Holder> = held.collect();
        processes.sort_unstable_by_key(|holder| holder.pid);
        Ok(Some(HeldConnections { at: now, processes, is_complete }))
    }
}

/// Inodes of the sockets of a process, by descriptor.
struct OpenSockets(HashMap<u64, u32>);

impl OpenSockets {
    fn of(pid: u32, files_left: &mut usize) -> io::Result<Self> {
        let mut sockets = HashMap::new();
        for file in fs::read_dir(format!("/proc/{pid}/fd"))?.flatten() {
            let Some(left) = files_left.checked_sub(1) else { break };
            *files_left = left;
            let number = file.file_name().to_str().and_then(|name| name.parse().ok());
            let inode = fs::read_link(file.path()).ok().and_then(|link| parse_inode(link.to_str()?));
            // The kernel's socket lists have only the lower 32 bits of an inode.
            if let Some((number, inode)) = number.zip(inode) {
                sockets.insert(number, inode as u32);
            }
        }
        Ok(Self(sockets))
    }

    /// Inodes without duplicates.
    fn inodes(&self) -> impl Iterator<Item = u32> {
        let all: HashSet<u32> = self.0.values().copied().collect();
        all.into_iter()
    }

    fn holds_any(&self, descriptor: u64, of: &HashSet<u32>) -> bool {
        self.0.get(&descriptor).is_some_and(|inode| of.contains(inode))
    }
}

/// Whether a thread of the process is in a call that returns when a connection arrives.
fn waits_for_connections(pid: u32, open: &OpenSockets, listening: &HashSet<u32>) -> bool {
    let threads = fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten();
    threads.take(THREADS_MAX).any(|thread| {
        let call = fs::read_to_string(thread.path().join("syscall")).ok();
        match call.as_deref().and_then(Call::of_text) {
            Some(Call::Accept(descriptor)) => open.holds_any(descriptor, listening),
            Some(Call::Poll(epoll)) => {
                let watched = fs::read_to_string(format!("/proc/{pid}/fdinfo/{epoll}")).unwrap_or_default();
                watched_descriptors(&watched).any(|descriptor| open.holds_any(descriptor, listening))
            }
            None => false,
        }
    })
}

/// Descriptors that an epoll instance watches, from `/proc/PID/fdinfo/N`.
fn watched_descriptors(text: &str) -> impl Iterator<Item = u64> {
    let watched = text.lines().filter_map(|line| line.strip_prefix("tfd:"));
    watched.filter_map(|rest| rest.split_ascii_whitespace().next()?.parse().ok())
}

/// Name of a process without invisible characters; empty if it does not exist.
pub(super) fn name(pid: u32) -> String {
    let name = fs::read_to_string(format!("/proc/{pid}/comm")).unwrap_or_default();
    crate::in_words::escaped(name.trim())
}

#[cfg(test)]
mod tests {
    use std::net::{TcpListener, TcpStream};

    use super::*;

    #[test]
    fn process_holds_accepted_connections_and_waits_for_more() {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = listener.local_addr().expect("its address");
        let clients: Vec<TcpStream> = (0..3).map(|_| TcpStream::connect(address).expect("a peer")).collect();
        let accepted: Vec<TcpStream> = (0..2).map(|_| listener.accept().expect("a peer").0).collect();
        let subject = Subject { served: Some(address.port()), ..Subject::default() };
        let mut holders = Holders::of(&subject);
        let this = std::process::id();
        let members = [Members { name: "this".to_owned(), pids: vec![this] }];
        let held = holders.look(&members, Instant::now()).expect("a list").expect("connections");
        assert!(held.is_complete);
        let of_this: Vec<_> =
            held.processes.iter().map(|one| (one.pid, one.connections, one.listens)).collect();
        assert_eq!(of_this, [(this, 2, true)], "the third waits to be accepted");
        let strangers = [Members { name: "init".to_owned(), pids: vec![u32::MAX] }];
        let held = holders.look(&strangers, Instant::now()).expect("a list").expect("connections");
        assert!(!held.is_complete && held.processes.is_empty());
        drop((clients, accepted));
        assert_eq!(holders.look(&members, Instant::now()).expect("a list"), None);
    }

    #[test]
    fn watched_descriptors_are_parsed_from_fdinfo() {
        let text = "pos:\t0\nflags:\t02\ntfd:        5 events:       19 data: 5  pos:0 ino:3 sdev:8\ntfd: 77 events: 1\n";
        assert_eq!(watched_descriptors(text).collect::<Vec<_>>(), [5, 77]);
        assert_eq!(watched_descriptors("").count(), 0);
    }

    #[test]
    fn time_between_readings_grows() {
        let mut holders = Holders::of(&Subject { served: Some(1), ..Subject::default() });
        let begun = Instant::now();
        let mut after = |ms: u64| {
            holders.sample(&[], begun + Duration::from_millis(ms));
            holders.next.map(|(_, after)| after.as_millis())
        };
        let due = [
            (0, 250),
            (249, 250),
            (250, 1_000),
            (999, 1_000),
            (1_020, 2_000),
            (4_100, 4_000),
            (4_150, 8_000),
        ];
        for (ms, next_ms) in due {
            assert_eq!(after(ms), Some(next_ms), "{ms}");
        }
    }
}
