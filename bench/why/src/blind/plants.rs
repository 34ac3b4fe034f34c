//! Plants, with one table for each kind of server.

mod c;
mod go;
mod java;
mod mariadb;
mod nginx;
mod node;
mod postgresql;
mod python;
mod ruby;
mod rust;

use serde::Serialize;

use super::flags::{BlindFlags, Part as Chosen};

/// Programming language of a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Language {
    C,
    Rust,
    Go,
    Java,
    Node,
    Python,
    Ruby,
}

impl Language {
    /// Returns the command that compiles the server of this language into the folder of the run. `None` if it needs no compiler.
    pub(crate) fn compiling(self) -> Option<&'static str> {
        match self {
            Self::C => Some("cc -O2 -pthread -o {dir}/server-c {servers}/server.c"),
            Self::Rust => Some("rustc --edition 2021 -O -o {dir}/server-rust {servers}/server.rs"),
            Self::Go => Some("go build -o {dir}/server-go {servers}/server.go"),
            Self::Java => Some("javac -encoding UTF-8 -d {dir} {servers}/Server.java"),
            Self::Node | Self::Python | Self::Ruby => None,
        }
    }

    /// Returns the command that starts the server of this language, without its arguments.
    pub(crate) fn command(self) -> &'static str {
        match self {
            Self::C => "{dir}/server-c",
            Self::Rust => "{dir}/server-rust",
            Self::Go => "{dir}/server-go",
            Self::Java => "java -cp {dir} Server",
            Self::Node => "node {servers}/server.js",
            Self::Python => "python3 -B {servers}/server.py",
            Self::Ruby => "ruby {servers}/server.rb",
        }
    }
}

/// Kind of a database server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Database {
    Postgresql,
    Mariadb,
}

/// Part of a system. Processes start in the order of their parts.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Part {
    /// Server under load: its language and arguments.
    App(Language, &'static str),
    /// Additional server on `{port.NAME}`: its name, language, and arguments.
    Peer(&'static str, Language, &'static str),
    /// Process that is ready at once: its name and command.
    Program(&'static str, &'static str),
    /// Program on the port of the load: its name and command.
    Server(&'static str, &'static str),
    /// nginx on the port of the load, with lines for configuration sections: `main`, `http`, `listen`, `server`, and `location`.
    Nginx(&'static [(&'static str, &'static str)]),
    /// Database with options of its server, and statements that run before the load, one per line. Without `App` and `Nginx`, it is under
    /// load itself. Otherwise it listens on `{port.db}`.
    Database(Database, &'static str, &'static [&'static str]),
    /// Command that runs before the start.
    Before(&'static str),
    /// File: its name and text.
    File(&'static str, &'static str),
    /// Additional line of the system in the plan.
    System(&'static str),
}

/// Kind of a plant. Each plant has one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Kind {
    /// One limit.
    Limit,
    /// One limit, with a red herring: conspicuous activity that limits nothing.
    Herring,
    /// Two limits.
    Two,
    /// One limit that keeps no resource busy.
    Waiting,
    /// No limit in the system: more users would get more answers.
    Users,
}

/// Planted limit, and the answers that name it.
#[derive(Debug)]
pub(crate) struct Plant {
    /// Name: the language or the server, then the idea.
    pub(crate) name: &'static str,
    /// Cause in one sentence.
    pub(crate) about: &'static str,
    pub(crate) kind: Kind,
    /// Keys of `load` in the plan.
    pub(crate) load: &'static str,
    /// Lines of the plan for the scenario and its data.
    pub(crate) scenario: &'static str,
    pub(crate) parts: &'static [Part],
    /// Answers that name the cause.
    pub(crate) right: &'static [&'static str],
    /// Answers that name the second cause. Empty if there is one cause.
    pub(crate) also: &'static [&'static str],
    /// Answers of the right family that do not name the exact cause.
    pub(crate) vague: &'static [&'static str],
    /// Reason why the ratio without the cause is not asserted. `None` if it is asserted.
    pub(crate) unverified: Option<&'static str>,
}

/// Answers for a server whose processes wait for something.
const WAITS: &[&str] = &["waiting", "pool", "lock", "dependency"];
/// Answers for slots that limit the number of concurrent requests, with or without threads of their own.
const SLOTS: &[&str] = &["pool", "lock:semaphore/futex/slot"];
/// Answers for connections that wait to be accepted or served.
const ACCEPTING: &[&str] = &["listen_queue", "pool", "connection_limit", "connections"];
/// Answers for a limit on the connections from one server to another.
const CONNECTIONS: &[&str] = &["pool", "connections", "connection_limit", "dependency:connections"];
/// Red herring: a job that writes to the disk, like a backup.
const BACKUP: Part = Part::Program(
    "backup",
    "[[h:sh -c 'while :; do dd if=/dev/zero of={dir}/backup bs=64k count=200 conv=fsync status=none; sleep 0.3; done'|sleep 600]]",
);
/// Answers for a CPU-bound server.
const COMPUTES: &[&str] = &["one_core", "machine_cpu"];

impl Plant {
    pub(crate) const fn new(name: &'static str, about: &'static str) -> Self {
        Self {
            name,
            about,
            kind: Kind::Limit,
            load: "users: 16",
            scenario: "scenario: [ get: / ]",
            parts: &[],
            right: &[],
            also: &[],
            vague: &[],
            unverified: None,
        }
    }

    /// Whether the load goes to the database itself.
    pub(crate) fn is_direct(&self) -> bool {
        !self.parts.iter().any(|part| matches!(part, Part::App(..) | Part::Nginx(..)))
    }

    const fn on(self, parts: &'static [Part]) -> Self {
        Self { parts, ..self }
    }

    const fn load(self, load: &'static str) -> Self {
        Self { load, ..self }
    }

    const fn scenario(self, scenario: &'static str) -> Self {
        Self { scenario, ..self }
    }

    const fn herring(self) -> Self {
        Self { kind: Kind::Herring, ..self }
    }

    const fn waiting(self) -> Self {
        Self { kind: Kind::Waiting, ..self }
    }

    /// Marks a plant that only the number of users or the rate limits.
    const fn users(self) -> Self {
        Self { kind: Kind::Users, right: &["load"], vague: &["dependency"], ..self }
    }

    pub(crate) const fn right(self, answers: &'static [&'static str]) -> Self {
        Self { right: answers, ..self }
    }

    pub(crate) const fn two(self, first: &'static [&'static str], second: &'static [&'static str]) -> Self {
        Self { kind: Kind::Two, right: first, also: second, ..self }
    }

    pub(crate) const fn vague(self, answers: &'static [&'static str]) -> Self {
        Self { vague: answers, ..self }
    }

    const fn unverified(self, reason: &'static str) -> Self {
        Self { unverified: Some(reason), ..self }
    }
}

