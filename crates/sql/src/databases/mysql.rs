//! Dialect of MySQL and MariaDB.

use wire::ErrorClass;
use wire::sql::ServerError;

use super::{Backslash, Dialect, LexicalRules};
use crate::classes::Retry;
use crate::script::Placeholders;
use crate::workload::Tables;

pub(super) const DIALECT: Dialect = Dialect {
    name: "MySQL",
    protocol: Some(&wire::mysql::PROTOCOL),
    verified_by: "ssl-mode=VERIFY_IDENTITY",
    placeholders: Placeholders::Question,
    has_pipelines: false,
    // The file name has no meaning: the client sends generated rows.
    load_rows: Some(|rows| {
        format!(
            "LOAD DATA LOCAL INFILE 'rows' INTO TABLE {} CHARACTER SET utf8mb4 ({})",
            rows.table, rows.columns
        )
    }),
    prepares_transaction_control: false,
    infers_quoted_types: false,
    backslash: Backslash::Hexadecimal,
    lexical_rules: LexicalRules {
        has_escapes_in_quotes: true,
        has_texts_in_double_quotes: true,
        has_dollar_quotes: false,
        has_hash_comments: true,
        dashes_need_blank: true,
        has_executable_comments: true,
        nests_comments: false,
    },
    commits_implicitly: true,
    release_commits: false,
    has_sqlstates: true,
    vendor_class,
    scripts: SCRIPTS,
    session_states: &[],
    read_only: None,
    lock_timeout: Some(("innodb_lock_wait_timeout", 1_000)),
    has_tpcc_tables: true,
    retries,
};

/// Scripts with COMMIT instead of END, which is not a statement in MySQL, and with an id of 0, which requests the next id.
const SCRIPTS: &[(&str, &str)] = &[
    ("tpcb-like", include_str!("../workloads/tpcb-like.mysql.sql")),
    ("simple-update", include_str!("../workloads/simple-update.mysql.sql")),
    ("oltp-insert", include_str!("../workloads/oltp-insert.mysql.sql")),
];

/// Error classes by number. Numbers take precedence over SQLSTATEs, which are vague here: 42000 covers 140 errors.
const NUMBERS: &[(ErrorClass, &[u16])] = &[
    // TiDB's 8002, 8022, and 9007: conflicts of optimistic transactions.
    (ErrorClass::SerializationFailure, &[1020, 8002, 8022, 9007]),
    (ErrorClass::Deadlock, &[1213]),
    (ErrorClass::LockTimeout, &[1205]),
    (ErrorClass::TooManyConnections, &[1040, 1203]),
    (ErrorClass::OutOfResources, &[1037, 1038, 1041, 1114]),
    (ErrorClass::LimitReached, &[1104, 1226, 1390, 1436, 1461]),
    (ErrorClass::Canceled, &[1317, 1969, 3024]),
    (ErrorClass::ReadOnly, &[1290, 1792, 1836]),
    (ErrorClass::ServerShutdown, &[1053, 1077, 1079, 1080, 1927]),
    (ErrorClass::IdleTimeout, &[4031]),
    (ErrorClass::Corrupted, &[1033, 1034, 1035, 1194, 1195, 1712, 1877]),
    // MariaDB's 4091 (sequences) and 4092 (views).
    (
        ErrorClass::MissingObject,
        &[
            1049, 1051, 1054, 1072, 1082, 1091, 1106, 1109, 1115, 1128, 1146, 1176, 1177, 1273, 1286, 1305,
            1360, 1630, 1932, 4091, 4092,
        ],
    ),
    (ErrorClass::ObjectExists, &[1007, 1050, 1060, 1061, 1304, 1359]),
    (
        ErrorClass::MissingPrivilege,
        &[1044, 1045, 1131, 1132, 1142, 1143, 1148, 1211, 1227, 1370, 1410, 1419, 1698, 3948, 4166],
    ),
    (ErrorClass::PreparedStatement, &[1243, 1615]),
];

/// Generic error number of errors that have no specific one.
const UNKNOWN_ERROR: u16 = 1105;
/// Text of a conflict in Dolt. Old versions report it under the generic error number.
const DOLT_CONFLICT: &str = "conflicts with a committed transaction";

/// Error class of a number. `None` if the SQLSTATE is more precise.
fn vendor_class(error: &ServerError) -> Option<ErrorClass> {
    if error.number == UNKNOWN_ERROR && error.text.contains(DOLT_CONFLICT) {
        return Some(ErrorClass::SerializationFailure);
    }
    NUMBERS.iter().find(|(_, numbers)| numbers.contains(&error.number)).map(|(class, _)| *class)
}

fn retries(tables: Tables) -> &'static [Retry] {
    match tables {
        Tables::Sbtest | Tables::SbtestEmpty => {
            &[Retry::Number(1213), Retry::Number(1020), Retry::Number(1205)]
        }
        _ => &[],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn error_numbers_are_listed_once() {
        let numbers: Vec<u16> = NUMBERS.iter().flat_map(|(_, numbers)| *numbers).copied().collect();
        for (place, number) in numbers.iter().enumerate() {
            assert!(!numbers[..place].contains(number), "{number}");
        }
    }
}
