//! What was asked for, as it was written: nothing here is checked yet.

use std::path::PathBuf;

use crate::fault::Fault;
use crate::plan::Plan;

/// A script that clients go through; the first two with `@WEIGHT` after it or not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Played {
    /// A file in pgbench's language.
    File(String),
    /// A built-in workload, by name.
    Workload(String),
    /// A text of a plan, which has no weight here.
    Text {
        /// What it is called.
        name: String,
        /// The script.
        text: Vec<u8>,
    },
}

/// One load, as written. An empty field was not given.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[allow(
    missing_docs,
    reason = "each field is the flag of its name; the flags are documented where they are read"
)]
pub struct Draft {
    pub url: String,
    pub unix_socket: Option<PathBuf>,
    pub method: Option<String>,
    pub headers: Vec<String>,
    pub body: Option<String>,
    pub body_file: Option<PathBuf>,
    pub connections: Option<String>,
    pub requests: Option<String>,
    pub duration: Option<String>,
    pub warm_up: Option<String>,
    pub extend: Option<String>,
    pub rate: Option<String>,
    pub ramp_from: Option<String>,
    pub stages: Option<String>,
    pub arrivals: Option<String>,
    pub shed_after: Option<String>,
    pub think: Option<String>,
    pub pacing: Option<String>,
    pub ramp_up: Option<String>,
    pub throughput: Option<String>,
    pub timeout: Option<String>,
    pub connect_timeout: Option<String>,
    pub no_keepalive: bool,
    pub expect_status: Option<String>,
    pub expect_body: Vec<String>,
    pub expect_body_regex: Vec<String>,
    pub expect_header: Vec<String>,
    pub expect_size: Option<String>,
    pub played: Vec<Played>,
    pub defines: Vec<String>,
    pub query_mode: Option<String>,
    pub scale: Option<String>,
    pub tables: Option<String>,
    pub table_size: Option<String>,
    pub range_size: Option<String>,
    pub rows: Option<String>,
    pub style: Option<String>,
    pub distribution: Option<String>,
    pub max_tries: Option<String>,
    pub latency_limit: Option<String>,
    pub pool: Option<String>,
    pub no_room_check: bool,
    pub insecure: bool,
    pub cacert: Option<PathBuf>,
    pub threads: Option<String>,
    pub pin: Option<String>,
    pub seed: Option<String>,
    pub log_requests: Option<String>,
}

impl Draft {
    /// The plan, or everything that is wrong with the draft.
    pub fn check(&self) -> Result<Plan, Vec<Fault>> {
        crate::check::check(self)
    }
}