/// Tables in run order.
const TABLES: &[&[Plant]] = &[
    c::PLANTS,
    rust::PLANTS,
    go::PLANTS,
    java::PLANTS,
    node::PLANTS,
    python::PLANTS,
    ruby::PLANTS,
    nginx::PLANTS,
    postgresql::PLANTS,
    mariadb::PLANTS,
];

/// Iterates over all plants in run order.
pub(crate) fn all() -> impl Iterator<Item = &'static Plant> {
    TABLES.iter().copied().flatten()
}

/// Returns the plants named by `--only`, or those of `--part` if none are named.
pub(crate) fn chosen(flags: &BlindFlags) -> Result<Vec<&'static Plant>, String> {
    if flags.only.is_empty() {
        let is_chosen = |plant: &&Plant| match flags.part {
            Chosen::First => !is_last(plant),
            Chosen::Last => is_last(plant),
            Chosen::All => true,
        };
        return Ok(all().filter(is_chosen).collect());
    }
    let unknown = |name: &String| {
        let names: Vec<&str> = all().map(|plant| plant.name).collect();
        format!("no plant {name}; plants are {}", names.join(", "))
    };
    let named = |name: &String| all().find(|plant| plant.name == name).ok_or_else(|| unknown(name));
    flags.only.iter().map(named).collect()
}

/// Whether the plant belongs to the last quarter. Depends only on its name, so that new plants do not move old ones.
fn is_last(plant: &Plant) -> bool {
    plant.name.bytes().map(u32::from).sum::<u32>() % 4 == 0
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::blind::plan;

    #[test]
    fn names_are_unique_and_answers_are_given() {
        let names: BTreeSet<&str> = all().map(|plant| plant.name).collect();
        assert_eq!(names.len(), all().count(), "a name is there twice");
        for plant in all() {
            assert!(!plant.right.is_empty() && !plant.parts.is_empty(), "{}", plant.name);
            assert_eq!(plant.kind == Kind::Two, !plant.also.is_empty(), "{}", plant.name);
        }
    }

    #[test]
    fn causes_and_herrings_have_alternatives() {
        for plant in all() {
            let tags = plan::tags(plant);
            assert!(tags.contains(&'a') || plant.unverified.is_some(), "{}", plant.name);
            assert_eq!(tags.contains(&'b'), plant.kind == Kind::Two, "{}", plant.name);
            assert!(plant.kind != Kind::Herring || tags.contains(&'h'), "{}", plant.name);
        }
    }

    #[test]
    fn kinds_have_their_shares() {
        let percent = |kind: Kind| 100 * all().filter(|plant| plant.kind == kind).count() / all().count();
        assert!(percent(Kind::Herring) >= 25 && percent(Kind::Two) >= 15);
        assert!(percent(Kind::Waiting) >= 12 && percent(Kind::Users) >= 8);
    }
}
