//! The parts of steps: statements with accounts of their own.

use std::collections::HashMap;

use crate::script::{Deck, Placeholders};

use crate::settings::TransactionStep;

/// A statement of a step that has an account of its own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// Its first line, shortened.
    pub name: String,
    /// The number of its step.
    pub of: u16,
}

/// Over all steps: each costs memory in every thread, and a line in every report.
const PARTS_MAX: usize = 1_000;

/// The parts of all steps, in the order of their accounts: the first one's number is the number of steps. A step with fewer than
/// two statements has none; statements of a step with the same text share one. There are at most 1,000: statements after those
/// have none.
pub fn parts(deck: &Deck, steps: &[TransactionStep]) -> Vec<Part> {
    number(deck, steps).0
}

/// For each statement of a step's script, in order, the number of its account.
pub(crate) type Accounts = Box<[Option<u16>]>;

/// The parts, and for each step which statement belongs to which.
pub(crate) fn number(deck: &Deck, steps: &[TransactionStep]) -> (Vec<Part>, Vec<Accounts>) {
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
                        if parts.len() == PARTS_MAX {
                            return None;
                        }
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::script::{Allow, Language};

    #[test]
    fn endless_scripts_have_an_end_of_accounts() {
        let text: String = (0..1_500).map(|number| format!("SELECT {number};\n")).collect();
        let mut deck = Deck::new();
        let script =
            deck.add("long", text.as_bytes(), Language::Pgbench, Allow::default()).expect("it is right");
        let (parts, accounts) =
            number(&deck, &[TransactionStep { name: "long".to_owned(), script, expects: None }]);
        assert_eq!((parts.len(), accounts[0].len()), (PARTS_MAX, 1_500));
        assert_eq!((accounts[0][999], accounts[0][1_000]), (Some(1_000), None));
    }
}
