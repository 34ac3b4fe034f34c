//! Binary form of an interval: versioned, bounded, and identical on every machine.
//!
//! The first byte is the version in every version of the form. Version 1 is, in this order:
//!
//! ```text
//! version       1 byte: 1
//! second
//! phase         0 warm-up, 1 measured
//! counts        planned, sent, not sent, ok, rejected, failed, timed out, unfinished
//! volumes       received bytes, sent bytes, connections
//! first sent    optional, ns since the load began
//! last finished optional, ns since the load began
//! window        ok, rejected, other, after
//! statuses      n ≤ 1,000, then n × (status, count), no status twice
//! errors        others, n ≤ 80, then n × (class, code, count, message), no class and code twice
//! requests      n, then n × (outcome by its place in Outcome::ALL, status, connection, intended ns, sent ns,
//!               first byte ns (optional), finished ns, connect ns, received bytes, sent bytes)
//! histograms    12: response, service, send delay, each ok, rejected, other; then first byte, connect, TLS.
//!               Each: count, and if that is not 0: min ns, max ns, sum ns (low 64 bits, high 64 bits),
//!               n, then n × (steps from the counter before, count)
//! ```
//!
//! A number is an unsigned LEB128 integer of at most 64 bits. An optional number is 0, or 1 and the number. A text is its length in
//! bytes (at most 64 for a class, 256 for a message) and UTF-8. Nothing follows the last histogram.
//!
//! The store keeps these fields as columns instead of one blob: SQL sums them (`Store::kept_counts`), its checksum covers each of
//! them, people query them, and every version of its file has them. The only blob there, the column `histograms`, is byte for byte
//! the last section of this form. So both share one codec, and files of every version stay valid.

use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use crate::bytes::{Malformed, Reader, put};
use crate::counts::Counts;
use crate::finish::Finish;
use crate::interval::{Interval, Phase};
use crate::ledger::{Ledger, LedgerEntry};
use crate::sample::Sampled;
use crate::tally::{Statuses, Tally};
use crate::window::WindowCounts;
use outcome::{ClassName, Outcome};

/// Version that is written, and the only one so far.
const VERSION: u8 = 1;
/// Largest count. No thread counts more in a second, so sums of thousands of untrusted intervals cannot overflow.
const COUNT_MAX: u64 = (1 << 48) - 1;
const CLASS_BYTES_MAX: u64 = 64;

/// Reason why bytes are not a valid interval.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IntervalDecodeError {
    /// The version is unknown to this program.
    Version(u8),
    /// The bytes are truncated, too long, out of range, or inconsistent.
    Malformed,
}

impl From<Malformed> for IntervalDecodeError {
    fn from(_: Malformed) -> Self {
        Self::Malformed
    }
}

impl fmt::Display for IntervalDecodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Version(found) => {
                write!(f, "the interval has version {found}, and this program reads version {VERSION}")
            }
            Self::Malformed => f.write_str("the bytes of the interval are damaged"),
        }
    }
}

impl core::error::Error for IntervalDecodeError {}

impl Interval {
    /// Encodes the interval in the layout of this module. The result decodes to an equal interval, except that statuses above
    /// [`Statuses::HIGHEST`] are counted as that one.
    pub fn encode(&self) -> Vec<u8> {
        let Self { second, phase, tally, sampled } = self;
        let out = &mut Vec::from([VERSION]);
        put_all(out, [*second, *phase as u64]);
        put_figures(out, tally);
        let statuses = tally.statuses.capped();
        put(out, statuses.iter().count() as u64);
        statuses.iter().for_each(|(status, count)| put_all(out, [u64::from(status), count]));
        put_errors(out, &tally.errors);
        put(out, sampled.len() as u64);
        sampled.iter().for_each(|request| put_request(out, request));
        tally.put_histograms(out);
        core::mem::take(out)
    }

    /// Decodes the output of [`Interval::encode`]. Accepts untrusted bytes: the result is an error, or an interval that can be
    /// added to others. Uses at most 3.3 MB plus about ten times the length of the bytes.
    pub fn decode(bytes: &[u8]) -> Result<Self, IntervalDecodeError> {
        let (version, rest) = bytes.split_first().ok_or(IntervalDecodeError::Malformed)?;
        if *version != VERSION {
            return Err(IntervalDecodeError::Version(*version));
        }
        let reader = &mut Reader(rest);
        let second = reader.take()?;
        let phase =
            *usize::try_from(reader.take()?).ok().and_then(|at| Phase::ALL.get(at)).ok_or(Malformed)?;
        let mut tally = figures(reader)?;
        tally.statuses = statuses(reader)?;
        tally.errors = errors(reader)?;
        let mut sampled = Vec::new();
        for _ in 0..reader.take()? {
            sampled.push(request(reader)?);
        }
        let durations = Tally::check_histograms(reader.0)?;
        tally.add_histograms(reader.0)?;
        if durations > COUNT_MAX {
            Err(IntervalDecodeError::Malformed)
        } else {
            Ok(Self { second, phase, tally, sampled })
        }
    }
}

fn put_all<const N: usize>(out: &mut Vec<u8>, numbers: [u64; N]) {
    numbers.into_iter().for_each(|number| put(out, number));
}

fn put_optional(out: &mut Vec<u8>, number: Option<u64>) {
    match number {
        None => put(out, 0),
        Some(number) => put_all(out, [1, number]),
    }
}

fn put_text(out: &mut Vec<u8>, text: &str) {
    put(out, text.len() as u64);
    out.extend_from_slice(text.as_bytes());
}

