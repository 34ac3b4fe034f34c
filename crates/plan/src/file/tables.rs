//! Tables of the keys of a plan file. A plan can have no other keys.

mod addresses;
mod events;
mod figures;
mod protocols;
mod quick;
pub(crate) mod replay;
mod resources;
mod scenario;
mod sources;

use std::sync::LazyLock;

use super::form;
use super::keys::{Key, Table, ValueKind};
use crate::spec::{COMPARE_KEYS, LOAD_KEYS, PREPARE_KEYS, SQL_KEYS};
use ValueKind::{Derived, Either, List, Named, One, OneOrList, Optional, Word};
use addresses::{SELECT, SELECT_KEY, WRITTEN};
pub(crate) use sources::COLUMN;

const TEXT: ValueKind = One(&form::TEXT);
const DURATION: ValueKind = One(&form::DURATION);
const COUNT: ValueKind = One(&form::COUNT);
const RATE: ValueKind = One(&form::RATE);
const COMMAND: ValueKind = OneOrList(&TEXT);
const COMMANDS_AND_SQL: ValueKind =
    Either(&[TEXT, table(&STATEMENTS), List(&Either(&[TEXT, List(&TEXT), table(&STATEMENTS)]))]);
const VALUES: ValueKind = OneOrList(&TEXT);
const CHOICES: ValueKind = OneOrList(&Named(&VALUES));

const fn key(name: &'static str, example: &'static str, kind: ValueKind, sentence: &'static str) -> Key {
    Key { name, sentence, example, kind, is_required: false }
}

const fn required(name: &'static str, example: &'static str, kind: ValueKind, sentence: &'static str) -> Key {
    Key { name, sentence, example, kind, is_required: true }
}

const fn table(kind: &'static Table) -> ValueKind {
    ValueKind::Table(kind)
}

// TLS keys, which a system and a plan with `url` share.
const INSECURE: Key =
    key("insecure", "true", One(&form::TRUTH), "Accepts any TLS certificate; noted in the result.");
const CACERT: Key = key(
    "cacert",
    "ca.pem",
    TEXT,
    "For https: trusts the authorities and certificates in this PEM file instead of the system's.",
);
const CERT: Key =
    key("cert", "client.pem", TEXT, "For https: the client certificate to present; a PEM file.");
const CERT_KEY: Key = key(
    "key",
    "client.key",
    TEXT,
    "The private key of `cert`, unless it is in the same file; PEM, not encrypted.",
);
const RESUME_TLS: Key = key(
    "resume-tls",
    "true",
    One(&form::TRUTH),
    "For https: a new connection resumes the TLS session of an earlier one, if the server offers it. Otherwise every handshake is a \
     full one.",
);

// Parameters of the whole plan.
const VARY: Key = key(
    "vary",
    "{ users: [ 1, 16 ], size: [ small, large ] }",
    Named(&VALUES),
    "Parameters of every system and their values; every combination is a variant. `\"{size}\"` stands for a value anywhere: in the scenario, \
     the load, statements, data, `prepare`, and in texts of systems.",
);
const ONLY: Key =
    key("only", "[ { workers: 8 } ]", CHOICES, "Keeps only combinations that match one of these.");
const EXCEPT: Key =
    key("except", "[ { workers: 8, threads: 16 } ]", CHOICES, "Drops combinations that match one of these.");

const URLS: ValueKind = OneOrList(&TEXT);
const URL_OR_ENDPOINT: ValueKind = Either(&[TEXT, List(&TEXT), table(&ENDPOINT)]);
pub(super) const ENDPOINTS: Key = key(
    "endpoints",
    "{ stock: \"http://127.0.0.1:{port.stock}\" }",
    Named(&URL_OR_ENDPOINT),
    "Further systems by name, to which steps send with `endpoint`: their URLs, of any protocol. At the top of a plan they are those of every \
     system; a system's own come before them.",
);

