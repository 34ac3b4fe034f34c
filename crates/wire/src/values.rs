//! Values of one user's variables.

use alloc::boxed::Box;
use alloc::vec::Vec;

/// Values by the numbers of their variables, with the order in which they were set.
#[derive(Clone, Debug, Default)]
pub struct Values(
    /// Boxed, because most users have no values.
    Option<Box<ValueList>>,
);

#[derive(Clone, Debug, Default)]
struct ValueList {
    list: Vec<Entry>,
    /// Stamp of the latest value.
    latest: u32,
}

#[derive(Clone, Debug, Default)]
struct Entry {
    value: Bytes,
    /// Stamp of the value; 0 if it was never set.
    stamp: u32,
}

/// Max bytes of a value without memory of its own. Most values are numbers, and users are many: each access to other memory is a cache
/// miss.
const SHORT_BYTES_MAX: usize = 15;

/// Bytes of a value.
#[derive(Clone, Debug)]
enum Bytes {
    Short { length: u8, bytes: [u8; SHORT_BYTES_MAX] },
    Long(Vec<u8>),
}

impl Default for Bytes {
    fn default() -> Self {
        Self::Short { length: 0, bytes: [0; SHORT_BYTES_MAX] }
    }
}

impl Bytes {
    #[inline]
    fn set(&mut self, value: &[u8]) {
        match self {
            Self::Short { length, bytes } if value.len() <= SHORT_BYTES_MAX => {
                bytes[..value.len()].copy_from_slice(value);
                *length = value.len() as u8;
            }
            Self::Short { .. } => *self = Self::Long(value.to_vec()),
            Self::Long(bytes) => {
                bytes.clear();
                // Reserves exactly the needed bytes, so that a variable never owns twice the length of a value.
                bytes.reserve_exact(value.len());
                bytes.extend_from_slice(value);
            }
        }
    }

    #[inline]
    fn as_slice(&self) -> &[u8] {
        match self {
            Self::Short { length, bytes } => &bytes[..usize::from(*length)],
            Self::Long(bytes) => bytes,
        }
    }
}

impl Values {
    /// Sets a variable.
    pub fn set(&mut self, variable: u16, value: &[u8]) {
        let given = self.0.get_or_insert_default();
        let place = usize::from(variable);
        if given.list.len() <= place {
            given.list.reserve_exact(place + 1 - given.list.len());
            given.list.resize_with(place + 1, Entry::default);
        }
        given.latest = given.latest.wrapping_add(1).max(1);
        let entry = &mut given.list[place];
        entry.value.set(value);
        entry.stamp = given.latest;
    }

    /// Value of a variable. `None` if it was never set.
    pub fn get(&self, variable: u16) -> Option<&[u8]> {
        let entry = self.0.as_ref()?.list.get(usize::from(variable))?;
        (entry.stamp > 0).then_some(entry.value.as_slice())
    }

    /// Stamp of the latest value; 0 if there is none.
    #[inline]
    pub fn latest(&self) -> u32 {
        self.0.as_ref().map_or(0, |given| given.latest)
    }

    /// Variables that were set after this stamp, with their values.
    pub fn since(&self, stamp: u32) -> impl Iterator<Item = (u16, &[u8])> {
        let list = self.0.as_ref().map_or(&[][..], |given| &given.list);
        let entries = list.iter().enumerate().filter(move |(_, entry)| entry.stamp > stamp);
        entries.map(|(variable, entry)| (variable as u16, entry.value.as_slice()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn since_returns_values_set_after_stamp() {
        let mut values = Values::default();
        assert_eq!((values.latest(), values.since(0).count(), values.get(0)), (0, 0, None));
        values.set(2, b"x");
        let first = values.latest();
        values.set(0, b"y");
        assert_eq!(values.since(first).collect::<Vec<_>>(), [(0, &b"y"[..])]);
        assert_eq!(values.since(0).count(), 2);
        assert_eq!((values.get(2), values.get(1)), (Some(&b"x"[..]), None));
        for length in [SHORT_BYTES_MAX, SHORT_BYTES_MAX + 1, 1, 300, 0] {
            let value = alloc::vec![b'v'; length];
            values.set(2, &value);
            assert_eq!(values.get(2), Some(&value[..]));
        }
    }
}
