//! Values that need no section `data`: `{uuid}`, `{timestamp}`, `{random.int.1..6}`.

use load::values::Source;

use super::form;

/// How they are written, for who writes something like them.
pub(crate) const SPELLINGS: [&str; 4] = ["uuid", "timestamp", "timestamp.s", "random.int"];

/// The range of `{random.int}`, which every language and database represents.
const INT_MAX: i64 = i32::MAX as i64;

/// What a name stands for that neither `data` nor `save` defines; `None`: nothing. The error is what is wrong with its range.
pub(crate) fn source(name: &str) -> Option<Result<Source, String>> {
    let source = match name {
        "uuid" => Source::Uuid,
        "timestamp" => Source::Timestamp { unit_ns: 1_000_000 },
        "timestamp.s" => Source::Timestamp { unit_ns: 1_000_000_000 },
        "random.int" => Source::Uniform { min: 0, max: INT_MAX },
        // Another one of its own, under any name.
        _ if name.strip_prefix("uuid.").is_some_and(|own| !own.is_empty()) => Source::Uuid,
        _ => {
            let range = name.strip_prefix("random.int.")?;
            return Some(form::range(range).map(|(min, max)| Source::Uniform { min, max }));
        }
    };
    Some(Ok(source))
}
