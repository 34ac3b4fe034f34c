//! Request counts and their accounting identity: every planned request is sent or not sent, and every sent request ends in one
//! outcome.

use core::fmt;

use outcome::Outcome;

/// Numbers of requests that were planned, sent, and not sent, and of sent requests by outcome.
///
/// `planned = sent + not_sent` and `sent = ok + rejected + failed + timed_out + unfinished`. During a run, `sent` is ahead by the
/// requests in flight, and `planned` by the requests that are due and wait for a connection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Requests that the load scheduled.
    pub planned: u64,
    /// Requests that were started.
    pub sent: u64,
    /// Planned requests that were never started.
    pub not_sent: u64,
    /// Requests with a reply that passed all checks.
    pub ok: u64,
    /// Requests that the system rejected.
    pub rejected: u64,
    /// Requests without a usable reply.
    pub failed: u64,
    /// Requests without a reply within the timeout.
    pub timed_out: u64,
    /// Requests in flight when the run ended.
    pub unfinished: u64,
}

/// The accounting identity is violated. This is a bug in Tenbin, and makes all figures of the run invalid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IdentityBroken(pub Counts);

impl Counts {
    /// Counts the end of a request.
    #[inline]
    pub fn note(&mut self, outcome: Outcome) {
        let counter = match outcome {
            Outcome::Ok => &mut self.ok,
            Outcome::Rejected => &mut self.rejected,
            Outcome::Failed => &mut self.failed,
            Outcome::TimedOut => &mut self.timed_out,
            Outcome::Unfinished => &mut self.unfinished,
        };
        *counter += 1;
    }

    /// Returns the number of requests with this outcome.
    pub fn of(&self, outcome: Outcome) -> u64 {
        match outcome {
            Outcome::Ok => self.ok,
            Outcome::Rejected => self.rejected,
            Outcome::Failed => self.failed,
            Outcome::TimedOut => self.timed_out,
            Outcome::Unfinished => self.unfinished,
        }
    }

    /// Returns the number of requests that ended, with any outcome.
    pub fn ended(&self) -> u64 {
        Outcome::ALL.iter().map(|outcome| self.of(*outcome)).sum()
    }

    /// Adds the counts of another part of the run.
    pub fn add(&mut self, other: &Self) {
        self.planned += other.planned;
        self.sent += other.sent;
        self.not_sent += other.not_sent;
        self.ok += other.ok;
        self.rejected += other.rejected;
        self.failed += other.failed;
        self.timed_out += other.timed_out;
        self.unfinished += other.unfinished;
    }

    /// Returns the number of requests in flight. Fails if the counts are inconsistent.
    pub fn in_flight(&self) -> Result<u64, IdentityBroken> {
        self.waiting()?;
        self.sent.checked_sub(self.ended()).ok_or(IdentityBroken(*self))
    }

    /// Returns the number of requests that are due, but neither started nor given up. Fails if the counts are inconsistent.
    pub fn waiting(&self) -> Result<u64, IdentityBroken> {
        let decided = self.sent.checked_add(self.not_sent);
        decided.and_then(|decided| self.planned.checked_sub(decided)).ok_or(IdentityBroken(*self))
    }

    /// Checks the whole identity, which must hold once no request is in flight.
    pub fn check_settled(&self) -> Result<(), IdentityBroken> {
        match self.in_flight()? + self.waiting()? {
            0 => Ok(()),
            _ => Err(IdentityBroken(*self)),
        }
    }

    /// Returns the final counts of an interrupted run. Requests in flight count as unfinished, and waiting requests as not sent.
    pub fn cut_short(mut self) -> Result<Self, IdentityBroken> {
        self.unfinished += self.in_flight()?;
        self.not_sent += self.waiting()?;
        Ok(self)
    }
}

impl fmt::Display for IdentityBroken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Counts { planned, sent, not_sent, ok, rejected, failed, timed_out, unfinished } = self.0;
        write!(
            f,
            "the accounting does not add up: planned {planned} = sent {sent} + not sent {not_sent}; \
             sent {sent} = ok {ok} + rejected {rejected} + failed {failed} + timed out {timed_out} + unfinished {unfinished}"
        )
    }
}

impl core::error::Error for IdentityBroken {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lost_request_breaks_the_identity_but_not_one_in_flight() {
        let mut counts = Counts { planned: 3, sent: 2, not_sent: 1, ..Counts::default() };
        assert_eq!(counts.in_flight(), Ok(2));
        assert!(counts.check_settled().is_err());
        counts.note(Outcome::Ok);
        counts.note(Outcome::TimedOut);
        assert_eq!(counts.check_settled(), Ok(()));
        counts.note(Outcome::Ok);
        assert!(counts.in_flight().is_err(), "more ends than starts");
        let forgotten = Counts { planned: 4, sent: 3, ok: 3, ..Counts::default() };
        assert!(forgotten.check_settled().is_err(), "planned and forgotten");
        assert_eq!(forgotten.cut_short().unwrap().not_sent, 1);
        let unplanned = Counts { planned: 2, sent: 3, ..Counts::default() };
        assert!(unplanned.in_flight().is_err(), "sent and never planned");
    }

    #[test]
    fn interrupted_run_counts_requests_in_flight_as_unfinished() {
        let counts = Counts { planned: 5, sent: 5, ok: 3, ..Counts::default() };
        assert_eq!(counts.cut_short().unwrap().unfinished, 2);
        assert_eq!(counts.cut_short().unwrap().check_settled(), Ok(()));
    }
}
