//! Made-up results, as large as anybody's: what a page of them costs is measured on these.

mod chance;
mod describe;
mod flags;
mod long;
mod readings;
mod second;
mod study;

use std::io::Write as _;
use std::path::Path;
use std::process::ExitCode;

use anyhow::Context as _;
use clap::Parser as _;
use store::Store;

use flags::{Arguments, Command};

fn main() -> ExitCode {
    let answer = match Arguments::parse().command {
        Command::MakeStudy(flags) => {
            fill(&flags.store, |store| Ok(study::make(store, &flags.size())?.to_string()))
        }
        Command::MakeLong(flags) => {
            fill(&flags.store, |store| Ok(long::make(store, flags.hours * 3_600)?.to_string()))
        }
    };
    match answer {
        Ok(id) => {
            // Scripts take the name from here; nothing is lost when nobody does.
            let _ = writeln!(std::io::stdout(), "{id}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            let _ = writeln!(std::io::stderr(), "error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

/// Never into a store that is there already: made-up results must not lie among measured ones.
fn fill(path: &Path, make: impl FnOnce(&Store) -> anyhow::Result<String>) -> anyhow::Result<String> {
    anyhow::ensure!(
        !path.exists(),
        "{} is there already, and made-up results must not lie among measured ones; name a new file",
        path.display()
    );
    let store = Store::open(path)?;
    make(&store).with_context(|| format!("cannot fill {}", path.display()))
}
