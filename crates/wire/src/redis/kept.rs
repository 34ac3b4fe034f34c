//! Content of a reply for checks and saved values: its items, concatenated.

use alloc::vec::Vec;

/// Max bytes and max items that are kept of a reply.
pub(super) const KEPT_BYTES_MAX: usize = 64 * 1024;
pub(super) const KEPT_ITEMS_MAX: usize = 4096;

/// The scalar items of a reply in order, without nesting.
#[derive(Debug, Default)]
pub(super) struct ScalarItems {
    bytes: Vec<u8>,
    items: Vec<Item>,
    is_cut: bool,
}

#[derive(Clone, Copy, Debug)]
struct Item {
    end: u32,
    is_nil: bool,
}

impl ScalarItems {
    pub(super) fn clear(&mut self) {
        self.bytes.clear();
        self.items.clear();
        self.is_cut = false;
    }

    /// Adds bytes to the present item.
    pub(super) fn add(&mut self, bytes: &[u8]) {
        let room = KEPT_BYTES_MAX - self.bytes.len();
        self.is_cut |= bytes.len() > room;
        self.bytes.extend_from_slice(&bytes[..bytes.len().min(room)]);
    }

    pub(super) fn end_item(&mut self, is_nil: bool) {
        if self.items.len() < KEPT_ITEMS_MAX {
            self.items.push(Item { end: self.bytes.len() as u32, is_nil });
        } else {
            self.is_cut = true;
        }
    }

    /// Item of this number, counted from 0. `None` if it is null, absent, or incomplete.
    pub(super) fn item(&self, number: usize) -> Option<&[u8]> {
        let item = self.items.get(number).filter(|item| !item.is_nil)?;
        let is_whole = !self.is_cut || (item.end as usize) < KEPT_BYTES_MAX;
        let start = number.checked_sub(1).map_or(0, |before| self.items[before].end as usize);
        is_whole.then(|| &self.bytes[start..item.end as usize])
    }

    /// The only item. `None` if there are several, or as in [`Self::item`].
    pub(super) fn only_item(&self) -> Option<&[u8]> {
        self.item(0).filter(|_| self.items.len() == 1)
    }

    /// All items in order, each escaped to a line.
    pub(super) fn lines(&self) -> Vec<u8> {
        let items = (0..self.items.len()).map(|number| self.item(number).unwrap_or_default());
        items.flat_map(|item| item.escape_ascii().chain([b'\n'])).collect()
    }

    /// Whether an item contains these bytes.
    pub(super) fn contains(&self, bytes: &[u8]) -> bool {
        let mut start = 0;
        self.items.iter().any(|item| {
            let content = &self.bytes[start..item.end as usize];
            start = item.end as usize;
            !item.is_nil && memchr::memmem::find(content, bytes).is_some()
        })
    }

    /// Up to 120 bytes from the beginning of the content, for messages.
    pub(super) fn beginning(&self) -> &[u8] {
        &self.bytes[..self.bytes.len().min(120)]
    }
}
