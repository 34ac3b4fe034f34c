//! A file with the body of a request, named by a flag.

use std::fs;
use std::path::PathBuf;

use crate::fault::Fault;

/// A request body is held once in memory, and sent from there.
pub(crate) const BODY_BYTES_MAX: u64 = 64 * 1024 * 1024;

/// A file that a flag names, not read yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BodyFile {
    /// The flag, as errors name it: `--body-file`.
    pub flag: &'static str,
    /// The file.
    pub path: PathBuf,
}

impl BodyFile {
    /// Reads a regular file of at most 64 MiB. The error names the flag and the file.
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
