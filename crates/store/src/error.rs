//! Everything that can go wrong with the store: what, where, and what to do.

use std::io;
use std::path::{Path, PathBuf};

use evidence::{EvidenceError, RunId, StudyId};
use rusqlite::ErrorCode;

/// Why the store could not do it.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The folder of the file could not be made.
    #[error("cannot make the folder {} for the store: {source}\n  help: name another file with --store", .path.display())]
    Folder {
        /// The folder.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// There is no such file.
    #[error("there is no store at {}\n  help: a first run creates it; or name another with --store", .path.display())]
    Missing {
        /// The file.
        path: PathBuf,
    },
    /// The file is something else.
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
        /// Its version.
        found: i64,
        /// The latest version that can be read.
        known: i64,
    },
    /// Something in the file contradicts itself.
    #[error(
        "the store {} is damaged: {what}\n  help: delete the run or study if it is named here, \
         else put the file aside and restore a copy", .path.display()
    )]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What does not fit, and in which run or study.
        what: String,
    },
    /// No room for more.
    #[error("no room left to write the store {}\n  help: free some, or name a file on another disk with --store", .path.display())]
    Full {
        /// The file.
        path: PathBuf,
    },
    /// The file is not at its path any more.
    #[error(
        "the store {} was removed, moved or replaced while it was written to: what was kept is lost, or in the file that was \
         moved\n  help: leave the file where it is, and run again",
        .path.display()
    )]
    Removed {
        /// The path.
        path: PathBuf,
    },
    /// The file or its folder may not be written.
    #[error(
        "the store {} cannot be opened for writing\n  help: check who owns the file and its folder, \
         or name another file with --store", .path.display()
    )]
    NotWritable {
        /// The file.
        path: PathBuf,
    },
    /// The path names no file.
    #[error("{path:?} names no file: runs are kept in a file\n  help: name one with --store")]
    NoFile {
        /// The path.
        path: PathBuf,
    },
    /// The file can only be read, and only by changing it first.
    #[error(
        "the store {} may not be written, and {why}\n  help: copy it, with any file {}-wal, to a folder that may be written", .path.display(),
        .path.display()
    )]
    CannotBeRead {
        /// The file.
        path: PathBuf,
        /// Why reading it needs writing.
        why: &'static str,
    },
    /// Another process held the file for too long.
    #[error("the store {} has been locked by another process for {waited_s} s\n  help: try again when it is done", .path.display())]
    Locked {
        /// The file.
        path: PathBuf,
        /// How long this one waited.
        waited_s: u64,
    },
    /// SQLite failed in a way that has no better name here.
    #[error("the store {} failed: {source}\n  help: if it stays so, put the file aside", .path.display())]
    Sqlite {
        /// The file.
        path: PathBuf,
        /// What SQLite said.
        source: rusqlite::Error,
    },
    /// There is no run yet.
    #[error("the store {} has no runs yet", .path.display())]
    Empty {
        /// The file.
        path: PathBuf,
    },
    /// No run has this name.
    #[error("no run in {} is called {text:?}\n  help: `tenbin history` lists them", .path.display())]
    UnknownRun {
        /// The file.
        path: PathBuf,
        /// What was looked for.
        text: String,
    },
    /// There is no study yet.
    #[error("the store {} has no studies yet", .path.display())]
    NoStudies {
        /// The file.
        path: PathBuf,
    },
    /// No study has this name.
    #[error("no study in {} is called {text:?}\n  help: `tenbin history` lists them", .path.display())]
    UnknownStudy {
        /// The file.
        path: PathBuf,
        /// What was looked for.
        text: String,
    },
    /// Several runs or studies begin with this text.
    #[error(
        "{text:?} could be {}{}\n  help: write more of the name",
        .candidates.join(", "),
        if *.more { ", and others" } else { "" }
    )]
    Ambiguous {
        /// What was looked for.
        text: String,
        /// Some names that begin so, newest first.
        candidates: Vec<String>,
        /// Whether there are more.
        more: bool,
    },
    /// A run ends once.
    #[error("run {run} has its ending already; it was left as it is")]
    AlreadyFinished {
        /// The run.
        run: RunId,
    },
    /// A second of a step that the run did not announce.
    #[error("run {run} has no step {step}; name every step when the run begins")]
    UnknownStep {
        /// The run.
        run: RunId,
        /// The number of the step.
        step: u16,
    },
    /// A study is written by one process at a time.
    #[error(
        "study {study} is being written by process {pid}\n  help: wait until it is done, or end it first"
    )]
    StudyRunning {
        /// The study.
        study: StudyId,
        /// Its writer.
        pid: u32,
    },
    /// Another process writes the study now.
    #[error(
        "study {study} was taken over by process {pid}: nothing more of it is kept here\n  help: resume it when that one is done"
    )]
    StudyTakenOver {
        /// The study.
        study: StudyId,
        /// Its writer.
        pid: u32,
    },
    /// A study that has ended must be resumed first.
    #[error("study {study} has its ending already\n  help: resume it to add to it")]
    StudyEnded {
        /// The study.
        study: StudyId,
    },
    /// Nothing is left to resume.
    #[error(
        "study {study} is complete: each planned run is there\n  help: run the plan without --resume to measure again"
    )]
    StudyComplete {
        /// The study.
        study: StudyId,
    },
    /// A run of a study that did not plan it.
    #[error(
        "study {study} did not plan this run at position {position}; name every place when the study begins"
    )]
    UnknownPlace {
        /// The study.
        study: StudyId,
        /// The position of the run.
        position: u32,
    },
    /// A figure that the file cannot hold.
    #[error("{what} cannot be kept: this is a fault of Tenbin\n  help: report it")]
    Unstorable {
        /// The figure.
        what: &'static str,
    },
    /// A run or a study does not say what was asked.
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

/// A run that judges and reports ask for may be unreadable.
impl From<StoreError> for EvidenceError {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::Evidence(error) => error,
            error => Self::Unreadable(Box::new(error)),
        }
    }
}

/// How long to wait for other processes that write.
pub(crate) const BUSY_MS: u64 = 10_000;

impl StoreError {
    /// JSON and SQLite know no such number, and no reader could use it.
    pub(crate) const NOT_FINITE: Self = Self::Unstorable { what: "a figure that is not a number" };

    /// Gives a failure of SQLite its name.
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
    fn an_error_of_the_store_survives_the_way_through_evidence() {
        let lost = || StoreError::Missing { path: "gone".into() };
        let passed = EvidenceError::from(lost());
        assert_eq!(passed.to_string(), lost().to_string());
        assert!(matches!(StoreError::from(passed), StoreError::Missing { .. }));
        let run: RunId = "20261121-142501-k3f9".parse().unwrap();
        let damaged = StoreError::from(EvidenceError::DamagedRun { run });
        assert!(matches!(EvidenceError::from(damaged), EvidenceError::DamagedRun { .. }));
    }
}
