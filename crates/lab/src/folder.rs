//! The folder of one system: created, filled with its files, and removed at the end.

use std::fs::{self, OpenOptions, Permissions};
use std::io::{ErrorKind, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Component, Path, PathBuf};

use crate::copies::copy;
use crate::removal::remove_folder;
use crate::{Failure, Stage};

/// A folder that is removed with all its contents, on drop at the latest.
#[derive(Debug)]
pub(crate) struct Folder {
    path: Option<PathBuf>,
}

impl Folder {
    /// Creates the folder, copies the contents of another one into it, and writes the files.
    ///
    /// # Errors
    /// The folder is not empty, so it could belong to someone else; a file would be outside it; or an I/O error.
    pub(crate) fn make(
        path: &Path,
        contents: Option<&Path>,
        files: &[(PathBuf, Vec<u8>)],
    ) -> Result<Folder, Failure> {
        for (file, _) in files {
            if !stays_inside(file) {
                let what = format!("the file {file:?} would lie outside the system's folder");
                return Err(failure(what, "write a relative path without \"..\""));
            }
        }
        let in_words = |error: std::io::Error| {
            failure(
                format!("the folder {} cannot be made: {error}", path.display()),
                "make room for it, or choose another place",
            )
        };
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent).map_err(in_words)?;
        }
        match fs::create_dir(path) {
            Err(error) if error.kind() == ErrorKind::AlreadyExists && is_empty_folder(path) => {}
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {
                let what = format!("{} is there already, and would be removed afterwards", path.display());
                return Err(failure(what, "give each run a folder of its own"));
            }
            made => made.map_err(in_words)?,
        }
        let folder = Folder { path: Some(path.to_owned()) };
        if let Some(contents) = contents {
            copy(contents, path).map_err(|error| {
                let what = format!("{} cannot be copied to {}: {error}", contents.display(), path.display());
                failure(what, "free space there, or set TMPDIR to another file system")
            })?;
            // The copy has the files of an earlier run.
            files.iter().for_each(|(file, _)| drop(fs::remove_file(path.join(file))));
        }
        for (file, bytes) in files {
            write(&path.join(file), bytes).map_err(|error| {
                let what = format!("the file {} cannot be written: {error}", file.display());
                failure(what, "name each file once, and no file like another one's folder")
            })?;
        }
        Ok(folder)
    }

    pub(crate) fn path(&self) -> &Path {
        self.path.as_deref().unwrap_or(Path::new(""))
    }

    /// Removes the folder.
    ///
    /// # Errors
    /// The folder could not be removed.
    pub(crate) fn remove(mut self) -> Result<(), Failure> {
        let Some(path) = self.path.take() else { return Ok(()) };
        match remove_folder(&path) {
            Err(error) if error.kind() != ErrorKind::NotFound => Err(failure(
                format!("the folder {} cannot be removed: {error}", path.display()),
                "remove it by hand",
            )),
            _ => Ok(()),
        }
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        if let Some(path) = &self.path {
            // The error cannot be reported from here, and the folder is temporary.
            let _ = remove_folder(path);
        }
    }
}

fn failure(what: String, way_out: &str) -> Failure {
    Failure { stage: Stage::Files, process: None, what, way_out: way_out.to_owned(), outputs: Vec::new() }
}

pub(crate) fn stays_inside(file: &Path) -> bool {
    let is_plain = |component| matches!(component, Component::Normal(_) | Component::CurDir);
    file.file_name().is_some() && file.components().all(is_plain)
}

fn is_empty_folder(path: &Path) -> bool {
    let is_folder = fs::symlink_metadata(path).is_ok_and(|about| about.is_dir());
    is_folder && fs::read_dir(path).is_ok_and(|mut entries| entries.next().is_none())
}

fn write(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    if let Some(parent) = path.parent() {
        fs::create_dir_all(parent)?;
    }
    let mut file = OpenOptions::new().write(true).create_new(true).open(path)?;
    file.set_permissions(Permissions::from_mode(0o644))?;
    file.write_all(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn accepts_only_relative_paths_inside_the_folder() {
        for inside in ["a", "a/b.conf", "./a", "..a"] {
            assert!(stays_inside(Path::new(inside)), "{inside}");
        }
        for outside in ["", ".", "/etc/x", "..", "a/../../b", "a/.."] {
            assert!(!stays_inside(Path::new(outside)), "{outside}");
        }
    }

    #[test]
    fn folder_is_created_with_files_and_removed() {
        let place = tempfile::tempdir().expect("a folder");
        let path = place.path().join("deep/run");
        let files = [(PathBuf::from("conf.d/a.conf"), b"a\n".to_vec())];
        let folder = Folder::make(&path, None, &files).expect("made");
        let file = path.join("conf.d/a.conf");
        assert_eq!(fs::read(&file).expect("the file"), b"a\n");
        assert_eq!(fs::metadata(&file).expect("the file").permissions().mode() & 0o777, 0o644);
        folder.remove().expect("removed");
        assert!(!path.exists());
    }

    #[test]
    fn folder_that_is_not_empty_is_not_touched() {
        let place = tempfile::tempdir().expect("a folder");
        let file = place.path().join("precious");
        fs::write(&file, "x").expect("written");
        let failure = Folder::make(place.path(), None, &[]).expect_err("not empty");
        assert!(failure.what.contains("is there already"), "{failure}");
        assert!(file.exists());
        let link = place.path().join("link");
        std::os::unix::fs::symlink(place.path(), &link).expect("a link");
        assert!(Folder::make(&link, None, &[]).is_err());
        assert!(file.exists());
    }

    #[test]
    fn folder_begins_with_contents_of_another_and_new_files() {
        let place = tempfile::tempdir().expect("a folder");
        let (first, second) = (place.path().join("first"), place.path().join("second"));
        fs::create_dir(&first).expect("made");
        fs::write(first.join("data"), "rows").expect("written");
        fs::write(first.join("conf"), "port 1").expect("written");
        let files = [(PathBuf::from("conf"), b"port 2".to_vec())];
        let folder = Folder::make(&second, Some(&first), &files).expect("made");
        assert_eq!(fs::read(second.join("data")).expect("the file"), b"rows");
        assert_eq!(fs::read(second.join("conf")).expect("the file"), b"port 2");
        folder.remove().expect("removed");
        assert_eq!(fs::read(first.join("conf")).expect("the file"), b"port 1");
    }

    #[test]
    fn rejects_duplicate_file() {
        let place = tempfile::tempdir().expect("a folder");
        let path = place.path().join("run");
        let file = |name: &str| (PathBuf::from(name), Vec::new());
        assert!(Folder::make(&path, None, &[file("a"), file("a")]).is_err());
        assert!(!path.exists());
        assert!(Folder::make(&path, None, &[file("a"), file("a/b")]).is_err());
        assert!(!path.exists());
    }
}