/// Writes counts, volumes, first and last time, and the window.
fn put_figures(out: &mut Vec<u8>, tally: &Tally) {
    let Counts { planned, sent, not_sent, ok, rejected, failed, timed_out, unfinished } = tally.counts;
    put_all(out, [planned, sent, not_sent, ok, rejected, failed, timed_out, unfinished]);
    put_all(out, [tally.received_bytes, tally.sent_bytes, tally.connections]);
    put_optional(out, tally.first_sent_ns);
    put_optional(out, tally.last_finished_ns);
    let WindowCounts { ok, rejected, other, after } = tally.window;
    put_all(out, [ok, rejected, other, after]);
}

fn put_errors(out: &mut Vec<u8>, errors: &Ledger) {
    put_all(out, [errors.others(), errors.entries().len() as u64]);
    for LedgerEntry { class, code, message, count } in errors.entries() {
        put_text(out, class.as_str());
        put_all(out, [u64::from(*code), *count]);
        put_text(out, message);
    }
}

fn put_request(out: &mut Vec<u8>, request: &Sampled) {
    let Sampled { finish, connection, connect_ns, received_bytes, sent_bytes } = *request;
    let Finish { intended_ns, sent_ns, first_byte_ns, finished_ns, outcome, status } = finish;
    put_all(out, [outcome as u64, u64::from(status), u64::from(connection), intended_ns, sent_ns]);
    put_optional(out, first_byte_ns);
    put_all(out, [finished_ns, connect_ns, received_bytes, sent_bytes]);
}

fn figures(reader: &mut Reader<'_>) -> Result<Tally, Malformed> {
    let [planned, sent, not_sent, ok, rejected, failed, timed_out, unfinished] = counts(reader)?;
    let [received_bytes, sent_bytes, connections] = counts(reader)?;
    let (first_sent_ns, last_finished_ns) = (read_optional(reader)?, read_optional(reader)?);
    let counted = Counts { planned, sent, not_sent, ok, rejected, failed, timed_out, unfinished };
    let [ok, rejected, other, after] = counts(reader)?;
    Ok(Tally {
        counts: counted,
        received_bytes,
        sent_bytes,
        connections,
        first_sent_ns,
        last_finished_ns,
        window: WindowCounts { ok, rejected, other, after },
        ..Tally::default()
    })
}

fn statuses(reader: &mut Reader<'_>) -> Result<Statuses, Malformed> {
    let mut statuses = Statuses::default();
    for number in 0..reader.take()? {
        let (status, [count]) = (read_narrow(reader)?, counts(reader)?);
        let is_known = statuses.iter().any(|(known, _)| known == status);
        if is_known || status > Statuses::HIGHEST || number >= Statuses::KINDS_MAX as u64 {
            return Err(Malformed);
        }
        statuses.add(status, count);
    }
    Ok(statuses)
}

fn errors(reader: &mut Reader<'_>) -> Result<Ledger, Malformed> {
    let [others] = counts(reader)?;
    let mut errors = Ledger::default();
    for kept in 0..reader.take()? {
        let class = ClassName::from(text(reader, CLASS_BYTES_MAX)?);
        let (code, [count]) = (read_narrow(reader)?, counts(reader)?);
        let message = text(reader, Ledger::MESSAGE_BYTES_MAX as u64)?;
        let is_known = errors.entries().iter().any(|entry| entry.code == code && entry.class == class);
        errors.insert(LedgerEntry { class, code, message, count });
        if is_known || errors.entries().len() as u64 != kept + 1 {
            return Err(Malformed);
        }
    }
    errors.add_others(others);
    Ok(errors)
}

fn request(reader: &mut Reader<'_>) -> Result<Sampled, Malformed> {
    let outcome =
        *usize::try_from(reader.take()?).ok().and_then(|at| Outcome::ALL.get(at)).ok_or(Malformed)?;
    let (status, connection) = (read_narrow(reader)?, read_narrow(reader)?);
    let (intended_ns, sent_ns) = (reader.take()?, reader.take()?);
    let first_byte_ns = read_optional(reader)?;
    let finish = Finish { intended_ns, sent_ns, first_byte_ns, finished_ns: reader.take()?, outcome, status };
    let connect_ns = reader.take()?;
    let [received_bytes, sent_bytes] = counts(reader)?;
    Ok(Sampled { finish, connection, connect_ns, received_bytes, sent_bytes })
}

/// Reads numbers that are summed later, and so are bounded by [`COUNT_MAX`].
fn counts<const N: usize>(reader: &mut Reader<'_>) -> Result<[u64; N], Malformed> {
    let mut counts = [0; N];
    for count in &mut counts {
        *count = reader.take()?;
        if *count > COUNT_MAX {
            return Err(Malformed);
        }
    }
    Ok(counts)
}

/// Reads a number of a narrower type.
fn read_narrow<T: TryFrom<u64>>(reader: &mut Reader<'_>) -> Result<T, Malformed> {
    T::try_from(reader.take()?).map_err(|_| Malformed)
}

fn read_optional(reader: &mut Reader<'_>) -> Result<Option<u64>, Malformed> {
    match reader.take()? {
        0 => Ok(None),
        1 => reader.take().map(Some),
        _ => Err(Malformed),
    }
}

/// Reads a text of at most `bytes_max` bytes. Checks the length before it allocates.
fn text(reader: &mut Reader<'_>, bytes_max: u64) -> Result<String, Malformed> {
    let length = reader.take()?;
    let length = usize::try_from(length).ok().filter(|_| length <= bytes_max).ok_or(Malformed)?;
    let (bytes, rest) = reader.0.split_at_checked(length).ok_or(Malformed)?;
    reader.0 = rest;
    core::str::from_utf8(bytes).map(String::from).map_err(|_| Malformed)
}
