//! Plays the requests of an access log over any number of connections.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use wire::http1::{Checks, Http1, HttpConversation, HttpStep, Request};
use wire::step::Step;
use wire::{
    Closing, Conversation, Footprint, Greeting, Next, PartEnd, PeerFault, Progress, Refusal, Reply, Script,
    Secrets, Stage,
};

use super::outcomes::{Outcomes, Replayed};
use super::{NOT_REPLAYABLE, part};
use crate::trace::{Form, Item, RequestForm, Trace};

/// Max number of shapes that keep their headers. Requests of further shapes are sent without them.
const SHAPES_MAX: usize = 1_000;

/// The requests of a trace as a load. Whichever connection begins next takes the next request.
#[derive(Debug)]
pub struct HttpPlay {
    shared: Arc<Shared>,
    http: Http1,
    fingerprints: u16,
}

#[derive(Debug)]
struct Shared {
    trace: Arc<Trace>,
    outcomes: Arc<Outcomes>,
    /// Number of the step of each request.
    steps: Vec<u16>,
    next: AtomicUsize,
}

impl HttpPlay {
    /// Creates the load. Each request is `like` with method and target of the log.
    ///
    /// # Errors
    ///
    /// A message if `like` is no request of HTTP, or if a method or a header cannot be sent.
    pub fn new(
        trace: Arc<Trace>,
        outcomes: Arc<Outcomes>,
        fingerprints: usize,
        like: &dyn Step,
        secrets: &Secrets,
    ) -> Result<Self, String> {
        let like = &like.downcast::<HttpStep>().ok_or(NOT_REPLAYABLE)?.request;
        let mut shapes: Vec<Shape<'_>> = Vec::new();
        let mut numbers: HashMap<Shape<'_>, u16> = HashMap::new();
        let mut steps = Vec::with_capacity(trace.len());
        for item in trace.slots.iter().flatten() {
            let Form::Request(form) = &item.form else { return Err(NOT_REPLAYABLE.to_owned()) };
            let shape = Shape::of(form, shapes.len() < SHAPES_MAX);
            let number = *numbers.entry(shape).or_insert_with_key(|shape| {
                shapes.push(shape.clone());
                (shapes.len() - 1) as u16
            });
            steps.push(number);
        }
        let headers = shapes.iter().map(|shape| shape.headers.len()).max().unwrap_or(0);
        let mut variables = vec!["target".to_owned(), "body".to_owned()];
        variables.extend((0..headers).map(|header| format!("header{header}")));
        let compiled: Vec<HttpStep> = shapes.iter().map(|shape| shape.step(like)).collect();
        let http = Http1::compile(&compiled, &variables, secrets).map_err(|wrong| wrong.what)?;
        let shared = Shared { trace: Arc::clone(&trace), outcomes, steps, next: AtomicUsize::new(0) };
        Ok(Self { shared: Arc::new(shared), http, fingerprints: fingerprints as u16 })
    }
}

/// Parts of requests that are compiled once. Targets, bodies, and values of headers are filled in.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Shape<'a> {
    method: &'a str,
    headers: Vec<&'a str>,
    has_body: bool,
}

impl<'a> Shape<'a> {
    /// Shape of a request, without its headers unless `has_headers`.
    fn of(form: &'a RequestForm, has_headers: bool) -> Self {
        let headers = if has_headers { form.headers.as_slice() } else { &[] };
        Self {
            method: &form.method,
            headers: headers.iter().map(|(name, _)| name.as_str()).collect(),
            has_body: form.body.is_some(),
        }
    }

    /// The request `like` with this shape.
    fn step(&self, like: &Request) -> HttpStep {
        let is_given = |name: &str| self.headers.iter().any(|given| given.eq_ignore_ascii_case(name));
        let own = like.headers.iter().filter(|(name, _)| !is_given(name)).cloned();
        let headers = self.headers.iter().enumerate();
        let headers = headers.map(|(number, name)| ((*name).to_owned(), format!("{{header{number}}}")));
        HttpStep {
            request: Request {
                method: self.method.to_owned(),
                target: "{target}".to_owned(),
                headers: own.chain(headers).collect(),
                body: self.has_body.then(|| b"{body:raw}".to_vec()),
                ..like.clone()
            },
            checks: Checks::default(),
            captures: Vec::new(),
        }
    }
}

impl Script for HttpPlay {
    type Conversation = HttpPlayer;

