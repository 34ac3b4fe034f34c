//! Reads the section `data`: sources of values, and which of them are used.

use std::sync::Arc;

use load::values::{DataSource, RowOrder, Source};

use super::form;
use super::reading::Reading;
use super::secret;
use super::span::Span;
use super::tree::{Entry, Node};
use crate::csv_text;
use crate::study::is_name;

const COLUMNS_MAX: usize = 1_000;
const CELLS_MAX: usize = 10_000_000;
const KINDS: [&str; 9] =
    ["uniform", "zipf", "latest", "sequence", "text", "words", "uuid", "timestamp", "csv"];
/// Kinds with integer values.
const NUMBERS: &[&str] = &["uniform", "zipf", "latest", "sequence"];
/// Keys that apply to some kinds of sources.
const KIND_KEYS: [(&str, &[&str]); 7] = [
    ("exponent", &["zipf", "latest"]),
    ("scatter", &["zipf"]),
    ("grows-with", &["latest"]),
    ("hash", NUMBERS),
    ("by", &["sequence"]),
    ("of", &["text"]),
    ("order", &["csv"]),
];

/// A source as written.
pub(crate) struct DataText {
    pub(crate) name: String,
    at: Span,
    kind: DataKind,
    /// Variables that the source fills: number of the variable, and column.
    fills: Vec<(u16, usize)>,
}

/// Kind of a data source, with the values that were read from it.
enum DataKind {
    Number(Source),
    /// A built-in value, which the plan does not define.
    BuiltIn(Source),
    /// Placeholder for a source with errors in its file, so that no further errors are reported about it.
    Unknown,
    Table {
        columns: Vec<String>,
        bytes: Vec<u8>,
        order: RowOrder,
        node: Node,
    },
}

/// Meaning of a name in braces among the data.
pub(crate) enum Meaning {
    /// Column of a source. A source without columns counts as one column.
    Column { source: usize, column: usize },
    /// A table without a column's name, or with an unknown one.
    NoColumn { source: usize },
    /// Name that is not known as data.
    Nothing,
}

/// Reads all sources of the section.
pub(crate) fn read(node: Option<&Node>, reading: &mut Reading<'_>) -> Vec<DataText> {
    let entries = node.map_or(&[][..], Node::entries);
    let names: Vec<&str> = entries.iter().map(|entry| entry.key.as_str()).collect();
    let sources = entries.iter().map(|entry| {
        if !is_name(&entry.key) || entry.key.contains('.') {
            let what = format!("{:?} is not a valid name", entry.key);
            reading.at(entry.key_at, what, "use letters, digits, _, and -, and begin with a letter");
        }
        if entry.key == secret::RESERVED {
            let what = "`env` is the name of the environment, as in {env.NAME}";
            reading.at(entry.key_at, what, "choose another name");
        }
        let mut kind = kind(&entry.value, entry.key_at, reading);
        if let (Some(grows), DataKind::Number(source)) = (entry.value.get("grows-with"), &mut kind) {
            link_to_sequence(source, grows, &names, entries, reading);
        }
        DataText { name: entry.key.clone(), at: entry.key_at, kind, fills: Vec::new() }
    });
    sources.collect()
}

/// Lets the range of a source grow with the sequence that its key names.
fn link_to_sequence(
    source: &mut Source,
    named: &Node,
    names: &[&str],
    entries: &[Entry],
    reading: &mut Reading<'_>,
) {
    let Some(name) = named.text() else { return };
    let Some(number) = names.iter().position(|known| *known == name) else {
        let what = format!("unknown data source `{name}`");
        reading.findings.unknown(named.at, what, name, names.iter().copied(), "write one of");
        return;
    };
    if entries[number].value.get("sequence").is_none() {
        reading.at(
            named.at,
            format!("`{name}` is no `sequence`"),
            "name a sequence whose numbers are inserted",
        );
        return;
    }
    let latest = match source {
        Source::Hashed { numbers, .. } => &mut **numbers,
        other => other,
    };
    if let Source::Latest { grows_with, .. } = latest {
        *grows_with = Some(number);
    }
}

