//! Who listens where a load goes, if that is on this machine.

use std::collections::BTreeSet;
use std::fs;
use std::net::{IpAddr, UdpSocket};
use std::path::Path;

use crate::processes;

/// Where a process may listen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Listens<'a> {
    /// A TCP port of an address.
    Port(IpAddr, u16),
    /// A Unix socket, by its path.
    Unix(&'a Path),
}

/// Whether an address is one of this machine: one can listen there.
pub fn is_here(address: IpAddr) -> bool {
    address.is_loopback() || UdpSocket::bind((address, 0)).is_ok()
}

/// The processes that have the listening socket open, in order; none if it is not on this machine, or hidden.
pub fn listeners(at: Listens<'_>) -> Vec<u32> {
    let text = |path: &str| fs::read_to_string(path).unwrap_or_default();
    let inodes: BTreeSet<u64> = match at {
        Listens::Port(address, port) => {
            if !is_here(address) {
                return Vec::new();
            }
            let tables = ["/proc/net/tcp", "/proc/net/tcp6"].map(text);
            tables
                .iter()
                .flat_map(|table| table.lines().skip(1))
                .filter_map(|row| of_port(row, port))
                .collect()
        }
        Listens::Unix(path) => {
            text("/proc/net/unix").lines().skip(1).filter_map(|row| of_path(row, path)).collect()
        }
    };
    if inodes.is_empty() {
        return Vec::new();
    }
    let wanted: BTreeSet<String> = inodes.iter().map(|inode| format!("socket:[{inode}]")).collect();
    let has_it = |pid: &u32| {
        let Ok(open) = fs::read_dir(format!("/proc/{pid}/fd")) else { return false };
        open.flatten().any(|file| {
            fs::read_link(file.path())
                .is_ok_and(|link| link.to_str().is_some_and(|link| wanted.contains(link)))
        })
    };
    processes::pids().into_iter().filter(has_it).collect()
}

/// The inode of a socket that listens on a port: number, local address, remote address, state, and after five more the inode.
fn of_port(row: &str, port: u16) -> Option<u64> {
    let columns: Vec<&str> = row.split_ascii_whitespace().take(10).collect();
    let (_, local_port) = columns.get(1)?.rsplit_once(':')?;
    let listens = u16::from_str_radix(local_port, 16).ok()? == port && *columns.get(3)? == "0A";
    listens.then(|| columns.get(9)?.parse().ok())?
}

/// The inode of a Unix socket that listens: its flags say so, and its path is behind seven columns.
fn of_path(row: &str, path: &Path) -> Option<u64> {
    const ACCEPTS: u32 = 0x10000;
    let columns: Vec<&str> = row.split_ascii_whitespace().take(7).collect();
    let is_there = row.strip_suffix(path.to_str()?).is_some_and(|rest| rest.ends_with(' '));
    let flags = u32::from_str_radix(columns.get(3)?, 16).ok()?;
    (flags & ACCEPTS != 0 && is_there).then(|| columns.get(6)?.parse().ok())?
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;
    use std::os::unix::net::UnixListener;

    use super::*;

    #[test]
    fn this_process_is_found_by_its_sockets() {
        let this = std::process::id();
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = listener.local_addr().expect("its address");
        assert_eq!(listeners(Listens::Port(address.ip(), address.port())), [this]);
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("a socket");
        let _listener = UnixListener::bind(&path).expect("a socket");
        assert_eq!(listeners(Listens::Unix(&path)), [this]);
        assert!(listeners(Listens::Unix(&folder.path().join("none"))).is_empty());
    }

    #[test]
    fn other_machines_are_not_here() {
        assert!(is_here("127.0.0.1".parse().expect("an address")));
        let documentation: IpAddr = "192.0.2.7".parse().expect("an address");
        assert!(!is_here(documentation));
        assert!(listeners(Listens::Port(documentation, 80)).is_empty());
    }

    #[test]
    fn strange_rows_are_passed_over() {
        let whole =
            "0: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000 0 0 12345 1 0 0";
        assert_eq!(of_port(whole, 8080), Some(12_345));
        let unix = "ffff: 00000002 00000000 00010000 0001 01  4711 /run/a b.sock";
        assert_eq!(of_path(unix, Path::new("/run/a b.sock")), Some(4_711));
        assert_eq!(of_path(&unix.replace("00010000", "00000000"), Path::new("/run/a b.sock")), None);
        for at in 0..whole.len() {
            of_port(&whole[..at], 8080);
            of_path(&unix[..at.min(unix.len())], Path::new("/run/a b.sock"));
        }
    }
}
