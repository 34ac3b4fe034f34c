//! `tenbin man FOLDER`: writes the manual pages, for packagers.

use std::path::PathBuf;

use anyhow::Context as _;
use clap::Args;

use crate::exit::Exit;

/// Where to.
#[derive(Args, Debug)]
pub(crate) struct ManFlags {
    /// Existing folder for the pages, one per command
    #[arg(value_name = "FOLDER")]
    folder: PathBuf,
}

/// Writes one page per command.
pub(crate) fn run(flags: &ManFlags, command: clap::Command) -> anyhow::Result<Exit> {
    let into = || format!("cannot write the manual pages into {}", flags.folder.display());
    clap_mangen::generate_to(show_all_flags(command), &flags.folder).with_context(into)?;
    Ok(Exit::Ok)
}

/// Shows the help of every flag. Pages would leave out flags that `-h` does not list.
fn show_all_flags(command: clap::Command) -> clap::Command {
    command.mut_args(|flag| flag.hide_short_help(false)).mut_subcommands(show_all_flags)
}
