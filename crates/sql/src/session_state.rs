//! State that a script keeps in its connection to the server from one transaction to the next. A pooler that shares server
//! connections between transactions loses it, or gives it to another client.

use std::collections::BTreeSet;

use crate::databases::Engine;
use crate::effect::Effect;
use crate::script::{Placeholders, Script, ScriptSet};
use crate::split::{Word, split, words};

/// A kind of state that outlives its transaction in a connection.
#[derive(Debug)]
pub struct SessionState {
    /// Name for display, such as `a temporary table`.
    pub name: &'static str,
    /// Effect of a pooler that shares server connections between transactions.
    pub consequence: &'static str,
    /// Replacement that lasts for one transaction only, as a request.
    pub help: &'static str,
    /// Whether statements may succeed with wrong results. If false, only the state is lost.
    pub is_wrong: bool,
    /// Whether a statement creates or needs the state. The flag is true for the first statement of a transaction.
    pub(crate) begins: fn(&[Word<'_>], bool) -> bool,
    /// Whether a statement removes the state.
    pub(crate) ends: fn(&[Word<'_>]) -> bool,
}

/// A statement that makes or needs state of its connection.
#[derive(Clone, Copy, Debug)]
pub struct StateUse<'a> {
    /// The kind of state.
    pub state: &'static SessionState,
    /// Name of the script.
    pub script: &'a str,
    /// Line of the script where the statement begins, from 1.
    pub line: u32,
}

/// Session state that the scripts leave in their connections, each kind once per script, in the order of the text. State that a statement
/// of the same transaction removes is omitted.
pub fn session_state(all_scripts: &ScriptSet, engine: Engine) -> Vec<StateUse<'_>> {
    all_scripts.scripts().iter().flat_map(|script| script_uses(all_scripts, script, engine)).collect()
}

fn script_uses<'a>(all_scripts: &'a ScriptSet, script: &'a Script, engine: Engine) -> Vec<StateUse<'a>> {
    let states = engine.dialect().session_states;
    // Uses in the open transaction, and in those before it.
    let (mut current, mut uses) = (Vec::<StateUse<'a>>::new(), Vec::new());
    let mut is_open = false;
    for number in script.statements() {
        let statement = &all_scripts.statements()[usize::from(number)];
        let text = statement.extended(Placeholders::Question);
        for (place, piece) in split(&text, engine).into_iter().enumerate() {
            let words = words(piece, engine);
            let is_first = !is_open && place == 0;
            current.retain(|made| !(made.state.ends)(&words));
            let begun = states.iter().filter(|state| (state.begins)(&words, is_first));
            current.extend(begun.map(|state| StateUse {
                state,
                script: script.name(),
                line: statement.line(),
            }));
        }
        is_open = Effect::of(statement, engine).is_open_after(is_open);
        if !is_open {
            uses.append(&mut current);
        }
    }
    uses.append(&mut current);
    let mut known = BTreeSet::new();
    uses.retain(|made| known.insert(made.state.name));
    uses
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::script::{Allow, Language};

    fn names(text: &str, engine: Engine) -> Vec<(&'static str, u32)> {
        let mut all_scripts = ScriptSet::new();
        all_scripts.add("test", text.as_bytes(), Language::Pgbench, Allow::Nothing).unwrap();
        session_state(&all_scripts, engine).into_iter().map(|made| (made.state.name, made.line)).collect()
    }

    #[test]
    fn state_that_outlives_its_transaction_is_found_with_its_line() {
        for (text, found) in [
            ("SELECT 1;\nCREATE TEMP TABLE t (a int);", vec![("a temporary table", 2)]),
            ("CREATE GLOBAL TEMPORARY TABLE t AS SELECT 1;", vec![("a temporary table", 1)]),
            ("SELECT 1 AS a INTO TEMP t;", vec![("a temporary table", 1)]),
            ("CREATE TABLE pg_temp.t (a int);", vec![("a temporary table", 1)]),
            ("BEGIN;\nCREATE TEMP TABLE t (a int) ON COMMIT DROP;\nCOMMIT;", vec![]),
            ("BEGIN;\nCREATE TEMP TABLE t (a int);\nDROP TABLE t;\nCOMMIT;", vec![]),
            ("CREATE TEMP TABLE t (a int);\nDROP TABLE t;", vec![("a temporary table", 1)]),
            ("CREATE TEMP TABLE t (a int) ON COMMIT DELETE ROWS;", vec![("a temporary table", 1)]),
            ("SET search_path = a;", vec![("SET of schema or role", 1)]),
            ("SET SESSION search_path TO a;", vec![("SET of schema or role", 1)]),
            ("SET ROLE a;", vec![("SET of schema or role", 1)]),
            ("SET SESSION AUTHORIZATION a;", vec![("SET of schema or role", 1)]),
            ("BEGIN;\nSET LOCAL search_path = a;\nCOMMIT;", vec![]),
            ("BEGIN;\nSET search_path = a;\nRESET search_path;\nCOMMIT;", vec![]),
            ("SET TRANSACTION READ ONLY;", vec![]),
            ("SET statement_timeout = 5;", vec![("SET without LOCAL", 1)]),
            ("SET SESSION CHARACTERISTICS AS TRANSACTION READ ONLY;", vec![("SET without LOCAL", 1)]),
            ("SELECT set_config('work_mem', '1MB', false);", vec![("SET without LOCAL", 1)]),
            ("SELECT set_config('work_mem', '1MB', true);", vec![]),
            ("SET application_name = 'a';", vec![]),
            ("SET TIME ZONE 'UTC';", vec![]),
            (
                "SELECT pg_advisory_lock(1);\nSELECT pg_advisory_unlock(1);",
                vec![("a session advisory lock", 1)],
            ),
            ("SELECT pg_try_advisory_lock_shared(1);", vec![("a session advisory lock", 1)]),
            ("BEGIN;\nSELECT pg_advisory_lock(1);\nSELECT pg_advisory_unlock(1);\nCOMMIT;", vec![]),
            ("SELECT pg_advisory_xact_lock(1);", vec![]),
            ("LISTEN a;", vec![("LISTEN", 1)]),
            ("BEGIN;\nDECLARE c CURSOR WITH HOLD FOR SELECT 1;\nCOMMIT;", vec![("a cursor WITH HOLD", 2)]),
            ("BEGIN;\nDECLARE c CURSOR FOR SELECT 1;\nCOMMIT;", vec![]),
            ("BEGIN;\nDECLARE c CURSOR WITH HOLD FOR SELECT 1;\nCLOSE c;\nCOMMIT;", vec![]),
            ("PREPARE p AS SELECT 1;\nEXECUTE p;", vec![("PREPARE or EXECUTE", 1)]),
            ("PREPARE TRANSACTION 'a';", vec![]),
            ("INSERT INTO t VALUES (1);\nSELECT lastval();", vec![("currval or lastval", 2)]),
            ("BEGIN;\nINSERT INTO t VALUES (1);\nSELECT currval('s');\nCOMMIT;", vec![]),
            (r"INSERT INTO t VALUES (1) \; SELECT lastval();", vec![]),
            ("SELECT 'SET search_path = a', \"set_config\" FROM t -- LISTEN\n;", vec![]),
            ("UPDATE t SET a = 1;", vec![]),
        ] {
            assert_eq!(names(text, Engine::PostgreSql), found, "{text}");
        }
    }

    #[test]
    fn every_kind_of_state_is_in_the_documents() {
        let document = include_str!("../../../docs/plan.md");
        for state in Engine::ALL.iter().flat_map(|engine| engine.dialect().session_states) {
            let level = if state.is_wrong { "error" } else { "warning" };
            let row = format!("| {} | {level} | {} | {} |", state.name, state.consequence, state.help);
            assert!(document.contains(&row), "docs/plan.md lacks the row\n{row}");
        }
    }

    #[test]
    fn each_kind_of_state_is_found_once_a_script() {
        let text = "LISTEN a;\nLISTEN b;\nSET ROLE a;\nLISTEN c;";
        assert_eq!(names(text, Engine::PostgreSql), [("LISTEN", 1), ("SET of schema or role", 3)]);
    }

    #[test]
    fn session_state_of_other_databases_is_unknown() {
        assert_eq!(names("CREATE TEMPORARY TABLE t (a int);\nSET @a = 1;", Engine::MySql), []);
    }
}
