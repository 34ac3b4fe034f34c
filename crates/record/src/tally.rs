//! Counts and durations of a period of a run.

use alloc::vec::Vec;

pub use crate::bytes::Malformed;
use crate::bytes::Reader;
use crate::counts::Counts;
use crate::finish::Finish;
use crate::histogram::Histogram;
use crate::ledger::Ledger;
use crate::window::WindowCounts;
use outcome::Outcome;

/// Histograms of one duration by outcome.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct OutcomeHistograms {
    /// Requests that ended ok.
    pub ok: Histogram,
    /// Requests that the system rejected.
    pub rejected: Histogram,
    /// Requests that failed or timed out.
    pub other: Histogram,
}

impl OutcomeHistograms {
    /// Returns the histogram for an outcome.
    #[inline]
    pub fn of(&mut self, outcome: Outcome) -> &mut Histogram {
        match outcome {
            Outcome::Ok => &mut self.ok,
            Outcome::Rejected => &mut self.rejected,
            Outcome::Failed | Outcome::TimedOut | Outcome::Unfinished => &mut self.other,
        }
    }

    /// Returns the merged histogram of all outcomes.
    pub fn all(&self) -> Histogram {
        let mut all = self.ok.clone();
        all.merge(&self.rejected);
        all.merge(&self.other);
        all
    }

    fn merge(&mut self, more: &Self) {
        self.ok.merge(&more.ok);
        self.rejected.merge(&more.rejected);
        self.other.merge(&more.other);
    }
}

/// Replies by the protocol's status number, in order of first occurrence.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Statuses(Vec<(u16, u64)>);

impl Statuses {
    /// Highest status that is stored or sent: see [`Statuses::capped`].
    pub const HIGHEST: u16 = 999;
    /// Maximum number of distinct statuses: one per three-digit number.
    pub const KINDS_MAX: usize = Self::HIGHEST as usize + 1;

    /// Counts replies with a status. Three-digit numbers bound the length of the list.
    #[inline]
    pub fn add(&mut self, status: u16, count: u64) {
        match self.0.iter_mut().find(|(known, _)| *known == status) {
            Some((_, counted)) => *counted += count,
            None => self.0.push((status, count)),
        }
    }

    /// Returns a copy in which statuses above [`Statuses::HIGHEST`] are counted as that one.
    pub fn capped(&self) -> Self {
        let mut capped = Self::default();
        self.iter().for_each(|(status, count)| capped.add(status.min(Self::HIGHEST), count));
        capped
    }

    /// Returns all statuses with their counts.
    pub fn iter(&self) -> impl Iterator<Item = (u16, u64)> + '_ {
        self.0.iter().copied()
    }
}

/// Counts, durations, bytes, and errors of a period of a run. Merging is exact.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Tally {
    /// Requests by outcome.
    pub counts: Counts,
    /// Response times: finished − intended.
    pub response: OutcomeHistograms,
    /// Service times: finished − sent.
    pub service: OutcomeHistograms,
    /// Send delays: sent − intended.
    pub lateness: OutcomeHistograms,
    /// Time to first byte: first byte of the reply − sent.
    pub first_byte: Histogram,
    /// Time to establish connections, without TLS.
    pub connect: Histogram,
    /// Time of TLS handshakes.
    pub tls: Histogram,
    /// Bytes read from the sockets.
    pub received_bytes: u64,
    /// Bytes written to the sockets.
    pub sent_bytes: u64,
    /// Number of established connections.
    pub connections: u64,
    /// Time when the first request was sent, in nanoseconds since the load began. `None` if none was.
    pub first_sent_ns: Option<u64>,
    /// Time when the last request ended, in nanoseconds since the load began. `None` if none did.
    pub last_finished_ns: Option<u64>,
    /// Ends of requests relative to the measured window, as counted by [`crate::Recorder`].
    pub window: WindowCounts,
    /// Replies by status.
    pub statuses: Statuses,
    /// Errors by class and code.
    pub errors: Ledger,
}

