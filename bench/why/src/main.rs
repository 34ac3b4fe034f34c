//! Plants bottlenecks and checks whether the program names them. `docs/truth.md` describes the grades.

mod blind;
mod calibration;
mod cases;
mod flags;
mod grade;
mod neighbor;
mod refuted;
mod run;
mod summary;

use std::fs;
use std::path::Path;
use std::process::ExitCode;
use std::time::Instant;

use anyhow::Context as _;
use clap::Parser as _;

use calibration::Calibration;
use cases::Case;
use flags::{Flags, Profile, Suite};
use grade::{Grade, Verdict};
use harness::interrupt::Interrupt;
use harness::quiet::measured;
use harness::say::{print_progress, say};
use run::Runs;
use summary::Summary;

/// Exit code that shells report for a program ended by Ctrl-C.
const INTERRUPTED: u8 = 130;

fn main() -> ExitCode {
    let flags = Flags::parse();
    let ended = match &flags.suite {
        Some(Suite::Blind(flags)) => blind::blind(flags),
        None => grade(&flags),
    };
    ended.unwrap_or_else(|error| {
        print_progress(&format!("error: {error:#}"));
        ExitCode::FAILURE
    })
}

/// Runs and grades the chosen cases one after the other, because each needs the whole machine.
fn grade(flags: &Flags) -> anyhow::Result<ExitCode> {
    let chosen = cases::chosen(flags.profile, &flags.only).map_err(anyhow::Error::msg)?;
    let interrupt = Interrupt::listen()?;
    let temporary = tempfile::tempdir()
        .context("cannot make a temporary folder; set TMPDIR to one that can be written")?;
    let folder: &Path = match &flags.keep {
        Some(folder) => {
            fs::create_dir_all(folder)
                .with_context(|| format!("cannot make the folder {}", folder.display()))?;
            folder
        }
        None => temporary.path(),
    };
    let runs = Runs::new(&flags.tenbin, folder, flags.noisy, &interrupt)?;
    let begun = Instant::now();
    let mut grades = Vec::new();
    for number in 1..=flags.repeat {
        for case in &chosen {
            if interrupt.is_asked() {
                break;
            }
            let grade = one(&runs, case, number, flags.profile);
            say(&format!("{:>4} s  {}", begun.elapsed().as_secs(), grade.line()))?;
            grades.push(grade);
        }
    }
    let summary = Summary::of(&grades, flags);
    say(&summary.text(&grades))?;
    let calibration = Calibration::of(&grades);
    say(&calibration.table())?;
    if let Some(path) = flags.document.as_ref().filter(|_| !interrupt.is_asked()) {
        calibration.write(path)?;
    }
    if let Some(path) = &flags.json {
        summary.write(path, flags, &grades)?;
    }
    Ok(match (interrupt.is_asked(), summary.is_passed) {
        (true, _) => ExitCode::from(INTERRUPTED),
        (false, true) => ExitCode::SUCCESS,
        (false, false) => ExitCode::FAILURE,
    })
}

/// Runs and grades a case. The short profile repeats a case that is not right if the machine was busy: another process may have been the
/// bottleneck.
fn one(runs: &Runs<'_>, case: &'static Case, number: u32, profile: Profile) -> Grade {
    match profile {
        Profile::Full => runs.grade(case, number),
        Profile::Short => {
            let fault = |grade: &Grade| {
                (grade.verdict != Verdict::Right && !runs.is_interrupted()).then(|| grade.line())
            };
            measured(|| runs.grade(case, number), fault).0
        }
    }
}
