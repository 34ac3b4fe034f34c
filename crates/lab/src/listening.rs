//! Finds the processes that listen at the target of a load, if they run on this machine.

use std::collections::BTreeSet;
use std::fs;
use std::io::{BufRead as _, BufReader, ErrorKind};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::access::Need;
use crate::processes::{self, PROC};

/// Size of one read of a table. A larger one would fetch connections behind the listening sockets.
const PAGE_BYTES: usize = 4096;
/// Timeout of the search through the open files of all processes.
const SEARCH_MAX: Duration = Duration::from_secs(1);

/// Address at which a process may listen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ListenAddress {
    /// IP address and TCP port.
    Port(IpAddr, u16),
    /// Path of a Unix socket.
    Unix(PathBuf),
}

/// Reason why no process of a system can be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnreadableSystem {
    /// Reason as text.
    pub what: String,
    /// Remedy. `None` if it is unknown.
    pub help: Option<String>,
    /// Whether the system runs on another machine. No local process describes it then, not even one that listens at its address.
    pub is_elsewhere: bool,
}

impl UnreadableSystem {
    pub(crate) fn here(what: String) -> Self {
        Self { what, help: None, is_elsewhere: false }
    }

    pub(crate) fn elsewhere(what: String) -> Self {
        Self { what, help: None, is_elsewhere: true }
    }

    #[must_use]
    pub(crate) fn with_help(self, help: impl Into<String>) -> Self {
        Self { help: Some(help.into()), ..self }
    }

    /// Reason and remedy in one line.
    pub fn because(&self) -> String {
        match &self.help {
            Some(help) => format!("{}; {help}", self.what),
            None => self.what.clone(),
        }
    }
}

/// A listening socket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Socket {
    inode: u64,
    /// User ID of the socket's owner. `None` if the kernel does not report it.
    user: Option<u32>,
}

/// Whether an address belongs to this machine, so that a process can listen on it.
pub fn is_here(address: IpAddr) -> bool {
    address.is_loopback() || UdpSocket::bind((address, 0)).is_ok()
}

/// Returns the processes that have the listening socket open, in ascending order, at least one.
///
/// # Errors
///
/// No such process is visible.
pub fn listeners(at: &ListenAddress) -> Result<Vec<u32>, UnreadableSystem> {
    match at {
        ListenAddress::Port(address, _) if !is_here(*address) => {
            Err(UnreadableSystem::elsewhere(format!("{address} is not an address of this machine")))
        }
        at => listeners_in(Path::new(PROC), at),
    }
}

pub(crate) fn listeners_in(proc: &Path, at: &ListenAddress) -> Result<Vec<u32>, UnreadableSystem> {
    let sockets = sockets(proc, at);
    let place = match at {
        ListenAddress::Port(_, port) => format!("port {port}"),
        ListenAddress::Unix(path) => path.display().to_string(),
    };
    let Some(first) = sockets.first() else {
        let what = format!("no socket listens on {place} in the network namespace of Tenbin");
        return Err(UnreadableSystem::elsewhere(what).with_help("it may be forwarded to a container"));
    };
    let inodes = sockets.iter().map(|socket| socket.inode).collect();
    let Search { holders, denied, is_cut } = Search::of(proc, &inodes);
    if !holders.is_empty() {
        return Ok(holders);
    }
    let user = first.user.map_or_else(String::new, |user| format!(" of user {user}"));
    Err(match denied {
        Some(error) => UnreadableSystem::here(format!(
            "the process{user} that listens on {place} cannot be found, because open files of other users are hidden: {error}"
        ))
        .with_help(Need::OpenFiles.remedy()),
        None if is_cut => UnreadableSystem::here(format!(
            "looking for the process that listens on {place} took longer than {} s",
            SEARCH_MAX.as_secs()
        )),
        None => UnreadableSystem::here(format!("no visible process has the socket{user} that listens on {place}"))
            .with_help("it may be in another PID namespace: run Tenbin where its processes are seen"),
    })
}

