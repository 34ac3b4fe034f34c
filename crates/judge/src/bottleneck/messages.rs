//! Messages in the output of the system, in which well-known servers and runtimes name a shortage.

use super::cause::{Bottleneck, Scope, suspected};
use super::evidence::Evidence;
use super::words::percent;
use super::{Coverage, REPORTED_ERRORS_MIN_SHARE, Rule, Rung};
use crate::causes::Resource;
use crate::words::count;

/// Min number of lines per run. Fewer are noise, or were written before the load.
const LINES_MIN: u64 = 3;
/// Min number of lines per second, if nearly all requests ended ok.
const LINES_MIN_PER_S: f64 = 0.5;

struct Message {
    /// Text that a matching line contains.
    text: &'static str,
    names: Resource,
    next: &'static str,
    /// Whether a server writes the message only once, even during a long shortage.
    is_written_once: bool,
}

const fn message(text: &'static str, names: Resource, next: &'static str) -> Message {
    Message { text, names, next, is_written_once: false }
}

const POSTGRESQL_CONNECTIONS: &str =
    "raise max_connections of PostgreSQL, or let clients share connections, as with a pooler";
const RAISE_ROLE_LIMIT: &str = "raise the CONNECTION LIMIT of the role or database (ALTER ROLE … CONNECTION LIMIT …), or use fewer connections";
const OPEN_FILES: &str = "raise the limit of open files of the process (ulimit -n, LimitNOFILE)";
const LIMIT_REQ: &str = "raise rate and burst of limit_req in the configuration of nginx, or offer less";
const JAVA_HEAP: &str = "enlarge the heap (-Xmx), or keep less alive";

const THREADS: &str = "raise the limit on threads (ulimit -u, TasksMax of a service, pids.max of its control group), or use a pool of threads";

impl Resource {
    /// The limit on threads or processes of a user or a control group.
    pub const THREAD_LIMIT: Self =
        Self::new("thread_limit", "the limit on threads of the system").with_error_share();
}

/// Known messages. Each text is long enough to have one meaning in the output of any program.
const MESSAGES: &[Message] = &[
    message("too many clients already", Resource::CONNECTION_LIMIT, POSTGRESQL_CONNECTIONS),
    message("remaining connection slots are reserved", Resource::CONNECTION_LIMIT, POSTGRESQL_CONNECTIONS),
    message("too many connections for role", Resource::CONNECTION_LIMIT, RAISE_ROLE_LIMIT),
    message("too many connections for database", Resource::CONNECTION_LIMIT, RAISE_ROLE_LIMIT),
    message(
        "Too many connections",
        Resource::CONNECTION_LIMIT,
        "raise max_connections of the server, or let clients share connections",
    ),
    message(
        "max_user_connections",
        Resource::CONNECTION_LIMIT,
        "raise max_user_connections, or use fewer connections",
    ),
    message(
        "no more connections allowed (max_client_conn)",
        Resource::CONNECTION_LIMIT,
        "raise max_client_conn of PgBouncer",
    ),
    message(
        "worker_connections are not enough",
        Resource::CONNECTION_LIMIT,
        "raise worker_connections in the configuration of nginx: a request that it passes on takes two",
    ),
    message(
        "max number of clients reached",
        Resource::CONNECTION_LIMIT,
        "raise maxclients of Redis, or use fewer connections",
    ),
    message(
        "limiting connections by zone",
        Resource::CONNECTION_LIMIT,
        "raise limit_conn in the configuration of nginx",
    ),
    message("Too many open files", Resource::OPEN_FILES, OPEN_FILES),
    message("too many open files", Resource::OPEN_FILES, OPEN_FILES),
    message("can't start new thread", Resource::THREAD_LIMIT, THREADS),
    message("unable to create native thread", Resource::THREAD_LIMIT, THREADS),
    message("can't create Thread: Resource temporarily unavailable", Resource::THREAD_LIMIT, THREADS),
    message("failed to create new OS thread", Resource::THREAD_LIMIT, THREADS),
    message("failed to spawn thread: Os { code: 11", Resource::THREAD_LIMIT, THREADS),
    message("Can't create a new thread (errno 11", Resource::THREAD_LIMIT, THREADS),
    message("could not fork new process for connection", Resource::THREAD_LIMIT, THREADS),
    message("fork: retry: Resource temporarily unavailable", Resource::THREAD_LIMIT, THREADS),
    message(
        "(11: Resource temporarily unavailable) while connecting to upstream",
        Resource::LISTEN_QUEUE,
        "raise the backlog of the socket behind nginx (and net.core.somaxconn), or let more workers take connections from it",
    ),
    message("limiting requests, excess:", Resource::RATE_LIMIT, LIMIT_REQ),
    message("delaying request, excess:", Resource::RATE_LIMIT, LIMIT_REQ),
    message("server reached pm.max_children setting", Resource::POOL, "raise pm.max_children of PHP-FPM")
        .once(),
    message("server reached MaxRequestWorkers setting", Resource::POOL, "raise MaxRequestWorkers of Apache")
        .once(),
    message("QueuePool limit of size", Resource::POOL, "raise pool_size and max_overflow of SQLAlchemy"),
    message(
        "Connection is not available, request timed out after",
        Resource::POOL,
        "raise maximumPoolSize of HikariCP, or hold connections for less time",
    ),
    message(
        "could not obtain a connection from the pool",
        Resource::POOL,
        "raise the pool in database.yml (pool) to the number of threads",
    ),
    message("The pool is probably full", Resource::POOL, "raise the maximum of the pool of knex"),
    message("query_wait_timeout", Resource::POOL, "raise default_pool_size of PgBouncer"),
    message("java.lang.OutOfMemoryError: Java heap space", Resource::GARBAGE_COLLECTION, JAVA_HEAP),
    message(
        "java.lang.OutOfMemoryError: GC overhead limit exceeded",
        Resource::GARBAGE_COLLECTION,
        JAVA_HEAP,
    ),
];

