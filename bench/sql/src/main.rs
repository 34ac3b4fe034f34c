//! Compares Tenbin with pgbench and sysbench on the same databases. The tools take turns; the results are ratios.

mod cases;
mod databases;
mod flags;
mod installed;
mod rounds;
mod row;
mod tables;
mod tools;

use std::process::ExitCode;

use anyhow::Context as _;
use clap::Parser as _;
use harness::cores::two_cores;
use harness::interrupt::Interrupt;
use harness::markdown;
use harness::say::{Measurements, print_progress, say};

use databases::Databases;
use flags::Flags;
use installed::Installed;
use rounds::Bench;

/// Exit code of a program that was interrupted with Ctrl-C, by shell convention: 128 + SIGINT.
const INTERRUPTED: u8 = 130;

fn main() -> ExitCode {
    compare(&Flags::parse()).unwrap_or_else(|error| {
        print_progress(&format!("error: {error:#}"));
        ExitCode::FAILURE
    })
}

/// Runs the selected cases one after the other. Prints and saves results after each case.
fn compare(flags: &Flags) -> anyhow::Result<ExitCode> {
    let cases = cases::chosen(&flags.cases)?;
    let installed = Installed::look(&flags.tenbin)?;
    let interrupt = Interrupt::listen()?;
    let cores = two_cores()?;
    let folder = tempfile::tempdir()
        .context("cannot make a temporary folder; set TMPDIR to one that can be written")?;
    print_progress("starting the servers and filling their tables");
    let databases = Databases::start(&cases, &installed, cores.server, &interrupt)?;
    let about = databases.sentence(cores);
    say(&about)?;

    let bench = Bench {
        flags,
        installed: &installed,
        databases: &databases,
        folder: folder.path(),
        client_core: cores.client,
        interrupt: &interrupt,
    };
    let (mut rows, mut lines) = (Vec::new(), Vec::new());
    for case in &cases {
        let measured = bench.measure(case, print_progress);
        say(&tables::of(case, &measured, flags.rounds, flags.seconds))?;
        lines.extend(tables::lines(case, &measured));
        rows.extend(measured);
        let (rounds, seconds) = (flags.rounds, flags.seconds);
        markdown::write(flags.markdown.as_deref(), &markdown::table(&lines, &about, rounds, seconds))?;
        Measurements { schema: "bench-sql/1", machine: &about, rounds, seconds, rows: &rows }
            .write(&flags.json)?;
        if interrupt.is_asked() {
            break;
        }
    }
    print_progress(&format!("every single measurement is in {}", flags.json.display()));
    Ok(if interrupt.is_asked() { ExitCode::from(INTERRUPTED) } else { ExitCode::SUCCESS })
}
