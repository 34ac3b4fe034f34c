//! Former names of keys, which still work.

use super::findings::Findings;
use super::tree::{Node, Value};

/// Section of the plan, former name, and current name.
pub(crate) const RENAMED: &[(&str, &str, &str)] = &[("compare", "matters", "min-effect")];

/// Renames keys with former names. Errors still point at the text of the plan.
pub(crate) fn resolve(root: &mut Node, findings: &mut Findings) {
    for (section, former, name) in RENAMED {
        let Value::Map(entries) = &mut root.value else { return };
        let Some(section) = entries.iter_mut().find(|entry| entry.key == *section) else { continue };
        let Value::Map(entries) = &mut section.value.value else { continue };
        let has_both = entries.iter().any(|entry| entry.key == *name);
        let Some(entry) = entries.iter_mut().find(|entry| entry.key == *former) else { continue };
        if has_both {
            let what = format!("`{former}` is the former name of `{name}`, which is given too");
            findings.at(entry.key_at, what, "remove one of the two");
        }
        (*name).clone_into(&mut entry.key);
    }
}
