//! The accounting identity: nothing planned is lost, nothing sent is unaccounted for.

use core::fmt;

use outcome::Outcome;

/// How many requests were planned, sent, not sent, and how those sent ended.
///
/// `planned = sent + not_sent` and `sent = ok + rejected + failed + timed_out + unfinished`; while a run goes on, `sent`
/// is ahead by the requests in flight, and `planned` by those whose instant has come and that wait for a connection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Requests that the load shape called for.
    pub planned: u64,
    /// Requests that were started.
    pub sent: u64,
    /// Planned requests that were never started.
    pub not_sent: u64,
    /// Answered, and every check held.
    pub ok: u64,
    /// The system answered no.
    pub rejected: u64,
    /// No usable answer.
    pub failed: u64,
    /// No answer within the deadline.
    pub timed_out: u64,
    /// In flight when the run ended.
    pub unfinished: u64,
}

/// The identity does not hold: a fault of this program, and no figure of the run can be believed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IdentityBroken(pub Counts);

impl Counts {
    /// Counts one end of a request.
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

    /// How many requests ended this way.
    pub fn of(&self, outcome: Outcome) -> u64 {
        match outcome {
            Outcome::Ok => self.ok,
            Outcome::Rejected => self.rejected,
            Outcome::Failed => self.failed,
            Outcome::TimedOut => self.timed_out,
            Outcome::Unfinished => self.unfinished,
        }
    }

    /// Requests that have ended, in whatever way.
    pub fn ended(&self) -> u64 {
        Outcome::ALL.iter().map(|outcome| self.of(*outcome)).sum()
    }

    /// Adds another part of the same run.
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

    /// Requests still in flight, if the counts up to now are consistent.
    pub fn in_flight(&self) -> Result<u64, IdentityBroken> {
        self.waiting()?;
        self.sent.checked_sub(self.ended()).ok_or(IdentityBroken(*self))
    }

    /// Requests whose instant has come and that were neither started nor given up, if the counts are consistent.
    pub fn waiting(&self) -> Result<u64, IdentityBroken> {
        let decided = self.sent.checked_add(self.not_sent);
        decided.and_then(|decided| self.planned.checked_sub(decided)).ok_or(IdentityBroken(*self))
    }

    /// Checks the whole identity, as it must hold once nothing is in flight.
    pub fn settled(&self) -> Result<(), IdentityBroken> {
        match self.in_flight()? + self.waiting()? {
            0 => Ok(()),
            _ => Err(IdentityBroken(*self)),
        }
    }

    /// The same counts with everything in flight called unfinished, and everything waiting not sent: what a run that was cut
    /// short amounts to.
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
    fn a_lost_request_breaks_the_identity_and_one_in_flight_does_not() {
        let mut counts = Counts { planned: 3, sent: 2, not_sent: 1, ..Counts::default() };
        assert_eq!(counts.in_flight(), Ok(2));
        assert!(counts.settled().is_err());
        counts.note(Outcome::Ok);
        counts.note(Outcome::TimedOut);
        assert_eq!(counts.settled(), Ok(()));
        counts.note(Outcome::Ok);
        assert!(counts.in_flight().is_err(), "more ends than starts");
        let forgotten = Counts { planned: 4, sent: 3, ok: 3, ..Counts::default() };
        assert!(forgotten.settled().is_err(), "planned and forgotten");
        assert_eq!(forgotten.cut_short().unwrap().not_sent, 1);
        let unplanned = Counts { planned: 2, sent: 3, ..Counts::default() };
        assert!(unplanned.in_flight().is_err(), "sent and never planned");
    }

    #[test]
    fn a_run_cut_short_calls_what_is_in_flight_unfinished() {
        let counts = Counts { planned: 5, sent: 5, ok: 3, ..Counts::default() };
        assert_eq!(counts.cut_short().unwrap().unfinished, 2);
        assert_eq!(counts.cut_short().unwrap().settled(), Ok(()));
    }
}
