//! Program files that a study starts, with a hash of each, so that a resumed study notices if a program was replaced.

use std::collections::{BTreeMap, BTreeSet};
use std::env;
use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use plan::{LaunchCommand, Study, short_hash};
use ring::digest::{Context, SHA256};

use crate::preflight::{is_program, launches};

/// Hashes of the content of program files, by file name.
pub type Programs = BTreeMap<String, BTreeSet<String>>;

/// Size of a file above which its hash covers size and time of change only.
const HASHED_MAX_BYTES: u64 = 256 << 20;

/// Extensions of files that a program runs, such as `app.py` in `python3 app.py`. Other arguments may be data that changes during runs.
const SCRIPT_EXTENSIONS: [&str; 14] =
    ["cjs", "class", "ex", "exs", "jar", "js", "lua", "mjs", "php", "pl", "py", "rb", "ru", "war"];

/// Programs of all variants, and the scripts that they run. `tenbin` is this program, which is omitted. Unreadable files are omitted, too.
pub fn programs(study: &Study, tenbin: &Path) -> Programs {
    let mut paths = BTreeSet::new();
    for launch in launches(study, tenbin) {
        launch.processes.iter().for_each(|process| paths.extend(files_of(&process.command)));
    }
    let mut programs = Programs::new();
    for path in paths.iter().filter(|path| *path != tenbin) {
        if let (Some(name), Ok(hash)) = (path.file_name(), hash(path)) {
            programs.entry(name.to_string_lossy().into_owned()).or_default().insert(hash);
        }
    }
    programs
}

/// The program of a command, and the scripts among its arguments.
fn files_of(command: &LaunchCommand) -> Vec<PathBuf> {
    let Some((program, arguments)) = command.argv.split_first() else { return Vec::new() };
    let scripts = arguments.iter().map(|argument| command.dir.join(argument)).filter(|path| {
        let extension = path.extension().and_then(|extension| extension.to_str());
        extension.is_some_and(|extension| SCRIPT_EXTENSIONS.contains(&extension)) && path.is_file()
    });
    found_program(command, program).into_iter().chain(scripts).collect()
}

/// File of a program, found by the lookup rules of the system.
pub(crate) fn found_program(command: &LaunchCommand, program: &str) -> Option<PathBuf> {
    if program.contains('/') {
        return Some(command.dir.join(program)).filter(|path| is_program(path));
    }
    let given = command.env.iter().find(|(name, _)| name == "PATH").map(|(_, path)| OsString::from(path));
    let search = given.or_else(|| env::var_os("PATH")).unwrap_or_default();
    env::split_paths(&search).map(|folder| folder.join(program)).find(|path| is_program(path))
}

/// 16 hex digits over the content of a file.
fn hash(path: &Path) -> io::Result<String> {
    let mut file = File::open(path)?;
    let about = file.metadata()?;
    let mut hash = Context::new(&SHA256);
    if about.len() > HASHED_MAX_BYTES {
        hash.update(&about.len().to_le_bytes());
        hash.update(&about.mtime().to_le_bytes());
    } else {
        let mut bytes = vec![0; 1 << 16];
        loop {
            let count = file.read(&mut bytes)?;
            if count == 0 {
                break;
            }
            hash.update(&bytes[..count]);
        }
    }
    Ok(short_hash(hash))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hash_changes_with_the_content() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("app");
        let hash_of = |content: &str| {
            std::fs::write(&path, content).expect("written");
            hash(&path).expect("a hash")
        };
        let first = hash_of("one");
        assert_ne!(hash_of("two"), first);
        assert_eq!(hash_of("one"), first);
    }

    #[test]
    fn scripts_among_the_arguments_are_programs_and_data_is_not() {
        let folder = tempfile::tempdir().expect("a folder");
        for name in ["app.py", "data.db"] {
            std::fs::write(folder.path().join(name), "").expect("written");
        }
        let argv = ["sh", "app.py", "data.db", "gone.py"].map(str::to_owned).to_vec();
        let command = LaunchCommand { argv, dir: folder.path().to_owned(), env: Vec::new() };
        let names: Vec<_> =
            files_of(&command).iter().filter_map(|path| path.file_name().map(ToOwned::to_owned)).collect();
        assert_eq!(names, ["sh", "app.py"]);
    }
}
