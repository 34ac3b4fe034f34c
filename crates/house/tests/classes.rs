//! The name of a class of error is written in one place. The exception: what peers and replies amount to is named by `wire`
//! as well, which knows nothing of records.

use house::files::{self, Text};
use house::tokens;
use record::{CLASSES, Class};

/// Where the names are.
const LISTS: [&str; 2] = ["crates/record/src/class.rs", "crates/wire/src/class.rs"];
/// Names that are words of other lists, too: keys of plans and of JSON, and a file of `/proc`.
const COMMON_WORDS: [&str; 2] = ["rows", "status"];
/// Names that mean something else there.
const OTHER_MEANINGS: [(&str, &str); 1] = [
    // A parameter of libpq.
    ("crates/plan/src/database/postgres.rs", "connect_timeout"),
];

/// Every text of a file that is the name of a class, tests aside.
fn named_in(file: &Text) -> Vec<String> {
    let code = tokens::without_tests(&file.text);
    let texts = code.iter().filter_map(|token| token.text.strip_prefix('"')?.strip_suffix('"'));
    texts.filter(|text| Class::of(text).is_some()).map(str::to_owned).collect()
}

#[test]
fn the_name_of_a_class_is_written_once() {
    for file in files::rust().iter().filter(|file| file.is_product() && !LISTS.contains(&file.path.as_str()))
    {
        let named = named_in(file).into_iter().find(|name| {
            let means_another = OTHER_MEANINGS.contains(&(file.path.as_str(), name.as_str()));
            !means_another && !COMMON_WORDS.contains(&name.as_str())
        });
        assert_eq!(
            named, None,
            "{}: write record::class::NAME.name, or wire::class::NAME where nothing is known of records",
            file.path
        );
    }
}

#[test]
fn wire_names_classes_that_there_are() {
    for (place, name) in wire::class::ALL.iter().enumerate() {
        assert!(CLASSES.iter().any(|class| class.name == *name), "record::CLASSES has no class {name:?}");
        assert!(!wire::class::ALL[..place].contains(name), "wire::class has {name:?} twice");
    }
}
