//! Tenbin (天秤): benchmarks and compares servers and databases, and explains the difference.

mod adhoc;
mod arguments;
mod browser;
mod commands;
mod curl;
mod destination;
mod exit;
mod first_word;
mod foreign_flags;
mod help;
mod live_line;
mod machine_facts;
mod output;
mod run_sequence;
mod seed;
mod signals;
mod study_line;

use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use clap::{ArgMatches, CommandFactory, FromArgMatches, Parser};
use signal_hook::consts::SIGXFSZ;

use commands::Command;
use commands::load::LoadFlags;
use exit::Exit;

/// Benchmarks and compares servers and databases, and explains the difference
///
/// `tenbin URL` measures one running server. A plan file describes systems that Tenbin starts, varies, and compares:
/// `tenbin run PLAN`. Every run is kept: `tenbin report` shows it again.
#[derive(Debug, Parser)]
#[command(
    version,
    override_usage = "tenbin [FLAGS] URL [URL_B]   measure a running server, or compare several (--within 2m)\n       \
                      tenbin PLAN.yaml             run a plan, as tenbin run does; or tenbin COMMAND ...",
    after_help = help::EXAMPLES,
    after_long_help = help::exit_codes(),
    disable_help_subcommand = true,
    subcommand_help_heading = "Commands",
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
    commands::completions::answer(Arguments::command);
    // Without a handler for SIGXFSZ, a write beyond the limit on file sizes would kill the program silently.
    let is_file_too_large = Arc::new(AtomicBool::new(false));
    if let Err(error) = signal_hook::flag::register(SIGXFSZ, Arc::clone(&is_file_too_large)) {
        output::warn(&format!(
            "a write beyond the limit on the size of files will end this program: {error}"
        ));
    }
    let given = arguments::given(std::env::args_os());
    if let Some(error) = foreign_flags::with_one_dash(&Arguments::command(), &given) {
        output::remark(&error);
        return code(Exit::BadArguments);
    }
    let result = match Arguments::command().try_get_matches_from(&given) {
        Ok(matches) => run_command(&matches),
        Err(error) => help::print_message(&error, &given).map(code),
    };
    match result {
        Ok(code) => code,
        // A reader of the output, such as `head`, closed the pipe early.
        Err(error) if output::is_broken_pipe(&error) => code(Exit::Ok),
        Err(error) => {
            output::print_error(&error);
            if is_file_too_large.load(Ordering::Relaxed) {
                output::note("a file reached the limit of this process on the size of files (ulimit -f)");
            }
            code(exit::from_error(&error))
        }
    }
}

fn code(exit: Exit) -> ExitCode {
    exit.code().into()
}

/// Runs the command that the arguments name.
fn run_command(matches: &ArgMatches) -> anyhow::Result<ExitCode> {
    let Arguments { command, load } = Arguments::from_arg_matches(matches)?;
    let exit = match command {
        None => commands::load::run(load, commands::sql::played(matches)),
        Some(Command::Run(flags)) => commands::run::run(&flags),
        Some(Command::Capacity(flags)) => commands::capacity::run(&flags),
        Some(Command::Init(flags)) => commands::init::run(&flags),
        Some(Command::Check(flags)) => commands::check::run(&flags),
        Some(Command::Prepare(flags)) => commands::prepare::run(&flags),
        Some(Command::Replay(flags)) => commands::replay::run(&flags),
        Some(Command::Report(flags)) => commands::report::run(&flags),
        Some(Command::Compare(flags)) => commands::compare::run(&flags),
        Some(Command::Export(flags)) => commands::export::run(&flags),
        Some(Command::History(flags)) => commands::history::run(&flags),
        Some(Command::Completions(flags)) => commands::completions::run(&flags),
        Some(Command::Man(flags)) => commands::man::run(&flags, Arguments::command()),
        Some(Command::Sql(flags)) => commands::statements::run(&flags),
        Some(Command::Keep(_)) => return Ok(lab::keeper::main()),
        Some(Command::Target(flags)) => commands::target::run(*flags),
        Some(Command::Machine(flags)) => commands::machine::run(&flags),
        Some(Command::Proxy(flags)) => commands::proxy::run(&flags),
    };
    exit.map(code)
}
