//! Classes of server errors, and which of them are retried.

use wire::sql::{ServerError, SqlState};
use wire::{ErrorClass, Rejection};

use crate::databases::Engine;

/// Additional condition for retrying a rejected transaction. `serialization_failure` and `deadlock` are always retried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Retry {
    /// Class of errors.
    Class(ErrorClass),
    /// SQLSTATE.
    State([u8; 5]),
    /// Vendor-specific error number.
    Number(u16),
}

impl Retry {
    /// True if the condition matches an error of this class.
    pub fn applies_to(self, class: ErrorClass, error: &ServerError) -> bool {
        match self {
            Retry::Class(meant) => meant == class,
            Retry::State(state) => state == error.sqlstate.0,
            Retry::Number(number) => number == error.number && number != 0,
        }
    }
}

/// True if a transaction rejected with an error of this class may succeed on a retry.
pub fn is_retryable(class: ErrorClass) -> bool {
    matches!(class, ErrorClass::SerializationFailure | ErrorClass::Deadlock)
}

/// Refusal that corresponds to a server error. Its code is the SQLSTATE, or the vendor-specific number if that is more precise.
pub fn rejection(engine: Engine, error: &ServerError) -> Rejection {
    let dialect = engine.dialect();
    let class = (dialect.vendor_class)(error).unwrap_or_else(|| of_state(error.sqlstate));
    let is_vague = !dialect.has_sqlstates || matches!(&error.sqlstate.0, b"HY000" | b"00000");
    let code = if is_vague && error.number != 0 { u32::from(error.number) } else { error.sqlstate.code() };
    Rejection { class, code }
}

/// True if the server reports that it does not know the outcome of the transaction itself: `statement_completion_unknown` or
/// `transaction_resolution_unknown`.
pub(crate) fn has_unknown_outcome(error: &ServerError) -> bool {
    matches!(&error.sqlstate.0, b"40003" | b"08007")
}

/// SQLSTATEs of an error class.
struct Codes {
    class: ErrorClass,
    /// SQLSTATEs with five characters, and SQLSTATE classes with two.
    states: &'static [&'static str],
}

/// All SQLSTATEs with a class, grouped by the action that they call for. All others are `sql_error`.
const CODES: &[Codes] = &[
    Codes { class: ErrorClass::SerializationFailure, states: &["40001"] },
    Codes { class: ErrorClass::Deadlock, states: &["40P01"] },
    Codes { class: ErrorClass::LockTimeout, states: &["55P03"] },
    Codes { class: ErrorClass::Constraint, states: &["23"] },
    Codes { class: ErrorClass::TooManyConnections, states: &["53300"] },
    Codes { class: ErrorClass::OutOfResources, states: &["53"] },
    Codes { class: ErrorClass::LimitReached, states: &["53400", "54"] },
    Codes { class: ErrorClass::Canceled, states: &["57014"] },
    Codes { class: ErrorClass::ReadOnly, states: &["25006"] },
    Codes { class: ErrorClass::ServerShutdown, states: &["57P01", "57P02", "57P03"] },
    Codes { class: ErrorClass::IdleTimeout, states: &["25P03", "57P05"] },
    Codes { class: ErrorClass::Corrupted, states: &["XX001", "XX002"] },
    Codes {
        class: ErrorClass::MissingObject,
        states: &["3D000", "3F000", "42P01", "42703", "42704", "42883", "42S02", "42S12", "42S22"],
    },
    Codes {
        class: ErrorClass::ObjectExists,
        states: &["42P04", "42P06", "42P07", "42701", "42710", "42723", "42S01", "42S11", "42S21"],
    },
    Codes { class: ErrorClass::MissingPrivilege, states: &["42501", "28", "0L", "0P"] },
    Codes { class: ErrorClass::PreparedStatement, states: &["26000", "42P05"] },
    Codes { class: ErrorClass::PoolerRejected, states: &["08"] },
    Codes { class: ErrorClass::BadStatement, states: &["42"] },
];

/// Class of a SQLSTATE: by its five characters if they are listed, otherwise by the first two.
fn of_state(state: SqlState) -> ErrorClass {
    let class_of = |listed: &[u8]| {
        CODES.iter().find(|codes| codes.states.iter().any(|state| state.as_bytes() == listed))
    };
    let codes = class_of(&state.0).or_else(|| class_of(&state.0[..2]));
    codes.map_or(ErrorClass::SqlError, |codes| codes.class)
}