/// All tables, starting with the one for the top level of a plan.
pub(crate) fn all() -> &'static [&'static Table] {
    static ALL: LazyLock<Vec<&'static Table>> = LazyLock::new(|| {
        let step: &'static Table = &scenario::STEP;
        let scenario: [&'static Table; 2] = [&PLAN, &scenario::SCENARIO];
        let of_replies: [&'static Table; 2] = [&scenario::EXPECT, &scenario::CAPTURE];
        let of_steps = [protocols::tables(), protocols::further_tables()].concat();
        [&scenario, protocols::scenario_tables(), &[step], &of_steps, &of_replies, AFTER_STEP].concat()
    });
    &ALL
}

const AFTER_STEP: &[&Table] = &[
    &WORKLOAD,
    &sources::SOURCE,
    &figures::FIGURE,
    &ENDPOINT,
    &SELECT,
    &WRITTEN,
    &SQL,
    &LOAD,
    &CONNECTIONS,
    &replay::REPLAY,
    &STAGE,
    &HOST,
    &SYSTEM,
    &STATEMENTS,
    &PROCESS,
    &PROXY,
    &READY,
    &STOP,
    &resources::RESOURCES,
    &resources::IO,
    &events::EVENT,
    &events::AFTER,
    &events::ACTION,
    &events::SLOW,
    &events::UNTIL,
    &events::LOCK,
    &events::RELOAD,
    &PREPARE,
    &COLUMN,
    &TEMPLATE,
    &PIN,
    &COMPARE,
    &BASELINE,
    &quick::QUICK,
    &quick::QUICK_SYSTEM,
];

pub(crate) static WORKLOAD: Table = Table {
    name: "workload",
    sentence: "A workload of YCSB, with the number and the size of its records.",
    example: "{ name: ycsb-a, records: 100k, fields: 1, field-size: 1KiB }",
    keys: &[
        required("name", "ycsb-a", TEXT, "One of ycsb-a to ycsb-f."),
        key("records", "100k", One(&form::COUNT), "Number of records before the load; default 10000."),
        key("fields", "1", One(&form::COUNT), "Fields of each record; default 10."),
        key("field-size", "1KiB", One(&form::SIZE), "Bytes of each field; default 100."),
    ],
};

