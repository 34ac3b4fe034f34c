//! Resolves user input to a run or a study.

use evidence::{RunId, StudyId};

use crate::Result;
use crate::error::StoreError;
use crate::store::Store;

/// Maximum number of names listed for an ambiguous prefix.
const CANDIDATES_MAX: usize = 8;

/// Names that match a prefix.
enum PrefixMatches {
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
        match self.match_prefix("run", &text, text == "last")? {
            PrefixMatches::One(name) => name.parse().map_err(|_| self.not_found("run")),
            PrefixMatches::Many(candidates, more) => Err(StoreError::Ambiguous { text, candidates, more }),
            PrefixMatches::None if text == "last" => Err(StoreError::Empty { path: path() }),
            PrefixMatches::None => Err(StoreError::UnknownRun { path: path(), text }),
        }
    }

    /// Finds a study by its name, by a unique prefix of it, or by `last` or `s-last`.
    pub fn find_study(&self, text: &str) -> Result<StudyId> {
        let text = text.trim().to_ascii_lowercase();
        let path = || self.path.clone();
        let is_last = text.strip_prefix(StudyId::PREFIX).unwrap_or(&text) == "last";
        match self.match_prefix("study", &text, is_last)? {
            PrefixMatches::One(name) => name.parse().map_err(|_| self.not_found("study")),
            PrefixMatches::Many(candidates, more) => Err(StoreError::Ambiguous { text, candidates, more }),
            PrefixMatches::None if is_last => Err(StoreError::NoStudies { path: path() }),
            PrefixMatches::None => Err(StoreError::UnknownStudy { path: path(), text }),
        }
    }

    /// Finds names in `table` with a prefix, newest first by order of insertion, because a clock may be wrong.
    fn match_prefix(&self, table: &str, prefix: &str, is_last: bool) -> Result<PrefixMatches> {
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
            None => PrefixMatches::None,
            Some(name) if !many => PrefixMatches::One(name),
            Some(name) => {
                names.push(name);
                PrefixMatches::Many(names, more)
            }
        })
    }

    pub(crate) fn not_found(&self, what: &str) -> StoreError {
        StoreError::Damaged { path: self.path.clone(), what: format!("a {what} has no proper name") }
    }
}
