//! One line about a run.

use crate::run::RunState;
use crate::run_id::RunId;
use crate::study::StudyPlace;
use crate::study_id::StudyId;
use crate::validity::Level;

/// One line about a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Summary {
    /// Its name.
    pub id: RunId,
    /// When it began, in milliseconds since 1970 (UTC).
    pub started_at_unix_ms: i64,
    /// One line for people.
    pub title: String,
    /// The load in words.
    pub load_words: String,
    /// The study that it belongs to, and where.
    pub place: Option<(StudyId, StudyPlace)>,
    /// Where it stands.
    pub state: RunState,
    /// Whether its numbers may be believed; `None` without an ending.
    pub validity: Option<Level>,
    /// Requests sent after the warm-up, as far as they were kept.
    pub sent: u64,
    /// How many of them ended ok.
    pub ok: u64,
}
