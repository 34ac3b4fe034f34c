//! The keys of a plan file. What is not here cannot be written.

use super::form;
use super::keys::{Key, Kind, Table};
use Kind::{Either, List, Named, One, OneOrList, Optional, Refused, Word};

const TEXT: Kind = One(&form::TEXT);
const DURATION: Kind = One(&form::DURATION);
const COUNT: Kind = One(&form::COUNT);
const RATE: Kind = One(&form::RATE);
const COMMAND: Kind = OneOrList(&TEXT);
const COMMANDS: Kind = Either(&[TEXT, List(&COMMAND)]);
const VALUES: Kind = OneOrList(&TEXT);
const METRIC: Kind = Word(judge::COMPARED);
const CHOICES: Kind = OneOrList(&Named(&VALUES));

const fn key(name: &'static str, example: &'static str, kind: Kind, sentence: &'static str) -> Key {
    Key { name, sentence, example, kind, is_required: false }
}

const fn required(name: &'static str, example: &'static str, kind: Kind, sentence: &'static str) -> Key {
    Key { name, sentence, example, kind, is_required: true }
}

const fn table(kind: &'static Table) -> Kind {
    Kind::Table(kind)
}

/// Every table, the whole plan first.
pub(crate) const ALL: &[&Table] = &[
    &PLAN,
    &SCENARIO,
    &STEP,
    &EXPECT,
    &CAPTURE,
    &SOURCE,
    &SQL,
    &LOAD,
    &STAGE,
    &SYSTEM,
    &PROCESS,
    &READY,
    &STOP,
    &PREPARE,
    &TEMPLATE,
    &PIN,
    &COMPARE,
    &QUICK,
    &QUICK_SYSTEM,
];

pub(crate) static PLAN: Table = Table {
    name: "plan",
    sentence: "The whole file. It needs `scenario` or `scenarios`, `load`, and `url` or `systems`.",
    example: "{ scenario: [ get: / ], load: { users: 10 }, url: http://127.0.0.1:8080 }",
    keys: &[
        key(
            "question",
            "Which server, and with how many workers?",
            TEXT,
            "What the study is to answer; shown in reports.",
        ),
        key(
            "seed",
            "42",
            One(&form::SEED),
            "The same seed draws the same values and the same order of runs; default: a new one for each study, which keeps it.",
        ),
        key(
            "scenario",
            "[ get: / ]",
            Either(&[List(&table(&STEP)), table(&SCENARIO)]),
            "What each user does, step by step.",
        ),
        key(
            "scenarios",
            "{ browse: { share: 80%, steps: [ get: / ] } }",
            Named(&table(&SCENARIO)),
            "Several scenarios by name; each iteration follows one of them.",
        ),
        key(
            "data",
            "{ n: { uniform: 1..1000 } }",
            Named(&table(&SOURCE)),
            "Sources of values by name; `{n}` in a step is a value, drawn anew for each iteration.",
        ),
        required(
            "load",
            "{ users: 100, for: 60s }",
            OneOrList(&table(&LOAD)),
            "How much load, in which shape; each of a list is run by itself.",
        ),
        key(
            "sql",
            "{ mode: prepared }",
            table(&SQL),
            "How the statements of transactions travel, and what their variables are.",
        ),
        key(
            "url",
            "http://127.0.0.1:8080",
            TEXT,
            "A system that runs already, instead of `systems`. Of a database: postgres://…, mysql://… or sqlite:PATH, without a password.",
        ),
        key(
            "database",
            "postgres://app@127.0.0.1:5432/app",
            TEXT,
            "With `url`: where transactions go if `url` is where requests go; postgres://… or mysql://…, without a password.",
        ),
        key("socket", "/run/app.sock", TEXT, "With `url`: a Unix socket to connect to."),
        key(
            "prepare",
            "{ workload: select-only, scale: 10 }",
            table(&PREPARE),
            "With `url`, of a database: tables of a workload that are made before each run.",
        ),
        key(
            "systems",
            "{ puma: { start: \"puma -p {port}\" } }",
            Named(&table(&SYSTEM)),
            "What is measured, by name.",
        ),
        key(
            "pin",
            "auto",
            Either(&[Word(&["auto", "no"]), table(&PIN)]),
            "Which cores system and generator stay on; default no. auto: the generator on the last core, the system on the others.",
        ),
        key(
            "compare",
            "{ by: throughput, matters: 3%, blocks: 24 }",
            Either(&[Word(&["no"]), table(&COMPARE)]),
            "What decides between variants. Without it every variant is run once. no: nothing does; every variant is run once, and the \
             answer is what failed, why, and which variant is without failures.",
        ),
        key(
            "gates",
            "[ \"p(99)<200ms\", \"errors<0.1%\" ]",
            OneOrList(&TEXT),
            "What must hold for every run: a metric such as `p99` or `errors` (measurement.md lists them); `<`, `<=`, `>` or `>=`; a limit. `STEP: ` before it for one step, ` from 10s to 20s` after it for a part of the time.",
        ),
        key(
            "quick",
            "{ for: 3s, blocks: 2 }",
            table(&QUICK),
            "What is different when a quick run is asked for.",
        ),
        key("events", "[]", Refused("events are not there yet", "leave `events` out"), ""),
    ],
};

