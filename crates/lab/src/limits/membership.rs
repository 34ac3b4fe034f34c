//! Moves processes into the groups of a system, and removes groups.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::controller::write;
use crate::deadline::Deadline;

/// Time to retry a removal: a group keeps dead processes for a moment.
const REMOVE_TIMEOUT: Duration = Duration::from_secs(2);
const PAUSE: Duration = Duration::from_millis(10);
/// Max depth of nested groups that a system may have created.
const LEVELS_MAX: usize = 16;

/// Membership in one group of a system.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Membership {
    /// Directory of the group.
    pub(crate) group: PathBuf,
    /// Group outside of the limits, in which keepers run.
    pub(crate) home: PathBuf,
}

/// Runs `start` while this process, which must have a single thread, is in these groups. The process that it starts is in them from
/// its first instruction.
pub(crate) fn inside<T>(
    memberships: &[Membership],
    start: impl FnOnce() -> Result<T, String>,
) -> Result<T, String> {
    let enter = memberships.iter().try_for_each(|one| move_to(&one.group));
    let started = enter.and_then(|()| start());
    let leave = memberships.iter().try_for_each(|one| move_to(&one.home));
    started.and_then(|started| leave.map(|()| started))
}

/// Moves this process to a group.
fn move_to(group: &Path) -> Result<(), String> {
    // 0 means the writing process.
    write(&group.join("cgroup.procs"), "0")
}

/// Removes groups, nested groups first. Waits briefly for the last process to leave.
pub(crate) fn remove<'a>(groups: impl IntoIterator<Item = &'a Path>) -> Result<(), String> {
    let until = Deadline::after(REMOVE_TIMEOUT);
    let mut failed = None;
    for group in groups {
        loop {
            match remove_tree(group, LEVELS_MAX) {
                Err(error) if error.kind() == ErrorKind::NotFound => break,
                Err(_) if !until.is_over() => thread::sleep(PAUSE),
                Err(error) => {
                    let what = format!("the control group {} cannot be removed: {error}", group.display());
                    failed.get_or_insert(what);
                    break;
                }
                Ok(()) => break,
            }
        }
    }
    failed.map_or(Ok(()), Err)
}

fn remove_tree(group: &Path, levels_left: usize) -> std::io::Result<()> {
    if levels_left > 0 {
        for entry in fs::read_dir(group)?.flatten() {
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                remove_tree(&entry.path(), levels_left - 1)?;
            }
        }
    }
    fs::remove_dir(group)
}
