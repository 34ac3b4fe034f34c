//! Reads files next to a plan: each once, only from within its folder, and never more than a limit.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{ErrorKind, Read};
use std::os::fd::OwnedFd;
use std::path::{Component, Path, PathBuf};

use ring::digest::{Context, SHA256};
use rustix::fs::{CWD, Mode, OFlags, ResolveFlags, open, openat2};
use rustix::io::Errno;

use crate::short_hash::short_hash;

use super::{missing_plan, near};

/// Max size of a file that is kept in `seen`, in bytes.
const KEPT_BYTES_MAX: usize = 1 << 20;
const KEPT_FILES_MAX: usize = 20;
/// Max size of all files of a plan together, each counted as often as it is named, in bytes.
const ALL_BYTES_MAX: u64 = 512 * 1024 * 1024;

/// Folder of a plan. All content that is read from it becomes part of the plan's hash.
pub(crate) struct Folder {
    /// Absolute path.
    pub(crate) path: PathBuf,
    root: Option<OwnedFd>,
    hash: Context,
    /// Small files by name, so that a file that is read twice has equal content both times.
    seen: BTreeMap<String, Vec<u8>>,
    read_bytes: u64,
}

/// Reader that hashes a file.
pub(crate) struct HashingReader {
    file: File,
    hash: Context,
}

impl Read for HashingReader {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let count = self.file.read(buffer)?;
        self.hash.update(&buffer[..count]);
        Ok(count)
    }
}

/// Message and help of an error in a file.
pub(crate) type FileProblem = (String, String);

impl Folder {
    pub(crate) fn open(path: PathBuf) -> Self {
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let root = open(&path, flags, Mode::empty()).ok();
        Self { path, root, hash: Context::new(&SHA256), seen: BTreeMap::new(), read_bytes: 0 }
    }

    /// Adds bytes to the hash. The length separates neighboring values.
    pub(crate) fn note(&mut self, bytes: &[u8]) {
        self.hash.update(&(bytes.len() as u64).to_le_bytes());
        self.hash.update(bytes);
    }

    /// Returns 16 hex digits over all added bytes.
    pub(crate) fn hash(&self) -> String {
        short_hash(self.hash.clone())
    }

    /// Reads a file within the folder. Symbolic links are resolved first.
    pub(crate) fn read(&mut self, name: &str, bytes_max: u64) -> Result<Vec<u8>, FileProblem> {
        let left_bytes = ALL_BYTES_MAX - self.read_bytes;
        if let Some(bytes) =
            self.seen.get(name).filter(|bytes| bytes.len() as u64 <= bytes_max.min(left_bytes))
        {
            self.read_bytes += bytes.len() as u64;
            return Ok(bytes.clone());
        }
        let bytes = self.bytes(name, bytes_max)?;
        if bytes.len() as u64 > left_bytes {
            let what = format!("with {name}, the files of the plan exceed 512 MiB");
            return Err((what, "use smaller files, or fewer".to_owned()));
        }
        self.read_bytes += bytes.len() as u64;
        self.note(name.as_bytes());
        self.note(&bytes);
        if bytes.len() <= KEPT_BYTES_MAX && self.seen.len() < KEPT_FILES_MAX {
            self.seen.insert(name.to_owned(), bytes.clone());
        }
        Ok(bytes)
    }

    /// Opens a file within the folder, of any size, to be read as a stream. [`Self::hash_stream`] adds what was read to the hash.
    pub(crate) fn stream(&self, name: &str) -> Result<HashingReader, FileProblem> {
        let file = self.open_file(name)?;
        check_regular(&file, name)?;
        Ok(HashingReader { file, hash: Context::new(&SHA256) })
    }

    /// Adds the bytes that were read from a stream, and the description of the selected part, to the hash. Returns 16 hex digits over both.
    pub(crate) fn hash_stream(&mut self, stream: HashingReader, words: &str) -> String {
        let mut hash = stream.hash;
        hash.update(words.as_bytes());
        let digits = short_hash(hash);
        self.note(digits.as_bytes());
        digits
    }

