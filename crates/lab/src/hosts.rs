//! Separate host for a system: a network namespace with a veth link to it, created for one run with `ip` of iproute2.
//!
//! The namespace is removed when the system has stopped. If Tenbin is killed, its keepers remove it. If they are killed too, the
//! next Tenbin removes it. The name identifies the owner.

use std::fs;
use std::net::{IpAddr, Ipv4Addr};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};

use crate::access::Need;
use crate::listening::is_here;
use crate::marker::{Marker, Owner};
use crate::{Failure, Stage};

const PREFIX: &str = "tnb-";
/// Directory in which `ip` keeps the names of namespaces.
const NAMES: &str = "/run/netns";
/// Private address ranges to search: first address, and number of /30 networks.
const PRIVATE: [(Ipv4Addr, u32); 3] = [
    (Ipv4Addr::new(10, 213, 0, 0), 1 << 14),
    (Ipv4Addr::new(172, 29, 0, 0), 1 << 14),
    (Ipv4Addr::new(192, 168, 213, 0), 64),
];

/// IPv4 addresses of the two ends of a link between this machine and a host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Network {
    /// Address of this machine.
    pub here: Ipv4Addr,
    /// Address of the host, on which its system listens.
    pub there: Ipv4Addr,
}

/// Finds a /30 network that no route of this machine covers.
///
/// # Errors
/// All networks in the searched ranges are in use.
pub fn free_network() -> Result<Network, Failure> {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let routes = routes(&fs::read_to_string("/proc/net/route").unwrap_or_default());
    // The offset makes two Tenbin processes that search at the same time find different networks.
    let first = std::process::id().wrapping_mul(61).wrapping_add(NEXT.fetch_add(1, Ordering::Relaxed));
    let found = PRIVATE.iter().find_map(|(base, count)| {
        let place = |step: u32| u32::from(*base) + 4 * (first.wrapping_add(step) % count);
        (0..*count).map(place).find(|network| routes.iter().all(|route| !route.meets(*network)))
    });
    let network = found.ok_or_else(|| {
        failure(
            "all private networks that a host could have are in use".to_owned(),
            "remove a route or an interface",
        )
    })?;
    Ok(Network { here: Ipv4Addr::from(network + 1), there: Ipv4Addr::from(network + 2) })
}

/// Whether an address belongs to a host that Tenbin created on this machine: the peer address of its link is local.
pub fn is_host_of_this_machine(address: IpAddr) -> bool {
    let IpAddr::V4(there) = address.to_canonical() else { return false };
    let there = u32::from(there);
    let is_in =
        |(base, count): &(Ipv4Addr, u32)| (u32::from(*base)..u32::from(*base) + 4 * count).contains(&there);
    PRIVATE.iter().any(is_in) && there % 4 == 2 && is_here(Ipv4Addr::from(there - 1).into())
}

/// Checks that hosts can be created here, by creating and removing one. Starts no process of a system.
///
/// # Errors
///
/// Names the missing part, and the remedy.
pub fn check() -> Result<(), Failure> {
    let namespace = Namespace::make(free_network()?, Marker::new())?;
    namespace.remove().map_err(|what| failure(what, &way_out()))
}

fn way_out() -> String {
    format!("{}, or remove `host` from the system", Need::Host.remedy())
}

fn failure(what: String, way_out: &str) -> Failure {
    Failure { stage: Stage::Host, process: None, what, way_out: way_out.to_owned(), outputs: Vec::new() }
}

/// Route of the kernel's routing table.
struct Route {
    network: u32,
    mask: u32,
}

impl Route {
    /// Whether the route covers one of the four addresses of a /30 network.
    fn meets(&self, network: u32) -> bool {
        let mask = self.mask & !3;
        network & mask == self.network & mask
    }
}

/// Routes from `/proc/net/route` except the default route. The file has addresses in hexadecimal, in memory byte order.
fn routes(table: &str) -> Vec<Route> {
    let number = |text: &str| u32::from_str_radix(text, 16).map(u32::swap_bytes).ok();
    let route = |line: &str| {
        let fields: Vec<&str> = line.split_whitespace().collect();
        Some(Route { network: number(fields.get(1)?)?, mask: number(fields.get(7)?)? })
    };
    table.lines().skip(1).filter_map(route).filter(|route| route.mask != 0).collect()
}

/// Network namespace of a host.
#[derive(Clone, Debug)]
pub(crate) struct Namespace {
    name: String,
}

