//! Probe for the listen queues of the system: connections that wait to be accepted, and the backlog limit, for each listening
//! socket.

use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use super::Subject;
use super::sheet::{Probe, Sheet};
use super::sock_diag::{Listening, SockDiag, UnixListening};
use crate::access::Need;

pub(crate) struct Listeners {
    ports: Vec<u16>,
    unix_sockets: Vec<PathBuf>,
    kernel: Option<io::Result<SockDiag>>,
}

impl Listeners {
    pub(crate) fn of(subject: &Subject) -> Self {
        let (mut ports, mut unix_sockets) = (subject.ports.clone(), subject.unix_sockets.clone());
        ports.sort_unstable();
        ports.dedup();
        unix_sockets.sort_unstable();
        unix_sockets.dedup();
        let is_needed = !ports.is_empty() || !unix_sockets.is_empty();
        Self { ports, unix_sockets, kernel: is_needed.then(SockDiag::open) }
    }
}

impl Probe for Listeners {
    fn look(&mut self, sheet: &mut Sheet) {
        let kernel = match &mut self.kernel {
            None => return,
            Some(Ok(kernel)) => kernel,
            Some(Err(error)) => {
                return sheet.note_unavailable("listen queues", || {
                    Need::TcpSockets.with_remedy(format!("the kernel cannot be asked: {error}"))
                });
            }
        };
        if !self.ports.is_empty() {
            match kernel.tcp() {
                Ok(sockets) => ports(&self.ports, &sockets, sheet),
                Err(error) => sheet.note_unavailable("listen queues of ports", || {
                    Need::TcpSockets.with_remedy(format!("the kernel does not tell: {error}"))
                }),
            }
        }
        if !self.unix_sockets.is_empty() {
            match kernel.unix() {
                Ok(sockets) => unix_sockets(&self.unix_sockets, &sockets, sheet),
                Err(error) => sheet.note_unavailable("listen queues of Unix sockets", || {
                    Need::UnixSockets.with_remedy(format!("the kernel does not tell: {error}"))
                }),
            }
        }
    }
}

fn ports(ports: &[u16], sockets: &[Listening], sheet: &mut Sheet) {
    for port in ports {
        let of_port = sockets.iter().filter(|socket| socket.port == *port);
        let queues = of_port.map(|socket| (socket.waiting, socket.limit));
        add(&port.to_string(), sum(queues), sheet);
    }
}

fn unix_sockets(paths: &[PathBuf], sockets: &[UnixListening], sheet: &mut Sheet) {
    for path in paths {
        let inode = std::fs::metadata(path).ok().map(|file| {
            let dev = file.dev();
            (file.ino(), (rustix::fs::major(dev), rustix::fs::minor(dev)))
        });
        let of_path = sockets.iter().filter(|socket| matches_path(socket, path, inode));
        let queues = of_path.map(|socket| (socket.waiting, socket.limit));
        add(&path.to_string_lossy(), sum(queues), sheet);
    }
}

/// Matches by path if the socket was bound to the full path, or by inode if a server bound a relative path.
fn matches_path(socket: &UnixListening, path: &Path, inode: Option<(u64, (u32, u32))>) -> bool {
    if socket.path == path {
        return true;
    }
    match (socket.file, inode) {
        // The kernel reports only the lower 32 bits of an inode.
        (Some((theirs, device)), Some((inode, ours))) => {
            u64::from(theirs) == inode & 0xffff_ffff && device == ours
        }
        _ => false,
    }
}

/// Sums the queues of sockets that share a port: one for each address, or one for each worker.
fn sum(queues: impl Iterator<Item = (u32, u32)>) -> Option<(u64, u64)> {
    let pairs = queues.map(|(waiting, limit)| (u64::from(waiting), u64::from(limit)));
    pairs.reduce(|(waiting, limit), more| (waiting + more.0, limit + more.1))
}

fn add(label: &str, queue: Option<(u64, u64)>, sheet: &mut Sheet) {
    match queue {
        Some((waiting, limit)) => {
            let subject = super::SYSTEM;
            sheet.add(subject, "listen_queue", label, waiting as f64);
            sheet.add(subject, "listen_queue_limit", label, limit as f64);
        }
        // Later errors may mean that the system has ended, which is not reported here.
        None if sheet.over.is_none() => sheet.note_unavailable(&format!("listen queue of {label}"), || {
            "no socket listens there in the network namespace of this process".into()
        }),
        None => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn queues_of_sockets_on_one_port_are_summed() {
        let socket = |port, waiting, limit| Listening { inode: 0, port, waiting, limit };
        let mut sheet = Sheet { over: Some(std::time::Duration::from_secs(1)), ..Sheet::default() };
        ports(&[80, 81], &[socket(80, 3, 128), socket(80, 1, u32::MAX), socket(82, 9, 9)], &mut sheet);
        let readings: Vec<_> = sheet.readings.iter().map(|r| (r.metric, r.label.as_str(), r.value)).collect();
        let limit = f64::from(u32::MAX) + 128.0;
        assert_eq!(readings, [("listen_queue", "80", 4.0), ("listen_queue_limit", "80", limit)]);
        assert!(sheet.missing().is_empty());
    }

    #[test]
    fn port_without_listener_is_reported_in_the_first_look() {
        let mut sheet = Sheet::default();
        ports(&[80], &[], &mut sheet);
        assert_eq!(sheet.missing()[0].probe, "listen queue of 80");
    }

    #[test]
    fn unix_socket_is_matched_by_path_or_inode() {
        let socket = |path: &str, file| UnixListening { path: path.into(), file, waiting: 0, limit: 1 };
        let path = Path::new("/run/app.sock");
        let inode = Some(((7 << 32) | 5, (8, 1)));
        assert!(matches_path(&socket("/run/app.sock", None), path, None));
        assert!(matches_path(&socket("app.sock", Some((5, (8, 1)))), path, inode));
        assert!(!matches_path(&socket("app.sock", Some((5, (8, 2)))), path, inode));
        assert!(!matches_path(&socket("app.sock", None), path, inode));
        assert!(!matches_path(&socket("", Some((5, (8, 1)))), path, None));
    }
}
