//! Finds free ports for systems, and the processes that use other ports.

mod holder;

use std::fmt;
use std::net::{Ipv4Addr, SocketAddrV4};
use std::ops::RangeInclusive;
use std::sync::atomic::{AtomicU32, Ordering};

use rustix::net::{AddressFamily, SocketFlags, SocketType, bind, socket_with, sockopt};

pub(crate) use holder::holder;

const LOWEST: u16 = 20_000;
/// Min size of a port range that is used. A smaller range is skipped.
const RANGE_PORTS_MIN: usize = 500;

/// Error: fewer free ports were found than requested.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoPorts {
    wanted: usize,
    found: usize,
}

impl fmt::Display for NoPorts {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let NoPorts { wanted, found } = self;
        write!(
            out,
            "{wanted} free ports are wanted on 127.0.0.1, and only {found} were found: stop something that listens, \
             or move the ephemeral ports up (sysctl net.ipv4.ip_local_port_range)"
        )
    }
}

impl std::error::Error for NoPorts {}

/// Number of candidate ports that this process has handed out or skipped.
static CANDIDATES_USED: AtomicU32 = AtomicU32::new(0);

/// Finds distinct free ports on 127.0.0.1, none of which was handed out recently.
///
/// The ports are below the ephemeral range if possible, so that no client connection can take them before they are used. The first
/// candidate depends on the PID, so that two processes that search at the same time find different ports.
///
/// # Errors
/// Fewer ports than `count` are free.
pub fn find_free(count: usize) -> Result<Vec<u16>, NoPorts> {
    let candidates = candidates(
        &read("/proc/sys/net/ipv4/ip_local_port_range"),
        &read("/proc/sys/net/ipv4/ip_local_reserved_ports"),
    );
    let mut found = Vec::with_capacity(count.min(candidates.len()));
    let first = std::process::id().wrapping_mul(61);
    for _ in 0..candidates.len() {
        if found.len() == count {
            break;
        }
        let step = first.wrapping_add(CANDIDATES_USED.fetch_add(1, Ordering::Relaxed)) as usize;
        let port = candidates[step % candidates.len()];
        if is_free(Ipv4Addr::UNSPECIFIED, port) && !found.contains(&port) {
            found.push(port);
        }
    }
    if found.len() < count { Err(NoPorts { wanted: count, found: found.len() }) } else { Ok(found) }
}

/// Whether a server could listen on this port now. Connections in TIME_WAIT are no obstacle.
pub(crate) fn is_free(address: Ipv4Addr, port: u16) -> bool {
    let attempt = || {
        let socket = socket_with(AddressFamily::INET, SocketType::STREAM, SocketFlags::CLOEXEC, None)?;
        sockopt::set_socket_reuseaddr(&socket, true)?;
        bind(&socket, &SocketAddrV4::new(address, port))
    };
    attempt().is_ok()
}

fn read(path: &str) -> String {
    std::fs::read_to_string(path).unwrap_or_default()
}

/// Candidate ports: below the ephemeral range, else reserved ports, else above the range, else any.
fn candidates(ephemeral: &str, reserved: &str) -> Vec<u16> {
    let mut ends = ephemeral.split_whitespace().filter_map(|end| end.parse::<u16>().ok());
    let low = ends.next().unwrap_or(32_768);
    let high = ends.next().unwrap_or(60_999).max(low);
    let reserved: Vec<u16> = reserved.trim().split(',').filter_map(range).flatten().collect();
    let below = |from: u16| (from..low).collect::<Vec<u16>>();
    let kept: Vec<u16> = reserved.into_iter().filter(|port| *port >= 1024).collect();
    let above: Vec<u16> = (high..=u16::MAX).skip(1).collect();
    let choices = [below(LOWEST), below(10_000), kept, above];
    choices
        .into_iter()
        .find(|ports| ports.len() >= RANGE_PORTS_MIN)
        .unwrap_or_else(|| (LOWEST..=u16::MAX).collect())
}

fn range(text: &str) -> Option<RangeInclusive<u16>> {
    let (from, to) = text.split_once('-').unwrap_or((text, text));
    Some(from.trim().parse().ok()?..=to.trim().parse().ok()?)
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::*;

    #[test]
    fn ports_are_below_the_ephemeral_range() {
        let ports = candidates("32768\t60999\n", "\n");
        assert_eq!((ports.first(), ports.last()), (Some(&20_000), Some(&32_767)));
        let ports = candidates("15000 60999", "");
        assert_eq!((ports.first(), ports.last()), (Some(&10_000), Some(&14_999)));
    }

    #[test]
    fn wide_ephemeral_range_leaves_reserved_ports_or_those_above() {
        let ports = candidates("1024 60999", "8080,20000-20999\n");
        assert_eq!((ports.first(), ports.last(), ports.len()), (Some(&8080), Some(&20_999), 1001));
        let ports = candidates("1024 60999", "8080");
        assert_eq!((ports.first(), ports.last()), (Some(&61_000), Some(&65_535)));
        let ports = candidates("1024 65535", "");
        assert_eq!((ports.first(), ports.last()), (Some(&20_000), Some(&65_535)));
        assert_eq!(candidates("nonsense", "9-1,x-y,70000").first(), Some(&20_000));
    }

    #[test]
    fn ports_are_distinct_and_not_handed_out_twice() {
        let first = find_free(3).expect("three ports");
        let second = find_free(3).expect("three more ports");
        let mut all = [first, second].concat();
        all.sort_unstable();
        all.dedup();
        assert_eq!(all.len(), 6);
    }

    #[test]
    fn request_for_too_many_ports_is_an_error() {
        let error = find_free(100_000).expect_err("there are no so many ports");
        assert!(error.to_string().contains("100000 free ports are wanted"), "{error}");
    }

    #[test]
    fn listening_port_is_not_free() {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let port = listener.local_addr().expect("its address").port();
        assert!(!is_free(Ipv4Addr::LOCALHOST, port));
        assert!(!is_free(Ipv4Addr::UNSPECIFIED, port));
    }
}
