//! Events that rewrite files of the system, and make it reload them.

use std::fs::{self, OpenOptions, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use super::Reload;
use super::act::{ActionError, RunningAction};
use crate::folder::stays_inside;

/// Suffix of the temporary file.
const UNFINISHED: &str = ".tenbin-new";

impl RunningAction<'_> {
    pub(super) fn set(&mut self, files: &[(PathBuf, Vec<u8>)], reload: &Reload) -> Result<(), ActionError> {
        for (file, bytes) in files {
            let cannot = |why: String| {
                ActionError::of(format!("the file {} cannot be written: {why}", file.display()))
            };
            if !stays_inside(file) {
                return Err(cannot("it would lie outside the system's folder".to_owned()));
            }
            replace(&self.actors.dir.join(file), bytes).map_err(|error| cannot(error.to_string()))?;
        }
        match reload {
            Reload::Signal(signalled) => self.signal(signalled),
            Reload::Run(command) => self.run(command),
        }
    }
}

/// Replaces the file atomically with a rename, so that the system never reads a partial file.
fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(UNFINISHED);
    let unfinished = path.with_file_name(name);
    let mut file = OpenOptions::new().write(true).create(true).truncate(true).open(&unfinished)?;
    file.set_permissions(Permissions::from_mode(0o644))?;
    file.write_all(bytes)?;
    fs::rename(&unfinished, path)
}
