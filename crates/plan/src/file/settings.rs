//! The section `sql`: how statements travel, and what the variables of scripts are; and whether the scripts are right.

use sql::workload::{self, Tables};

use super::reading::Reading;
use super::span::Span;
use super::transaction::slot;
use super::tree::Node;
use crate::draft::{Draft, Played};
use crate::scripts::styled;

/// What a plan's transactions are, as the rules of the command line read it.
#[derive(Clone, Debug)]
pub(crate) struct SqlText {
    pub(crate) draft: Draft,
    /// The plan's variables as scripts know them.
    pub(crate) bindings: Vec<String>,
}

impl SqlText {
    /// Into the draft of a load.
    pub(crate) fn put_into(&self, draft: &mut Draft) {
        let own = &self.draft;
        draft.played.clone_from(&own.played);
        draft.defines.clone_from(&own.defines);
        draft.query_mode.clone_from(&own.query_mode);
        draft.scale.clone_from(&own.scale);
        draft.tables.clone_from(&own.tables);
        draft.table_size.clone_from(&own.table_size);
        draft.range_size.clone_from(&own.range_size);
        draft.rows.clone_from(&own.rows);
        draft.style.clone_from(&own.style);
        draft.distribution.clone_from(&own.distribution);
        draft.max_tries.clone_from(&own.max_tries);
    }
}

impl SqlText {
    /// What only other workloads have than those that are played.
    pub(crate) fn leave_out_what_nothing_has(&mut self) {
        let draft = &mut self.draft;
        let workloads: Vec<_> = draft
            .played
            .iter()
            .filter_map(|played| match played {
                Played::Workload(text) => workload::find(styled(text).0),
                _ => None,
            })
            .collect();
        let has = |name: &str| workloads.iter().flat_map(|one| one.variables).any(|one| one.name == name);
        draft.tables.take_if(|_| !has("tables"));
        draft.table_size.take_if(|_| !has("table_size"));
        draft.range_size.take_if(|_| !has("range_size"));
        draft.rows.take_if(|_| !has("rows"));
        draft.style.take_if(|_| !workloads.iter().any(|one| one.styles.len() > 1));
        draft.distribution.take_if(|_| !workloads.iter().any(|one| one.tables == Tables::Sbtest));
    }
}

/// Reads the section; `places` are those of the scripts' steps, in their order. `is_sound`: nothing is wrong with them so far.
pub(crate) fn read(
    root: &Node,
    played: Vec<Played>,
    names: &[String],
    places: &[Span],
    is_sound: bool,
    reading: &mut Reading<'_>,
) -> Option<SqlText> {
    let section = root.entry("sql");
    if played.is_empty() {
        if let Some(entry) = section {
            let what = "no step is a transaction";
            reading.at(entry.key_at, what, "leave out `sql`, or write a step such as `- sql: SELECT 1`");
        }
        return None;
    }
    let node = section.map(|entry| &entry.value);
    let text = |key: &str| node.and_then(|node| node.text_of(key)).map(str::to_owned);
    let variables = node.and_then(|node| node.get("variables")).map_or(&[][..], Node::entries);
    let defines = variables.iter().filter_map(|entry| Some(format!("{}={}", entry.key, entry.value.text()?)));
    let draft = Draft {
        played,
        defines: defines.collect(),
        query_mode: text("mode"),
        scale: text("scale"),
        tables: text("tables"),
        table_size: text("table-size"),
        range_size: text("range-size"),
        rows: text("rows"),
        style: text("style"),
        distribution: text("distribution"),
        max_tries: text("max-tries"),
        ..Draft::default()
    };
    let sql = SqlText { draft, bindings: names.iter().map(|name| slot(name)).collect() };
    if is_sound {
        tell(&sql, node, places, reading);
    }
    Some(sql)
}

/// What the rules say of the scripts on each kind of database that has its own.
fn tell(sql: &SqlText, node: Option<&Node>, places: &[Span], reading: &mut Reading<'_>) {
    let whole = places.first().copied().unwrap_or(Span::new(0, 0));
    let draft = Draft { url: "mysql://x@127.0.0.1/x?ssl-mode=DISABLED".to_owned(), ..sql.draft.clone() };
    let draft = match draft.played.iter().any(|played| matches!(played, Played::Workload(_))) {
        // A workload may do on one kind of server what it cannot do on another: told when it is known which.
        true => Draft { url: "postgres://x@127.0.0.1/x?sslmode=disable".to_owned(), ..draft },
        false => draft,
    };
    let Err(faults) = draft.check() else { return };
    for fault in faults {
        // Which script, and which line of it.
        let script = draft.played.iter().enumerate().find_map(|(number, played)| match played {
            Played::Text { name, .. } => {
                let line = fault.place.strip_prefix(name)?.strip_prefix(':')?.split(':').next()?;
                Some((number, line.parse::<u32>().ok()?))
            }
            _ => None,
        });
        let key = match fault.place.as_str() {
            "--query-mode" => "mode",
            "-D" => "variables",
            flag => flag.trim_start_matches('-'),
        };
        let of_key = node.and_then(|node| node.entry(key));
        let at = match (script, of_key) {
            (Some((number, _)), _) => places.get(number).copied().unwrap_or(whole),
            (None, Some(entry)) => entry.value.at,
            (None, None) => whole,
        };
        let in_keys = |text: &str| {
            text.replace("--query-mode ", "`mode: ").replace("--query-mode", "`mode`").replace("--", "")
        };
        if reading.findings.has_at(at) {
            continue;
        }
        // The mark of a script's fault is under a line of the script, which is not shown here.
        let line = script.map_or(String::new(), |(_, line)| format!("line {line} of the script: "));
        let what = fault.what.lines().next().unwrap_or_default();
        reading.at(at, format!("{line}{}", in_keys(what)), in_keys(&fault.way_out));
    }
}
