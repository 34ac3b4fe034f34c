//! Separate disk for a system: a file system of fixed size in an image file, mounted in the folder of the system for one run.
//!
//! The disk is removed when the system has stopped. If Tenbin is killed, its keepers remove it. If they are killed too, the next
//! Tenbin removes it. The file name identifies the owner.

use std::fs::{self, File, OpenOptions, Permissions};
use std::io;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use rustix::fs::{FallocateFlags, fallocate, fstatvfs};
use rustix::io::Errno;

use crate::access::Need;
use crate::deadline::Deadline;
use crate::marker::{Marker, Owner};
use crate::removal::mounts;
use crate::{Failure, Stage};

/// Name of the mount point in the folder of the system.
pub const NAME: &str = "disk";
const PREFIX: &str = "tenbin-disk-";
/// Directory in which the kernel lists the files behind loop devices.
const DEVICES: &str = "/sys/block";
/// Name of the file that fills the disk.
const FILL_FILE: &str = ".tenbin-fill";
const BLOCK_BYTES: u64 = 4096;
/// Time to retry unmounting: a process that just ended may still hold a file open.
const UNMOUNT_TIMEOUT: Duration = Duration::from_secs(2);
const PAUSE: Duration = Duration::from_millis(20);
/// Mounted disk.
#[derive(Clone, Debug)]
pub(crate) struct Disk {
    point: PathBuf,
    /// Device number, to detect that the disk is no longer mounted at `point`.
    device: u64,
}

/// Checks that disks of this size can be created, by creating and removing one. Starts no process of a system.
///
/// # Errors
///
/// Names the missing part, and the remedy.
pub fn check(bytes: u64) -> Result<(), Failure> {
    let marker = Marker::new();
    let folder = std::env::temp_dir().join(format!("{PREFIX}{marker}"));
    fs::create_dir(&folder).map_err(|error| {
        let what = format!("the folder {} cannot be made: {error}", folder.display());
        failure(what, "set TMPDIR to a folder that can be written")
    })?;
    let checked = Disk::make(&folder, bytes, marker).and_then(|disk| disk.remove());
    let removed = crate::remove_folder(&folder);
    checked.and(removed.map_err(|error| {
        failure(format!("the folder {} cannot be removed: {error}", folder.display()), "remove it by hand")
    }))
}

fn failure(what: String, way_out: &str) -> Failure {
    Failure { stage: Stage::Disk, process: None, what, way_out: way_out.to_owned(), outputs: Vec::new() }
}

impl Disk {
    /// Creates and mounts the disk. Every user may write to it.
    pub(crate) fn make(folder: &Path, bytes: u64, marker: Marker) -> Result<Self, Failure> {
        let (image, point) = (folder.join(format!("{PREFIX}{marker}")), folder.join(NAME));
        let cannot = |what: String| {
            let way_out = format!("{}, or remove `disk` from the system", Need::Disk.remedy());
            failure(format!("no disk can be made: {what}"), &way_out)
        };
        let io = |error: io::Error| cannot(error.to_string());
        let file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&image).map_err(io)?;
        reserve(&file, bytes).map_err(|why| {
            let what = format!("a disk of {bytes} bytes cannot be made in {}: {why}", folder.display());
            failure(what, "make room, choose a smaller `disk`, or set TMPDIR to a folder on another disk")
        })?;
        drop(file);
        let block = BLOCK_BYTES.to_string();
        let lazy = "lazy_itable_init=0,lazy_journal_init=0";
        let mut format = Command::new("mkfs.ext4");
        run(format.args(["-q", "-F", "-m", "0", "-b", &block, "-E", lazy]).arg(&image)).map_err(cannot)?;
        fs::create_dir(&point).map_err(io)?;
        run(Command::new("mount").args(["-t", "ext4", "-o", "loop,nosuid,nodev"]).arg(&image).arg(&point))
            .map_err(cannot)?;
        let prepared = fs::remove_dir(point.join("lost+found"))
            .and_then(|()| fs::set_permissions(&point, Permissions::from_mode(0o1777)))
            .and_then(|()| fs::metadata(&point));
        let disk = prepared.map(|meta| Self { point: point.clone(), device: meta.dev() });
        disk.map_err(|error| {
            // The error of the preparation is more useful than one of the unmount.
            let _ = unmount(&point);
            io(error)
        })
    }

    pub(crate) fn point(&self) -> &Path {
        &self.point
    }

    /// Unmounts the disk, which no process may use any more. The image file is removed with the folder.
    pub(crate) fn remove(&self) -> Result<(), Failure> {
        unmount(&self.point).map_err(|what| {
            let what = format!("the disk {} cannot be unmounted: {what}", self.point.display());
            failure(what, "end the processes that use it, and unmount it by hand (umount)")
        })
    }

    /// Starts to fill the disk.
    ///
    /// # Errors
    /// Reason why the disk cannot be filled, as the end of a sentence.
    pub(crate) fn fill(&self) -> Result<DiskFill, String> {
        let path = self.point.join(FILL_FILE);
        let file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path);
        let file = file.map_err(|error| match error.kind() {
            io::ErrorKind::AlreadyExists => "is filled by another event".to_owned(),
            _ => format!("cannot be written: {error}"),
        })?;
        let filling = DiskFill { file, path, stays: false };
        match filling.file.metadata() {
            Ok(meta) if meta.dev() == self.device => Ok(filling),
            _ => Err("is not mounted any more".to_owned()),
        }
    }
}

