//! `tenbin sql URL TEXT`: runs statements of a plan's `before` or `after`. Tenbin starts this command itself.

use std::fs;

use anyhow::Context as _;
use clap::Args;
use plan::Database;

use crate::commands::list_faults;
use crate::exit::{BadArguments, Exit};

/// Database, and statements.
#[derive(Args, Debug)]
pub(crate) struct StatementsFlags {
    url: String,
    /// Statements, or `@` and the path of a file.
    text: String,
}

/// Runs the statements one after the other.
pub(crate) fn run(flags: &StatementsFlags) -> anyhow::Result<Exit> {
    let database = Database::read(&flags.url)
        .map_err(|faults| BadArguments(list_faults(&faults, "nothing was sent")))?;
    let (file, text) = match flags.text.strip_prefix('@') {
        Some(path) => (Some(path), fs::read_to_string(path).with_context(|| path.to_owned())?),
        None => (None, flags.text.clone()),
    };
    runner::run_sql(&database, file, &text)?;
    Ok(Exit::Ok)
}