pub(crate) static PLAN: Table = Table {
    name: "plan",
    sentence: "The whole file. It requires `scenario` or `scenarios`, `load`, and `url` or `systems`.",
    example: "{ scenario: [ get: / ], load: { users: 10 }, url: http://127.0.0.1:8080 }",
    keys: &[
        key(
            "question",
            "Which server, and with how many workers?",
            TEXT,
            "The question that the study answers; shown in reports.",
        ),
        key(
            "seed",
            "42",
            One(&form::SEED),
            "Seed of random values and of the order of runs; default: a new one for each study, stored with it.",
        ),
        key(
            "scenario",
            "[ get: / ]",
            Either(&[List(&Derived(&scenario::STEP)), Derived(&scenario::SCENARIO)]),
            "The steps of each user.",
        ),
        key(
            "workload",
            "ycsb-a",
            Either(&[TEXT, table(&WORKLOAD)]),
            "In place of `scenario` and `data`: a workload of YCSB, ycsb-a to ycsb-f, in the protocol of each system.",
        ),
        key(
            "setup",
            "[ { post: /users, json: { name: ada }, save: { user: { json: $.id } } } ]",
            Either(&[List(&Derived(&scenario::STEP)), Derived(&scenario::SCENARIO)]),
            "Requests of one client before each load, in any protocol, which are not counted; `endpoint` names the system. All users can use what they save. One that fails ends the run.",
        ),
        key(
            "teardown",
            "[ { delete: \"/users/{user}\" } ]",
            Either(&[List(&Derived(&scenario::STEP)), Derived(&scenario::SCENARIO)]),
            "Requests of the same client after each load, which are not counted.",
        ),
        key(
            "scenarios",
            "{ browse: { share: 80%, steps: [ get: / ] } }",
            Named(&Derived(&scenario::SCENARIO)),
            "Scenarios by name; each iteration follows one of them.",
        ),
        key(
            "data",
            "{ n: { uniform: 1..1000 } }",
            Named(&table(&sources::SOURCE)),
            "Data sources by name; `{n}` in a step is a value of the source `n`, drawn again for each iteration.",
        ),
        required(
            "load",
            "{ users: 100, for: 60s }",
            OneOrList(&table(&LOAD)),
            "The load, or a list of loads, each measured separately.",
        ),
        key(
            "sql",
            "{ mode: prepared }",
            table(&SQL),
            "How statements are sent, and the variables of scripts.",
        ),
        key(
            "url",
            "http://127.0.0.1:8080",
            URLS,
            "A running system, instead of `systems`; or a list of the URLs of its servers. A path in it precedes the paths of steps. Database: postgres://…, mysql://…, or sqlite:PATH, without a password.",
        ),
        key(
            "database",
            "postgres://app@127.0.0.1:5432/app",
            TEXT,
            "With `url` for requests: the database for transactions, or without these the one whose waits are read; postgres://…, mysql://…, or sqlite:PATH, without a password.",
        ),
        SELECT_KEY,
        ENDPOINTS,
        key("socket", "/run/app.sock", TEXT, "With `url`: a Unix socket to connect to."),
        key(
            "pid",
            "1234",
            TEXT,
            "With `url`: the system's process, by its number or the path of a file with it; default: the one that listens at `url`.",
        ),
        key(
            "container",
            "shop-app-1",
            TEXT,
            "With `url`: the system's container in Docker or Podman, by name or ID.",
        ),
        INSECURE,
        CACERT,
        CERT,
        CERT_KEY,
        RESUME_TLS,
        key(
            "prepare",
            "{ workload: select-only, scale: 10 }",
            table(&PREPARE),
            "With the `url` of a database, or `database`: own tables, or those of a workload, created before each run.",
        ),
        key(
            "systems",
            "{ puma: { start: \"puma -p {port}\" } }",
            Named(&table(&SYSTEM)),
            "The systems to measure, by name.",
        ),
        key(
            "hosts",
            "{ far: { namespace: true } }",
            Named(&table(&HOST)),
            "Hosts by name, on which systems run apart from the load.",
        ),
        key(
            "pin",
            "auto",
            Either(&[Word(&["auto", "no"]), table(&PIN)]),
            "CPU cores of system and generator; default no. auto: generator on the last core, system on the others, without cores that other processes use.",
        ),
        key(
            "compare",
            "{ by: throughput, min-effect: 3%, blocks: 24 }",
            Either(&[Word(&["no"]), table(&COMPARE)]),
            "How variants are compared; default: every variant runs once. no: variants are not compared; every variant runs once, and \
             the report shows which of them fail, and why.",
        ),
        key(
            "gates",
            "[ \"p(99)<200ms\", \"errors<0.1%\" ]",
            OneOrList(&TEXT),
            "Conditions for every run: a metric such as `p99` or `errors` (measurement.md lists them), `<`, `<=`, `>`, `>=`, or `=`, and a limit. Prefix `STEP: ` for one step; suffix ` from 10s to 20s` for a part of the time. A limit such as `95% of baseline` compares with the `baseline` of `compare`, over all runs.",
        ),
        key(
            "figures",
            "{ index_size: { sql: \"SELECT pg_relation_size('i')\", unit: bytes } }",
            Named(&table(&figures::FIGURE)),
            "Figures of your own, read before and after each load, or during it. They are columns and charts; `compare` and `gates` \
             take them by name.",
        ),
        key(
            "written",
            "{ table: users, key: email, step: sign up }",
            table(&WRITTEN),
            "Rows that a step inserts. They are counted before and after each load, on every address of the database: as many as requests that ended \
             ok, plus at most those without an answer, and no key twice.",
        ),
        VARY,
        ONLY,
        EXCEPT,
        key("quick", "{ for: 3s, blocks: 2 }", table(&quick::QUICK), "Changes for a quick run."),
        key(
            "events",
            "{ deploy: { at: 20s } }",
            Named(&table(&events::EVENT)),
            "What happens to every system under load, and when; each system says under `events` what to do.",
        ),
        key(
            "diagnose",
            "confirm",
            Word(&["confirm"]),
            "confirm: after the other runs, tests by experiment what limits the fastest variant: one thing is changed at a time, in \
             8 blocks of short runs, within 8 min. `tenbin run --why` does the same for any plan.",
        ),
    ],
};

