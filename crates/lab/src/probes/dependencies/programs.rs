//! Names of the programs on this machine that listen where a system is connected to.

use std::collections::{BTreeSet, HashMap};
use std::net::SocketAddr;
use std::time::Duration;

use super::address;
use crate::in_words::escaped;
use crate::listening::{self, ListenAddress};
use crate::probes::holders::name;
use crate::probes::own_time::own_time;
use crate::probes::sheet::Sheet;
use crate::probes::threads::Members;
use crate::processes::self_and_ancestors;

/// Max CPU time for all searches together, because each searches the open files of all processes.
const SEARCHES_MAX: Duration = Duration::from_millis(60);

/// A program that listens at an address, outside of the system.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CalledServer {
    /// Index of the group that calls it.
    pub(crate) caller: usize,
    /// Address as in labels.
    pub(crate) address: String,
    /// Processes that have the listening socket open.
    pub(crate) pids: Vec<u32>,
}

/// Addresses that were searched for, with the labels of the programs that were found.
#[derive(Debug, Default)]
pub(super) struct Programs {
    labels: HashMap<SocketAddr, String>,
    spent: Duration,
    /// Servers that were found since they were last taken.
    found: Vec<CalledServer>,
}

impl Programs {
    /// Writes the program that listens at each address. The label is the address and the name, separated by a blank. A process of the
    /// system has its name in the plan.
    pub(super) fn write(
        &mut self,
        called: &BTreeSet<(usize, SocketAddr)>,
        members: &[Members],
        sheet: &mut Sheet,
    ) {
        for (group, remote) in called {
            let Some(caller) = members.get(*group) else { continue };
            if !self.labels.contains_key(remote) && self.spent < SEARCHES_MAX {
                let begun = own_time();
                let label = self.search(*group, *remote, members);
                self.spent += own_time().saturating_sub(begun);
                self.labels.insert(*remote, label);
            }
            if let Some(label) = self.labels.get(remote).filter(|label| !label.is_empty()) {
                sheet.add(&caller.name, "dependency_program", label, 1.0);
            }
        }
    }

    /// Servers that were found since the last call.
    pub(super) fn take_found(&mut self) -> Vec<CalledServer> {
        std::mem::take(&mut self.found)
    }

    /// Label of the program at an address; empty if none is found.
    fn search(&mut self, caller: usize, remote: SocketAddr, members: &[Members]) -> String {
        let at = ListenAddress::Port(remote.ip().to_canonical(), remote.port());
        let found = listening::listeners(&at).unwrap_or_default();
        let Some(first) = found.first() else { return String::new() };
        let own = members.iter().find(|of| of.pids.contains(first));
        let program = own.map_or_else(|| name(*first), |of| escaped(&of.name));
        let address = address(remote);
        if own.is_none() {
            let held_for_others = self_and_ancestors();
            let pids = found.into_iter().filter(|pid| *pid != 1 && !held_for_others.contains(pid)).collect();
            self.found.push(CalledServer { caller, address: address.clone(), pids });
        }
        if program.is_empty() { String::new() } else { format!("{address} {program}") }
    }
}
