//! Replacements for flags of other load testers, and for flags that belong to another command.

mod databases;

use std::ffi::OsString;

use clap::Command;

use crate::arguments::is_server;
use crate::curl;

/// A flag that does not exist here, its replacement, and the word in the replacement that stands for the value.
type Row = (&'static str, &'static str, &'static str);

/// Flags of wrk, oha, hey, k6, vegeta, Locust, pgbench, sysbench, and ab, and flags that need a plan. [`curl`] lists those of curl.
const FLAGS: [Row; 43] = [
    (
        "-t",
        "--threads N for threads of the generator (wrk), -n N for a number of transactions (pgbench), or --commands LIST for commands (redis-benchmark)",
        "N",
    ),
    ("-T", "-d TIME", "TIME"),
    ("-j", "--threads N", "N"),
    ("-q", "-R RATE", "RATE"),
    ("-z", "-d TIME", "TIME"),
    ("-i", "-n N", "N"),
    ("-l", "--log-requests N, which keeps single requests", ""),
    ("-a", "-u USER:PASSWORD", ""),
    ("--vus", "-c N", "N"),
    ("--iterations", "-n N", "N"),
    ("--amount", "-n N", "N"),
    ("--events", "-n N", "N"),
    ("--qps", "-R RATE", "RATE"),
    ("--rps", "-R RATE", "RATE"),
    ("--arrival-rate", "-R RATE", "RATE"),
    ("--concurrency", "-c N", "N"),
    ("--client", "-c N", "N"),
    ("--clients", "-c N", "N"),
    ("--workers", "--threads N", "N"),
    ("--time", "-d TIME", "TIME"),
    ("--run-time", "-d TIME", "TIME"),
    ("--spawn-rate", "--ramp-up TIME, the time in which all users start", ""),
    ("--stage", "--stages TIME:RATE,TIME:RATE, such as --stages 10s:100/s,30s:500/s", ""),
    ("--transactions", "-n N", "N"),
    ("--host", "the host in the URL: tenbin localhost:8080", ""),
    ("--port", "the port in the URL: tenbin localhost:8080", ""),
    ("--script", "a plan with the requests: tenbin init; or -f FILE for a script of SQL", ""),
    ("--sql", "-f FILE for a file with the statement, a script in pgbench's language", ""),
    ("--query", "-f FILE for a file with the statement, a script in pgbench's language", ""),
    ("--targets", "a plan with a step for each request: tenbin init", ""),
    ("--expect", "--expect-status N for a status, or --expect-body TEXT for a text of the body", "N"),
    ("--expect-json", "a plan with `expect: { json: { $.status: ok } }`: tenbin init", ""),
    ("--expect-text", "--expect-body TEXT", ""),
    (
        "--check",
        "--expect-status 200 or --expect-body TEXT for replies, or --slo 'p99<200ms' for the run",
        "",
    ),
    ("--threshold", "--slo 'p99<200ms, errors<1%'", ""),
    ("--disable-keepalive", "--no-keepalive", ""),
    ("--out", "-o FILE", "FILE"),
    ("--config", "the plan without a flag: tenbin PLAN.yaml", ""),
    ("--headless", "nothing: there is no user interface to leave out", ""),
    ("--report-interval", "nothing: reports have every second", ""),
    ("--quick", "-d 2s for a short run; --quick belongs to plans: tenbin run PLAN --quick", ""),
    ("--latency", "nothing: percentiles are always reported", ""),
    (
        "--why",
        "a plan whose system has `start`, for tenbin run PLAN --why: an experiment changes only systems that Tenbin starts",
        "",
    ),
];

/// Equivalent of each load flag in a plan, and the word in it that stands for the value.
const PLAN_EQUIVALENTS: [Row; 13] = [
    ("-c", "`users: N` in `load`", "N"),
    ("--connections", "`users: N` in `load`", "N"),
    ("--users", "`users: N` in `load`", "N"),
    ("-d", "`for: TIME` in `load`", "TIME"),
    ("--duration", "`for: TIME` in `load`", "TIME"),
    ("-R", "`rate: RATE/s` in `load`", ""),
    ("--rate", "`rate: RATE/s` in `load`", ""),
    ("-n", "`requests: N` in `load`", "N"),
    ("--requests", "`requests: N` in `load`", "N"),
    ("--warm-up", "`warm-up: TIME` in `load`", "TIME"),
    ("-H", "`headers: { NAME: VALUE }` in a step", ""),
    ("--slo", "`gates: [ \"p99<200ms\" ]`", ""),
    ("--only", "`only: { … }`, which limits the variants of a system,", ""),
];

/// Replacement for a flag: the equivalent in the plan, for a command that runs one. `None` if the flag is unknown.
pub(crate) fn flag_replacement(flag: &str, given: &[OsString]) -> Option<String> {
    let name = flag.split('=').next().unwrap_or_default();
    let words: Vec<String> = given.iter().map(|word| word.to_string_lossy().into_owned()).collect();
    let command = words.get(1).map(String::as_str).unwrap_or_default();
    let row = |rows: &'static [Row]| rows.iter().find(|(known, ..)| *known == name);
    let is_number = |value: &String| value.bytes().all(|byte| byte.is_ascii_digit());
    let fits = |place: &str, value: &String| !place.is_empty() && (place != "N" || is_number(value));
    let written = |(_, ours, place): &Row| match value(name, given).filter(|value| fits(place, value)) {
        Some(value) => fill_value(ours, place, &value),
        None => (*ours).to_owned(),
    };
    match command {
        "run" | "check" | "capacity" if row(&PLAN_EQUIVALENTS).is_some() => {
            let plan = words.get(2).filter(|word| !word.starts_with('-')).map_or("the plan", String::as_str);
            row(&PLAN_EQUIVALENTS).map(|row| format!("{} in {plan}", written(row)))
        }
        "target" if ["--port", "-p"].contains(&name) => {
            let port = value(name, given).unwrap_or_else(|| "8080".to_owned());
            Some(format!("--listen 127.0.0.1:{port}"))
        }
        "proxy" if name == "--listen" => Some(
            "the address without a flag: tenbin proxy LISTEN TARGET, such as tenbin proxy 8081 8080"
                .to_owned(),
        ),
        "history" if name == "-n" => Some("--limit N".to_owned()),
        _ => {
            let ours = row(databases::flags(&words)).or_else(|| row(&FLAGS)).map(written);
            ours.or_else(|| databases::client_flag_replacement(name))
                .or_else(|| curl::flag_replacement(name).map(str::to_owned))
        }
    }
}

/// Replacement for a positional argument that a command does not take. `None` if there is no advice.
pub(crate) fn word_replacement(word: &str, given: &[OsString]) -> Option<String> {
    let command = given.get(1)?.to_string_lossy();
    let is_port = word.parse::<u16>().is_ok_and(|port| port > 0);
    match command.as_ref() {
        "run" | "check" if is_server(word) => Some(format!(
            "`url: {}` in the plan; a plan names what it loads",
            crate::arguments::with_scheme(word)
        )),
        "target" if is_port => Some(format!("--listen 127.0.0.1:{word}")),
        "history" => Some(format!("tenbin report {word}, or tenbin history --label {word}")),
        _ => None,
    }
}

/// Error for a long flag with one dash, as in vegeta: `-rate 10`. `None` if there is no such flag.
pub(crate) fn with_one_dash(command: &Command, given: &[OsString]) -> Option<String> {
    let of_sub = given.get(1).and_then(|name| command.find_subcommand(name)).unwrap_or(command);
    for (at, word) in given.iter().enumerate().skip(1) {
        let word = word.to_string_lossy();
        if word == "--" {
            return None;
        }
        let Some(name) = word.strip_prefix('-').filter(|name| !name.starts_with('-')) else { continue };
        let name = name.split('=').next().unwrap_or_default();
        let mut corrected = given.to_vec();
        corrected[at] = format!("-{word}").into();
        let long = format!("--{name}");
        let is_ours = of_sub.get_arguments().any(|argument| argument.get_long() == Some(name));
        let ours = match (is_ours, value(&long, &corrected)) {
            (true, Some(value)) if !is_server(&value) => Some(format!("{long} {value}")),
            (true, _) => Some(long),
            (false, _) => flag_replacement(&long, &corrected),
        };
        if let Some(ours) = ours.filter(|_| name.len() > 2) {
            return Some(format!("error: there is no flag -{name}\n  help: write {ours}"));
        }
    }
    None
}

/// Value given to a flag, as in `--vus=5`, `--vus 5`, or `-t5`. `None` if it is not a plain word: only those are repeated in
/// errors.
fn value(name: &str, given: &[OsString]) -> Option<String> {
    let is_plain = |value: &str| {
        !value.is_empty()
            && !value.starts_with('-')
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

/// Replaces every word `place` of a text by the value, also in front of a backtick.
fn fill_value(text: &str, place: &str, value: &str) -> String {
    let words = text.split(' ').map(|word| match word.strip_prefix(place) {
        Some(rest) if rest.is_empty() || rest.starts_with('`') => format!("{value}{rest}"),
        _ => word.to_owned(),
    });
    words.collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    fn words(words: &[&str]) -> Vec<OsString> {
        words.iter().map(OsString::from).collect()
    }

    #[test]
    fn repeats_value_of_flag_if_it_is_a_plain_word() {
        let value = |name: &str, given: &[&str]| value(name, &words(given));
        assert_eq!(value("-z", &["tenbin", "-z", "10s"]).as_deref(), Some("10s"));
        assert_eq!(value("--vus", &["tenbin", "--vus=5"]).as_deref(), Some("5"));
        assert_eq!(value("-t", &["tenbin", "-t5", "x"]).as_deref(), Some("5"));
        for given in
            [&["tenbin", "-z"][..], &["tenbin", "-z", "a b"], &["tenbin", "-z", "\x1b[2J"], &["tenbin"]]
        {
            assert_eq!(value("-z", given), None, "{given:?}");
        }
        assert_eq!(fill_value("--threads N (wrk) -n N", "N", "5"), "--threads 5 (wrk) -n 5");
    }

    #[test]
    fn finds_replacement_for_flags_of_other_programs() {
        for (flag, given, ours) in [
            ("-S", &["tenbin", "-S", "postgres://h/d"][..], "--workload select-only"),
            ("--sql", &["tenbin", "--sql", "SELECT 1"], "-f FILE for a file"),
            ("--mysql-host", &["tenbin", "--mysql-host=h"], "the server, user, and database in the URL"),
            ("-c", &["tenbin", "run", "a.yaml", "-c", "10"], "`users: 10` in `load` in a.yaml"),
            ("--port", &["tenbin", "target", "--port", "81"], "--listen 127.0.0.1:81"),
        ] {
            let written = flag_replacement(flag, &words(given)).unwrap_or_default();
            assert!(written.starts_with(ours), "{given:?}: {written}");
        }
        let target = word_replacement("8080", &words(&["tenbin", "target", "8080"]));
        assert_eq!(target.as_deref(), Some("--listen 127.0.0.1:8080"));
    }

    #[test]
    fn long_flag_with_one_dash_is_corrected_to_two() {
        let with_one_dash = |given: &[&str]| with_one_dash(&crate::Arguments::command(), &words(given));
        for (given, ours) in [
            (&["tenbin", "-rate", "10", "localhost:1"][..], "write --rate 10"),
            (&["tenbin", "-duration=5s", "localhost:1"], "write --duration 5s"),
            (&["tenbin", "-vus", "10", "localhost:1"], "write -c 10"),
            (&["tenbin", "run", "a.yaml", "-quick"], "write --quick"),
        ] {
            let error = with_one_dash(given).unwrap_or_default();
            assert!(error.ends_with(ours), "{given:?}: {error}");
        }
        for given in [
            &["tenbin", "-d10s", "-c5", "-n5", "localhost:1"][..],
            &["tenbin", "-XPOST", "-bhello", "localhost:1"],
            &["tenbin", "--", "-rate"],
        ] {
            assert_eq!(with_one_dash(given), None, "{given:?}");
        }
    }
}
