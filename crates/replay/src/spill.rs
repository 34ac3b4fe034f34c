//! Statements of a long log in a temporary file, so that memory does not grow with the log.
//!
//! While the log is read, [`Spill`] collects the statements of each session in a buffer, and writes full buffers to the file as chunks.
//! [`Spilled`] has the places of the chunks, by slot and session. A [`SpilledReader`] of a slot reads one chunk after the other.
//!
//! ```text
//! at_ns: u64, place: u32, fingerprint: u16, form: u8, result: u8 [code: 5 bytes], rows: u8 [u64],
//! text: u32 [length: u32, bytes], values: u32, each with length: u32 (all bits set: NULL) and bytes
//! ```
//!
//! Numbers are little-endian.

use std::collections::HashMap;
use std::fmt;
use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::{FileExt as _, OpenOptionsExt as _};
use std::process;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use crate::entry::LoggedResult;
use crate::trace::{Form, Item, SECOND_NS};

/// Bytes of statements that a session collects before they are written.
const CHUNK_BYTES: usize = 16 * 1024;
/// Total bytes that all sessions buffer before they are written.
const BUFFERED_BYTES_MAX: usize = 32 << 20;
/// Text that is written with its statement, and has no number.
const INLINE: u32 = u32::MAX;
/// Length of a value that is NULL.
const NULL: u32 = u32::MAX;

/// Place of a chunk in the file.
#[derive(Clone, Copy, Debug)]
struct Chunk {
    offset: u64,
    bytes: u32,
}

/// Writes statements by session.
pub(crate) struct Spill {
    file: File,
    end: u64,
    buffered_bytes: usize,
    sessions: HashMap<Option<u32>, SessionBuffer>,
    pub(crate) len: usize,
}

#[derive(Default)]
struct SessionBuffer {
    buffer: Vec<u8>,
    chunks: Vec<Chunk>,
}

impl fmt::Debug for Spill {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Spill").field("len", &self.len).finish_non_exhaustive()
    }
}

impl Spill {
    /// Creates the file in the folder for temporary files. It has no name, so it is gone when the process ends.
    ///
    /// # Errors
    ///
    /// Errors of the operating system.
    pub(crate) fn new() -> io::Result<Self> {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let name = format!("tenbin-replay-{}-{}", process::id(), NUMBER.fetch_add(1, Ordering::Relaxed));
        let path = std::env::temp_dir().join(name);
        let file = OpenOptions::new().read(true).write(true).create_new(true).mode(0o600).open(&path)?;
        fs::remove_file(&path)?;
        Ok(Self { file, end: 0, buffered_bytes: 0, sessions: HashMap::new(), len: 0 })
    }

    /// Adds the next statement of a session. `place` is its position within its second. `text` is written if the statement's text has no
    /// number.
    ///
    /// # Errors
    ///
    /// Errors of the operating system, such as a full disk.
    pub(crate) fn add(
        &mut self,
        session: Option<u32>,
        item: &Item,
        place: u64,
        text: Option<&str>,
    ) -> io::Result<()> {
        let collected = self.sessions.entry(session).or_default();
        let before = collected.buffer.len();
        encode(&mut collected.buffer, item, place, text);
        self.buffered_bytes += collected.buffer.len() - before;
        self.len += 1;
        if collected.buffer.len() >= CHUNK_BYTES {
            self.buffered_bytes -= collected.buffer.len();
            self.end = collected.write(&self.file, self.end)?;
        }
        if self.buffered_bytes >= BUFFERED_BYTES_MAX { self.write_all() } else { Ok(()) }
    }

    fn write_all(&mut self) -> io::Result<()> {
        for collected in self.sessions.values_mut().filter(|collected| !collected.buffer.is_empty()) {
            self.end = collected.write(&self.file, self.end)?;
        }
        self.buffered_bytes = 0;
        Ok(())
    }

    /// Ends the file. `slots` has the sessions of each slot, in order. `texts` are those with a number.
    ///
    /// # Errors
    ///
    /// Errors of the operating system.
    pub(crate) fn finish(
        mut self,
        slots: &[Vec<Option<u32>>],
        first_ns: u64,
        seconds: Option<HashMap<u64, u64>>,
        texts: Vec<Arc<str>>,
    ) -> io::Result<Spilled> {
        self.write_all()?;
        let chunks = |session: &Option<u32>| -> Box<[Chunk]> {
            self.sessions.get(session).map_or(&[][..], |collected| &collected.chunks).into()
        };
        let slots = slots.iter().map(|sessions| sessions.iter().map(chunks).collect()).collect();
        let Self { file, len, .. } = self;
        Ok(Spilled {
            file,
            slots,
            texts: texts.into(),
            first_ns,
            seconds,
            len,
            numbers: None,
            speed: Some(1.0),
        })
    }
}

