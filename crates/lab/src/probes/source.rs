//! A kernel file that is read repeatedly.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Max bytes read from a file. The rest of a longer file is ignored.
const LENGTH_MAX: usize = 1 << 20;
/// Min bytes that the kernel returns per read.
const PAGE: usize = 4096;

/// Number of files that may still be kept open. Further files are opened for every look.
#[derive(Clone, Debug)]
pub(crate) struct Allowance(Arc<AtomicUsize>);

impl Allowance {
    pub(crate) fn of(files: usize) -> Self {
        Self(Arc::new(AtomicUsize::new(files)))
    }

    fn take(&self) -> bool {
        self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1)).is_ok()
    }

    fn release(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

/// File that stays open if the allowance permits.
#[derive(Debug)]
pub(crate) struct Source {
    path: PathBuf,
    open: Option<File>,
    allowance: Allowance,
}

impl Source {
    /// File of the machine. There are few of these files, so each stays open.
    pub(crate) fn of_machine(path: &str) -> Self {
        Self::new(PathBuf::from(path), Allowance::of(1))
    }

    pub(crate) fn new(path: PathBuf, allowance: Allowance) -> Self {
        Self { path, open: None, allowance }
    }

    /// Reads the whole text. Bytes that are not UTF-8 are replaced.
    ///
    /// # Errors
    ///
    /// The file cannot be read. The error names it.
    pub(crate) fn text(&mut self) -> Result<String, String> {
        let mut bytes = Vec::new();
        let read = self.with_file(|file| read_whole(file, &mut bytes));
        read.map_err(|error| format!("{}: {error}", self.path.display()))?;
        Ok(String::from_utf8(bytes)
            .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned()))
    }

    /// Reads a text that is known to be shorter than a page, with one system call instead of two.
    pub(crate) fn short_text(&mut self) -> io::Result<String> {
        let mut page = [0; PAGE];
        let count = self.with_file(|file| read_once(file, &mut page))?;
        Ok(String::from_utf8_lossy(&page[..count]).into_owned())
    }

    fn with_file<T>(&mut self, read: impl FnOnce(&File) -> io::Result<T>) -> io::Result<T> {
        if let Some(file) = &self.open {
            return read(file);
        }
        let file = File::open(&self.path)?;
        let found = read(&file)?;
        if self.allowance.take() {
            self.open = Some(file);
        }
        Ok(found)
    }
}

impl Drop for Source {
    fn drop(&mut self) {
        if self.open.take().is_some() {
            self.allowance.release();
        }
    }
}

/// Reads from the start, up to the end of the file or to `LENGTH_MAX`.
fn read_whole(file: &File, bytes: &mut Vec<u8>) -> io::Result<()> {
    let mut length = 0;
    while length < LENGTH_MAX {
        bytes.resize((length + 2 * PAGE).min(LENGTH_MAX), 0);
        let count = retry_interrupted(|| file.read_at(&mut bytes[length..], length as u64))?;
        length += count;
        if count == 0 {
            break;
        }
    }
    bytes.truncate(length);
    Ok(())
}

fn read_once(file: &File, page: &mut [u8]) -> io::Result<usize> {
    retry_interrupted(|| file.read_at(page, 0))
}

/// Repeats a read that a signal interrupted.
fn retry_interrupted(mut read: impl FnMut() -> io::Result<usize>) -> io::Result<usize> {
    loop {
        match read() {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            read => return read,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn open_file_is_read_again_every_time() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("counts");
        fs::write(&path, "1").unwrap();
        let mut source = Source::new(path.clone(), Allowance::of(1));
        assert_eq!(source.text().unwrap(), "1");
        fs::write(&path, "22").unwrap();
        assert_eq!(source.text().unwrap(), "22");
        assert!(source.open.is_some());
    }

    #[test]
    fn long_file_is_cut_and_invalid_utf8_is_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("long");
        fs::write(&path, vec![0xff; LENGTH_MAX + 5]).unwrap();
        let mut source = Source::new(path, Allowance::of(0));
        assert_eq!(source.text().unwrap().chars().count(), LENGTH_MAX);
        assert_eq!(source.short_text().unwrap().chars().count(), PAGE);
        assert!(source.open.is_none());
    }

    #[test]
    fn allowance_returns_when_a_file_is_dropped() {
        let allowance = Allowance::of(1);
        let open = |allowance: &Allowance| {
            let mut source = Source::new("/proc/self/stat".into(), allowance.clone());
            source.short_text().unwrap();
            source
        };
        let first = open(&allowance);
        assert!(first.open.is_some());
        assert!(open(&allowance).open.is_none());
        drop(first);
        assert!(open(&allowance).open.is_some());
    }

    #[test]
    fn missing_file_is_named() {
        let error = Source::of_machine("/proc/no-such-file").text().unwrap_err();
        assert!(error.contains("/proc/no-such-file"), "{error}");
    }
}
