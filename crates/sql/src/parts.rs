//! The parts of steps: statements with accounts of their own.

use std::collections::HashMap;

use script::{Deck, Placeholders};

use crate::settings::Step;

/// A statement of a step that has an account of its own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// Its first line, shortened.
    pub name: String,
    /// The number of its step.
    pub of: u16,
}

/// The parts of all steps, in the order of their accounts: the first one's number is the number of steps. A step with fewer than
/// two statements has none; statements of a step with the same text share one.
pub fn parts(deck: &Deck, steps: &[Step]) -> Vec<Part> {
    number(deck, steps).0
}

/// For each statement of a step's script, in order, the number of its account.
pub(crate) type Accounts = Box<[Option<u16>]>;

/// The parts, and for each step which statement belongs to which.
pub(crate) fn number(deck: &Deck, steps: &[Step]) -> (Vec<Part>, Vec<Accounts>) {
    let mut parts = Vec::new();
    let accounts = steps
        .iter()
        .enumerate()
        .map(|(of, step)| {
            let statements =
                deck.scripts().get(usize::from(step.script)).map_or(0..0, |script| script.statements());
            if statements.len() < 2 {
                return statements.map(|_| None).collect();
            }
            let mut known = HashMap::new();
            statements
                .map(|number| {
                    let statement = &deck.statements()[usize::from(number)];
                    *known.entry(statement.extended(Placeholders::Question)).or_insert_with(|| {
                        let account = u16::try_from(steps.len() + parts.len()).ok()?;
                        parts.push(Part { name: statement.title().to_owned(), of: of as u16 });
                        Some(account)
                    })
                })
                .collect()
        })
        .collect();
    (parts, accounts)
}
