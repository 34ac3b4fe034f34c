//! Summary of a run, in one line.

use crate::run::RunState;
use crate::run_id::RunId;
use crate::study::StudyPlace;
use crate::study_id::StudyId;
use crate::validity::Level;

/// Summary of a run, in one line.
#[derive(Clone, Debug, PartialEq)]
pub struct Summary {
    /// Name of the run.
    pub id: RunId,
    /// Start time, in milliseconds since 1970 (UTC).
    pub started_at_unix_ms: i64,
    /// Title, in one line.
    pub title: String,
    /// Load in words.
    pub load_words: String,
    /// Study and place in it; `None` for a run on its own.
    pub place: Option<(StudyId, StudyPlace)>,
    /// State of the run.
    pub state: RunState,
    /// Whether the figures can be trusted; `None` without an ending.
    pub validity: Option<Level>,
    /// Requests sent after the warm-up, as far as stored.
    pub sent: u64,
    /// Requests sent after the warm-up that ended ok.
    pub ok: u64,
}
