//! Help texts: short for `-h`, long for `--help`, and suggestions for wrong arguments.

use std::ffi::OsString;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use judge::endings::{ENDINGS, EndingRow};

use crate::exit::Exit;
use crate::{curl, foreign_flags, output};

/// Last lines of `-h`.
pub(crate) const EXAMPLES: &str = "\
Examples:
  tenbin localhost:8080 -R 5000 -d 30s -o report.html        5,000 requests per second, with a page
  tenbin postgres://me@localhost/shop --workload tpcb-like   a database, after tenbin prepare
All flags and exit codes: tenbin --help. Flags of a command: tenbin run -h.";

/// Example for each command that was called without a required argument.
const EXAMPLE_COMMANDS: [(&str, &str); 11] = [
    ("run", "tenbin run study.yaml; tenbin init writes a first plan"),
    ("check", "tenbin check study.yaml; tenbin init writes a first plan"),
    (
        "compare",
        "tenbin compare A B with two runs or studies of tenbin history; for servers, tenbin URL_A URL_B",
    ),
    ("capacity", "tenbin capacity localhost:8080 --slo 'p99<200ms, errors<0.1%'"),
    ("prepare", "tenbin prepare postgres://USER@HOST/DATABASE --workload tpcb-like --scale 10"),
    ("replay", "tenbin replay postgresql.csv --dry-run; --to URL sends its statements"),
    ("export", "tenbin export last -o run.sqlite"),
    ("proxy", "tenbin proxy 8081 8080 --delay 20ms, from one port to another"),
    ("completions", "tenbin completions bash"),
    ("rm", "tenbin history rm NAME; tenbin history lists the names"),
    ("man", "tenbin man FOLDER"),
];

/// Lines about flags that every program has. The short help leaves them out.
const COMMON_FLAGS: &str = "Options:
  -h, --help     Print help (see more with '--help')
  -V, --version  Print version

";

/// Prints the message of clap: a help text, the version, or an error in the arguments. Returns the exit code.
pub(crate) fn print_message(error: &clap::Error, given: &[OsString]) -> anyhow::Result<Exit> {
    let is_short = given.iter().any(|argument| argument == "-h");
    match error.kind() {
        ErrorKind::DisplayHelp if is_short => {
            output::data(&compact(&error.render().to_string()))?;
            Ok(Exit::Ok)
        }
        kind => {
            let text = match kind {
                ErrorKind::UnknownArgument => Some(unknown_argument(error, given)),
                ErrorKind::InvalidSubcommand => unknown_command(error, given),
                ErrorKind::MissingRequiredArgument => missing_arguments(error, given),
                ErrorKind::InvalidValue | ErrorKind::TooFewValues => missing_value(error, given),
                _ => None,
            };
            let Some(text) = text else { error.exit() };
            output::remark(&text);
            Ok(Exit::BadArguments)
        }
    }
}

/// Error for a flag without its value, which takes none in curl. `None` for other flags.
fn missing_value(error: &clap::Error, given: &[OsString]) -> Option<String> {
    let is_missing = match error.get(ContextKind::InvalidValue) {
        Some(ContextValue::String(value)) => value.is_empty(),
        _ => true,
    };
    let flag = given.iter().map(|word| word.to_string_lossy()).find_map(|word| {
        let ours = curl::without_value(&word)?;
        Some((word.into_owned(), ours))
    });
    let (name, ours) = flag.filter(|_| is_missing)?;
    Some(format!("error: {name}: it takes a value\n  help: write {ours}"))
}

/// Removes the empty lines between groups, and the flags that every program has, so that a short help fits on a screen.
fn compact(text: &str) -> String {
    let mut blanks = 0;
    let text = text.replace(COMMON_FLAGS, "");
    let kept = text.lines().filter(|line| {
        blanks += usize::from(line.is_empty());
        // Keep the empty lines after the sentence and after the usage.
        !line.is_empty() || blanks <= 2
    });
    kept.map(|line| format!("{}\n", line.trim_end())).collect()
}

/// Error for an unknown argument: what to write instead, or else the message of clap.
fn unknown_argument(error: &clap::Error, given: &[OsString]) -> String {
    let argument = match error.get(ContextKind::InvalidArg) {
        Some(ContextValue::String(argument)) => argument.as_str(),
        _ => "",
    };
    let name = argument.split('=').next().unwrap_or_default();
    let (what, ours) = match argument.starts_with('-') {
        true => (format!("there is no flag {name}"), foreign_flags::flag_replacement(argument, given)),
        false => (
            format!("{argument:?} is one argument too many"),
            foreign_flags::word_replacement(argument, given),
        ),
    };
    match ours {
        Some(ours) => format!("error: {what}\n  help: write {ours}"),
        None => error.render().to_string().trim_end().to_owned(),
    }
}

/// Error for an unknown word after a command that has subcommands.
fn unknown_command(error: &clap::Error, given: &[OsString]) -> Option<String> {
    let Some(ContextValue::String(word)) = error.get(ContextKind::InvalidSubcommand) else { return None };
    let ours = foreign_flags::word_replacement(word, given)?;
    Some(format!("error: {word:?} is one argument too many\n  help: write {ours}"))
}

/// Error for missing arguments.
fn missing_arguments(error: &clap::Error, given: &[OsString]) -> Option<String> {
    let Some(ContextValue::Strings(names)) = error.get(ContextKind::InvalidArg) else { return None };
    let words: Vec<_> = given.iter().skip(1).map(|word| word.to_string_lossy()).collect();
    let last =
        words.iter().rev().find_map(|word| EXAMPLE_COMMANDS.iter().find(|(command, _)| word == command))?;
    let first = words.iter().find_map(|word| EXAMPLE_COMMANDS.iter().find(|(command, _)| word == command))?;
    let (command, example) = if last.0 == "rm" { last } else { first };
    let are = if names.len() == 1 { "is" } else { "are" };
    Some(format!("error: tenbin {command}: {} {are} missing\n  help: write {example}", names.join(" and ")))
}

/// List of exit codes for `--help`.
pub(crate) fn exit_codes() -> String {
    let mut rows: Vec<&EndingRow> = ENDINGS.iter().collect();
    rows.sort_by_key(|row| row.code);
    // Several rows may share a code. The first has the most general sentence.
    rows.dedup_by_key(|row| row.code);
    let lines: Vec<String> = rows.iter().map(|row| format!("  {:>3}  {}", row.code, row.sentence)).collect();
    format!(
        "Exit codes:\n{}\n  More than one applies: 7 comes before 4, 4 before 3, and 3 before 6.",
        lines.join("\n")
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn compact_help_keeps_two_empty_lines() {
        assert_eq!(compact("About\n\nUsage\n\nA:\n  a\n\nB:\n  b\n"), "About\n\nUsage\n\nA:\n  a\nB:\n  b\n");
    }
}
