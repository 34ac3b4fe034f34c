//! Number of generator threads: from the plan, or by a rule that leaves cores to a system on this machine.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use engine::{Endpoint, allowed_cores};
use evidence::ThreadRule;
use plan::Plan;

use crate::prepare;

/// Number of generator threads of a load, and the rule that chose it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct GeneratorThreads {
    /// Number of threads, at least 1.
    pub(crate) count: u32,
    pub(crate) rule: ThreadRule,
}

impl GeneratorThreads {
    /// Chooses the number of threads. `pinned` lists the cores of the generator. If it is empty, any core that this process may use is
    /// available.
    ///
    /// A system on this machine needs cores, too: threads beyond half of the cores cost it more than they add.
    pub(crate) fn choose(plan: &Plan, pinned: &[usize], is_system_here: bool) -> Self {
        // For a database in this process, each connection has a separate thread.
        if plan.endpoints.iter().any(plan::Endpoint::is_in_process) {
            return Self { count: prepare::connections(plan), rule: ThreadRule::PerConnection };
        }
        if let Some(count) = plan.threads {
            return Self { count, rule: ThreadRule::Requested };
        }
        let usable = if pinned.is_empty() { allowed_cores().len() } else { pinned.len() };
        Self::by_cores(usable as u32, !pinned.is_empty(), is_system_here).limited_to(plan.connections())
    }

    fn by_cores(cores: u32, is_pinned: bool, is_system_here: bool) -> Self {
        match (is_pinned, is_system_here) {
            (true, _) => Self { count: cores.max(1), rule: ThreadRule::PinnedCores { cores } },
            (false, false) => Self { count: cores.max(1), rule: ThreadRule::AllCores { cores } },
            (false, true) => Self { count: (cores / 2).max(1), rule: ThreadRule::HalfOfCores { cores } },
        }
    }

    fn limited_to(self, connections: u32) -> Self {
        match self.count > connections {
            true => Self { count: connections.max(1), rule: ThreadRule::FewConnections },
            false => self,
        }
    }
}

/// Whether a load goes to a system on this machine, which competes for its cores, judged by addresses.
pub(crate) fn is_system_here(endpoints: &[Endpoint]) -> bool {
    endpoints.iter().any(|endpoint| match endpoint {
        Endpoint::Tcp(address) => {
            lab::listening::is_here(address.ip()) || lab::hosts::is_host_of_this_machine(address.ip())
        }
        Endpoint::Unix(_) => true,
    })
}

/// Whether a system with unresolved names is on this machine, judged by addresses and by names that always are local.
pub(crate) fn is_named_here(plan: &Plan) -> bool {
    let is_here = |host: &str| match host.parse::<IpAddr>() {
        Ok(address) => {
            [IpAddr::from(Ipv4Addr::UNSPECIFIED), Ipv6Addr::UNSPECIFIED.into()].contains(&address)
                || address.is_loopback()
        }
        Err(_) => host == "localhost",
    };
    let mut peers = plan.endpoints.iter().flat_map(plan::Endpoint::peers);
    peers.any(|peer| peer.unix_socket.is_some() || is_here(&peer.host))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn system_on_this_machine_keeps_half_of_the_cores() {
        let counts = |is_pinned, is_here| {
            [1, 2, 3, 4, 8, 64].map(|cores| GeneratorThreads::by_cores(cores, is_pinned, is_here).count)
        };
        assert_eq!(counts(false, true), [1, 1, 1, 2, 4, 32]);
        assert_eq!(counts(false, false), [1, 2, 3, 4, 8, 64]);
        assert_eq!(counts(true, true), [1, 2, 3, 4, 8, 64], "cores of its own");
    }

    #[test]
    fn threads_are_limited_to_connections() {
        let threads = GeneratorThreads::by_cores(8, false, false);
        assert_eq!(threads.limited_to(50), threads);
        let expected = GeneratorThreads { count: 3, rule: ThreadRule::FewConnections };
        assert_eq!(threads.limited_to(3), expected);
    }

    #[test]
    fn loopback_and_unix_sockets_are_on_this_machine() {
        let tcp = |address: &str| Endpoint::Tcp(address.parse().expect("an address"));
        assert!(is_system_here(&[tcp("127.0.0.1:80")]) && is_system_here(&[tcp("[::1]:80")]));
        assert!(is_system_here(&[Endpoint::Unix("/run/app.sock".into())]));
        assert!(!is_system_here(&[tcp("192.0.2.1:80")]) && !is_system_here(&[]));
    }
}
