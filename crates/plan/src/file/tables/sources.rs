//! Keys of sources of values: for `data`, and for the columns of generated rows.

use super::{TEXT, key};
use crate::file::form;
use crate::file::keys::{Key, Table, ValueKind};
use ValueKind::{One, OneOrList, Word};

const UNIFORM: Key =
    key("uniform", "1..1000", One(&form::RANGE), "A whole number from the range, uniformly distributed.");
const ZIPF: Key = key(
    "zipf",
    "1..100000",
    One(&form::RANGE),
    "A whole number from the range, Zipf-distributed: low numbers are more frequent.",
);
const EXPONENT: Key =
    key("exponent", "1.1", One(&form::EXPONENT), "With `zipf` and `latest`: the exponent; default 1.");
const SCATTER: Key = key(
    "scatter",
    "true",
    One(&form::TRUTH),
    "With `zipf`: a hash spreads the frequent numbers over the range, as in YCSB; default false.",
);
const LATEST: Key = key(
    "latest",
    "1..100000",
    One(&form::RANGE),
    "A whole number from the range, Zipf-distributed from its end: high numbers are more frequent.",
);
const HASH: Key = key(
    "hash",
    "user",
    TEXT,
    "With `uniform`, `zipf`, `latest`, and `sequence`: the value is this text and the hash of the number, as YCSB names its records.",
);
const BY: Key = key("by", "1", One(&form::STEP_BY), "With `sequence`: the step; default 1.");
const LENGTH: Key = key("text", "12", One(&form::LENGTH), "A random text of this many characters.");
const ALPHABET: Key = key(
    "of",
    "letters",
    Word(&["letters", "digits", "alphanumeric", "hex"]),
    "With `text`: its characters, in lower case; default alphanumeric.",
);
const WORDS: Key =
    key("words", "[ open, closed ]", OneOrList(&TEXT), "One of these texts, all equally likely.");
const UUID: Key =
    key("uuid", "v7", Word(&["v4", "v7"]), "A UUID: random (v4), or in the order of time (v7).");
const TIMESTAMP: Key = key(
    "timestamp",
    "2025-01-01..2025-12-31",
    One(&form::DAYS),
    "A second of these days, uniformly distributed, as `2025-01-31 12:00:00`.",
);

pub(crate) static SOURCE: Table = Table {
    name: "data source",
    sentence: "A source of values: one of `uniform`, `zipf`, `latest`, `sequence`, `text`, `words`, `uuid`, `timestamp`, `csv`.",
    example: "{ uniform: 1..1000 }",
    keys: &[
        UNIFORM,
        ZIPF,
        EXPONENT,
        SCATTER,
        LATEST,
        key(
            "grows-with",
            "new",
            TEXT,
            "With `latest`: the `sequence` that continues the range. Its numbers belong to the range once the iterations that drew them \
             have ended, for the users of the same thread.",
        ),
        HASH,
        key(
            "sequence",
            "1..",
            One(&form::SEQUENCE),
            "The next number, unique across users; with an end, it restarts after it.",
        ),
        BY,
        LENGTH,
        ALPHABET,
        WORDS,
        UUID,
        TIMESTAMP,
        key(
            "csv",
            "people.csv",
            TEXT,
            "A row of a CSV file in the folder of the plan. Its first line names the columns: `{people.name}`. Max 100 MiB.",
        ),
        key(
            "order",
            "in-turn",
            Word(&["in-turn", "random"]),
            "With `csv`: the next row, or a random one; default in-turn.",
        ),
    ],
};

pub(crate) static COLUMN: Table = Table {
    name: "column",
    sentence: "Values of a column: one of `uniform`, `zipf`, `latest`, `sequence`, `text`, `words`, `uuid`, `timestamp`. Equal seeds give equal \
               rows in every database.",
    example: "{ uniform: 1..1000 }",
    keys: &[
        UNIFORM,
        ZIPF,
        EXPONENT,
        SCATTER,
        LATEST,
        HASH,
        key(
            "sequence",
            "1..",
            One(&form::SEQUENCE),
            "The next number, row by row; with an end, it restarts after it.",
        ),
        BY,
        LENGTH,
        ALPHABET,
        WORDS,
        UUID,
        TIMESTAMP,
        key("null", "10%", One(&form::NULL_SHARE), "Share of rows with NULL; default 0%."),
    ],
};
