//! Resolves user input to a run or a study.

use evidence::{RunId, StudyId};

use crate::Result;
use crate::error::StoreError;
use crate::store::Store;

/// Maximum number of names listed for an ambiguous prefix.
const CANDIDATES_MAX: usize = 8;

/// Names that match a prefix.
enum Fit {
    None,
    /// The only match, or the newest name for `last`.
    One(String),
    /// Several matches, newest first, and whether there are more.
    Many(Vec<String>, bool),
}

impl Store {
    /// Finds a run by its name, by a unique prefix of it, or by `last`.
    pub fn find(&self, text: &str) -> Result<RunId> {
        let text = text.trim().to_ascii_lowercase();
        let path = || self.path.clone();
        match self.fit("run", &text, text == "last")? {
            Fit::One(name) => name.parse().map_err(|_| self.nameless("run")),
            Fit::Many(candidates, more) => Err(StoreError::Ambiguous { text, candidates, more }),
            Fit::None if text == "last" => Err(StoreError::Empty { path: path() }),
            Fit::None => Err(StoreError::UnknownRun { path: path(), text }),
        }
    }

    /// Finds a study by its name, by a unique prefix of it, or by `last` or `s-last`.
    pub fn find_study(&self, text: &str) -> Result<StudyId> {
        let text = text.trim().to_ascii_lowercase();
        let path = || self.path.clone();
        let is_last = text.strip_prefix(StudyId::PREFIX).unwrap_or(&text) == "last";
        match self.fit("study", &text, is_last)? {
            Fit::One(name) => name.parse().map_err(|_| self.nameless("study")),
            Fit::Many(candidates, more) => Err(StoreError::Ambiguous { text, candidates, more }),
            Fit::None if is_last => Err(StoreError::NoStudies { path: path() }),
            Fit::None => Err(StoreError::UnknownStudy { path: path(), text }),
        }
    }

    /// Finds names in `table` with a prefix, newest first by order of insertion, because a clock may be wrong.
    fn fit(&self, table: &str, prefix: &str, is_last: bool) -> Result<Fit> {
        let explain = |error| self.explain(error);
        let (prefix, limit) = if is_last { ("", 1) } else { (prefix, CANDIDATES_MAX + 1) };
        let query = format!(
            "SELECT id FROM {table} WHERE substr(id, 1, length(?1)) = ?1 \
             ORDER BY number DESC LIMIT ?2"
        );
        let mut select = self.connection.prepare(&query).map_err(explain)?;
        let names = select.query_map((prefix, limit as i64), |row| row.get(0)).map_err(explain)?;
        let mut names: Vec<String> = names.collect::<rusqlite::Result<_>>().map_err(explain)?;
        let many = names.len() > 1;
        let more = names.len() > CANDIDATES_MAX;
        names.truncate(CANDIDATES_MAX);
        Ok(match names.pop() {
            None => Fit::None,
            Some(name) if !many => Fit::One(name),
            Some(name) => {
                names.push(name);
                Fit::Many(names, more)
            }
        })
    }

    pub(crate) fn nameless(&self, what: &str) -> StoreError {
        StoreError::Damaged { path: self.path.clone(), what: format!("a {what} has no proper name") }
    }
}
