//! Built-in values, which need no section `data`: `{uuid}`, `{uuid7}`, `{timestamp}`, `{random.int.1..6}`.

use load::values::Source;
use sql::script::variable_name;

use super::form;

/// Names of built-in values, for suggestions.
pub(crate) const SPELLINGS: [&str; 5] = ["uuid", "uuid7", "timestamp", "timestamp.s", "random.int"];

/// Default max of `{random.int}`, which every language and database can represent.
const INT_MAX: i64 = i32::MAX as i64;

/// Source of a built-in value. `None` if the name is not built in. The error describes a wrong range.
pub(crate) fn source(name: &str) -> Option<Result<Source, String>> {
    let source = match name {
        "uuid" => Source::Uuid,
        "uuid7" => Source::TimeUuid,
        "timestamp" => Source::Timestamp { unit_ns: 1_000_000 },
        "timestamp.s" => Source::Timestamp { unit_ns: 1_000_000_000 },
        "random.int" => Source::Uniform { min: 0, max: INT_MAX },
        // `{uuid.NAME}` is a separate UUID for each name.
        _ if name.strip_prefix("uuid.").is_some_and(|own| !own.is_empty()) => Source::Uuid,
        _ if name.strip_prefix("uuid7.").is_some_and(|own| !own.is_empty()) => Source::TimeUuid,
        _ => {
            let range = name.strip_prefix("random.int.")?;
            return Some(form::range(range).map(|(min, max)| Source::Uniform { min, max }));
        }
    };
    Some(Ok(source))
}

/// Built-in value by its name in scripts: `timestamp_s` is `timestamp.s`.
pub(crate) fn from_script_name(name: &str) -> Option<String> {
    let named = if let Some(own) = name.strip_prefix("uuid_") {
        format!("uuid.{own}")
    } else if let Some(own) = name.strip_prefix("uuid7_") {
        format!("uuid7.{own}")
    } else if let Some((min, max)) = name.strip_prefix("random_int_").and_then(|range| range.split_once("__"))
    {
        format!("random.int.{min}..{max}")
    } else {
        SPELLINGS.into_iter().find(|known| variable_name(known) == name)?.to_owned()
    };
    source(&named)?.is_ok().then_some(named)
}
