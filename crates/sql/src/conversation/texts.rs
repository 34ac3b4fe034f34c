//! Numbers for generated statement texts, such as those with a table number.

use std::collections::HashMap;

/// Numbers under which a connection prepares distinct texts. A text with rows that are stored in variables gets a separate number, because
/// other prepared statements omit column names.
#[derive(Debug, Default)]
pub(super) struct Texts {
    /// Numbers by text: without, and with rows stored in variables.
    numbers: [HashMap<String, u16>; 2],
    first: u16,
}

/// Maximum number of prepared texts, which use memory on both sides. Further texts are not prepared.
const KEPT_MAX: usize = 4_096;

impl Texts {
    /// Creates the table. Numbers from `first` on are free.
    pub(super) fn new(first: u16) -> Self {
        Self { first, ..Self::default() }
    }

    /// Number of a text. `None` if there are too many texts.
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