/// Number of histograms: three durations by three outcomes, and three that are not split by outcome.
const HISTOGRAMS: usize = 12;

impl Tally {
    /// Counts a request that is planned and started at once.
    #[inline]
    pub fn note_sent(&mut self, sent_ns: u64) {
        self.counts.planned += 1;
        self.counts.sent += 1;
        self.first_sent_ns.get_or_insert(sent_ns);
    }

    /// Counts requests that are due, whether or not they can be started now.
    #[inline]
    pub fn note_due(&mut self, requests: u64) {
        self.counts.planned += requests;
    }

    /// Counts the start of a request that [`Tally::note_due`] has counted.
    #[inline]
    pub fn note_due_sent(&mut self, sent_ns: u64) {
        self.counts.sent += 1;
        self.first_sent_ns.get_or_insert(sent_ns);
    }

    /// Counts requests that [`Tally::note_due`] has counted and that will never be started.
    pub fn note_due_not_sent(&mut self, requests: u64) {
        self.counts.not_sent += requests;
    }

    /// Counts planned requests that will never be started, and that [`Tally::note_due`] has not counted.
    pub fn note_not_sent(&mut self, requests: u64) {
        self.counts.planned += requests;
        self.counts.not_sent += requests;
    }

    /// Counts the end of a request.
    #[inline]
    pub fn note_finished(&mut self, finish: &Finish) {
        let Finish { intended_ns, sent_ns, first_byte_ns, finished_ns, outcome, status } = *finish;
        self.counts.note(outcome);
        if outcome == Outcome::Unfinished {
            return;
        }
        self.response.of(outcome).record(finished_ns.saturating_sub(intended_ns));
        self.service.of(outcome).record(finished_ns.saturating_sub(sent_ns));
        self.lateness.of(outcome).record(sent_ns.saturating_sub(intended_ns));
        if let Some(first_byte_ns) = first_byte_ns {
            self.first_byte.record(first_byte_ns.saturating_sub(sent_ns));
        }
        if status != 0 {
            self.statuses.add(status, 1);
        }
        self.last_finished_ns = self.last_finished_ns.max(Some(finished_ns));
    }

    /// Adds another period of the run.
    pub fn merge(&mut self, more: &Self) {
        self.counts.add(&more.counts);
        self.response.merge(&more.response);
        self.service.merge(&more.service);
        self.lateness.merge(&more.lateness);
        self.first_byte.merge(&more.first_byte);
        self.connect.merge(&more.connect);
        self.tls.merge(&more.tls);
        self.received_bytes += more.received_bytes;
        self.sent_bytes += more.sent_bytes;
        self.connections += more.connections;
        self.first_sent_ns = [self.first_sent_ns, more.first_sent_ns].into_iter().flatten().min();
        self.last_finished_ns = [self.last_finished_ns, more.last_finished_ns].into_iter().flatten().max();
        self.window.add(&more.window);
        more.statuses.iter().for_each(|(status, count)| self.statuses.add(status, count));
        self.errors.merge(&more.errors);
    }

    /// Returns the time from the first sent request to the last end, in nanoseconds, by which JMeter divides. `None` if it is not positive.
    pub fn span_ns(&self) -> Option<u64> {
        self.last_finished_ns?.checked_sub(self.first_sent_ns?).filter(|span_ns| *span_ns > 0)
    }

    /// Returns whether nothing was counted.
    pub fn is_empty(&self) -> bool {
        self.counts == Counts::default()
            && self.connections == 0
            && self.received_bytes == 0
            && self.sent_bytes == 0
            && self.errors.total() == 0
    }

    /// Clears everything, but keeps the memory.
    pub fn clear(&mut self) {
        self.histograms_mut().into_iter().for_each(Histogram::clear);
        self.counts = Counts::default();
        (self.received_bytes, self.sent_bytes, self.connections) = (0, 0, 0);
        (self.first_sent_ns, self.last_finished_ns) = (None, None);
        self.window = WindowCounts::default();
        self.statuses.0.clear();
        self.errors.clear();
    }

