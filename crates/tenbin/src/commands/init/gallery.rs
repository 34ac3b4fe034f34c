//! Copies a plan of the gallery, with its files. The gallery is the folder `docs/gallery`, which `build.rs` embeds.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Context as _;

use super::write;
use crate::exit::BadArguments;

// Defines `FILES`: name and text of each file of the gallery, in the order of names. Plans end in `.yaml`.
include!(concat!(env!("OUT_DIR"), "/gallery.rs"));

const PLAN_ENDING: &str = ".yaml";

/// Names of all comparisons, in order.
fn names() -> impl Iterator<Item = &'static str> {
    FILES.iter().filter_map(|(file, _)| file.strip_suffix(PLAN_ENDING))
}

/// Text of a plan, and its files: those whose names begin with its own and a dot, and those that it names.
#[derive(Debug)]
pub(super) struct Comparison {
    /// Name of the plan's file.
    pub(super) file: &'static str,
    text: &'static str,
    files: Vec<(&'static str, &'static str)>,
}

/// Returns the comparison with this name.
///
/// # Errors
///
/// Lists all names if there is none, and suggests a similar one.
pub(super) fn comparison(name: &str) -> Result<Comparison, BadArguments> {
    let bare = name.strip_suffix(PLAN_ENDING).unwrap_or(name);
    let plan = FILES.iter().find(|(file, _)| file.strip_suffix(PLAN_ENDING) == Some(bare));
    let Some(&(file, text)) = plan else {
        return Err(unknown(name));
    };
    let is_own = |file: &str| file.strip_prefix(bare).is_some_and(|rest| rest.starts_with('.'));
    let is_needed = |file: &str| !file.ends_with(PLAN_ENDING) && (is_own(file) || has_name(text, file));
    let files = FILES.iter().filter(|(file, _)| is_needed(file)).copied().collect();
    Ok(Comparison { file, text, files })
}

fn unknown(name: &str) -> BadArguments {
    let near = plan::nearest_name(name, names());
    let meant = near
        .map_or_else(String::new, |near| format!("did you mean {near}? write tenbin init --from {near}; "));
    let all: Vec<&str> = names().collect();
    BadArguments(format!(
        "no comparison in the gallery is called {name:?}\n  help: {meant}the gallery has {}",
        all.join(", ")
    ))
}

/// Whether a text contains a file name as a whole word: `app.py` is not in `my-app.py`.
fn has_name(text: &str, file: &str) -> bool {
    let is_part = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    text.match_indices(file).any(|(at, _)| {
        let end = at + file.len();
        let before = text.get(..at).and_then(|before| before.chars().next_back());
        let after = text.get(end..).and_then(|after| after.chars().next());
        !before.is_some_and(is_part) && !after.is_some_and(is_part)
    })
}

impl Comparison {
    fn name(&self) -> &'static str {
        self.file.strip_suffix(PLAN_ENDING).unwrap_or(self.file)
    }

    /// Writes the plan to `to`, and its files into the same folder. Returns the paths of the files.
    ///
    /// # Errors
    ///
    /// Fails before writing anything if the plan exists, or if one of its files exists with different text.
    pub(super) fn write(&self, to: &Path) -> anyhow::Result<Vec<PathBuf>> {
        let folder = to.parent().unwrap_or(Path::new(""));
        let mut missing = Vec::new();
        for (file, text) in &self.files {
            let path = folder.join(file);
            if !path.exists() {
                missing.push((path, *text));
            } else if fs::read_to_string(&path).ok().as_deref() != Some(*text) {
                let what = format!("{} exists with another text", path.display());
                return Err(BadArguments(format!(
                    "{what}\n  help: write to another folder: tenbin init --from {} FOLDER/{}",
                    self.name(),
                    self.file
                ))
                .into());
            }
        }
        write(to, self.text, Some(self.name()))?;
        for (path, text) in &missing {
            write(path, text, Some(self.name()))
                .with_context(|| format!("{} is written, and a file of it is missing", to.display()))?;
        }
        Ok(self.files.iter().map(|(file, _)| folder.join(file)).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn file_is_named_as_a_whole() {
        for (text, is_named) in [
            ("start: python3 {plan}/app.py {port}", true),
            ("start: python3 {plan}/my-app.py {port}", false),
            ("start: python3 {plan}/app.pyc", false),
            ("app.py", true),
        ] {
            assert_eq!(has_name(text, "app.py"), is_named, "{text}");
        }
    }

    #[test]
    fn every_file_of_the_gallery_belongs_to_a_comparison() {
        let named: Vec<&str> =
            names().flat_map(|name| comparison(name).expect(name).files).map(|(file, _)| file).collect();
        let left = FILES.iter().filter(|(file, _)| !file.ends_with(PLAN_ENDING) && !named.contains(file));
        assert_eq!(left.map(|(file, _)| file).collect::<Vec<_>>(), Vec::<&&str>::new());
    }
}