impl Message {
    const fn once(self) -> Self {
        Self { is_written_once: true, ..self }
    }

    /// Returns the min number of lines that is not noise, in `runs` runs measured for `measured_s` seconds in total.
    fn lines_min(&self, runs: usize, measured_s: f64, has_errors: bool) -> f64 {
        match (self.is_written_once, has_errors) {
            (true, _) => runs as f64,
            (false, true) => (LINES_MIN * runs as u64) as f64,
            (false, false) => ((LINES_MIN * runs as u64) as f64).max(LINES_MIN_PER_S * measured_s),
        }
    }

    fn lines(&self, text: &[u8]) -> u64 {
        let wanted = self.text.as_bytes();
        // Compares the whole text only at occurrences of its first byte, which are rare.
        let begins = |at: &usize| text[*at..].starts_with(wanted);
        let is_first = |(at, byte): (usize, &u8)| (*byte == wanted[0]).then_some(at);
        text.iter().enumerate().filter_map(is_first).filter(begins).count() as u64
    }
}

/// Reduces `output` to the known messages, one per line, so that it reveals nothing else about the system.
pub fn messages_alone(output: &[u8]) -> Vec<u8> {
    let of_message = |message: &Message| format!("{}\n", message.text).repeat(message.lines(output) as usize);
    MESSAGES.iter().map(of_message).collect::<String>().into_bytes()
}

pub(super) const SERVER_MESSAGES: Rule = Rule {
    finds: &[
        Resource::CONNECTION_LIMIT,
        Resource::OPEN_FILES,
        Resource::THREAD_LIMIT,
        Resource::LISTEN_QUEUE,
        Resource::RATE_LIMIT,
        Resource::POOL,
        Resource::GARBAGE_COLLECTION,
    ],
    when: "a process of the system wrote a message that names it three times or more, and 1 % of the planned requests or more did not end \
           *ok*, or it wrote one every two seconds; PHP-FPM and Apache write theirs about workers once, which suffices unless the fastest answer \
           took 85 % of the mean or more",
    why: "the system itself says what it lacks: messages of PostgreSQL, MariaDB, PgBouncer, Redis, nginx, Apache, PHP-FPM, pools of \
          connections (SQLAlchemy, HikariCP, Active Record, knex), the JVM, runtimes that get no thread, and *Too many open files*. With errors it comes first; a full queue does not if a thread of the system or the cores are used up",
    refuted_by: &[],
    rung: Rung::Runtime,
    covers: Coverage::Runs,
    find: server_messages,
};

fn server_messages(evidence: &Evidence<'_>) -> Option<Bottleneck> {
    let outputs = || evidence.runs.iter().flat_map(|run| run.run.outputs());
    let written = MESSAGES
        .iter()
        .flat_map(|message| outputs().map(move |output| (message, output, message.lines(&output.text))));
    let (message, output, _) =
        written.filter(|(_, _, lines)| *lines > 0).max_by_key(|(_, _, lines)| *lines)?;
    let of_process = || outputs().filter(|other| other.process == output.process);
    let lines: u64 = of_process().map(|output| message.lines(&output.text)).sum();
    let is_whole = of_process().all(|output| output.dropped_bytes == 0);
    let errors = evidence.together.error_share();
    let measured_s: f64 = evidence.runs.iter().filter_map(|run| Some(run.measured.window?.length_s)).sum();
    let has_errors = errors >= REPORTED_ERRORS_MIN_SHARE;
    // Workers that were all busy for a moment do not limit requests that did not wait for each other.
    let is_chance = message.is_written_once && evidence.is_uncontended();
    if is_chance || (lines as f64) < message.lines_min(evidence.runs.len(), measured_s, has_errors) {
        return None;
    }
    let at_least = if is_whole { "" } else { "at least " };
    let of_errors = match has_errors && message.names.tells_errors {
        true => format!(", and {} of the requests did not end ok", percent(errors)),
        false => String::new(),
    };
    let because =
        format!("{} wrote `{}` {at_least}{} times{of_errors}", output.process, message.text, count(lines));
    let cause = suspected(message.names, Scope::Process(output.process.clone()), because).next(message.next);
    let is_a_symptom = message.names == Resource::LISTEN_QUEUE && evidence.is_exhausted();
    Some(match has_errors {
        _ if is_a_symptom => cause.symptom(),
        true => cause.first(),
        false => cause.direct(None),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_counted_and_other_output_is_dropped() {
        let output = b"FATAL:  sorry, too many clients already\nalice: sorry, too many clients already\n12 worker_connections ok\n";
        let lines: Vec<u64> =
            MESSAGES.iter().map(|message| message.lines(output)).filter(|lines| *lines > 0).collect();
        assert_eq!(lines, [2]);
        assert_eq!(messages_alone(output), b"too many clients already\ntoo many clients already\n");
        assert_eq!(messages_alone(b""), b"");
        assert!(MESSAGES.iter().all(|message| messages_alone(message.text.as_bytes()).ends_with(b"\n")));
    }

    #[test]
    fn no_message_contains_another() {
        for one in MESSAGES {
            let within = MESSAGES.iter().filter(|other| other.lines(one.text.as_bytes()) > 0).count();
            assert_eq!(within, 1, "{}", one.text);
        }
    }
}
