//! Keys of events: their times in the plan, and their actions in each system.

use super::resources::RESOURCES;
use super::{COMMAND, COUNT, DURATION, TEXT, key, required, table};
use crate::file::form;
use crate::file::keys::{Table, ValueKind};
use ValueKind::{Either, Named, One, Word};

pub(crate) static EVENT: Table = Table {
    name: "planned event",
    sentence: "When an event takes place: at a time, or after something. Each system has an action for it.",
    example: "{ at: 20s }",
    keys: &[
        key("at", "20s", One(&form::OFFSET), "Time since the end of the warm-up; -2s is within the warm-up."),
        key(
            "after",
            "deploy",
            Either(&[TEXT, table(&AFTER)]),
            "Instead of `at`: when this event has ended, or when a process has written a text.",
        ),
        key("delay", "2s", DURATION, "With `after`: how much later; default 0s."),
        key("every", "5s", DURATION, "With `at`: repeats the event after this time."),
        key("times", "3", COUNT, "With `every`: how often in all; default: until the load ends."),
    ],
};

pub(crate) static AFTER: Table = Table {
    name: "after",
    sentence: "What an event waits for.",
    example: "{ log: checkpoint complete }",
    keys: &[
        key("log", "checkpoint complete", TEXT, "The process writes this text after the load began."),
        key("process", "db", TEXT, "Which process; default: the first."),
    ],
};

/// Signals that an event may send. SIGSTOP is not among them, because `pause` always resumes the process.
const SIGNALS: ValueKind =
    Word(&["HUP", "USR1", "USR2", "WINCH", "TTIN", "TTOU", "ALRM", "INT", "QUIT", "TERM", "KILL"]);

pub(crate) static ACTION: Table = Table {
    name: "system event",
    sentence: "What an event does to the system: one of `run`, `signal`, `start`, `stop`, `kill`, `restart`, `pause`, `limit`, `cut`, `slow`, `reset`, `fill`, `set`, `shards`.",
    example: "{ signal: HUP }",
    keys: &[
        key("run", "./deploy {port}", COMMAND, "Runs this command, which must exit with 0."),
        key(
            "lock",
            "{ before: FLUSH TABLES WITH READ LOCK, after: UNLOCK TABLES }",
            table(&LOCK),
            "With `run`: statements before and after the command, in one session.",
        ),
        key("signal", "HUP", SIGNALS, "Sends this signal to the main process."),
        key("process", "web", TEXT, "With `signal`: which process; default: the first."),
        key("start", "replica", TEXT, "Starts this process, and waits until it is ready."),
        key("stop", "web", TEXT, "Stops this process as its `stop` says."),
        key("kill", "web", TEXT, "Kills this process, and everything that it started."),
        key("restart", "web", TEXT, "Stops this process, starts it again, and waits until it is ready."),
        key(
            "pause",
            "db",
            TEXT,
            "Holds this process, and everything that it started, up by SIGSTOP, for the time under `for`.",
        ),
        key("for", "800ms", DURATION, "With `pause`, `limit`, `cut`, `slow`, and `fill`: for how long."),
        key(
            "limit",
            "{ cpu: 0.5 }",
            table(&RESOURCES),
            "Sets other limits than `resources`, for the time under `for`, or until the end.",
        ),
        key(
            "cut",
            "far",
            TEXT,
            "Cuts the link of this proxy, for the time under `for`, or until the end: nothing passes, and nothing is lost.",
        ),
        key(
            "slow",
            "{ link: far, delay: 50ms }",
            table(&SLOW),
            "Changes the link of a proxy, for the time under `for`, or until the end.",
        ),
        key("reset", "far", TEXT, "Resets all open connections of this proxy."),
        key(
            "fill",
            "disk",
            Word(&["disk"]),
            "Fills the system's own `disk` to the last block, for the time under `for`, or until the end.",
        ),
        key("leave", "1MiB", One(&form::ROOM), "With `fill`: how much room to leave; default 0B."),
        key(
            "set",
            "{ workers: 4 }",
            Named(&TEXT),
            "Writes the `files` that use these parameters of `vary` again, with these values.",
        ),
        key("reload", "{ signal: HUP }", table(&RELOAD), "With `set`: makes the system read them."),
        key(
            "shards",
            "3",
            COUNT,
            "Requests that begin from then on go to this many URLs of the list with `hash`, from the first on.",
        ),
        key(
            "until",
            "{ log: restarted }",
            table(&UNTIL),
            "When the event ends; default: when the action is done.",
        ),
        key("within", "30s", DURATION, "Time limit of the event; default 30s."),
        key(
            "may-fail",
            "true",
            One(&form::TRUTH),
            "Whether the run counts although the event failed; default false: the run fails.",
        ),
    ],
};

pub(crate) static SLOW: Table = Table {
    name: "slow",
    sentence: "Other values of a proxy; those that are not given are those of its start. Values may contain parameters.",
    example: "{ link: far, delay: 50ms }",
    keys: &[
        required("link", "far", TEXT, "The proxy."),
        key(
            "delay",
            "50ms",
            One(&form::LINK_DELAY),
            "Delay of each direction; a round trip takes twice this.",
        ),
        key("round-trip", "100ms", One(&form::LINK_DELAY), "Delay of a round trip: half in each direction."),
        key("jitter", "5ms", One(&form::LINK_DELAY), "Random deviation of the delay, more or less."),
        key(
            "bandwidth",
            "1MB/s",
            One(&form::LINK_BANDWIDTH),
            "Bandwidth of each direction of each connection.",
        ),
    ],
};

pub(crate) static UNTIL: Table = Table {
    name: "until",
    sentence: "What shows that an event had its effect: one of `log`, `get`, `port`.",
    example: "{ log: restarted }",
    keys: &[
        key("log", "restarted", TEXT, "The process writes this text after the event began."),
        key("process", "web", TEXT, "With `log`: which process; default: the first."),
        key("get", "/health", TEXT, "A GET of this path returns 2xx."),
        key(
            "port",
            "app",
            TEXT,
            "The name of a port, as in {port.app}, which accepts connections; with `get`, to which the GET goes; default: the port in the URL.",
        ),
    ],
};

pub(crate) static LOCK: Table = Table {
    name: "lock",
    sentence: "Statements around a command, in one session of the plan's database, which is closed in any case.",
    example: "{ before: FLUSH TABLES WITH READ LOCK, after: UNLOCK TABLES }",
    keys: &[
        required("before", "FLUSH TABLES WITH READ LOCK", TEXT, "Statement before the command."),
        required("after", "UNLOCK TABLES", TEXT, "Statement after the command."),
    ],
};

pub(crate) static RELOAD: Table = Table {
    name: "reload",
    sentence: "How a system is made to read its files again: `signal` or `run`.",
    example: "{ signal: HUP }",
    keys: &[
        key("signal", "HUP", SIGNALS, "Sends this signal to the main process."),
        key("process", "web", TEXT, "With `signal`: which process; default: the first."),
        key("run", "nginx -s reload", COMMAND, "Runs this command, which must exit with 0."),
    ],
};
