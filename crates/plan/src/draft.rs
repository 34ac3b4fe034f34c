//! What was asked for, as it was written: nothing here is checked yet.

use std::path::PathBuf;

use crate::body_file::BodyFile;
use crate::command_mix::CommandMixSpec;
use crate::fault::Fault;
use crate::plan::Plan;
use crate::running::RunningSpec;
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
    /// Name of the system, as in `NAME=URL`.
    pub system: Option<String>,
    pub load: LoadSpec,
    pub sql: SqlSpec,
    pub expects: ExpectSpec,
    pub unix_socket: Option<PathBuf>,
    pub running: Option<RunningSpec>,
    /// Each `HOST:PORT:ADDRESS`.
    pub resolve: Vec<String>,
    pub method: Option<String>,
    pub headers: Vec<String>,
    pub body: Option<Vec<u8>>,
    pub body_file: Option<BodyFile>,
    pub played: Vec<Played>,
    pub tls: TlsSpec,
    pub command_mix: CommandMixSpec,
}

/// Which certificates are accepted over TLS, and which one is presented. Files are PEM.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TlsSpec {
    /// Accepts any certificate.
    pub insecure: bool,
    /// Authorities to trust in place of the system's.
    pub cacert: Option<PathBuf>,
    /// The client's certificate.
    pub cert: Option<PathBuf>,
    /// Its key, if it is not in the same file.
    pub key: Option<PathBuf>,
}

impl TlsSpec {
    /// Flags with whether they were given. Keys of a plan have the same names.
    pub fn flags(&self) -> [(&'static str, bool); 4] {
        [
            ("--insecure", self.insecure),
            ("--cacert", self.cacert.is_some()),
            ("--cert", self.cert.is_some()),
            ("--key", self.key.is_some()),
        ]
    }
}

impl Draft {
    /// The plan, or everything that is wrong with the draft.
    pub fn check(&self) -> Result<Plan, Vec<Fault>> {
        crate::check::check(self)
    }
}
