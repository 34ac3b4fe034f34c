//! What a statement may do to its transaction, as far as its text tells: whether a lost answer leaves anything in doubt.

use script::{Placeholders, Statement, StatementKind};

use crate::engine::Engine;
use crate::split::split;

/// What a text does, sent outside of a transaction or inside of one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Effect {
    outside: Way,
    inside: Way,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Way {
    may_commit: bool,
    is_open_after: bool,
}

impl Effect {
    pub(crate) fn of(statement: &Statement, engine: Engine) -> Self {
        let text = statement.extended(Placeholders::Question);
        let pieces = split(&text);
        let kinds: Vec<StatementKind> = match pieces.as_slice() {
            [only] => vec![commits_by_itself(only, engine).unwrap_or(statement.kind())],
            pieces => pieces.iter().map(|piece| kind(piece, engine)).collect(),
        };
        let way = |mut is_open: bool| {
            let mut may_commit = false;
            for kind in &kinds {
                match kind {
                    StatementKind::Begin => is_open = true,
                    StatementKind::Commit => (may_commit, is_open) = (true, false),
                    StatementKind::Rollback => is_open = false,
                    StatementKind::Read => {}
                    StatementKind::Other => may_commit |= !is_open,
                }
            }
            Way { may_commit, is_open_after: is_open }
        };
        Self { outside: way(false), inside: way(true) }
    }

    /// Whether something may be committed by it.
    pub(crate) fn may_commit(self, is_inside: bool) -> bool {
        self.way(is_inside).may_commit
    }

    /// Whether a transaction is open after it.
    pub(crate) fn is_open_after(self, is_inside: bool) -> bool {
        self.way(is_inside).is_open_after
    }

    fn way(self, is_inside: bool) -> Way {
        if is_inside { self.inside } else { self.outside }
    }
}

/// Statements before which MySQL commits whatever is open, and procedures that may commit.
const COMMITTING: [&str; 10] =
    ["ALTER", "ANALYZE", "CALL", "CREATE", "DROP", "GRANT", "LOCK", "RENAME", "REVOKE", "TRUNCATE"];

fn commits_by_itself(piece: &str, engine: Engine) -> Option<StatementKind> {
    let word = first_word(piece);
    let does = engine == Engine::MySql && COMMITTING.iter().any(|name| word.eq_ignore_ascii_case(name));
    does.then_some(StatementKind::Commit)
}

/// One of several statements of a text.
fn kind(piece: &str, engine: Engine) -> StatementKind {
    let word = first_word(piece).to_ascii_uppercase();
    match word.as_str() {
        "" => StatementKind::Read,
        "BEGIN" | "START" => StatementKind::Begin,
        "COMMIT" | "END" => StatementKind::Commit,
        "ROLLBACK" | "ABORT" => StatementKind::Rollback,
        "SHOW" | "VALUES" | "SET" => StatementKind::Read,
        "SELECT" if !piece.to_ascii_uppercase().contains("INTO") => StatementKind::Read,
        _ => commits_by_itself(piece, engine).unwrap_or(StatementKind::Other),
    }
}

fn first_word(mut piece: &str) -> &str {
    loop {
        piece = piece.trim_start();
        let comment_end = if piece.starts_with("--") {
            piece.find('\n')
        } else if piece.starts_with("/*") {
            piece.find("*/").map(|at| at + 1)
        } else {
            break;
        };
        let Some(end) = comment_end else { return "" };
        piece = &piece[end + 1..];
    }
    let end = piece.find(|letter: char| !letter.is_ascii_alphabetic()).unwrap_or(piece.len());
    &piece[..end]
}

#[cfg(test)]
mod tests {
    use script::{Allow, Deck, Language};

    use super::*;

    fn effect(text: &str, engine: Engine) -> Effect {
        let mut deck = Deck::new();
        deck.add("test", text.as_bytes(), Language::Pgbench, Allow::Nothing).unwrap();
        Effect::of(&deck.statements()[0], engine)
    }

    #[test]
    fn doubt_begins_with_a_commit_or_a_write_of_its_own() {
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
        ] {
            let effect = effect(text, Engine::PostgreSql);
            assert_eq!((effect.may_commit(false), effect.may_commit(true)), (outside, inside), "{text}");
        }
    }

    #[test]
    fn mysql_commits_before_it_creates() {
        assert!(effect("CREATE TABLE t (a int)", Engine::MySql).may_commit(true));
        assert!(!effect("UPDATE t SET a = 1", Engine::MySql).may_commit(true));
    }

    #[test]
    fn what_is_open_afterwards_is_known() {
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
    fn the_first_word_comes_after_comments() {
        assert_eq!(first_word("/* c */ -- d\n begin;"), "begin");
        assert_eq!(first_word("-- nothing else"), "");
    }
}
