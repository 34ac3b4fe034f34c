//! `tenbin report`: stored runs, or a study, in any format.

use ::report::Sharing;
use clap::Args;
use clap_complete::engine::ArgValueCompleter;
use store::{RunId, Store, StudyId};

use crate::commands::StoreFlag;
use crate::commands::completions::stored;
use crate::commands::origin::named;
use crate::destination::ResultFlags;
use crate::exit::{BadArguments, Exit};

/// Which runs, and how.
#[derive(Args, Debug)]
pub(crate) struct ReportFlags {
    /// Names or labels of runs, or of one study; a unique beginning is enough [default: last]
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

/// Loads and writes them.
pub(crate) fn run(flags: &ReportFlags) -> anyhow::Result<Exit> {
    let destination = flags.results.check()?;
    let store = Store::open_existing(&flags.store.path())?;
    let last = ["last".to_owned()];
    let given = flags.names.iter().map(|name| named(&store, name)).collect::<Result<Vec<_>, _>>()?;
    let names = if given.is_empty() { &last[..] } else { &given[..] };
    if let [name] = names
        && let Some(id) = study(&store, name)?
    {
        let study = store.load_study(&id)?;
        let sharing = flags.share.then(|| Sharing::of_study(&study));
        let study = sharing.iter().fold(study, |study, sharing| sharing.study(study));
        let load = |run: &RunId| Ok(sharing.iter().fold(store.load(run)?, |run, sharing| sharing.run(run)));
        destination.write(false, &|format, options, out| {
            ::report::write_study(format, &study, &load, options, out)
        })?;
        return Ok(Exit::Ok);
    }
    if let Some(name) = names.iter().find(|name| name.starts_with(StudyId::PREFIX)) {
        let what = format!("{name} is a study, and a study is shown by itself");
        return Err(BadArguments(format!(
            "{what}\n  help: name it alone, or name runs (tenbin history --runs)"
        ))
        .into());
    }
    let runs = names.iter().map(|name| store.load(&store.find(name)?)).collect::<Result<Vec<_>, _>>()?;
    let runs = match flags.share.then(|| Sharing::of_runs(&runs)) {
        Some(sharing) => runs.into_iter().map(|run| sharing.run(run)).collect(),
        None => runs,
    };
    destination.write(false, &|format, options, out| ::report::write(format, &runs, options, out))?;
    Ok(Exit::Ok)
}

/// The study that a name means, if it means one: also "last", when the newest run belongs to a study.
fn study(store: &Store, name: &str) -> anyhow::Result<Option<StudyId>> {
    if name.starts_with(StudyId::PREFIX) {
        return Ok(Some(store.find_study(name)?));
    }
    if name != "last" {
        return Ok(None);
    }
    let newest_run = store.runs(1)?.pop();
    Ok(newest_run.and_then(|run| run.place).map(|(study, _)| study))
}
