//! Effect of a statement on its transaction, judged by its text: decides if a lost reply leaves a commit in doubt.

use crate::script::{Placeholders, Statement, StatementKind};

use crate::databases::Engine;
use crate::split::{Word, split, words};

/// Effect of a text outside and inside of a transaction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Effect {
    outside: TransactionEffect,
    inside: TransactionEffect,
    /// True if it requests a rollback, including one to a savepoint.
    rolls_back: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct TransactionEffect {
    may_commit: bool,
    is_open_after: bool,
}

impl Effect {
    pub(crate) fn of(statement: &Statement, engine: Engine) -> Self {
        let text = statement.extended(Placeholders::Question);
        let pieces = split(&text, engine);
        let is_rollback = |piece: &&str| {
            words(piece, engine).first().is_some_and(|word| word.is("ROLLBACK") || word.is("ABORT"))
        };
        let rolls_back = pieces.iter().any(is_rollback);
        let kinds: Vec<StatementKind> = pieces.into_iter().map(|piece| kind(piece, engine)).collect();
        let effect_within = |mut is_open: bool| {
            let mut may_commit = false;
            for kind in &kinds {
                match kind {
                    StatementKind::Begin => {
                        may_commit |= is_open && engine.dialect().commits_implicitly;
                        is_open = true;
                    }
                    StatementKind::Commit => (may_commit, is_open) = (true, false),
                    StatementKind::Rollback => is_open = false,
                    StatementKind::Read => {}
                    StatementKind::Other => may_commit |= !is_open,
                }
            }
            TransactionEffect { may_commit, is_open_after: is_open }
        };
        Self { outside: effect_within(false), inside: effect_within(true), rolls_back }
    }

    /// True if it requests a rollback, including one to a savepoint.
    pub(crate) fn rolls_back(self) -> bool {
        self.rolls_back
    }

    /// True if it may commit something.
    pub(crate) fn may_commit(self, is_inside: bool) -> bool {
        self.effect_within(is_inside).may_commit
    }

    /// True if a transaction is open afterwards.
    pub(crate) fn is_open_after(self, is_inside: bool) -> bool {
        self.effect_within(is_inside).is_open_after
    }

    fn effect_within(self, is_inside: bool) -> TransactionEffect {
        if is_inside { self.inside } else { self.outside }
    }
}

/// Statements before which MySQL commits implicitly, and calls of procedures, which may commit.
const IMPLICITLY_COMMITTING: &str = "ALTER ANALYZE CACHE CALL CHANGE CHECK CREATE DROP FLUSH GRANT INSTALL LOCK OPTIMIZE RENAME \
    REPAIR RESET REVOKE STOP TRUNCATE UNINSTALL";

/// Words before a parenthesis in a SELECT without side effects: keywords, types, and well-known functions. Any other function may
/// have side effects.
const SIDE_EFFECT_FREE: &str = "ABS ALL AND ANY ARRAY ARRAY_AGG AS AVG BETWEEN BY CASE CAST CEIL CHAR CHAR_LENGTH COALESCE CONCAT \
    CONVERT COUNT CURRENT_TIMESTAMP DATE DATE_TRUNC DECIMAL DENSE_RANK DISTINCT ELSE EXCEPT EXISTS EXTRACT \
    FILTER FLOOR FROM GENERATE_SERIES GREATEST GROUP GROUP_CONCAT HAVING IF IFNULL IN INDEX INTERSECT \
    INTERVAL IS JOIN JSONB_AGG JSON_AGG LAG LATERAL LEAD LEAST LEFT LENGTH LIKE LIMIT LOWER MAX MD5 MIN MOD \
    NOT NOW NULLIF NUMERIC OFFSET ON OR OVER PG_SLEEP POSITION RAND RANDOM RANK REPLACE RIGHT ROUND ROW \
    ROW_NUMBER SELECT SLEEP SOME STRING_AGG SUBSTR SUBSTRING SUM THEN TIMESTAMP TRIM UNION UPPER USING \
    VALUES VARCHAR WHEN WHERE WITHIN";

fn is_among(words: &str, word: &str) -> bool {
    words.split(' ').any(|known| known.eq_ignore_ascii_case(word))
}