fn kind(node: &Node, at: Span, reading: &mut Reading<'_>) -> DataKind {
    match single_kind(node, at, "data source", reading) {
        Some(("csv", text)) => table(node, text, reading),
        Some((kind, text)) => source(kind, node, text, reading).map_or(DataKind::Unknown, DataKind::Number),
        None => DataKind::Unknown,
    }
}

/// Source of a column's values. `None` if it has an error, which is reported.
pub(crate) fn column(node: &Node, at: Span, reading: &mut Reading<'_>) -> Option<Source> {
    let (kind, text) = single_kind(node, at, "column", reading)?;
    source(kind, node, text, reading)
}

/// The only kind of a source, and its value. Other numbers of kinds, and keys of other kinds, are reported.
fn single_kind<'n>(
    node: &'n Node,
    at: Span,
    called: &str,
    reading: &mut Reading<'_>,
) -> Option<(&'static str, &'n str)> {
    let given: Vec<&'static str> = KINDS.into_iter().filter(|kind| node.get(kind).is_some()).collect();
    let &[kind] = given.as_slice() else {
        match node.entries().iter().find(|entry| given.get(1) == Some(&entry.key.as_str())) {
            Some(second) => {
                let what = format!("a {called} has one kind, and this one has `{}`", given[0]);
                reading.at(second.key_at, what, "remove one of them");
            }
            // A misspelled kind is already reported.
            None if !node.entries().is_empty()
                && !node.entries().iter().any(|entry| reading.findings.has_at(entry.key_at)) =>
            {
                let known = KINDS.iter().filter(|kind| called != "column" || **kind != "csv");
                let known: Vec<String> = known.map(|kind| format!("`{kind}`")).collect();
                reading.at(
                    at,
                    format!("the {called} has no kind"),
                    format!("add one of {}", known.join(", ")),
                );
            }
            None => {}
        }
        return None;
    };
    for (key, of) in KIND_KEYS.into_iter().filter(|(_, of)| !of.contains(&kind)) {
        if let Some(entry) = node.entry(key) {
            let of: Vec<String> = of.iter().map(|kind| format!("`{kind}`")).collect();
            reading.at(entry.key_at, format!("`{key}` requires {}", of.join(" or ")), "remove it");
        }
    }
    let text = if kind == "words" { "" } else { node.text_of(kind)? };
    Some((kind, text))
}

/// Source of a kind. Numbers are converted to names of records if the source has a `hash`.
fn source(kind: &str, node: &Node, text: &str, reading: &mut Reading<'_>) -> Option<Source> {
    let source = plain_source(kind, node, text, reading)?;
    let prefix = node.text_of("hash").filter(|_| NUMBERS.contains(&kind));
    Some(match prefix {
        Some(prefix) => Source::Hashed { prefix: prefix.into(), numbers: Box::new(source) },
        None => source,
    })
}

fn plain_source(kind: &str, node: &Node, text: &str, reading: &mut Reading<'_>) -> Option<Source> {
    let exponent = || node.text_of("exponent").and_then(|text| text.parse().ok()).unwrap_or(1.0);
    match kind {
        "words" => {
            let items = node.get("words").map_or(&[][..], Node::items);
            let words: Vec<Box<str>> = items.iter().filter_map(Node::text).map(Box::from).collect();
            (!words.is_empty()).then(|| Source::Words { words: Arc::from(words) })
        }
        "uuid" if text == "v7" => Some(Source::TimeUuid),
        "uuid" => Some(Source::Uuid),
        "timestamp" => form::days(text).ok().map(|(from_s, until_s)| Source::Moment { from_s, until_s }),
        "uniform" => form::range(text).ok().map(|(min, max)| Source::Uniform { min, max }),
        "zipf" => form::range(text).ok().map(|(min, max)| {
            let is_scattered = node.text_of("scatter") == Some("true");
            Source::Zipf { min, max, exponent: exponent(), is_scattered }
        }),
        "latest" => form::range(text).ok().map(|(min, max)| Source::Latest {
            min,
            max,
            exponent: exponent(),
            grows_with: None,
        }),
        "sequence" => sequence(node, text, reading),
        _ => {
            let alphabet = match node.text_of("of") {
                Some("letters") => "abcdefghijklmnopqrstuvwxyz",
                Some("digits") => "0123456789",
                Some("hex") => "0123456789abcdef",
                _ => "0123456789abcdefghijklmnopqrstuvwxyz",
            };
            text.parse().ok().map(|length| Source::Text { length, alphabet })
        }
    }
}

