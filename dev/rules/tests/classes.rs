//! Names of error classes are listed in one place.

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
            // Plan keys, JSON keys, and a file in `/proc`.
            ("", "rows"),
            ("", "status"),
            // Parameter of libpq.
            ("crates/plan/src/database/postgres.rs", "connect_timeout"),
            ("crates/plan/src/database/postgres/parameters.rs", "connect_timeout"),
            // Noun, combined with a count.
            ("crates/tenbin/src/commands/replay/report.rs", "deadlock"),
            // Parameter of PostgreSQL.
            ("crates/sql/src/databases/postgres.rs", "lock_timeout"),
            // Key of other tools' configuration files.
            ("crates/plan/src/file/near.rs", "capture"),
        ],
    }
    .assert();
}
