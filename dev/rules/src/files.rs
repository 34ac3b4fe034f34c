//! Text files of the project.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// Folders without handwritten files, relative to the root. Folders named [`PACKAGES`] are skipped everywhere.
const SKIPPED: [&str; 6] = [".git", "target", "fuzz/target", "fuzz/corpus", "fuzz/artifacts", "ui/dist"];
/// Folder of npm packages.
const PACKAGES: &str = "node_modules";
/// Suffixes of paths that count as text files.
const ENDINGS: [&str; 11] =
    [".rs", ".ts", ".css", ".html", ".md", ".toml", ".sh", ".sql", "Makefile", ".ci/run", ".txt"];

/// A text file of the project.
#[derive(Clone, Debug)]
pub struct Text {
    /// Path relative to the root of the project, with slashes.
    pub path: String,
    /// Content of the file.
    pub text: String,
}

impl Text {
    /// Returns the number of lines.
    pub fn lines(&self) -> usize {
        self.text.lines().count()
    }

    /// Returns the name of the crate or development package that the file belongs to. `None` outside of `crates/` and `dev/`.
    pub fn package(&self) -> Option<&str> {
        let inside = self.path.strip_prefix("crates/").or_else(|| self.path.strip_prefix("dev/"))?;
        inside.split('/').next()
    }

    /// Returns true for product code: no tests, examples, or benchmarks, and no packages that only these use.
    pub fn is_product(&self) -> bool {
        self.package().is_some_and(|package| !["rules", "harness"].contains(&package))
            && self.path.contains("/src/")
            && self.path.ends_with(".rs")
    }
}

/// Returns the root folder of the project.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).map(Path::to_owned).unwrap_or_default()
}

/// Reads the file at a path relative to the root.
///
/// # Panics
///
/// If the file cannot be read.
pub fn read(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path} cannot be read: {error}"))
}

/// Asserts that a document contains this table. If `UPDATE` is set, replaces the document's table with an equal header instead.
///
/// # Panics
///
/// If the document has no table with this header, or if the table differs.
pub fn assert_table(path: &str, table: &str) {
    // Tests of one process may write the same document.
    static WRITING: Mutex<()> = Mutex::new(());
    let _writing = WRITING.lock().unwrap_or_else(PoisonError::into_inner);
    let text = read(path);
    let head = table.lines().next().unwrap_or_default();
    let from = text.find(&format!("\n{head}\n")).map(|at| at + 1);
    let from = from.unwrap_or_else(|| panic!("{path} has no table with the head {head}"));
    let len = text[from..].find("\n\n").map_or(text.len() - from, |end| end + 1);
    if std::env::var_os("UPDATE").is_some() {
        let whole = [&text[..from], table, &text[from + len..]].concat();
        fs::write(root().join(path), whole)
            .unwrap_or_else(|error| panic!("{path} cannot be written: {error}"));
    } else {
        assert_eq!(&text[from..from + len], table, "with UPDATE=1 {path} gets the right-hand table");
    }
}

/// Returns all text files of the project, sorted by path.
///
/// # Panics
///
/// If a folder or a file cannot be read.
pub fn all() -> Vec<Text> {
    let mut found = Vec::new();
    collect(&root(), &mut found);
    found.sort_by(|a, b| a.path.cmp(&b.path));
    found
}

/// Returns all Rust files, sorted by path.
pub fn rust() -> Vec<Text> {
    all().into_iter().filter(|text| text.path.ends_with(".rs")).collect()
}

fn collect(folder: &Path, found: &mut Vec<Text>) {
    let entries = fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    for entry in entries.flatten() {
        let path = entry.path();
        let relative = path.strip_prefix(root()).unwrap_or(&path).to_string_lossy().replace('\\', "/");
        if path.is_dir() {
            if !SKIPPED.contains(&relative.as_str()) && !path.ends_with(PACKAGES) {
                collect(&path, found);
            }
        } else if ENDINGS.iter().any(|ending| relative.ends_with(ending)) {
            let text = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{relative}: {error}"));
            found.push(Text { path: relative, text });
        }
    }
}