    fn bytes(&self, name: &str, bytes_max: u64) -> Result<Vec<u8>, FileProblem> {
        read_regular(self.open_file(name)?, name, bytes_max)
    }

    /// Opens a file within the folder in non-blocking mode.
    fn open_file(&self, name: &str) -> Result<File, FileProblem> {
        let inside = Path::new(name).strip_prefix(&self.path).unwrap_or(Path::new(name));
        let outside = || {
            (format!("{name} is outside the plan's folder"), "move it into the folder of the plan".to_owned())
        };
        if inside.is_absolute() || leads_outside(inside) {
            return Err(outside());
        }
        let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
        let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_MAGICLINKS;
        let opened = match &self.root {
            Some(root) => match openat2(root, inside, flags, Mode::empty(), resolve) {
                // Some sandboxes block the system call, and report one of these two errors.
                Err(Errno::NOSYS | Errno::PERM) => self.open_resolved(inside, flags),
                opened => opened,
            },
            None => Err(Errno::NOENT),
        };
        let file = opened.map_err(|error| match error {
            Errno::XDEV => outside(),
            Errno::NOENT => self.missing_file(name, inside),
            error => (
                format!("{name}: {}", std::io::Error::from(error)),
                "name a file that can be read".to_owned(),
            ),
        })?;
        Ok(File::from(file))
    }

    /// Fallback without `openat2`: resolves the path first, and then opens it.
    fn open_resolved(&self, inside: &Path, flags: OFlags) -> Result<OwnedFd, Errno> {
        let failed = |error: std::io::Error| Errno::from_io_error(&error).unwrap_or(Errno::IO);
        let path = self.path.join(inside).canonicalize().map_err(failed)?;
        if !path.starts_with(&self.path) {
            return Err(Errno::XDEV);
        }
        open(&path, flags | OFlags::NOFOLLOW, Mode::empty())
    }

    fn missing_file(&self, name: &str, inside: &Path) -> FileProblem {
        let folder = self.path.join(inside.parent().unwrap_or(Path::new("")));
        let wanted = inside.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let mut names: Vec<String> = std::fs::read_dir(folder)
            .map(|entries| entries.flatten().map(|entry| entry.file_name().to_string_lossy().into_owned()))
            .map_or_else(|_| Vec::new(), |names| names.take(1_000).collect());
        names.sort_unstable();
        let near = near::nearest(&wanted, names.iter().map(String::as_str));
        let help = near
            .map_or_else(|| "name a file in the plan's folder".to_owned(), |near| format!("write {near}"));
        (format!("{name} does not exist"), help)
    }
}

/// Reads a regular file. The file was opened in non-blocking mode, so that a pipe does not hang.
pub(crate) fn read_regular(file: File, name: &str, bytes_max: u64) -> Result<Vec<u8>, FileProblem> {
    check_regular(&file, name)?;
    let readable = || "name a file that can be read".to_owned();
    let mut bytes = Vec::new();
    match file.take(bytes_max + 1).read_to_end(&mut bytes) {
        Err(error) => Err((format!("{name}: {error}"), readable())),
        Ok(length) if length as u64 > bytes_max => {
            Err((format!("{name} is larger than {}", shown_bytes(bytes_max)), "make it smaller".to_owned()))
        }
        Ok(_) => Ok(bytes),
    }
}

/// Checks that a file is a regular one.
fn check_regular(file: &File, name: &str) -> Result<(), FileProblem> {
    let readable = || "name a file that can be read".to_owned();
    let about = file.metadata().map_err(|error| (format!("{name}: {error}"), readable()))?;
    if !about.is_file() {
        let kind = if about.is_dir() { "a folder" } else { "not a regular file" };
        return Err((format!("{name} is {kind}"), "name a regular file".to_owned()));
    }
    Ok(())
}

