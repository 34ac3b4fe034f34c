//! Content of a reply for checks and saved values, in either format of the protocol.

use alloc::vec::Vec;

use crate::ErrorClass;

/// Max bytes and max number of the values that are kept.
pub(super) const KEPT_BYTES_MAX: usize = 64 * 1024;
pub(super) const KEPT_VALUES_MAX: usize = 4096;
/// Max bytes of an error that are kept for messages.
const ERROR_BYTES_MAX: usize = 512;

/// The type of a reply.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Kind {
    /// One value or more.
    Value,
    #[default]
    Miss,
    Stored,
    NotStored,
    Exists,
    NotFound,
    Deleted,
    Touched,
    Number,
    Ok,
    Version,
    Stats,
    Error,
}

impl Kind {
    /// Types that a check can name, with their names in plans.
    pub(super) const NAMED: [(&'static str, Self); 12] = [
        ("value", Self::Value),
        ("miss", Self::Miss),
        ("stored", Self::Stored),
        ("not-stored", Self::NotStored),
        ("exists", Self::Exists),
        ("not-found", Self::NotFound),
        ("deleted", Self::Deleted),
        ("touched", Self::Touched),
        ("number", Self::Number),
        ("ok", Self::Ok),
        ("version", Self::Version),
        ("stats", Self::Stats),
    ];

    pub(super) fn name(self) -> &'static str {
        Self::NAMED.iter().find(|(_, kind)| *kind == self).map_or("error", |(name, _)| name)
    }
}

/// Type, error, and kept values of a reply.
#[derive(Debug, Default)]
pub(super) struct Content {
    pub(super) kind: Kind,
    /// Beginning of the error, and its class; valid for [`Kind::Error`].
    error: Vec<u8>,
    class: Option<ErrorClass>,
    kept: Vec<u8>,
    /// Ends of the kept values.
    ends: Vec<u32>,
    is_cut: bool,
    /// Unique number of the last value, for `cas`; empty if it has none.
    pub(super) unique: Vec<u8>,
}

impl Content {
    #[inline]
    pub(super) fn clear(&mut self) {
        (self.kind, self.class, self.is_cut) = (Kind::Miss, None, false);
        self.kept.clear();
        self.ends.clear();
        self.unique.clear();
    }

    /// Error and its class. `None` if the reply is none.
    pub(super) fn error(&self) -> Option<(&[u8], ErrorClass)> {
        let class = self.class.unwrap_or(ErrorClass::CommandError);
        (self.kind == Kind::Error).then_some((&self.error, class))
    }

    /// Sets the beginning of the error, and its class.
    pub(super) fn begin_error(&mut self, error: &[u8], class: ErrorClass) {
        (self.kind, self.class) = (Kind::Error, Some(class));
        self.error.clear();
        self.extend_error(error);
    }

    /// Appends to the error, up to 512 bytes.
    pub(super) fn extend_error(&mut self, bytes: &[u8]) {
        let room = ERROR_BYTES_MAX - self.error.len();
        self.error.extend_from_slice(&bytes[..bytes.len().min(room)]);
    }

    /// Value of this number, counted from 0; the number of a reply to `incr`, and the version, count as a value. `None` if it is
    /// absent or above 64 KiB.
    pub(super) fn value(&self, number: usize) -> Option<&[u8]> {
        let end = *self.ends.get(number)? as usize;
        let start = number.checked_sub(1).map_or(0, |before| self.ends[before] as usize);
        (!self.is_cut || end < KEPT_BYTES_MAX).then(|| &self.kept[start..end])
    }

    /// Whether a value contains these bytes.
    pub(super) fn contains(&self, bytes: &[u8]) -> bool {
        let values = (0..self.ends.len()).filter_map(|number| self.value(number));
        values.into_iter().any(|value| memchr::memmem::find(value, bytes).is_some())
    }

    /// Unique number of the last value. `None` if the reply has none.
    pub(super) fn unique(&self) -> Option<&[u8]> {
        (!self.unique.is_empty()).then_some(&self.unique)
    }

    /// Adds bytes to the present value.
    pub(super) fn keep(&mut self, bytes: &[u8]) {
        let room = KEPT_BYTES_MAX - self.kept.len();
        self.is_cut |= bytes.len() > room;
        self.kept.extend_from_slice(&bytes[..bytes.len().min(room)]);
    }

    /// Ends the present value.
    pub(super) fn end_value(&mut self) {
        if self.ends.len() < KEPT_VALUES_MAX {
            self.ends.push(self.kept.len() as u32);
        }
    }
}