/// Listening sockets that accept connections to an address.
fn sockets(proc: &Path, at: &ListenAddress) -> Vec<Socket> {
    let net = proc.join("net");
    match at {
        ListenAddress::Port(address, port) => {
            let rows = ["tcp", "tcp6"].into_iter().flat_map(|name| listening_rows(&net.join(name)));
            let fitting = rows.filter(|(at, _)| at.port() == *port);
            let rated: Vec<(u8, Socket)> =
                fitting.filter_map(|(at, socket)| Some((fit(at.ip(), *address)?, socket))).collect();
            let best = rated.iter().map(|(fit, _)| *fit).max();
            rated.into_iter().filter(|(fit, _)| Some(*fit) == best).map(|(_, socket)| socket).collect()
        }
        ListenAddress::Unix(path) => {
            let table = fs::read_to_string(net.join("unix")).unwrap_or_default();
            table.lines().skip(1).filter_map(|row| parse_unix(row, path)).collect()
        }
    }
}

/// Listening sockets of a table. They are its first rows: reading ends there, because the kernel walks all connections of the machine
/// for the rest.
fn listening_rows(table: &Path) -> Vec<(SocketAddr, Socket)> {
    let Ok(file) = fs::File::open(table) else { return Vec::new() };
    let rows = BufReader::with_capacity(PAGE_BYTES, file).lines().map_while(Result::ok).skip(1);
    // Old kernels list connections that are being accepted with the socket that accepts them.
    let is_of_listeners = |row: &String| row.contains(" 0A ") || row.contains(" 03 ");
    rows.take_while(is_of_listeners).filter_map(|row| parse_tcp(&row)).collect()
}

/// Rank of a listening address for a destination. The kernel prefers the highest. `None` if it does not match.
fn fit(listening: IpAddr, destination: IpAddr) -> Option<u8> {
    let destination = match destination {
        // A connection to an unspecified address goes to this machine.
        IpAddr::V4(address) if address.is_unspecified() => Ipv4Addr::LOCALHOST.into(),
        IpAddr::V6(address) if address.is_unspecified() => Ipv6Addr::LOCALHOST.into(),
        address => address.to_canonical(),
    };
    match listening {
        exact if exact.to_canonical() == destination => Some(3),
        IpAddr::V4(any) if any.is_unspecified() && destination.is_ipv4() => Some(2),
        // An IPv6 socket accepts IPv4 too unless IPV6_V6ONLY is set, which these tables do not show.
        IpAddr::V6(any) if any.is_unspecified() => Some(1),
        _ => None,
    }
}

/// Search for the processes that have one of some sockets open.
#[derive(Default)]
struct Search {
    holders: Vec<u32>,
    /// Error of the first process whose open files are hidden. `None` if all were readable.
    denied: Option<std::io::Error>,
    is_cut: bool,
}

impl Search {
    fn of(proc: &Path, inodes: &BTreeSet<u64>) -> Self {
        let wanted: BTreeSet<String> = inodes.iter().map(|inode| format!("socket:[{inode}]")).collect();
        let (mut search, begun) = (Self::default(), Instant::now());
        for pid in processes::pids_in(proc) {
            if begun.elapsed() > SEARCH_MAX {
                search.is_cut = true;
                break;
            }
            let open = match fs::read_dir(proc.join(pid.to_string()).join("fd")) {
                Ok(open) => open,
                Err(error) => {
                    if error.kind() == ErrorKind::PermissionDenied {
                        search.denied.get_or_insert(error);
                    }
                    continue;
                }
            };
            let mut links = open.flatten().filter_map(|file| fs::read_link(file.path()).ok());
            if links.any(|link| link.to_str().is_some_and(|link| wanted.contains(link))) {
                search.holders.push(pid);
            }
        }
        search
    }
}

