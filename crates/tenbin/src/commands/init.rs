//! `tenbin init`: a first plan, written from three answers.

use std::fs::OpenOptions;
use std::io::{self, BufRead, ErrorKind, IsTerminal, Write};
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use clap::Args;
use plan::Study;

use crate::adhoc::quoted;
use crate::arguments::{is_server, with_scheme};
use crate::exit::{BadArguments, Exit};
use crate::output;

/// Where to.
#[derive(Args, Debug)]
pub(crate) struct InitFlags {
    /// File to write; it must not exist
    #[arg(value_name = "PLAN", default_value = "plan.yaml")]
    plan: PathBuf,
}

/// A question, with the answer to an empty line.
struct Question {
    text: &'static str,
    default: &'static str,
}

const SYSTEM: Question = Question {
    text: "URL of the running server, or command that starts one on {port}",
    default: "http://127.0.0.1:8080",
};
const PATH: Question = Question { text: "Path to request", default: "/" };
const LOAD: Question =
    Question { text: "Load: users such as 50, or requests per second such as 500/s", default: "50" };

/// Asks, checks, writes.
pub(crate) fn run(flags: &InitFlags) -> anyhow::Result<Exit> {
    let shown = flags.plan.display();
    if flags.plan.exists() {
        return Err(exists(&flags.plan).into());
    }
    let mut stdin = io::stdin().lock();
    let is_asked = io::stdin().is_terminal();
    let mut ask = |question: &Question| -> anyhow::Result<String> {
        if !is_asked {
            return Ok(question.default.to_owned());
        }
        output::ask(&format!("{} [{}]: ", question.text, question.default));
        let mut line = String::new();
        stdin.read_line(&mut line).context("the answer cannot be read")?;
        let answer = line.trim();
        Ok(if answer.is_empty() { question.default } else { answer }.to_owned())
    };
    let (system, path, load) = (ask(&SYSTEM)?, ask(&PATH)?, ask(&LOAD)?);
    let text = text(&system, &path, &load);
    let folder = std::env::current_dir()?;
    Study::from_bytes(text.as_bytes(), &shown.to_string(), "plan".to_owned(), folder, false)
        .map_err(|errors| BadArguments(format!("{errors}\nnothing was written")))?;
    write(&flags.plan, &text)?;
    output::lines(&format!(
        "wrote {shown}\n  tenbin check {shown}   describes what it does\n  tenbin {shown}         runs it\n"
    ))?;
    Ok(Exit::Ok)
}

fn exists(path: &Path) -> BadArguments {
    let what = format!("{} exists", path.display());
    BadArguments(format!("{what}\n  help: name another file: tenbin init OTHER.yaml"))
}

/// Writes a new file; one that exists by now is left alone.
fn write(path: &Path, text: &str) -> anyhow::Result<()> {
    let file = OpenOptions::new().write(true).create_new(true).open(path);
    match file.and_then(|mut file| file.write_all(text.as_bytes())) {
        Err(error) if error.kind() == ErrorKind::AlreadyExists => Err(exists(path).into()),
        written => written.with_context(|| format!("{} cannot be written", path.display())),
    }
}

/// A plan with comments.
fn text(system: &str, path: &str, load: &str) -> String {
    let load = match load.contains('/') {
        true => {
            format!("  rate: {load}              # requests started per second, however slow the server is\n")
        }
        false => format!("  users: {load}               # each waits for a reply before the next request\n"),
    };
    let system = match is_server(system) {
        true => format!(
            "systems:\n  server:\n    url: {}   # it is already running\n",
            quoted(with_scheme(system).trim_end_matches('/'))
        ),
        false => format!(
            "systems:\n  server:\n    # Tenbin starts it for each run, and stops it. {{port}} is a free port.\n    start: {}\n    \
             # To compare configurations, put a parameter into the command and list its values:\n    \
             # vary: {{ workers: [1, 2, 4] }}\n",
            quoted(system)
        ),
    };
    format!(
        "# A plan for Tenbin. `tenbin check PLAN` describes it, `tenbin PLAN` runs it.\n\n\
         question: How fast is it?   # shown in reports\n\n\
         # What each user does, step by step.\n\
         scenario:\n  - get: {}\n    expect: {{ status: 200 }}   # any other reply counts as an error\n\n\
         load:\n{load}  warm-up: 2s             # left out of the result\n  for: 10s                # measured\n\n\
         {system}\n\
         # To compare two systems, name a second one above, and say what decides:\n\
         # compare: {{ by: throughput, matters: 3% }}\n\n\
         # Conditions for CI. If one fails, the exit code is 3.\n\
         # gates: [ \"p99<200ms\", \"errors<0.1%\" ]\n",
        quoted(path)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_answer_makes_a_plan() {
        for (system, load) in [
            (SYSTEM.default, LOAD.default),
            ("localhost:3000", "500/s"),
            ("python3 -m http.server {port}", "10"),
            ("sh -c \"exec ./app # {port}\"", "90/min"),
        ] {
            let text = text(system, "/a?b=\"c\"", load);
            let read = Study::from_bytes(text.as_bytes(), "plan.yaml", "plan".into(), "/".into(), false);
            assert!(
                read.is_ok(),
                "{text}\n{}",
                read.err().map_or(String::new(), |errors| errors.to_string())
            );
        }
    }
}
