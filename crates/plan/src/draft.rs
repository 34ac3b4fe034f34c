//! A command line as it was written, before any check.

use std::path::PathBuf;

pub use sql::ScriptSource;

use crate::body_file::BodyFile;
use crate::command_mix::CommandMixSpec;
use crate::fault::Fault;
use crate::plan::Plan;
use crate::running::RunningSpec;
use crate::spec::{ExpectSpec, LoadSpec, SqlSpec};

/// URL and load from a command line. Fields of flags that were not given are empty.
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
    /// Overrides of DNS, each `HOST:PORT:ADDRESS`.
    pub resolve: Vec<String>,
    pub method: Option<String>,
    pub headers: Vec<String>,
    pub body: Option<Vec<u8>>,
    pub body_file: Option<BodyFile>,
    pub played: Vec<ScriptSource>,
    pub tls: TlsSpec,
    pub command_mix: CommandMixSpec,
}

/// TLS: certificates that are accepted, the one that is presented, and sessions. Files are PEM.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TlsSpec {
    /// Accepts any certificate.
    pub insecure: bool,
    /// File of authorities to trust instead of the system's.
    pub cacert: Option<PathBuf>,
    /// File of the client certificate.
    pub cert: Option<PathBuf>,
    /// File of the client's private key. `None` if `cert` contains it.
    pub key: Option<PathBuf>,
    /// Lets a connection resume the session of an earlier one.
    pub resume_tls: bool,
}

impl TlsSpec {
    /// Flags that have an equally named plan key, and whether each was given.
    pub fn flags(&self) -> [(&'static str, bool); 5] {
        [
            ("--insecure", self.insecure),
            ("--cacert", self.cacert.is_some()),
            ("--cert", self.cert.is_some()),
            ("--key", self.key.is_some()),
            ("--resume-tls", self.resume_tls),
        ]
    }
}

impl Draft {
    /// Checks the draft. Returns the plan, or all errors at once.
    pub fn check(&self) -> Result<Plan, Vec<Fault>> {
        crate::check::check(self)
    }
}
