//! Processes of systems that a test started.

use fixtures::processes_with;

use super::{Home, until};

/// PIDs of all processes whose environment has the mark of a system that the Tenbin with PID `owner` started.
pub(crate) fn marked(owner: u32) -> Vec<u32> {
    let prefix = format!("TENBIN_SYSTEM={owner}:");
    processes_with(&prefix)
}

/// Asserts that no process of a system is left that was started with this home.
pub(crate) fn assert_nothing_is_left(home: &Home) {
    let mark = format!("HOME={}", home.path().display());
    until("every process of the study is gone", || processes_with(&mark).is_empty());
}