impl Namespace {
    /// Creates the namespace and its link, and brings both ends up.
    pub(crate) fn make(network: Network, marker: Marker) -> Result<Self, Failure> {
        let namespace = Self { name: format!("{PREFIX}{marker}") };
        let (name, link) = (namespace.name.as_str(), link_name());
        let [here, there] = [network.here, network.there].map(|address| format!("{address}/30"));
        let steps: [&[&str]; 7] = [
            &["netns", "add", name],
            &["link", "add", &link, "type", "veth", "peer", "name", "eth0", "netns", name],
            &["addr", "add", &here, "dev", &link],
            &["link", "set", &link, "up"],
            &["-n", name, "addr", "add", &there, "dev", "eth0"],
            &["-n", name, "link", "set", "eth0", "up"],
            &["-n", name, "link", "set", "lo", "up"],
        ];
        for step in steps {
            if let Err(what) = ip(step) {
                // The error of the step is more useful than one of the removal.
                let _ = namespace.remove();
                return Err(failure(format!("no host can be made: {what}"), &way_out()));
            }
        }
        Ok(namespace)
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// Removes the namespace and its link. The kernel keeps it until the last process in it ends.
    pub(crate) fn remove(&self) -> Result<(), String> {
        remove(&self.name)
    }
}

/// Removes a namespace by name. A missing namespace is not an error.
pub(crate) fn remove(name: &str) -> Result<(), String> {
    match ip(&["netns", "del", name]) {
        Err(what) if fs::exists(format!("{NAMES}/{name}")).unwrap_or(true) => Err(what),
        _ => Ok(()),
    }
}

/// Prefixes a command so that it runs in a namespace.
pub(crate) fn within(name: &str, argv: &[String]) -> Vec<String> {
    let prefix = ["ip", "netns", "exec", name].map(str::to_owned);
    prefix.into_iter().chain(argv.iter().cloned()).collect()
}

/// Removes the namespaces of dead Tenbin processes. Returns their number.
pub(crate) fn remove_orphaned() -> usize {
    let entries = fs::read_dir(NAMES).into_iter().flatten().flatten();
    let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
    let owner = |name: &str| Marker::parse(name.strip_prefix(PREFIX)?).map(Marker::owner);
    names.filter(|name| owner(name) == Some(Owner::Dead) && remove(name).is_ok()).count()
}

/// Name for the local end of a link, unique within this process, at most 15 bytes long.
fn link_name() -> String {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let number = NEXT.fetch_add(1, Ordering::Relaxed) % 0x1000;
    format!("{PREFIX}{:x}-{number:x}", std::process::id())
}

fn ip(arguments: &[&str]) -> Result<(), String> {
    let command = || format!("ip {}", arguments.join(" "));
    let output = Command::new("ip").args(arguments).stdin(Stdio::null()).output();
    let output = output.map_err(|error| format!("`{}` cannot be run: {error}", command()))?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    Err(format!("`{}`: {}", command(), said.lines().next().unwrap_or("it failed").trim()))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: &str = "Iface\tDestination\tGateway\tFlags\tRefCnt\tUse\tMetric\tMask\tMTU\tWindow\tIRTT\n\
                         eth0\t00000000\t0102A8C0\t0003\t0\t0\t0\t00000000\t0\t0\t0\n\
                         eth0\t0002A8C0\t00000000\t0001\t0\t0\t0\t00FFFFFF\t0\t0\t0\n\
                         tnb\t0801D50A\t00000000\t0001\t0\t0\t0\tFCFFFFFF\t0\t0\t0\n";

    #[test]
    fn network_is_free_if_only_the_default_route_covers_it() {
        let routes = routes(TABLE);
        assert_eq!(routes.len(), 2);
        let meets =
            |address: [u8; 4]| routes.iter().any(|route| route.meets(u32::from(Ipv4Addr::from(address))));
        assert!(meets([192, 168, 2, 4]) && meets([10, 213, 1, 8]));
        assert!(!meets([10, 213, 1, 4]) && !meets([10, 213, 1, 12]) && !meets([192, 168, 3, 0]));
        let network = free_network().expect("a network");
        assert_eq!(u32::from(network.there), u32::from(network.here) + 1);
        assert!(network.here.is_private());
        assert_ne!(free_network().expect("another"), network);
    }

    #[test]
    fn link_names_fit_into_15_bytes() {
        assert!(link_name().len() <= 15);
        assert!(format!("{PREFIX}{:x}-{:x}", 4_194_304, 0xfff).len() <= 15);
    }
}
