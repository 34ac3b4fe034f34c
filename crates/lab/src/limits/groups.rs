//! The groups of one system: created, changed while it runs, read, and removed.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use super::controller::write;
use super::membership::{self, Membership};
use super::{Controller, Disks, Kernel, Limits, failure, left, size};
use crate::Failure;
use crate::control_groups::{Hierarchy, Version, hierarchies};
use crate::marker::Marker;
use crate::processes;

/// Control groups of a system with limits.
#[derive(Clone, Debug)]
pub struct Groups {
    by_controller: BTreeMap<Controller, Group>,
    limits: Limits,
    disks: Disks,
}

#[derive(Clone, Debug)]
struct Group {
    version: Version,
    /// Group in which this group was created.
    parent: PathBuf,
    path: PathBuf,
    /// Group in which keepers run.
    home: PathBuf,
}

impl Groups {
    /// Creates the groups, and sets the limits. `to_come` are limits that may be set later: their controllers must be available
    /// too.
    pub(crate) fn make(
        limits: &Limits,
        to_come: &[Limits],
        marker: Marker,
        kernel: &Kernel,
    ) -> Result<Self, Failure> {
        let all = std::iter::once(limits).chain(to_come);
        let wanted: BTreeSet<Controller> = all.flat_map(Limits::controllers).collect();
        let (limits, disks) = (limits.clone(), kernel.disks.clone());
        let mut groups = Self { by_controller: BTreeMap::new(), limits, disks };
        let made = wanted.iter().try_for_each(|controller| {
            let group = Group::make(*controller, &wanted, marker, kernel).map_err(failure)?;
            let set = group.set(*controller, &groups.limits, &groups.disks);
            groups.by_controller.insert(*controller, group);
            let cores = "choose other cores, or remove `cores` from `resources`";
            set.map_err(|what| match controller {
                Controller::Cores => Failure { way_out: cores.to_owned(), ..failure(what) },
                _ => failure(what),
            })
        });
        made.inspect_err(|_| {
            // The first error is more useful than one of the removal.
            let _ = groups.remove();
        })?;
        Ok(groups)
    }

    /// Changes limits while the system runs. Limits that `change` does not name stay.
    ///
    /// # Errors
    ///
    /// The system was started without a group for the limit, or the kernel rejected the change.
    pub fn change(&self, change: &Limits) -> Result<(), String> {
        change.controllers().try_for_each(|controller| {
            let group = self.by_controller.get(&controller);
            let group = group.ok_or("the system was started without a group for this limit")?;
            group.set(controller, change, &self.disks)
        })
    }

    /// Restores the limits with which the system was started.
    ///
    /// # Errors
    /// The kernel rejected the change.
    pub fn put_back(&self) -> Result<(), String> {
        let mut groups = self.by_controller.iter();
        groups.try_for_each(|(controller, group)| group.set(*controller, &self.limits, &self.disks))
    }

    /// Number of processes that the kernel killed because the system exceeded its memory limit.
    pub(crate) fn killed_for_memory(&self) -> u64 {
        let Some(group) = self.by_controller.get(&Controller::Memory) else { return 0 };
        let name = match group.version {
            Version::First => "memory.oom_control",
            Version::Second => "memory.events",
        };
        let text = fs::read_to_string(group.path.join(name)).unwrap_or_default();
        let count = text.lines().find_map(|line| line.strip_prefix("oom_kill ")?.trim().parse().ok());
        count.unwrap_or(0)
    }

    /// Formats as "killed for memory: limit 64 MiB".
    pub(crate) fn killed_words(&self) -> String {
        let limit = self.limits.memory_bytes.map(|bytes| format!(": limit {}", size(bytes)));
        format!("killed for memory{}", limit.unwrap_or_default())
    }

    /// Groups that a process must join to be limited, without duplicates.
    pub(crate) fn memberships(&self) -> Vec<Membership> {
        let mut all: Vec<Membership> = Vec::new();
        for group in self.by_controller.values() {
            if all.iter().all(|known| known.group != group.path) {
                all.push(Membership { group: group.path.clone(), home: group.home.clone() });
            }
        }
        all
    }

    /// Directories that the probes read: the group for CPU time, and the group for memory.
    pub fn folders(&self) -> (Option<PathBuf>, Option<PathBuf>) {
        let of = |controller| self.by_controller.get(&controller).map(|group| group.path.clone());
        (of(Controller::Cpu), of(Controller::Memory))
    }

    /// Removes the groups, which must be empty.
    pub(crate) fn remove(&self) -> Result<(), String> {
        membership::remove(self.by_controller.values().map(|group| group.path.as_path()))
    }
}

