//! Finds the servers on this machine that a system is connected to, such as its database or its cache.

use std::collections::{BTreeSet, HashSet};
use std::fs;

use crate::listening::{self, ListenAddress, is_here};
use crate::probes::{SockDiag, parse_inode};
use crate::processes::self_and_ancestors;

/// Max open files of the system that are searched for sockets.
const FILES_MAX: usize = 1 << 16;
/// Max servers that are looked up, because each look-up searches the open files of all processes.
const SERVERS_MAX: usize = 8;

/// Processes on this machine that listen at the addresses that the processes `system` are connected to, over TCP or Unix sockets. Excludes
/// PID 1 and the ancestors of this process, which hold sockets for others. Empty if the kernel does not list connections.
pub fn find_servers(system: &BTreeSet<u32>) -> BTreeSet<u32> {
    let inodes = open_sockets(system);
    let places = if inodes.is_empty() { Vec::new() } else { places(&inodes).unwrap_or_default() };
    let found = places.iter().take(SERVERS_MAX).filter_map(|at| listening::listeners(at).ok());
    let held_for_others = self_and_ancestors();
    let is_server = |pid: &u32| *pid != 1 && !held_for_others.contains(pid) && !system.contains(pid);
    found.flatten().filter(is_server).collect()
}

/// Processes on this machine that listen at an address, under the conditions of [`find_servers`].
pub fn find_server(at: &ListenAddress) -> BTreeSet<u32> {
    let held_for_others = self_and_ancestors();
    let found = listening::listeners(at).unwrap_or_default().into_iter();
    found.filter(|pid| *pid != 1 && !held_for_others.contains(pid)).collect()
}

/// Lower 32 bits of the inodes of all sockets that the processes have open.
fn open_sockets(system: &BTreeSet<u32>) -> HashSet<u32> {
    let files = system.iter().filter_map(|pid| fs::read_dir(format!("/proc/{pid}/fd")).ok());
    let links = files.flatten().flatten().take(FILES_MAX).filter_map(|file| fs::read_link(file.path()).ok());
    links.filter_map(|link| Some(parse_inode(link.to_str()?)? as u32)).collect()
}

/// Distinct places on this machine to which sockets are connected.
fn places(inodes: &HashSet<u32>) -> std::io::Result<Vec<ListenAddress>> {
    let mut kernel = SockDiag::open()?;
    let listening: HashSet<u16> = kernel.tcp()?.into_iter().map(|listening| listening.port).collect();
    let mut places = Vec::new();
    let mut add = |place: ListenAddress| {
        if !places.contains(&place) {
            places.push(place);
        }
    };
    for connected in kernel.established(&[], None)? {
        let (local, remote) = (connected.local.port(), connected.remote);
        let address = remote.ip().to_canonical();
        // A connection with a listening local port was accepted.
        let is_outgoing = !listening.contains(&local) && listening.contains(&remote.port());
        if is_outgoing && inodes.contains(&connected.inode) && is_here(address) {
            add(ListenAddress::Port(address, remote.port()));
        }
    }
    let connections = kernel.unix_connections()?;
    let own = connections.iter().filter(|socket| inodes.contains(&socket.inode));
    let peers: HashSet<u32> = own.filter_map(|socket| socket.peer).collect();
    let accepted = connections.iter().filter(|socket| peers.contains(&socket.inode));
    accepted
        .filter(|socket| socket.path.is_absolute())
        .for_each(|socket| add(ListenAddress::Unix(socket.path.clone())));
    Ok(places)
}

#[cfg(test)]
mod tests {
    use std::net::{TcpListener, TcpStream};
    use std::os::unix::net::{UnixListener, UnixStream};

    use super::*;

    #[test]
    fn connections_to_servers_on_this_machine_are_found() {
        let server = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = server.local_addr().expect("its address");
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("a socket");
        let unix = UnixListener::bind(&path).expect("a socket");
        let places_of_this = || {
            places(&open_sockets(&BTreeSet::from([std::process::id()])))
                .expect("the kernel lists connections")
        };
        let tcp = ListenAddress::Port(address.ip(), address.port());
        let found = places_of_this();
        assert!(
            !found.contains(&tcp) && !found.contains(&ListenAddress::Unix(path.clone())),
            "nobody is connected"
        );
        let _streams = (TcpStream::connect(address).expect("a connection"), server.accept());
        let _unix_streams = (UnixStream::connect(&path).expect("a connection"), unix.accept());
        let found = places_of_this();
        assert!(found.contains(&tcp) && found.contains(&ListenAddress::Unix(path)), "{found:?}");
    }

    #[test]
    fn own_process_and_its_ancestors_are_no_servers() {
        let server = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = server.local_addr().expect("its address");
        let listens = ListenAddress::Port(address.ip(), address.port());
        // A child process that another test forks holds the socket until it executes its program.
        let mut servers = (0..100).map(|_| {
            std::thread::sleep(std::time::Duration::from_millis(10));
            find_server(&listens)
        });
        assert!(servers.any(|servers| servers.is_empty()), "a process of its own counts as server");
        let _streams = (TcpStream::connect(address).expect("a connection"), server.accept());
        assert!(!find_servers(&BTreeSet::from([std::process::id()])).contains(&std::process::id()));
        assert_eq!(find_servers(&BTreeSet::new()), BTreeSet::new());
    }
}
