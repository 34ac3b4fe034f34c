//! `tenbin export`: writes one run or one study to a separate file.

use std::ffi::OsString;
use std::fs::{self, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use anyhow::Context;
use clap::Args;
use clap_complete::engine::ArgValueCompleter;
use evidence::{RunId, RunState, StudyId, StudyState};

use crate::commands::StoreFlag;
use crate::commands::completions::stored;
use crate::commands::stored::StoredName;
use crate::exit::{BadArguments, CannotRun, Exit};
use crate::output;

/// Which, and where to.
#[derive(Args, Debug)]
pub(crate) struct ExportFlags {
    /// Name or label of a run or a study, or a plan for its newest study; a unique beginning is enough, and "last" is the newest
    #[arg(value_name = "NAME", add = ArgValueCompleter::new(stored))]
    name: String,
    /// File to write; every command that takes the name of a run takes its path
    #[arg(short, long, value_name = "PATH", help_heading = "Results")]
    output: PathBuf,
    /// Replace the file if it exists
    #[arg(long, help_heading = "Results")]
    force: bool,
    #[command(flatten)]
    store: StoreFlag,
}

/// Run or study to export.
enum Exported {
    Run(RunId),
    Study(StudyId),
}

/// Writes the whole file, or none.
pub(crate) fn run(flags: &ExportFlags) -> anyhow::Result<Exit> {
    let named = StoredName::of(&flags.name, &flags.store)?;
    let exported = exported(&named)?;
    let path = &flags.output;
    check(path, flags.force, named.store.path())?;
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let temporary = folder.join(format!(".tenbin-export-{}.part", std::process::id()));
    remove(&temporary);
    let written = match &exported {
        Exported::Run(run) => named.store.export_run(run, &temporary),
        Exported::Study(study) => named.store.export_study(study, &temporary),
    };
    let in_place = written.map_err(anyhow::Error::from).and_then(|()| {
        move_into_place(&temporary, path, flags.force)
            .with_context(|| format!("{} cannot be written", path.display()))
    });
    if in_place.is_err() {
        remove(&temporary);
    }
    in_place?;
    let (what, id) = match &exported {
        Exported::Run(run) => ("run", run.as_str()),
        Exported::Study(study) => ("study", study.as_str()),
    };
    output::lines(&format!("exported {what} {id} to {}\n", path.display()))?;
    Ok(Exit::Ok)
}

fn exported(named: &StoredName) -> anyhow::Result<Exported> {
    let running = |id: &str| {
        CannotRun(format!(
            "{id} is still running; nothing was exported\n  help: wait for its end, or stop it first"
        ))
    };
    if let Some(study) = named.study()? {
        let summary = named.store.studies()?.into_iter().find(|summary| summary.id == study);
        return match summary {
            Some(summary) if summary.state == StudyState::Running => Err(running(study.as_str()).into()),
            _ => Ok(Exported::Study(study)),
        };
    }
    let loaded = named.store.load(&named.run()?)?;
    match &loaded.new.place {
        _ if loaded.state == RunState::Running => Err(running(loaded.id.as_str()).into()),
        Some((study, _)) => {
            let what = format!("{} is a run of the study {study}, and is exported with it", loaded.id);
            Err(BadArguments(format!("{what}\n  help: tenbin export {study} -o FILE")).into())
        }
        None => Ok(Exported::Run(loaded.id)),
    }
}

/// Returns an error if the file must not be written.
fn check(path: &Path, is_forced: bool, store: &Path) -> anyhow::Result<()> {
    let bad = |what: &str, help: &str| {
        Err(BadArguments(format!("-o {}: {what}\n  help: {help}", path.display())).into())
    };
    let existing = match fs::metadata(path) {
        Ok(existing) => existing,
        Err(_) if path.file_name().is_none() => {
            return bad("names no file", "name a file, such as main.sqlite");
        }
        Err(_) => return Ok(()),
    };
    let log = fs::metadata(with_ending(path, "-wal"));
    let canonical = |path: &Path| fs::canonicalize(path).ok();
    match () {
        () if !existing.is_file() => bad("is no file", "name a file, such as main.sqlite"),
        () if canonical(path) == canonical(store) => bad("is the store itself", "name another file"),
        () if !is_forced => bad("exists", "name another file, or add --force to replace it"),
        () if log.is_ok_and(|log| log.len() > 0) => {
            bad("another program is using it", "wait for its end, or name another file")
        }
        () => Ok(()),
    }
}

/// Gives the finished file its name. Without `is_forced`, fails if a file of that name has appeared meanwhile.
fn move_into_place(temporary: &Path, path: &Path, is_forced: bool) -> io::Result<()> {
    if !is_forced {
        OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?;
    }
    fs::rename(temporary, path)
}

/// Removes the parts of an export that was stopped, if there are any.
fn remove(path: &Path) {
    for ending in ["", "-wal", "-shm"] {
        let _ = fs::remove_file(with_ending(path, ending));
    }
}

fn with_ending(path: &Path, ending: &str) -> PathBuf {
    let mut name = OsString::from(path);
    name.push(ending);
    name.into()
}
