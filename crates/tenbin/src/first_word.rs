//! Advice for a first argument that is neither a command nor a URL nor a plan.

use std::fs;
use std::os::unix::fs::FileTypeExt;
use std::path::Path;

use clap::CommandFactory;
use plan::{Fault, known_workload, nearest_name};

use crate::Arguments;
use crate::arguments::{PLAN_EXTENSIONS, is_server};

/// Words of other programs, and the equivalent arguments of Tenbin.
const FOREIGN_WORDS: [(&[&str], &str); 8] = [
    (&["help"], "--help"),
    (&["version"], "--version"),
    (&["list", "ls", "runs", "log", "studies"], "history"),
    (&["show", "view", "open", "results", "print"], "report"),
    (&["diff", "cmp"], "compare"),
    (&["serve", "server", "start", "mock"], "target --listen 127.0.0.1:8080"),
    (&["lint", "validate", "verify", "dry-run"], "check"),
    (&["new", "create", "generate"], "init"),
];
/// Words that precede the URL in other programs.
const WORDS_BEFORE_URL: [&str; 12] =
    ["url", "get", "post", "load", "test", "bench", "benchmark", "attack", "measure", "wrk", "hey", "ab"];

/// Error for an argument that names no server, with what to write. `rest` holds the arguments after it that are not flags.
pub(crate) fn fault(word: &str, rest: &[String]) -> Option<Fault> {
    let help = file_help(word).or_else(|| word_help(word, rest)).or_else(|| next_command_help(rest))?;
    Some(Fault::new(format!("{word:?}"), "this is neither a command nor a URL", help))
}

/// Appends the arguments `rest` to a command line.
fn append_rest(line: &str, rest: &[String]) -> String {
    rest.iter().fold(line.to_owned(), |line, word| format!("{line} {}", report::shell_quote(word)))
}

/// Names of the visible commands.
fn commands() -> Vec<String> {
    let command = Arguments::command();
    let shown = command.get_subcommands().filter(|command| !command.is_hide_set());
    shown.map(|command| command.get_name().to_owned()).collect()
}

/// Advice for the name of another program before a command: `k6 run script.js`.
fn next_command_help(rest: &[String]) -> Option<String> {
    let (next, after) = rest.split_first()?;
    let is_command = commands().contains(next);
    is_command.then(|| format!("write {}", append_rest(&format!("tenbin {next}"), after)))
}

fn word_help(word: &str, rest: &[String]) -> Option<String> {
    let lower = word.to_lowercase();
    if WORDS_BEFORE_URL.contains(&lower.as_str())
        || plan::default_request_port(&format!("{lower}://")).is_some()
    {
        return match rest.first().filter(|next| is_server(next)) {
            Some(url) => Some(format!("leave it out: tenbin {}", report::shell_quote(url))),
            None => Some("write the URL without a word before it: tenbin localhost:8080".to_owned()),
        };
    }
    let names = commands();
    if lower == "help"
        && let Some(of) = rest.first().filter(|of| names.contains(of))
    {
        return Some(format!("write tenbin {of} --help"));
    }
    if let Some((_, ours)) = FOREIGN_WORDS.iter().find(|(words, _)| words.contains(&lower.as_str())) {
        let takes_names = ["report", "compare", "check", "init"].contains(ours);
        let rest = if takes_names { rest } else { &[] };
        return Some(format!("write {}", append_rest(&format!("tenbin {ours}"), rest)));
    }
    if let Ok(workload) = known_workload(&lower.replace('_', "-")) {
        return Some(format!(
            "write tenbin postgres://USER@HOST/DATABASE --workload {workload}, or mysql://…"
        ));
    }
    let near = nearest_name(word, names.iter().map(String::as_str))?;
    Some(format!("did you mean {near}? write {}", append_rest(&format!("tenbin {near}"), rest)))
}

/// Advice for a word that is the name of a file.
fn file_help(word: &str) -> Option<String> {
    let path = Path::new(word);
    let shown = report::shell_quote(word);
    let ending = path.extension().map(|ending| ending.to_string_lossy().to_lowercase());
    let Ok(about) = fs::metadata(path) else {
        let is_name = word.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_/.".contains(&byte));
        let plans = PLAN_EXTENSIONS.map(|ending| format!("{word}.{ending}"));
        let plan = plans.into_iter().find(|plan| is_name && Path::new(plan).is_file());
        return match (plan, ending.as_deref()) {
            (Some(plan), _) => Some(format!("write tenbin {}", report::shell_quote(&plan))),
            (None, Some("sock" | "socket")) => Some(socket_help(shown.trim_start_matches("unix:"))),
            (None, Some("sql")) => Some(script_help(&shown)),
            _ => None,
        };
    };
    if about.file_type().is_socket() {
        return Some(socket_help(&shown));
    }
    match ending.as_deref() {
        _ if about.is_dir() => Some(format!("it is a folder: name a plan in it, such as {shown}/study.yaml")),
        Some("sql") => Some(script_help(&shown)),
        Some(ending) if plan::opens_as_database(ending) => {
            Some(format!("for a database, write sqlite:{shown}; for a store, tenbin history --store {shown}"))
        }
        Some(ending) if ending == report::PAGE.extension => {
            Some("it is a page: open it in a browser".to_owned())
        }
        _ => Some(format!("it is a file; for a plan, write tenbin run {shown}")),
    }
}

fn socket_help(path: &str) -> String {
    format!("write tenbin http://localhost/ --unix-socket {path}")
}

fn script_help(path: &str) -> String {
    format!("write tenbin postgres://USER@HOST/DATABASE -f {path}, or mysql://… or sqlite:PATH")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn suggests_command_for_words_of_other_programs() {
        let rest = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
        for (word, after, help) in [
            ("histroy", &[][..], "did you mean history? write tenbin history"),
            ("rnu", &["a.yaml"], "did you mean run? write tenbin run a.yaml"),
            ("help", &["run"], "write tenbin run --help"),
            ("help", &[], "write tenbin --help"),
            ("ls", &[], "write tenbin history"),
            ("diff", &["a", "b"], "write tenbin compare a b"),
            ("k6", &["run", "script.js"], "write tenbin run script.js"),
            ("attack", &["localhost:80"], "leave it out: tenbin localhost:80"),
            ("GET", &["localhost:80/a"], "leave it out: tenbin localhost:80/a"),
            ("/none/x.sock", &[], "write tenbin http://localhost/ --unix-socket /none/x.sock"),
            ("none.sql", &[], "write tenbin postgres://USER@HOST/DATABASE -f none.sql"),
            ("oltp_read_only", &[], "write tenbin postgres://USER@HOST/DATABASE --workload oltp-read-only"),
        ] {
            let fault = fault(word, &rest(after)).expect(word);
            assert!(fault.help.starts_with(help), "{word}: {}", fault.help);
        }
        assert_eq!(fault("xyzzy", &[]), None);
        assert!(fault("/", &[]).expect("a folder").help.starts_with("it is a folder"));
    }
}
