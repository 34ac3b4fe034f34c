//! Which processes of systems there are.

use std::fs;

use super::{Home, until};

/// Every process whose environment carries the mark of a system that the Tenbin with this pid started.
pub(crate) fn marked(owner: u32) -> Vec<u32> {
    let prefix = format!("TENBIN_SYSTEM={owner}:");
    processes_with(&prefix)
}

/// No process of a system is left that was started with this home.
pub(crate) fn assert_nothing_is_left(home: &Home) {
    let mark = format!("HOME={}", home.path().display());
    until("every process of the study is gone", || processes_with(&mark).is_empty());
}

fn processes_with(prefix: &str) -> Vec<u32> {
    let pids = fs::read_dir("/proc").expect("/proc").flatten();
    let pids = pids.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    let has_it = |pid: &u32| {
        let environment = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
        environment.split(|byte| *byte == 0).any(|variable| variable.starts_with(prefix.as_bytes()))
    };
    pids.filter(has_it).collect()
}
