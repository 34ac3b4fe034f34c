//! Control group (cgroup) that limits the CPU time of its processes.

use std::fs::{self, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process::{self, Command};

/// Mount point of cgroups v2.
const GROUPS: &str = "/sys/fs/cgroup";
/// File that exists only in cgroups v2.
const IS_VERSION_2: &str = "cgroup.controllers";
/// Mount point of the CPU controller of cgroups v1.
const GROUPS_1: &str = "/sys/fs/cgroup/cpu";
/// Period of the CPU quota, in microseconds.
const PERIOD_US: u32 = 100_000;

/// Control group with a CPU quota. Dropping it removes the group.
#[derive(Debug)]
pub struct Group(PathBuf);

impl Group {
    /// Creates a group whose processes may use this many cores in total.
    ///
    /// # Errors
    ///
    /// Returns a message if the machine or the user cannot create a group.
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
            // Opens existing files only: a folder that is not a cgroup does not have them.
            let mut file = OpenOptions::new().write(true).open(group.0.join(file)).map_err(cannot)?;
            file.write_all(value.as_bytes()).map_err(cannot)?;
        }
        Ok(group)
    }

    /// Returns a command that starts a program in the group. The caller adds the arguments.
    pub fn command(&self, program: &Path) -> Command {
        let script = format!("echo $$ > {}/cgroup.procs && exec \"$0\" \"$@\"", self.0.display());
        let mut command = Command::new("sh");
        command.args(["-c", &script]).arg(program);
        command
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        // Removal fails if a process is left. The remaining group is harmless.
        let _ = fs::remove_dir(&self.0);
    }
}
