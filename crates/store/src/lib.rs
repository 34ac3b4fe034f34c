//! Stores all runs and studies in one SQLite file.
//!
//! A run is begun, its seconds are stored as they arrive, and it is finished. After a crash it is a partial run, and
//! the file stays valid. A study plans runs, and can be resumed after an interruption. The crate knows no statistics
//! and no output formats. Its data types come from `evidence`.

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
pub use export::StoreContent;
pub use path::default_path;
pub use store::Store;

/// Result of an operation of the store.
pub type Result<T, E = StoreError> = std::result::Result<T, E>;
