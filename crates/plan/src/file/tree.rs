//! Tree of a YAML file: texts as they were written, each with its place.

pub(crate) use wire::step::tree::{Entry, Node, Text, Value};

use crate::units;

/// Values with units in a mapping.
pub(crate) trait WithUnits {
    /// Duration of a key in nanoseconds. `None` if it is absent or cannot be parsed.
    fn duration_ns(&self, key: &str) -> Option<u64>;
}

impl WithUnits for Node {
    fn duration_ns(&self, key: &str) -> Option<u64> {
        units::duration_ns(self.text_of(key)?).ok()
    }
}
