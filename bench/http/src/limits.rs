//! Limit on open files. Each connection is an open file in the bare loop, in the tools, and in nginx.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Desired limit on open files: above the 16,000 that nginx is configured for.
const OPEN_FILES_WANTED: u64 = 20_000;

/// Raises the limit on open files as far as possible, for this process and its children. Returns the new limit.
pub(crate) fn raise_open_files() -> u64 {
    let limit = getrlimit(Resource::Nofile);
    let hard = limit.maximum.map(|maximum| maximum.max(OPEN_FILES_WANTED));
    // Only root may raise the hard limit. Every user may raise the soft limit up to it.
    let is_raised = setrlimit(Resource::Nofile, Rlimit { current: hard, maximum: hard }).is_ok();
    if !is_raised {
        let _ = setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, maximum: limit.maximum });
    }
    getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX)
}