fn sequence(node: &Node, text: &str, reading: &mut Reading<'_>) -> Option<Source> {
    let (from, until) = form::sequence(text).ok()?;
    let by: i64 = node.text_of("by").and_then(|text| text.parse().ok()).unwrap_or(1);
    if until.is_some_and(|until| (until > from && by < 0) || (until < from && by > 0)) {
        let at = node.get("sequence").map_or(node.at, |node| node.at);
        reading.at(
            at,
            format!("with `by: {by}`, the sequence does not reach its end"),
            "swap the ends, or change the sign of `by`",
        );
    }
    Some(Source::Sequence { from, until, by })
}

fn table(node: &Node, name: &str, reading: &mut Reading<'_>) -> DataKind {
    let Some(file) = node.get("csv") else { return DataKind::Unknown };
    let bytes = match reading
        .folder
        .read(name, csv_text::BYTES_MAX)
        .and_then(|bytes| csv_text::validate(bytes, name))
    {
        Ok(bytes) => bytes,
        Err((what, help)) => {
            reading.at(file.at, what, help);
            return DataKind::Unknown;
        }
    };
    let mut lines = csv::ReaderBuilder::new().flexible(true).from_reader(bytes.as_slice());
    let columns: Vec<String> = match lines.headers() {
        Ok(header) => header.iter().map(|column| column.trim().to_owned()).collect(),
        Err(error) => {
            reading.at(file.at, format!("{name}: {error}"), csv_text::UNREADABLE_HELP);
            return DataKind::Unknown;
        }
    };
    if columns.len() > COLUMNS_MAX {
        reading.at(file.at, format!("{name} has more than {COLUMNS_MAX} columns"), "remove unused columns");
        return DataKind::Unknown;
    }
    let wrong = columns.iter().enumerate().find(|(number, column)| {
        column.is_empty() || columns[..*number].contains(column) || !is_name(&format!("x.{column}"))
    });
    if let Some((number, column)) = wrong {
        let what = format!("{name}, line 1: {column:?} is not a valid name for column {}", number + 1);
        let help = "write a different name for each column in the first line, with letters, digits, _, and -";
        reading.at(file.at, what, help);
        return DataKind::Unknown;
    }
    if columns.is_empty() {
        reading.at(
            file.at,
            format!("{name} is empty"),
            "write the names of the columns in the first line, and rows below",
        );
        return DataKind::Unknown;
    }
    let order = if node.text_of("order") == Some("random") { RowOrder::Random } else { RowOrder::InTurn };
    DataKind::Table { columns, bytes, order, node: file.clone() }
}

/// Meaning of a name.
pub(crate) fn meaning(sources: &[DataText], name: &str) -> Meaning {
    let (first, column) = name.split_once('.').map_or((name, None), |(first, column)| (first, Some(column)));
    let is_written = |source: &DataText| !matches!(source.kind, DataKind::BuiltIn(_));
    let Some(source) = sources.iter().position(|source| source.name == first && is_written(source)) else {
        return Meaning::Nothing;
    };
    match (&sources[source].kind, column) {
        (DataKind::Table { columns, .. }, Some(column)) => {
            match columns.iter().position(|known| known == column) {
                Some(column) => Meaning::Column { source, column },
                None => Meaning::NoColumn { source },
            }
        }
        (DataKind::Table { .. }, None) => Meaning::NoColumn { source },
        (DataKind::Number(_), Some(_)) | (DataKind::BuiltIn(_), _) => Meaning::Nothing,
        (DataKind::Number(_), None) | (DataKind::Unknown, _) => Meaning::Column { source, column: 0 },
    }
}

