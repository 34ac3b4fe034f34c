//! Whole log as the items that each connection sends, with their times: in memory, or in a temporary file if the log is long.
//!
//! Each session has a separate connection. Sessions that did not overlap in the log take turns on one slot, so that the number of slots is
//! the max number of sessions open at the same time. Requests have no sessions: they are one list in order of time.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};
use std::fmt;
use std::io;
use std::sync::Arc;

use crate::entry::{Action, Entry, LoggedResult};
use crate::spill::{Spill, Spilled, SpilledReader, SpilledTrace, offset_ns};

/// Max bytes of statements and texts in memory.
pub const KEPT_BYTES_MAX: u64 = 2 << 30;
/// Bytes of statements and texts above which statements and texts of sessions go to a file.
pub const SPILLED_ABOVE_BYTES: u64 = 128 << 20;
/// Max number of texts in memory, and their max bytes, when statements go to a file.
const NUMBERED_TEXTS_MAX: usize = 4_096;
const NUMBERED_BYTES_MAX: u64 = 16 << 20;

pub(crate) const SECOND_NS: u64 = 1_000_000_000;

/// A statement or request to send.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Item {
    /// Intended time, in nanoseconds since the first one of the log.
    pub at_ns: u64,
    /// Number of its text in [`Trace::texts`].
    pub text: u32,
    /// Way to send it.
    pub form: Form,
    /// Number of its fingerprint.
    pub fingerprint: u16,
    /// Whether the item ends its session.
    pub is_last: bool,
    /// Result in the log.
    pub result: LoggedResult,
    /// Number of rows in the log. `None` if it has none.
    pub rows: Option<u64>,
}

/// Way to send an item.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Form {
    /// A text of one or more statements.
    Query,
    /// A statement with values, as [`Action::Execute`].
    Execute {
        /// Values in text form; `None` is NULL.
        values: Box<[Option<String>]>,
        /// Whether the statement stays prepared.
        is_named: bool,
    },
    /// A command of a store.
    Command,
    /// A request. Its text is the target.
    Request(Arc<RequestForm>),
}

/// A request without its target.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct RequestForm {
    /// Method, such as GET.
    pub method: String,
    /// Headers that the log has.
    pub headers: Vec<(String, String)>,
    /// Body. `None` for a request without one.
    pub body: Option<String>,
}

/// Everything to send.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Trace {
    /// Distinct texts.
    pub texts: Vec<Arc<str>>,
    /// Items of each slot, in order. Requests have one slot. Empty if they are in a file.
    pub slots: Vec<Vec<Item>>,
    /// Number of sessions.
    pub sessions: usize,
    /// Largest number of items within a second of the log, if they are in a file.
    pub(crate) peak: u64,
    /// Time of the last item, if they are in a file.
    pub(crate) last_ns: u64,
    /// Max bytes of a text in a file.
    pub(crate) longest_bytes: usize,
    pub(crate) spilled: Option<SpilledTrace>,
}

/// Reads the items of a slot, in order.
pub struct SlotReader(Source);

enum Source {
    Memory(Arc<Trace>, usize, usize),
    File(Box<SpilledReader>),
}

impl SlotReader {
    /// Next item with its text. `None` after the last.
    ///
    /// # Errors
    ///
    /// The temporary file cannot be read.
    pub fn next_item(&mut self) -> io::Result<Option<(Item, Arc<str>)>> {
        match &mut self.0 {
            Source::Memory(trace, slot, next) => {
                let Some(item) = trace.slots.get(*slot).and_then(|items| items.get(*next)) else {
                    return Ok(None);
                };
                *next += 1;
                let text = trace.texts.get(item.text as usize).cloned().unwrap_or_default();
                Ok(Some((item.clone(), text)))
            }
            Source::File(reader) => reader.next(),
        }
    }
}

impl fmt::Debug for SlotReader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SlotReader").finish_non_exhaustive()
    }
}