    fn open(&self, number: u32) -> HttpPlayer {
        HttpPlayer {
            shared: Arc::clone(&self.shared),
            inner: Script::open(&self.http, number),
            current: None,
        }
    }

    fn needs(&self, _step: u16, _variable: u16) -> bool {
        false
    }

    fn looks_through(&self, _step: u16) -> bool {
        false
    }

    fn parts(&self) -> u16 {
        self.fingerprints
    }

    fn footprint(&self, _longest_bytes: &dyn Fn(u16) -> u64) -> Footprint {
        let texts = self.shared.trace.texts.iter().map(|text| text.len());
        let of_form = |item: &Item| match &item.form {
            Form::Request(form) => {
                let values = form.headers.iter().map(|(_, value)| value.len());
                values.chain(form.body.as_ref().map(String::len)).max().unwrap_or(0)
            }
            Form::Query | Form::Command | Form::Execute { .. } => 0,
        };
        let longest = texts.chain(self.shared.trace.slots.iter().flatten().map(of_form)).max().unwrap_or(0);
        Script::footprint(&self.http, &|_| longest as u64)
    }
}

/// Requests over one connection.
#[derive(Debug)]
pub struct HttpPlayer {
    shared: Arc<Shared>,
    inner: HttpConversation,
    /// Number of the request whose reply is awaited.
    current: Option<usize>,
}

impl HttpPlayer {
    fn item(&self) -> Option<&Item> {
        self.shared.trace.slots.first()?.get(self.current?)
    }

    /// Counts the reply to the request under way. Returns the end of its part.
    fn answered(&mut self, reply: &Reply) -> Option<PartEnd> {
        let item = self.item()?;
        self.shared.outcomes.note(item, Replayed::Status(reply.status));
        let end = PartEnd { part: part(item.fingerprint), refusal: reply.refusal };
        self.current = None;
        Some(end)
    }
}

impl Conversation for HttpPlayer {
    fn set(&mut self, _variable: u16, _value: &[u8]) {}

    fn greet(&mut self) -> Greeting {
        self.inner.greet()
    }

    fn greeted(&mut self, bytes: &[u8]) -> Result<(usize, Greeting), PeerFault> {
        self.inner.greeted(bytes)
    }

    fn secured(&mut self) -> Greeting {
        self.inner.secured()
    }

    fn connects_to(&mut self, address: u16) {
        self.inner.connects_to(address);
    }

    fn begin(&mut self, _step: u16) -> Next {
        let shared = Arc::clone(&self.shared);
        let number = shared.next.fetch_add(1, Ordering::Relaxed);
        let Some(item) = shared.trace.slots.first().and_then(|items| items.get(number)) else {
            return Next::Broken("the trace has no further request".to_owned());
        };
        let Form::Request(form) = &item.form else {
            return Next::Broken("a statement is no request".to_owned());
        };
        let step = shared.steps.get(number).copied().unwrap_or(0);
        let target = shared.trace.texts.get(item.text as usize).map_or("/", |text| text);
        self.current = Some(number);
        self.inner.set(0, target.as_bytes());
        self.inner.set(1, form.body.as_deref().unwrap_or_default().as_bytes());
        for (variable, (_, value)) in (2..).zip(&form.headers) {
            self.inner.set(variable, value.as_bytes());
        }
        self.inner.begin(step)
    }

    fn go_on(&mut self) -> Next {
        self.inner.go_on()
    }

    fn outgoing(&self) -> &[u8] {
        self.inner.outgoing()
    }

    fn received(&mut self, bytes: &[u8]) -> Result<Progress, PeerFault> {
        Ok(match self.inner.received(bytes)? {
            Progress::Replied { used, reply } => {
                Progress::Answered { used, part: self.answered(&reply), next: Next::Done(reply) }
            }
            progress => progress,
        })
    }

    fn peer_closed(&mut self) -> Closing {
        let closing = self.inner.peer_closed();
        if let Closing::Replied(reply) = &closing {
            self.answered(reply);
        }
        closing
    }

    fn stage(&self) -> Stage {
        self.inner.stage()
    }

    fn part(&self) -> Option<u16> {
        self.item().map(|item| part(item.fingerprint))
    }

    fn explain(&self, refusal: Refusal) -> String {
        self.inner.explain(refusal)
    }

    fn forget(&mut self) {
        if let Some(item) = self.item() {
            self.shared.outcomes.note(item, Replayed::Lost);
        }
        self.current = None;
        self.inner.forget();
    }
}
