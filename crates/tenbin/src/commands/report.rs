//! `tenbin report`: stored runs, in any format.

use clap::Args;
use store::Store;

use crate::commands::{StoreFlag, format};
use crate::exit::Exit;
use crate::output;

/// Which runs, and how.
#[derive(Args, Debug)]
pub(crate) struct ReportFlags {
    /// Runs by name or by the beginning of a name; "last" is the newest [default: last].
    #[arg(value_name = "RUN")]
    runs: Vec<String>,
    /// How to show them: terminal, json, md, csv, jtl or hlog.
    #[arg(long, value_name = "FORMAT", default_value = "terminal", help_heading = "Results")]
    format: String,
    #[command(flatten)]
    store: StoreFlag,
}

/// Loads and writes them.
pub(crate) fn run(flags: &ReportFlags) -> anyhow::Result<Exit> {
    let format = format(&flags.format)?;
    let store = Store::open_existing(&flags.store.path())?;
    let last = ["last".to_owned()];
    let names = if flags.runs.is_empty() { &last[..] } else { &flags.runs[..] };
    let runs = names.iter().map(|name| store.load(&store.find(name)?)).collect::<Result<Vec<_>, _>>()?;
    output::results(format, &runs)?;
    Ok(Exit::Ok)
}
