//! Content of a reply: its counts, its error, its cursor, and the values that checks and saved values need.

use alloc::boxed::Box;
use alloc::format;
use alloc::vec::Vec;

use super::bson;
use super::reader::KEPT_BYTES_MAX;

/// Max bytes of an error that are kept for messages.
const ERROR_BYTES_MAX: usize = 512;
/// Max bytes of all values that are kept of a reply.
pub(super) const ALL_KEPT_BYTES_MAX: usize = 256 * 1024;
/// Paths to the documents of a batch.
const BATCHES: [&[u8]; 2] = [b"cursor.firstBatch.", b"cursor.nextBatch."];

/// Summary of the replies to one exchange.
#[derive(Debug, Default)]
pub(super) struct Reply {
    /// Number of documents in the batches of a cursor.
    pub(super) documents: u64,
    /// `n`: number of documents that were matched, inserted, or deleted. `None` if the reply has none.
    pub(super) matched: Option<i64>,
    /// `nModified`: number of documents that were changed. `None` if the reply has none.
    pub(super) modified: Option<i64>,
    /// Number of the cursor; 0 if it is exhausted.
    pub(super) cursor: i64,
    /// Database and collection of the cursor.
    pub(super) namespace: Vec<u8>,
    /// Whether the server executed the command: `ok` is 1.
    pub(super) is_ok: bool,
    /// The first error. `None` if there is none.
    code: Option<i64>,
    message: Vec<u8>,
    /// Values at the wanted paths, by their numbers.
    kept: Vec<Option<Kept>>,
}

/// Kept value.
#[derive(Debug)]
enum Kept {
    /// Text of the value.
    Text(Vec<u8>),
    /// Null, or a value that is too long or has no text.
    Nothing,
}

/// Number in the bytes of a value. `None` if its type is none of a number.
fn number(kind: u8, bytes: &[u8]) -> Option<i64> {
    match kind {
        bson::INT32 => Some(i32::from_le_bytes(bytes.try_into().ok()?).into()),
        bson::INT64 | bson::DATE => Some(i64::from_le_bytes(bytes.try_into().ok()?)),
        bson::DOUBLE => Some(f64::from_le_bytes(bytes.try_into().ok()?) as i64),
        bson::BOOLEAN => Some(i64::from(*bytes.first()? != 0)),
        _ => None,
    }
}

/// Value as text, for checks and saved values. `None` if it has no text form.
fn text(kind: u8, bytes: &[u8]) -> Option<Vec<u8>> {
    match kind {
        bson::STRING | bson::SYMBOL | bson::CODE | bson::BINARY => {
            (bytes.len() <= KEPT_BYTES_MAX).then(|| bytes.into())
        }
        bson::BOOLEAN => Some(if bytes.first() == Some(&0) { b"false".into() } else { b"true".into() }),
        bson::DOUBLE => Some(format!("{}", f64::from_le_bytes(bytes.try_into().ok()?)).into_bytes()),
        bson::OBJECT_ID => Some(bytes.iter().flat_map(|byte| format!("{byte:02x}").into_bytes()).collect()),
        _ => number(kind, bytes).map(|number| format!("{number}").into_bytes()),
    }
}

impl Reply {
    /// Clears all values before an exchange.
    pub(super) fn clear(&mut self) {
        self.documents = 0;
        self.kept.clear();
        self.begin_message();
    }

    /// Clears the values of a single message. Documents are counted over all messages of an exchange.
    pub(super) fn begin_message(&mut self) {
        (self.matched, self.modified, self.cursor, self.is_ok, self.code) = (None, None, 0, false, None);
        self.namespace.clear();
        self.message.clear();
    }

    /// Whether a path leads to a document of a batch.
    pub(super) fn is_in_batch(path: &[u8]) -> bool {
        BATCHES.iter().any(|batch| path.strip_prefix(*batch).is_some_and(|rest| !rest.contains(&b'.')))
    }

