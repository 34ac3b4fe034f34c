//! Reads recorded traffic, one file per format, and plays it again.
//!
//! [`Log`] streams entries: statements or requests with session, time, and logged result. [`Survey`] counts them by fingerprint, and
//! [`TraceBuilder`] stores the items that each connection sends. [`Recorded`] combines both. [`play`] sends the items and compares each
//! result with the log. The crate has no sockets and no clock.

mod databases;
mod entry;
mod fingerprint;
mod formats;
mod instant;
mod lines;
mod log;
mod mysql;
mod output;
pub mod play;
mod postgres;
mod recorded;
mod sharing;
mod skipped;
mod spill;
mod survey;
mod trace;
mod traffic;
mod web;

pub use databases::monitored_words;
pub use entry::{Action, Entry, LoggedResult};
pub use fingerprint::{Scanned, of_request, scan};
pub use formats::{FORMATS, Format, Layout};
pub use log::{Log, LogError};
pub use output::{Output, Reader};
pub use recorded::{Moment, ReadError, Recorded, Selection, Storage, speed};
pub use sharing::SharedSessions;
pub use skipped::{Reason, Skipped};
pub use survey::{FINGERPRINTS_MAX, FingerprintCount, OTHER, Survey};
pub use trace::{
    Form, Item, KEPT_BYTES_MAX, RequestForm, SPILLED_ABOVE_BYTES, SlotReader, Trace, TraceBuilder, TraceError,
};
pub use traffic::{ReplayTarget, Traffic};
