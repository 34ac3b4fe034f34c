//! `tenbin compare`: two stored runs, or two stored studies, side by side.

use std::path::{Path, PathBuf};

use ::report::{self, Compared, Format, ReportError};
use clap::Args;
use clap_complete::engine::ArgValueCompleter;
use store::{Store, StudyId};

use crate::commands::StoreFlag;
use crate::commands::completions::stored;
use crate::commands::origin::named;
use crate::destination::{ResultFlags, formats};
use crate::exit::{BadArguments, Exit};

/// Which two, and how.
#[derive(Args, Debug)]
pub(crate) struct CompareFlags {
    /// Baseline: name or label of a run or a study; a unique beginning is enough
    #[arg(value_name = "A", add = ArgValueCompleter::new(stored))]
    first: String,
    /// Run or study to compare with it; "last" is the newest
    #[arg(value_name = "B", add = ArgValueCompleter::new(stored))]
    second: String,
    #[arg(long, value_name = "NAME", help_heading = "Results", help = formats(Format::takes_compared))]
    format: Option<String>,
    /// Write the report to a file; its ending selects the format: compared.md
    #[arg(short, long, value_name = "PATH", help_heading = "Results")]
    output: Option<PathBuf>,
    #[command(flatten)]
    store: StoreFlag,
}

/// Loads both and writes them side by side.
pub(crate) fn run(flags: &CompareFlags) -> anyhow::Result<Exit> {
    let results = ResultFlags::of(flags.format.clone(), flags.output.clone());
    let destination = results.check()?;
    let format = destination.format;
    if !format.takes_compared() {
        let what = format!("--format {}: it has no room for two things side by side", format.name);
        return Err(bad(&what, &format!("write {}", report::format_names(Format::takes_compared))));
    }
    if let Some(path) =
        [&flags.first, &flags.second].into_iter().find(|name| Path::new(name.trim()).is_file())
    {
        let what = format!("{path} is a file, and not the name of a run or a study");
        return Err(bad(&what, "name two of one store; --store FILE says which store"));
    }
    let store = Store::open_existing(&flags.store.path())?;
    let [first, second] = [named(&store, flags.first.trim())?, named(&store, flags.second.trim())?];
    let compared = compared(&store, &first, &second)?;
    destination.write(false, &|format, options, out| compared.write(format, options, out))?;
    Ok(Exit::Ok)
}

fn compared(store: &Store, first: &str, second: &str) -> anyhow::Result<Compared> {
    let is_study = |name: &str| name.starts_with(StudyId::PREFIX);
    let is_last = |name: &str| name.eq_ignore_ascii_case("last");
    let compared = match (is_study(first), is_study(second)) {
        (true, is_second) if is_second || is_last(second) => of_studies(store, first, second)?,
        (false, true) if is_last(first) => of_studies(store, first, second)?,
        (false, false) => {
            let ids = [store.find(first)?, store.find(second)?];
            if ids[0] == ids[1] {
                return Err(the_same(ids[0].as_str()));
            }
            Compared::of_runs(&store.load(&ids[0])?, &store.load(&ids[1])?)
        }
        _ => {
            let [study, run] = if is_study(first) { [first, second] } else { [second, first] };
            let what = format!("{study} is a study and {run} a run, and only two of a kind can be compared");
            return Err(bad(&what, "name two studies (tenbin history) or two runs (tenbin history --runs)"));
        }
    };
    compared.map_err(|error| match error {
        ReportError::NotComparable { .. } => BadArguments(error.to_string()).into(),
        other => other.into(),
    })
}

fn of_studies(store: &Store, first: &str, second: &str) -> anyhow::Result<Result<Compared, ReportError>> {
    let ids = [store.find_study(first)?, store.find_study(second)?];
    if ids[0] == ids[1] {
        return Err(the_same(ids[0].as_str()));
    }
    let [first, second] = [store.load_study(&ids[0])?, store.load_study(&ids[1])?];
    Ok(Compared::of_studies(&first, &second, &|run| store.load(run)))
}

fn the_same(id: &str) -> anyhow::Error {
    bad(
        &format!("both names mean {id}, which is always equal to itself"),
        "name another one (tenbin history)",
    )
}

fn bad(what: &str, way_out: &str) -> anyhow::Error {
    BadArguments(format!("{what}\n  help: {way_out}")).into()
}