/// Opens a plan file in any folder, in non-blocking mode.
pub(crate) fn open_plan(path: &Path) -> Result<File, FileProblem> {
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let opened = rustix::fs::openat(CWD, path, flags, Mode::empty());
    opened.map(File::from).map_err(|error| {
        let error = std::io::Error::from(error);
        match error.kind() {
            ErrorKind::NotFound => ("no such file".to_owned(), missing_plan::help(path)),
            _ => (error.to_string(), "name a file that can be read".to_owned()),
        }
    })
}

/// Whether any part of a relative path leads above its start.
pub(crate) fn leads_outside(path: &Path) -> bool {
    let mut depth = 0i64;
    path.components().any(|part| {
        match part {
            Component::ParentDir => depth -= 1,
            Component::Normal(_) => depth += 1,
            _ => {}
        }
        depth < 0
    })
}

fn shown_bytes(bytes: u64) -> String {
    match bytes {
        bytes if bytes.is_multiple_of(1 << 20) => format!("{} MiB", bytes >> 20),
        bytes => format!("{bytes} bytes"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    #[test]
    fn reads_only_regular_files_within_folder() {
        let outer = tempfile::tempdir().unwrap();
        let inner = outer.path().join("plan");
        std::fs::create_dir(&inner).unwrap();
        std::fs::write(outer.path().join("secret"), "s").unwrap();
        std::fs::write(inner.join("data.csv"), "abc").unwrap();
        symlink("../secret", inner.join("link")).unwrap();
        symlink("data.csv", inner.join("near")).unwrap();
        symlink("/proc/self/environ", inner.join("environ")).unwrap();
        rustix::fs::mknodat(CWD, inner.join("pipe"), rustix::fs::FileType::Fifo, Mode::RUSR, 0).unwrap();
        let mut folder = Folder::open(inner.canonicalize().unwrap());
        assert_eq!(folder.read("data.csv", 3).unwrap(), b"abc");
        assert_eq!(folder.read("near", 3).unwrap(), b"abc");
        let absolute = folder.path.join("data.csv").to_string_lossy().into_owned();
        assert_eq!(folder.read(&absolute, 3).unwrap(), b"abc");
        let mut wrong = |name: &str| folder.read(name, 2).unwrap_err();
        for outside in ["../secret", "link", "environ", "/etc/passwd", "a/../../secret"] {
            assert!(
                wrong(outside).0.contains("outside the plan's folder"),
                "{outside}: {:?}",
                wrong(outside)
            );
        }
        assert_eq!(wrong("data.csv").0, "data.csv is larger than 2 bytes");
        assert_eq!(wrong("pipe").0, "pipe is not a regular file");
        assert_eq!(wrong(".").0, ". is a folder");
        assert_eq!(wrong("dat.csv"), ("dat.csv does not exist".to_owned(), "write data.csv".to_owned()));
    }

    #[test]
    fn fallback_without_openat2_gives_same_results() {
        let outer = tempfile::tempdir().unwrap();
        let inner = outer.path().join("plan");
        std::fs::create_dir(&inner).unwrap();
        std::fs::write(outer.path().join("secret"), "s").unwrap();
        std::fs::write(inner.join("data.csv"), "abc").unwrap();
        symlink("../secret", inner.join("link")).unwrap();
        let folder = Folder::open(inner.canonicalize().unwrap());
        let opened = |name: &str| folder.open_resolved(Path::new(name), OFlags::RDONLY);
        assert!(opened("data.csv").is_ok());
        assert_eq!(opened("link").err(), Some(Errno::XDEV));
        assert_eq!(opened("none").err(), Some(Errno::NOENT));
    }

    #[test]
    fn hash_separates_neighboring_values() {
        let hash = |parts: &[&str]| {
            let mut folder = Folder::open(PathBuf::from("/"));
            parts.iter().for_each(|part| folder.note(part.as_bytes()));
            folder.hash()
        };
        assert_eq!(hash(&["a"]).len(), 16);
        assert_ne!(hash(&["ab", "c"]), hash(&["a", "bc"]));
    }
}