pub(crate) static ENDPOINT: Table = Table {
    name: "endpoint",
    sentence: "A system that steps name.",
    example: "{ url: \"https://127.0.0.1:8443\", insecure: true }",
    keys: &[
        required(
            "url",
            "\"https://127.0.0.1:8443\"",
            URLS,
            "Where it is, and in which protocol it is spoken to. A path in it precedes the paths of steps. A list names several servers of one \
             service, which differ in host and port.",
        ),
        SELECT_KEY,
        key(
            "pool",
            "4",
            COUNT,
            "Connections that users share, to all servers of a list together, or to each that `hash` selects: a request or transaction takes a \
             free one, or waits, which counts in the response time. Default: one per user.",
        ),
        key("socket", "\"{dir}/stock.sock\"", TEXT, "For http: a Unix socket to connect to."),
        INSECURE,
        CACERT,
        CERT,
        CERT_KEY,
        RESUME_TLS,
    ],
};

pub(crate) static SQL: Table = Table {
    name: "sql",
    sentence: "How statements are sent, and the variables of scripts.",
    example: "{ mode: prepared, max-tries: 3 }",
    keys: SQL_KEYS,
};

pub(crate) static LOAD: Table = Table {
    name: "load",
    sentence: "A load. It requires `users` (closed: each waits for a reply), `rate`, `stages`, or `recorded` (open: requests do not wait for replies), `tool` (another load generator makes it), or `replay` (a log has it).",
    example: "{ users: 100, for: 60s }",
    keys: LOAD_KEYS,
};

pub(crate) static CONNECTIONS: Table = Table {
    name: "connections",
    sentence: "Connections of a load.",
    example: "{ lifetime: 5s }",
    keys: &[
        key("count", "50", COUNT, "With `rate` or `stages`: their number; default 50."),
        key(
            "lifetime",
            "5s",
            DURATION,
            "Time after which each is closed after a reply, and opened again for the next request; default: none. Connections are \
             renewed one after the other, spread evenly over this time, so that each first one lives shorter.",
        ),
    ],
};

pub(crate) static STAGE: Table = Table {
    name: "stage",
    sentence: "A period in which the rate changes linearly.",
    example: "{ for: 10s, to: 100/s }",
    keys: &[
        required("for", "10s", DURATION, "Duration; 0s changes the rate at once."),
        required("to", "100/s", RATE, "Rate at its end."),
    ],
};

pub(crate) static HOST: Table = Table {
    name: "host",
    sentence: "A host on which a system runs, with a network of its own.",
    example: "{ namespace: true }",
    keys: &[required(
        "namespace",
        "true",
        One(&form::TRUTH),
        "A network namespace of this machine, with a link to it; requires root and iproute2.",
    )],
};

