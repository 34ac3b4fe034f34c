//! A group of processes that together may use only a part of a core.

use std::fs::{self, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process::{self, Command};

/// Where the kernel shows groups of version 2, the file that only that version has, and where it shows those of version 1.
const GROUPS: &str = "/sys/fs/cgroup";
const IS_VERSION_2: &str = "cgroup.controllers";
const GROUPS_1: &str = "/sys/fs/cgroup/cpu";
/// Over which CPU time is metered, in microseconds.
const PERIOD_US: u32 = 100_000;

/// A control group with a quota of CPU time. It is removed when it is dropped.
#[derive(Debug)]
pub struct Group(PathBuf);

impl Group {
    /// Makes a group whose processes together may use so many cores.
    ///
    /// # Errors
    ///
    /// A sentence: this machine, or this user, cannot make such a group.
    pub fn make(cores: f64) -> Result<Self, String> {
        let quota_us = (cores * f64::from(PERIOD_US)).round();
        let is_version_2 = Path::new(GROUPS).join(IS_VERSION_2).exists();
        let (root, quota) = if is_version_2 {
            (GROUPS, vec![("cpu.max", format!("{quota_us} {PERIOD_US}"))])
        } else {
            let period = ("cpu.cfs_period_us", PERIOD_US.to_string());
            (GROUPS_1, vec![period, ("cpu.cfs_quota_us", quota_us.to_string())])
        };
        let path = Path::new(root).join(format!("tenbin-quota-{}", process::id()));
        let cannot =
            |error: io::Error| format!("no group of processes with a quota can be made here: {error}");
        fs::create_dir(&path).map_err(cannot)?;
        let group = Self(path);
        for (file, value) in quota {
            // Opened, not made: a folder that is no group has no such file.
            let mut file = OpenOptions::new().write(true).open(group.0.join(file)).map_err(cannot)?;
            file.write_all(value.as_bytes()).map_err(cannot)?;
        }
        Ok(group)
    }

    /// A program that starts in the group; its arguments follow.
    pub fn command(&self, program: &Path) -> Command {
        let script = format!("echo $$ > {}/cgroup.procs && exec \"$0\" \"$@\"", self.0.display());
        let mut command = Command::new("sh");
        command.args(["-c", &script]).arg(program);
        command
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        // It can only be removed once nothing is left in it, and what is left is no harm.
        let _ = fs::remove_dir(&self.0);
    }
}
