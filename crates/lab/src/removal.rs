//! Removes a folder with all its contents, unless something is mounted in it.

use std::fs;
use std::io;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

/// Removes a folder. Removes symbolic links in it without following them.
///
/// # Errors
///
/// A file system is mounted in it, such as a bind mount of a user's folder, and nothing is removed; or an I/O error.
pub fn remove_folder(path: &Path) -> io::Result<()> {
    let path = fs::canonicalize(path)?;
    let table = fs::read("/proc/self/mountinfo")?;
    if let Some(mount) = mounts(&table).find(|mount| mount.starts_with(&path)) {
        let what = format!("{} is mounted in it", mount.display());
        return Err(io::Error::new(io::ErrorKind::ResourceBusy, what));
    }
    fs::remove_dir_all(path)
}

/// Mount points: the fifth field of each line of `/proc/self/mountinfo`.
pub(crate) fn mounts(table: &[u8]) -> impl Iterator<Item = PathBuf> {
    let lines = table.split(|byte| *byte == b'\n');
    lines.filter_map(|line| Some(unescape(line.split(|byte| *byte == b' ').nth(4)?)))
}

/// Decodes a field, in which spaces, tabs, line ends, and backslashes are written as `\` and three octal digits.
fn unescape(field: &[u8]) -> PathBuf {
    let mut bytes = Vec::new();
    let mut rest = field;
    while let Some((first, others)) = rest.split_first() {
        let code = others.get(..3).and_then(|digits| std::str::from_utf8(digits).ok());
        match code.and_then(|digits| u8::from_str_radix(digits, 8).ok()) {
            Some(byte) if *first == b'\\' => {
                bytes.push(byte);
                rest = &others[3..];
            }
            _ => {
                bytes.push(*first);
                rest = others;
            }
        }
    }
    std::ffi::OsString::from_vec(bytes).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mount_points_are_parsed_from_mountinfo() {
        let table =
            b"22 1 0:20 / /proc rw - proc proc rw\n30 1 8:1 /a /tmp/a\\040b\\134c rw - ext4 /dev/x rw\n\n";
        let mounts: Vec<PathBuf> = mounts(table).collect();
        assert_eq!(mounts, [Path::new("/proc"), Path::new("/tmp/a b\\c")]);
    }

    #[test]
    fn symbolic_links_are_removed_without_their_targets() {
        let place = tempfile::tempdir().expect("a folder");
        let (folder, other) = (place.path().join("folder"), place.path().join("other"));
        fs::create_dir_all(folder.join("inner")).expect("made");
        fs::create_dir(&other).expect("made");
        fs::write(other.join("kept"), "mine").expect("written");
        std::os::unix::fs::symlink(&other, folder.join("inner/link")).expect("linked");
        remove_folder(&folder).expect("removed");
        assert!(!folder.exists() && other.join("kept").exists());
        assert!(remove_folder(&folder).is_err(), "nothing is there");
    }

    #[test]
    fn folder_with_a_mount_is_not_removed() {
        assert_eq!(remove_folder(Path::new("/proc/..")).unwrap_err().kind(), io::ErrorKind::ResourceBusy);
    }
}
