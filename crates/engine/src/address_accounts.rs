//! Accounts of steps by address, for peers that ask for them. They duplicate the accounts of the steps and are in no sum.

use wire::Channels;

use crate::job::Job;

/// Lists the steps of a job and the addresses with accounts of their own, in order. Their numbers in [`crate::Message::Interval`]
/// follow those of steps and parts. An account counts finished requests. Requests that never had a connection belong to no address.
/// Addresses are numbered as in [`crate::Peer::endpoints`]; if a value chooses one of several peers, numbering continues across
/// these peers.
pub fn address_accounts(job: &Job, channels: &dyn Channels) -> Vec<(u16, usize)> {
    let steps = 0..job.scenarios.steps().max(1) as u16;
    let of_step = |step: u16| {
        let peers = channels.peers_of(step);
        let count: usize = peers.map(|peer| job.peer(peer).addresses_with_accounts()).sum();
        (0..if count > 1 { count } else { 0 }).map(move |address| (step, address))
    };
    steps.flat_map(of_step).collect()
}

/// Location of the address accounts of a step.
#[derive(Clone, Copy)]
pub(crate) struct FirstAccount {
    /// Number of the account of the first address; 0 if the step has no such accounts.
    account: u16,
    /// Peer of the first address.
    peer: u16,
}

impl FirstAccount {
    /// Returns the number of the account of an address. `None` if it has none. If a value chooses one of several peers, each of them has
    /// one address.
    pub(crate) fn at(self, peer: u16, address: u16) -> Option<usize> {
        let further = usize::from(peer - self.peer) + usize::from(address);
        (self.account > 0).then_some(usize::from(self.account) + further)
    }
}

/// Returns the location of the address accounts, by step. Empty if no step has address accounts.
pub(crate) fn first_accounts(
    job: &Job,
    accounts: &[(u16, usize)],
    channels: &dyn Channels,
) -> Box<[FirstAccount]> {
    if accounts.is_empty() {
        return Box::default();
    }
    let steps = job.scenarios.steps().max(1);
    let none = |step| FirstAccount { account: 0, peer: channels.peers_of(step as u16).start };
    let mut first: Box<[FirstAccount]> = (0..steps).map(none).collect();
    for (number, (step, address)) in accounts.iter().enumerate() {
        if *address == 0 {
            first[usize::from(*step)].account = (steps + usize::from(job.parts) + number) as u16;
        }
    }
    first
}
