//! `tenbin check SCRIPT.sql`: explains a script without a database.

use std::fmt::Write as _;
use std::path::Path;

use plan::{DrawnVariable, ScriptExplanation, ScriptPart, SqlSpec, TransactionPlace, explained_script};
use serde_json::{Value, json};

use crate::commands::list_faults;
use crate::exit::{BadArguments, Exit};
use crate::output;

/// Form of the explanation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum ScriptFormat {
    /// Text for people.
    #[default]
    Terminal,
    /// One JSON object.
    Json,
}

/// Whether a path is that of a script.
pub(super) fn is_script(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("sql"))
}

/// Explains a script with the variables of `-D`.
pub(super) fn run(path: &Path, defines: &[String], format: ScriptFormat) -> anyhow::Result<Exit> {
    let mut spec = SqlSpec::default();
    defines.iter().for_each(|define| spec.define(define));
    let path = path.to_string_lossy();
    let explanation = explained_script(&path, &spec)
        .map_err(|faults| BadArguments(list_faults(&faults, "the script was not explained")))?;
    match format {
        ScriptFormat::Terminal => output::lines(&text(&path, &explanation))?,
        ScriptFormat::Json => output::data(&format!("{:#}\n", object(&path, &explanation)))?,
    }
    Ok(Exit::Ok)
}

/// Place in a transaction, in words.
fn place_words(place: TransactionPlace) -> String {
    match place {
        TransactionPlace::Begins => "begins a transaction".to_owned(),
        TransactionPlace::Within(line) => format!("in the transaction of line {line}"),
        TransactionPlace::Ends(line) => format!("ends the transaction of line {line}"),
        TransactionPlace::Alone => "commits by itself".to_owned(),
        TransactionPlace::Reads => "outside of transactions, changes nothing".to_owned(),
    }
}

/// Place in a transaction, as a name and a line.
fn place_names(place: TransactionPlace) -> (&'static str, Option<u32>) {
    match place {
        TransactionPlace::Begins => ("begins", None),
        TransactionPlace::Within(line) => ("within", Some(line)),
        TransactionPlace::Ends(line) => ("ends", Some(line)),
        TransactionPlace::Alone => ("alone", None),
        TransactionPlace::Reads => ("reads", None),
    }
}

fn text(path: &str, explanation: &ScriptExplanation) -> String {
    let ScriptExplanation { parts, variables, modes, open_since } = explanation;
    let statements = parts.iter().filter(|part| matches!(part, ScriptPart::Statement(_))).count();
    let noun = if statements == 1 { "statement" } else { "statements" };
    let mut out = format!("{path}: {statements} {noun}, in the language of pgbench\n\n");
    for part in parts {
        match part {
            ScriptPart::Command { line, text } => {
                let _ = writeln!(out, "{line:>5}  {text}");
            }
            ScriptPart::Statement(statement) => {
                let _ = writeln!(out, "{:>5}  {}", statement.line, statement.text);
                let mut about = vec![place_words(statement.place)];
                if !statement.values.is_empty() {
                    about.push(format!("values {}", statement.values.join(", ")));
                }
                if statement.gather.is_some() {
                    about.push("its rows are stored in variables".to_owned());
                }
                let _ = writeln!(out, "       -- {}", about.join("; "));
            }
        }
    }
    if let Some(line) = open_since {
        let _ = writeln!(
            out,
            "\nwarning: the transaction of line {line} is still open at the end, and each try is rolled back as `open_transaction`\n  \
             help: add END; or COMMIT;"
        );
    }
    if !variables.is_empty() {
        out.push_str("\nvariables after the first transactions of seed 1, as examples\n");
        for variable in variables {
            let examples = match variable.examples.is_empty() {
                true => "depends on rows of the database".to_owned(),
                false => variable.examples.join(", "),
            };
            let _ = writeln!(out, "  {} = {}: {examples}", variable.name, variable.expression);
        }
    }
    out.push_str("\nquery modes (--query-mode)\n");
    for mode in modes {
        let words = mode.error.as_ref().map_or(mode.words.clone(), |error| format!("not possible: {error}"));
        let _ = writeln!(out, "  {:<9} {words}", mode.name);
    }
    out
}

fn object(path: &str, explanation: &ScriptExplanation) -> Value {
    let ScriptExplanation { parts, variables, modes, open_since } = explanation;
    let part = |part: &ScriptPart| match part {
        ScriptPart::Command { line, text } => json!({ "line": line, "command": text }),
        ScriptPart::Statement(statement) => {
            let (place, since) = place_names(statement.place);
            json!({
                "line": statement.line,
                "statement": statement.text,
                "values": statement.values,
                "transaction": place,
                "transaction_line": since,
                "joined": statement.joined,
                "stores_rows": statement.gather.is_some(),
            })
        }
    };
    let variable = |variable: &DrawnVariable| {
        json!({
            "name": variable.name,
            "line": variable.line,
            "expression": variable.expression,
            "examples": variable.examples,
        })
    };
    json!({
        "schema": "tenbin.script/1",
        "script": path,
        "parts": parts.iter().map(part).collect::<Vec<_>>(),
        "variables": variables.iter().map(variable).collect::<Vec<_>>(),
        "modes": modes.iter().map(|mode| json!({ "name": mode.name, "sends": mode.words, "error": mode.error })).collect::<Vec<_>>(),
        "open_since_line": open_since,
    })
}
