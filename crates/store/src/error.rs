//! Errors of the store, each with place and help.

use std::io;
use std::path::{Path, PathBuf};

use evidence::{EvidenceError, RunId, StudyId};
use rusqlite::ErrorCode;

/// Reason why an operation of the store failed.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The folder of the file could not be created.
    #[error("cannot make the folder {} for the store: {source}\n  help: name another file with --store", .path.display())]
    Folder {
        /// The folder.
        path: PathBuf,
        /// Error of the system.
        source: io::Error,
    },
    /// The file does not exist.
    #[error("there is no store at {}\n  help: a first run creates it; or name another with --store", .path.display())]
    Missing {
        /// The file.
        path: PathBuf,
    },
    /// The file is not a Tenbin store.
    #[error("{} is not a Tenbin store, and is left as it is\n  help: name another file with --store", .path.display())]
    Foreign {
        /// The file.
        path: PathBuf,
    },
    /// The file was written by a later version of this program.
    #[error(
        "the store {} has version {found}, and this program knows up to {known}\n  help: \
         use the newer Tenbin that wrote it, or another file with --store", .path.display()
    )]
    Newer {
        /// The file.
        path: PathBuf,
        /// Version of the file.
        found: i64,
        /// Latest version that can be read.
        known: i64,
    },
    /// The content of the file is inconsistent.
    #[error(
        "the store {} is damaged: {what}\n  help: delete the run or study if it is named here, \
         else put the file aside and restore a copy", .path.display()
    )]
    Damaged {
        /// The file.
        path: PathBuf,
        /// Description of the inconsistency, with the run or study.
        what: String,
    },
    /// The disk is full.
    #[error("no room left to write the store {}\n  help: free some, or name a file on another disk with --store", .path.display())]
    Full {
        /// The file.
        path: PathBuf,
    },
    /// The file is no longer at its path.
    #[error(
        "the store {} was removed, moved or replaced while it was written to: what was kept is lost, or in the file that was \
         moved\n  help: leave the file where it is, and run again",
        .path.display()
    )]
    Removed {
        /// The path.
        path: PathBuf,
    },
    /// The file or its folder is not writable.
    #[error(
        "the store {} cannot be opened for writing\n  help: check who owns the file and its folder, \
         or name another file with --store", .path.display()
    )]
    NotWritable {
        /// The file.
        path: PathBuf,
    },
    /// The path does not denote a file.
    #[error("{path:?} names no file: runs are kept in a file\n  help: name one with --store")]
    NoFile {
        /// The path.
        path: PathBuf,
    },
    /// The file is read-only, but reading it requires writing.
    #[error(
        "the store {} may not be written, and {why}\n  help: copy it, with any file {}-wal, to a folder that may be written", .path.display(),
        .path.display()
    )]
    CannotBeRead {
        /// The file.
        path: PathBuf,
        /// Reason why reading requires writing.
        why: &'static str,
    },
    /// Another process locked the file for too long.
    #[error("the store {} has been locked by another process for {waited_s} s\n  help: try again when it is done", .path.display())]
    Locked {
        /// The file.
        path: PathBuf,
        /// Time waited for the lock, in seconds.
        waited_s: u64,
    },
    /// Another failure of SQLite.
    #[error("the store {} failed: {source}\n  help: if it stays so, put the file aside", .path.display())]
    Sqlite {
        /// The file.
        path: PathBuf,
        /// Error of SQLite.
        source: rusqlite::Error,
    },
    /// The store has no runs.
    #[error("the store {} has no runs yet", .path.display())]
    Empty {
        /// The file.
        path: PathBuf,
    },
    /// The store has no run with this name.
    #[error("no run in {} is called {text:?}\n  help: `tenbin history` lists them", .path.display())]
    UnknownRun {
        /// The file.
        path: PathBuf,
        /// Name that was looked up.
        text: String,
    },
    /// The store has no studies.
    #[error("the store {} has no studies yet", .path.display())]
    NoStudies {
        /// The file.
        path: PathBuf,
    },
    /// The store has no study with this name.
    #[error("no study in {} is called {text:?}\n  help: `tenbin history` lists them", .path.display())]
    UnknownStudy {
        /// The file.
        path: PathBuf,
        /// Name that was looked up.
        text: String,
    },
    /// Several runs or studies have names with this prefix.
    #[error(
        "{text:?} could be {}{}\n  help: write more of the name",
        .candidates.join(", "),
        if *.more { ", and others" } else { "" }
    )]
    Ambiguous {
        /// Prefix that was looked up.
        text: String,
        /// Some names with this prefix, newest first.
        candidates: Vec<String>,
        /// Whether there are more names with this prefix.
        more: bool,
    },
    /// The run has already ended.
    #[error("run {run} has its ending already; it was left as it is")]
    AlreadyFinished {
        /// The run.
        run: RunId,
    },
    /// A second belongs to a step that the run did not declare.
    #[error("run {run} has no step {step}; name every step when the run begins")]
    UnknownStep {
        /// The run.
        run: RunId,
        /// Number of the step.
        step: u16,
    },
    /// Another live process writes the study.
    #[error(
        "study {study} is being written by process {pid}\n  help: wait until it is done, or end it first"
    )]
    StudyRunning {
        /// The study.
        study: StudyId,
        /// Process ID of its writer.
        pid: u32,
    },
    /// Another process has taken over the study.
    #[error(
        "study {study} was taken over by process {pid}: nothing more of it is kept here\n  help: resume it when that one is done"
    )]
    StudyTakenOver {
        /// The study.
        study: StudyId,
        /// Process ID of its new writer.
        pid: u32,
    },
    /// The study has ended, and must be resumed first.
    #[error("study {study} has its ending already\n  help: resume it to add to it")]
    StudyEnded {
        /// The study.
        study: StudyId,
    },
    /// The study has no missing runs to resume.
    #[error(
        "study {study} is complete: each planned run is there\n  help: run the plan without --resume to measure again"
    )]
    StudyComplete {
        /// The study.
        study: StudyId,
    },
    /// A run is at a position that the study did not plan.
    #[error(
        "study {study} did not plan this run at position {position}; name every place when the study begins"
    )]
    UnknownPlace {
        /// The study.
        study: StudyId,
        /// Position of the run.
        position: u32,
    },
    /// The store cannot represent a value, which is a bug in Tenbin.
    #[error("{what} cannot be kept: this is a fault of Tenbin\n  help: report it")]
    Unstorable {
        /// Description of the value.
        what: &'static str,
    },
    /// A run or a study lacks the requested evidence.
    #[error(transparent)]
    Evidence(EvidenceError),
}