    /// Takes a value.
    pub(super) fn note(&mut self, path: &[u8], kind: u8, bytes: &[u8], wanted: &[Box<[u8]>]) {
        let number = || number(kind, bytes);
        match path {
            b"ok" => self.is_ok = number() == Some(1),
            b"n" => self.matched = number(),
            b"nModified" => self.modified = number(),
            b"cursor.id" => self.cursor = number().unwrap_or(0),
            b"cursor.ns" => self.namespace = bytes.into(),
            b"code" | b"writeErrors.0.code" | b"writeConcernError.code" => self.code = self.code.or(number()),
            b"errmsg" | b"writeErrors.0.errmsg" | b"writeConcernError.errmsg" if self.message.is_empty() => {
                self.message = bytes[..bytes.len().min(ERROR_BYTES_MAX)].into();
            }
            _ => {}
        }
        if wanted.is_empty() {
            return;
        }
        let of_document = BATCHES.iter().find_map(|batch| path.strip_prefix(*batch)?.strip_prefix(b"0."));
        let path = of_document.unwrap_or(path);
        let Some(place) = wanted.iter().position(|wanted| **wanted == *path) else { return };
        if self.kept.len() < wanted.len() {
            self.kept.resize_with(wanted.len(), || None);
        }
        let bytes_kept: usize = self.kept.iter().flatten().map(Kept::len).sum();
        let room = ALL_KEPT_BYTES_MAX - bytes_kept;
        if self.kept[place].is_none() {
            let text = text(kind, bytes).filter(|text| text.len() <= room);
            self.kept[place] = Some(text.map_or(Kept::Nothing, Kept::Text));
        }
    }

    /// Text of the value at the wanted path of this number. `None` if it is absent, null, no text or number, or above 64 KiB.
    pub(super) fn value(&self, place: usize) -> Option<&[u8]> {
        match self.kept.get(place)?.as_ref()? {
            Kept::Text(text) => Some(text),
            Kept::Nothing => None,
        }
    }

    /// Code and message of the error that the server reports. `None` if the command succeeded. The code is 0 if there is none.
    pub(super) fn error(&self) -> Option<(i64, &[u8])> {
        match self.code {
            Some(code) => Some((code, &self.message)),
            None => (!self.is_ok).then_some((0, self.message.as_slice())),
        }
    }
}

impl Kept {
    fn len(&self) -> usize {
        match self {
            Self::Text(text) => text.len(),
            Self::Nothing => 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn paths(paths: &[&str]) -> Vec<Box<[u8]>> {
        paths.iter().map(|path| path.as_bytes().into()).collect()
    }

    #[test]
    fn first_error_has_code_and_message() {
        let mut reply = Reply::default();
        reply.note(b"ok", bson::DOUBLE, &1f64.to_le_bytes(), &[]);
        assert_eq!(reply.error(), None);
        reply.note(b"writeErrors.0.code", bson::INT32, &11000i32.to_le_bytes(), &[]);
        reply.note(b"writeErrors.0.errmsg", bson::STRING, b"E11000 duplicate key", &[]);
        reply.note(b"writeConcernError.code", bson::INT32, &64i32.to_le_bytes(), &[]);
        assert_eq!(reply.error(), Some((11000, &b"E11000 duplicate key"[..])));
        reply.clear();
        assert_eq!(reply.error(), Some((0, &b""[..])), "no `ok`");
    }

    #[test]
    fn wanted_path_leads_into_first_document_or_reply() {
        let (mut reply, wanted) = (Reply::default(), paths(&["_id", "a.b", "value.x"]));
        reply.note(b"cursor.firstBatch.0._id", bson::OBJECT_ID, &[1; 12], &wanted);
        reply.note(b"cursor.firstBatch.1._id", bson::INT32, &[1, 0, 0, 0], &wanted);
        reply.note(b"cursor.firstBatch.0.a.b", bson::NULL, &[], &wanted);
        reply.note(b"value.x", bson::DOUBLE, &2.5f64.to_le_bytes(), &wanted);
        assert_eq!(reply.value(0), Some(&b"010101010101010101010101"[..]));
        assert_eq!((reply.value(1), reply.value(2), reply.value(3)), (None, Some(&b"2.5"[..]), None));
    }
}
