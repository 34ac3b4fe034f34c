//! Keys of `select`, which chooses among the addresses of a system, and of `written`, which counts rows on all of them.

use super::{COUNT, TEXT, key, required, table};
use crate::file::keys::{Key, Table, ValueKind};
use crate::spec::values;
use ValueKind::{Either, List, Word};

const SELECTION: ValueKind = Either(&[Word(&["in-turn", "first"]), table(&SELECT)]);
pub(super) const SELECT_KEY: Key = key(
    "select",
    "first",
    SELECTION,
    "With a list of URLs: in-turn (each new connection goes to the next; default), first (connections go to the first that answers, and once it \
     is lost to the next that answers), or `hash` (each request goes where a value says).",
);

pub(super) static SELECT: Table = Table {
    name: "select",
    sentence: "How the address of a request follows from a value.",
    example: "{ hash: \"{user}\" }",
    keys: &[
        required(
            "hash",
            "\"{user}\"",
            TEXT,
            "A text with values in braces. The request goes to the URL with the number hash of the text modulo the number of URLs, counted from 0.",
        ),
        key(
            "by",
            "fnv1a",
            Word(&values::SHARD_HASH_NAMES),
            "Hash: crc32 (default), fnv1a (32 bits), number (the digits of the text as a whole number), or crc16 (of the part of the text in \
             braces, if there is one; with 16384 slots it is the slot of a cluster).",
        ),
        key(
            "slots",
            "16384",
            COUNT,
            "Number of slots. The slot of a text is its hash modulo this number, and the URLs have equal ranges of slots, in order.",
        ),
        key(
            "ranges",
            "[ 1000000, 2000000 ]",
            List(&COUNT),
            "Range map: the first slot of each URL but the first, ascending. Without `slots`, a slot is the hash itself, such as the number \
             with `by: number`.",
        ),
        key(
            "ring",
            "160",
            COUNT,
            "Consistent hashing: number of points that each URL has on a ring. A text goes to the URL of the next point. One more URL takes \
             texts from all others, and moves no other text.",
        ),
        key(
            "shards",
            "2",
            COUNT,
            "Number of URLs, from the first on, that get requests; default: all. An event can change it.",
        ),
    ],
};

pub(super) static WRITTEN: Table = Table {
    name: "written",
    sentence: "A table that a step inserts one row into, which is checked after each load.",
    example: "{ table: users, key: email, step: sign up }",
    keys: &[
        required("table", "users", TEXT, "The table."),
        required("key", "email", TEXT, "A column with a value that no two rows may share, with an index."),
        key("step", "sign up", TEXT, "The step that inserts the rows; default: the only one."),
        key(
            "endpoint",
            "shards",
            TEXT,
            "The endpoint of the databases, all of whose addresses are read; default: that of the load, or of `database`.",
        ),
    ],
};