impl Group {
    fn make(
        controller: Controller,
        wanted: &BTreeSet<Controller>,
        marker: Marker,
        kernel: &Kernel,
    ) -> Result<Self, String> {
        let mut why = None;
        for version in [Version::First, Version::Second] {
            let name = controller.name(version);
            let all = hierarchies(&kernel.memberships, &kernel.mounts, name);
            for hierarchy in all.iter().filter(|one| one.version == version && one.own.is_dir()) {
                match Self::make_in(hierarchy, controller, wanted, marker) {
                    Ok(group) => return Ok(group),
                    Err(error) => why = Some(why.unwrap_or(error)),
                }
            }
        }
        let name = controller.name(Version::Second);
        Err(why.unwrap_or_else(|| format!("no control group with the controller `{name}` is mounted here")))
    }

    fn make_in(
        hierarchy: &Hierarchy,
        controller: Controller,
        wanted: &BTreeSet<Controller>,
        marker: Marker,
    ) -> Result<Self, String> {
        let (parent, home) = match hierarchy.version {
            Version::First => (hierarchy.own.clone(), hierarchy.own.clone()),
            Version::Second => delegated_parent(&hierarchy.own, controller, wanted)?,
        };
        let path = parent.join(left::name(marker));
        match fs::create_dir(&path) {
            // In version 2, all controllers share one directory.
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
            made => made.map_err(|error| {
                let (name, place) = (controller.name(hierarchy.version), parent.display());
                format!("no control group for `{name}` can be made in {place}: {error}")
            })?,
        }
        Ok(Self { version: hierarchy.version, parent, path, home })
    }

    fn set(&self, controller: Controller, limits: &Limits, disks: &Disks) -> Result<(), String> {
        controller.set(self.version, [&self.parent, &self.path], limits, disks)
    }
}

/// Returns the version 2 group below which groups are created, and the group in which Tenbin runs. A group with processes cannot
/// have limited groups below it, so Tenbin moves itself to a subgroup if no other process is in its group.
fn delegated_parent(
    own: &Path,
    controller: Controller,
    wanted: &BTreeSet<Controller>,
) -> Result<(PathBuf, PathBuf), String> {
    let moved_before = own.file_name().and_then(|name| name.to_str()).and_then(left::parse_marker);
    let parent = match (moved_before, own.parent()) {
        (Some(marker), Some(parent)) if marker.is_of_this_process() => parent,
        _ => own,
    };
    let words = |file: &str| {
        let text = fs::read_to_string(parent.join(file)).unwrap_or_default();
        text.split_whitespace().map(str::to_owned).collect::<BTreeSet<String>>()
    };
    let name = controller.name(Version::Second);
    if !words("cgroup.controllers").contains(name) {
        return Err(format!("the control group {} has no controller `{name}`", parent.display()));
    }
    let there = words("cgroup.controllers");
    let on = words("cgroup.subtree_control");
    let names = wanted.iter().map(|one| one.name(Version::Second));
    let missing: Vec<String> = names
        .filter(|name| there.contains(*name) && !on.contains(*name))
        .map(|name| format!("+{name}"))
        .collect();
    let switch = parent.join("cgroup.subtree_control");
    if missing.is_empty() || parent != own {
        return write_if(&switch, &missing).map(|()| (parent.to_owned(), own.to_owned()));
    }
    if write_if(&switch, &missing).is_ok() {
        return Ok((parent.to_owned(), own.to_owned()));
    }
    let home = move_out(own)?;
    write_if(&switch, &missing).map(|()| (own.to_owned(), home))
}

fn write_if(switch: &Path, words: &[String]) -> Result<(), String> {
    if words.is_empty() { Ok(()) } else { write(switch, &words.join(" ")) }
}

/// Moves this process and its descendants to a subgroup, so that their former group can have limited groups below it.
fn move_out(own: &Path) -> Result<PathBuf, String> {
    let text = fs::read_to_string(own.join("cgroup.procs")).unwrap_or_default();
    let pids: BTreeSet<u32> = text.lines().filter_map(|line| line.trim().parse().ok()).collect();
    let mut ours: BTreeSet<u32> =
        processes::below(std::process::id()).into_iter().map(|seen| seen.pid).collect();
    ours.insert(std::process::id());
    if let Some(other) = pids.difference(&ours).next() {
        return Err(format!(
            "the control group {} has other processes than Tenbin, such as {other}, so it can have no limits below it",
            own.display()
        ));
    }
    let home = own.join(left::name(Marker::new()));
    fs::create_dir(&home).map_err(|error| format!("{} cannot be made: {error}", home.display()))?;
    pids.iter().try_for_each(|pid| write(&home.join("cgroup.procs"), &pid.to_string()))?;
    Ok(home)
}