/// Kind of one statement in a text of several.
fn kind(piece: &str, engine: Engine) -> StatementKind {
    let dialect = engine.dialect();
    let words = words(piece, engine);
    let [first, rest @ ..] = words.as_slice() else { return StatementKind::Read };
    let second = rest.first().map_or(String::new(), |word| word.text.to_ascii_uppercase());
    match (first.text.to_ascii_uppercase().as_str(), second.as_str()) {
        ("BEGIN", _) | ("START", "TRANSACTION") | ("XA", "BEGIN" | "START") => StatementKind::Begin,
        ("START", _) if dialect.commits_implicitly => StatementKind::Commit,
        ("COMMIT" | "END", _) | ("PREPARE", "TRANSACTION") | ("XA", "COMMIT" | "PREPARE") => {
            StatementKind::Commit
        }
        ("RELEASE", _) if dialect.release_commits => StatementKind::Commit,
        ("ROLLBACK", _) if rest.iter().take(2).any(|word| word.is("TO")) => StatementKind::Read,
        ("ROLLBACK" | "ABORT", _) | ("XA", "ROLLBACK") => StatementKind::Rollback,
        ("SET", _)
            if dialect.commits_implicitly
                && rest.iter().any(|word| word.is("AUTOCOMMIT") || word.is("PASSWORD")) =>
        {
            StatementKind::Commit
        }
        ("SELECT" | "SET" | "SHOW" | "TABLE" | "VALUES", _) if only_reads(rest) => StatementKind::Read,
        (word, _) if dialect.commits_implicitly && is_among(IMPLICITLY_COMMITTING, word) => {
            StatementKind::Commit
        }
        _ => StatementKind::Other,
    }
}

/// Statements that change no more than the state of their session.
const SESSION_STATEMENTS: &str =
    "CLOSE DEALLOCATE DESC DESCRIBE DISCARD FETCH LISTEN RELEASE RESET SAVEPOINT UNLISTEN USE";

/// True if a statement may store something, judged by its text. The end of a transaction stores nothing by itself.
pub fn may_write(statement: &Statement, engine: Engine) -> bool {
    let text = statement.extended(Placeholders::Question);
    split(&text, engine).into_iter().any(|piece| may_store(piece, engine))
}

/// True if a text of statements may store data. Statements that only change the state of their session do not.
pub fn text_may_write(text: &str, engine: Engine) -> bool {
    // RESET of MySQL affects more than the session: it removes logs.
    let is_change = |word: &str| engine.dialect().commits_implicitly && is_among(IMPLICITLY_COMMITTING, word);
    let is_of_session = |piece: &str| {
        let words = words(piece, engine);
        words.first().is_some_and(|word| is_among(SESSION_STATEMENTS, word.text) && !is_change(word.text))
    };
    split(text, engine).into_iter().any(|piece| may_store(piece, engine) && !is_of_session(piece))
}

fn may_store(piece: &str, engine: Engine) -> bool {
    let is_change =
        || words(piece, engine).first().is_some_and(|word| is_among(IMPLICITLY_COMMITTING, word.text));
    kind(piece, engine) == StatementKind::Other || is_change()
}

