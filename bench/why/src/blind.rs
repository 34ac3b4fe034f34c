//! Plants by an author who did not read the rules of the program: the first run of each is its score.
//!
//! `plants` is the table, `plan` writes the plan of a plant, `run` runs it, and `answer` grades the answer. `verify` checks that the plant
//! is the limit: it divides the throughput without the cause by the throughput with it.

mod answer;
mod flags;
mod plan;
mod plants;
mod run;
mod table;
mod verify;

use std::fs;
use std::path::Path;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use anyhow::Context as _;
use harness::interrupt::Interrupt;
use harness::say::say;

pub(crate) use flags::BlindFlags;
use plants::Plant;
use run::Runner;
use table::Table;

/// Runs, verifies, or shows the chosen plants.
pub(crate) fn blind(flags: &BlindFlags) -> anyhow::Result<ExitCode> {
    if !flags.answers.is_empty() {
        let mut table = Table::default();
        for path in &flags.answers {
            table.read(path)?;
        }
        return finish(&table, flags, true);
    }
    let chosen = plants::chosen(flags).map_err(anyhow::Error::msg)?;
    if flags.show {
        for plant in chosen {
            say(&plan::text(plant, &[], plan::Length::Full))?;
        }
        return Ok(ExitCode::SUCCESS);
    }
    let interrupt = Interrupt::listen()?;
    let temporary = tempfile::tempdir()
        .context("cannot make a temporary folder; set TMPDIR to one that can be written")?;
    let folder: &Path = flags.keep.as_deref().unwrap_or(temporary.path());
    fs::create_dir_all(folder).with_context(|| format!("cannot make the folder {}", folder.display()))?;
    let runner = Runner::new(&flags.tenbin, folder, flags.noisy, &interrupt)?;
    let end = Instant::now() + Duration::from_secs(60 * flags.minutes);
    let is_over = || interrupt.is_asked() || Instant::now() > end;
    if flags.verify {
        return verify::verify(&runner, &chosen, &is_over);
    }
    score(&runner, &chosen, flags, &is_over)
}

/// Runs each plant once, and prints the answers and their counts.
fn score(
    runner: &Runner<'_>,
    chosen: &[&'static Plant],
    flags: &BlindFlags,
    is_over: &dyn Fn() -> bool,
) -> anyhow::Result<ExitCode> {
    let mut table = Table::default();
    for plant in chosen {
        if is_over() {
            break;
        }
        let row = table.add(plant, runner.ask(plant));
        say(&row.line())?;
    }
    let left = chosen.len() - table.len();
    if left > 0 {
        say(&format!("{left} plants were not run: --minutes {} is over, or Ctrl-C came", flags.minutes))?;
    }
    finish(&table, flags, left == 0)
}

/// Prints the counts, and writes the files that `flags` request.
fn finish(table: &Table, flags: &BlindFlags, is_whole: bool) -> anyhow::Result<ExitCode> {
    say(&table.text())?;
    let calibration = table.calibration();
    say(&format!("\n{}", calibration.table()))?;
    if let Some(path) = flags.document.as_ref().filter(|_| is_whole && flags.only.is_empty()) {
        calibration.write(path)?;
    }
    if let Some(path) = &flags.json {
        table.write(path)?;
    }
    Ok(if is_whole && table.is_good() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
