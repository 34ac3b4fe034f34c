//! Only listed files read a clock, each for a stated reason.

use std::collections::BTreeMap;

use rules::{files, tokens};

/// Files that may read a clock, with the reason. All other code gets the time as an argument.
const MAY_READ: &[(&str, &str)] = &[
    ("crates/engine/src/clock.rs", "the clock of the load: the one that every request is timed by"),
    ("crates/engine/src/running.rs", "the instant from which all workers count"),
    (
        "crates/engine/src/worker.rs",
        "a worker's clock while connections are opened, before that instant is known",
    ),
    ("crates/engine/src/net/line.rs", "the deadline of a single connection, outside of a load"),
    ("crates/runner/src/describe.rs", "the date of a run"),
    ("crates/runner/src/environment.rs", "over which time the processes around a load are looked at"),
    ("crates/runner/src/clock.rs", "the clock of runs: tests have another one"),
    ("crates/runner/src/load_tool.rs", "when another load generator was started, to end it in time"),
    ("crates/study/src/study.rs", "how long the runs of a study take, to tell how long is left"),
    ("crates/runner/src/own_figures.rs", "when figures of a plan are read during the load"),
    ("crates/runner/src/own_figures/exporter.rs", "how long an exporter may take to reply"),
    ("crates/runner/src/stretching.rs", "how long a password may be stretched"),
    ("crates/runner/src/databases/redis/hot_keys.rs", "how long a sample of commands may take"),
    ("crates/runner/src/database_watch.rs", "how long a database took to answer, to ask it seldom"),
    (
        "crates/runner/src/databases/postgres/watch.rs",
        "how long the statistics of all tables took, to leave them out where that is long",
    ),
    ("crates/runner/src/resolve.rs", "how long a name look-up took"),
    ("crates/runner/src/written.rs", "how long the rows of all shards may be read"),
    ("crates/lab/src/at_rest.rs", "how long threads are observed before a load"),
    ("crates/lab/src/listening.rs", "how long looking through open files may take"),
    ("crates/lab/src/steady.rs", "how long a system takes to be steady, once it is ready"),
    ("crates/lab/src/deadline.rs", "how long a system may take to start and to stop"),
    ("crates/lab/src/probes/pss.rs", "what a dear reading cost, to do it seldom"),
    ("crates/lab/src/probes/own_time.rs", "the CPU time that looking costs, to do the dear part seldom"),
    ("crates/lab/src/probes/watch.rs", "when a look is due, and when it was made"),
    ("crates/lab/src/probes/system.rs", "when processes were read, which may be long after the look began"),
    ("crates/tenbin/src/commands/load/waiting.rs", "how long a server that is starting is waited for"),
    ("crates/tenbin/src/live_line.rs", "how long a terminal is waited for"),
    (
        "crates/tenbin/src/commands/prepare.rs",
        "how long the tables took, and when a terminal gets the next line",
    ),
    ("crates/machine/src/stopwatch.rs", "how long trials of the machine take: that is what they measure"),
    ("crates/proxy/src/clock.rs", "the clock of a proxy: when what it holds back may leave"),
    ("crates/target/src/", "a server keeps its own time, and knows nothing of the tool's"),
];

fn allows(entry: &str, path: &str) -> bool {
    if entry.ends_with('/') { path.starts_with(entry) } else { path == entry }
}

#[test]
fn only_the_listed_files_read_a_clock() {
    let reads: BTreeMap<String, Vec<usize>> = files::rust()
        .iter()
        .filter(|file| file.is_product())
        .map(|file| {
            let code = tokens::without_tests(&file.text);
            let names =
                [&["Instant", ":", ":", "now"][..], &["SystemTime", ":", ":", "now"], &["clock_gettime"]];
            let lines = names.iter().flat_map(|name| tokens::lines_of(&code, name)).collect::<Vec<_>>();
            (file.path.clone(), lines)
        })
        .filter(|(_, lines)| !lines.is_empty())
        .collect();
    for (path, lines) in &reads {
        assert!(
            MAY_READ.iter().any(|(entry, _)| allows(entry, path)),
            "{path}:{lines:?} reads a clock: take the time as an argument, or list the file with its reason in MAY_READ"
        );
    }
    for (path, reason) in MAY_READ {
        assert!(
            reads.keys().any(|read| allows(path, read)),
            "{path} ({reason}) no longer reads a clock: take it out of MAY_READ"
        );
    }
}
