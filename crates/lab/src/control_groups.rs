//! Locates the control groups of a process, in version 1 and 2.

use std::path::{Path, PathBuf};

/// Version of a control group hierarchy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Version {
    First,
    Second,
}

/// A mounted hierarchy, and the group of the process in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Hierarchy {
    pub(crate) version: Version,
    /// Mount point.
    pub(crate) point: PathBuf,
    /// Directory of the group of the process.
    pub(crate) own: PathBuf,
}

/// Max number of ancestor groups that are read. A limit of any of them applies to all groups below.
const LEVELS_MAX: usize = 16;

impl Hierarchy {
    /// Groups of the process, from its own up to the root of the hierarchy.
    pub(crate) fn groups(&self) -> impl Iterator<Item = &Path> {
        self.own.ancestors().take(LEVELS_MAX).take_while(|group| group.starts_with(&self.point))
    }
}

/// Hierarchies that may have `controller`: the version 1 hierarchy with that controller, and the version 2 hierarchy. `memberships`
/// is `/proc/PID/cgroup`, `mounts` is `/proc/PID/mountinfo`.
pub(crate) fn hierarchies(memberships: &str, mounts: &str, controller: &str) -> Vec<Hierarchy> {
    let mut found = Vec::new();
    for line in memberships.lines() {
        let mut fields = line.splitn(3, ':').skip(1);
        let (Some(controllers), Some(path)) = (fields.next(), fields.next()) else { continue };
        let version = if controllers.is_empty() { Version::Second } else { Version::First };
        if version == Version::First && controllers.split(',').all(|known| known != controller) {
            continue;
        }
        let Some((root, point)) = mounts.lines().find_map(|line| mount(line, version, controller)) else {
            continue;
        };
        // In a container, the mounted hierarchy may start at the process's group.
        let below = path.strip_prefix(root.as_str()).unwrap_or(path).trim_start_matches('/');
        let point = PathBuf::from(point);
        let own = if below.is_empty() { point.clone() } else { point.join(below) };
        found.push(Hierarchy { version, point, own });
    }
    found
}

/// Root and mount point of a hierarchy from a line of `mountinfo`: version 2, or version 1 with `controller`. `None` for any other
/// mount.
pub(crate) fn mount(line: &str, version: Version, controller: &str) -> Option<(String, String)> {
    let (place, system) = line.split_once(" - ")?;
    let mut system = system.split_ascii_whitespace();
    let kind = match version {
        Version::First => "cgroup",
        Version::Second => "cgroup2",
    };
    if system.next()? != kind {
        return None;
    }
    let options = system.nth(1).unwrap_or_default();
    if version == Version::First && options.split(',').all(|option| option != controller) {
        return None;
    }
    let mut fields = place.split_ascii_whitespace().skip(3);
    Some((fields.next()?.trim_end_matches('/').to_owned(), fields.next()?.to_owned()))
}
