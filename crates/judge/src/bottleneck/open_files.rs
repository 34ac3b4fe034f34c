//! Files that a process may have open.

use super::evidence::Evidence;
use super::words::percent;
use super::{Bottleneck, FULL, suspected};
use crate::causes::Resource;

pub(super) fn open_files(evidence: &Evidence<'_>) -> Option<Bottleneck> {
    let share = evidence.most(|signals| signals.open_files_share).filter(|share| *share >= FULL)?;
    let because = format!("a process of it had {} of the files open that it may have", percent(share));
    suspected(Resource::OpenFiles, "open files", because)
}