/// Allocates the whole file now, because running out of host space later would look like a full disk. Uses at most half of the free space.
fn reserve(file: &File, bytes: u64) -> Result<(), String> {
    let about = fstatvfs(file).map_err(|error| error.to_string())?;
    let free_bytes = about.f_bavail.saturating_mul(about.f_frsize);
    if free_bytes / 2 < bytes {
        return Err(format!("{free_bytes} bytes are free, and it may take half of them"));
    }
    fallocate(file, FallocateFlags::empty(), 0, bytes).map_err(|error| error.to_string())
}

/// File that occupies the space of a disk. Dropping it removes the file.
#[derive(Debug)]
pub(crate) struct DiskFill {
    file: File,
    path: PathBuf,
    stays: bool,
}

impl DiskFill {
    /// Leaves the file on the disk.
    pub(crate) fn keep(mut self) {
        self.stays = true;
    }

    /// Occupies all free space except `leave_bytes`.
    pub(crate) fn take(&self, leave_bytes: u64) -> Result<(), String> {
        let cannot = |error: Errno| format!("cannot be filled: {error}");
        let free = || {
            let about = fstatvfs(&self.file).map_err(cannot)?;
            Ok::<u64, String>((about.f_bavail * about.f_frsize).saturating_sub(leave_bytes))
        };
        let mut step = free()?;
        while step >= BLOCK_BYTES {
            let length = self.file.metadata().map_err(|error| format!("cannot be filled: {error}"))?.len();
            match fallocate(&self.file, FallocateFlags::empty(), length, step) {
                Ok(()) => step = free()?,
                // The file system needs part of the space for its own metadata.
                Err(Errno::NOSPC) => step /= 2,
                Err(Errno::INTR) => {}
                Err(error) => return Err(cannot(error)),
            }
        }
        Ok(())
    }
}

impl Drop for DiskFill {
    fn drop(&mut self) {
        if !self.stays {
            // Unmounting the disk removes the file as well.
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// Unmounts the file system at `point`. A missing mount is not an error.
pub(crate) fn unmount(point: &Path) -> Result<(), String> {
    let until = Deadline::after(UNMOUNT_TIMEOUT);
    loop {
        let table = fs::read("/proc/self/mountinfo").map_err(|error| error.to_string())?;
        if !mounts(&table).any(|mount| mount == point) {
            return Ok(());
        }
        match run(Command::new("umount").arg(point)) {
            Err(what) if until.is_over() => return Err(what),
            _ => thread::sleep(PAUSE),
        }
    }
}

/// Unmounts disks of dead Tenbin processes. Returns their number.
pub(crate) fn remove_orphaned() -> usize {
    let table = fs::read("/proc/self/mountinfo").unwrap_or_default();
    mounts(&table).filter(|point| owner(point) == Some(Owner::Dead) && unmount(point).is_ok()).count()
}

/// Owner of the disk mounted at `point`. `None` if the device behind it is not a Tenbin image file.
fn owner(point: &Path) -> Option<Owner> {
    if point.file_name()? != NAME {
        return None;
    }
    let device = fs::symlink_metadata(point).ok()?.dev();
    let number = format!("{}:{}", rustix::fs::major(device), rustix::fs::minor(device));
    let devices = fs::read_dir(DEVICES).into_iter().flatten().flatten().map(|entry| entry.path());
    let mut same =
        devices.filter(|one| fs::read_to_string(one.join("dev")).is_ok_and(|own| own.trim() == number));
    let file = fs::read_to_string(same.next()?.join("loop/backing_file")).ok()?;
    let name = Path::new(file.trim_end().trim_end_matches(" (deleted)")).file_name()?.to_str()?.to_owned();
    Marker::parse(name.strip_prefix(PREFIX)?).map(Marker::owner)
}

fn run(command: &mut Command) -> Result<(), String> {
    let program = command.get_program().to_string_lossy().into_owned();
    let output = command.stdin(Stdio::null()).output();
    let output = output.map_err(|error| format!("`{program}` cannot be run: {error}"))?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    Err(format!("`{program}`: {}", said.lines().next().unwrap_or("it failed").trim()))
}
