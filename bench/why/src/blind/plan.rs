//! Writes the plan of a plant.
//!
//! Texts of a plant have alternatives: `[[2|64]]` is `2` with the cause and `64` without it. `[[b:…|…]]` is the second cause of two, and
//! `[[h:…|…]]` a red herring.

use std::fmt::Write as _;

use super::plants::{Database, Language, Part, Plant};

/// Folder of the servers of the plants.
const SERVERS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/blind/servers");
/// Folder of the scripts that create and start databases.
const DATABASES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../plans/databases");
const NGINX: &str = include_str!("../../blind/servers/nginx.conf.in");

const NGINX_PLACES: [&str; 5] = ["main", "http", "listen", "server", "location"];

/// Duration of the load for a throughput ratio, in seconds.
pub(crate) const SHORT_S: f64 = 2.0;

/// Duration of a load.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Length {
    /// Long enough for an answer.
    Full,
    /// Long enough for a throughput ratio.
    Short,
}

/// Returns the plan of `plant` without the causes in `removed`.
pub(crate) fn text(plant: &Plant, removed: &[char], length: Length) -> String {
    let lasting = match length {
        Length::Full => "warm-up: 1s, for: 5s".to_owned(),
        Length::Short => format!("warm-up: 500ms, for: {SHORT_S}s"),
    };
    let mut plan = format!("# {}: {}\n", plant.name, plant.about);
    if let Some(reason) = plant.unverified {
        let _ = writeln!(plan, "# The ratio without the cause is not asserted: {reason}");
    }
    let _ = writeln!(plan, "{}", plant.scenario);
    let _ = writeln!(plan, "load: {{ {}, {lasting} }}\nsystems:\n  stack:", plant.load);
    let mut system = System::default();
    for part in plant.parts {
        system.add(part, plant.is_direct());
    }
    plan.push_str(&system.text());
    let plan = plan.replace("{servers}", SERVERS).replace("{databases}", DATABASES);
    alternative(&plan, removed)
}

/// Returns the tags of the alternatives in the texts of `plant`, sorted.
pub(crate) fn tags(plant: &Plant) -> Vec<char> {
    let plan = text(plant, &[], Length::Full);
    let raw = all_texts(plant);
    debug_assert!(!plan.contains("[["), "{}", plant.name);
    let mut tags: Vec<char> = raw.split("[[").skip(1).map(|rest| tagged(rest).0).collect();
    tags.sort_unstable();
    tags.dedup();
    tags
}

fn all_texts(plant: &Plant) -> String {
    let parts: Vec<String> = plant.parts.iter().map(|part| format!("{part:?}")).collect();
    format!("{} {} {}", plant.scenario, plant.load, parts.concat())
}

fn tagged(rest: &str) -> (char, &str) {
    match rest.as_bytes() {
        [tag @ (b'a' | b'b' | b'h'), b':', ..] => (char::from(*tag), &rest[2..]),
        _ => ('a', rest),
    }
}

/// Resolves each alternative in `text`: to its second half if its tag is in `removed`, otherwise to its first.
fn alternative(text: &str, removed: &[char]) -> String {
    let mut chosen = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("[[") {
        let (tag, after) = tagged(after);
        let (pair, after) = after.split_once("]]").unwrap_or((after, ""));
        let (with, without) = pair.split_once('|').unwrap_or((pair, ""));
        chosen.push_str(before);
        chosen.push_str(if removed.contains(&tag) { without } else { with });
        rest = after;
    }
    chosen + rest
}

/// YAML lines of a system, collected from its parts.
#[derive(Default)]
struct System {
    files: String,
    before: Vec<String>,
    processes: String,
    previous: Option<String>,
    further: String,
}

impl System {
    fn add(&mut self, part: &Part, is_direct: bool) {
        match part {
            Part::App(language, steps) => self.server("app", "port", "{port}", *language, steps),
            Part::Peer(name, language, steps) => {
                self.server(name, name, &format!("{{port.{name}}}"), *language, steps);
            }
            Part::Program(name, command) => self.process(name, command, "ready: { command: 'true' }"),
            Part::Server(name, command) => self.process(name, command, READY),
            Part::Nginx(places) => {
                let mut conf = NGINX.to_owned();
                for place in NGINX_PLACES {
                    let lines = places.iter().find(|(name, _)| *name == place).map_or("", |(_, lines)| lines);
                    conf = conf.replace(&format!("@{place}"), lines);
                }
                self.file("nginx.conf", &conf);
                self.process("nginx", "nginx -e stderr -p {dir} -c {dir}/nginx.conf", READY);
            }
            Part::Database(database, settings, schema) => {
                self.database(*database, settings, schema, is_direct)
            }
            Part::Before(command) => self.before.push(quoted(command)),
            Part::File(name, text) => self.file(name, text),
            Part::System(line) => {
                let _ = writeln!(self.further, "    {line}");
            }
        }
    }

