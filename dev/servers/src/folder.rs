//! Temporary folder of a server.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use crate::account::Account;
use crate::missing::Missing;

/// Folder owned by a server's account. Dropping it removes the folder.
#[derive(Debug)]
pub(crate) struct Folder {
    folder: TempDir,
    account: Option<Account>,
}

impl Folder {
    /// Maximum length of the folder's path. The kernel allows 107 bytes for the path of a socket, and socket names have up to 20.
    const PATH_BYTES_MAX: usize = 80;

    /// Creates a new folder.
    pub(crate) fn new(name: &str, account: Option<Account>) -> Result<Self, Missing> {
        let usual = std::env::temp_dir();
        let place = if usual.as_os_str().len() > Self::PATH_BYTES_MAX { Path::new("/tmp") } else { &usual };
        let prefix = format!("{name}-");
        let folder = tempfile::Builder::new().prefix(&prefix).tempdir_in(place);
        let folder = Self { folder: folder.map_err(|error| Missing::file(place, error))?, account };
        folder.give(folder.path(), 0o700)?;
        Ok(folder)
    }

    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Writes a file that only the server can read.
    pub(crate) fn write(&self, name: &str, content: &str) -> Result<PathBuf, Missing> {
        let path = self.path().join(name);
        fs::write(&path, content).map_err(|error| Missing::file(&path, error))?;
        self.give(&path, 0o600)?;
        Ok(path)
    }

    fn give(&self, path: &Path, mode: u32) -> Result<(), Missing> {
        let changed = fs::set_permissions(path, fs::Permissions::from_mode(mode));
        changed.map_err(|error| Missing::file(path, error))?;
        let Some(account) = self.account else { return Ok(()) };
        let given = std::os::unix::fs::chown(path, Some(account.user), Some(account.group));
        given.map_err(|error| Missing::file(path, error))
    }
}
