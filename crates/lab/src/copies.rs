//! Copies files and folders. Copies share their blocks with the originals if the file system supports it (reflinks of XFS, Btrfs, and
//! others).
//!
//! Sockets, pipes, and devices are skipped. Owners, modes, and links are preserved.

use std::fs::{self, File, Metadata, OpenOptions};
use std::io;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt, lchown, symlink};
use std::path::Path;

use rustix::io::Errno;

/// Min length of a file in bytes for which a copy waits until it is on disk.
const SYNCED_BYTES_MIN: u64 = 1 << 20;

/// Result of a copy.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Copied {
    /// Length of all files, in bytes.
    pub bytes: u64,
    /// Length of the files that share their blocks with the original, in bytes.
    pub shared_bytes: u64,
}

impl Copied {
    /// Whether every non-empty file shares its blocks with the original.
    pub fn is_shared(self) -> bool {
        self.shared_bytes == self.bytes
    }

    fn and(self, other: Self) -> Self {
        Self { bytes: self.bytes + other.bytes, shared_bytes: self.shared_bytes + other.shared_bytes }
    }
}

/// Copies a file, or a folder with all its contents. `to` must not exist, unless both are folders.
///
/// # Errors
///
/// A file cannot be read or written. Files that were copied before stay.
pub fn copy(from: &Path, to: &Path) -> io::Result<Copied> {
    let about = fs::symlink_metadata(from)?;
    let kind = about.file_type();
    if kind.is_symlink() {
        symlink(fs::read_link(from)?, to)?;
        copy_owner(&about, to)?;
        return Ok(Copied::default());
    }
    if kind.is_file() {
        return copy_file(from, to, &about);
    }
    if !kind.is_dir() {
        return Ok(Copied::default());
    }
    if !to.is_dir() {
        fs::create_dir(to)?;
    }
    let mut copied = Copied::default();
    for entry in fs::read_dir(from)? {
        let name = entry?.file_name();
        // A file may be removed during the copy, such as a rotated log.
        match copy(&from.join(&name), &to.join(&name)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            one => copied = copied.and(one?),
        }
    }
    copy_owner(&about, to)?;
    fs::set_permissions(to, fs::Permissions::from_mode(about.mode() & 0o7777))?;
    Ok(copied)
}

fn copy_file(from: &Path, to: &Path, about: &Metadata) -> io::Result<Copied> {
    let mut source = File::open(from)?;
    let mut copy = OpenOptions::new().write(true).create_new(true).mode(0o600).open(to)?;
    let is_shared = match rustix::fs::ioctl_ficlone(&copy, &source) {
        Ok(()) => true,
        Err(Errno::OPNOTSUPP | Errno::NOTTY | Errno::XDEV | Errno::INVAL | Errno::NOSYS | Errno::PERM) => {
            // The kernel copies between the files, without this process.
            io::copy(&mut source, &mut copy)?;
            false
        }
        Err(error) => return Err(error.into()),
    };
    if !is_shared && about.len() >= SYNCED_BYTES_MIN {
        // Otherwise the kernel would write it while a load is measured.
        copy.sync_data()?;
    }
    copy_owner(about, to)?;
    copy.set_permissions(fs::Permissions::from_mode(about.mode() & 0o7777))?;
    let bytes = about.len();
    Ok(Copied { bytes, shared_bytes: if is_shared { bytes } else { 0 } })
}

/// Sets the owner of the copy to the owner of the original.
fn copy_owner(about: &Metadata, to: &Path) -> io::Result<()> {
    let copy = fs::symlink_metadata(to)?;
    if (copy.uid(), copy.gid()) == (about.uid(), about.gid()) {
        return Ok(());
    }
    lchown(to, Some(about.uid()), Some(about.gid()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::net::UnixListener;

    #[test]
    fn copy_of_a_folder_has_its_files_links_and_modes_but_no_sockets() {
        let place = tempfile::tempdir().expect("a folder");
        let (from, to) = (place.path().join("from"), place.path().join("to"));
        fs::create_dir_all(from.join("data/empty")).expect("made");
        fs::write(from.join("data/file"), "abc").expect("written");
        fs::set_permissions(from.join("data"), fs::Permissions::from_mode(0o700)).expect("set");
        symlink("data/file", from.join("link")).expect("linked");
        let _socket = UnixListener::bind(from.join("socket")).expect("bound");
        let copied = copy(&from, &to).expect("copied");
        assert_eq!(copied.bytes, 3);
        assert_eq!(fs::read(to.join("link")).expect("read"), b"abc");
        assert_eq!(fs::metadata(to.join("data")).expect("there").mode() & 0o777, 0o700);
        assert!(to.join("data/empty").is_dir() && !to.join("socket").exists());
        assert!(copy(&from.join("data/file"), &to.join("data/file")).is_err(), "files are not replaced");
    }

    #[test]
    fn copy_says_whether_blocks_are_shared() {
        let place = tempfile::tempdir().expect("a folder");
        let (from, to) = (place.path().join("a"), place.path().join("b"));
        fs::write(&from, vec![1; 100_000]).expect("written");
        let copied = copy(&from, &to).expect("copied");
        assert!(copied.shared_bytes == 0 || copied.is_shared());
        assert_eq!(fs::read(&to).expect("read"), vec![1; 100_000]);
    }
}