pub(crate) static SCENARIO: Table = Table {
    name: "scenario",
    sentence: "What a user does in one iteration.",
    example: "{ share: 80%, steps: [ get: / ] }",
    keys: &[
        key(
            "share",
            "80%",
            One(&form::SHARE),
            "How often it is followed: all in percent, or all plain numbers in proportion; needed if there are several.",
        ),
        required(
            "steps",
            "[ get: /, get: /about ]",
            List(&table(&STEP)),
            "Its steps, one after the other; or, if each has a weight, one of them in each iteration.",
        ),
    ],
};

pub(crate) static STEP: Table = Table {
    name: "step",
    sentence: "One request, or one transaction. A request needs one of `get`, `post`, `put`, `patch`, `delete`, `head`, `options`, or \
               `request`; a transaction one of `sql`, `transaction`, `script`, or `workload`.",
    example: "{ get: /items }",
    keys: &[
        key("get", "\"/items?n={n}\"", TEXT, "A GET of this path."),
        key("post", "/items", TEXT, "A POST to this path."),
        key("put", "/items/1", TEXT, "A PUT to this path."),
        key("patch", "/items/1", TEXT, "A PATCH of this path."),
        key("delete", "/items/1", TEXT, "A DELETE of this path."),
        key("head", "/", TEXT, "A HEAD of this path."),
        key("options", "/", TEXT, "An OPTIONS of this path."),
        key("request", "PURGE /items", TEXT, "Any other method, then the path."),
        key(
            "sql",
            "SELECT name FROM items WHERE id = :n",
            TEXT,
            "A statement. `:n` is a value of `data`, or one that was saved; `{n}` is the same as text.",
        ),
        key(
            "transaction",
            "[ UPDATE items SET n = n + 1, SELECT 1 ]",
            OneOrList(&TEXT),
            "Statements between BEGIN and COMMIT.",
        ),
        key("script", "buy.sql", TEXT, "A script in pgbench's language, beside the plan; at most 8 MiB."),
        key(
            "workload",
            "select-only",
            TEXT,
            "A built-in workload, and perhaps a style of it, as in postcodes-insert:multi-row; `prepare` makes its tables.",
        ),
        key(
            "name",
            "item",
            TEXT,
            "Its name in reports; default: method and path, or the beginning of the statement.",
        ),
        key("headers", "{ Accept: text/plain }", Named(&Optional(&TEXT)), "Headers to send."),
        key("body", "'{\"id\": {id}}'", TEXT, "The body to send."),
        key("body-file", "order.json", TEXT, "A file with the body, beside the plan; at most 64 MiB."),
        key(
            "expect",
            "{ status: 200 }",
            table(&EXPECT),
            "What the reply must be; anything else is `rejected`. Default: a status from 200 to 399.",
        ),
        key(
            "save",
            "{ token: { json: /data/token } }",
            Named(&table(&CAPTURE)),
            "Values taken from the reply, for later steps of the iteration.",
        ),
        key("think", "100ms", One(&form::THINK), "The pause after it."),
        key(
            "weight",
            "3",
            One(&form::WEIGHT),
            "If any step of a scenario has a weight, all must: each iteration does one step, drawn by weight.",
        ),
    ],
};

