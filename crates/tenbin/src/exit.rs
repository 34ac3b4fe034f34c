//! How an error ends the program. `judge::endings` lists all endings with their exit codes.

use report::ReportError;
use runner::{ConsentError, Refusal, ResolveError, RunError};
use store::StoreError;

pub(crate) use judge::CommandEnding as Exit;

/// How an error ends the program.
pub(crate) fn of_error(error: &anyhow::Error) -> Exit {
    if let Some(RunError::Storage { .. }) = error.downcast_ref() {
        return Exit::Storage;
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
        return Exit::BadArguments;
    }
    if error.is::<BadArguments>() || error.downcast_ref().is_some_and(is_forbidden) {
        return Exit::BadArguments;
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
        ) => Exit::BadArguments,
        Some(StoreError::StudyRunning { .. } | StoreError::StudyTakenOver { .. }) => Exit::CouldNotRun,
        Some(_) => Exit::Storage,
        None => Exit::CouldNotRun,
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
