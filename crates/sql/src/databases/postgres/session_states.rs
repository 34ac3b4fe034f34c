//! State that PostgreSQL keeps in a connection from one transaction to the next.

use crate::session_state::SessionState;
use crate::split::Word;

/// Kinds of session state that a statement of a script can create or need.
pub(super) const SESSION_STATES: &[SessionState] = &[
    SessionState {
        name: "a temporary table",
        consequence: "it is missing in the next transaction, or belongs to another client",
        help: "create it with ON COMMIT DROP in the transaction that uses it",
        is_wrong: true,
        begins: |words, _| makes_temporary(words) && !has(words, &["ON", "COMMIT", "DROP"]),
        ends: |words| first_is(words, "DROP") || first_is(words, "DISCARD"),
    },
    SessionState {
        name: "SET of schema or role",
        consequence: "transactions of other clients run with it, and the script's own may not",
        help: "write SET LOCAL in the transaction that needs it",
        is_wrong: true,
        begins: |words, _| names_set(words).is_some_and(|name| is_any(name, CHANGING_OBJECTS)),
        ends: resets,
    },
    SessionState {
        name: "SET without LOCAL",
        consequence: "transactions of other clients run with it, and the script's own may not",
        help: "write SET LOCAL in the transaction that needs it",
        is_wrong: false,
        begins: |words, _| {
            let is_set = names_set(words)
                .is_some_and(|name| !is_any(name, CHANGING_OBJECTS) && !is_any(name, TRACKED));
            is_set || calls(words, &["SET_CONFIG"]) && !words.iter().any(|word| word.is("TRUE"))
        },
        ends: resets,
    },
    SessionState {
        name: "a session advisory lock",
        consequence: "the next client of the server connection has it, too, and an unlock may go to another connection",
        help: "take pg_advisory_xact_lock",
        is_wrong: true,
        begins: |words, _| calls(words, ADVISORY_LOCKS),
        ends: |words| {
            calls(words, &["PG_ADVISORY_UNLOCK", "PG_ADVISORY_UNLOCK_SHARED", "PG_ADVISORY_UNLOCK_ALL"])
        },
    },
    SessionState {
        name: "a cursor WITH HOLD",
        consequence: "the next FETCH does not find it, or reads the rows of another client",
        help: "leave out WITH HOLD, and read it in its transaction",
        is_wrong: true,
        begins: |words, _| first_is(words, "DECLARE") && has(words, &["WITH", "HOLD"]),
        ends: |words| first_is(words, "CLOSE"),
    },
    SessionState {
        name: "PREPARE or EXECUTE",
        consequence: "the statement is missing in the next transaction, or is one of another client",
        help: "leave PREPARE to the pooler: write the statement itself with `-M extended` (`mode: extended` in a plan)",
        is_wrong: true,
        begins: |words, _| {
            let is_prepare = first_is(words, "PREPARE") && !has(words, &["PREPARE", "TRANSACTION"]);
            is_prepare || first_is(words, "EXECUTE")
        },
        ends: |words| first_is(words, "DEALLOCATE"),
    },
    SessionState {
        name: "currval or lastval",
        consequence: "the value may be that of another client",
        help: "write RETURNING, or put it into the transaction that draws the value",
        is_wrong: true,
        begins: |words, is_first| is_first && calls(words, &["CURRVAL", "LASTVAL"]),
        ends: |_| false,
    },
    SessionState {
        name: "LISTEN",
        consequence: "notifications go to another client or to none",
        help: "listen over a connection past the pooler",
        is_wrong: false,
        begins: |words, _| first_is(words, "LISTEN"),
        ends: |words| first_is(words, "UNLISTEN"),
    },
];

/// Settings that change which objects a statement means, or as whom it runs.
const CHANGING_OBJECTS: &[&str] = &["AUTHORIZATION", "ROLE", "SCHEMA", "SEARCH_PATH"];

/// Settings that poolers keep for each client, because the server reports every change of them.
const TRACKED: &[&str] = &[
    "APPLICATION_NAME",
    "CLIENT_ENCODING",
    "DATESTYLE",
    "NAMES",
    "STANDARD_CONFORMING_STRINGS",
    "TIME",
    "TIMEZONE",
];

const ADVISORY_LOCKS: &[&str] =
    &["PG_ADVISORY_LOCK", "PG_ADVISORY_LOCK_SHARED", "PG_TRY_ADVISORY_LOCK", "PG_TRY_ADVISORY_LOCK_SHARED"];

fn first_is(words: &[Word<'_>], word: &str) -> bool {
    words.first().is_some_and(|first| first.is(word))
}

fn is_any(word: Word<'_>, list: &[&str]) -> bool {
    list.iter().any(|listed| word.is(listed))
}

/// Whether these words occur in sequence.
fn has(words: &[Word<'_>], sought: &[&str]) -> bool {
    words.windows(sought.len()).any(|window| window.iter().zip(sought).all(|(word, sought)| word.is(sought)))
}

fn calls(words: &[Word<'_>], functions: &[&str]) -> bool {
    words.iter().any(|word| word.is_call && is_any(*word, functions))
}

fn makes_temporary(words: &[Word<'_>]) -> bool {
    let is_temporary = |word: &Word<'_>| is_any(*word, &["TEMP", "TEMPORARY"]);
    let of_create = words.iter().skip(1).take_while(|word| !is_any(**word, &["TABLE", "VIEW", "SEQUENCE"]));
    let is_made = first_is(words, "CREATE")
        && (of_create.take(4).any(is_temporary) || words.iter().take(8).any(|word| word.is("PG_TEMP")));
    is_made || words.windows(2).any(|pair| pair[0].is("INTO") && is_temporary(&pair[1]))
}

/// Name of the setting that a SET changes beyond its transaction.
fn names_set<'a>(words: &[Word<'a>]) -> Option<Word<'a>> {
    let [set, first, rest @ ..] = words else { return None };
    if !set.is("SET") || is_any(*first, &["LOCAL", "TRANSACTION", "CONSTRAINTS"]) {
        return None;
    }
    if first.is("SESSION") { rest.first().copied() } else { Some(*first) }
}

fn resets(words: &[Word<'_>]) -> bool {
    first_is(words, "RESET") || first_is(words, "DISCARD")
}
