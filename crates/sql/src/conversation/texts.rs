//! The texts of statements whose text is made again each time, such as those that name a table by number.

use std::collections::HashMap;

/// Each distinct text gets a number of its own, under which a connection prepares it; one whose rows become variables gets
/// another, for what is prepared for nobody's eyes leaves out the names of columns.
#[derive(Debug, Default)]
pub(super) struct Texts {
    /// Of texts whose rows are left alone, and of those whose rows are gathered.
    numbers: [HashMap<String, u16>; 2],
    first: u16,
}

/// What is prepared takes memory on both sides: texts beyond these are not kept.
const KEPT_MAX: usize = 4_096;

impl Texts {
    /// Numbers from `first` on are free.
    pub(super) fn new(first: u16) -> Self {
        Self { first, ..Self::default() }
    }

    /// The number of a text; `None` if there are too many of them.
    pub(super) fn number(&mut self, text: &str, gathers: bool) -> Option<u16> {
        if let Some(number) = self.numbers[usize::from(gathers)].get(text) {
            return Some(*number);
        }
        let known = self.numbers.iter().map(HashMap::len).sum::<usize>();
        let number = self.first.checked_add(u16::try_from(known).ok()?)?;
        if known >= KEPT_MAX {
            return None;
        }
        self.numbers[usize::from(gathers)].insert(text.to_owned(), number);
        Some(number)
    }
}
