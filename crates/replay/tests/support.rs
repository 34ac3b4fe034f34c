//! Reads whole logs.

use replay::{Action, Entry, Format, Layout, Log, LogError, Reason, Skipped};

/// Entries of a log, and what was skipped. `format` is detected if it is `None`.
pub(crate) fn read_with(
    text: &[u8],
    format: Option<&str>,
    layout: &Layout,
) -> Result<(Vec<Entry>, Skipped, &'static str), LogError> {
    let format = format.map(|name| Format::named(name).expect(name));
    let mut log = Log::open(text, format, layout)?;
    let mut entries = Vec::new();
    while let Some(entry) = log.next_entry()? {
        entries.push(entry);
    }
    Ok((entries, log.skipped().clone(), log.format.name))
}

/// Entries of a log whose format is detected.
#[track_caller]
pub(crate) fn read(text: &str, format: &str) -> (Vec<Entry>, Skipped) {
    let (entries, skipped, detected) =
        read_with(text.as_bytes(), None, &Layout::default()).expect("a known format");
    assert_eq!(detected, format);
    (entries, skipped)
}

/// Session and text of each entry.
pub(crate) fn texts(entries: &[Entry]) -> Vec<(u32, &str)> {
    entries.iter().map(|entry| (entry.session.unwrap_or(u32::MAX), entry.action.text())).collect()
}

/// Values of a statement with values.
pub(crate) fn values(entry: &Entry) -> Vec<Option<&str>> {
    match &entry.action {
        Action::Execute { values, .. } => values.iter().map(Option::as_deref).collect(),
        other => panic!("{other:?} has no values"),
    }
}

/// Reasons with their counts.
pub(crate) fn counts(skipped: &Skipped) -> Vec<(Reason, u64)> {
    skipped.list().map(|(reason, count, _)| (reason, count)).collect()
}
