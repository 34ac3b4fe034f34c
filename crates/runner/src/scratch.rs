//! Folders for the files of started systems, and the removal of those left by killed Tenbin processes.
//!
//! ```text
//! $TMPDIR/tenbin-Xy12Zw/        created with a random name
//!                      owner    mark, locked as long as the Tenbin process that created the folder lives
//!                      dir/     {dir} in plans
//! ```
//!
//! A folder is removed only if its mark states the path, device, and inode of the folder, the user, and the current boot of the machine.
//! Copies, moved folders, folders of another machine, and other folders with a similar name stay.

use std::fs::{self, File, OpenOptions, Permissions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use rustix::fs::OFlags;

const PREFIX: &str = "tenbin-";
const MARK_FILE: &str = "owner";
const INNER: &str = "dir";
/// Mode of the folder. It may contain keys, data, and configuration of the system, so no other user may read it.
const MODE: u32 = 0o700;
/// Mode of the folder if started as root. A system may drop its privileges (PostgreSQL, workers of nginx), and must reach files by
/// name, but need not list them.
const MODE_OF_ROOT: u32 = 0o711;
const FIRST_LINE: &str = "A running Tenbin owns this folder. It removes the folder when it ends; if it was killed, the next study does.\n";
const MARK_BYTES_MAX: u64 = 16 << 10;

/// Folders of this process.
static HELD_FOLDERS: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

fn held_folders() -> MutexGuard<'static, Vec<PathBuf>> {
    HELD_FOLDERS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Removes the folders of systems that this process has started, for a program that ends without waiting for them. If late writes
/// prevent the removal, the next study removes the rest.
pub fn abandon() {
    for folder in held_folders().drain(..) {
        let _ = lab::remove_folder(&folder);
    }
}

/// A new folder, removed when dropped.
#[derive(Debug)]
pub(crate) struct Scratch {
    whole: PathBuf,
    inner: PathBuf,
    /// Locked as long as it is open.
    _mark: File,
}

fn mode() -> u32 {
    if rustix::process::geteuid().is_root() { MODE_OF_ROOT } else { MODE }
}

impl Scratch {
    pub(crate) fn new() -> io::Result<Self> {
        Self::new_in(&std::env::temp_dir())
    }

    fn new_in(place: &Path) -> io::Result<Self> {
        let place = fs::canonicalize(place)?;
        let mut builder = tempfile::Builder::new();
        let folder = builder.prefix(PREFIX).permissions(Permissions::from_mode(mode())).tempdir_in(place)?;
        let mark = mark(folder.path())?;
        let inner = folder.path().join(INNER);
        fs::create_dir(&inner)?;
        fs::set_permissions(&inner, Permissions::from_mode(mode()))?;
        let whole = folder.keep();
        held_folders().push(whole.clone());
        Ok(Self { whole, inner, _mark: mark })
    }

    /// Path of `{dir}` in plans.
    pub(crate) fn path(&self) -> &Path {
        &self.inner
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        held_folders().retain(|folder| *folder != self.whole);
        // If removal fails, the next study reports the folder.
        let _ = lab::remove_folder(&self.whole);
    }
}

/// Creates the mark of a new folder. The file gets its final name after it is locked, so a concurrent sweep never sees an unlocked
/// mark.
fn mark(folder: &Path) -> io::Result<File> {
    let unnamed = folder.join(".owner");
    let mut mark = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&unnamed)?;
    mark.try_lock()?;
    mark.write_all(text(folder, &fs::symlink_metadata(folder)?).as_bytes())?;
    fs::rename(unnamed, folder.join(MARK_FILE))?;
    Ok(mark)
}

/// Contents of the mark of a folder.
fn text(path: &Path, folder: &fs::Metadata) -> String {
    let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    format!(
        "{FIRST_LINE}path {path:?}\ndevice {}\ninode {}\nuser {}\nboot {}\n",
        folder.dev(),
        folder.ino(),
        folder.uid(),
        boot.trim()
    )
}

/// Result of a sweep for a folder with a mark.
#[derive(Debug, PartialEq, Eq)]
enum SweepResult {
    Removed,
    /// Left alone, because its owner is unknown or it could not be removed. Holds the reason.
    Left(String),
}

/// Removes the folders of killed Tenbin processes. Returns one line for each folder that was removed, or that stays although it has a mark.
pub(crate) fn sweep() -> Vec<String> {
    sweep_in(&std::env::temp_dir())
}

fn sweep_in(place: &Path) -> Vec<String> {
    let Ok(entries) = fs::canonicalize(place).and_then(fs::read_dir) else { return Vec::new() };
    let named =
        entries.flatten().filter(|entry| entry.file_name().as_encoded_bytes().starts_with(PREFIX.as_bytes()));
    named
        .filter_map(|entry| {
            let path = entry.path();
            Some(match sweep_folder(&path)? {
                SweepResult::Removed => {
                    format!("removed {}: a Tenbin that was killed left it", path.display())
                }
                SweepResult::Left(why) => {
                    format!("left {} alone: {why}; remove it if nobody uses it", path.display())
                }
            })
        })
        .collect()
}

