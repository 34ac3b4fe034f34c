//! Time series of a load in 100 ms windows, from which the cost of an event is computed. It is kept for runs with events.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use outcome::{ErrorClass, Outcome};

use crate::pulse::Presence;
use crate::responses::Responses;

/// Reason why a sent request got no ok reply. Requests that were not sent are counted by [`Moment::not_sent`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Loss {
    /// The system rejected the request.
    Rejected,
    /// There was no reply within the timeout.
    TimedOut,
    /// No connection was established.
    Connect,
    /// The connection was reset or closed during the exchange.
    Reset,
    /// The peer closed an idle connection just as it was reused, which no client can avoid.
    StaleReuse,
    /// The request failed in another way.
    Other,
}

impl Loss {
    /// All variants. Their positions are part of the stored form.
    pub const ALL: [Self; 6] =
        [Self::Rejected, Self::TimedOut, Self::Connect, Self::Reset, Self::StaleReuse, Self::Other];

    /// Returns the name in JSON and in reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Rejected => Outcome::Rejected.name(),
            Self::TimedOut => Outcome::TimedOut.name(),
            Self::Connect => "connect",
            Self::Reset => "reset",
            Self::StaleReuse => ErrorClass::StaleReuse.name(),
            Self::Other => "other",
        }
    }

    /// Returns the kind of loss of an error class.
    pub const fn of(class: ErrorClass) -> Self {
        use ErrorClass as Class;
        match class {
            Class::StaleReuse => Self::StaleReuse,
            Class::ConnectRefused
            | Class::ConnectReset
            | Class::ConnectTimeout
            | Class::ConnectUnreachable
            | Class::ConnectBacklogFull
            | Class::ConnectNoSocket
            | Class::ConnectFailed
            | Class::LoginClosed
            | Class::LoginReset
            | Class::TlsClosed
            | Class::TlsReset => Self::Connect,
            Class::ResetBeforeReply
            | Class::ResetInHead
            | Class::ResetInBody
            | Class::ClosedBeforeReply
            | Class::ClosedInPause
            | Class::CommitUnknown
            | Class::Incomplete => Self::Reset,
            _ => match class.outcome() {
                Some(Outcome::Rejected) => Self::Rejected,
                Some(Outcome::TimedOut) => Self::TimedOut,
                _ => Self::Other,
            },
        }
    }
}

/// Data of one or several workers in a 100 ms window. Parts of a window add up, no matter when they are reported: a late request
/// counts in the window it was scheduled for. All times are nanoseconds since the load began, including the warm-up.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Moment {
    /// Number of the window since the load began, from 0.
    pub number: u64,
    /// Requests scheduled for the window.
    pub planned: u64,
    /// Requests scheduled for the window that were started, then or later.
    pub sent: u64,
    /// Ok replies read in the window.
    pub ok: u64,
    /// Sum of the response times of ok replies, in nanoseconds.
    pub ok_response_sum_ns: u64,
    /// Longest response time of an ok reply, in nanoseconds.
    pub ok_response_max_ns: u64,
    /// Response times of ok replies, by class.
    pub responses: Responses,
    /// Bit mask of the 128 equal parts of the window in which an ok reply was read; the lowest bit is the first part.
    pub answered: u128,
    /// Requests that ended in the window without an ok reply, by kind and by the number of windows since their scheduled one.
    pub losses: BTreeMap<(Loss, u64), u64>,
    /// Longest delay with which a worker began a turn, relative to the requested time.
    pub late_ns: u64,
    /// First and last ok reply, and the times since when requests were open.
    pub presence: Presence,
}

impl Moment {
    /// Length of a window.
    pub const WINDOW_NS: u64 = 100_000_000;
    /// Number of equal parts of a window in which ok replies are distinguished.
    pub const PARTS: u64 = 128;

    /// Creates an empty window with this number.
    pub fn numbered(number: u64) -> Self {
        Self { number, ..Self::default() }
    }

    /// Returns the start of the window.
    pub fn at_ns(&self) -> u64 {
        self.number.saturating_mul(Self::WINDOW_NS)
    }

    /// Returns the number of requests scheduled for the window that are not sent yet. After a run, the number that were never sent.
    pub fn not_sent(&self) -> u64 {
        self.planned.saturating_sub(self.sent)
    }

    /// Counts an ok reply that was read in the window.
    #[inline]
    pub fn note_ok(&mut self, response_ns: u64, at_ns: u64) {
        self.ok += 1;
        self.ok_response_sum_ns = self.ok_response_sum_ns.saturating_add(response_ns);
        self.ok_response_max_ns = self.ok_response_max_ns.max(response_ns);
        self.responses.record(response_ns);
        self.answered |= 1 << (at_ns % Self::WINDOW_NS * Self::PARTS / Self::WINDOW_NS);
    }

