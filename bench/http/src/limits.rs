//! How many files may be open: every connection is one, here, in the tools and in nginx.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// What nginx is set up for, with room for its own files.
const WANTED: u64 = 20_000;

/// Raises the limit as far as it goes, for this program and those that it starts. Returns what there is now.
pub(crate) fn raise_open_files() -> u64 {
    let limit = getrlimit(Resource::Nofile);
    let hard = limit.maximum.map(|maximum| maximum.max(WANTED));
    // Only the superuser may raise the hard limit; everybody may use what there is of it.
    let is_raised = setrlimit(Resource::Nofile, Rlimit { current: hard, maximum: hard }).is_ok();
    if !is_raised {
        let _ = setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, maximum: limit.maximum });
    }
    getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX)
}
