//! Compares Tenbin with other load testers on one HTTP server. The tools take turns; the results are ratios.

mod bare;
mod cases;
mod certificate;
mod flags;
mod installed;
mod limits;
mod machine;
mod measured;
mod nginx;
mod rounds;
mod row;
mod tables;
mod tools;

use std::process::ExitCode;

use anyhow::Context as _;
use clap::Parser as _;

use flags::{Arguments, Command, Flags};
use harness::interrupt::Interrupt;
use harness::markdown;
use harness::say::{Measurements, print_progress, say};
use installed::Installed;
use nginx::Nginx;
use rounds::Bench;

/// Exit code of a program that was interrupted with Ctrl-C, by shell convention: 128 + SIGINT.
const INTERRUPTED: u8 = 130;

fn main() -> ExitCode {
    let Arguments { command, flags } = Arguments::parse();
    let result = match command {
        Some(Command::Bare(flags)) => bare::run(&flags).map(|()| ExitCode::SUCCESS),
        None => compare(&flags),
    };
    result.unwrap_or_else(|error| {
        print_progress(&format!("error: {error:#}"));
        ExitCode::FAILURE
    })
}

/// Runs the selected cases one after the other. Prints and saves results after each case.
fn compare(flags: &Flags) -> anyhow::Result<ExitCode> {
    let cases = cases::chosen(&flags.cases, &flags.tools)?;
    let installed = Installed::look(flags)?;
    let interrupt = Interrupt::listen()?;
    let open_files = limits::raise_open_files();
    let cores = harness::cores::two_cores()?;
    let folder = tempfile::tempdir()
        .context("cannot make a temporary folder; set TMPDIR to one that can be written")?;
    let nginx = Nginx::start(folder.path(), &installed, cores.server, &interrupt)?;
    let machine = machine::describe(&installed, cores, &cases, &interrupt)?;
    say(&machine::sentence(&machine))?;

    let bench = Bench {
        flags,
        installed: &installed,
        nginx: &nginx,
        folder: folder.path(),
        cores,
        open_files,
        interrupt: &interrupt,
    };
    let (mut rows, mut lines) = (Vec::new(), Vec::new());
    for case in &cases {
        let measured = bench.measure(case, print_progress);
        say(&tables::of(case, &measured, &installed, flags))?;
        lines.extend(tables::lines(case, &measured));
        rows.extend(measured);
        let (rounds, seconds) = (flags.rounds, flags.seconds);
        let table = markdown::table(&lines, &machine::sentence(&machine), rounds, seconds);
        markdown::write(flags.markdown.as_deref(), &table)?;
        Measurements { schema: "bench-http/1", machine: &machine, rounds, seconds, rows: &rows }
            .write(&flags.json)?;
        if interrupt.is_asked() {
            break;
        }
    }
    print_progress(&format!("every single measurement is in {}", flags.json.display()));
    Ok(if interrupt.is_asked() { ExitCode::from(INTERRUPTED) } else { ExitCode::SUCCESS })
}