    /// Counts a request that ended in the window without an ok reply.
    pub fn note_lost(&mut self, loss: Loss, intended_ns: u64) {
        let before = self.number.saturating_sub(intended_ns / Self::WINDOW_NS);
        *self.losses.entry((loss, before)).or_default() += 1;
    }

    /// Pauses between ok replies within the window, in nanoseconds since the load began: from the end of a part with a reply to the
    /// start of the next such part.
    pub(crate) fn pauses(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        let edge_ns = |part: u64| self.at_ns() + part * Self::WINDOW_NS / Self::PARTS;
        let parts = (0..Self::PARTS).filter(|part| self.answered >> part & 1 == 1);
        let next = parts.clone().skip(1);
        parts
            .zip(next)
            .filter(|(one, next)| next - one > 1)
            .map(move |(one, next)| (edge_ns(one + 1), edge_ns(next)))
    }

    /// Adds another part of the window.
    pub fn merge(&mut self, more: &Self) {
        self.planned = self.planned.saturating_add(more.planned);
        self.sent = self.sent.saturating_add(more.sent);
        self.ok = self.ok.saturating_add(more.ok);
        self.ok_response_sum_ns = self.ok_response_sum_ns.saturating_add(more.ok_response_sum_ns);
        self.ok_response_max_ns = self.ok_response_max_ns.max(more.ok_response_max_ns);
        self.responses.merge(&more.responses);
        self.answered |= more.answered;
        for (key, count) in &more.losses {
            let sum = self.losses.entry(*key).or_default();
            *sum = sum.saturating_add(*count);
        }
        self.late_ns = self.late_ns.max(more.late_ns);
        self.presence.add(&more.presence);
    }

    /// Returns the number of requests that ended in the window without an ok reply.
    pub fn lost(&self) -> u64 {
        self.losses.values().fold(0, |sum, count| sum.saturating_add(*count))
    }
}

/// Windows of a load in order, over all workers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Moments(BTreeMap<u64, Moment>);

impl Moments {
    /// Adds a part of a window.
    pub fn note(&mut self, part: &Moment) {
        self.window(part.number).merge(part);
    }

    /// Returns the window with this number, and creates it if necessary.
    #[inline]
    pub fn window(&mut self, number: u64) -> &mut Moment {
        self.0.entry(number).or_insert_with(|| Moment::numbered(number))
    }

    /// Returns the number of windows.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Returns whether there are no windows.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns all recorded windows, in order. Windows without data may be missing.
    pub fn into_windows(self) -> Vec<Moment> {
        self.0.into_values().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    #[test]
    fn parts_of_a_window_add_up_in_any_order() {
        let mut one = Moment { planned: 3, sent: 1, ..Moment::numbered(7) };
        one.note_ok(5 * MS, 710 * MS);
        one.note_lost(Loss::Reset, 690 * MS);
        let mut other = Moment { sent: 2, late_ns: 9, ..Moment::numbered(7) };
        other.note_ok(8 * MS, 799 * MS);
        other.note_lost(Loss::Reset, 699 * MS);
        other.note_lost(Loss::TimedOut, 100 * MS);
        let (mut there, mut back) = (Moments::default(), Moments::default());
        [&one, &other].into_iter().for_each(|part| there.note(part));
        [&other, &one].into_iter().for_each(|part| back.note(part));
        assert_eq!(there, back);
        let both = there.into_windows().remove(0);
        assert_eq!((both.at_ns(), both.planned, both.sent, both.ok, both.lost()), (700 * MS, 3, 3, 2, 3));
        assert_eq!((both.ok_response_sum_ns, both.ok_response_max_ns, both.late_ns), (13 * MS, 8 * MS, 9));
        assert_eq!(
            both.losses.into_iter().collect::<Vec<_>>(),
            [((Loss::TimedOut, 6), 1), ((Loss::Reset, 1), 2)]
        );
        assert_eq!(both.answered, 1 << 12 | 1 << 126);
    }

    #[test]
    fn every_error_class_maps_to_one_loss() {
        assert_eq!(Loss::of(ErrorClass::StaleReuse), Loss::StaleReuse);
        assert_eq!(Loss::of(ErrorClass::Status), Loss::Rejected);
        assert_eq!(Loss::of(ErrorClass::TimeoutConnect), Loss::TimedOut);
        assert_eq!(Loss::of(ErrorClass::ConnectRefused), Loss::Connect);
        for class in ErrorClass::ALL {
            let by_outcome = match class.outcome() {
                Some(Outcome::Rejected) => Loss::of(*class) == Loss::Rejected,
                Some(Outcome::TimedOut) => Loss::of(*class) == Loss::TimedOut,
                _ => !matches!(Loss::of(*class), Loss::Rejected | Loss::TimedOut),
            };
            assert!(by_outcome, "{class}");
        }
        for (place, loss) in Loss::ALL.into_iter().enumerate() {
            assert_eq!(loss as usize, place, "the stored form has it by its place");
        }
    }
}