    fn file(&mut self, name: &str, text: &str) {
        let _ = writeln!(self.files, "      {name}: |");
        for line in text.lines() {
            let _ = writeln!(self.files, "        {line}");
        }
    }

    /// Adds a server in `language`, and the command that compiles it if there is one.
    fn server(&mut self, name: &str, port_name: &str, port: &str, language: Language, steps: &str) {
        if let Some(compiling) = language.compiling() {
            let compiling = quoted(compiling);
            if !self.before.contains(&compiling) {
                self.before.push(compiling);
            }
        }
        let ready = format!("ready: {{ tcp: true, port: {port_name}, within: 30s }}");
        let command = format!("{} {port} {steps}", language.command());
        self.process(name, &command, &ready);
    }

    fn database(&mut self, database: Database, settings: &str, schema: &[&str], is_direct: bool) {
        let port = if is_direct { "{port}" } else { "{port.db}" };
        if !schema.is_empty() {
            self.file("schema.sql", &schema.join("\n"));
        }
        let (script, log, stop, url) = match database {
            Database::Postgresql => (
                "postgresql.sh",
                "ready to accept connections",
                "stop: { signal: INT }",
                "postgres://bench@127.0.0.1:{port}/postgres?sslmode=disable",
            ),
            Database::Mariadb => (
                "mariadb.sh",
                "ready for connections",
                "stop: { signal: TERM }",
                "mysql://bench@127.0.0.1:{port}/bench?ssl-mode=DISABLED",
            ),
        };
        self.before.push(quoted(&format!("{{databases}}/{script} make {{dir}}")));
        if !schema.is_empty() {
            self.before.push(quoted(&format!("{{servers}}/schema.sh {script} {{dir}}")));
        }
        let ready = format!("ready: {{ log: {log}, within: 60s }}\n        {stop}");
        self.process("db", &format!("{{databases}}/{script} run {{dir}} {port} {settings}"), &ready);
        if is_direct {
            let _ = writeln!(self.further, "    url: {url}");
        } else {
            let _ = writeln!(self.further, "    database: {}", url.replace("{port}", "{port.db}"));
        }
    }

    fn process(&mut self, name: &str, command: &str, ready: &str) {
        let _ = writeln!(
            self.processes,
            "      {name}:\n        start: {}\n        {ready}",
            quoted(command.trim())
        );
        if let Some(previous) = &self.previous {
            let _ = writeln!(self.processes, "        needs: [ {previous} ]");
        }
        self.previous = Some(name.to_owned());
    }

    fn text(&self) -> String {
        let mut text = String::new();
        if !self.files.is_empty() {
            let _ = write!(text, "    files:\n{}", self.files);
        }
        if !self.before.is_empty() {
            let _ = writeln!(text, "    before:");
            for command in &self.before {
                let _ = writeln!(text, "      - {command}");
            }
        }
        let _ = write!(text, "    processes:\n{}{}", self.processes, self.further);
        text
    }
}

const READY: &str = "ready: { tcp: true, port: port, within: 30s }";

/// Quotes a text in single quotes, as YAML requires.
fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::blind::plants;

    #[test]
    fn removed_causes_leave_their_second_alternative() {
        let text = "a=[[2|64]] b=[[b:5|0]] c=[[h:spin|]]";
        assert_eq!(alternative(text, &[]), "a=2 b=5 c=spin");
        assert_eq!(alternative(text, &['a']), "a=64 b=5 c=spin");
        assert_eq!(alternative(text, &['b', 'h']), "a=2 b=0 c=");
    }

    #[test]
    fn every_plan_is_complete() {
        for plant in plants::all() {
            let plan = text(plant, &[], Length::Full);
            assert!(!["[[", "]]", "@main", "@location"].iter().any(|left| plan.contains(left)), "{plan}");
        }
    }
}
