//! Parts of steps: statements that are counted separately.

use std::collections::HashMap;

use crate::script::{Placeholders, ScriptSet};

use crate::settings::TransactionStep;

/// Statement of a step that is counted separately.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// First line of the statement, shortened.
    pub name: String,
    /// Number of its step.
    pub of: u16,
}

/// Maximum number of parts over all steps. Each costs memory in every thread, and a line in every report.
const PARTS_MAX: usize = 1_000;

/// Parts of all steps, in the order of their numbers, which follow those of the steps. A step with fewer than two statements has no parts.
/// Equal statements of a step share a part. The max is 1,000 parts; further statements have none.
pub fn parts(all_scripts: &ScriptSet, steps: &[TransactionStep]) -> Vec<Part> {
    number(all_scripts, steps).0
}

/// Part number of each statement of a step's script, in order. `None` for statements without a part.
pub(crate) type Accounts = Box<[Option<u16>]>;

/// Parts, and for each step the parts of its statements.
pub(crate) fn number(all_scripts: &ScriptSet, steps: &[TransactionStep]) -> (Vec<Part>, Vec<Accounts>) {
    let mut parts = Vec::new();
    let accounts = steps
        .iter()
        .enumerate()
        .map(|(of, step)| {
            let statements = all_scripts
                .scripts()
                .get(usize::from(step.script))
                .map_or(0..0, |script| script.statements());
            if statements.len() < 2 {
                return statements.map(|_| None).collect();
            }
            let mut known = HashMap::new();
            statements
                .map(|number| {
                    let statement = &all_scripts.statements()[usize::from(number)];
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
    fn number_of_parts_is_capped() {
        let text: String = (0..1_500).map(|number| format!("SELECT {number};\n")).collect();
        let mut all_scripts = ScriptSet::new();
        let script = all_scripts
            .add("long", text.as_bytes(), Language::Pgbench, Allow::default())
            .expect("it is right");
        let (parts, accounts) =
            number(&all_scripts, &[TransactionStep { name: "long".to_owned(), script, expects: None }]);
        assert_eq!((parts.len(), accounts[0].len()), (PARTS_MAX, 1_500));
        assert_eq!((accounts[0][999], accounts[0][1_000]), (Some(1_000), None));
    }
}
