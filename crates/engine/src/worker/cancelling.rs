//! Cancellation of timed-out requests that may still run on the peer.

use std::time::Duration;

use record::ErrorClass;
use wire::Ticket;

use super::Worker;
use crate::link::State;

/// Max time that the end of a load waits for cancel requests.
const CANCEL_WAIT_MAX_NS: u64 = 2 * load::SECOND_NS;

impl Worker<'_> {
    /// Asks the peer to cancel the request of a user whose deadline has passed.
    pub(super) fn cancel(&mut self, user: u32, link: u32, now_ns: u64) {
        let link = &self.links[link as usize];
        let State::Up { .. } = &link.state else { return };
        let Some(cancel) = link.channel.cancel(Ticket(user)) else { return };
        let peer = self.job.peer(link.peer).at(usize::from(link.address));
        let sent = self.canceller.send(peer, cancel);
        self.note_not_canceled(sent.err(), now_ns);
        self.read_cancellations(0, now_ns);
    }

    /// Counts cancel requests that failed. Waits up to `wait_ns` for their results.
    fn read_cancellations(&mut self, wait_ns: u64, now_ns: u64) {
        let until_ns = self.clock.now() + wait_ns;
        loop {
            let left_ns = until_ns.saturating_sub(self.clock.now());
            let Some(report) = self.canceller.report(Duration::from_nanos(left_ns)) else { return };
            self.note_not_canceled(report.err(), now_ns);
        }
    }

    /// Waits for pending cancel requests at the end of a load: statements that still run would disturb the next load.
    pub(super) fn settle_cancellations(&mut self, now_ns: u64) {
        self.read_cancellations(CANCEL_WAIT_MAX_NS, now_ns);
        for _ in 0..self.canceller.pending_count() {
            self.note_not_canceled(Some("the peer has not answered yet".to_owned()), now_ns);
        }
    }

    /// Counts a failed cancel request as an error, in addition to the time-out of the request.
    fn note_not_canceled(&mut self, reason: Option<String>, now_ns: u64) {
        let Some(reason) = reason else { return };
        let errors = &mut self.accounts[0].recorder.tally(now_ns).errors;
        errors.note(ErrorClass::NotCanceled, u32::MAX, || {
            format!("a request that timed out may still run on the system, which was not reached to end it: {reason}")
        });
    }
}
