//! Reads `replay` of a load: the log, the selected part of it, and the speed.

use std::collections::BTreeMap;
use std::io::BufReader;

use ::replay::{
    Format, KEPT_BYTES_MAX, Layout, Log, LogError, Moment, ReadError, Recorded, Selection, Storage,
};

use super::folder::FileProblem;
use super::reading::Reading;
use super::tree::{Entry, Node, WithUnits as _};
use crate::replay::{LOCK_WINDOW_NS, Replay};
use crate::spec::LoadSpec;

/// Keys that apply to a load with `replay`. The log decides the rest.
const KEYS: [&str; 10] = [
    "name",
    "replay",
    "connections",
    "warm-up",
    "timeout",
    "connect-timeout",
    "threads",
    "profile",
    "log-requests",
    "room-check",
];
/// Default timeout of a statement.
const TIMEOUT_DEFAULT_NS: u64 = 60_000_000_000;
/// Bytes that are read from a log at a time.
const BUFFER_BYTES: usize = 256 * 1024;

/// Logs that were read, by their keys. A plan is read once for each setting, and a log once.
pub(crate) type ReadLogs = BTreeMap<String, Result<Replay, FileProblem>>;

/// Reads the log of a load, and sets the values that it determines. `None` if there is no log, or if it has errors.
pub(crate) fn read(load: &Node, spec: &mut LoadSpec, reading: &mut Reading<'_>) -> Option<Replay> {
    let entry = load.entry("replay")?;
    for other in load.entries().iter().filter(|entry| !KEYS.contains(&entry.key.as_str())) {
        let what = format!("`{}` does not apply to a load with `replay`", other.key);
        reading.at(other.key_at, what, "remove it: the log has the statements and their times");
    }
    let mut asked = ReplayValues::of(entry, reading)?;
    asked.is_shared = load.get("connections").is_some();
    let key = asked.cache_key();
    if !reading.logs.contains_key(&key) {
        let read = asked.read(reading);
        reading.logs.insert(key.clone(), read);
    }
    match reading.logs[&key].clone() {
        Ok(replay) => {
            let connections = LoadSpec::from_node(load).connections;
            let asked = reading.within(&connections, 1, 1_000_000);
            let (replay, connections) = replay.with_connections(asked);
            spec.users = Some(connections.into());
            spec.timeout_ns.get_or_insert(TIMEOUT_DEFAULT_NS.into());
            Some(replay)
        }
        Err((what, help)) => {
            reading.at(asked.at(entry), what, help);
            None
        }
    }
}

/// Values of `replay`.
struct ReplayValues {
    log: String,
    format: Option<&'static Format>,
    layout: Layout,
    selection: Selection,
    speed: Option<f64>,
    allows_writes: bool,
    hashes_rows: bool,
    lock_window_ns: u64,
    /// Whether sessions share connections, which requires all statements at once.
    is_shared: bool,
}

impl ReplayValues {
    fn of(entry: &Entry, reading: &mut Reading<'_>) -> Option<Self> {
        let node = &entry.value;
        let log = node.text().or_else(|| node.text_of("log"))?.to_owned();
        let list = |key: &str| -> Vec<String> {
            let items = node.get(key).map_or(&[][..], Node::items);
            items.iter().filter_map(Node::text).map(str::to_owned).collect()
        };
        let mut layout = Layout { prefix: node.text_of("prefix").map(str::to_owned), pattern: None };
        let format = match node.entry("format") {
            None => layout.prefix.as_ref().and_then(|_| Format::prefixed()),
            Some(format) => named(format, &mut layout, reading)?,
        };
        let speed = match node.entry("speed") {
            None => Some(1.0),
            Some(speed) => ::replay::speed(speed.value.text()?)
                .map_err(|what| reading.at(speed.value.at, what, "write 2x, 0.5x, or max"))
                .ok()?,
        };
        let selection = Selection {
            users: list("user"),
            databases: list("database"),
            only_reads: node.text_of("only") == Some("reads"),
            since: moment(node.entry("since"), reading)?,
            until: moment(node.entry("until"), reading)?,
        };
        let is_true = |key: &str| node.text_of(key) == Some("true");
        let (allows_writes, hashes_rows) = (is_true("allow-writes"), is_true("checksum"));
        let lock_window_ns = node.duration_ns("lock-window").unwrap_or(LOCK_WINDOW_NS);
        Some(Self {
            log,
            format,
            layout,
            selection,
            speed,
            allows_writes,
            hashes_rows,
            lock_window_ns,
            is_shared: false,
        })
    }

    /// Formats all values as the cache key of a log.
    fn cache_key(&self) -> String {
        let Self { log, format, layout, selection, speed, .. } = self;
        let Self { allows_writes, hashes_rows, lock_window_ns, is_shared, .. } = self;
        let format = format.map(|format| format.name);
        format!(
            "{log:?} {format:?} {layout:?} {selection:?} {speed:?} {allows_writes} {hashes_rows} {lock_window_ns} {is_shared}"
        )
    }

