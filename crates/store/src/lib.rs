//! Every run and every study, in one SQLite file.
//!
//! A run is begun, its seconds are kept as they come, and it is finished; what a crash leaves is a partial run, never a
//! broken file. A study plans runs, and can be resumed where it was interrupted. The crate never knows statistics or
//! formats.

mod baseline;
mod begin;
mod begin_study;
mod ceiling;
mod checksum;
mod cpu_profile;
mod description;
mod ending;
mod error;
mod event;
mod event_cost;
mod export;
mod extend;
mod find;
mod grow;
mod intervention;
mod keep;
mod load;
mod load_monitored;
mod load_study;
mod load_tool;
mod moments;
mod monitored;
mod open;
mod origin;
mod outage;
mod owner;
mod path;
mod procedure;
mod query;
mod reading;
mod redaction;
mod rewrite;
mod run;
mod run_id;
mod schema;
mod spread;
pub mod stage;
mod steadiness;
mod store;
mod studies;
mod study;
mod study_id;
mod summed_up;
mod validity;
mod window;
mod writer;

pub use baseline::{
    AskedBaseline, Baseline, BaselineLoad, BaselineRow, BaselineSide, BaselineSpent, FoundBaseline,
};
pub use cpu_profile::{CpuProfile, FrameKind, ProfileCall, ProfileFrame};
pub use description::{Model, NewRun, PartOf, Unit};
pub use ending::{Ending, Failure, Generator, Verdict};
pub use error::StoreError;
pub use event::{Event, EventOutcome};
pub use event_cost::{Cost, EventCost, Judged, LevelBefore, Lost, Recovery};
pub use export::Only;
pub use extend::{EXTENSIONS_MAX, Extension};
pub use intervention::{Change, Changed, Intervention, IoLimits};
pub use load_tool::LoadTool;
pub use monitored::{GateResult, Output};
pub use origin::Origin;
pub use outage::{Outage, OutageTime};
pub use path::default_path;
pub use procedure::{CapacityRules, Procedure, SliceRules};
pub use reading::{Reading, StoredReading};
pub use run::{PackedSecond, Run};
pub use run_id::{NotARunId, RunId};
pub use steadiness::{Steadiness, SteadinessVerdict};
pub use store::{RunState, Store, Summary};
pub use study::{
    COMMAND, Compare, NewStudy, OUT_OF_TIME, Study, StudyEnding, StudyPlace, StudyState, StudySummary,
};
pub use study_id::{NotAStudyId, StudyId};
pub use units::Utc;
pub use validity::{Cause, Distorted, Distortion, Level, Validity};
pub use window::WindowLength;

/// What every call of the store answers.
pub type Result<T, E = StoreError> = std::result::Result<T, E>;