pub(crate) static SYSTEM: Table = Table {
    name: "system",
    sentence: "A system to measure. With `start` or `processes`, Tenbin starts it for each run; with `url` alone, it is running already. \
               Variables in its texts: `{port}` is a free port, `{port.NAME}` another one, `{dir}` an empty folder, `{plan}` the \
               plan's folder, `{tenbin}` this program, `{host}` the address of its host, `{system}` its name, and the name of each parameter of `vary` its value.",
    example: "{ start: \"puma -p {port}\" }",
    keys: &[
        key(
            "start",
            "puma -p {port} -w {workers}",
            COMMAND,
            "Command that starts the system in the foreground; split into words as in a shell, but run without one. Or a list of words.",
        ),
        key(
            "ready",
            "{ get: /health, within: 30s }",
            table(&READY),
            "When it is ready; default: when its port accepts connections, within 30s.",
        ),
        key(
            "stop",
            "{ signal: TERM, within: 10s }",
            table(&STOP),
            "How to stop it; default TERM, within 10s, then KILL.",
        ),
        key(
            "env",
            "{ RACK_ENV: production }",
            Named(&Optional(&TEXT)),
            "Environment variables of its commands.",
        ),
        key(
            "in",
            "apps/fibonacci",
            TEXT,
            "Working directory of its commands, relative to the plan's folder; default: that folder.",
        ),
        key(
            "files",
            "{ app.conf: \"workers {workers}\" }",
            Named(&Either(&[TEXT, table(&TEMPLATE)])),
            "Files to write into `{dir}` before the start.",
        ),
        key(
            "before",
            "[ ./prepare, { sql: \"DROP TABLE IF EXISTS a\", endpoint: stock } ]",
            COMMANDS_AND_SQL,
            "Commands to run before the start, or before each run of a system that is running; each must exit with 0. Or statements for a database that is running.",
        ),
        key("after", "[ ./clean ]", COMMANDS_AND_SQL, "Commands and statements to run after the stop."),
        key(
            "commands-within",
            "60s",
            DURATION,
            "Time limit of each command in `before` and `after`; default 60s.",
        ),
        key(
            "host",
            "far",
            TEXT,
            "The host of `hosts` on which its processes and commands run; `{host}` is its address. Default: this machine, 127.0.0.1.",
        ),
        key(
            "resources",
            "{ cpu: 0.5, memory: 256MiB }",
            table(&resources::RESOURCES),
            "What all processes of the system together may use at most; held by control groups of the kernel.",
        ),
        key(
            "disk",
            "64MiB",
            One(&form::DISK),
            "A disk of its own, of this size, at `{dir}/disk`: an ext4 file system in a file. Requires root; at least 16MiB.",
        ),
        key(
            "prepare",
            "{ workload: select-only, scale: 10 }",
            table(&PREPARE),
            "For a database: own tables, or those of a workload, created before each load; not measured.",
        ),
        key(
            "processes",
            "{ app: { start: ./app }, proxy: { start: ./proxy, needs: [ app ] } }",
            Named(&table(&PROCESS)),
            "Several processes, instead of `start`; stopped in reverse order.",
        ),
        key(
            "proxies",
            "{ far: { to: \"127.0.0.1:{port}\", delay: 20ms } }",
            Named(&table(&PROXY)),
            "Proxies by name, which delay or limit connections; `far` listens on `{port.far}`.",
        ),
        key(
            "url",
            "\"http://127.0.0.1:{port}\"",
            URLS,
            "Target of the load; default http://127.0.0.1:{port}. A path in it precedes the paths of steps. A list names several servers of the system.",
        ),
        SELECT_KEY,
        key(
            "database",
            "\"postgres://app@127.0.0.1:{port.db}/app\"",
            TEXT,
            "With `url` for requests: the database for transactions, or without these the one whose waits are read; postgres://…, mysql://…, or sqlite:PATH, without a password.",
        ),
        ENDPOINTS,
        key(
            "socket",
            "\"{dir}/app.sock\"",
            TEXT,
            "A Unix socket to connect to, instead of the URL's host and port.",
        ),
        key(
            "pid",
            "1234",
            TEXT,
            "Without `start`: the system's process, by its number or the path of a file with it; default: the one that listens at `url`.",
        ),
        key(
            "container",
            "shop-app-1",
            TEXT,
            "Without `start`: the system's container in Docker or Podman, by name or ID.",
        ),
        INSECURE,
        CACERT,
        CERT,
        CERT_KEY,
        RESUME_TLS,
        key(
            "version",
            "puma --version",
            COMMAND,
            "Command whose first line of output is stored as the system's version.",
        ),
        key(
            "vary",
            "{ workers: [ 1, 8 ], threads: [ 1, 16 ] }",
            Named(&VALUES),
            "Parameters of this system and their values; every combination is a variant. `\"{workers}\"` stands for a value in its texts, and in the scenario and the load. If nothing uses a parameter in braces, its commands get them as environment variables.",
        ),
        key(
            "events",
            "{ deploy: { signal: USR1 } }",
            Named(&table(&events::ACTION)),
            "What to do for each event of the plan.",
        ),
        key(
            "limits",
            "[ workers ]",
            OneOrList(&TEXT),
            "Parameters of `vary` that an experiment (`diagnose: confirm`, `--why`) may change: whole numbers to the next larger value in \
             the list, or to twice the largest, and words, such as `[ on, off ]`, to the next in the list.",
        ),
        ONLY,
        EXCEPT,
    ],
};