impl SessionBuffer {
    /// Writes the buffer at the end of the file. Returns the new end.
    fn write(&mut self, file: &File, end: u64) -> io::Result<u64> {
        // Frees the memory, because many sessions end without another statement.
        let buffer = std::mem::take(&mut self.buffer);
        file.write_all_at(&buffer, end)?;
        self.chunks.push(Chunk { offset: end, bytes: buffer.len() as u32 });
        Ok(end + buffer.len() as u64)
    }
}

/// Statements in a file, by slot.
#[derive(Clone)]
pub(crate) struct SpilledTrace(pub(crate) Arc<Spilled>);

impl PartialEq for SpilledTrace {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for SpilledTrace {}

/// File of statements, and the places of each slot in it.
pub(crate) struct Spilled {
    file: File,
    /// Chunks by slot and session.
    slots: Vec<Vec<Box<[Chunk]>>>,
    texts: Box<[Arc<str>]>,
    /// Time of the first statement of the log.
    first_ns: u64,
    /// Number of statements by second, if times are in whole seconds.
    seconds: Option<HashMap<u64, u64>>,
    pub(crate) len: usize,
    /// New numbers of the fingerprints. `None` if they keep theirs.
    pub(crate) numbers: Option<Box<[u16]>>,
    /// Factor that times are divided by. `None` if there are no pauses.
    pub(crate) speed: Option<f64>,
}

impl Spilled {
    pub(crate) fn slots(&self) -> usize {
        self.slots.len()
    }
}

/// Reads the statements of one slot, in order.
pub(crate) struct SpilledReader {
    trace: Arc<Spilled>,
    slot: usize,
    session: usize,
    chunk: usize,
    bytes: Vec<u8>,
    at: usize,
    before_ns: u64,
}

impl SpilledReader {
    pub(crate) fn new(trace: Arc<Spilled>, slot: usize) -> Self {
        Self { trace, slot, session: 0, chunk: 0, bytes: Vec::new(), at: 0, before_ns: 0 }
    }

    /// Next statement with its text. `None` after the last.
    ///
    /// # Errors
    ///
    /// The file cannot be read.
    pub(crate) fn next(&mut self) -> io::Result<Option<(Item, Arc<str>)>> {
        if self.at == self.bytes.len() && !self.read_chunk()? {
            return Ok(None);
        }
        let mut input = ChunkDecoder { bytes: &self.bytes, at: self.at };
        let (mut item, place, text) = decode(&mut input).ok_or(io::ErrorKind::InvalidData)?;
        self.at = input.at;
        let trace = &*self.trace;
        let at_ns = item.at_ns + offset_ns(item.at_ns, place, trace.seconds.as_ref());
        self.before_ns = at_ns.saturating_sub(trace.first_ns).max(self.before_ns);
        item.at_ns = trace.speed.map_or(0, |factor| (self.before_ns as f64 / factor) as u64);
        if let Some(numbers) = &trace.numbers {
            item.fingerprint = numbers.get(usize::from(item.fingerprint)).copied().unwrap_or(0);
        }
        let chunks = trace.slots.get(self.slot).and_then(|sessions| sessions.get(self.session));
        item.is_last = self.at == self.bytes.len() && chunks.is_none_or(|chunks| self.chunk >= chunks.len());
        let text = match text {
            Some(text) => text.into(),
            None => trace.texts.get(item.text as usize).cloned().ok_or(io::ErrorKind::InvalidData)?,
        };
        if item.is_last {
            (self.session, self.chunk, self.before_ns) = (self.session + 1, 0, 0);
        }
        Ok(Some((item, text)))
    }

