//! What was asked for, as it was written: nothing here is checked yet.

use std::path::PathBuf;

use crate::fault::Fault;
use crate::plan::Plan;
use crate::spec::{ExpectSpec, LoadSpec, SqlSpec};

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

/// What a command line asks for: a URL, and what is done with it. An empty field was not given.
#[derive(Clone, Debug, Default)]
#[allow(missing_docs, reason = "each is the flag of its name, which is documented where it is read")]
pub struct Draft {
    pub url: String,
    pub load: LoadSpec,
    pub sql: SqlSpec,
    pub expects: ExpectSpec,
    pub unix_socket: Option<PathBuf>,
    /// Each `HOST:PORT:ADDRESS`.
    pub resolve: Vec<String>,
    pub method: Option<String>,
    pub headers: Vec<String>,
    pub body: Option<String>,
    pub body_file: Option<PathBuf>,
    pub played: Vec<Played>,
    pub insecure: bool,
    pub cacert: Option<PathBuf>,
}

impl Draft {
    /// The plan, or everything that is wrong with the draft.
    pub fn check(&self) -> Result<Plan, Vec<Fault>> {
        crate::check::check(self)
    }
}