impl fmt::Debug for Trace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (texts, slots) = (self.texts.len(), self.slots.len());
        f.debug_struct("Trace").field("texts", &texts).field("slots", &slots).finish_non_exhaustive()
    }
}

/// Reason why a trace cannot be stored.
#[derive(Debug)]
pub enum TraceError {
    /// Trace that takes more than [`KEPT_BYTES_MAX`].
    TooLarge,
    /// The temporary file cannot be written.
    File(io::Error),
}

impl From<io::Error> for TraceError {
    fn from(error: io::Error) -> Self {
        Self::File(error)
    }
}

/// Collects a [`Trace`].
#[derive(Debug, Default)]
pub struct TraceBuilder {
    /// Bytes in memory above which the items of sessions go to a file. `None` if they stay in memory.
    spilled_above_bytes: Option<u64>,
    spill: Option<Spill>,
    longest_bytes: usize,
    /// Bytes of the texts that have a number since items go to a file.
    numbered_bytes: u64,
    texts: Vec<Arc<str>>,
    numbers: HashMap<Arc<str>, u32>,
    requests: HashMap<RequestForm, Arc<RequestForm>>,
    sessions: HashMap<Option<u32>, Session>,
    has_whole_seconds: bool,
    /// Number of entries by second, in which entries with times in whole seconds have their places.
    seconds: HashMap<u64, u64>,
    kept_bytes: u64,
}

#[derive(Debug, Default)]
struct Session {
    items: Vec<Item>,
    /// Places within their seconds, if times may be in whole seconds.
    places: Vec<u64>,
    /// First and last time, with their places, of items in a file.
    span: Option<[(u64, u64); 2]>,
    end_ns: u64,
}

impl TraceBuilder {
    /// Begins an empty trace in memory.
    pub fn new() -> Self {
        Self { has_whole_seconds: true, ..Self::default() }
    }

    /// Allows the items of sessions to go to a temporary file once they exceed this size in memory. Items without a session stay.
    #[must_use]
    pub fn with_spill_limit(self, bytes: u64) -> Self {
        Self { spilled_above_bytes: Some(bytes), ..self }
    }

    /// Adds the next entry of the log.
    ///
    /// # Errors
    ///
    /// See [`TraceError`].
    pub fn add(&mut self, entry: Entry, fingerprint: u16) -> Result<(), TraceError> {
        let Entry { session: number, at_ns, action, duration_ns, result, rows, .. } = entry;
        self.has_whole_seconds &= at_ns.is_multiple_of(SECOND_NS);
        let (text, form) = match action {
            Action::Query(text) => (text, Form::Query),
            Action::Command(text) => (text, Form::Command),
            Action::Execute { text, values, is_named } => {
                self.kept_bytes += values.iter().flatten().map(|value| value.len() as u64 + 24).sum::<u64>();
                (text, Form::Execute { values: values.into(), is_named })
            }
            Action::Request { method, target, headers, body } => {
                self.spilled_above_bytes = None;
                (target, Form::Request(self.request(RequestForm { method, headers, body })))
            }
        };
        let place = self.seconds.entry(at_ns / SECOND_NS).or_default();
        *place += 1;
        let place = *place - 1;
        let session = self.sessions.entry(number).or_default();
        session.end_ns = session.end_ns.max(at_ns.saturating_add(duration_ns.unwrap_or(0)));
        let mut item = Item { at_ns, text: u32::MAX, form, fingerprint, is_last: false, result, rows };
        if self.spill.is_some() {
            return Ok(self.add_to_file(number, item, place, &text)?);
        }
        item.text = self.text(&text);
        let session = self.sessions.entry(number).or_default();
        if self.has_whole_seconds || self.spilled_above_bytes.is_some() {
            session.places.push(place);
        }
        session.items.push(item);
        self.kept_bytes += size_of::<Item>() as u64;
        match self.spilled_above_bytes {
            Some(bytes) if self.kept_bytes > bytes && number.is_some() => Ok(self.begin_file()?),
            _ if self.kept_bytes > KEPT_BYTES_MAX => Err(TraceError::TooLarge),
            _ => Ok(()),
        }
    }

