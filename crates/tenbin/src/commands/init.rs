//! `tenbin init`: writes a first plan from answers that are checked one by one, or a plan of the gallery.

mod gallery;

use std::fs::OpenOptions;
use std::io::{self, BufRead, ErrorKind, IsTerminal, Write};
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use clap::Args;
use plan::{Draft, Study};

use crate::adhoc::quoted;
use crate::arguments::{is_server, named_url, with_scheme};
use crate::exit::{BadArguments, Exit};
use crate::output;

/// Where to.
#[derive(Args, Debug)]
pub(crate) struct InitFlags {
    /// File to write, which must not exist [default: plan.yaml, or NAME.yaml with --from]
    #[arg(value_name = "PLAN")]
    plan: Option<PathBuf>,
    /// Copy a comparison of docs/gallery, such as uuid-keys, with its files; a wrong name lists all
    #[arg(long, value_name = "NAME")]
    from: Option<String>,
}

/// A question, and the answer that an empty line stands for.
struct Question {
    text: &'static str,
    default: &'static str,
}

const SYSTEM: Question = Question {
    text: "URL of the running server, or command that starts one on {port}",
    default: "http://127.0.0.1:8080",
};
const NEXT_SYSTEM: Question = Question { text: "Another system to compare with, or nothing", default: "" };
const PATH: Question = Question { text: "Path to request", default: "/" };
const LOAD: Question =
    Question { text: "Load: users such as 50, or requests per second such as 500/s", default: "50" };

const SYSTEM_HELP: &str =
    "write a URL such as http://127.0.0.1:8080, or a command such as ./server --port {port}";
const LOAD_HELP: &str = "write a number of users such as 50, or a rate such as 500/s";

/// A system of the plan.
#[derive(Clone, Debug, PartialEq, Eq)]
struct InitSystem {
    name: String,
    /// URL, or command that starts the system.
    text: String,
}

/// Answers so far. Each is checked before it is added.
#[derive(Clone, Debug)]
struct Answers {
    systems: Vec<InitSystem>,
    path: String,
    load: String,
}

/// Error in an answer, and advice.
#[derive(Debug, PartialEq, Eq)]
struct WrongAnswer {
    what: String,
    help: String,
}

fn wrong(what: impl Into<String>, help: impl Into<String>) -> WrongAnswer {
    WrongAnswer { what: what.into(), help: help.into() }
}

/// Adds an answer, or returns the error in it.
type AddAnswer = fn(&mut Answers, &str) -> Result<(), WrongAnswer>;

impl Default for Answers {
    fn default() -> Self {
        Self { systems: Vec::new(), path: PATH.default.to_owned(), load: LOAD.default.to_owned() }
    }
}

impl Answers {
    /// Asks all questions with `answer`, each until its answer is valid.
    fn ask(answer: &mut dyn FnMut(&Question) -> anyhow::Result<String>) -> anyhow::Result<Self> {
        let mut answers = Self::default();
        answers.ask_until_valid(&SYSTEM, Self::add_system, answer)?;
        loop {
            let known = answers.systems.len();
            answers.ask_until_valid(&NEXT_SYSTEM, Self::add_further, answer)?;
            if answers.systems.len() == known {
                break;
            }
        }
        answers.ask_until_valid(&PATH, Self::set_path, answer)?;
        answers.ask_until_valid(&LOAD, Self::set_load, answer)?;
        Ok(answers)
    }

    fn ask_until_valid(
        &mut self,
        question: &Question,
        take: AddAnswer,
        answer: &mut dyn FnMut(&Question) -> anyhow::Result<String>,
    ) -> anyhow::Result<()> {
        loop {
            match take(self, &answer(question)?) {
                Ok(()) => return Ok(()),
                Err(WrongAnswer { what, help }) => print_error(&what, &help),
            }
        }
    }

    fn add_further(&mut self, text: &str) -> Result<(), WrongAnswer> {
        if text.is_empty() { Ok(()) } else { self.add_system(text) }
    }

