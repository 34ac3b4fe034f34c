//! Explanation of a script without a server: what it sends, draws, and commits, and what each query mode does with it.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::databases::Engine;
use crate::effect::Effect;
use crate::program;
use crate::script::{
    Allow, Fault, Gather, Language, OutlineEntry, Player, PlayerAction, ScriptSet, Seeds, Statement, outline,
};
use crate::settings::{Mode, TransactionStep};
use crate::split::split;

/// Number of transactions from which example values are taken.
const EXAMPLES: usize = 3;
/// Maximum number of actions of an example, because a script may be long.
const ACTIONS_MAX: usize = 10_000;

/// Explanation of a script.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScriptExplanation {
    /// Statements and meta commands, in the order of the text.
    pub parts: Vec<ScriptPart>,
    /// Variables that `\set` sets, with their values.
    pub variables: Vec<DrawnVariable>,
    /// Query modes.
    pub modes: Vec<ExplainedMode>,
    /// Line of the transaction that the script leaves open, which is then rolled back. `None` if it leaves none.
    pub open_since: Option<u32>,
}

/// A part of a script.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ScriptPart {
    /// A statement.
    Statement(ExplainedStatement),
    /// A meta command.
    Command {
        /// Line, from 1.
        line: u32,
        /// Text with its backslash, in one line.
        text: String,
    },
}

/// A statement of a script.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExplainedStatement {
    /// Line where it begins, from 1.
    pub line: u32,
    /// Text as written, in one line.
    pub text: String,
    /// Names of the values that the modes `extended` and `prepared` send separately from the text.
    pub values: Vec<String>,
    /// Place in its transaction, if all statements before it are executed.
    pub place: TransactionPlace,
    /// Number of statements that `\;` joins.
    pub joined: usize,
    /// Rows that are stored in variables. `None` if there are none.
    pub gather: Option<Gather>,
}

/// Place of a statement in a transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TransactionPlace {
    /// Begins a transaction, which the next statements continue.
    Begins,
    /// Belongs to the transaction that began in this line.
    Within(u32),
    /// Ends the transaction that began in this line.
    Ends(u32),
    /// Commits by itself.
    Alone,
    /// Commits nothing, and is in no transaction.
    Reads,
}

/// A variable that `\set` sets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DrawnVariable {
    /// Name.
    pub name: String,
    /// Line where it is set last, from 1.
    pub line: u32,
    /// Expression as written.
    pub expression: String,
    /// Values after the first transactions of the first client. Empty if they depend on rows of the database.
    pub examples: Vec<String>,
}

/// A query mode, and what it does with the script.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExplainedMode {
    /// Name, as in `--query-mode`.
    pub name: &'static str,
    /// Description.
    pub words: String,
    /// Reason why the script cannot be run in this mode. `None` if it can.
    pub error: Option<String>,
}

