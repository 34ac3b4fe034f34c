//! Finds groups of a Tenbin that was killed together with its keepers, by their name, and removes them.

use std::fs;
use std::path::{Path, PathBuf};

use super::{Controller, membership};
use crate::control_groups::{Version, mount};
use crate::marker::{Marker, Owner};
use crate::processes::{self, Seen};

const PREFIX: &str = "tenbin-";
/// Max depth of the search for groups. `GROUPS_MAX` is the max number of groups that are searched.
const LEVELS_MAX: usize = 8;
const GROUPS_MAX: usize = 20_000;

/// Name of a group, which identifies its owner.
pub(super) fn name(marker: Marker) -> String {
    format!("{PREFIX}{marker}")
}

/// Marker of the owner. `None` if the group does not belong to a Tenbin.
pub(super) fn parse_marker(name: &str) -> Option<Marker> {
    Marker::parse(name.strip_prefix(PREFIX)?)
}

/// Processes in groups of dead Tenbin processes.
pub(crate) fn orphaned_processes() -> Vec<Seen> {
    let mut seen: Vec<Seen> = Vec::new();
    for group in orphaned_groups(&mount_points()) {
        let text = fs::read_to_string(group.join("cgroup.procs")).unwrap_or_default();
        let pids = text.lines().filter_map(|line| line.trim().parse().ok());
        seen.extend(pids.filter_map(processes::look).filter(|seen| !seen.is_zombie));
    }
    seen
}

/// Removes the groups of dead Tenbin processes. Returns the number of systems they belonged to.
pub(crate) fn remove_orphaned() -> usize {
    let groups = orphaned_groups(&mount_points());
    let mut names: Vec<_> = groups
        .iter()
        .filter(|group| membership::remove([group.as_path()]).is_ok())
        .filter_map(|group| group.file_name())
        .collect();
    names.sort_unstable();
    names.dedup();
    names.len()
}

fn mount_points() -> Vec<PathBuf> {
    let mounts = fs::read_to_string("/proc/self/mountinfo").unwrap_or_default();
    let mut points: Vec<PathBuf> = Vec::new();
    for version in [Version::First, Version::Second] {
        for controller in Controller::ALL {
            let found = mounts.lines().find_map(|line| mount(line, version, controller.name(version)));
            points.extend(found.map(|(_, point)| PathBuf::from(point)));
        }
    }
    points.sort_unstable();
    points.dedup();
    points
}

fn orphaned_groups(points: &[PathBuf]) -> Vec<PathBuf> {
    let (mut found, mut looked_at) = (Vec::new(), 0);
    let mut next: Vec<(PathBuf, usize)> = points.iter().map(|point| (point.clone(), 0)).collect();
    while let Some((folder, level)) = next.pop() {
        looked_at += 1;
        if looked_at > GROUPS_MAX {
            break;
        }
        let entries = fs::read_dir(&folder).into_iter().flatten().flatten();
        for entry in entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir())) {
            let path = entry.path();
            match owner(&path) {
                Some(Owner::Dead) => found.push(path),
                Some(_) => {}
                None if level < LEVELS_MAX => next.push((path, level + 1)),
                None => {}
            }
        }
    }
    found
}

fn owner(group: &Path) -> Option<Owner> {
    parse_marker(group.file_name()?.to_str()?).map(Marker::owner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_of_dead_owners_are_found_by_name() {
        let place = tempfile::tempdir().expect("a folder");
        let living = place.path().join("deep").join(name(Marker::new()));
        let dead = Marker::parse(&format!("1:1:1:{}", namespaces())).expect("a marker");
        let dead = place.path().join("deep/deeper").join(name(dead));
        for path in [&living, &dead, &place.path().join("tenbin-else")] {
            fs::create_dir_all(path).expect("made");
        }
        assert_eq!(orphaned_groups(&[place.path().to_owned()]), [dead]);
    }

    /// Namespaces of this process, in the format of a marker.
    fn namespaces() -> String {
        let own = Marker::new().to_string();
        own.splitn(4, ':').last().expect("the namespaces").to_owned()
    }
}