    fn add_system(&mut self, text: &str) -> Result<(), WrongAnswer> {
        let (name, bare) = match named_url(text) {
            (Some(name), url) if is_server(url) => (Some(name), url),
            _ => (None, text),
        };
        check_system(bare)?;
        let number = self.systems.len() + 1;
        let usual = || if number == 1 { "server".to_owned() } else { format!("server-{number}") };
        let system = InitSystem { name: name.map_or_else(usual, str::to_owned), text: bare.to_owned() };
        if self.systems.iter().any(|known| known.name == system.name) {
            return Err(wrong(
                format!("two systems have the name {}", system.name),
                "write another name: NAME=URL",
            ));
        }
        if self.systems.iter().any(|known| known.text == system.text) {
            let help = "write another URL or command, or press Enter to go on";
            return Err(wrong("the plan has this system already", help));
        }
        let mut next = self.clone();
        next.systems.push(system);
        self.replace_if_valid(next)
    }

    fn set_path(&mut self, path: &str) -> Result<(), WrongAnswer> {
        if !path.starts_with('/') {
            let help = match path.split_once("://").and_then(|(_, rest)| rest.split_once('/')) {
                Some((_, path)) => format!("write the path without the server: /{path}"),
                None => format!("write /{path}"),
            };
            return Err(wrong("a path begins with /", help));
        }
        self.replace_if_valid(Self { path: path.to_owned(), ..self.clone() })
    }

    fn set_load(&mut self, load: &str) -> Result<(), WrongAnswer> {
        let amount = load.split_once('/').map_or(load, |(amount, _)| amount);
        if !amount.starts_with(|first: char| first.is_ascii_digit()) {
            return Err(wrong(format!("{load:?} is no number of users, and no rate"), LOAD_HELP));
        }
        self.replace_if_valid(Self { load: load.to_owned(), ..self.clone() })
    }

    /// Takes over `next` if its answers make a valid plan.
    fn replace_if_valid(&mut self, next: Self) -> Result<(), WrongAnswer> {
        let text = next.plan_text();
        let read = Study::from_bytes(text.as_bytes(), "plan.yaml", "plan".to_owned(), "/".into(), false);
        if let Err(errors) = read {
            let first = errors.list().first();
            return Err(first.map_or_else(
                || wrong(errors.to_string(), "write another answer"),
                |error| wrong(error.what.clone(), error.help.clone()),
            ));
        }
        *self = next;
        Ok(())
    }
}

fn print_error(what: &str, help: &str) {
    output::print_error(&BadArguments(format!("{what}\n  help: {help}")).into());
}

/// Checks a URL, or that a command has a placeholder for the port.
fn check_system(text: &str) -> Result<(), WrongAnswer> {
    if let Some([what, help]) = plan::first_plan_misfit(text) {
        return Err(wrong(what, help));
    }
    if is_server(text) {
        let draft = Draft { url: with_scheme(text).into_owned(), ..Draft::default() };
        return match draft.check() {
            Ok(_) => Ok(()),
            Err(faults) => {
                let what = faults.into_iter().next().map_or_else(String::new, |fault| fault.what);
                Err(wrong(what, "write http://HOST:PORT, with a port from 1 to 65535"))
            }
        };
    }
    if text.parse::<u16>().is_ok_and(|port| port > 0) {
        return Err(wrong("a port alone is no URL", format!("write http://127.0.0.1:{text}")));
    }
    if !text.contains("{port}") {
        return Err(wrong(format!("{text:?} is no URL, and no command with {{port}}"), SYSTEM_HELP));
    }
    Ok(())
}

/// Asks the questions, or takes a comparison of the gallery, and writes the plan.
pub(crate) fn run(flags: &InitFlags) -> anyhow::Result<Exit> {
    let path = |name: &str| flags.plan.clone().unwrap_or_else(|| PathBuf::from(name));
    match &flags.from {
        Some(name) => {
            let comparison = gallery::comparison(name)?;
            let to = path(comparison.file);
            let files = comparison.write(&to)?;
            report_written(&to, &files)
        }
        None => ask_and_write(&path("plan.yaml")),
    }
}