pub(crate) static EXPECT: Table = Table {
    name: "expect",
    sentence: "What a reply must be to count as ok.",
    example: "{ status: 200, body: hello }",
    keys: &[
        key(
            "status",
            "[ 200, 3xx ]",
            OneOrList(&One(&form::STATUS)),
            "The statuses that are ok; default 200-399.",
        ),
        key("body", "hello", OneOrList(&TEXT), "Text that the body must contain."),
        key("body-matches", "'id=[0-9]+'", OneOrList(&TEXT), "Regular expressions that the body must match."),
        key(
            "headers",
            "{ Content-Type: text/html }",
            Named(&Optional(&TEXT)),
            "Headers that must be there, and text they must contain.",
        ),
        key("size", "10..20", One(&form::SIZE), "How many bytes the body must have."),
        key(
            "rows",
            "1",
            One(&form::ROWS),
            "Of a transaction: how many rows the last statement must send or change.",
        ),
    ],
};

pub(crate) static CAPTURE: Table = Table {
    name: "saved value",
    sentence: "Where in the reply a value is found: one of the four.",
    example: "{ json: /data/token }",
    keys: &[
        key("json", "/data/token", TEXT, "A JSON pointer into the body."),
        key("header", "Location", TEXT, "The value of a header."),
        key(
            "column",
            "id",
            TEXT,
            "Of `sql` and `transaction`: a column of the row that the last statement sends.",
        ),
        key("body", "'token=(\\w+)'", TEXT, "A regular expression; its first group, or else all it matches."),
    ],
};

pub(crate) static SOURCE: Table = Table {
    name: "data source",
    sentence: "Where values come from: one of `uniform`, `zipf`, `sequence`, `text`, `csv`.",
    example: "{ uniform: 1..1000 }",
    keys: &[
        key("uniform", "1..1000", One(&form::RANGE), "A whole number of the range, all equally likely."),
        key(
            "zipf",
            "1..100000",
            One(&form::RANGE),
            "A whole number of the range, the first ones much likelier (Zipf's law).",
        ),
        key("exponent", "1.1", One(&form::EXPONENT), "With `zipf`: how much likelier; default 1."),
        key(
            "sequence",
            "1..",
            One(&form::SEQUENCE),
            "The next number, never the same for two users; with an end it starts again.",
        ),
        key("by", "1", One(&form::STEP_BY), "With `sequence`: the distance; default 1."),
        key("text", "12", One(&form::LENGTH), "A random text of so many characters."),
        key(
            "of",
            "letters",
            Word(&["letters", "digits", "alphanumeric", "hex"]),
            "With `text`: its characters, small letters among them; default alphanumeric.",
        ),
        key(
            "csv",
            "people.csv",
            TEXT,
            "A row of a CSV file beside the plan. Its first line names the columns: `{people.name}`. At most 100 MiB.",
        ),
        key(
            "order",
            "in-turn",
            Word(&["in-turn", "random"]),
            "With `csv`: the next row, or any; default in-turn.",
        ),
    ],
};