    /// Reads the next chunk. Returns false after the last.
    fn read_chunk(&mut self) -> io::Result<bool> {
        let Some(sessions) = self.trace.slots.get(self.slot) else { return Ok(false) };
        while let Some(chunks) = sessions.get(self.session) {
            if let Some(chunk) = chunks.get(self.chunk) {
                self.bytes.resize(chunk.bytes as usize, 0);
                self.trace.file.read_exact_at(&mut self.bytes, chunk.offset)?;
                (self.at, self.chunk) = (0, self.chunk + 1);
                return Ok(true);
            }
            (self.session, self.chunk, self.before_ns) = (self.session + 1, 0, 0);
        }
        Ok(false)
    }
}

/// Time after the begin of its second for a statement with a time in whole seconds: statements are spread evenly. 0 for other times.
pub(crate) fn offset_ns(at_ns: u64, place: u64, seconds: Option<&HashMap<u64, u64>>) -> u64 {
    let Some(seconds) = seconds else { return 0 };
    let count = seconds.get(&(at_ns / SECOND_NS)).copied().unwrap_or(1).max(1);
    (u128::from(place) * u128::from(SECOND_NS) / u128::from(count)) as u64
}

fn encode(out: &mut Vec<u8>, item: &Item, place: u64, text: Option<&str>) {
    out.extend(item.at_ns.to_le_bytes());
    out.extend(u32::try_from(place).unwrap_or(u32::MAX).to_le_bytes());
    out.extend(item.fingerprint.to_le_bytes());
    let (form, values): (u8, &[Option<String>]) = match &item.form {
        Form::Query | Form::Request(_) => (0, &[]),
        Form::Execute { values, is_named } => (1 + u8::from(*is_named), values),
        Form::Command => (3, &[]),
    };
    out.push(form);
    match &item.result {
        LoggedResult::Unknown | LoggedResult::Status(_) => out.push(0),
        LoggedResult::Ok => out.push(1),
        LoggedResult::Error(None) => out.push(2),
        LoggedResult::Error(Some(code)) => {
            out.push(3);
            out.extend(code);
        }
    }
    out.push(u8::from(item.rows.is_some()));
    out.extend(item.rows.iter().flat_map(|rows| rows.to_le_bytes()));
    match text {
        None => out.extend(item.text.to_le_bytes()),
        Some(text) => {
            out.extend(INLINE.to_le_bytes());
            out.extend((text.len() as u32).to_le_bytes());
            out.extend(text.as_bytes());
        }
    }
    out.extend((values.len() as u32).to_le_bytes());
    for value in values {
        match value {
            None => out.extend(NULL.to_le_bytes()),
            Some(value) => {
                out.extend((value.len() as u32).to_le_bytes());
                out.extend(value.as_bytes());
            }
        }
    }
}

struct ChunkDecoder<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> ChunkDecoder<'a> {
    fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let taken = self.bytes.get(self.at..self.at.checked_add(count)?)?;
        self.at += count;
        Some(taken)
    }

    fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        self.take(N)?.try_into().ok()
    }

    fn u32(&mut self) -> Option<u32> {
        self.array().map(u32::from_le_bytes)
    }

    fn text(&mut self, bytes: u32) -> Option<&'a str> {
        str::from_utf8(self.take(bytes as usize)?).ok()
    }
}

/// Decodes an item with its place within its second, and its text if that has no number.
fn decode<'a>(input: &mut ChunkDecoder<'a>) -> Option<(Item, u64, Option<&'a str>)> {
    let at_ns = u64::from_le_bytes(input.array()?);
    let place = u64::from(input.u32()?);
    let fingerprint = u16::from_le_bytes(input.array()?);
    let [form] = input.array()?;
    let result = match input.array()? {
        [0] => LoggedResult::Unknown,
        [1] => LoggedResult::Ok,
        [2] => LoggedResult::Error(None),
        [_] => LoggedResult::Error(Some(input.array()?)),
    };
    let rows = match input.array()? {
        [0] => None,
        [_] => Some(u64::from_le_bytes(input.array()?)),
    };
    let number = input.u32()?;
    let text = if number == INLINE {
        let bytes = input.u32()?;
        Some(input.text(bytes)?)
    } else {
        None
    };
    let count = input.u32()?;
    let mut values = Vec::new();
    for _ in 0..count {
        values.push(match input.u32()? {
            NULL => None,
            bytes => Some(input.text(bytes)?.to_owned()),
        });
    }
    let form = match form {
        0 => Form::Query,
        3 => Form::Command,
        form => Form::Execute { values: values.into(), is_named: form == 2 },
    };
    Some((Item { at_ns, text: number, form, fingerprint, is_last: false, result, rows }, place, text))
}
