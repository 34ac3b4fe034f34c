//! Resolves a host name to the addresses of the whole run.

use std::net::{IpAddr, SocketAddr, TcpStream, ToSocketAddrs};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use crate::consent::PublicLoads;

const PUBLIC: &str = "a public address";
const RESOLVE_TIMEOUT: Duration = Duration::from_secs(5);
/// Timeout for each address of a name with several addresses.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(2);
/// Maximum number of addresses of one family that are tried.
const ADDRESSES_MAX: usize = 64;

/// Reason why there is no address for a load.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ResolveError {
    /// The name has no address.
    #[error("cannot resolve {host}: {reason}\n  help: check the spelling, or write an IP address")]
    Unknown {
        /// Host name.
        host: String,
        /// Message of the resolver.
        reason: String,
    },
    /// No answer from the resolver.
    #[error(
        "cannot resolve {host}: no answer within 5s\n  help: check the system's name servers, or write an IP address"
    )]
    Slow {
        /// Host name.
        host: String,
    },
    /// The address must not be loaded.
    #[error(
        "{address} is {class}, and Tenbin loads loopback and private addresses only\n  help: run it on the target's own network{}",
        consent_help(class)
    )]
    Forbidden {
        /// The address.
        address: IpAddr,
        /// Class of the address, as text.
        class: &'static str,
    },
}

fn consent_help(class: &str) -> &'static str {
    if class == PUBLIC { ", or add --allow-public if the server is yours" } else { "" }
}

/// Resolves a host to the addresses that a load may use. Also returns the duration of the resolution.
///
/// If a name has several addresses, returns the addresses of one family that accept a connection: IPv4 if any does, else IPv6. Both
/// families usually lead to the same hosts, and one of them is often unreachable. If no address accepts, returns the first one.
pub(crate) fn resolve(
    host: &str,
    port: u16,
    public: &PublicLoads,
) -> Result<(Vec<SocketAddr>, Duration), ResolveError> {
    if let Ok(address) = host.parse::<IpAddr>() {
        return Ok((permitted_addresses(&[address], port, public)?, Duration::ZERO));
    }
    let begun = Instant::now();
    let (sender, receiver) = mpsc::channel();
    let name = host.to_owned();
    // The resolver of the system has no deadline that can be set, so a late thread is abandoned.
    let look_up =
        move || sender.send((name.as_str(), port).to_socket_addrs().map(Iterator::collect::<Vec<_>>));
    let unknown = |reason: String| ResolveError::Unknown { host: host.to_owned(), reason };
    let spawned = thread::Builder::new().name("resolve".to_owned()).spawn(look_up);
    spawned.map_err(|error| unknown(format!("no thread can be started for it: {error}")))?;
    let found = match receiver.recv_timeout(RESOLVE_TIMEOUT) {
        Ok(Ok(found)) => found,
        Ok(Err(error)) => {
            let text = error.to_string();
            return Err(unknown(
                text.trim_start_matches("failed to lookup address information: ").to_owned(),
            ));
        }
        Err(_) => return Err(ResolveError::Slow { host: host.to_owned() }),
    };
    let took = begun.elapsed();
    let found: Vec<IpAddr> = found.iter().map(SocketAddr::ip).collect();
    let chosen = choose(&found, port, public)?;
    if chosen.is_empty() { Err(unknown("it has no address".to_owned())) } else { Ok((chosen, took)) }
}

/// Chooses addresses for a load; empty if `found` is empty.
fn choose(found: &[IpAddr], port: u16, public: &PublicLoads) -> Result<Vec<SocketAddr>, ResolveError> {
    let (mut first, mut second): (Vec<IpAddr>, Vec<IpAddr>) =
        found.iter().partition(|address| address.is_ipv4());
    if first.is_empty() {
        std::mem::swap(&mut first, &mut second);
    }
    let usual = permitted_addresses(&first[..first.len().min(1)], port, public)?;
    if found.len() < 2 {
        return Ok(usual);
    }
    for family in [first, second] {
        let accepting = accepting(permitted_addresses(&family, port, public)?);
        if !accepting.is_empty() {
            return Ok(accepting);
        }
    }
    Ok(usual)
}

/// Returns the addresses without duplicates, if the plan may load all of them.
pub(crate) fn permitted_addresses(
    addresses: &[IpAddr],
    port: u16,
    public: &PublicLoads,
) -> Result<Vec<SocketAddr>, ResolveError> {
    let mut kept: Vec<SocketAddr> = Vec::new();
    for address in addresses {
        let address = check_permitted(SocketAddr::new(*address, port), public)?;
        if !kept.contains(&address) {
            kept.push(address);
        }
    }
    Ok(kept)
}

/// Addresses that accept a connection, in order.
fn accepting(addresses: Vec<SocketAddr>) -> Vec<SocketAddr> {
    let accepts = |address: &SocketAddr| TcpStream::connect_timeout(address, CONNECT_TIMEOUT).is_ok();
    thread::scope(|scope| {
        let asked = addresses.into_iter().take(ADDRESSES_MAX);
        let asked: Vec<_> = asked.map(|address| (address, scope.spawn(move || accepts(&address)))).collect();
        let answers = asked.into_iter().map(|(address, answer)| (address, answer.join().unwrap_or(false)));
        answers.filter_map(|(address, accepts)| accepts.then_some(address)).collect()
    })
}

