//! Retry of requests whose peer closed a kept connection before it received them.

use record::{ErrorClass, Outcome};

use super::Worker;
use crate::endings::Ending;
use crate::exchange::Attempt;
use crate::job::Job;

/// Returns whether requests are retried, by step. Empty if no step is retried.
pub(super) fn retried_steps(job: &Job, script: &dyn wire::Channels) -> Box<[bool]> {
    if !job.peers.iter().any(|peer| peer.retry_stale) {
        return Box::default();
    }
    let steps = 0..job.scenarios.steps().max(1) as u16;
    let is_retried = |step| job.peer(script.place(step).peer).retry_stale && script.is_idempotent(step);
    steps.map(is_retried).collect()
}

impl Worker<'_> {
    /// Sends the request of a link again on a new connection, if the step allows it and it was not retried before. Returns whether
    /// it does.
    #[cold]
    pub(super) fn retry_stale_request(&mut self, number: u32, ending: &Ending, at_ns: u64) -> bool {
        let link = &self.links[number as usize];
        let Some(user) = link.carried.first().filter(|_| !link.is_multiplexed()) else { return false };
        let Some(exchange) = &mut self.users[user as usize].exchange else { return false };
        let step = usize::from(exchange.step);
        if exchange.attempt != Attempt::First || self.retried_steps.get(step) != Some(&true) {
            return false;
        }
        exchange.attempt = Attempt::Second;
        (exchange.sent_bytes, exchange.first_byte_ns) = (0, 0);
        let errors = &mut self.accounts[step].recorder.tally(exchange.intended_ns).errors;
        errors.note(ErrorClass::StaleRetried, u32::MAX, || {
            format!("{}; the request was sent once more", ending.message)
        });
        self.end_part(user, Outcome::Failed, Some(ending.clone()), at_ns);
        self.reopen(user, number, at_ns);
        true
    }
}