/// True if the words after the first one store nothing, lock nothing, and call no unknown function.
fn only_reads(words: &[Word<'_>]) -> bool {
    let locks = |pair: &[Word<'_>]| {
        pair[0].is("FOR") && ["KEY", "NO", "SHARE", "UPDATE"].iter().any(|known| pair[1].is(known))
            || pair[0].is("LOCK") && pair[1].is("IN")
    };
    let may_do_anything = |word: &Word<'_>| word.is_call && !is_among(SIDE_EFFECT_FREE, word.text);
    !words.iter().any(|word| word.is("INTO") || may_do_anything(word)) && !words.windows(2).any(locks)
}

#[cfg(test)]
mod tests {
    use crate::script::{Allow, Language, ScriptSet};

    use super::*;

    fn effect(text: &str, engine: Engine) -> Effect {
        let mut all_scripts = ScriptSet::new();
        all_scripts.add("test", text.as_bytes(), Language::Pgbench, Allow::Nothing).unwrap();
        Effect::of(&all_scripts.statements()[0], engine)
    }

    #[test]
    fn commit_or_autocommitted_write_causes_doubt() {
        for (text, outside, inside) in [
            ("BEGIN", false, false),
            ("COMMIT", true, true),
            ("end", true, true),
            ("ROLLBACK", false, false),
            ("SELECT 1", false, false),
            ("UPDATE t SET a = 1", true, false),
            ("SELECT 1 FOR UPDATE", true, false),
            (r"BEGIN \; UPDATE t SET a = 1", false, false),
            (r"BEGIN \; UPDATE t SET a = 1 \; COMMIT", true, true),
            (r"COMMIT \; BEGIN", true, true),
            (r"SELECT ';COMMIT' \; SELECT 2", false, false),
            (r"SELECT 1 \; DELETE FROM t", true, false),
            (r"BEGIN \; UPDATE t SET a = 1 \; ROLLBACK", false, false),
            ("CREATE TABLE t (a int)", true, false),
            ("SELECT count(*), sum(a) FROM t WHERE a IN (1, 2)", false, false),
            ("SELECT add_order(5)", true, false),
            (r#"SELECT "add order" (5)"#, true, false),
            ("SELECT add_order (5) \\; SELECT 1", true, false),
            ("WITH a AS (DELETE FROM t RETURNING b) SELECT b FROM a", true, false),
            ("EXPLAIN ANALYZE DELETE FROM t", true, false),
            ("DO 'BEGIN DELETE FROM t; END'", true, false),
            ("CALL p()", true, false),
            ("SET search_path = a", false, false),
            ("SELECT key, share FROM t", false, false),
            ("SELECT 1 FROM t \\; SELECT 2 FROM t FOR UPDATE", true, false),
            ("PREPARE TRANSACTION 'a'", true, true),
            ("COMMIT PREPARED 'a'", true, true),
            (r"BEGIN \; SAVEPOINT a \; ROLLBACK TO SAVEPOINT a \; DELETE FROM t", false, false),
            (r"SELECT E'\'; COMMIT; '", false, false),
        ] {
            let effect = effect(text, Engine::PostgreSql);
            assert_eq!((effect.may_commit(false), effect.may_commit(true)), (outside, inside), "{text}");
        }
    }

    #[test]
    fn commit_alone_writes_nothing() {
        for (text, writes) in [
            (r"BEGIN \; SELECT 1 \; COMMIT", false),
            ("SELECT abalance FROM pgbench_accounts WHERE aid = 1", false),
            ("COMMIT", false),
            (r"BEGIN \; UPDATE t SET a = 1 \; COMMIT", true),
            ("INSERT INTO t VALUES (1)", true),
            ("DELETE FROM t", true),
            ("CREATE TABLE t (a int)", true),
            ("SELECT add_order(5)", true),
            ("SELECT 1 FOR UPDATE", true),
        ] {
            for engine in [Engine::PostgreSql, Engine::MySql] {
                let mut all_scripts = ScriptSet::new();
                all_scripts.add("test", text.as_bytes(), Language::Pgbench, Allow::Nothing).unwrap();
                assert_eq!(may_write(&all_scripts.statements()[0], engine), writes, "{text} {engine:?}");
            }
        }
    }

    #[test]
    fn mysql_commits_implicitly() {
        for (text, outside, inside) in [
            ("CREATE TABLE t (a int)", true, true),
            ("UPDATE t SET a = 1", true, false),
            ("BEGIN", false, true),
            ("START TRANSACTION", false, true),
            ("START REPLICA", true, true),
            ("SET autocommit = 1", true, true),
            ("SET @a = 1", false, false),
            ("OPTIMIZE TABLE t", true, true),
            ("CALL p()", true, true),
            ("XA START 'a'", false, true),
            ("XA COMMIT 'a'", true, true),
            ("XA ROLLBACK 'a'", false, false),
        ] {
            let effect = effect(text, Engine::MySql);
            assert_eq!((effect.may_commit(false), effect.may_commit(true)), (outside, inside), "{text}");
        }
    }

    #[test]
    fn open_transaction_is_tracked() {
        for (text, outside, inside) in
            [("BEGIN", true, true), ("COMMIT", false, false), ("UPDATE t SET a = 1", false, true)]
        {
            let effect = effect(text, Engine::PostgreSql);
            assert_eq!(
                (effect.is_open_after(false), effect.is_open_after(true)),
                (outside, inside),
                "{text}"
            );
        }
    }

    #[test]
    fn comments_are_ignored() {
        assert_eq!(kind("/* c */ -- d\n begin;", Engine::PostgreSql), StatementKind::Begin);
        assert_eq!(kind("-- commit", Engine::PostgreSql), StatementKind::Read);
        assert_eq!(kind("(SELECT 1)", Engine::PostgreSql), StatementKind::Read);
    }
}
