//! Every run, in one SQLite file.
//!
//! A run is begun, its seconds are kept as they come, and it is finished; what a crash leaves is a partial run, never a
//! broken file. The crate never knows statistics or formats.

mod begin;
mod description;
mod ending;
mod error;
mod keep;
mod load;
mod open;
mod path;
mod run;
mod run_id;
mod schema;
mod spread;
mod store;
mod utc;
mod writer;

pub use description::{Model, NewRun};
pub use ending::{Cause, Ending, Generator, Level, Validity, Verdict};
pub use error::StoreError;
pub use path::default_path;
pub use run::Run;
pub use run_id::{NotARunId, RunId};
pub use store::{State, Store, Summary};
pub use utc::Utc;

/// What every call of the store answers.
pub type Result<T, E = StoreError> = std::result::Result<T, E>;
