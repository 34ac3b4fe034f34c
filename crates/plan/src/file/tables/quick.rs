//! Keys of the section `quick`.

use super::{CHOICES, COUNT, DURATION, TEXT, VALUES, events, key, table};
use crate::file::keys::Table;
use crate::file::keys::ValueKind::{Either, List, Named, OneOrList};

pub(crate) static QUICK: Table = Table {
    name: "quick",
    sentence: "Changes for a quick run, which shows that a plan works and is too short to compare.",
    example: "{ warm-up: 1s, for: 3s, blocks: 2 }",
    keys: &[
        key("warm-up", "1s", DURATION, "Replaces that of each load."),
        key("for", "3s", DURATION, "Replaces that of each load; stages are shortened in proportion."),
        key(
            "loads",
            "[ steady, peak ]",
            OneOrList(&TEXT),
            "By name: the only loads of a quick run, in the order of `load`. Gates on steps that none of them has are left out.",
        ),
        key(
            "blocks",
            "2",
            COUNT,
            "Replaces that of the comparison; a conclusive result requires 6, and more with `also`.",
        ),
        key(
            "vary",
            "{ puma: { workers: [ 1, 4 ] } }",
            Named(&Either(&[TEXT, List(&TEXT), Named(&VALUES)])),
            "Other values of parameters: by system, or by name for a parameter of the plan.",
        ),
        key(
            "systems",
            "{ puma: { only: [ { workers: 1 } ] } }",
            Named(&table(&QUICK_SYSTEM)),
            "By system: other variants.",
        ),
        key(
            "events",
            "{ deploy: { at: 1s } }",
            Named(&table(&events::EVENT)),
            "By event: another time, in place of the whole entry. Events that begin after the end of the quick run are left out.",
        ),
    ],
};

pub(crate) static QUICK_SYSTEM: Table = Table {
    name: "quick system",
    sentence: "Variants of a system in a quick run.",
    example: "{ only: [ { workers: 1 } ] }",
    keys: &[
        key("only", "[ { workers: 1 } ]", CHOICES, "Replaces that of the system."),
        key("except", "[ { workers: 8 } ]", CHOICES, "Replaces that of the system."),
    ],
};
