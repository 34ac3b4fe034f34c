//! Parts of a window in which requests were open, over all workers, with a resolution of 1/64 of the window.

/// Set of window parts, with the first part in the lowest bit. Marking rounds outward to whole parts. Merging is exact.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OpenParts(u64);

impl OpenParts {
    /// Number of equal parts of a window.
    pub const COUNT: u64 = 64;
    /// All parts of a window.
    pub const ALL: Self = Self(u64::MAX);

    /// Creates the set from its bits.
    pub const fn from_bits(bits: u64) -> Self {
        Self(bits)
    }

    /// Returns the set as bits.
    pub const fn bits(self) -> u64 {
        self.0
    }

    /// Marks the parts from `from_ns` to `to_ns`, counted from the start of a window of `window_ns`. Parts beyond its end are ignored.
    pub fn mark(&mut self, from_ns: u64, to_ns: u64, window_ns: u64) {
        let part_ns = (window_ns / Self::COUNT).max(1);
        let (first, last) = (from_ns / part_ns, to_ns.max(from_ns + 1).saturating_sub(1) / part_ns);
        if first < Self::COUNT {
            let up_to_last = u64::MAX >> (Self::COUNT - 1 - last.min(Self::COUNT - 1));
            self.0 |= up_to_last & u64::MAX << first;
        }
    }

    /// Adds the parts that another worker marked in the same window.
    pub fn add(&mut self, more: Self) {
        self.0 |= more.0;
    }

    /// Returns the start and end of each contiguous run of marked parts, in nanoseconds, for a window of `window_ns` that began at `at_ns`.
    pub(crate) fn spans(self, at_ns: u64, window_ns: u64) -> impl Iterator<Item = (u64, u64)> {
        let edge_ns = move |part: u64| at_ns.saturating_add(window_ns * part / Self::COUNT);
        let mut part = 0;
        core::iter::from_fn(move || {
            let rest = self.0.checked_shr(part as u32)?;
            (rest != 0).then_some(())?;
            let first = part + u64::from(rest.trailing_zeros());
            let end = first + u64::from((self.0 >> first).trailing_ones());
            part = end;
            Some((edge_ns(first), edge_ns(end)))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;

    #[test]
    fn stretches_are_the_marked_times_rounded_outward() {
        let mut parts = OpenParts::default();
        parts.mark(5, 6, 640);
        parts.mark(100, 119, 640);
        parts.mark(120, 121, 640);
        parts.mark(600, 9_999, 640);
        parts.mark(640, 700, 640);
        let spans: Vec<(u64, u64)> = parts.spans(1_000, 640).collect();
        assert_eq!(spans, [(1_000, 1_010), (1_100, 1_130), (1_600, 1_640)]);
        assert_eq!(OpenParts::ALL.spans(7, 640).collect::<Vec<_>>(), [(7, 647)]);
        assert_eq!(OpenParts::default().spans(7, 640).count(), 0);
        let mut none = OpenParts::default();
        none.mark(30, 30, 640);
        assert_eq!(none.bits(), 0b1000, "an instant is part of its part");
    }
}
