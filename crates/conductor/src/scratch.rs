//! A fresh folder for the files of a started system.

use std::fs::{self, Permissions};
use std::io;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;

use tempfile::TempDir;

const PREFIX: &str = "tenbin-";
/// Servers that give up their rights must still find their files.
const MODE: u32 = 0o755;

/// A new folder, removed when dropped. Its name says whose it is.
pub(crate) fn folder() -> io::Result<TempDir> {
    let prefix = format!("{PREFIX}{}-", std::process::id());
    tempfile::Builder::new().prefix(&prefix).permissions(Permissions::from_mode(MODE)).tempdir()
}

/// Removes the folders of processes that were killed before they could.
pub(crate) fn sweep() {
    let Ok(entries) = fs::read_dir(std::env::temp_dir()) else { return };
    let me = rustix::process::getuid().as_raw();
    for entry in entries.flatten() {
        let is_ours = fs::symlink_metadata(entry.path()).is_ok_and(|meta| meta.is_dir() && meta.uid() == me);
        if is_ours && owner(&entry.file_name().to_string_lossy()).is_some_and(|pid| !is_alive(pid)) {
            // What cannot be removed harms nobody, and is tried again next time.
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

fn owner(name: &str) -> Option<u32> {
    name.strip_prefix(PREFIX)?.split_once('-')?.0.parse().ok()
}

fn is_alive(pid: u32) -> bool {
    Path::new("/proc").join(pid.to_string()).exists()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_of_the_dead_are_removed_and_those_of_the_living_are_not() {
        // The largest pid that Linux gives out is 2^22.
        let dead = tempfile::Builder::new().prefix(&format!("{PREFIX}4194305-")).tempdir().unwrap();
        let living = folder().unwrap();
        let other = tempfile::Builder::new().prefix("tenbin-not-a-number-").tempdir().unwrap();
        fs::write(dead.path().join("left"), "behind").unwrap();
        sweep();
        assert!(!dead.path().exists());
        assert!(living.path().exists() && other.path().exists());
        assert_eq!(fs::metadata(living.path()).unwrap().permissions().mode() & 0o777, MODE);
    }
}