/// Description of an error: SQLSTATE, vendor-specific number if there is one, and text. SQLite has only numbers.
pub fn words(engine: Engine, error: &ServerError) -> String {
    match (engine.dialect().has_sqlstates, error.number) {
        (false, number) => format!("{number}: {}", error.text),
        (_, 0) => format!("{}: {}", error.sqlstate.as_str(), error.text),
        (_, number) => format!("{} ({number}): {}", error.sqlstate.as_str(), error.text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(sqlstate: &[u8], number: u16) -> ServerError {
        ServerError { sqlstate: SqlState::new(sqlstate), number, ..ServerError::default() }
    }

    #[test]
    fn sqlstates_map_to_error_classes() {
        for (state, number, class) in [
            ("40001", 0, "serialization_failure"),
            ("40P01", 0, "deadlock"),
            ("40001", 1213, "deadlock"),
            ("HY000", 1020, "serialization_failure"),
            ("HY000", 1205, "lock_timeout"),
            ("55P03", 0, "lock_timeout"),
            ("23505", 0, "constraint"),
            ("23000", 1062, "constraint"),
            ("53300", 0, "too_many_connections"),
            ("08004", 1040, "too_many_connections"),
            ("53100", 0, "out_of_resources"),
            ("57014", 0, "canceled"),
            ("70100", 1317, "canceled"),
            ("HY000", 3024, "canceled"),
            ("25006", 0, "read_only"),
            ("HY000", 1290, "read_only"),
            ("42601", 0, "bad_statement"),
            ("42000", 1064, "bad_statement"),
            ("42000", 1055, "bad_statement"),
            ("42S02", 1146, "missing_object"),
            ("42P01", 0, "missing_object"),
            ("42703", 0, "missing_object"),
            ("42000", 1305, "missing_object"),
            ("3D000", 0, "missing_object"),
            ("42P07", 0, "object_exists"),
            ("42S01", 1050, "object_exists"),
            ("42501", 0, "missing_privilege"),
            ("42000", 1142, "missing_privilege"),
            ("42000", 1227, "missing_privilege"),
            ("42000", 1461, "limit_reached"),
            ("42000", 1226, "limit_reached"),
            ("54001", 0, "limit_reached"),
            ("53400", 0, "limit_reached"),
            ("42P05", 0, "prepared_statement"),
            ("26000", 0, "prepared_statement"),
            ("HY000", 1243, "prepared_statement"),
            ("08P01", 0, "pooler_rejected"),
            ("57P01", 0, "server_shutdown"),
            ("57P03", 0, "server_shutdown"),
            ("25P03", 0, "idle_timeout"),
            ("57P05", 0, "idle_timeout"),
            ("XX001", 0, "corrupted"),
            ("XX002", 0, "corrupted"),
            ("HY000", 1034, "corrupted"),
            ("HY000", 1194, "corrupted"),
            ("HY000", 1195, "corrupted"),
            ("08S01", 1053, "server_shutdown"),
            ("70100", 1927, "server_shutdown"),
            ("08S01", 1080, "server_shutdown"),
            ("HY000", 4031, "idle_timeout"),
            ("22012", 0, "sql_error"),
            ("nonsense", 0, "sql_error"),
        ] {
            let engine = if number == 0 { Engine::PostgreSql } else { Engine::MySql };
            assert_eq!(
                rejection(engine, &error(state.as_bytes(), number)).class.name(),
                class,
                "{state} {number}"
            );
        }
    }

    #[test]
    fn sqlstates_are_listed_once() {
        let states: Vec<&str> = CODES.iter().flat_map(|codes| codes.states).copied().collect();
        for (place, state) in states.iter().enumerate() {
            assert!(matches!(state.len(), 2 | 5) && !states[..place].contains(state), "{state}");
        }
    }

    #[test]
    fn limit_and_privilege_errors_are_no_syntax_errors() {
        for (state, number) in [("42000", 1461), ("42000", 1226), ("42P05", 0), ("26000", 0), ("42501", 0)] {
            let engine = if number == 0 { Engine::PostgreSql } else { Engine::MySql };
            let help = rejection(engine, &error(state.as_bytes(), number)).class.help();
            let is_of_statement =
                ["correct the statement", "create"].iter().any(|words| help.contains(words));
            assert!(!is_of_statement, "{state} {number}: {help}");
        }
    }

    #[test]
    fn vague_sqlstates_are_classified_by_number() {
        let code = |engine, state: &[u8], number| rejection(engine, &error(state, number)).code;
        assert_eq!(code(Engine::MySql, b"HY000", 1205), 1205);
        assert_eq!(code(Engine::MySql, b"40001", 1213), SqlState(*b"40001").code());
        assert_eq!(code(Engine::PostgreSql, b"40P01", 0), SqlState(*b"40P01").code());
        assert_eq!(code(Engine::Sqlite, b"23505", 2067), 2067);
    }

    #[test]
    fn conflict_without_specific_number_is_recognized_by_its_text() {
        let conflict =
            "this transaction conflicts with a committed transaction from another client, please retry";
        for (text, class) in [
            (conflict, ErrorClass::SerializationFailure),
            ("unsupported syntax: analyze table t", ErrorClass::SqlError),
        ] {
            let error = ServerError { text: text.to_owned(), ..error(b"HY000", 1105) };
            assert_eq!(rejection(Engine::MySql, &error).class, class, "{text}");
        }
        let other = ServerError { text: conflict.to_owned(), ..error(b"23000", 1062) };
        assert_eq!(rejection(Engine::MySql, &other).class, ErrorClass::Constraint);
    }

    #[test]
    fn error_numbers_are_vendor_specific() {
        assert_eq!(rejection(Engine::Sqlite, &error(b"58030", 1290)).class, ErrorClass::SqlError);
    }

    #[test]
    fn description_has_sqlstate_and_number() {
        let text = "deadlock detected".to_owned();
        let error = ServerError { text, ..error(b"40P01", 0) };
        assert_eq!(words(Engine::PostgreSql, &error), "40P01: deadlock detected");
        let error = ServerError { number: 1213, ..error };
        assert_eq!(words(Engine::MySql, &error), "40P01 (1213): deadlock detected");
        assert_eq!(words(Engine::Sqlite, &error), "1213: deadlock detected");
    }
}