pub(crate) static STATEMENTS: Table = Table {
    name: "statement",
    sentence: "Statements for a database that is running, in place of a command.",
    example: "{ sql: \"DROP TABLE IF EXISTS a\" }",
    keys: &[
        required(
            "sql",
            "DROP TABLE IF EXISTS a",
            OneOrList(&TEXT),
            "Statements; a text that ends in .sql is a file in the folder of the plan.",
        ),
        key(
            "endpoint",
            "stock",
            TEXT,
            "The database, by its name among `endpoints`; default: that of `url` or `database`.",
        ),
    ],
};

pub(crate) static PROCESS: Table = Table {
    name: "process",
    sentence: "One process of a system.",
    example: "{ start: \"./app {port.app}\" }",
    keys: &[
        required("start", "./app {port.app}", COMMAND, "Command that starts it in the foreground."),
        key(
            "ready",
            "{ tcp: true }",
            table(&READY),
            "When it is ready; default: when the port in its command accepts connections, within 30s.",
        ),
        key("stop", "{ signal: QUIT }", table(&STOP), "How to stop it; default TERM, within 10s, then KILL."),
        key("env", "{ THREADS: 4 }", Named(&Optional(&TEXT)), "Environment variables."),
        key("in", "apps/proxy", TEXT, "Working directory; default: the system's."),
        key("needs", "[ app ]", OneOrList(&TEXT), "Processes that must be ready before this one starts."),
        key(
            "start-by",
            "event",
            Word(&["event"]),
            "Not started with the system, but by an event with `start`.",
        ),
    ],
};

pub(crate) static PROXY: Table = Table {
    name: "proxy",
    sentence: "A `tenbin proxy` that Tenbin starts before the processes of the system: it listens on `{port.NAME}` of 127.0.0.1, and is \
               no part of what is measured. Values may contain parameters.",
    example: "{ to: \"127.0.0.1:{port}\", delay: 20ms }",
    keys: &[
        required(
            "to",
            "\"127.0.0.1:{port}\"",
            TEXT,
            "Where connections go: HOST:PORT, or the path of a Unix socket.",
        ),
        key(
            "delay",
            "20ms",
            One(&form::LINK_DELAY),
            "Delay of each direction; a round trip takes twice this.",
        ),
        key("round-trip", "40ms", One(&form::LINK_DELAY), "Delay of a round trip: half in each direction."),
        key("jitter", "2ms", One(&form::LINK_DELAY), "Random deviation of the delay, more or less."),
        key(
            "jitter-kind",
            "normal",
            Word(&["uniform", "normal"]),
            "Distribution of `jitter`: uniform up to it, or normal with it as standard deviation; default uniform.",
        ),
        key(
            "bandwidth",
            "10MB/s",
            One(&form::LINK_BANDWIDTH),
            "Bandwidth of each direction of each connection.",
        ),
        key(
            "reset-after",
            "64KiB",
            One(&form::RESET_AFTER),
            "Resets a connection after so many bytes, or so long.",
        ),
        key(
            "reset-share",
            "10%",
            One(&form::RESET_SHARE),
            "Share of connections that `reset-after` affects; default 100%.",
        ),
        key(
            "drop-new",
            "close",
            Word(&["close", "ignore"]),
            "Resets new connections, or leaves them in the listen queue.",
        ),
    ],
};