fn ask_and_write(to: &Path) -> anyhow::Result<Exit> {
    if to.exists() {
        return Err(exists(to, None).into());
    }
    let mut stdin = io::stdin().lock();
    let is_asked = io::stdin().is_terminal();
    let answers = Answers::ask(&mut |question| {
        if !is_asked {
            return Ok(question.default.to_owned());
        }
        answer(question, &mut stdin)
    })?;
    write(to, &answers.plan_text(), None)?;
    report_written(to, &[])
}

/// Prints which files were written, and the next commands.
fn report_written(plan: &Path, files: &[PathBuf]) -> anyhow::Result<Exit> {
    let shown = plan.display();
    let further: String = files.iter().map(|file| format!(", {}", file.display())).collect();
    output::lines(&format!(
        "wrote {shown}{further}\n  tenbin check {shown}   describes what it does\n  tenbin {shown}         runs it\n"
    ))?;
    Ok(Exit::Ok)
}

/// Prints a question, and reads a line.
fn answer(question: &Question, lines: &mut dyn BufRead) -> anyhow::Result<String> {
    let default =
        if question.default.is_empty() { String::new() } else { format!(" [{}]", question.default) };
    output::ask(&format!("{}{default}: ", question.text));
    let mut line = String::new();
    if lines.read_line(&mut line).context("the answer cannot be read")? == 0 {
        return Err(BadArguments(
            "the answers end early\n  help: answer each question, or press Enter".into(),
        )
        .into());
    }
    let answer = line.trim();
    Ok(if answer.is_empty() { question.default } else { answer }.to_owned())
}

/// Error for a file that exists. `from` is the name of the comparison in the gallery.
fn exists(path: &Path, from: Option<&str>) -> BadArguments {
    let what = format!("{} exists", path.display());
    let from = from.map_or_else(String::new, |name| format!("--from {name} "));
    BadArguments(format!("{what}\n  help: name another file: tenbin init {from}OTHER.yaml"))
}

/// Writes a new file. Returns an error if the file exists by now.
fn write(path: &Path, text: &str, from: Option<&str>) -> anyhow::Result<()> {
    let file = OpenOptions::new().write(true).create_new(true).open(path);
    match file.and_then(|mut file| file.write_all(text.as_bytes())) {
        Err(error) if error.kind() == ErrorKind::AlreadyExists => Err(exists(path, from).into()),
        written => written.with_context(|| format!("{} cannot be written", path.display())),
    }
}

impl Answers {
    /// Text of the plan, with comments.
    fn plan_text(&self) -> String {
        let load = &self.load;
        let load = match load.contains('/') {
            true => {
                format!(
                    "  rate: {load}              # requests started per second, however slow the server is\n"
                )
            }
            false => {
                format!("  users: {load}               # each waits for a reply before the next request\n")
            }
        };
        let systems: String = self.systems.iter().map(InitSystem::plan_text).collect();
        let compare = match self.systems.len() {
            0 | 1 => {
                "# To compare two systems, name a second one above, and say what decides:\n\
                 # compare: { by: throughput, min-effect: 3% }\n"
            }
            _ => {
                "# What decides, and how small a difference still matters.\ncompare: { by: throughput, min-effect: 3% }\n"
            }
        };
        format!(
            "# A plan for Tenbin. `tenbin check PLAN` describes it, `tenbin PLAN` runs it.\n\n\
             question: How fast is it?   # shown in reports\n\n\
             # What each user does, step by step.\n\
             scenario:\n  - get: {}\n    expect: {{ status: 200 }}   # any other reply counts as an error\n\n\
             load:\n{load}  warm-up: 2s             # left out of the result\n  for: 10s                # measured\n\n\
             systems:\n{systems}\n\
             {compare}\n\
             # Conditions for CI. If one fails, the exit code is 3.\n\
             # gates: [ \"p99<200ms\", \"errors<0.1%\" ]\n",
            quoted(&self.path)
        )
    }
}

