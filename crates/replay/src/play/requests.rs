//! Plays the requests of an access log over any number of connections.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use wire::step::{RequestShape, ShapedRequests, Step};
use wire::{
    Closing, Conversation, Footprint, Greeting, Next, PartEnd, PeerFault, Progress, Protocol, Rejection,
    Reply, Script, Secrets, Stage,
};

use super::outcomes::{Outcomes, Replayed};
use super::{NOT_REPLAYABLE, part};
use crate::trace::{Form, Item, RequestForm, Trace};

/// Max number of shapes that keep their headers. Requests of further shapes are sent without them.
const SHAPES_MAX: usize = 1_000;

/// Load of a trace's requests. The connection that begins next takes the next request.
#[derive(Debug)]
pub struct RequestPlay {
    shared: Arc<Shared>,
    requests: Box<dyn ShapedRequests>,
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

impl RequestPlay {
    /// Creates the load. Each request is `like` with method and target of the log.
    ///
    /// # Errors
    ///
    /// A message if the protocol has no requests, if `like` is none of its steps, or if a method or a header cannot be sent.
    pub fn new(
        trace: Arc<Trace>,
        outcomes: Arc<Outcomes>,
        fingerprints: usize,
        protocol: &Protocol,
        like: &dyn Step,
        secrets: &Secrets,
    ) -> Result<Self, String> {
        let further = protocol.extra_keys().ok_or(NOT_REPLAYABLE)?;
        let mut shapes: Vec<RequestShape<'_>> = Vec::new();
        let mut numbers: HashMap<RequestShape<'_>, u16> = HashMap::new();
        let mut steps = Vec::with_capacity(trace.len());
        for item in trace.slots.iter().flatten() {
            let Form::Request(form) = &item.form else { return Err(NOT_REPLAYABLE.to_owned()) };
            let shape = shape(form, shapes.len() < SHAPES_MAX);
            let number = *numbers.entry(shape).or_insert_with_key(|shape| {
                shapes.push(shape.clone());
                (shapes.len() - 1) as u16
            });
            steps.push(number);
        }
        let requests = (further.compile_shapes)(&shapes, like, secrets)?;
        let shared = Shared { trace: Arc::clone(&trace), outcomes, steps, next: AtomicUsize::new(0) };
        Ok(Self { shared: Arc::new(shared), requests, fingerprints: fingerprints as u16 })
    }
}

/// Shape of a request, without its headers unless `has_headers`.
fn shape(form: &RequestForm, has_headers: bool) -> RequestShape<'_> {
    let headers = if has_headers { form.headers.as_slice() } else { &[] };
    RequestShape {
        method: &form.method,
        headers: headers.iter().map(|(name, _)| name.as_str()).collect(),
        has_body: form.body.is_some(),
    }
}

impl Script for RequestPlay {
    type Conversation = RequestPlayer;

    fn open(&self, number: u32) -> RequestPlayer {
        RequestPlayer { shared: Arc::clone(&self.shared), inner: self.requests.open(number), current: None }
    }

    fn needs(&self, _step: u16, _variable: u16) -> bool {
        false
    }

    fn inspects_replies(&self, _step: u16) -> bool {
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
        self.requests.footprint(&|_| longest as u64)
    }
}

/// Requests over one connection.
pub struct RequestPlayer {
    shared: Arc<Shared>,
    inner: Box<dyn Conversation>,
    /// Number of the request that awaits a reply.
    current: Option<usize>,
}

impl RequestPlayer {
    fn item(&self) -> Option<&Item> {
        self.shared.trace.slots.first()?.get(self.current?)
    }

    /// Counts the reply to the request in flight. Returns the end of its part.
    fn count_reply(&mut self, reply: &Reply) -> Option<PartEnd> {
        let item = self.item()?;
        self.shared.outcomes.count_result(item, Replayed::Status(reply.status));
        let end = PartEnd { part: part(item.fingerprint), rejection: reply.rejection };
        self.current = None;
        Some(end)
    }
}

impl Conversation for RequestPlayer {
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

    fn set_address(&mut self, address: u16) {
        self.inner.set_address(address);
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
        self.inner.set(RequestShape::TARGET, target.as_bytes());
        self.inner.set(RequestShape::BODY, form.body.as_deref().unwrap_or_default().as_bytes());
        for (variable, (_, value)) in (RequestShape::HEADERS..).zip(&form.headers) {
            self.inner.set(variable, value.as_bytes());
        }
        self.inner.begin(step)
    }

    fn resume(&mut self) -> Next {
        self.inner.resume()
    }

    fn outgoing(&self) -> &[u8] {
        self.inner.outgoing()
    }

    fn received(&mut self, bytes: &[u8]) -> Result<Progress, PeerFault> {
        Ok(match self.inner.received(bytes)? {
            Progress::Replied { used, reply } => {
                Progress::PartReplied { used, part: self.count_reply(&reply), next: Next::Done(reply) }
            }
            progress => progress,
        })
    }

    fn peer_closed(&mut self) -> Closing {
        let closing = self.inner.peer_closed();
        if let Closing::Replied(reply) = &closing {
            self.count_reply(reply);
        }
        closing
    }

    fn stage(&self) -> Stage {
        self.inner.stage()
    }

    fn part(&self) -> Option<u16> {
        self.item().map(|item| part(item.fingerprint))
    }

    fn explain(&self, rejection: Rejection) -> String {
        self.inner.explain(rejection)
    }

    fn forget(&mut self) {
        if let Some(item) = self.item() {
            self.shared.outcomes.count_result(item, Replayed::Lost);
        }
        self.current = None;
        self.inner.forget();
    }
}