    /// Moves all items to a file. Texts keep their numbers.
    #[cold]
    fn begin_file(&mut self) -> io::Result<()> {
        let mut spill = Spill::new()?;
        self.longest_bytes = self.texts.iter().map(|text| text.len()).max().unwrap_or(0);
        let is_numbered = |number: u32| (number as usize) < NUMBERED_TEXTS_MAX;
        for (number, session) in &mut self.sessions {
            let places = std::mem::take(&mut session.places);
            for (item, place) in std::mem::take(&mut session.items).into_iter().zip(places) {
                let text = self.texts.get(item.text as usize).filter(|_| !is_numbered(item.text));
                session.extend_span(item.at_ns, place);
                spill.add(*number, &item, place, text.map(|text| &**text))?;
            }
        }
        self.texts.truncate(NUMBERED_TEXTS_MAX);
        self.numbers.retain(|_, number| is_numbered(*number));
        self.numbers.shrink_to_fit();
        self.spill = Some(spill);
        Ok(())
    }

    fn add_to_file(&mut self, number: Option<u32>, mut item: Item, place: u64, text: &str) -> io::Result<()> {
        self.longest_bytes = self.longest_bytes.max(text.len());
        let may_number = self.texts.len() < NUMBERED_TEXTS_MAX
            && matches!(item.form, Form::Execute { .. })
            && self.numbered_bytes < NUMBERED_BYTES_MAX;
        item.text = match self.numbers.get(text) {
            Some(number) => *number,
            None if may_number => {
                self.numbered_bytes += text.len() as u64;
                self.text(text)
            }
            None => u32::MAX,
        };
        self.sessions.entry(number).or_default().extend_span(item.at_ns, place);
        let inline = (item.text == u32::MAX).then_some(text);
        match &mut self.spill {
            Some(spill) => spill.add(number, &item, place, inline),
            None => Ok(()),
        }
    }

    fn text(&mut self, text: &str) -> u32 {
        if let Some(number) = self.numbers.get(text) {
            return *number;
        }
        let (shared, number): (Arc<str>, u32) = (text.into(), self.texts.len() as u32);
        self.kept_bytes += text.len() as u64 + 64;
        self.texts.push(Arc::clone(&shared));
        self.numbers.insert(shared, number);
        number
    }

    fn request(&mut self, form: RequestForm) -> Arc<RequestForm> {
        if let Some(known) = self.requests.get(&form) {
            return Arc::clone(known);
        }
        let of_headers: usize = form.headers.iter().map(|(name, value)| name.len() + value.len() + 48).sum();
        let bytes = form.method.len() + of_headers + form.body.as_ref().map_or(0, String::len) + 96;
        // The key is a copy.
        self.kept_bytes += 2 * bytes as u64;
        let shared = Arc::new(form.clone());
        self.requests.insert(form, Arc::clone(&shared));
        shared
    }

    /// Puts the sessions on slots. Times count from `first_ns`.
    ///
    /// # Errors
    ///
    /// The temporary file cannot be written.
    pub fn build(mut self, first_ns: u64) -> io::Result<Trace> {
        if let Some(spill) = self.spill.take() {
            return self.build_in_file(spill, first_ns);
        }
        let Self { texts, sessions, has_whole_seconds, seconds, .. } = self;
        let mut sessions: Vec<(Option<u32>, Session)> = sessions.into_iter().collect();
        let count = sessions.len();
        for (number, session) in &mut sessions {
            if has_whole_seconds {
                session.spread_seconds(&seconds);
            }
            // Requests are logged at their end, and so in another order than they began in.
            if number.is_none() {
                session.items.sort_by_key(|item| item.at_ns);
            }
            session.make_relative(first_ns);
        }
        sessions.sort_by_key(|(number, session)| (session.items.first().map(|item| item.at_ns), *number));
        let mut slots: Vec<Vec<Item>> = Vec::new();
        let spans = sessions.iter().map(|(_, session)| {
            let at = |item: Option<&Item>| item.map_or(0, |item| item.at_ns);
            (at(session.items.first()), session.end_ns.max(at(session.items.last())))
        });
        for (slot, (_, session)) in assign_slots(spans.collect()).into_iter().zip(sessions) {
            slots.resize_with(slots.len().max(slot + 1), Vec::new);
            slots[slot].extend(session.items);
        }
        Ok(Trace { texts, slots, sessions: count, ..Trace::default() })
    }