pub(crate) static READY: Table = Table {
    name: "ready",
    sentence: "When a process is ready: one of `get`, `tcp`, `log`, `command`.",
    example: "{ get: /health, within: 30s }",
    keys: &[
        key("get", "/health", TEXT, "A GET of this path returns 2xx."),
        key("tcp", "true", One(&form::TRUTH), "The port accepts connections."),
        key("log", "Listening on", TEXT, "Its output contains this text."),
        key(
            "command",
            "./is-ready {port}",
            COMMAND,
            "This command exits with 0; Tenbin repeats it until then.",
        ),
        key(
            "port",
            "app",
            TEXT,
            "With `get` or `tcp`: the name of the port, as in {port.app}; default: the port that its command or `env` names, other than those of proxies and of processes that it needs, or else that of the URL.",
        ),
        key("within", "30s", DURATION, "Time limit; default 30s."),
        key(
            "steady",
            "20s",
            One(&form::STEADY),
            "Whether the load also waits until no process of the system comes or goes and hardly any CPU time is used, for 300 ms; or how \
             long it waits at most; default 10s. `false` begins the load at once.",
        ),
    ],
};

pub(crate) static STOP: Table = Table {
    name: "stop",
    sentence: "How to stop a process. After the time limit, it is killed.",
    example: "{ signal: TERM, within: 10s }",
    keys: &[
        key(
            "signal",
            "TERM",
            Word(&["TERM", "INT", "QUIT", "HUP", "USR1", "USR2", "KILL"]),
            "Signal to send; default TERM.",
        ),
        key("command", "nginx -s quit", COMMAND, "Command that stops it, instead of a signal."),
        key("within", "10s", DURATION, "Time limit; default 10s."),
    ],
};

pub(crate) static PREPARE: Table = Table {
    name: "prepare",
    sentence: "The tables of a built-in workload, as `tenbin prepare` creates them, or own statements and rows.",
    example: "{ workload: tpcb-like, scale: 10 }",
    keys: PREPARE_KEYS,
};

pub(crate) static TEMPLATE: Table = Table {
    name: "file",
    sentence: "A file to write.",
    example: "{ template: nginx.conf.in }",
    keys: &[required(
        "template",
        "nginx.conf.in",
        TEXT,
        "A file in the folder of the plan, with variables to fill in; max 1 MiB.",
    )],
};

pub(crate) static PIN: Table = Table {
    name: "pin",
    sentence: "CPU cores by number; no core may be in both lists.",
    example: "{ system: [ 0 ], generator: [ 1 ] }",
    keys: &[
        required("system", "[ 0 ]", OneOrList(&One(&form::CORE)), "Cores of the systems."),
        required("generator", "[ 1 ]", OneOrList(&One(&form::CORE)), "Cores of the generator."),
    ],
};

pub(crate) static COMPARE: Table = Table {
    name: "compare",
    sentence: "How variants are compared, and for how long.",
    example: "{ by: throughput, min-effect: 3%, blocks: 24 }",
    keys: COMPARE_KEYS,
};

pub(crate) static BASELINE: Table = Table {
    name: "baseline",
    sentence: "A stored run or study to compare with: one of `label`, `file`, and `run`. It was measured at another time, so it is not \
               paired by blocks.",
    example: "{ label: main }",
    keys: &[
        key(
            "label",
            "main",
            TEXT,
            "The newest complete study of this plan that was stored with this label (`--label main`). Without one, conditions of the \
             baseline are not judged.",
        ),
        key(
            "file",
            "main.tenbin",
            TEXT,
            "A file that `tenbin export NAME -o FILE` wrote; relative to the plan's folder.",
        ),
        key("run", "s-20261121-142501-k3f9", TEXT, "The name of a stored study or run."),
    ],
};
