//! Keys of the figures that a plan defines itself.

use super::{COMMAND, DURATION, TEXT, key};
use crate::file::keys::Table;
use crate::file::keys::ValueKind::Word;

pub(crate) static FIGURE: Table = Table {
    name: "figure",
    sentence: "A figure of your own: one of `command`, `sql`, `prometheus`. A figure that cannot be read fails the run. Variables in its texts are \
               those of systems.",
    example: "{ command: \"stat -c %s {dir}/data.db\", unit: bytes }",
    keys: &[
        key(
            "command",
            "\"stat -c %s {dir}/data.db\"",
            COMMAND,
            "A command whose first line of output is the number; within 10s.",
        ),
        key(
            "sql",
            "\"SELECT pg_relation_size('i')\"",
            TEXT,
            "A statement whose first row begins with the number; within 10s.",
        ),
        key(
            "endpoint",
            "stock",
            TEXT,
            "With `sql`: the endpoint that answers; default: the database of the load, or that of `database`.",
        ),
        key(
            "prometheus",
            "\"http://127.0.0.1:{port.metrics}/metrics\"",
            TEXT,
            "The address of an exporter in the text format of Prometheus; http only, max 16 MiB, within 10s.",
        ),
        key(
            "name",
            "queue_length",
            TEXT,
            "With `prometheus`: the name of the metric, with labels if several series have it: `requests_total{code=\"200\"}`.",
        ),
        key(
            "unit",
            "bytes",
            TEXT,
            "bytes, ns, us, ms, s, or a word for what is counted; default: a plain number.",
        ),
        key("better", "lower", Word(&["lower", "higher"]), "Which direction is better; default lower."),
        key("every", "1s", DURATION, "Also read it during the load, in this interval; 200ms to 1h."),
        key(
            "summary",
            "change",
            Word(&["after", "change", "mean", "max"]),
            "The value of a run: after (the reading after the load; default), change (from before to after), and with `every` mean \
             (default) or max of the measured time.",
        ),
    ],
};