    fn build_in_file(self, spill: Spill, first_ns: u64) -> io::Result<Trace> {
        let Self { texts, sessions, has_whole_seconds, seconds, longest_bytes, .. } = self;
        let peak = seconds.values().copied().max().unwrap_or(0);
        let seconds = has_whole_seconds.then_some(seconds);
        let mut spans: Vec<(u64, u64, Option<u32>)> = Vec::with_capacity(sessions.len());
        let mut last_ns = 0;
        for (number, session) in &sessions {
            let at = |(at_ns, place): (u64, u64)| {
                (at_ns + offset_ns(at_ns, place, seconds.as_ref())).saturating_sub(first_ns)
            };
            let [first, last] = session.span.unwrap_or_default().map(at);
            last_ns = last_ns.max(last);
            spans.push((first, session.end_ns.saturating_sub(first_ns).max(last), *number));
        }
        spans.sort_unstable_by_key(|(first_ns, _, number)| (*first_ns, *number));
        let mut slots: Vec<Vec<Option<u32>>> = Vec::new();
        let placed = assign_slots(spans.iter().map(|(first_ns, end_ns, _)| (*first_ns, *end_ns)).collect());
        for (slot, (_, _, number)) in placed.into_iter().zip(&spans) {
            slots.resize_with(slots.len().max(slot + 1), Vec::new);
            slots[slot].push(*number);
        }
        let sessions = spans.len();
        let spilled = spill.finish(&slots, first_ns, seconds, texts)?;
        let spilled = Some(SpilledTrace(Arc::new(spilled)));
        Ok(Trace { sessions, peak, last_ns, longest_bytes, spilled, ..Trace::default() })
    }
}

/// Slot of each session by its first time and its end, in order of the first times. Sessions that did not overlap share a slot.
fn assign_slots(spans: Vec<(u64, u64)>) -> Vec<usize> {
    let (mut slots, mut free) = (0, BinaryHeap::<Reverse<(u64, usize)>>::new());
    let place = |(first_ns, end_ns): (u64, u64)| {
        let slot = match free.peek() {
            Some(Reverse((free_ns, slot))) if *free_ns < first_ns => *slot,
            _ => slots,
        };
        if slot == slots {
            slots += 1;
        } else {
            free.pop();
        }
        free.push(Reverse((end_ns, slot)));
        slot
    };
    spans.into_iter().map(place).collect()
}

impl Session {
    /// Spreads times in whole seconds evenly over their seconds.
    fn spread_seconds(&mut self, seconds: &HashMap<u64, u64>) {
        for (item, place) in self.items.iter_mut().zip(&self.places) {
            item.at_ns += offset_ns(item.at_ns, *place, Some(seconds));
        }
    }

    /// Extends the span of items in a file. Times of a session never decrease when they are read.
    fn extend_span(&mut self, at_ns: u64, place: u64) {
        let [first, last] = self.span.unwrap_or([(at_ns, place); 2]);
        self.span = Some([first, last.max((at_ns, place))]);
    }