    /// Reads the log from the folder of the plan.
    fn read(&self, reading: &mut Reading<'_>) -> Result<Replay, FileProblem> {
        let name = &self.log;
        let readable = |what: String| (what, "name a log file that can be read".to_owned());
        let file = reading.folder.stream(name)?;
        let mut input = BufReader::with_capacity(BUFFER_BYTES, file);
        let log = Log::open(&mut input, self.format, &self.layout).map_err(|error| match error {
            LogError::Io(error) => readable(format!("{name}: {error}")),
            LogError::Layout(what) => (format!("{name}: {what}"), "correct it".to_owned()),
            LogError::Unknown => (
                format!("{name}: no line has a known log format"),
                "name it with `format`, or write your log_line_prefix with `prefix`".to_owned(),
            ),
        })?;
        let keep = if self.is_shared { Storage::InMemory } else { Storage::InFile };
        let recorded = Recorded::read(log, &self.selection, keep).map_err(|error| match error {
            ReadError::Io(error) => readable(format!("{name}: {error}")),
            ReadError::File(error) => (
                format!("{name}: its statements cannot be kept in a temporary file: {error}"),
                "set TMPDIR to a folder with room for them".to_owned(),
            ),
            ReadError::TooLarge => {
                let gib = KEPT_BYTES_MAX >> 30;
                (
                    format!("{name}: its statements take more than {gib} GiB of memory"),
                    "select a part of it with `since` and `until`".to_owned(),
                )
            }
        })?;
        self.check(&recorded)?;
        let hash = reading.folder.hash_stream(input.into_inner(), &self.cache_key());
        let lock_wait_max_ns = recorded.survey.duration_max_ns.saturating_add(self.lock_window_ns);
        let replay = Replay::of(name.clone(), recorded, self.speed, hash);
        let replay = Replay { lock_wait_max_ns, ..replay };
        Ok(Replay { allows_writes: self.allows_writes, hashes_rows: self.hashes_rows, ..replay })
    }

    /// Checks that the log has something to send, to one database.
    fn check(&self, recorded: &Recorded) -> Result<(), FileProblem> {
        let (name, survey) = (&self.log, &recorded.survey);
        if recorded.trace.is_empty() {
            let help = format!("see what was skipped: tenbin replay {name} --dry-run");
            return Err((format!("{name}: nothing in it can be replayed"), help));
        }
        if survey.traffic().has_sessions && survey.databases.len() > 1 && self.selection.databases.is_empty()
        {
            let names: Vec<String> = survey.databases.keys().map(|name| format!("{name:?}")).collect();
            let what =
                format!("{name}: it has statements of {} databases: {}", names.len(), names.join(", "));
            return Err((what, "choose with `database: NAME`, or list those that go to one".to_owned()));
        }
        Ok(())
    }

    /// Place of errors about the log.
    fn at(&self, entry: &Entry) -> super::span::Span {
        entry.value.get("log").map_or(entry.value.at, |log| log.at)
    }
}

/// Format of a log by its name, or by a pattern, which becomes the layout. If the inner value is `None`, the first lines decide.
#[allow(clippy::option_option, reason = "an error that is reported, and no format, are two things")]
fn named(entry: &Entry, layout: &mut Layout, reading: &mut Reading<'_>) -> Option<Option<&'static Format>> {
    let text = entry.value.text()?;
    if text.contains(['$', '%']) {
        layout.pattern = Some(text.to_owned());
        return Some(Format::named("access"));
    }
    let format = Format::named(text);
    if format.is_none() {
        let names = ::replay::FORMATS.iter().map(|format| format.name);
        let what = format!("unknown format {text:?}");
        reading.findings.unknown(entry.value.at, what, text, names, "write one of");
        return None;
    }
    Some(format)
}

/// Time of `since` or `until`. The inner `None` sets no limit.
#[allow(clippy::option_option, reason = "an error that is reported, and no limit, are two things")]
fn moment(entry: Option<&Entry>, reading: &mut Reading<'_>) -> Option<Option<Moment>> {
    let Some(entry) = entry else { return Some(None) };
    let text = entry.value.text()?;
    let moment = log_moment(text).map_err(|(what, help)| reading.at(entry.value.at, what, help)).ok()?;
    Some(Some(moment))
}

/// Parses a time in a log: a date and a time, or a duration since the first entry.
///
/// # Errors
///
/// The error, and its help.
pub fn log_moment(text: &str) -> Result<Moment, FileProblem> {
    let since_first = crate::units::duration_ns(text).ok().map(Moment::AfterFirst);
    since_first.or_else(|| Moment::from_date(text)).ok_or_else(|| {
        let what = format!("{text:?} is no time in a log");
        (what, "write a time such as 2026-01-02 03:04:05, in UTC, or 10min after the first entry".to_owned())
    })
}