impl DataText {
    /// Source of a built-in value, which no section defines.
    pub(crate) fn built_in(name: &str, at: Span, source: Source) -> Self {
        Self { name: name.to_owned(), at, kind: DataKind::BuiltIn(source), fills: Vec::new() }
    }

    /// Whether the source is the built-in one with this name.
    pub(crate) fn is_built_in(&self, name: &str) -> bool {
        matches!(self.kind, DataKind::BuiltIn(_)) && self.name == name
    }

    /// Names of its values in braces.
    pub(crate) fn braced_names(&self) -> Vec<String> {
        match &self.kind {
            DataKind::Table { columns, .. } => {
                columns.iter().map(|column| format!("{}.{column}", self.name)).collect()
            }
            DataKind::Number(_) | DataKind::BuiltIn(_) | DataKind::Unknown => vec![self.name.clone()],
        }
    }

    /// Assigns a column to a variable.
    pub(crate) fn fill(&mut self, variable: u16, column: usize) {
        if !self.fills.contains(&(variable, column)) {
            self.fills.push((variable, column));
        }
    }
}

/// Sources that are used, with only their used columns. Unused sources are errors.
pub(crate) fn finish(sources: Vec<DataText>, reading: &mut Reading<'_>) -> Vec<DataSource> {
    let mut finished = Vec::new();
    for source in sources {
        if source.fills.is_empty() && !matches!(source.kind, DataKind::Unknown) {
            let spelling = source.braced_names().into_iter().next().unwrap_or_default();
            let help = format!("use {{{spelling}}} in a step, or remove the data source");
            reading.at(source.at, format!("unused data source `{}`", source.name), help);
            continue;
        }
        match source.kind {
            DataKind::Number(number) | DataKind::BuiltIn(number) => {
                finished.push(DataSource { fills: source.fills, source: number });
            }
            DataKind::Unknown => {}
            DataKind::Table { columns, bytes, order, node } => {
                let mut used: Vec<usize> = source.fills.iter().map(|(_, column)| *column).collect();
                used.sort_unstable();
                used.dedup();
                let Some(rows) = rows(&bytes, columns.len(), &used, &node, reading) else { continue };
                let place = |column: usize| used.binary_search(&column).unwrap_or(0);
                let fills = source.fills.iter().map(|(variable, column)| (*variable, place(*column)));
                let source = Source::Rows { rows: Arc::from(rows), order };
                finished.push(DataSource { fills: fills.collect(), source });
            }
        }
    }
    finished
}

/// The used columns of every row.
fn rows(
    bytes: &[u8],
    columns: usize,
    used: &[usize],
    node: &Node,
    reading: &mut Reading<'_>,
) -> Option<Vec<Box<[Box<str>]>>> {
    let name = node.text().unwrap_or_default();
    let mut lines = csv::ReaderBuilder::new().flexible(true).from_reader(bytes);
    let (mut row, mut rows, mut cells) = (csv::StringRecord::new(), Vec::new(), 0);
    loop {
        let wrong = match lines.read_record(&mut row) {
            Ok(false) if rows.is_empty() => (
                format!("{name} has no rows"),
                "write the names of the columns in the first line, and rows below",
            ),
            Ok(false) => return Some(rows),
            Ok(true) if row.len() != columns => {
                let line = row.position().map_or(0, csv::Position::line);
                let what = format!("{name}, line {line}: the row has {} of {columns} values", row.len());
                (what, "write a value for each column; quote values that contain commas")
            }
            Ok(true) if cells + columns > CELLS_MAX => {
                (format!("{name} has more than 10 million values"), "use fewer rows, or fewer columns")
            }
            Ok(true) => {
                cells += columns;
                rows.push(used.iter().map(|column| Box::from(&row[*column])).collect());
                continue;
            }
            Err(error) => (format!("{name}: {error}"), csv_text::UNREADABLE_HELP),
        };
        reading.at(node.at, wrong.0, wrong.1);
        return None;
    }
}
