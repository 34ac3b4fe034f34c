//! Accounts of steps by address, for peers that ask for them. They come next to the accounts of the steps, and are in no sum.

use wire::Channels;

use crate::job::Job;

/// The steps of a job and the addresses of their peers that have accounts of their own, in order. Their numbers in
/// [`crate::Message::Interval`] follow those of the steps and the parts. An account counts the requests that have ended; those that
/// never had a connection belong to no address. Addresses are counted as in [`crate::Peer::endpoints`], and on through the peers of
/// which a value chooses one.
pub fn address_accounts(job: &Job, channels: &dyn Channels) -> Vec<(u16, usize)> {
    let steps = 0..job.scenarios.steps().max(1) as u16;
    let of_step = |step: u16| {
        let peers = channels.peers_of(step);
        let count: usize = peers.map(|peer| job.peer(peer).addresses_with_accounts()).sum();
        (0..if count > 1 { count } else { 0 }).map(move |address| (step, address))
    };
    steps.flat_map(of_step).collect()
}

/// Where the accounts of a step by address are.
#[derive(Clone, Copy)]
pub(crate) struct FirstAccount {
    /// The number of the account of its first address; 0 for a step without such accounts.
    account: u16,
    /// The peer of that address.
    peer: u16,
}

impl FirstAccount {
    /// The account of an address of a peer, if it has one. Peers of which a value chooses one have one address each.
    pub(crate) fn at(self, peer: u16, address: u16) -> Option<usize> {
        let further = usize::from(peer - self.peer) + usize::from(address);
        (self.account > 0).then_some(usize::from(self.account) + further)
    }
}

/// By step, where its accounts are. Empty if no step has any.
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
