//! The limit on open files of a process.

use super::cause::{Bottleneck, Scope, suspected};
use super::evidence::Evidence;
use super::words::percent;
use super::{Coverage, LIMIT_REACHED_MIN_SHARE, Rule, Rung};
use crate::causes::Resource;

impl Resource {
    /// The limit on open files of a process.
    pub const OPEN_FILES: Self = Self::new("open_files", "open files")
        .next("raise the limit of open files of the system (ulimit -n, LimitNOFILE)");
}

pub(super) const OPEN_FILES: Rule = Rule {
    finds: &[Resource::OPEN_FILES],
    when: "a process of the system had 95 % of the open files that it may have",
    why: "it fails at 100 %",
    refuted_by: &[],
    rung: Rung::Kernel,
    covers: Coverage::Any,
    find: open_files,
};

fn open_files(evidence: &Evidence<'_>) -> Option<Bottleneck> {
    let share = evidence
        .most(|signals| signals.open_files_share)
        .filter(|share| *share >= LIMIT_REACHED_MIN_SHARE)?;
    // Files that were open before the limit was lowered count too, so the ratio can exceed 1.
    let because = match share {
        share if share <= 1.0 => {
            format!("a process of it had {} of the files open that it may have", percent(share))
        }
        _ => "a process of it had more files open than it may have by now".to_owned(),
    };
    Some(suspected(Resource::OPEN_FILES, Scope::System, because).direct(Some(1.0)).without_share())
}