/// Parses a row of `/proc/net/tcp` if the socket listens. Columns 1, 3, 7, and 9, counted from 0, are local address, state, user,
/// and inode.
fn parse_tcp(row: &str) -> Option<(SocketAddr, Socket)> {
    let columns: Vec<&str> = row.split_ascii_whitespace().take(10).collect();
    let (address, port) = columns.get(1)?.rsplit_once(':')?;
    if *columns.get(3)? != "0A" {
        return None;
    }
    let address = SocketAddr::new(parse_address(address)?, u16::from_str_radix(port, 16).ok()?);
    let user = columns.get(7)?.parse().ok();
    Some((address, Socket { inode: columns.get(9)?.parse().ok()?, user }))
}

/// Parses an address in hexadecimal: 32-bit words in memory byte order.
fn parse_address(digits: &str) -> Option<IpAddr> {
    let mut bytes = Vec::with_capacity(16);
    for at in (0..digits.len()).step_by(8) {
        bytes.extend(u32::from_str_radix(digits.get(at..at + 8)?, 16).ok()?.to_ne_bytes());
    }
    match <[u8; 4]>::try_from(&bytes[..]) {
        Ok(bytes) => Some(Ipv4Addr::from(bytes).into()),
        Err(_) => Some(Ipv6Addr::from(<[u8; 16]>::try_from(&bytes[..]).ok()?).into()),
    }
}

