//! Binary form of 100 ms windows: versioned, bounded, and identical on every machine.
//!
//! Version 2 is, in this order:
//!
//! ```text
//! version       1 byte: 2
//! windows       n, then n ×
//!   number      of the first window; of others, how many after the one before, at least 1
//!   counts      planned, sent, ok
//!   responses   sum ns, max ns
//!   classes     n, then n × (class of the first; of others, how many after the one before, at least 1; count)
//!   answered    low 64 bits, high 64 bits, each inverted: a busy window is two zeros
//!   losses      n, then n × (kind by its place in Loss::ALL, windows before, count), in ascending order
//!   late ns
//!   presence    first ok ns, last ok ns, asked ns, asked again ns, each optional; stalled ns
//!   asked       64 bits, inverted
//! ```
//!
//! Version 1 has no `asked`: a request counts as open from the first unanswered request to the next ok reply. A number is an unsigned
//! LEB128 integer of at most 64 bits. An optional number is 0, or the number plus 1.

use alloc::vec::Vec;

use crate::asked::OpenParts;
use crate::bytes::{Malformed, Reader, put};
use crate::moment::{Loss, Moment};
use crate::pulse::Presence;
use crate::responses::CLASSES;

/// Version that is written.
const VERSION: u8 = 2;
/// Version without the parts of a window that had open requests.
const VERSION_WITHOUT_ASKED: u8 = 1;
/// Largest number of a window, which is 3,000 years.
const NUMBER_MAX: u64 = 1 << 40;
/// Largest count in a window.
const COUNT_MAX: u64 = (1 << 48) - 1;
/// Latest time.
const NS_MAX: u64 = NUMBER_MAX * 1_000_000;

impl Moment {
    /// Encodes windows, which must be in ascending order of their numbers, without loss.
    pub fn encode_all(windows: &[Self]) -> Vec<u8> {
        let mut out = Vec::from([VERSION]);
        put(&mut out, windows.len() as u64);
        let mut last = 0;
        for window in windows {
            put(&mut out, window.number.wrapping_sub(last));
            last = window.number;
            window.put(&mut out);
        }
        out
    }

    /// Decodes the output of [`Moment::encode_all`], and rejects anything else. Accepts untrusted bytes: it uses about thirty times
    /// their length in memory.
    pub fn decode_all(bytes: &[u8]) -> Result<Vec<Self>, Malformed> {
        let (version, rest) = bytes.split_first().ok_or(Malformed)?;
        let has_asked = match *version {
            VERSION => true,
            VERSION_WITHOUT_ASKED => false,
            _ => return Err(Malformed),
        };
        let reader = &mut Reader(rest);
        let count = reader.take()?;
        let mut windows: Vec<Self> = Vec::new();
        for _ in 0..count {
            let number = read_ascending(reader, windows.last().map(|window| window.number), NUMBER_MAX)?;
            windows.push(Self::take(number, reader, has_asked)?);
        }
        if reader.0.is_empty() { Ok(windows) } else { Err(Malformed) }
    }

    fn put(&self, out: &mut Vec<u8>) {
        let Self { number: _, planned, sent, ok, ok_response_sum_ns, ok_response_max_ns, .. } = *self;
        [planned, sent, ok, ok_response_sum_ns, ok_response_max_ns]
            .into_iter()
            .for_each(|figure| put(out, figure));
        put(out, self.responses.classes().len() as u64);
        let mut last = 0;
        for (class, count) in self.responses.classes() {
            put(out, u64::from(class - last));
            put(out, count);
            last = class;
        }
        put(out, !(self.answered as u64));
        put(out, !((self.answered >> 64) as u64));
        put(out, self.losses.len() as u64);
        for ((loss, before), count) in &self.losses {
            [*loss as u64, *before, *count].into_iter().for_each(|figure| put(out, figure));
        }
        put(out, self.late_ns);
        let Presence { first_ok_ns, last_ok_ns, asked_ns, asked_again_ns, asked, stalled_ns } = self.presence;
        [first_ok_ns, last_ok_ns, asked_ns, asked_again_ns]
            .into_iter()
            .for_each(|at_ns| put(out, at_ns.map_or(0, |at_ns| at_ns.saturating_add(1))));
        put(out, stalled_ns);
        put(out, !asked.bits());
    }

    fn take(number: u64, reader: &mut Reader<'_>, has_asked: bool) -> Result<Self, Malformed> {
        let mut window = Self::numbered(number);
        window.planned = read_at_most(reader, COUNT_MAX)?;
        window.sent = read_at_most(reader, COUNT_MAX)?;
        window.ok = read_at_most(reader, COUNT_MAX)?;
        window.ok_response_sum_ns = reader.take()?;
        window.ok_response_max_ns = reader.take()?;
        let mut last = None;
        for _ in 0..reader.take()? {
            let class = read_ascending(reader, last, u64::from(CLASSES) - 1)?;
            last = Some(class);
            window.responses.add(class as u16, read_positive(reader)?);
        }
        if window.responses.count() != window.ok {
            return Err(Malformed);
        }
        window.answered = u128::from(!reader.take()?) | u128::from(!reader.take()?) << 64;
        for _ in 0..reader.take()? {
            let loss =
                *usize::try_from(reader.take()?).ok().and_then(|at| Loss::ALL.get(at)).ok_or(Malformed)?;
            let key = (loss, read_at_most(reader, number)?);
            if window.losses.last_key_value().is_some_and(|(last, _)| *last >= key) {
                return Err(Malformed);
            }
            window.losses.insert(key, read_positive(reader)?);
        }
        window.late_ns = read_at_most(reader, NS_MAX)?;
        window.presence = presence(reader, has_asked)?;
        Ok(window)
    }
}