/// Explains a valid script with these variables, as on a database of this kind. `seed` is the seed of the example values.
///
/// # Errors
///
/// The errors of the script.
pub fn explain(
    name: &str,
    source: &str,
    variables: &[(String, String)],
    engine: Engine,
    seed: u64,
) -> Result<ScriptExplanation, Vec<Fault>> {
    let mut scripts = ScriptSet::new();
    scripts.add(name, source.as_bytes(), Language::Pgbench, Allow::Nothing)?;
    for (name, _) in variables {
        // An invalid name is reported by the check of the variables.
        let _ = scripts.variable(name);
    }
    let (mut parts, mut open_since) = (Vec::new(), None);
    let mut statements = scripts.statements().iter();
    for entry in outline(source, Language::Pgbench) {
        match entry {
            OutlineEntry::Command { text, name, .. } if name == "copy" => {
                let Some(statement) = statements.next() else { break };
                let explained = explained(statement, engine, &mut open_since);
                parts.push(ScriptPart::Statement(ExplainedStatement {
                    text: format!("\\{text}"),
                    ..explained
                }));
            }
            OutlineEntry::Command { line, text, .. } => {
                parts.push(ScriptPart::Command { line, text: format!("\\{text}") });
            }
            OutlineEntry::Statement => {
                let Some(statement) = statements.next() else { break };
                parts.push(ScriptPart::Statement(explained(statement, engine, &mut open_since)));
            }
        }
    }
    let modes =
        Mode::NAMES.iter().map(|(name, mode)| explained_mode(name, *mode, &scripts, engine)).collect();
    let variables = drawn(source, scripts, variables, seed);
    Ok(ScriptExplanation { parts, variables, modes, open_since })
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn explained(statement: &Statement, engine: Engine, open_since: &mut Option<u32>) -> ExplainedStatement {
    let (effect, line) = (Effect::of(statement, engine), statement.line());
    let text = statement.written();
    let place = match (*open_since, effect.is_open_after(open_since.is_some())) {
        (None, true) => TransactionPlace::Begins,
        (Some(since), true) => TransactionPlace::Within(since),
        (Some(since), false) => TransactionPlace::Ends(since),
        (None, false) if effect.may_commit(false) => TransactionPlace::Alone,
        (None, false) => TransactionPlace::Reads,
    };
    *open_since = match place {
        TransactionPlace::Begins => Some(line),
        TransactionPlace::Within(since) => Some(since),
        _ => None,
    };
    ExplainedStatement {
        line,
        joined: split(&text, engine).len(),
        values: statement.value_names().map(str::to_owned).collect(),
        text: one_line(&text),
        place,
        gather: statement.gather(),
    }
}

fn explained_mode(name: &'static str, mode: Mode, scripts: &ScriptSet, engine: Engine) -> ExplainedMode {
    let statements = scripts.statements();
    let count = statements.len();
    let texts: BTreeSet<String> =
        statements.iter().map(|statement| statement.extended(engine.placeholders())).collect();
    let counted = |count: usize, noun: &str| format!("{count} {noun}{}", if count == 1 { "" } else { "s" });
    let words = match mode {
        Mode::Simple => format!("{}, each with its values", counted(count, "text")),
        Mode::Extended => {
            format!("{}, each parsed, bound to its values, and executed", counted(count, "statement"))
        }
        Mode::Prepared => format!(
            "{}, each prepared once per connection; {} with values",
            counted(texts.len(), "distinct statement"),
            counted(count, "execution"),
        ),
    };
    let step = TransactionStep { name: String::new(), script: 0, expects: None };
    let error = program::check(scripts, &[step], mode, engine).err();
    let joined = |statement: &&Statement| split(&statement.written(), engine).len() > 1;
    let joined = statements.iter().find(joined).filter(|_| mode != Mode::Simple).map(|statement| {
        format!(
            "line {}: several statements in one text (\\;) are accepted in the mode simple only",
            statement.line()
        )
    });
    ExplainedMode { name, words, error: error.or(joined) }
}

/// Variables with the values that they have after each of the first transactions.
fn drawn(source: &str, scripts: ScriptSet, given: &[(String, String)], seed: u64) -> Vec<DrawnVariable> {
    let mut variables: Vec<DrawnVariable> = Vec::new();
    for entry in outline(source, Language::Pgbench) {
        let OutlineEntry::Command { line, name, text } = entry else { continue };
        let mut words = text.splitn(3, ' ');
        let (Some(variable), Some(expression), true) = (words.nth(1), words.next(), name == "set") else {
            continue;
        };
        variables.retain(|known| known.name != variable);
        let (name, expression) = (variable.to_owned(), expression.to_owned());
        variables.push(DrawnVariable { name, line, expression, examples: Vec::new() });
    }
    // Values that depend on rows are unknown without a database.
    let has_rows = scripts.statements().iter().any(|statement| statement.gather().is_some());
    let (scripts, seeds) = (Arc::new(scripts), Seeds::new(seed, 1));
    let mut player = Player::new(scripts.clone(), &seeds, 0);
    for (name, value) in given {
        scripts.find(name).into_iter().for_each(|slot| player.set(slot, value.as_bytes()));
    }
    for _ in 0..EXAMPLES {
        if has_rows || !play_to_end(&mut player) {
            break;
        }
        for variable in &mut variables {
            let value = scripts.find(&variable.name).and_then(|slot| player.value(slot).map(<[u8]>::to_vec));
            let value = value.map_or("NULL".to_owned(), |value| String::from_utf8_lossy(&value).into_owned());
            variable.examples.push(value);
        }
    }
    variables
}

/// Plays the script once without sending anything. False if it does not reach its end.
fn play_to_end(player: &mut Player) -> bool {
    player.begin(0);
    for _ in 0..ACTIONS_MAX {
        match player.next() {
            Ok(PlayerAction::End) => return true,
            Ok(_) => {}
            Err(_) => return false,
        }
    }
    false
}
