//! Files that a process may have open.

use super::evidence::Evidence;
use super::words::percent;
use super::{Bottleneck, FULL, Rule, suspected};
use crate::causes::Resource;

impl Resource {
    /// Files that a process may have open.
    pub const OPEN_FILES: Self = Self::new("open_files", "open files");
}

pub(super) const OPEN_FILES: Rule = Rule {
    finds: &[Resource::OPEN_FILES],
    when: "a process of the system had 95 % of the open files that it may have",
    why: "it fails at 100 %",
    find: open_files,
};

fn open_files(evidence: &Evidence<'_>) -> Option<Bottleneck> {
    let share = evidence.most(|signals| signals.open_files_share).filter(|share| *share >= FULL)?;
    let because = format!("a process of it had {} of the files open that it may have", percent(share));
    suspected(Resource::OPEN_FILES, because)
}
