//! Names of studies: a prefix, and the form of a run's name.

use std::fmt;
use std::str::FromStr;

use crate::run_id::RunId;

/// Name of a study: `s-`, its start to the second, in UTC, and four random characters: `s-20261121-142501-k3f9`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StudyId(String);

impl StudyId {
    /// Prefix of every name of a study. No name of a run has it.
    pub const PREFIX: &str = "s-";

    /// Draws a name for a study that starts now. In rare cases it is taken already.
    pub fn generate(started_at_unix_ms: i64) -> Self {
        Self(format!("{}{}", Self::PREFIX, RunId::generate(started_at_unix_ms)))
    }

    /// Returns the name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for StudyId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The text is not a complete name of a study.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the name of a study looks like s-20261121-142501-k3f9")]
pub struct InvalidStudyId;

impl FromStr for StudyId {
    type Err = InvalidStudyId;

    fn from_str(text: &str) -> Result<Self, InvalidStudyId> {
        let rest: Option<RunId> = text.strip_prefix(Self::PREFIX).and_then(|rest| rest.parse().ok());
        rest.map(|_| Self(text.to_owned())).ok_or(InvalidStudyId)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn study_ids_and_run_ids_do_not_parse_as_each_other() {
        let id = StudyId::generate(1_795_271_101_042);
        assert!(id.as_str().starts_with("s-20261121-142501-"), "{id}");
        assert_eq!(id.as_str().parse(), Ok(id.clone()));
        assert!(id.as_str().parse::<RunId>().is_err());
        assert_eq!(RunId::generate(0).as_str().parse::<StudyId>(), Err(InvalidStudyId));
        assert_eq!("s-".parse::<StudyId>(), Err(InvalidStudyId));
    }
}
