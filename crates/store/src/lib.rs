//! Every run and every study, in one SQLite file.
//!
//! A run is begun, its seconds are kept as they come, and it is finished; what a crash leaves is a partial run, never a
//! broken file. A study plans runs, and can be resumed where it was interrupted. The crate never knows statistics or
//! formats; the typed data are those of `evidence`.

mod baseline;
mod begin;
mod begin_study;
mod ceiling;
mod checksum;
mod cpu_profile;
mod earlier;
mod error;
mod event;
mod event_cost;
mod export;
mod extend;
mod find;
mod grow;
mod keep;
mod load;
mod load_monitored;
mod load_study;
mod moments;
mod monitored;
mod open;
mod origin;
mod outcome;
mod owner;
mod path;
mod query;
mod redaction;
mod schema;
mod spread;
mod store;
mod studies;
mod writer;

pub use error::StoreError;
pub use export::Only;
pub use path::default_path;
pub use store::Store;

/// What every call of the store answers.
pub type Result<T, E = StoreError> = std::result::Result<T, E>;