impl From<EvidenceError> for StoreError {
    fn from(error: EvidenceError) -> Self {
        match error {
            EvidenceError::Unreadable(error) => match error.downcast() {
                Ok(error) => *error,
                Err(error) => Self::Evidence(EvidenceError::Unreadable(error)),
            },
            error => Self::Evidence(error),
        }
    }
}

/// Converts failures to read a run on behalf of judges and reports.
impl From<StoreError> for EvidenceError {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::Evidence(error) => error,
            error => Self::Unreadable(Box::new(error)),
        }
    }
}

/// Maximum time to wait for other writers, in milliseconds.
pub(crate) const BUSY_MS: u64 = 10_000;

impl StoreError {
    /// Error for NaN and infinity, which JSON and SQLite cannot represent.
    pub(crate) const NOT_FINITE: Self = Self::Unstorable { what: "a figure that is not a number" };

    /// Maps an SQLite error to a specific variant.
    pub(crate) fn of(path: &Path, source: rusqlite::Error) -> Self {
        use rusqlite::Error as E;
        let path = path.to_path_buf();
        let code = source.sqlite_error_code();
        let is_value = matches!(
            source,
            E::FromSqlConversionFailure(..)
                | E::IntegralValueOutOfRange(..)
                | E::Utf8Error(..)
                | E::InvalidColumnType(..)
        );
        match code {
            Some(ErrorCode::DiskFull) => Self::Full { path },
            Some(ErrorCode::ReadOnly | ErrorCode::PermissionDenied | ErrorCode::CannotOpen) => {
                Self::NotWritable { path }
            }
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => {
                Self::Locked { path, waited_s: BUSY_MS / 1_000 }
            }
            Some(ErrorCode::NotADatabase) => Self::Foreign { path },
            Some(ErrorCode::DatabaseCorrupt | ErrorCode::TooBig) => {
                Self::Damaged { path, what: source.to_string() }
            }
            _ if is_value => {
                Self::Damaged { path, what: "a column holds a value of another kind".to_owned() }
            }
            _ => Self::Sqlite { path, source },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn store_error_survives_conversion_to_evidence() {
        let lost = || StoreError::Missing { path: "gone".into() };
        let passed = EvidenceError::from(lost());
        assert_eq!(passed.to_string(), lost().to_string());
        assert!(matches!(StoreError::from(passed), StoreError::Missing { .. }));
        let run: RunId = "20261121-142501-k3f9".parse().unwrap();
        let damaged = StoreError::from(EvidenceError::DamagedRun { run });
        assert!(matches!(EvidenceError::from(damaged), EvidenceError::DamagedRun { .. }));
    }
}
