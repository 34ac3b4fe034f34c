//! Reads the file with the body of a request that a flag names.

use std::fs;
use std::path::PathBuf;

use crate::fault::Fault;

/// Max size of a request body in bytes. The body stays in memory for the whole load.
pub(crate) const BODY_BYTES_MAX: u64 = 64 * 1024 * 1024;

/// File that a flag names, before it is read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BodyFile {
    /// Name of the flag in errors: `--body-file`.
    pub flag: &'static str,
    /// Path of the file.
    pub path: PathBuf,
}

impl BodyFile {
    /// Reads a regular file of up to 64 MiB. An error names the flag and the file.
    pub fn read(&self) -> Result<Vec<u8>, Fault> {
        let shown = self.path.display();
        let wrong = |what: String| Fault::new(self.flag, what, "name a readable file of at most 64 MiB");
        let about = fs::metadata(&self.path).map_err(|error| wrong(format!("{shown}: {error}")))?;
        if !about.is_file() {
            return Err(wrong(format!("{shown} is not a regular file")));
        }
        if about.len() > BODY_BYTES_MAX {
            return Err(wrong(format!("{shown} has {} bytes", about.len())));
        }
        fs::read(&self.path).map_err(|error| wrong(format!("{shown}: {error}")))
    }
}