/// Removes a folder if its process is dead. `None` if it is not a folder of Tenbin, or its process lives.
fn sweep_folder(path: &Path) -> Option<SweepResult> {
    let folder = fs::symlink_metadata(path).ok()?;
    if !folder.is_dir() || folder.uid() != rustix::process::getuid().as_raw() {
        return None;
    }
    let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK).bits().cast_signed();
    let mark = OpenOptions::new().read(true).custom_flags(flags).open(path.join(MARK_FILE)).ok()?;
    if !mark.metadata().is_ok_and(|about| about.is_file() && about.uid() == folder.uid()) {
        return None;
    }
    let mut said = Vec::new();
    (&mark).take(MARK_BYTES_MAX).read_to_end(&mut said).ok()?;
    if !said.starts_with(FIRST_LINE.as_bytes()) {
        return None;
    }
    if said != text(path, &folder).as_bytes() {
        let why = "its mark is of another folder, another machine, or an earlier boot of this one";
        return Some(SweepResult::Left(why.to_owned()));
    }
    match mark.try_lock() {
        Err(fs::TryLockError::WouldBlock) => None,
        Err(fs::TryLockError::Error(error)) => {
            Some(SweepResult::Left(format!("its mark cannot be locked: {error}")))
        }
        // Another Tenbin process may have removed the folder, and a third one may have created it again.
        Ok(())
            if !fs::symlink_metadata(path)
                .is_ok_and(|now| (now.dev(), now.ino()) == (folder.dev(), folder.ino())) =>
        {
            None
        }
        Ok(()) => Some(match lab::remove_folder(path) {
            Ok(()) => SweepResult::Removed,
            Err(error) => SweepResult::Left(format!("it cannot be removed: {error}")),
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Creates a folder whose process looks killed: it is marked, but not locked.
    fn make_leftover(place: &Path) -> PathBuf {
        let scratch = Scratch::new_in(place).unwrap();
        let path = scratch.whole.clone();
        fs::write(scratch.path().join("left"), "behind").unwrap();
        // A killed process leaves the folder, and the kernel releases its lock.
        let Scratch { _mark: mark, .. } = &*std::mem::ManuallyDrop::new(scratch);
        mark.unlock().unwrap();
        path
    }

    fn place() -> tempfile::TempDir {
        tempfile::tempdir().unwrap()
    }

    #[test]
    fn sweep_removes_folders_of_dead_processes_only() {
        let place = place();
        let dead = make_leftover(place.path());
        let living = Scratch::new_in(place.path()).unwrap();
        let said = sweep_in(place.path());
        assert!(!dead.exists() && living.path().exists());
        assert_eq!(said, [format!("removed {}: a Tenbin that was killed left it", dead.display())]);
        let whole = living.whole.clone();
        drop(living);
        assert!(!whole.exists());
    }

    #[test]
    fn folder_mode_is_700_or_711_for_root() {
        let place = place();
        let scratch = Scratch::new_in(place.path()).unwrap();
        let is_root = rustix::process::geteuid().is_root();
        for folder in [&*scratch.whole, scratch.path()] {
            let mode = fs::metadata(folder).unwrap().permissions().mode() & 0o777;
            assert_eq!(mode, if is_root { 0o711 } else { 0o700 }, "{}", folder.display());
        }
    }

    #[test]
    fn sweep_ignores_folders_without_a_valid_mark() {
        let place = place();
        for name in ["tenbin-2026-results", "tenbin-4194305-abcdef", "tenbin-"] {
            fs::create_dir(place.path().join(name)).unwrap();
            fs::write(place.path().join(name).join("results.csv"), "mine").unwrap();
        }
        fs::write(place.path().join("tenbin-2026-results").join(MARK_FILE), "the user's own file").unwrap();
        fs::create_dir(place.path().join("tenbin-").join(MARK_FILE)).unwrap();
        fs::write(place.path().join("tenbin-1-file"), "mine").unwrap();
        assert_eq!(sweep_in(place.path()), [""; 0]);
        assert_eq!(fs::read_dir(place.path()).unwrap().count(), 4);
    }

    #[test]
    fn sweep_leaves_copied_moved_and_linked_folders() {
        let (place, elsewhere) = (place(), place());
        let left = make_leftover(place.path());
        let copy = place.path().join("tenbin-copy");
        fs::create_dir(&copy).unwrap();
        fs::copy(left.join(MARK_FILE), copy.join(MARK_FILE)).unwrap();
        let hard_linked = place.path().join("tenbin-hard-linked");
        fs::create_dir(&hard_linked).unwrap();
        fs::hard_link(left.join(MARK_FILE), hard_linked.join(MARK_FILE)).unwrap();
        let moved = place.path().join("tenbin-moved");
        fs::rename(left, &moved).unwrap();
        let other = make_leftover(elsewhere.path());
        std::os::unix::fs::symlink(&other, place.path().join("tenbin-link")).unwrap();
        let marked_by_link = place.path().join("tenbin-marked-by-link");
        fs::create_dir(&marked_by_link).unwrap();
        std::os::unix::fs::symlink(other.join(MARK_FILE), marked_by_link.join(MARK_FILE)).unwrap();
        let said = sweep_in(place.path());
        assert_eq!(said.len(), 3, "{said:?}");
        assert!(said.iter().all(|line| line.contains("alone: its mark is of another folder")), "{said:?}");
        assert!([copy, hard_linked, moved, other, marked_by_link].iter().all(|path| path.exists()));
    }

    #[test]
    fn sweep_leaves_folder_of_another_boot() {
        let place = place();
        let left = make_leftover(place.path());
        let said = fs::read_to_string(left.join(MARK_FILE)).unwrap();
        let (before, _) = said.split_once("boot ").unwrap();
        fs::write(left.join(MARK_FILE), format!("{before}boot 11111111-2222-3333-4444-555555555555\n"))
            .unwrap();
        assert_eq!(sweep_in(place.path()).len(), 1);
        assert!(left.exists());
    }

    #[test]
    fn sweep_ignores_a_pipe_in_place_of_the_mark() {
        let place = place();
        let folder = place.path().join("tenbin-pipe");
        fs::create_dir(&folder).unwrap();
        let made = std::process::Command::new("mkfifo").arg(folder.join(MARK_FILE)).status().unwrap();
        assert!(made.success());
        assert_eq!(sweep_in(place.path()), [""; 0]);
    }
}