pub(crate) static SQL: Table = Table {
    name: "sql",
    sentence: "How the statements of transactions travel, and what their variables are.",
    example: "{ mode: prepared, max-tries: 3 }",
    keys: &[
        key(
            "mode",
            "prepared",
            Word(&["simple", "extended", "prepared"]),
            "Values within the text; apart from it; apart from it, and prepared once a connection. Default: simple, except for the \
             workloads of sysbench.",
        ),
        key(
            "max-tries",
            "3",
            COUNT,
            "How often a transaction is tried that fails of a deadlock or a serialization failure; 0 is without limit; default 1.",
        ),
        key("variables", "{ rows: 10 }", Named(&TEXT), "Variables of the scripts."),
        key("scale", "10", COUNT, "The scale of pgbench's tables; default: read from them."),
        key("tables", "4", COUNT, "How many tables the oltp workloads have; default 1."),
        key("table-size", "100000", COUNT, "Rows of each of them; default 10000."),
        key("range-size", "100", COUNT, "Rows that a range spans; default 100."),
        key(
            "distribution",
            "special",
            TEXT,
            "Which rows the oltp workloads meet most: special, uniform, zipf:1.1 or pareto:0.2; default special.",
        ),
        key("rows", "50", COUNT, "Rows of each batch, of workloads that insert batches."),
        key(
            "style",
            "autocommit",
            Word(&["autocommit", "transactions", "multi-row", "pipelined"]),
            "How postcodes-insert commits; default autocommit.",
        ),
    ],
};

pub(crate) static LOAD: Table = Table {
    name: "load",
    sentence: "How much load. It needs `users` (each waits for a reply), or `rate` or `stages` (requests start at their own times).",
    example: "{ users: 100, for: 60s }",
    keys: &[
        key("name", "steady", TEXT, "Its name in reports; needed in a list."),
        key(
            "scenario",
            "browse",
            TEXT,
            "The one of `scenarios` that it follows; default: all, by their shares.",
        ),
        key(
            "users",
            "100",
            COUNT,
            "Users at the same time, each of whom waits for a reply before the next request.",
        ),
        key("think", "50ms..150ms", One(&form::THINK), "With `users`: the pause between two iterations."),
        key(
            "pacing",
            "1s",
            DURATION,
            "With `users`: at least this long from one start of an iteration to the next.",
        ),
        key("ramp-up", "10s", DURATION, "With `users`: the time over which they come in."),
        key("throughput", "500/s", RATE, "With `users`: no more than this, all together."),
        key("rate", "500/s", RATE, "Iterations started per second, whatever the system does."),
        key(
            "connections",
            "50",
            COUNT,
            "With `rate` or `stages`: connections to spread them over; default 50.",
        ),
        key(
            "arrivals",
            "poisson",
            Word(&["even", "poisson"]),
            "With `rate` or `stages`: how they are spaced; default even.",
        ),
        key(
            "from",
            "10/s",
            RATE,
            "With `rate` or `stages`: the rate at the beginning, from which it climbs.",
        ),
        key(
            "shed-after",
            "1s",
            DURATION,
            "With `rate` or `stages`: one that could not start this long after its time is counted as not sent.",
        ),
        key(
            "stages",
            "[ { for: 10s, to: 100/s } ]",
            List(&table(&STAGE)),
            "A rate that changes, instead of `rate` and `for`.",
        ),
        key("warm-up", "10s", DURATION, "Time before the measured part."),
        key("for", "60s", DURATION, "How long it is measured; default 10s."),
        key(
            "extend",
            "2",
            COUNT,
            "While it is not steady at its end it goes on for as long again, so often at most; default 0, at most 10.",
        ),
        key(
            "requests",
            "1000",
            COUNT,
            "It ends after so many measured requests, or after `for`, whichever is first.",
        ),
        key("timeout", "10s", DURATION, "The longest a request may take; default 10s."),
        key("connect-timeout", "1s", DURATION, "The longest a connection may take; default: as `timeout`."),
        key("keep-alive", "false", One(&form::TRUTH), "Whether connections are used again; default true."),
        key(
            "log-requests",
            "10",
            COUNT,
            "So many single requests of each step and second are kept; default 0.",
        ),
        key("threads", "1", COUNT, "Threads of the generator; default: one for each core."),
        key(
            "pool",
            "10",
            COUNT,
            "With `users`, of transactions: connections that they share; default: one each.",
        ),
        key("room-check", "false", One(&form::TRUTH), "Whether the server is asked for room; default true."),
        key(
            "latency-limit",
            "100ms",
            DURATION,
            "Of transactions: those that take longer are counted as late; with `rate`, those that are late already are not sent.",
        ),
    ],
};

