//! One list for each idea: whether another file repeats its names.

use crate::{files, tokens};

/// A list that is the only one of its idea, and where its names may stand.
pub struct OnlyList<'a> {
    /// What it lists, for messages.
    pub idea: &'a str,
    /// Its names.
    pub names: Vec<&'a str>,
    /// The files that may write them, from the root; a folder ends in a slash.
    pub homes: &'a [&'a str],
    /// How many of its names another file may write: more than that is a second list.
    pub elsewhere_max: usize,
    /// Names that mean something else in a file: its path, and the name. An empty path stands for every file.
    pub other_meanings: &'a [(&'a str, &'a str)],
}

impl OnlyList<'_> {
    /// Asserts that product code, tests aside, has no second list of these names.
    ///
    /// # Panics
    ///
    /// When a file outside of its homes writes too many of the names as texts of their own.
    pub fn assert(&self) {
        assert!(!self.names.is_empty(), "the list of {} is empty", self.idea);
        for file in files::rust().iter().filter(|file| file.is_product() && !self.is_home(&file.path)) {
            let code = tokens::without_tests(&file.text);
            let mut named: Vec<&str> = code
                .iter()
                .filter_map(|token| token.text.strip_prefix('"')?.strip_suffix('"'))
                .filter(|text| self.names.contains(text) && !self.means_another(&file.path, text))
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

    fn means_another(&self, path: &str, name: &str) -> bool {
        self.other_meanings.iter().any(|(file, other)| *other == name && (file.is_empty() || *file == path))
    }
}
