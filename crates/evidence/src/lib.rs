//! Evidence of runs and studies: typed values that the store, the judges, the reports, and the server share.
//!
//! A run has a description from its start ([`NewRun`]), seconds, observations during the load ([`Monitored`]), and an [`Ending`].
//! [`Run::assemble`] puts them together, and checks that they unpack and add up. A [`Study`] plans runs, and holds their sums. The
//! crate knows neither SQL nor output formats.

mod baseline;
mod bounds;
mod connections_by_process;
mod contents;
mod cpu_profile;
mod description;
mod ending;
mod error;
mod event;
mod event_cost;
mod extension;
mod intervention;
mod load_tool;
mod moments;
mod monitored;
mod origin;
mod outage;
mod procedure;
mod reading;
mod rewrite;
mod run;
mod run_id;
mod same_body;
pub mod stage;
mod steadiness;
mod steady_start;
mod study;
mod study_id;
mod summary;
mod summed_up;
mod validity;
mod window;

pub use baseline::{
    AskedBaseline, Baseline, BaselineLoad, BaselineRow, BaselineSide, BaselineSpent, FoundBaseline,
};
pub use bounds::{Bounds, Decision};
pub use connections_by_process::{ConnectionsByProcess, HeldReading, ServingProcess};
pub use contents::{SizeClasses, StepContents};
pub use cpu_profile::{CpuProfile, FrameKind, ProfileCall, ProfileFrame};
pub use description::{Model, NewRun, StepPart, Unit, in_words};
pub use ending::{Ending, Failure, Generator, ThreadRule, Verdict};
pub use error::EvidenceError;
pub use event::{Event, EventOutcome};
pub use event_cost::{Cost, EventCost, Judged, LevelBefore, Lost, Recovery};
pub use extension::{EXTENSIONS_MAX, Extension};
pub use intervention::{Change, Changed, Intervention, IoLimits};
pub use load_tool::LoadTool;
pub use monitored::{GateResult, Monitored, Output};
pub use origin::Origin;
pub use outage::{Outage, OutageTime, Starvation};
pub use procedure::{CapacityRules, Procedure, SliceRules};
pub use reading::{
    BUSIEST_THREAD_REST_SHARE, DamagedReadings, LOOK_FROM, LOOK_TO, OTHER_PROGRAMS, Reading, ReadingKey,
    Readings, StoredReading, pack_reading,
};
pub use run::{PackedSecond, Run, RunState, StoredSecond};
pub use run_id::{InvalidRunId, RunId};
pub use same_body::SameBody;
pub use steadiness::{Steadiness, SteadinessVerdict};
pub use steady_start::SteadyStart;
pub use study::{
    COMMAND, Compare, NewStudy, OUT_OF_TIME, Study, StudyEnding, StudyPlace, StudyState, StudySummary,
    UNLIKE_OK,
};
pub use study_id::{InvalidStudyId, StudyId};
pub use summary::Summary;
pub use validity::{Cause, Distorted, Distortion, GeneratorEffect, LONG_DELAYS, Level, LongDelays, Validity};
pub use window::WindowLength;

/// Result of calls that read evidence.
pub type Result<T, E = EvidenceError> = std::result::Result<T, E>;
