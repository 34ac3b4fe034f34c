//! Build that was measured, as text.

use evidence::Origin;

/// Formats a build: `main · 1a2b3c4d5e6f on main`, with label, commit, and branch as far as known. Not escaped.
pub fn build(origin: &Origin) -> String {
    let commit = match (&origin.commit, &origin.branch) {
        (Some(commit), Some(branch)) => Some(format!("{commit} on {branch}")),
        (commit, branch) => commit.clone().or_else(|| branch.clone()),
    };
    origin.label.iter().cloned().chain(commit).collect::<Vec<_>>().join(" · ")
}