/// Address of a host, if it is a loopback or private one. No consent is needed.
///
/// # Errors
///
/// The name has no address, or one that may not be loaded without consent.
pub fn own_address(host: &str, port: u16) -> Result<SocketAddr, ResolveError> {
    let (addresses, _) = resolve(host, port, &PublicLoads::Refused)?;
    let unknown = || ResolveError::Unknown { host: host.to_owned(), reason: "it has no address".to_owned() };
    addresses.first().copied().ok_or_else(unknown)
}

/// Reason why a host must not be loaded. `None` if it is a name, which is checked when it is resolved.
pub(crate) fn forbidden(host: &str, public: &PublicLoads) -> Option<ResolveError> {
    let address = host.parse::<IpAddr>().ok()?;
    check_permitted(SocketAddr::new(address, 0), public).err()
}

/// Whether a load to an address needs the consent of the owner.
pub(crate) fn is_public(address: IpAddr) -> bool {
    class(address) == Some(PUBLIC)
}

fn check_permitted(address: SocketAddr, public: &PublicLoads) -> Result<SocketAddr, ResolveError> {
    match class(address.ip()) {
        None => Ok(address),
        // The owner's consent is checked before the load.
        Some(PUBLIC) if matches!(public, PublicLoads::WithConsent(_)) => Ok(address),
        Some(class) => Err(ResolveError::Forbidden { address: address.ip(), class }),
    }
}

/// Class of an address. `None` if anyone may load it.
fn class(address: IpAddr) -> Option<&'static str> {
    let address = address.to_canonical();
    forbidden_class(address).or_else(|| (treated_as_public() == Some(address)).then_some(PUBLIC))
}

/// Address that an environment variable marks as public, for a test of consent. It is only compared with addresses that may be loaded, so
/// it can forbid but never allow.
fn treated_as_public() -> Option<IpAddr> {
    std::env::var("TENBIN_TREAT_AS_PUBLIC").ok()?.parse().ok()
}

fn forbidden_class(address: IpAddr) -> Option<&'static str> {
    match address {
        IpAddr::V4(v4) if v4.is_loopback() || v4.is_private() => None,
        IpAddr::V6(v6) if v6.is_loopback() || v6.is_unique_local() => None,
        IpAddr::V4(v4) if v4.is_link_local() => {
            Some("a link-local address (often a cloud's metadata service)")
        }
        IpAddr::V6(v6) if v6.is_unicast_link_local() => Some("a link-local address"),
        address if address.is_unspecified() => Some("no address of a server"),
        address if address.is_multicast() => Some("a multicast address"),
        IpAddr::V4(v4) if v4.is_broadcast() => Some("a broadcast address"),
        _ => Some(PUBLIC),
    }
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::*;

    #[test]
    fn only_loopback_and_private_addresses_may_be_loaded() {
        for fine in [
            "127.0.0.1",
            "127.9.9.9",
            "10.1.2.3",
            "192.168.0.1",
            "172.16.0.1",
            "::1",
            "fd12::1",
            "::ffff:127.0.0.1",
        ] {
            assert!(resolve(fine, 80, &PublicLoads::Refused).is_ok(), "{fine}");
        }
        for wrong in [
            "8.8.8.8",
            "169.254.169.254",
            "0.0.0.0",
            "::",
            "224.0.0.1",
            "255.255.255.255",
            "2001:4860::8888",
            "fe80::1",
            "::ffff:8.8.8.8",
        ] {
            assert!(
                matches!(resolve(wrong, 80, &PublicLoads::Refused), Err(ResolveError::Forbidden { .. })),
                "{wrong}"
            );
        }
    }

    #[test]
    fn uses_addresses_that_accept_connections() {
        let listener = TcpListener::bind("127.0.0.2:0").expect("a port");
        let port = listener.local_addr().expect("an address").port();
        let chosen = |found: &[&str], public: &PublicLoads| {
            let found: Vec<IpAddr> = found.iter().map(|text| text.parse().expect("an address")).collect();
            choose(&found, port, public).map(|kept| kept.iter().map(|kept| kept.ip().to_string()).collect())
        };
        let no = PublicLoads::Refused;
        let names = |names: &[&str]| Ok(names.iter().map(ToString::to_string).collect::<Vec<_>>());
        assert_eq!(chosen(&["::1", "127.0.0.3", "127.0.0.2"], &no), names(&["127.0.0.2"]));
        assert_eq!(chosen(&["127.0.0.2", "127.0.0.2"], &no), names(&["127.0.0.2"]), "each once");
        assert_eq!(chosen(&["127.0.0.4", "127.0.0.3"], &no), names(&["127.0.0.4"]), "none accepts");
        assert_eq!(chosen(&["127.0.0.9"], &no), names(&["127.0.0.9"]));
        assert_eq!(chosen(&[], &no), names(&[]));
        for wrong in [["127.0.0.2", "8.8.8.8"], ["169.254.169.254", "127.0.0.2"]] {
            assert!(matches!(chosen(&wrong, &no), Err(ResolveError::Forbidden { .. })), "{wrong:?}");
        }
    }

    #[test]
    fn unknown_host_name_is_an_error() {
        let error = resolve("no-such-host.invalid", 80, &PublicLoads::Refused).unwrap_err();
        assert!(error.to_string().starts_with("cannot resolve no-such-host.invalid:"), "{error}");
    }
}
