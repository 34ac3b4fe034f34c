//! Tenbin (天秤): weighs servers and databases under load, and says why one wins.

mod browser;
mod commands;
mod destination;
mod exit;
mod live_line;
mod making;
mod output;
mod seed;
mod signals;
mod study_line;

use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use clap::{CommandFactory, FromArgMatches, Parser};
use signal_hook::consts::SIGXFSZ;

use commands::Command;
use commands::load::LoadFlags;
use exit::Exit;

/// Weighs servers and databases under load, and says why one wins.
///
/// `tenbin URL` loads one address now; the commands below do the rest.
#[derive(Debug, Parser)]
#[command(
    version,
    args_conflicts_with_subcommands = true,
    arg_required_else_help = true,
    allow_negative_numbers = true,
    max_term_width = 100
)]
struct Arguments {
    #[command(subcommand)]
    command: Option<Command>,
    #[command(flatten)]
    load: LoadFlags,
}

fn main() -> ExitCode {
    // Else a write beyond the limit on the size of files would end the program without a word.
    let is_file_too_large = Arc::new(AtomicBool::new(false));
    if let Err(error) = signal_hook::flag::register(SIGXFSZ, Arc::clone(&is_file_too_large)) {
        output::remark(&format!(
            "a write beyond the limit on the size of files will end this program: {error}"
        ));
    }
    let matches = Arguments::command().get_matches();
    let Arguments { command, load } =
        Arguments::from_arg_matches(&matches).unwrap_or_else(|error| error.exit());
    let result = match command {
        None => commands::load::run(load, commands::sql::played(&matches)),
        Some(Command::Run(flags)) => commands::run::run(&flags),
        Some(Command::Capacity(flags)) => commands::capacity::run(&flags),
        Some(Command::Check(flags)) => commands::check::run(&flags),
        Some(Command::Prepare(flags)) => commands::prepare::run(&flags),
        Some(Command::Report(flags)) => commands::report::run(&flags),
        Some(Command::Compare(flags)) => commands::compare::run(&flags),
        Some(Command::History(flags)) => commands::history::run(&flags),
        Some(Command::Keep(_)) => return lab::keeper::main(),
        Some(Command::Target(flags)) => commands::target::run(*flags),
    };
    match result {
        Ok(exit) => exit.into(),
        // Whoever reads, such as `head`, has seen enough.
        Err(error) if output::is_broken_pipe(&error) => Exit::Ok.into(),
        Err(error) => {
            output::complain(&error);
            if is_file_too_large.load(Ordering::Relaxed) {
                output::remark(
                    "tenbin: a file reached the limit of this process on the size of files (ulimit -f)",
                );
            }
            Exit::of(&error).into()
        }
    }
}