pub(crate) static STAGE: Table = Table {
    name: "stage",
    sentence: "A stretch of time in which the rate changes evenly.",
    example: "{ for: 10s, to: 100/s }",
    keys: &[
        required("for", "10s", DURATION, "How long it takes; 0s is a jump."),
        required("to", "100/s", RATE, "The rate at its end."),
    ],
};

pub(crate) static SYSTEM: Table = Table {
    name: "system",
    sentence: "Something to measure. With `start` or `processes` it is started afresh for each run; with `url` alone it runs already. \
               In its texts `{port}` is a free port, `{port.NAME}` a further one, `{dir}` a fresh folder, `{plan}` the plan's folder, \
               `{tenbin}` this program, `{system}` its name, and each knob of `vary` its value.",
    example: "{ start: \"puma -p {port}\" }",
    keys: &[
        key(
            "start",
            "puma -p {port} -w {workers}",
            COMMAND,
            "The command that starts it, in the foreground; split into words like a shell does, but run without one. Or a list of words.",
        ),
        key(
            "ready",
            "{ get: /health, within: 30s }",
            table(&READY),
            "When it can be used; default: when its port accepts connections, within 30s.",
        ),
        key(
            "stop",
            "{ signal: TERM, within: 10s }",
            table(&STOP),
            "How it is ended; default TERM, within 10s, then KILL.",
        ),
        key(
            "env",
            "{ RACK_ENV: production }",
            Named(&Optional(&TEXT)),
            "Added to the environment of its commands.",
        ),
        key(
            "in",
            "apps/fibonacci",
            TEXT,
            "The folder in which its commands run, from the plan's folder; default: that folder.",
        ),
        key(
            "files",
            "{ app.conf: \"workers {workers}\" }",
            Named(&Either(&[TEXT, table(&TEMPLATE)])),
            "Files written into `{dir}` before it starts.",
        ),
        key(
            "before",
            "[ ./prepare ]",
            COMMANDS,
            "Commands run to their end before it starts; each must exit with 0.",
        ),
        key("after", "[ ./clean ]", COMMANDS, "Commands run to their end after it has stopped."),
        key(
            "commands-within",
            "60s",
            DURATION,
            "How long each of `before` and `after` may take; default 60s.",
        ),
        key(
            "prepare",
            "{ workload: select-only, scale: 10 }",
            table(&PREPARE),
            "Of a database: tables of a workload that are made when it is ready, before each load; not measured.",
        ),
        key(
            "processes",
            "{ app: { start: ./app }, proxy: { start: ./proxy, needs: [ app ] } }",
            Named(&table(&PROCESS)),
            "Several processes, instead of `start`; stopped in the reverse order.",
        ),
        key(
            "url",
            "\"http://127.0.0.1:{port}\"",
            TEXT,
            "Where the load goes; default http://127.0.0.1:{port}.",
        ),
        key(
            "database",
            "\"postgres://app@127.0.0.1:{port.db}/app\"",
            TEXT,
            "Where transactions go if `url` is where requests go; postgres://… or mysql://…, without a password.",
        ),
        key(
            "socket",
            "\"{dir}/app.sock\"",
            TEXT,
            "A Unix socket to connect to, instead of the URL's host and port.",
        ),
        key(
            "version",
            "puma --version",
            COMMAND,
            "A command whose first line of output is kept as the system's version.",
        ),
        key(
            "vary",
            "{ workers: [ 1, 8 ], threads: [ 1, 16 ] }",
            Named(&VALUES),
            "Knobs and the values they take; every combination is a variant. If no text of the system has a knob in braces, they are put into the environment of its commands, under their names.",
        ),
        key("only", "[ { workers: 8 } ]", CHOICES, "Only combinations that match one of these."),
        key(
            "except",
            "[ { workers: 8, threads: 16 } ]",
            CHOICES,
            "No combination that matches one of these.",
        ),
    ],
};

