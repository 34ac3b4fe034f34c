//! `tenbin report`: shows stored runs, or a study, in any format.

use ::report::Anonymizer;
use clap::Args;
use clap_complete::engine::ArgValueCompleter;
use evidence::RunId;

use crate::commands::StoreFlag;
use crate::commands::completions::stored;
use crate::commands::stored::StoredName;
use crate::destination::ResultFlags;
use crate::exit::{BadArguments, Exit};

/// Arguments of `tenbin report`.
#[derive(Args, Debug)]
pub(crate) struct ReportFlags {
    /// Names, labels, or exported files of runs, or of one study, or a plan for its newest study; a unique beginning is enough [default: last]
    #[arg(value_name = "NAME", add = ArgValueCompleter::new(stored))]
    names: Vec<String>,
    /// Leave out what identifies the machine and its user
    ///
    /// These are host and user names, paths, commands, error messages, output of processes, and the plan.
    #[arg(long, help_heading = "Results")]
    share: bool,
    #[command(flatten)]
    results: ResultFlags,
    #[command(flatten)]
    store: StoreFlag,
}

/// Loads the runs or the study, and writes the report.
pub(crate) fn run(flags: &ReportFlags) -> anyhow::Result<Exit> {
    let destination = flags.results.check()?;
    let mut named: Vec<StoredName> =
        flags.names.iter().map(|name| StoredName::of(name, &flags.store)).collect::<anyhow::Result<_>>()?;
    if named.is_empty() {
        named.push(StoredName::last(&flags.store)?);
    }
    if let [one] = &named[..]
        && let Some(id) = one.study()?
    {
        let study = one.store.load_study(&id)?;
        let sharing = flags.share.then(|| Anonymizer::of_study(&study));
        let study = sharing.iter().fold(study, |study, sharing| sharing.study(study));
        let load =
            |run: &RunId| Ok(sharing.iter().fold(one.store.load(run)?, |run, sharing| sharing.run(run)));
        destination.write(false, &|format, options, out| {
            ::report::write_study(format, &study, &load, options, out)
        })?;
        return Ok(Exit::Ok);
    }
    if let Some(study) = named.iter().find(|one| one.is_study()) {
        let what = format!("{} is a study, and a study is shown by itself", study.name);
        return Err(BadArguments(format!(
            "{what}\n  help: name it alone, or name runs (tenbin history --runs)"
        ))
        .into());
    }
    let runs = named.iter().map(|one| one.store.load(&one.run()?)).collect::<Result<Vec<_>, _>>()?;
    let runs = match flags.share.then(|| Anonymizer::of_runs(&runs)) {
        Some(sharing) => runs.into_iter().map(|run| sharing.run(run)).collect(),
        None => runs,
    };
    destination.write(false, &|format, options, out| ::report::write(format, &runs, options, out))?;
    Ok(Exit::Ok)
}
