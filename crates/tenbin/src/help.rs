//! Help texts: short for `-h`, whole for `--help`, and a hint for flags that other load testers know.

use std::ffi::OsString;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use judge::endings::{ENDINGS, EndingRow};

use crate::exit::Exit;
use crate::{curl, output};

/// What `-h` ends with.
pub(crate) const EXAMPLES: &str = "\
Examples:
  tenbin localhost:8080 -R 5000 -d 30s -o report.html        5,000 requests per second, with a page
  tenbin postgres://me@localhost/shop --workload tpcb-like   a database, after tenbin prepare
All flags and exit codes: tenbin --help. Flags of a command: tenbin run -h.";

/// Flags of wrk, oha, hey, k6, pgbench, sysbench, and ab, and one of plans alone; what to write here, and what stands for the value in
/// it. [`curl`] lists those of curl.
const FOREIGN: [(&str, &str, &str); 17] = [
    (
        "-t",
        "--threads N for threads of the generator (wrk), -n N for a number of transactions (pgbench), or --commands N for commands (redis-benchmark)",
        "N",
    ),
    ("-T", "-d TIME", "TIME"),
    ("-j", "--threads N", "N"),
    ("-q", "-R RATE", "RATE"),
    ("-z", "-d TIME", "TIME"),
    ("-i", "-n N", "N"),
    ("--vus", "-c N", "N"),
    ("--iterations", "-n N", "N"),
    ("--qps", "-R RATE", "RATE"),
    ("--rps", "-R RATE", "RATE"),
    ("--concurrency", "-c N", "N"),
    ("--client", "-c N", "N"),
    ("--clients", "-c N", "N"),
    ("--time", "-d TIME", "TIME"),
    ("--transactions", "-n N", "N"),
    ("--latency", "nothing: percentiles are always reported", ""),
    (
        "--why",
        "a plan whose system has `start`, for tenbin run PLAN --why: an experiment changes only systems that Tenbin starts",
        "",
    ),
];

/// Flags that every program has.
const COMMON: &str = "Options:
  -h, --help     Print help (see more with '--help')
  -V, --version  Print version

";

/// Ends the program with what clap has to say: a help text, the version, or what is wrong with the arguments.
pub(crate) fn end(error: &clap::Error, given: &[OsString]) -> anyhow::Result<Exit> {
    let is_short = given.iter().any(|argument| argument == "-h");
    match error.kind() {
        ErrorKind::DisplayHelp if is_short => {
            output::data(&compact(&error.render().to_string()))?;
            Ok(Exit::Ok)
        }
        ErrorKind::UnknownArgument => {
            output::remark(&unknown(error, given));
            Ok(Exit::BadArguments)
        }
        ErrorKind::InvalidValue | ErrorKind::TooFewValues => match missing_value(error, given) {
            Some(text) => {
                output::remark(&text);
                Ok(Exit::BadArguments)
            }
            None => error.exit(),
        },
        _ => error.exit(),
    }
}

/// The error for a flag of curl that has no value there.
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

/// A short help without the empty lines between groups, and without the flags that every program has, so that it fits on a
/// screen.
fn compact(text: &str) -> String {
    let mut blanks = 0;
    let text = text.replace(COMMON, "");
    let kept = text.lines().filter(|line| {
        blanks += usize::from(line.is_empty());
        // After the sentence and after the usage.
        !line.is_empty() || blanks <= 2
    });
    kept.map(|line| format!("{}\n", line.trim_end())).collect()
}

/// The error for an unknown flag: clap's words, or the flag that does it here, with the value that was given.
fn unknown(error: &clap::Error, given: &[OsString]) -> String {
    let flag = match error.get(ContextKind::InvalidArg) {
        Some(ContextValue::String(flag)) => flag.as_str(),
        _ => "",
    };
    let name = flag.split('=').next().unwrap_or_default();
    let of_curl = || curl::instead_of(name).map(|ours| (ours, ""));
    let foreign =
        FOREIGN.iter().find(|(foreign, ..)| *foreign == name).map(|(_, ours, place)| (*ours, *place));
    let Some((ours, place)) = foreign.or_else(of_curl) else {
        return error.render().to_string().trim_end().to_owned();
    };
    match value(name, given).filter(|_| !place.is_empty()) {
        Some(value) => {
            format!("error: there is no flag {name}\n  help: write {}", filled(ours, place, &value))
        }
        None => format!("error: there is no flag {name}\n  help: write {ours}"),
    }
}

/// The value that was given to a flag: `--vus=5`, `--vus 5`, or `-t5`. Only a plain word is repeated.
fn value(name: &str, given: &[OsString]) -> Option<String> {
    let is_plain = |value: &str| {
        !value.is_empty()
            && value.chars().all(|character| character.is_alphanumeric() || "./:".contains(character))
    };
    let at = given.iter().position(|argument| argument.to_string_lossy().starts_with(name))?;
    let argument = given[at].to_string_lossy();
    let value = match argument.strip_prefix(name).unwrap_or_default() {
        "" => given.get(at + 1)?.to_string_lossy().into_owned(),
        attached => attached.trim_start_matches('=').to_owned(),
    };
    is_plain(&value).then_some(value)
}

/// Every word `place` of a text becomes the value.
fn filled(text: &str, place: &str, value: &str) -> String {
    let words = text.split(' ').map(|word| if word == place { value } else { word });
    words.collect::<Vec<_>>().join(" ")
}

/// The exit codes as `--help` lists them.
pub(crate) fn exit_codes() -> String {
    let mut rows: Vec<&EndingRow> = ENDINGS.iter().collect();
    rows.sort_by_key(|row| row.code);
    // The first sentence of a code is the most general one.
    rows.dedup_by_key(|row| row.code);
    let lines: Vec<String> = rows.iter().map(|row| format!("  {:>3}  {}", row.code, row.sentence)).collect();
    format!("Exit codes:\n{}\n  More than one applies: 4 comes before 3, and 3 before 6.", lines.join("\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_short_help_keeps_two_empty_lines() {
        assert_eq!(compact("About\n\nUsage\n\nA:\n  a\n\nB:\n  b\n"), "About\n\nUsage\n\nA:\n  a\nB:\n  b\n");
    }

    #[test]
    fn the_value_of_a_flag_is_repeated_if_it_is_a_plain_word() {
        let value =
            |name: &str, given: &[&str]| value(name, &given.iter().map(OsString::from).collect::<Vec<_>>());
        assert_eq!(value("-z", &["tenbin", "-z", "10s"]).as_deref(), Some("10s"));
        assert_eq!(value("--vus", &["tenbin", "--vus=5"]).as_deref(), Some("5"));
        assert_eq!(value("-t", &["tenbin", "-t5", "x"]).as_deref(), Some("5"));
        for given in
            [&["tenbin", "-z"][..], &["tenbin", "-z", "a b"], &["tenbin", "-z", "\x1b[2J"], &["tenbin"]]
        {
            assert_eq!(value("-z", given), None, "{given:?}");
        }
        assert_eq!(filled("--threads N (wrk) -n N", "N", "5"), "--threads 5 (wrk) -n 5");
    }
}