pub(crate) static PROCESS: Table = Table {
    name: "process",
    sentence: "One process of a system.",
    example: "{ start: \"./app {port.app}\" }",
    keys: &[
        required("start", "./app {port.app}", COMMAND, "The command that starts it, in the foreground."),
        key(
            "ready",
            "{ tcp: true }",
            table(&READY),
            "When it can be used; default: when the port it names accepts connections, within 30s.",
        ),
        key(
            "stop",
            "{ signal: QUIT }",
            table(&STOP),
            "How it is ended; default TERM, within 10s, then KILL.",
        ),
        key("env", "{ THREADS: 4 }", Named(&Optional(&TEXT)), "Added to its environment."),
        key("in", "apps/proxy", TEXT, "The folder in which it runs; default: the system's."),
        key("needs", "[ app ]", OneOrList(&TEXT), "Processes that must be ready before it starts."),
    ],
};

pub(crate) static READY: Table = Table {
    name: "ready",
    sentence: "The sign that a process can be used: one of `get`, `tcp`, `log`, `command`.",
    example: "{ get: /health, within: 30s }",
    keys: &[
        key("get", "/health", TEXT, "A GET of this path is answered with 2xx."),
        key("tcp", "true", One(&form::TRUTH), "The port accepts connections."),
        key("log", "Listening on", TEXT, "Its output has this text."),
        key(
            "command",
            "./is-ready {port}",
            COMMAND,
            "This command exits with 0; it is tried again and again.",
        ),
        key(
            "port",
            "app",
            TEXT,
            "With `get` or `tcp`: the name of the port, as in {port.app}; default: the one its command names, or the URL's.",
        ),
        key("within", "30s", DURATION, "How long it may take; default 30s."),
    ],
};

pub(crate) static STOP: Table = Table {
    name: "stop",
    sentence: "How a process is ended. What is left after the time is killed.",
    example: "{ signal: TERM, within: 10s }",
    keys: &[
        key(
            "signal",
            "TERM",
            Word(&["TERM", "INT", "QUIT", "HUP", "USR1", "USR2", "KILL"]),
            "The signal that asks it to end; default TERM.",
        ),
        key("command", "nginx -s quit", COMMAND, "A command that ends it, instead of a signal."),
        key("within", "10s", DURATION, "How long it may take; default 10s."),
    ],
};

pub(crate) static PREPARE: Table = Table {
    name: "prepare",
    sentence: "The tables of a built-in workload, as `tenbin prepare` makes them.",
    example: "{ workload: tpcb-like, scale: 10 }",
    keys: &[
        required("workload", "tpcb-like", TEXT, "The workload whose tables they are."),
        key("scale", "10", COUNT, "Of pgbench's tables: 100,000 accounts each; default 1."),
        key("tables", "4", COUNT, "How many tables the oltp workloads have; default 1."),
        key("table-size", "100000", COUNT, "Rows of each of them; default 10000."),
        key("rows", "50000", COUNT, "Rows of the workload's own table; default: as many as it is known for."),
        key("jobs", "4", COUNT, "Connections to load over; default 4. SQLite has one."),
        key("seed", "1", One(&form::SEED), "The seed of the random rows; default 1."),
        key("drop", "true", One(&form::TRUTH), "Drop tables of these names first, whosever they are."),
        key("fillfactor", "90", COUNT, "Of PostgreSQL: how full pages are made, in percent; default 100."),
        key(
            "foreign-keys",
            "true",
            One(&form::TRUTH),
            "Of PostgreSQL: pgbench's tables refer to each other.",
        ),
        key(
            "unlogged-tables",
            "true",
            One(&form::TRUTH),
            "Of PostgreSQL: tables are kept out of the write-ahead log.",
        ),
    ],
};

