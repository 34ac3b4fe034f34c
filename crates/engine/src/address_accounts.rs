//! Accounts of steps by address of their peer, for peers that ask for them. They come next to the accounts of the steps, and are in no
//! sum.

use wire::Channels;

use crate::job::Job;

/// The steps of a job and the addresses of their peers that have accounts of their own, in order. Their numbers in
/// [`crate::Message::Interval`] follow those of the steps and the parts. An account counts the requests that have ended; those that
/// never had a connection belong to no address. Addresses are counted as in [`crate::Peer::endpoints`].
pub fn address_accounts(job: &Job, channels: &dyn Channels) -> Vec<(u16, usize)> {
    let steps = 0..job.scenarios.steps().max(1) as u16;
    let of_step = |step: u16| {
        let addresses = job.peer(channels.place(step).peer).addresses_with_accounts();
        (0..addresses).map(move |address| (step, address))
    };
    steps.flat_map(of_step).collect()
}

/// By step, the number of the account of its first address; 0 for a step without such accounts. Empty if no step has any.
pub(crate) fn first_accounts(job: &Job, accounts: &[(u16, usize)]) -> Box<[u16]> {
    if accounts.is_empty() {
        return Box::default();
    }
    let steps = job.scenarios.steps().max(1);
    let mut first = vec![0; steps].into_boxed_slice();
    for (number, (step, address)) in accounts.iter().enumerate() {
        if *address == 0 {
            first[usize::from(*step)] = (steps + usize::from(job.parts) + number) as u16;
        }
    }
    first
}
