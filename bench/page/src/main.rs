//! Creates large synthetic results, on which the cost of a report page is measured.

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
            // Scripts read the name from stdout. A closed stdout is no error, since the result is already saved.
            let _ = writeln!(std::io::stdout(), "{id}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            let _ = writeln!(std::io::stderr(), "error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

/// Creates the store at `path` and fills it. Refuses an existing file, so that synthetic results never mix with measured ones.
fn fill(path: &Path, make: impl FnOnce(&Store) -> anyhow::Result<String>) -> anyhow::Result<String> {
    anyhow::ensure!(
        !path.exists(),
        "{} is there already, and made-up results must not lie among measured ones; name a new file",
        path.display()
    );
    let store = Store::open(path)?;
    make(&store).with_context(|| format!("cannot fill {}", path.display()))
}
