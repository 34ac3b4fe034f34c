//! The words for what a server refused, and which refusals are worth another try.

use wire::sql::{ServerError, SqlState};
use wire::{ErrorClass, Refusal};

use crate::engine::Engine;

/// After which refusal a transaction is tried again, besides `serialization_failure` and `deadlock`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Retry {
    /// A class of refusals.
    Class(ErrorClass),
    /// A SQLSTATE.
    State([u8; 5]),
    /// A server's own number.
    Number(u16),
}

impl Retry {
    /// Whether an error of this class is meant.
    pub fn means(self, class: ErrorClass, error: &ServerError) -> bool {
        match self {
            Retry::Class(meant) => meant == class,
            Retry::State(state) => state == error.sqlstate.0,
            Retry::Number(number) => number == error.number && number != 0,
        }
    }
}

/// Whether a transaction that was refused so can succeed if it is tried again.
pub(crate) fn is_retryable(class: ErrorClass) -> bool {
    matches!(class, ErrorClass::SerializationFailure | ErrorClass::Deadlock)
}

/// The refusal that an error amounts to. Its code is the SQLSTATE's, or the server's own number where that is more telling.
pub fn refusal(engine: Engine, error: &ServerError) -> Refusal {
    let dialect = engine.dialect();
    let class = (dialect.class_of_number)(error.number).unwrap_or_else(|| of_state(error.sqlstate));
    let is_vague = !dialect.has_sqlstates || matches!(&error.sqlstate.0, b"HY000" | b"00000");
    let code = if is_vague && error.number != 0 { u32::from(error.number) } else { error.sqlstate.code() };
    Refusal { class, code }
}

/// Whether an error says that the server itself does not know what became of the transaction: `statement_completion_unknown`
/// and `transaction_resolution_unknown`.
pub(crate) fn leaves_doubt(error: &ServerError) -> bool {
    matches!(&error.sqlstate.0, b"40003" | b"08007")
}

/// MySQL's and MariaDB's numbers come first: their SQLSTATEs are often vague, and that of a deadlock is another thing's.
pub(crate) fn of_mysql(number: u16) -> Option<ErrorClass> {
    Some(match number {
        1020 => ErrorClass::SerializationFailure,
        1040 | 1203 => ErrorClass::TooManyConnections,
        1033..=1035 | 1194 | 1195 | 1712 | 1877 => ErrorClass::Corrupted,
        1053 | 1077 | 1079 | 1080 | 1927 => ErrorClass::ServerShutdown,
        4031 => ErrorClass::IdleTimeout,
        1205 => ErrorClass::LockTimeout,
        1213 => ErrorClass::Deadlock,
        1290 | 1792 | 1836 => ErrorClass::ReadOnly,
        1317 | 1969 | 3024 => ErrorClass::Canceled,
        1037 | 1038 | 1041 | 1114 => ErrorClass::OutOfResources,
        _ => return None,
    })
}

fn of_state(state: SqlState) -> ErrorClass {
    match &state.0 {
        b"40001" => ErrorClass::SerializationFailure,
        b"40P01" => ErrorClass::Deadlock,
        b"55P03" => ErrorClass::LockTimeout,
        b"53300" => ErrorClass::TooManyConnections,
        b"57014" => ErrorClass::Canceled,
        b"25006" => ErrorClass::ReadOnly,
        b"57P01" | b"57P02" | b"57P03" => ErrorClass::ServerShutdown,
        b"25P03" | b"57P05" => ErrorClass::IdleTimeout,
        b"XX001" | b"XX002" => ErrorClass::Corrupted,
        [b'2', b'3', ..] => ErrorClass::Constraint,
        [b'5', b'3', ..] => ErrorClass::OutOfResources,
        [b'4', b'2', ..] => ErrorClass::BadStatement,
        _ => ErrorClass::SqlError,
    }
}

/// The words for an error: its SQLSTATE, the server's own number if it has one, and its text. SQLite has numbers only.
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
    fn every_error_has_a_word() {
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
            ("42S02", 1146, "bad_statement"),
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
                refusal(engine, &error(state.as_bytes(), number)).class.name(),
                class,
                "{state} {number}"
            );
        }
    }

    #[test]
    fn vague_states_are_told_apart_by_number() {
        let code = |engine, state: &[u8], number| refusal(engine, &error(state, number)).code;
        assert_eq!(code(Engine::MySql, b"HY000", 1205), 1205);
        assert_eq!(code(Engine::MySql, b"40001", 1213), SqlState(*b"40001").code());
        assert_eq!(code(Engine::PostgreSql, b"40P01", 0), SqlState(*b"40P01").code());
        assert_eq!(code(Engine::Sqlite, b"23505", 2067), 2067);
    }

    #[test]
    fn numbers_mean_something_else_elsewhere() {
        assert_eq!(refusal(Engine::Sqlite, &error(b"58030", 1290)).class, ErrorClass::SqlError);
    }

    #[test]
    fn words_name_state_and_number() {
        let text = "deadlock detected".to_owned();
        let error = ServerError { text, ..error(b"40P01", 0) };
        assert_eq!(words(Engine::PostgreSql, &error), "40P01: deadlock detected");
        let error = ServerError { number: 1213, ..error };
        assert_eq!(words(Engine::MySql, &error), "40P01 (1213): deadlock detected");
        assert_eq!(words(Engine::Sqlite, &error), "1213: deadlock detected");
    }
}