impl InitSystem {
    /// Lines of the system below `systems:`.
    fn plan_text(&self) -> String {
        let (name, text) = (quoted_key(&self.name), &self.text);
        match is_server(text) {
            true => format!(
                "  {name}:\n    url: {}   # it is already running\n",
                quoted(with_scheme(text).trim_end_matches('/'))
            ),
            false => format!(
                "  {name}:\n    # Tenbin starts it for each run, and stops it. {{port}} is a free port.\n    start: {}\n    \
                 # To compare configurations, put a parameter into the command and list its values:\n    \
                 # vary: {{ workers: [1, 2, 4] }}\n",
                quoted(text)
            ),
        }
    }
}

/// Key of a mapping. A typed name is quoted, because YAML may read it as a number or a truth value.
fn quoted_key(name: &str) -> String {
    if name.starts_with("server") { name.to_owned() } else { quoted(name) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Answers given by `lines`, and the number of questions asked.
    fn asked(lines: &[&str]) -> (Answers, usize) {
        let (mut lines, mut asked) = (lines.iter(), 0);
        let answers = Answers::ask(&mut |question| {
            asked += 1;
            let line = lines.next().copied().unwrap_or_default();
            Ok(if line.is_empty() { question.default } else { line }.to_owned())
        });
        (answers.expect("answers"), asked)
    }

    fn read(answers: &Answers) -> Study {
        let text = answers.plan_text();
        Study::from_bytes(text.as_bytes(), "plan.yaml", "plan".into(), "/".into(), false)
            .unwrap_or_else(|errors| panic!("{text}\n{errors}"))
    }

    #[test]
    fn valid_answers_make_a_plan() {
        for (system, load) in [
            ("", ""),
            ("localhost:3000", "500/s"),
            ("python3 -m http.server {port}", "10"),
            ("sh -c \"exec ./app # {port}\"", "90/min"),
        ] {
            let (answers, asked) = asked(&[system, "", "/a?b=\"c\"", load]);
            assert_eq!((asked, answers.systems.len()), (4, 1), "{answers:?}");
            read(&answers);
        }
    }

    #[test]
    fn compares_several_systems_under_their_names() {
        let lines = ["old=localhost:3000", "localhost:3001", "node app.js --port={port}", "", "/", "20"];
        let (answers, _) = asked(&lines);
        let names: Vec<&str> = answers.systems.iter().map(|system| system.name.as_str()).collect();
        assert_eq!(names, ["old", "server-2", "server-3"]);
        assert_eq!(read(&answers).variants.len(), 3);
        assert!(answers.plan_text().contains("\ncompare: { by: throughput"), "{}", answers.plan_text());
    }

    #[test]
    fn rejects_wrong_answer_with_help_and_repeats_the_question() {
        let mut answers = Answers::default();
        for (text, what, help) in [
            ("8080", "a port alone is no URL", "http://127.0.0.1:8080"),
            ("localhost:99999", "invalid port number", "from 1 to 65535"),
            ("http://localhost:0", "port 0", "from 1 to 65535"),
            ("htp://localhost", "unknown URL scheme", "http://HOST:PORT"),
            ("./server", "no command with {port}", "--port {port}"),
            ("postgres://me@localhost/shop", "URL of a database", "docs/plan.md"),
        ] {
            let wrong = answers.add_system(text).expect_err(text);
            assert!(wrong.what.contains(what) && wrong.help.contains(help), "{text}: {wrong:?}");
        }
        answers.add_system("a=localhost:3000").expect("a system");
        for text in ["a=localhost:3001", "b=localhost:3000"] {
            answers.add_system(text).expect_err(text);
        }
        assert_eq!(answers.set_path("items").expect_err("no path").help, "write /items");
        let url = answers.set_path("http://localhost:3000/items").expect_err("no path");
        assert_eq!(url.help, "write the path without the server: /items");
        for load in ["many", "0", "500/x", "-5", "1.5"] {
            answers.set_load(load).expect_err(load);
        }
        // After each of the two wrong answers, the question is asked again.
        let (answers, asked) =
            asked(&["8080", "nonsense", "localhost:3000", "", "items", "/items", "x", "20"]);
        assert_eq!((asked, answers.path.as_str(), answers.load.as_str()), (8, "/items", "20"));
    }
}