pub(crate) static TEMPLATE: Table = Table {
    name: "file",
    sentence: "A file to write.",
    example: "{ template: nginx.conf.in }",
    keys: &[required(
        "template",
        "nginx.conf.in",
        TEXT,
        "A file beside the plan, whose variables are filled in; at most 1 MiB.",
    )],
};

pub(crate) static PIN: Table = Table {
    name: "pin",
    sentence: "Cores by number; none may be in both lists.",
    example: "{ system: [ 0 ], generator: [ 1 ] }",
    keys: &[
        required("system", "[ 0 ]", OneOrList(&One(&form::CORE)), "The cores of the systems."),
        required("generator", "[ 1 ]", OneOrList(&One(&form::CORE)), "The cores of the generator."),
    ],
};

pub(crate) static COMPARE: Table = Table {
    name: "compare",
    sentence: "What decides between variants, and when.",
    example: "{ by: throughput, matters: 3%, blocks: 24 }",
    keys: &[
        key("by", "p99", METRIC, "The figure; default throughput."),
        key("matters", "3%", One(&form::PERCENT), "The smallest difference that matters; default 3%."),
        key(
            "find",
            "best",
            Word(&["every", "best", "failures"]),
            "every: how all variants compare, which is the default. best: which one is the best; what is clearly worse leaves on the \
             way, and the winner is confirmed on fresh blocks. failures: what fails, why, and which variant is without failures; \
             `compare: no` is the same with one block.",
        ),
        key(
            "blocks",
            "24",
            COUNT,
            "How often every variant is run. Two variants are run until it is told how they compare, and `find: best` until the best \
             is told: then it is how often at most, and 24 by default. Of more variants the default is 8. No more than 1000.",
        ),
        key(
            "pilot",
            "3",
            COUNT,
            "Before two variants are compared: so many blocks of the first one against itself, to foretell how many blocks a verdict \
             will take. Default 3, or 0 with 8 blocks or fewer.",
        ),
        key(
            "also",
            "[ p99, cpu-per-request ]",
            OneOrList(&METRIC),
            "Further figures that are judged together with the first, with the same chance of a false alarm for all of them.",
        ),
        key(
            "baseline",
            "puma workers=8",
            TEXT,
            "The variant that all others are compared with, by its name in reports; with `find: best` the one in use, which the \
             winner must beat.",
        ),
        key(
            "within",
            "30min",
            DURATION,
            "The time that all runs together may take. No run begins that would end later, and what is missing is said.",
        ),
        key(
            "direction",
            "lower",
            Word(&["higher", "lower"]),
            "Which is better; default: higher throughput, lower of all else.",
        ),
    ],
};

pub(crate) static QUICK: Table = Table {
    name: "quick",
    sentence: "What is different when a quick run is asked for: enough to see that a plan works, not enough to compare.",
    example: "{ warm-up: 1s, for: 3s, blocks: 2 }",
    keys: &[
        key("warm-up", "1s", DURATION, "Instead of each load's."),
        key("for", "3s", DURATION, "Instead of each load's; stages are shortened in proportion."),
        key(
            "blocks",
            "2",
            COUNT,
            "Instead of the comparison's; with fewer than 6 nothing is decided, and with `also` it takes more.",
        ),
        key(
            "vary",
            "{ puma: { workers: [ 1, 4 ] } }",
            Named(&Named(&VALUES)),
            "By system: other values for its knobs.",
        ),
        key(
            "systems",
            "{ puma: { only: [ { workers: 1 } ] } }",
            Named(&table(&QUICK_SYSTEM)),
            "By system: other choices of its variants.",
        ),
    ],
};

pub(crate) static QUICK_SYSTEM: Table = Table {
    name: "quick system",
    sentence: "Which variants of a system are run in a quick run.",
    example: "{ only: [ { workers: 1 } ] }",
    keys: &[
        key("only", "[ { workers: 1 } ]", CHOICES, "Instead of the system's own."),
        key("except", "[ { workers: 8 } ]", CHOICES, "Instead of the system's own."),
    ],
};
