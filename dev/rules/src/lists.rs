//! Checks that a list of names is written in one place, and that no other file repeats it.

use crate::{files, tokens};

/// List of names, and the files that may contain these names.
pub struct OnlyList<'a> {
    /// Subject of the list, for messages.
    pub idea: &'a str,
    /// Names in the list.
    pub names: Vec<&'a str>,
    /// Files that may contain the names, relative to the root. A folder ends with a slash.
    pub homes: &'a [&'a str],
    /// Max number of the names that another file may contain. More count as a second list.
    pub elsewhere_max: usize,
    /// Exceptions: path of a file, and a name that has another meaning there. An empty path stands for all files.
    pub other_meanings: &'a [(&'a str, &'a str)],
}

impl OnlyList<'_> {
    /// Asserts that no product code outside of `homes`, except tests, has a second list of these names.
    ///
    /// # Panics
    ///
    /// If a file outside of `homes` has too many of the names as string literals.
    pub fn assert(&self) {
        assert!(!self.names.is_empty(), "the list of {} is empty", self.idea);
        for file in files::rust().iter().filter(|file| file.is_product() && !self.is_home(&file.path)) {
            let code = tokens::without_tests(&file.text);
            let mut named: Vec<&str> = code
                .iter()
                .filter_map(|token| token.text.strip_prefix('"')?.strip_suffix('"'))
                .filter(|text| self.names.contains(text) && !self.is_homonym(&file.path, text))
                .collect();
            named.sort_unstable();
            named.dedup();
            assert!(
                named.len() <= self.elsewhere_max,
                "{} repeats the list of {} with {named:?}: derive it from {:?}",
                file.path,
                self.idea,
                self.homes
            );
        }
    }

    fn is_home(&self, path: &str) -> bool {
        self.homes.iter().any(|home| path == *home || (home.ends_with('/') && path.starts_with(home)))
    }

    fn is_homonym(&self, path: &str, name: &str) -> bool {
        self.other_meanings.iter().any(|(file, other)| *other == name && (file.is_empty() || *file == path))
    }
}
