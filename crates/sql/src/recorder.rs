//! Session without a server: records requests as text, and answers all of them with success.

use std::collections::{BTreeSet, VecDeque};
use std::sync::Arc;

use wire::sql::{RowSink, ServerError, Session, SessionEvent, Statement, Transaction, Value};
use wire::{Cancel, Greeting, PeerFault};

use crate::databases::Engine;
use crate::program::Sql;
use crate::script::{self, DefinedVariables, Language, PREDEFINED_VARIABLES, ScriptSet};
use crate::settings::{Settings, TransactionStep};

/// Creates transactions that are recorded as text instead of run on a server. [`wire::Conversation::outgoing`] has the statements
/// with their separate values. If a script stores a row, each column contains its own name in braces.
///
/// # Errors
///
/// Like [`Sql::new`].
pub fn recorded(
    engine: Engine,
    all_scripts: ScriptSet,
    texts: &[Vec<u8>],
    steps: &[TransactionStep],
    settings: Settings,
) -> Result<Sql, String> {
    let columns: Arc<[String]> = columns(&all_scripts, texts, &settings).into();
    Sql::new(all_scripts, steps, settings, engine, move |_| {
        Box::new(Recorder { columns: columns.clone(), ..Recorder::default() })
    })
}

/// Columns that rows may have: variables that scripts read after storing a row, and that have no other source.
fn columns(all_scripts: &ScriptSet, texts: &[Vec<u8>], settings: &Settings) -> Vec<String> {
    let mut given = DefinedVariables::default();
    let mut columns = BTreeSet::new();
    for text in texts.iter().filter_map(|text| std::str::from_utf8(text).ok()) {
        for read in script::reads(text, Language::Extended, &mut given) {
            let is_other = PREDEFINED_VARIABLES.contains(&read.name.as_str())
                || settings.bindings.contains(&read.name)
                || settings.variables.iter().any(|(name, _)| *name == read.name)
                || given.names().any(|name| name == read.name);
            if read.is_given && !is_other {
                columns.insert(read.name);
            }
        }
    }
    let prefixes: BTreeSet<&str> =
        all_scripts.statements().iter().map(|statement| statement.prefix.as_str()).collect();
    let names =
        columns.iter().flat_map(|name| prefixes.iter().filter_map(|prefix| name.strip_prefix(prefix)));
    names.map(str::to_owned).collect::<BTreeSet<_>>().into_iter().collect()
}

#[derive(Debug, Default)]
struct Recorder {
    columns: Arc<[String]>,
    out: String,
    events: VecDeque<SessionEvent>,
    /// Empty, because nothing is rejected.
    error: ServerError,
}

/// Number of loaded rows that are shown.
const ROWS_SHOWN: usize = 3;

impl Recorder {
    fn line(&mut self, text: &str) {
        self.out.push_str(text);
        self.out.push('\n');
    }

    fn succeed(&mut self) {
        self.events.push_back(SessionEvent::Succeeded { rows: 1, has_rows: true });
    }
}

impl Session for Recorder {
    fn greet(&mut self) -> Greeting {
        Greeting::Done
    }

    fn greeted(&mut self, _bytes: &[u8]) -> Result<(usize, Greeting), PeerFault> {
        Ok((0, Greeting::Done))
    }

    fn secured(&mut self) -> Greeting {
        Greeting::Done
    }

    fn outgoing(&self) -> &[u8] {
        self.out.as_bytes()
    }

    fn clear(&mut self) {
        self.out.clear();
    }

    fn query(&mut self, text: &[u8]) {
        self.line(&String::from_utf8_lossy(text));
        self.succeed();
        self.events.push_back(SessionEvent::Ready);
    }

    fn execute(&mut self, statement: Statement<'_>, values: &mut dyn Iterator<Item = Value<'_>>) {
        self.line(statement.text);
        let values: Vec<String> = values.map(shown).collect();
        if !values.is_empty() {
            self.out.push_str(&format!("  with {}\n", values.join(", ")));
        }
        self.succeed();
    }

    fn load(&mut self, text: &[u8], rows: Vec<u8>) {
        self.line(&String::from_utf8_lossy(text));
        rows.split_inclusive(|byte| *byte == b'\n').take(ROWS_SHOWN).for_each(|row| {
            self.out.push_str(&format!("  {}", String::from_utf8_lossy(row)));
        });
        let count = rows.iter().filter(|byte| **byte == b'\n').count() as u64;
        self.events.push_back(SessionEvent::Succeeded { rows: count, has_rows: false });
        self.events.push_back(SessionEvent::Ready);
    }

    fn sync(&mut self) {
        self.events.push_back(SessionEvent::Ready);
    }

    fn received(
        &mut self,
        _bytes: &[u8],
        rows: &mut dyn RowSink,
    ) -> Result<(usize, SessionEvent), PeerFault> {
        let event = self.events.pop_front().unwrap_or(SessionEvent::NeedMore);
        if matches!(event, SessionEvent::Succeeded { .. }) && rows.needs_rows() {
            let columns = || (0..).zip(self.columns.iter());
            columns().for_each(|(number, name)| rows.column(number, name.as_bytes()));
            columns().for_each(|(number, name)| rows.value(number, Some(format!("{{{name}}}").as_bytes())));
            rows.finish_row();
        }
        Ok((0, event))
    }

    fn transaction(&self) -> Transaction {
        Transaction::Idle
    }

    fn last_error(&self) -> &ServerError {
        &self.error
    }

    fn has_begun_reply(&self) -> bool {
        false
    }

    fn farewell(&self) -> &[u8] {
        &[]
    }

    fn cancel(&self) -> Option<Cancel> {
        None
    }

    fn forget(&mut self) {
        self.out.clear();
        self.events.clear();
    }
}

fn shown(value: Value<'_>) -> String {
    match value {
        Value::Null => "NULL".to_owned(),
        Value::Bare(text) => String::from_utf8_lossy(text).into_owned(),
        Value::Text(text) => format!("'{}'", String::from_utf8_lossy(text).replace('\'', "''")),
    }
}
