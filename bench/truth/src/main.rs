//! Plants known truths, such as delays, limits, and outages, and grades what Tenbin reports about them. `docs/truth.md` lists all
//! cases and their error rates.

mod bench;
mod broken;
mod cases;
mod flags;
mod grade;
mod plan;
mod server;
mod simulated;
mod slots;
mod tool;

use std::process::ExitCode;
use std::thread;
use std::time::Duration;

use anyhow::Context as _;
use clap::Parser as _;

use bench::Bench;
use cases::{CASES, Case, When};
use flags::Flags;
use grade::Grade;
use harness::interrupt::Interrupt;
use harness::quiet::raise_priority;
use harness::say::{print_progress, say};

/// Delay between the starts of two cases.
const TURN: Duration = Duration::from_millis(20);
/// Exit code that shells report for a program that Ctrl-C ended.
const INTERRUPTED: u8 = 130;

fn main() -> ExitCode {
    grade(&Flags::parse()).unwrap_or_else(|error| {
        print_progress(&format!("error: {error:#}"));
        ExitCode::FAILURE
    })
}

/// Runs the selected cases, in parallel if they do not disturb each other, and prints their grades.
fn grade(flags: &Flags) -> anyhow::Result<ExitCode> {
    say(&format!("seed {}", flags.seed))?;
    let chosen = cases::chosen(&flags.only).map_err(anyhow::Error::msg)?;
    raise_priority();
    let interrupt = Interrupt::listen()?;
    let folder = tempfile::tempdir()
        .context("cannot make a temporary folder; set TMPDIR to one that can be written")?;
    let bench = Bench::new(flags, folder.path(), &interrupt)?;
    let mut grades = Vec::new();
    for when in When::ALL {
        let now: Vec<&'static Case> = chosen.iter().copied().filter(|case| case.when == when).collect();
        grades.extend(match when {
            When::Together => run_in_parallel(&bench, &now),
            When::Alone => now.iter().flat_map(|case| one(&bench, case)).collect(),
        });
        if interrupt.is_asked() {
            break;
        }
    }
    grades.sort_by_key(|grade| CASES.iter().position(|case| case.name == grade.case));
    say(&grade::table(&grades))?;
    if let Some(path) = &flags.json {
        grade::write(path, flags, &grades)?;
    }
    Ok(match (interrupt.is_asked(), grades.iter().all(Grade::is_passed)) {
        (true, _) => ExitCode::from(INTERRUPTED),
        (false, true) => ExitCode::SUCCESS,
        (false, false) => ExitCode::FAILURE,
    })
}

fn run_in_parallel(bench: &Bench, cases: &[&'static Case]) -> Vec<Grade> {
    let place = |case: &Case| cases::LONGEST.iter().position(|name| *name == case.name);
    let mut cases = cases.to_vec();
    cases.sort_by_key(|case| place(case).unwrap_or(cases::LONGEST.len()));
    thread::scope(|scope| {
        let begin = |case: &'static Case| {
            let running = scope.spawn(move || one(bench, case));
            // Lets all attempts of this case queue for slots before the next case starts.
            thread::sleep(TURN);
            running
        };
        let running: Vec<_> = cases.iter().map(|case| begin(case)).collect();
        running
            .into_iter()
            .zip(&cases)
            .flat_map(|(case, of)| {
                case.join().unwrap_or_else(|_| vec![Grade::broken(of.name, "it panicked")])
            })
            .collect()
    })
}

fn one(bench: &Bench, case: &Case) -> Vec<Grade> {
    let begun = bench.elapsed();
    let grades = (case.run)(bench);
    let is_passed = grades.iter().all(Grade::is_passed);
    print_progress(&format!(
        "{:>4} s  {} {} in {} s: {}",
        bench.elapsed().as_secs(),
        case.name,
        if is_passed { "passed" } else { "FAILED" },
        (bench.elapsed() - begun).as_secs(),
        case.what
    ));
    grades
}