fn presence(reader: &mut Reader<'_>, has_asked: bool) -> Result<Presence, Malformed> {
    let mut optional = || Ok(read_at_most(reader, NS_MAX)?.checked_sub(1));
    let (first_ok_ns, last_ok_ns) = (optional()?, optional()?);
    let (asked_ns, asked_again_ns) = (optional()?, optional()?);
    let stalled_ns = read_at_most(reader, NS_MAX)?;
    let asked = if has_asked { OpenParts::from_bits(!reader.take()?) } else { OpenParts::ALL };
    if first_ok_ns.is_some() != last_ok_ns.is_some() || first_ok_ns > last_ok_ns {
        return Err(Malformed);
    }
    Ok(Presence { first_ok_ns, last_ok_ns, asked_ns, asked_again_ns, asked, stalled_ns })
}

/// Reads an element of an ascending sequence: the first one, or its distance from the previous one.
fn read_ascending(reader: &mut Reader<'_>, last: Option<u64>, max: u64) -> Result<u64, Malformed> {
    let step = reader.take()?;
    let number = match last {
        None => step,
        Some(_) if step == 0 => return Err(Malformed),
        Some(last) => last.checked_add(step).ok_or(Malformed)?,
    };
    if number <= max { Ok(number) } else { Err(Malformed) }
}

fn read_at_most(reader: &mut Reader<'_>, max: u64) -> Result<u64, Malformed> {
    reader.take().and_then(|number| if number <= max { Ok(number) } else { Err(Malformed) })
}

fn read_positive(reader: &mut Reader<'_>) -> Result<u64, Malformed> {
    read_at_most(reader, COUNT_MAX).and_then(|count| if count > 0 { Ok(count) } else { Err(Malformed) })
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    fn windows() -> Vec<Moment> {
        let mut busy = Moment { planned: 900, sent: 899, late_ns: 7, ..Moment::numbered(12) };
        for number in 0..900u64 {
            busy.note_ok(number * number * 1_000, 1_200 * MS + number * MS / 9);
        }
        busy.presence = Presence {
            first_ok_ns: Some(1_200 * MS),
            last_ok_ns: Some(1_299 * MS),
            asked_ns: Some(1_100 * MS),
            asked_again_ns: Some(1_299 * MS),
            asked: OpenParts::from_bits(u64::MAX >> 3),
            stalled_ns: 5,
        };
        let mut troubled = Moment { planned: 4, sent: 4, ..Moment::numbered(40) };
        Loss::ALL.iter().for_each(|loss| troubled.note_lost(*loss, 3_000 * MS));
        troubled.note_lost(Loss::TimedOut, 0);
        troubled.presence.asked_ns = Some(0);
        Vec::from([Moment::numbered(0), busy, troubled])
    }

    #[test]
    fn windows_survive_a_round_trip() {
        for windows in [Vec::new(), windows()] {
            let bytes = Moment::encode_all(&windows);
            assert_eq!(Moment::decode_all(&bytes), Ok(windows));
        }
        assert!(
            Moment::encode_all(&windows()).len() < 900,
            "hardly more than a byte for each class and count"
        );
    }

    #[test]
    fn windows_of_version_1_are_read_as_open_all_the_time() {
        let bytes = [1, 1, 7, 2, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 5, 0, 3];
        let window = &Moment::decode_all(&bytes).unwrap()[0];
        assert_eq!((window.number, window.planned, window.presence.asked_ns), (7, 2, Some(4)));
        assert_eq!((window.presence.asked, window.presence.stalled_ns), (OpenParts::ALL, 3));
        assert_eq!(Moment::decode_all(&[3, 0]), Err(Malformed));
    }

    #[test]
    fn damaged_bytes_are_rejected_or_decode_within_bounds() {
        let bytes = Moment::encode_all(&windows());
        for length in 0..bytes.len() {
            assert_eq!(Moment::decode_all(&bytes[..length]), Err(Malformed), "cut at {length}");
        }
        let mut longer = bytes.clone();
        longer.push(0);
        assert_eq!(Moment::decode_all(&longer), Err(Malformed));
        for place in 0..bytes.len() {
            for bit in 0..8 {
                let mut damaged = bytes.clone();
                damaged[place] ^= 1 << bit;
                if let Ok(windows) = Moment::decode_all(&damaged) {
                    let again = Moment::decode_all(&Moment::encode_all(&windows));
                    assert_eq!(again, Ok(windows), "byte {place}, bit {bit}");
                }
            }
        }
    }
}
