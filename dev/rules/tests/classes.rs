//! Names of error classes are written in one place.

use record::ErrorClass;
use rules::lists::OnlyList;

#[test]
fn names_of_error_classes_are_listed_once() {
    OnlyList {
        idea: "classes of error (write ErrorClass::Name)",
        names: ErrorClass::ALL.iter().map(|class| class.name()).collect(),
        homes: &["crates/outcome/src/class.rs"],
        elsewhere_max: 0,
        other_meanings: &[
            // Keys of plans and of JSON, and a file of `/proc`.
            ("", "rows"),
            ("", "status"),
            // A parameter of libpq.
            ("crates/plan/src/database/postgres.rs", "connect_timeout"),
            ("crates/plan/src/database/postgres/parameters.rs", "connect_timeout"),
            // A noun, with its number.
            ("crates/tenbin/src/commands/replay/report.rs", "deadlock"),
            // A setting of PostgreSQL.
            ("crates/sql/src/databases/postgres.rs", "lock_timeout"),
            // A word of other tools.
            ("crates/plan/src/file/near.rs", "capture"),
        ],
    }
    .assert();
}
