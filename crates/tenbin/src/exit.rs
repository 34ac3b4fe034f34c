//! The exit codes, all of them.

use std::process::ExitCode;

use report::ReportError;
use runner::{ConsentError, Refusal, ResolveError, RunError};
use store::StoreError;

/// How the program ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    /// All went as asked.
    Ok = 0,
    /// The load, or the command, could not run.
    CouldNotRun = 1,
    /// The arguments or the plan are wrong; nothing was sent.
    BadArguments = 2,
    /// A condition was breached: a gate of the plan, or one of `--slo`.
    Breached = 3,
    /// The run is invalid: it measured the generator. Of a study: such runs prevented its verdict.
    Invalid = 4,
    /// The store failed.
    Storage = 5,
    /// The run is degraded: the system was gone for part of the time.
    Degraded = 6,
    /// Interrupted (SIGINT); the partial result is kept.
    Interrupted = 130,
    /// Terminated (SIGTERM); the partial result is kept.
    Terminated = 143,
}

impl Exit {
    /// Every code with what it means, as `--help` lists them.
    pub(crate) const ALL: [(Self, &str); 9] = [
        (Self::Ok, "success"),
        (Self::CouldNotRun, "the command could not run or did not finish"),
        (Self::BadArguments, "wrong arguments or a wrong plan; nothing was sent"),
        (Self::Breached, "a condition failed"),
        (Self::Invalid, "the run is invalid: it measured the load generator, not the server"),
        (Self::Storage, "the store cannot be read or written"),
        (Self::Degraded, "the server was gone for 5 % of the measured time or more"),
        (Self::Interrupted, "interrupted (SIGINT); the result so far is kept"),
        (Self::Terminated, "terminated (SIGTERM, SIGHUP); the result so far is kept"),
    ];

    /// The code of an error that ends the program.
    pub(crate) fn of(error: &anyhow::Error) -> Self {
        if let Some(RunError::Storage { .. }) = error.downcast_ref() {
            return Self::Storage;
        }
        let is_forbidden = |refusal: &Refusal| {
            matches!(
                refusal,
                Refusal::Plan(_)
                    | Refusal::Consent(ConsentError::TooFast { .. } | ConsentError::NoRate { .. })
                    | Refusal::Resolve(ResolveError::Forbidden { .. })
                    | Refusal::TlsFile(_)
            )
        };
        if let Some(RunError::Plan(_)) = error.downcast_ref() {
            return Self::BadArguments;
        }
        if error.is::<BadArguments>() || error.downcast_ref().is_some_and(is_forbidden) {
            return Self::BadArguments;
        }
        let in_report = error.downcast_ref().and_then(|error| match error {
            ReportError::Store(error) => Some(error),
            _ => None,
        });
        match in_report.or(error.downcast_ref()) {
            // A run that is not there was named wrongly; a store that is not there holds no run.
            Some(
                StoreError::UnknownRun { .. }
                | StoreError::Empty { .. }
                | StoreError::NoFile { .. }
                | StoreError::Ambiguous { .. }
                | StoreError::Missing { .. }
                | StoreError::UnknownStudy { .. }
                | StoreError::NoStudies { .. }
                | StoreError::StudyComplete { .. },
            ) => Self::BadArguments,
            Some(StoreError::StudyRunning { .. } | StoreError::StudyTakenOver { .. }) => Self::CouldNotRun,
            Some(_) => Self::Storage,
            None => Self::CouldNotRun,
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit as u8)
    }
}

/// Arguments that contradict each other or what is there, in words.
#[derive(Debug)]
pub(crate) struct BadArguments(pub(crate) String);

impl std::fmt::Display for BadArguments {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for BadArguments {}

/// What stands in the way of a plan on this machine, in words.
#[derive(Debug)]
pub(crate) struct CannotRun(pub(crate) String);

impl std::fmt::Display for CannotRun {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for CannotRun {}
