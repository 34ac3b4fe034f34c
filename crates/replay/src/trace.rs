//! A whole log in memory, as what each connection has to send and when.
//!
//! Each session has a connection of its own. Sessions that did not overlap in the log take turns on one slot, so that there are as
//! many slots as sessions were open at the same time. Requests have no sessions: they are one list in order of time.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};
use std::fmt;
use std::sync::Arc;

use crate::entry::{Action, Entry, LoggedResult};

/// Max bytes of texts and values that are kept.
pub const KEPT_BYTES_MAX: u64 = 2 << 30;

const SECOND_NS: u64 = 1_000_000_000;

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
    /// Whether its session ends with it.
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
    /// Items of each slot, in order. Requests have one slot.
    pub slots: Vec<Vec<Item>>,
    /// Number of sessions.
    pub sessions: usize,
}

impl fmt::Debug for Trace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (texts, slots) = (self.texts.len(), self.slots.len());
        f.debug_struct("Trace").field("texts", &texts).field("slots", &slots).finish_non_exhaustive()
    }
}

/// More text than can be kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooLarge;

/// Collects a [`Trace`].
#[derive(Debug, Default)]
pub struct TraceBuilder {
    texts: Vec<Arc<str>>,
    numbers: HashMap<Arc<str>, u32>,
    requests: HashMap<RequestForm, Arc<RequestForm>>,
    sessions: HashMap<Option<u32>, Session>,
    has_whole_seconds: bool,
    /// Order of all entries, for times in whole seconds.
    seconds: HashMap<u64, u64>,
    kept_bytes: u64,
}

#[derive(Debug, Default)]
struct Session {
    items: Vec<Item>,
    /// Places within their seconds, if times may be in whole seconds.
    places: Vec<u64>,
    end_ns: u64,
}

impl TraceBuilder {
    /// Begins an empty trace.
    pub fn new() -> Self {
        Self { has_whole_seconds: true, ..Self::default() }
    }

    /// Adds the next entry of the log.
    ///
    /// # Errors
    ///
    /// The trace is too large.
    pub fn add(&mut self, entry: Entry, fingerprint: u16) -> Result<(), TooLarge> {
        let Entry { session, at_ns, action, duration_ns, result, rows, .. } = entry;
        self.has_whole_seconds &= at_ns.is_multiple_of(SECOND_NS);
        let (text, form) = match action {
            Action::Query(text) => (text, Form::Query),
            Action::Command(text) => (text, Form::Command),
            Action::Execute { text, values, is_named } => {
                let bytes = values.iter().flatten().map(|value| value.len() as u64 + 24).sum::<u64>();
                self.kept_bytes += bytes;
                (text, Form::Execute { values: values.into(), is_named })
            }
            Action::Request { method, target, headers, body } => {
                (target, Form::Request(self.request(RequestForm { method, headers, body })))
            }
        };
        let text = self.text(&text);
        self.kept_bytes += size_of::<Item>() as u64;
        let session = self.sessions.entry(session).or_default();
        if self.has_whole_seconds {
            let place = self.seconds.entry(at_ns / SECOND_NS).or_default();
            session.places.push(*place);
            *place += 1;
        }
        session.end_ns = session.end_ns.max(at_ns.saturating_add(duration_ns.unwrap_or(0)));
        session.items.push(Item { at_ns, text, form, fingerprint, is_last: false, result, rows });
        if self.kept_bytes > KEPT_BYTES_MAX { Err(TooLarge) } else { Ok(()) }
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
    pub fn build(self, first_ns: u64) -> Trace {
        let Self { texts, sessions, has_whole_seconds, seconds, .. } = self;
        let mut sessions: Vec<(Option<u32>, Session)> = sessions.into_iter().collect();
        let count = sessions.len();
        for (number, session) in &mut sessions {
            if has_whole_seconds {
                session.spread(&seconds);
            }
            // Requests are logged at their end, and so in another order than they began in.
            if number.is_none() {
                session.items.sort_by_key(|item| item.at_ns);
            }
            session.settle(first_ns);
        }
        sessions.sort_by_key(|(number, session)| (session.items.first().map(|item| item.at_ns), *number));
        let mut slots: Vec<Vec<Item>> = Vec::new();
        let mut free: BinaryHeap<Reverse<(u64, usize)>> = BinaryHeap::new();
        for (_, session) in sessions {
            let first_ns = session.items.first().map_or(0, |item| item.at_ns);
            let slot = match free.peek() {
                Some(Reverse((free_ns, slot))) if *free_ns < first_ns => *slot,
                _ => slots.len(),
            };
            if slot == slots.len() {
                slots.push(Vec::new());
            } else {
                free.pop();
            }
            let last_ns = session.items.last().map_or(0, |item| item.at_ns);
            free.push(Reverse((session.end_ns.max(last_ns), slot)));
            slots[slot].extend(session.items);
        }
        Trace { texts, slots, sessions: count }
    }
}

impl Session {
    /// Spreads times in whole seconds evenly over their seconds.
    fn spread(&mut self, seconds: &HashMap<u64, u64>) {
        for (item, place) in self.items.iter_mut().zip(&self.places) {
            let count = seconds.get(&(item.at_ns / SECOND_NS)).copied().unwrap_or(1).max(1);
            item.at_ns += (u128::from(*place) * u128::from(SECOND_NS) / u128::from(count)) as u64;
        }
    }

    /// Makes times relative to `first_ns`, and never decreasing.
    fn settle(&mut self, first_ns: u64) {
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
        self.slots.iter().map(Vec::len).sum()
    }

    /// Whether there is nothing to send.
    pub fn is_empty(&self) -> bool {
        self.slots.iter().all(Vec::is_empty)
    }

    /// Whether it has requests, which belong to no session.
    pub fn has_requests(&self) -> bool {
        self.slots.iter().flatten().next().is_some_and(|item| matches!(item.form, Form::Request(_)))
    }

    /// Multiplies the speed: times are divided by `factor`. `None` removes all pauses.
    pub fn speed_up(&mut self, factor: Option<f64>) {
        for item in self.slots.iter_mut().flatten() {
            item.at_ns = factor.map_or(0, |factor| (item.at_ns as f64 / factor) as u64);
        }
    }

    /// Intended times with their slots.
    pub fn times(&self) -> impl Iterator<Item = (u64, u32)> {
        (0..).zip(&self.slots).flat_map(|(slot, items)| items.iter().map(move |item| (item.at_ns, slot)))
    }
}
