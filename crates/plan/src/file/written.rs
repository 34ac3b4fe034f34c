//! Reads the section `written`: the table that a step inserts into, which is checked after each load.

use super::reading::Reading;
use super::tree::Node;
use crate::plan::PlannedStep;
use crate::study::WrittenText;

/// Max length of the name of a table or column.
const NAME_CHARACTERS_MAX: usize = 128;

/// Reads the section. `steps` are all steps. `None` if there is no section, or if it has errors.
pub(crate) fn read(root: &Node, steps: &[PlannedStep], reading: &mut Reading<'_>) -> Option<WrittenText> {
    let section = root.entry("written")?;
    let node = &section.value;
    let table = name(node, "table", reading);
    let key = name(node, "key", reading);
    let step = match (node.get("step"), steps) {
        (Some(named), _) => {
            let text = named.text()?;
            if !steps.iter().any(|step| step.name == text) {
                let known = steps.iter().map(|step| step.name.as_str());
                let what = format!("unknown step `{text}`");
                reading.findings.unknown(named.at, what, text, known, "write the name of one of");
                return None;
            }
            text.to_owned()
        }
        (None, [only]) => only.name.clone(),
        (None, _) => {
            let what = format!("`written` counts the rows of one step, and there are {}", steps.len());
            reading.at(section.key_at, what, "add `step: NAME`");
            return None;
        }
    };
    Some(WrittenText {
        table: table?,
        key: key?,
        step,
        endpoint: node.text_of("endpoint").map(str::to_owned),
    })
}

/// Name of a table or column. It is inserted into statements without quotes, so only letters, digits, `_`, and `.` are allowed.
fn name(node: &Node, key: &str, reading: &mut Reading<'_>) -> Option<String> {
    let named = node.get(key)?;
    let text = named.text()?;
    let is_letter = |letter: char| letter.is_ascii_alphanumeric() || ['_', '.'].contains(&letter);
    let begins = text.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_');
    if !begins || !text.chars().all(is_letter) || text.len() > NAME_CHARACTERS_MAX {
        let help = "use letters, digits, _, and ., or create a view with such a name";
        reading.at(named.at, format!("{text:?} is not a name that can be checked"), help);
        return None;
    }
    Some(text.to_owned())
}
