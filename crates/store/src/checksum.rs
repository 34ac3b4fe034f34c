//! Checksums over the stored data of a second, which detect bits changed by a disk or a copy.
//!
//! A checksum covers every field of a part, and the name of its run. Rows of older stores have none.

use crc32fast::Hasher;
use evidence::{RunId, StoredSecond};
use record::{Counts, Finish, Sampled, WindowCounts};

use crate::outcome::stored_name;

/// Returns the checksum over the row of a part and the rows that belong to it.
pub(crate) fn of_second(part: &StoredSecond, run: &RunId) -> u32 {
    // Destructures without `..`: a new field must be in the checksum of parts that have it, and must not change the
    // checksum of others.
    let StoredSecond {
        step,
        second,
        phase,
        counts: Counts { planned, sent, not_sent, ok, rejected, failed, timed_out, unfinished },
        received_bytes,
        sent_bytes,
        connections,
        first_sent_ns,
        last_finished_ns,
        window,
        statuses,
        errors,
        histograms,
        sampled,
    } = part;
    let mut sum = Sum::new(run, *second);
    sum.numbers([u64::from(*step), *phase as u64]);
    sum.numbers([*planned, *sent, *not_sent, *ok, *rejected, *failed, *timed_out, *unfinished]);
    sum.numbers([*received_bytes, *sent_bytes, *connections]);
    sum.optional(*first_sent_ns);
    sum.optional(*last_finished_ns);
    sum.numbers([statuses.iter().count() as u64]);
    statuses.iter().for_each(|(status, count)| sum.numbers([u64::from(status), count]));
    sum.numbers([errors.others(), errors.entries().len() as u64]);
    for entry in errors.entries() {
        sum.bytes(entry.class.as_str().as_bytes());
        sum.numbers([u64::from(entry.code), entry.count]);
        sum.bytes(entry.message.as_bytes());
    }
    sum.bytes(histograms);
    sum.numbers([sampled.len() as u64]);
    sampled.iter().for_each(|request| sum.request(request));
    // Parts from earlier versions have no window, and keep their checksum.
    if let Some(WindowCounts { ok, rejected, other, after }) = window {
        sum.numbers([*ok, *rejected, *other, *after]);
    }
    sum.0.finalize()
}

/// Returns the checksum over the readings of one second.
pub(crate) fn of_readings(run: &RunId, second: u64, packed: &[u8]) -> u32 {
    let mut sum = Sum::new(run, second);
    sum.bytes(packed);
    sum.0.finalize()
}

/// Returns the checksum over 100 ms windows that were stored together.
pub(crate) fn of_moments(run: &RunId, first: u64, packed: &[u8]) -> u32 {
    let mut sum = Sum::new(run, first);
    sum.bytes(packed);
    sum.0.finalize()
}

/// Returns the checksum over the CPU profile of a run.
pub(crate) fn of_cpu_profile(run: &RunId, text: &[u8]) -> u32 {
    let mut sum = Sum::new(run, 0);
    sum.bytes(text);
    sum.0.finalize()
}

struct Sum(Hasher);

impl Sum {
    fn new(run: &RunId, second: u64) -> Self {
        let mut sum = Self(Hasher::new());
        sum.bytes(run.as_str().as_bytes());
        sum.numbers([second]);
        sum
    }

    fn numbers<const N: usize>(&mut self, numbers: [u64; N]) {
        numbers.iter().for_each(|number| self.0.update(&number.to_le_bytes()));
    }

    fn optional(&mut self, number: Option<u64>) {
        self.numbers([u64::from(number.is_some()), number.unwrap_or(0)]);
    }

    /// Adds bytes with their length, so that adjacent fields cannot be confused.
    fn bytes(&mut self, bytes: &[u8]) {
        self.numbers([bytes.len() as u64]);
        self.0.update(bytes);
    }

    fn request(&mut self, request: &Sampled) {
        let Sampled { finish, connection, connect_ns, received_bytes, sent_bytes } = request;
        let Finish { intended_ns, sent_ns, first_byte_ns, finished_ns, outcome, status } = finish;
        self.bytes(stored_name(*outcome).as_bytes());
        self.optional(*first_byte_ns);
        self.numbers([*intended_ns, *sent_ns, *finished_ns, u64::from(*status)]);
        self.numbers([u64::from(*connection), *connect_ns, *received_bytes, *sent_bytes]);
    }
}
