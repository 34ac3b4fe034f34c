//! Builds a plan from flags, for servers that are already running: `tenbin URL URL` and `tenbin capacity URL` run it.

use std::fmt::Write as _;
use std::path::PathBuf;

use evidence::COMMAND;
use plan::{CommandMixSpec, Database, Fault, ScriptSource, Study, TlsSpec, UrlLoad, escape_braces};
use report::shell_quote;

use crate::arguments::with_scheme;
use crate::commands::request::RequestDescription;
use crate::commands::sql::SqlFlags;
use crate::exit::BadArguments;

/// Placeholder for header values and bodies in the stored copy of the plan: they may be secrets.
const HIDDEN: &str = "(not shown)";
/// HTTP methods that are also step keys of a plan.
const METHODS: [&str; 7] = ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"];

/// A running server, and the path of the requests to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Server {
    /// Scheme, host, and port.
    url: String,
    /// Name in reports: host and port.
    pub(crate) name: String,
    /// Path and query.
    path: String,
}

/// Requests or transactions to send to the servers.
pub(crate) enum AdhocLoad {
    /// A request.
    Request {
        described: Box<RequestDescription>,
        body: Option<String>,
        tls: TlsSpec,
        /// Keys of `expect` with their values in YAML.
        expects: Vec<(&'static str, String)>,
    },
    /// Steps as sections of a plan.
    Steps { text: String, tls: TlsSpec },
}

/// Everything that the plan is built from.
pub(crate) struct AdhocPlan {
    pub(crate) title: String,
    pub(crate) servers: Vec<Server>,
    pub(crate) asked: AdhocLoad,
    /// Conditions that every run is judged by.
    pub(crate) gates: Vec<String>,
    /// Keys of `load` with their values.
    pub(crate) load: Vec<(&'static str, String)>,
    /// Keys of `compare` with their values. Empty if nothing is compared.
    pub(crate) compare: Vec<(&'static str, String)>,
    pub(crate) seed: Option<String>,
    /// Command line that repeats the study. `None` if the plan is run by name.
    pub(crate) command: Option<Vec<String>>,
}

impl Server {
    /// Reads the URL of an HTTP server.
    pub(crate) fn read(text: &str) -> Result<Self, BadArguments> {
        let text = with_scheme(text);
        if let Some(fault) = plan::url_fault(&text) {
            return Err(BadArguments(fault.to_string()));
        }
        let no_server =
            |what: &str, help: &str| Err(BadArguments(format!("{text:?}: {what}\n  help: {help}")));
        let Some(port) = plan::default_request_port(&text) else {
            return no_server("only http:// and https:// work here", "write a plan: tenbin init");
        };
        let (scheme, rest) = text.split_once("://").unwrap_or_default();
        let (authority, path) = rest.split_at(rest.find(['/', '?', '#']).unwrap_or(rest.len()));
        if authority.contains('@') {
            // The URL may have a password, so it is not repeated.
            let what = "a URL with a user name is not supported here";
            return Err(BadArguments(format!("{what}\n  help: leave it out, and add -H 'Authorization: …'")));
        }
        let host_end = authority.rfind(']').unwrap_or(0);
        let has_port = authority[host_end..].contains(':');
        let name = if has_port { authority.to_owned() } else { format!("{authority}:{port}") };
        let path = path.split('#').next().unwrap_or_default();
        let slash = if path.starts_with('/') { "" } else { "/" };
        Ok(Self { url: format!("{scheme}://{name}"), name, path: format!("{slash}{path}") })
    }

    /// Reads the URL of a database.
    pub(crate) fn from_database_url(text: &str) -> Result<Self, Vec<Fault>> {
        let shown = Database::read(text)?.shown;
        let name = shown.split_once("://").map_or(shown.as_str(), |(_, rest)| rest).to_owned();
        Ok(Self { url: text.trim().to_owned(), name, path: String::new() })
    }

    /// Reads the URL of a server with protocol-specific steps. Also returns the steps as sections of a plan.
    pub(crate) fn from_step_url(text: &str, mix: &CommandMixSpec) -> Result<(Self, String), Vec<Fault>> {
        let UrlLoad { url, name, text } = UrlLoad::read(text, mix)?;
        Ok((Self { url, name, path: String::new() }, text))
    }

    /// Adds the parameters of the URL to the name, for two databases on one server that differ only in them.
    pub(crate) fn name_parameters(&mut self) {
        if let Some((_, parameters)) = self.url.split_once('?') {
            self.name = format!("{}?{parameters}", self.name);
        }
    }

    /// Whether requests to both servers have the same path.
    pub(crate) fn has_same_path(&self, other: &Self) -> bool {
        self.path == other.path
    }
}

impl AdhocPlan {
    /// Builds and checks the plan.
    pub(crate) fn study(&self) -> anyhow::Result<Study> {
        let folder = std::env::current_dir()?;
        let text = self.text(escape_braces);
        let study =
            Study::from_bytes(text.as_bytes(), "the plan of these flags", self.title.clone(), folder, false);
        let mut study = study.map_err(|errors| BadArguments(errors.to_string()))?;
        study.resolve_interleave_at(&runner::place());
        let text = self.text(|_| HIDDEN.to_owned());
        study.source = match &self.command {
            Some(words) => format!("{COMMAND}{}\n{text}", self.shown_command(words)),
            None => text,
        };
        Ok(study)
    }

    /// Text of the plan. `shown` is applied to header values and to the body.
    fn text(&self, shown: fn(&str) -> String) -> String {
        let path = self.servers.first().map_or("/", |server| &server.path);
        let mut text = self.asked.scenario(path, shown);
        let _ = writeln!(text, "load: {}", mapping(&self.load));
        text.push_str("systems:\n");
        for server in &self.servers {
            let keys = [vec![("url", server.url.clone())], self.certificates()].concat();
            let _ = writeln!(text, "  {}: {}", quoted(&server.name), mapping(&keys));
        }
        if !self.gates.is_empty() {
            let gates: Vec<String> = self.gates.iter().map(|gate| quoted(gate)).collect();
            let _ = writeln!(text, "gates: [ {} ]", gates.join(", "));
        }
        if !self.compare.is_empty() {
            let _ = writeln!(text, "compare: {}", mapping(&self.compare));
        }
        if let Some(seed) = &self.seed {
            let _ = writeln!(text, "seed: {}", quoted(seed));
        }
        text
    }

    /// TLS keys of a system that were given, with their values.
    fn certificates(&self) -> Vec<(&'static str, String)> {
        let (AdhocLoad::Request { tls, .. } | AdhocLoad::Steps { tls, .. }) = &self.asked;
        let TlsSpec { insecure, cacert, cert, key, resume_tls } = tls;
        let path = |path: &Option<PathBuf>| path.as_ref().map(|path| escape_braces(&path.to_string_lossy()));
        let all = [
            ("insecure", insecure.then(|| "true".to_owned())),
            ("cacert", path(cacert)),
            ("cert", path(cert)),
            ("key", path(key)),
            ("resume-tls", resume_tls.then(|| "true".to_owned())),
        ];
        all.into_iter().filter_map(|(key, value)| Some((key, value?))).collect()
    }

    /// The command quoted for a shell, with possible secrets replaced.
    fn shown_command(&self, words: &[String]) -> String {
        let secrets = match &self.asked {
            AdhocLoad::Request { described, .. } => described.secrets.as_slice(),
            AdhocLoad::Steps { .. } => &[],
        };
        let shown = |word: &String| {
            let hides = |text: String, secret: &String| text.replace(secret, HIDDEN);
            shell_quote(&secrets.iter().fold(word.clone(), hides))
        };
        words.iter().map(shown).collect::<Vec<_>>().join(" ")
    }
}

impl AdhocLoad {
    /// The `scenario` of the plan, and the `sql` settings of transactions. `shown` is applied to header values and to the body.
    fn scenario(&self, path: &str, shown: fn(&str) -> String) -> String {
        match self {
            Self::Request { described, body, expects, .. } => {
                let default = if body.is_some() { "POST" } else { "GET" };
                let method = described.method.as_deref().unwrap_or(default);
                let mut text = format!("scenario:\n  - {}\n", step(method, path));
                let headers = described.headers.iter().filter_map(|line| line.split_once(':'));
                let headers: Vec<String> = headers
                    .map(|(name, value)| format!("{}: {}", quoted(name.trim()), quoted(&shown(value.trim()))))
                    .collect();
                if !headers.is_empty() {
                    let _ = writeln!(text, "    headers: {{ {} }}", headers.join(", "));
                }
                if let Some(body) = body {
                    let _ = writeln!(text, "    body: {}", quoted(&shown(body)));
                }
                if !expects.is_empty() {
                    let expects: Vec<String> =
                        expects.iter().map(|(key, value)| format!("{key}: {value}")).collect();
                    let _ = writeln!(text, "    expect: {{ {} }}", expects.join(", "));
                }
                text
            }
            Self::Steps { text, .. } => text.clone(),
        }
    }
}

/// Scripts or workloads as sections of a plan. If there are several, each transaction runs one of them.
pub(crate) fn transactions(played: &[ScriptSource], flags: &SqlFlags) -> String {
    let steps = played.iter().filter_map(|one| transaction(one, played.len() > 1));
    format!("scenario:\n{}{}", steps.collect::<String>(), settings(flags))
}

/// Formats the `sql` key, which configures how statements are sent. Empty if no flag sets any of it.
fn settings(flags: &SqlFlags) -> String {
    let mut settings: Vec<String> =
        flags.keys().iter().map(|(key, value)| format!("{key}: {}", quoted(value))).collect();
    let variables =
        flags.variables().map(|(name, value)| format!("{}: {}", quoted(name), number_or_text(value)));
    let variables: Vec<String> = variables.collect();
    settings.extend((!variables.is_empty()).then(|| format!("variables: {{ {} }}", variables.join(", "))));
    if settings.is_empty() { String::new() } else { format!("sql: {{ {} }}\n", settings.join(", ")) }
}

/// Step of a request: `get: "/path"`, or `request: "METHOD /path"` for a method without a key.
fn step(method: &str, path: &str) -> String {
    if METHODS.contains(&method) {
        return format!("{}: {}", method.to_ascii_lowercase(), quoted(&escape_braces(path)));
    }
    format!("request: {}", quoted(&format!("{method} {}", escape_braces(path))))
}

/// Formats the step of a script or workload, with its weight if there are several. `None` if the text does not come from a file.
fn transaction(played: &ScriptSource, has_others: bool) -> Option<String> {
    let (key, text) = match played {
        ScriptSource::File(text) => ("script", text),
        ScriptSource::Workload(text) => ("workload", text),
        ScriptSource::Text { .. } => return None,
    };
    let (name, weight) = text.rsplit_once('@').unwrap_or((text, "1"));
    let weight = if has_others { format!("    weight: {}\n", quoted(weight)) } else { String::new() };
    Some(format!("  - {key}: {}\n{weight}", quoted(name)))
}

fn number_or_text(value: &str) -> String {
    let is_number = value.parse::<f64>().is_ok_and(f64::is_finite);
    if is_number { value.to_owned() } else { quoted(value) }
}

/// Arguments of this process after the word `tenbin`. Line breaks become spaces.
pub(crate) fn own_command() -> Vec<String> {
    let words = std::env::args_os().skip(1).map(|word| word.to_string_lossy().replace(['\n', '\r'], " "));
    std::iter::once("tenbin".to_owned()).chain(words).collect()
}

fn mapping(entries: &[(&'static str, String)]) -> String {
    let entries: Vec<String> =
        entries.iter().map(|(key, value)| format!("{key}: {}", quoted(value))).collect();
    format!("{{ {} }}", entries.join(", "))
}

/// Text in double quotes, as YAML and JSON write it.
pub(crate) fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn splits_url_into_server_and_path() {
        let server = |url: &str, name: &str, path: &str| Server {
            url: url.into(),
            name: name.into(),
            path: path.into(),
        };
        let read = |text: &str| Server::read(text).map_err(|error| error.0);
        assert_eq!(read("localhost:8080"), Ok(server("http://localhost:8080", "localhost:8080", "/")));
        assert_eq!(read("https://a.test/x?y=1#z"), Ok(server("https://a.test:443", "a.test:443", "/x?y=1")));
        assert_eq!(read("http://[::1]?q"), Ok(server("http://[::1]:80", "[::1]:80", "/?q")));
        for wrong in ["postgres:///shop", "here", "http://me:secret@host/"] {
            let said = read(wrong).expect_err("no HTTP server");
            assert!(said.contains("help: ") && !said.contains("secret"), "{said}");
        }
    }
}