    /// Makes times relative to `first_ns`, and never decreasing.
    fn make_relative(&mut self, first_ns: u64) {
        let mut before_ns = 0;
        for item in &mut self.items {
            item.at_ns = item.at_ns.saturating_sub(first_ns).max(before_ns);
            before_ns = item.at_ns;
        }
        self.end_ns = self.end_ns.saturating_sub(first_ns);
        if let Some(last) = self.items.last_mut() {
            last.is_last = true;
        }
    }
}

impl Trace {
    /// Number of items.
    pub fn len(&self) -> usize {
        match &self.spilled {
            Some(spilled) => spilled.0.len,
            None => self.slots.iter().map(Vec::len).sum(),
        }
    }

    /// Whether there is nothing to send.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether the items are in a temporary file.
    pub fn is_in_file(&self) -> bool {
        self.spilled.is_some()
    }

    /// Number of slots.
    pub fn slot_count(&self) -> usize {
        self.spilled.as_ref().map_or(self.slots.len(), |spilled| spilled.0.slots())
    }

    /// Reads the items of a slot.
    pub fn reader(self: &Arc<Self>, slot: usize) -> SlotReader {
        SlotReader(match &self.spilled {
            Some(spilled) => Source::File(Box::new(SpilledReader::new(Arc::clone(&spilled.0), slot))),
            None => Source::Memory(Arc::clone(self), slot, 0),
        })
    }

    /// Multiplies the speed: times are divided by `factor`. `None` removes all pauses.
    pub fn speed_up(&mut self, factor: Option<f64>) {
        for item in self.slots.iter_mut().flatten() {
            item.at_ns = factor.map_or(0, |factor| (item.at_ns as f64 / factor) as u64);
        }
        self.change(|spilled| {
            spilled.speed = spilled.speed.zip(factor).map(|(before, factor)| before * factor);
        });
        self.last_ns = factor.map_or(0, |factor| (self.last_ns as f64 / factor) as u64);
        self.peak = match factor {
            None => self.len() as u64,
            Some(factor) => (self.peak as f64 * factor).ceil() as u64,
        };
    }

    /// Gives fingerprints other numbers: `numbers` has the new one of each.
    pub fn renumber(&mut self, numbers: &[u16]) {
        let items = self.slots.iter_mut().flatten();
        items.for_each(|item| item.fingerprint = numbers[usize::from(item.fingerprint)]);
        self.change(|spilled| spilled.numbers = Some(numbers.into()));
    }

    /// Changes how the file is read. Nothing reads it yet.
    fn change(&mut self, change: impl FnOnce(&mut Spilled)) {
        if let Some(spilled) = self.spilled.as_mut().and_then(|spilled| Arc::get_mut(&mut spilled.0)) {
            change(spilled);
        }
    }

    /// Intended times with their slots, of items in memory.
    pub fn times(&self) -> impl Iterator<Item = (u64, u32)> {
        (0..).zip(&self.slots).flat_map(|(slot, items)| items.iter().map(move |item| (item.at_ns, slot)))
    }

    /// Largest intended time in nanoseconds.
    pub fn last_ns(&self) -> u64 {
        self.times().map(|(at_ns, _)| at_ns).max().unwrap_or(self.last_ns)
    }

    /// Largest number of items in a second, if they are in a file.
    pub fn peak_per_s(&self) -> f64 {
        self.peak as f64
    }

    /// Max bytes of a text.
    pub fn longest_text_bytes(&self) -> usize {
        self.texts.iter().map(|text| text.len()).max().unwrap_or(0).max(self.longest_bytes)
    }

    /// An item with a fingerprint, and its text. `None` if there is none, or the file cannot be read.
    pub fn sample(self: &Arc<Self>, fingerprint: usize) -> Option<(Item, Arc<str>)> {
        (0..self.slot_count()).find_map(|slot| {
            let mut reader = self.reader(slot);
            while let Ok(Some((item, text))) = reader.next_item() {
                if usize::from(item.fingerprint) == fingerprint {
                    return Some((item, text));
                }
            }
            None
        })
    }
}
