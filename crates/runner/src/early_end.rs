//! Ends a load early if all of its requests fail: they are rejected, or get a broken reply.

use std::time::Duration;

use record::Tally;

/// Rule by which a load ends early.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct EarlyEnd {
    /// Shortest duration before an early end. A load with a number of requests may be over before.
    pub(crate) after: Duration,
    /// Replies that are unusable.
    pub(crate) unusable: UnusableReply,
}

/// Kinds of replies that no request can use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum UnusableReply {
    /// Rejections only: a system that breaks off replies is a result.
    Rejected,
    /// Rejections, and replies that break their protocol or end too early.
    RejectedOrBroken,
}

impl UnusableReply {
    /// Whether requests ended, and all of them with unusable replies.
    pub(crate) fn is_all<'a>(self, tallies: impl IntoIterator<Item = &'a Tally>) -> bool {
        let (mut ended, mut unusable) = (0, 0);
        for tally in tallies {
            ended += tally.counts.ended();
            unusable += tally.counts.rejected + self.broken(tally);
        }
        ended > 0 && unusable == ended
    }

    /// Number of failed requests with a broken reply. Errors on an idle connection belong to no request, so the number is capped at the
    /// number of failed requests.
    fn broken(self, tally: &Tally) -> u64 {
        if self == Self::Rejected {
            return 0;
        }
        let is_broken =
            |class: &record::ClassName| class.known().is_some_and(record::ErrorClass::is_broken_reply);
        let entries = tally.errors.entries().iter().filter(|entry| is_broken(&entry.class));
        entries.map(|entry| entry.count).sum::<u64>().min(tally.counts.failed)
    }
}

#[cfg(test)]
mod tests {
    use record::{Counts, ErrorClass};

    use super::*;

    fn tally(rejected: u64, failed: u64, errors: &[(ErrorClass, u64)]) -> Tally {
        let planned = rejected + failed;
        let counts = Counts { planned, sent: planned, rejected, failed, ..Counts::default() };
        let mut tally = Tally { counts, ..Tally::default() };
        for (class, count) in errors {
            (0..*count).for_each(|_| tally.errors.note(*class, 0, String::new));
        }
        tally
    }

    #[test]
    fn broken_replies_are_unusable_only_with_rejected_or_broken() {
        use ErrorClass::{ClosedBeforeReply, ExcessBytes, Incomplete, ProtocolError, Status};
        for (tallies, rejected, or_broken) in [
            (vec![tally(2, 0, &[(Status, 2)])], true, true),
            (vec![tally(1, 2, &[(Status, 1), (Incomplete, 2)])], false, true),
            (vec![tally(0, 2, &[(ProtocolError, 2)]), tally(1, 0, &[(Status, 1)])], false, true),
            (vec![tally(0, 2, &[(ProtocolError, 1), (ClosedBeforeReply, 1)])], false, false),
            // One of the two errors occurred on an idle connection.
            (vec![tally(0, 1, &[(ExcessBytes, 2)])], false, true),
            (vec![], false, false),
        ] {
            assert_eq!(UnusableReply::Rejected.is_all(&tallies), rejected, "{tallies:?}");
            assert_eq!(UnusableReply::RejectedOrBroken.is_all(&tallies), or_broken, "{tallies:?}");
        }
    }
}
