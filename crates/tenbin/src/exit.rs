//! Endings of commands that failed. `judge::endings` lists all endings with their exit codes.

use evidence::EvidenceError;
use report::ReportError;
use runner::{ConsentError, Refusal, ResolveError, RunError};
use store::StoreError;

pub(crate) use judge::CommandEnding as Exit;

/// Ending of a command that failed with this error.
pub(crate) fn from_error(error: &anyhow::Error) -> Exit {
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
    let of_evidence = match error.downcast_ref() {
        Some(ReportError::Evidence(error)) => Some(error),
        _ => error.downcast_ref(),
    };
    let of_store = match of_evidence {
        Some(EvidenceError::Unreadable(error)) => error.downcast_ref(),
        Some(_) => return Exit::Storage,
        None => error.downcast_ref(),
    };
    match of_store {
        // A missing run means that its name was wrong, and a missing store has no runs. In both cases the argument is wrong.
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

/// Arguments that contradict each other or the state of the machine, as a message.
#[derive(Debug)]
pub(crate) struct BadArguments(pub(crate) String);

impl std::fmt::Display for BadArguments {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for BadArguments {}

/// Obstacle to a plan on this machine, as a message.
#[derive(Debug)]
pub(crate) struct CannotRun(pub(crate) String);

impl std::fmt::Display for CannotRun {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for CannotRun {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn store_error_has_the_same_ending_in_every_wrapper() {
        let missing = || StoreError::Missing { path: "gone".into() };
        let broken = || StoreError::Damaged { path: "gone".into(), what: "its tables".to_owned() };
        for (error, exit) in [(missing as fn() -> StoreError, Exit::BadArguments), (broken, Exit::Storage)] {
            assert_eq!(from_error(&error().into()), exit);
            assert_eq!(from_error(&EvidenceError::from(error()).into()), exit);
            assert_eq!(from_error(&ReportError::Evidence(error().into()).into()), exit);
        }
        let run = "20261121-142501-k3f9".parse().unwrap();
        assert_eq!(from_error(&EvidenceError::DamagedRun { run }.into()), Exit::Storage);
    }
}