/// Parses a row of `/proc/net/unix` if the socket listens at `path`. Column 3, counted from 0, has the flags; the path follows
/// seven columns.
fn parse_unix(row: &str, path: &Path) -> Option<Socket> {
    const ACCEPTS: u32 = 0x10000;
    let columns: Vec<&str> = row.split_ascii_whitespace().take(7).collect();
    let is_there = row.strip_suffix(path.to_str()?).is_some_and(|rest| rest.ends_with(' '));
    let flags = u32::from_str_radix(columns.get(3)?, 16).ok()?;
    let inode = columns.get(6)?.parse().ok()?;
    (flags & ACCEPTS != 0 && is_there).then_some(Socket { inode, user: None })
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;
    use std::os::unix::fs::symlink;
    use std::os::unix::net::UnixListener;

    use super::*;

    #[test]
    fn this_process_is_found_by_its_sockets() {
        let this = std::process::id();
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = listener.local_addr().expect("its address");
        assert_eq!(listeners(&ListenAddress::Port(address.ip(), address.port())), Ok(vec![this]));
        let six =
            TcpListener::bind("[::]:0").and_then(|listener| Ok((listener.local_addr()?.port(), listener)));
        if let Ok((port, _listener)) = six {
            assert_eq!(listeners(&ListenAddress::Port(Ipv4Addr::LOCALHOST.into(), port)), Ok(vec![this]));
        }
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("a socket");
        let _listener = UnixListener::bind(&path).expect("a socket");
        assert_eq!(listeners(&ListenAddress::Unix(path)), Ok(vec![this]));
        let none = listeners(&ListenAddress::Unix(folder.path().join("none"))).expect_err("nobody");
        assert!(none.is_elsewhere && none.what.starts_with("no socket listens on "), "{none:?}");
    }

    #[test]
    fn addresses_of_other_machines_are_not_local() {
        assert!(is_here("127.0.0.1".parse().expect("an address")));
        let documentation: IpAddr = "192.0.2.7".parse().expect("an address");
        assert!(!is_here(documentation));
        let none = listeners(&ListenAddress::Port(documentation, 80)).expect_err("another machine");
        assert_eq!(
            none,
            UnreadableSystem::elsewhere("192.0.2.7 is not an address of this machine".to_owned())
        );
    }

    /// Creates a directory that imitates `/proc` with listening sockets: address and port in the format of the kernel, user, and
    /// inode.
    fn machine(sockets: &[(&str, u32, u64)]) -> tempfile::TempDir {
        let proc = tempfile::tempdir().expect("a folder");
        fs::create_dir(proc.path().join("net")).expect("a folder");
        let row = |(at, user, inode): &(&str, u32, u64)| {
            format!(
                "0: {at} 00000000:0000 0A 00000000:00000000 00:00000000 00000000 {user} 0 {inode} 1 0 0\n"
            )
        };
        let of = |is_six: bool| -> String {
            sockets.iter().filter(|(at, ..)| (at.len() > 20) == is_six).map(row).collect()
        };
        fs::write(proc.path().join("net/tcp"), format!("heading\n{}", of(false))).expect("a table");
        fs::write(proc.path().join("net/tcp6"), format!("heading\n{}", of(true))).expect("a table");
        proc
    }

    fn has_open(proc: &Path, pid: u32, inode: u64) {
        let folder = proc.join(pid.to_string()).join("fd");
        fs::create_dir_all(&folder).expect("a folder");
        symlink(format!("socket:[{inode}]"), folder.join(inode.to_string())).expect("a link");
    }

    #[test]
    fn rows_behind_the_listening_sockets_are_not_read() {
        let proc = machine(&[("0100007F:1F90", 0, 1)]);
        let table = proc.path().join("net/tcp");
        let listening = fs::read_to_string(&table).expect("a table");
        let row = listening.lines().nth(1).expect("a row");
        fs::write(&table, format!("{listening}{}\n{row}\n", row.replace(" 0A ", " 06 "))).expect("a table");
        assert_eq!(listening_rows(&table).len(), 1);
    }

    #[test]
    fn most_specific_listening_address_wins() {
        let any_six = format!("{}:1F90", "0".repeat(32));
        let sockets = [
            ("0100007F:1F90", 0, 1),
            ("00000000:1F90", 0, 2),
            (any_six.as_str(), 0, 3),
            ("00000000:1F91", 0, 4),
        ];
        let proc = machine(&sockets);
        (1..=4).for_each(|inode| has_open(proc.path(), 100 + inode, u64::from(inode)));
        let at = |address: &str, port| {
            let address = address.parse().expect("an address");
            listeners_in(proc.path(), &ListenAddress::Port(address, port)).unwrap_or_default()
        };
        assert_eq!(at("127.0.0.1", 8080), [101]);
        assert_eq!(at("0.0.0.0", 8080), [101]);
        assert_eq!(at("127.0.0.2", 8080), [102]);
        assert_eq!(at("::1", 8080), [103]);
        assert_eq!(at("127.0.0.1", 8081), [104]);
        assert_eq!(at("::1", 8081), [0; 0]);
    }

    #[test]
    fn listener_without_visible_process_is_an_error_with_help() {
        let proc = machine(&[("0100007F:1F90", 33, 1)]);
        has_open(proc.path(), 100, 2);
        let at = ListenAddress::Port(Ipv4Addr::LOCALHOST.into(), 8080);
        let unseen = listeners_in(proc.path(), &at).expect_err("nobody has it");
        assert!(!unseen.is_elsewhere);
        let expected = "no visible process has the socket of user 33 that listens on port 8080; it may be in another PID namespace";
        assert!(unseen.because().starts_with(expected), "{unseen:?}");
    }

    #[test]
    fn malformed_rows_are_skipped() {
        let whole =
            "0: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000 33 0 12345 1 0 0";
        let expected =
            ("127.0.0.1:8080".parse().expect("an address"), Socket { inode: 12_345, user: Some(33) });
        assert_eq!(parse_tcp(whole), Some(expected));
        assert_eq!(parse_tcp(&whole.replace(" 0A ", " 01 ")), None);
        let unix = "ffff: 00000002 00000000 00010000 0001 01  4711 /run/a b.sock";
        let path = Path::new("/run/a b.sock");
        assert_eq!(parse_unix(unix, path), Some(Socket { inode: 4_711, user: None }));
        assert_eq!(parse_unix(&unix.replace("00010000", "00000000"), path), None);
        for at in 0..whole.len() {
            parse_tcp(&whole[..at]);
            parse_unix(&unix[..at.min(unix.len())], path);
        }
        for none in ["", "0", "0100007", "0100007F01", "x100007F", "éééé"] {
            assert_eq!(parse_address(none), None, "{none}");
        }
    }
}
