//! Readings of probes, and their packed form for one second.

/// Metric of the machine: start of a sampling interval, in seconds since the load began. Missing in runs of earlier
/// versions.
pub const LOOK_FROM: &str = "look_from_s";
/// Metric of the machine: end of a sampling interval, in seconds since the load began. Missing in runs of earlier
/// versions.
pub const LOOK_TO: &str = "look_to_s";

/// Metric of the system: share of time for which its busiest thread was running or runnable just before the load, from
/// 0 to 1. Missing in runs of earlier versions.
pub const BUSIEST_THREAD_REST_SHARE: &str = "cpu_busiest_thread_rest_share";

/// Metric of the machine, by program: mean number of cores that processes outside of the system used over the load. Missing
/// in runs of earlier versions.
pub const OTHER_PROGRAMS: &str = "other_program_cores";

/// One reading of a probe.
#[derive(Clone, Debug, PartialEq)]
pub struct Reading {
    /// Subject: `machine`, `system`, `generator`, or the name of a process.
    pub subject: String,
    /// Metric, ending in its unit, such as `cpu_user_s`.
    pub metric: String,
    /// Label that distinguishes several readings of a metric, such as `core0`; otherwise empty.
    pub label: String,
    /// Value: a finite number.
    pub value: f64,
}

/// A reading as it is stored.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StoredReading<'a> {
    /// Whole seconds since the load began.
    pub second: u64,
    /// Subject: `machine`, `system`, `generator`, or the name of a process.
    pub subject: &'a str,
    /// Metric, ending in its unit, such as `cpu_user_s`.
    pub metric: &'a str,
    /// Label that distinguishes several readings of a metric, such as `core0`; otherwise empty.
    pub label: &'a str,
    /// Value: a finite number.
    pub value: f64,
}

/// Subject, metric, and label of a reading. Readings of different seconds share them.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ReadingKey {
    /// Subject: `machine`, `system`, `generator`, or the name of a process.
    pub subject: String,
    /// Metric, ending in its unit, such as `cpu_user_s`.
    pub metric: String,
    /// Label that distinguishes several readings of a metric, such as `core0`; otherwise empty.
    pub label: String,
}

/// Readings of a run, packed, because a study of many runs has millions.
#[derive(Clone, Debug, Default)]
pub struct Readings {
    kinds: Vec<ReadingKey>,
    /// Second and packed readings, in order of time.
    seconds: Vec<(u64, Box<[u8]>)>,
}

/// The packed readings are damaged.
#[derive(Debug, PartialEq, Eq)]
pub struct DamagedReadings;

impl Readings {
    /// Maximum number of keys of one run. A large machine with many processes has a few thousand.
    pub const KINDS_MAX: usize = 1 << 16;

    /// Checks that all readings unpack to finite numbers with known keys.
    pub fn checked(kinds: Vec<ReadingKey>, seconds: Vec<(u64, Box<[u8]>)>) -> Result<Self, DamagedReadings> {
        for (_, packed) in &seconds {
            for reading in Unpacker(packed) {
                let (kind, value) = reading?;
                if kind >= kinds.len() || !value.is_finite() {
                    return Err(DamagedReadings);
                }
            }
        }
        Ok(Self { kinds, seconds })
    }

    /// Returns the keys of the readings, for renaming.
    pub(crate) fn kinds_mut(&mut self) -> &mut [ReadingKey] {
        &mut self.kinds
    }

    /// Returns every reading, in order of time, and within a second in the order of storage.
    pub(crate) fn iter(&self) -> impl Iterator<Item = StoredReading<'_>> {
        self.seconds.iter().flat_map(move |(second, packed)| {
            // Unpacking cannot fail here: `checked` tried it.
            Unpacker(packed).flatten().filter_map(move |(kind, value)| {
                let ReadingKey { subject, metric, label } = self.kinds.get(kind)?;
                Some(StoredReading { second: *second, subject, metric, label, value })
            })
        })
    }
}

/// Appends a reading: key as a varint, length, and value. Trailing zero bytes of the value are left out, because counts and ticks
/// have few significant bits.
pub fn pack_reading(packed: &mut Vec<u8>, kind: u16, value: f64) {
    let mut rest = kind;
    while rest >= 0x80 {
        packed.push(rest as u8 | 0x80);
        rest >>= 7;
    }
    packed.push(rest as u8);
    let bytes = value.to_bits().to_be_bytes();
    let used = bytes.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1);
    packed.push(used as u8);
    packed.extend_from_slice(&bytes[..used]);
}

/// Unpacks readings: index of the key, and value. Ends after the first damaged reading.
struct Unpacker<'a>(&'a [u8]);

impl Iterator for Unpacker<'_> {
    type Item = Result<(usize, f64), DamagedReadings>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.0.is_empty() {
            return None;
        }
        let reading = self.take();
        if reading.is_none() {
            self.0 = &[];
        }
        Some(reading.ok_or(DamagedReadings))
    }
}

impl Unpacker<'_> {
    fn take(&mut self) -> Option<(usize, f64)> {
        let mut kind = 0;
        for shift in [0, 7, 14] {
            let byte = self.byte()?;
            kind |= usize::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                let used = usize::from(self.byte()?);
                let (value, rest) = self.0.split_at_checked(used)?;
                let mut bytes = [0; 8];
                bytes.get_mut(..used)?.copy_from_slice(value);
                self.0 = rest;
                return Some((kind, f64::from_bits(u64::from_be_bytes(bytes))));
            }
        }
        None
    }

    fn byte(&mut self) -> Option<u8> {
        let (first, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(*first)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packed_readings_round_trip_bit_for_bit() {
        let values = [0.0, -0.0, 1.0, 0.1 + 0.2, -1e300, f64::MIN_POSITIVE, 5e-324, f64::MAX, 123_456_789.0];
        let kinds = [0, 1, 127, 128, 16_383, 16_384, u16::MAX];
        let mut packed = Vec::new();
        let all: Vec<(u16, f64)> =
            kinds.iter().flat_map(|kind| values.iter().map(|value| (*kind, *value))).collect();
        all.iter().for_each(|(kind, value)| pack_reading(&mut packed, *kind, *value));
        let unpacked: Vec<_> = Unpacker(&packed).map(Result::unwrap).collect();
        let bits = |kind: usize, value: f64| (kind, value.to_bits());
        assert_eq!(
            unpacked.into_iter().map(|(kind, value)| bits(kind, value)).collect::<Vec<_>>(),
            all.into_iter().map(|(kind, value)| bits(usize::from(kind), value)).collect::<Vec<_>>()
        );
    }

    #[test]
    fn damaged_readings_give_at_most_one_error() {
        let mut packed = Vec::new();
        (0..40).for_each(|place| pack_reading(&mut packed, place * 1_000, f64::from(place) / 3.0));
        for cut in 0..packed.len() {
            for flip in 0..8 {
                let mut bytes = packed[..=cut].to_vec();
                bytes[cut / 2] ^= 1 << flip;
                let errors = Unpacker(&bytes).filter(Result::is_err).count();
                assert!(errors <= 1);
                let all = Readings::checked(Vec::new(), vec![(0, bytes.into())]);
                assert!(all.is_err(), "no kind is known");
            }
        }
    }

    #[test]
    fn packed_zero_takes_two_bytes() {
        for (value, bytes) in [(0.0, 2), (1.0, 4), (4_096.0, 4), (1_048_577.0, 6)] {
            let mut packed = Vec::new();
            pack_reading(&mut packed, 5, value);
            assert_eq!(packed.len(), bytes, "{value}");
        }
    }
}
