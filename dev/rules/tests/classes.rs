//! The name of a class of error is written in one place. The exception: what peers and replies amount to is named by `wire`
//! as well, which knows nothing of records.

use record::CLASSES;
use rules::lists::OnlyList;

#[test]
fn the_name_of_a_class_is_written_once() {
    OnlyList {
        idea: "classes of error (write record::class::NAME.name, or wire::class::NAME)",
        names: CLASSES.iter().map(|class| class.name).collect(),
        homes: &["crates/record/src/class.rs", "crates/wire/src/class.rs"],
        elsewhere_max: 0,
        other_meanings: &[
            // Keys of plans and of JSON, and a file of `/proc`.
            ("", "rows"),
            ("", "status"),
            // A parameter of libpq.
            ("crates/plan/src/database/postgres.rs", "connect_timeout"),
            // A word of other tools.
            ("crates/plan/src/file/near.rs", "capture"),
        ],
    }
    .assert();
}

#[test]
fn wire_names_classes_that_there_are() {
    for (place, name) in wire::class::ALL.iter().enumerate() {
        assert!(CLASSES.iter().any(|class| class.name == *name), "record::CLASSES has no class {name:?}");
        assert!(!wire::class::ALL[..place].contains(name), "wire::class has {name:?} twice");
    }
}