    /// Encodes all histograms for storage. [`Tally::decode_histograms`] is the inverse.
    pub fn encode_histograms(&self) -> Vec<u8> {
        let mut out = Vec::new();
        self.put_histograms(&mut out);
        out
    }

    pub(crate) fn put_histograms(&self, out: &mut Vec<u8>) {
        self.histograms().into_iter().for_each(|histogram| histogram.encode(out));
    }

    /// Replaces the histograms with the output of [`Tally::encode_histograms`]. Rejects anything else.
    pub fn decode_histograms(&mut self, bytes: &[u8]) -> Result<(), Malformed> {
        self.histograms_mut().into_iter().for_each(|histogram| *histogram = Histogram::new());
        self.add_histograms(bytes)
    }

    /// Adds the output of [`Tally::encode_histograms`] of another period, which is faster than to decode and merge. Rejects
    /// anything else, of which a part may have been added by then.
    pub fn add_histograms(&mut self, bytes: &[u8]) -> Result<(), Malformed> {
        let mut reader = Reader(bytes);
        self.histograms_mut().into_iter().try_for_each(|histogram| histogram.add_encoded(&mut reader))?;
        if reader.0.is_empty() { Ok(()) } else { Err(Malformed) }
    }

    /// Validates bytes for [`Tally::add_histograms`], and returns the total number of durations in them.
    pub fn check_histograms(bytes: &[u8]) -> Result<u64, Malformed> {
        let mut reader = Reader(bytes);
        let count = (0..HISTOGRAMS).try_fold(0u64, |count, _| {
            count.checked_add(Histogram::check_encoded(&mut reader)?).ok_or(Malformed)
        })?;
        if reader.0.is_empty() { Ok(count) } else { Err(Malformed) }
    }

    /// Adds response times and send delays of all outcomes from the output of [`Tally::encode_histograms`].
    pub fn add_response_and_lateness(
        bytes: &[u8],
        response: &mut Histogram,
        lateness: &mut Histogram,
    ) -> Result<(), Malformed> {
        let mut reader = Reader(bytes);
        (0..3).try_for_each(|_| response.add_encoded(&mut reader))?;
        (0..3).try_for_each(|_| Histogram::check_encoded(&mut reader).map(drop))?;
        (0..3).try_for_each(|_| lateness.add_encoded(&mut reader))
    }

    /// Returns the histograms in the order of the stored form. [`Tally::histograms_mut`] must list them in this order too.
    fn histograms(&self) -> [&Histogram; HISTOGRAMS] {
        let Self { response, service, lateness, first_byte, connect, tls, .. } = self;
        [
            &response.ok,
            &response.rejected,
            &response.other,
            &service.ok,
            &service.rejected,
            &service.other,
            &lateness.ok,
            &lateness.rejected,
            &lateness.other,
            first_byte,
            connect,
            tls,
        ]
    }

    fn histograms_mut(&mut self) -> [&mut Histogram; HISTOGRAMS] {
        let Self { response, service, lateness, first_byte, connect, tls, .. } = self;
        [
            &mut response.ok,
            &mut response.rejected,
            &mut response.other,
            &mut service.ok,
            &mut service.rejected,
            &mut service.other,
            &mut lateness.ok,
            &mut lateness.rejected,
            &mut lateness.other,
            first_byte,
            connect,
            tls,
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn span_lasts_from_the_first_request_to_the_last_end() {
        let mut tally = Tally::default();
        assert_eq!(tally.span_ns(), None);
        tally.first_sent_ns = Some(40);
        assert_eq!(tally.span_ns(), None, "nothing ended");
        tally.last_finished_ns = Some(40);
        assert_eq!(tally.span_ns(), None, "no time");
        tally.last_finished_ns = Some(100);
        assert_eq!(tally.span_ns(), Some(60));
    }
}
