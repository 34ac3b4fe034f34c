//! Locates programs, and builds their argument lists.

use std::env;
use std::path::{Path, PathBuf};

use rustix::fs::{Access, access};

/// Folders of administration programs, which are not in every user's PATH.
const EXTRA_FOLDERS: [&str; 2] = ["/usr/sbin", "/usr/local/sbin"];

/// Returns the first program with this name in PATH or in the folders for administrators.
pub fn on_path(name: &str) -> Option<PathBuf> {
    let path = env::var_os("PATH").unwrap_or_default();
    let folders = env::split_paths(&path).chain(EXTRA_FOLDERS.map(PathBuf::from));
    folders.map(|folder| folder.join(name)).find(|path| is_program(path))
}

/// Returns the absolute path of a program, or `None` if it is not executable.
pub fn at(path: &Path) -> Option<PathBuf> {
    path.canonicalize().ok().filter(|path| is_program(path))
}

fn is_program(path: &Path) -> bool {
    path.is_file() && access(path, Access::EXEC_OK).is_ok()
}

/// Converts values of different types to an argument list.
pub fn arguments<const N: usize>(list: [&dyn ToString; N]) -> Vec<String> {
    list.map(ToString::to_string).to_vec()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_programs_are_found_by_name() {
        assert!(on_path("sh").is_some_and(|path| path.is_absolute()));
        assert_eq!(on_path("no-such-program"), None);
        assert_eq!(at(Path::new("/")), None);
    }
}
