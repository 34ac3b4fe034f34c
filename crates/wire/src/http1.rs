//! HTTP/1.1, the client's side (RFC 9110, RFC 9112).
//!
//! ```text
//!           begin(step)    head complete         body complete
//!   Idle ─────────► Head ────────────────► Body ───────────────► Idle
//!                    ▲ └─ 1xx: again ─┘     │
//!                    │                      ├ Sized      left bytes of Content-Length
//!                    │                      ├ Chunked    sizes, data, trailers
//!                    │                      └ UntilClose the close is the end
//! ```

mod cache;
mod capture;
mod carried;
mod checks;
mod chunked;
mod conversation;
mod date;
mod decoding;
mod encoding;
mod expected;
mod fault;
mod first_replies;
mod flag_step;
mod foreign;
mod framing;
mod http_step;
mod jar;
mod json;
mod json_path;
mod keys;
mod known_heads;
mod read_body;
mod read_expect;
mod read_step;
mod reading;
mod redirect;
mod request;
mod sample_session;
mod samples;
mod shaped;
mod step;
mod template;

pub use capture::{CAPTURED_BYTES_MAX, Capture, CaptureSource};
pub use checks::{BodyCheck, Checks, HeaderCheck, KEPT_BODY_BYTES_MAX, SizeCheck, StatusSet};
pub use conversation::HttpConversation;
pub use expected::Expected;
pub use http_step::HttpStep;
pub use jar::CookieJar;
pub use json_path::{JsonPath, JsonPathError};
pub use redirect::Redirects;
pub use request::{Credentials, Request, RequestBody, RequestError};
pub use step::Step;
pub use template::Template;

pub use encoding::BodyKind;

use alloc::boxed::Box;
use alloc::string::{String, ToString};
use alloc::sync::Arc;
use alloc::vec::Vec;

use crate::channel::Footprint;
use crate::conversation::{Conversation, Script};
use crate::protocol::{Compile, Open, Protocol, Scheme, StepError};
use crate::secrets::Secrets;
use crate::step::{LoadSteps, compile_each};
use jar::{JAR_BYTES_MAX, PATH_BYTES_MAX};
use reading::QUOTED_BYTES_MAX;
use redirect::LOCATION_BYTES_MAX;
use step::CompiledStep;

/// Entry in [`crate::PROTOCOLS`].
pub const PROTOCOL: Protocol = Protocol {
    name: "http1",
    sentence: "HTTP/1.1 over TCP, TLS or a Unix socket.",
    schemes: &[
        Scheme { name: "http", port: 80, is_secure: false },
        Scheme { name: "https", port: 443, is_secure: true },
    ],
    alpn: &["http/1.1"],
    compile: Compile::StepsWithExtraKeys(&keys::STEPS, &keys::EXTRA),
    open: Open::Conversation(|| {
        let mut conversation =
            Http1::single(&Request::get("localhost", "/"), Checks::default()).unwrap_or_default().open(0);
        conversation.begin(0);
        Box::new(conversation)
    }),
    samples: samples::all,
};

/// Memory of a variable on each connection, in addition to the bytes of its value.
const VALUE_BYTES: u64 = 64;

/// Memory of the connections that compare first replies. Growing buffers may own twice the bytes that they contain.
const COMPARED_BYTES_MAX: u64 = first_replies::CONNECTIONS as u64 * 3 * first_replies::KEPT_BYTES_MAX as u64;

/// Number of connections that decode their first encoded bodies to learn their size.
const SAMPLED_CONNECTIONS: u32 = 8;
/// Memory of these connections: a growing buffer of the body, and the decoded body.
const SAMPLED_MEMORY_BYTES_MAX: u64 =
    SAMPLED_CONNECTIONS as u64 * (2 * reading::SAMPLED_BYTES_MAX + KEPT_BODY_BYTES_MAX) as u64;

/// The HTTP requests of a load, in any order on each connection.
#[derive(Clone, Debug, Default)]
pub struct Http1 {
    script: Arc<Steps>,
}

/// State that all connections share.
#[derive(Debug, Default)]
struct Steps {
    /// All steps for the first address, then all steps for the second address, and so on.
    list: Box<[CompiledStep]>,
    /// Number of steps for one address.
    count: usize,
    /// Number of variables; each connection has its own values.
    variables: u16,
    /// Sorted numbers of the variables that get their values from replies.
    captured: Box<[u16]>,
    /// Values that are removed from quoted bodies.
    secrets: Secrets,
    /// Whether to compare the first replies of some connections, because requests may differ, and no body is checked.
    compares: bool,
    /// Whether to decode the first encoded bodies of some connections, because a request accepts a content coding.
    samples: bool,
}

impl Http1 {
    /// Creates a script of the steps, in the order of their numbers, and the number of variables in them.
    pub fn new(steps: Vec<Step>, variables: u16) -> Self {
        let count = steps.len();
        Self::for_addresses(steps, count, variables)
    }

    /// Creates a script of `count` steps for each address, one address after the other.
    fn for_addresses(steps: Vec<Step>, count: usize, variables: u16) -> Self {
        let mut captured: Vec<u16> =
            steps.iter().flat_map(|step| &step.captures).map(|capture| capture.variable).collect();
        // Users who continue on other connections take their cookies with them.
        captured.extend(steps.iter().filter_map(|step| step.request.cookies()).map(|cookies| cookies.jar));
        captured.sort_unstable();
        captured.dedup();
        let mut next_part = count as u16;
        let prepared = steps.into_iter().enumerate().map(|(number, step)| {
            let mut prepared = CompiledStep::new(step);
            if number % count.max(1) == 0 {
                // Parts of a step have equal numbers for every address.
                next_part = count as u16;
            }
            if let Some(origin) = prepared.step.request.origin() {
                prepared.first_part = Some(next_part);
                next_part = next_part.saturating_add(u16::from(origin.redirects.max) + 1);
            }
            prepared
        });
        let list: Box<[CompiledStep]> = prepared.collect();
        let may_differ = count > 1 || list.iter().any(|step| step.step.request.fixed_bytes().is_none());
        let compares = may_differ && list.iter().all(CompiledStep::checks_only_status);
        let (captured, secrets) = (captured.into(), Secrets::default());
        let samples = list.iter().any(|step| step.step.request.accepts_coding());
        Self { script: Arc::new(Steps { list, count, variables, captured, secrets, compares, samples }) }
    }

    /// Compiles steps with the names of their variables, in the order of the variables' numbers, and the secrets in them.
    pub fn compile(steps: &[HttpStep], variables: &[String], secrets: &Secrets) -> Result<Self, StepError> {
        let steps: Vec<Arc<dyn crate::step::Step>> =
            steps.iter().map(|step| Arc::new(step.clone()) as _).collect();
        Self::compile_load(&LoadSteps { secrets, ..LoadSteps::of(&steps, variables) })
    }

    /// Compiles the steps of a load.
    pub fn compile_load(load: &LoadSteps<'_>) -> Result<Self, StepError> {
        let (variables, secrets) = (load.variables, load.secrets);
        let compile = |number: usize, step: &HttpStep, address: usize| -> Result<Step, StepError> {
            let mut request = step.request.at_address(address);
            if load.shard.is_some() {
                request.other_hosts = Vec::new();
            }
            let request = Template::compile(&request, variables, secrets).map_err(|faults| StepError {
                step: number,
                what: faults.first().map(ToString::to_string).unwrap_or_default(),
            })?;
            Ok(Step { request, checks: step.checks.clone(), captures: step.captures.clone() })
        };
        let steps = compile_each(load.steps, |step: &HttpStep| Ok(step.clone()))?;
        let further = steps.iter().map(|step| step.request.other_hosts.len()).max().unwrap_or(0);
        let at_address = |address: usize| {
            steps.iter().enumerate().map(move |(number, step)| compile(number, step, address))
        };
        let addresses = load.shard.map_or(0..=further, |shard| shard..=shard);
        let compiled = addresses.flat_map(at_address).collect::<Result<_, _>>()?;
        let mut script = Self::for_addresses(compiled, steps.len(), variables.len() as u16);
        if let Some(steps) = Arc::get_mut(&mut script.script) {
            steps.secrets = secrets.clone();
        }
        Ok(script)
    }

    /// Makes error messages of rejections quote the start of the reply's body. Every body is kept while it arrives.
    #[must_use]
    pub fn with_body_quotes(mut self) -> Self {
        self.quote_bodies();
        self
    }

    fn quote_bodies(&mut self) {
        // The steps are not shared yet, because no connection is open.
        let Some(Steps { list, secrets, compares, .. }) = Arc::get_mut(&mut self.script) else { return };
        *compares = false;
        // A secret that crosses the end of the quotation is only recognized if it is kept as a whole.
        let quoted_bytes_max = QUOTED_BYTES_MAX + secrets.bytes_max();
        for prepared in list {
            (prepared.keeps_body, prepared.quotes_body) = (true, true);
            prepared.quoted_bytes_max = quoted_bytes_max;
        }
    }

    /// Single step that sends this request unchanged, and checks the reply.
    pub fn single(request: &Request, checks: Checks) -> Result<Self, Vec<RequestError>> {
        let request = Template::literal(request)?;
        Ok(Self::new(Vec::from([Step { request, checks, captures: Vec::new() }]), 0))
    }

    /// Max bytes that a connection keeps, independent of its peer's replies: a reply's body for checks and captures, the values of
    /// variables, and a request with inserted values. `longest_bytes` returns the max length of a value that is not captured.
    pub fn kept_bytes_max(&self, longest_bytes: impl Fn(u16) -> u64) -> u64 {
        let value_bytes = self.value_bytes(longest_bytes);
        let keeps_body = self.script.list.iter().any(|step| step.keeps_body);
        let body_bytes = if keeps_body { KEPT_BODY_BYTES_MAX as u64 } else { 0 };
        let is_filled = |request: &&Template| request.fixed_bytes().is_none() || request.origin().is_some();
        let filled = self.templates().filter(is_filled);
        let request_bytes = filled.map(|request| request.bytes_max(&value_bytes)).max().unwrap_or(0);
        // Growing buffers may own twice the bytes that they hold.
        let growing_bytes = body_bytes.saturating_add(request_bytes).saturating_mul(2);
        let values =
            (0..self.script.variables).map(|variable| value_bytes(variable).saturating_add(VALUE_BYTES));
        values.fold(growing_bytes, u64::saturating_add)
    }

    /// Number of regular expressions in the checks and captures of all steps.
    pub fn expressions(&self) -> usize {
        let of_step = |prepared: &CompiledStep| {
            let Step { checks, captures, .. } = &prepared.step;
            let checks = checks.bodies.iter().filter(|check| matches!(check, BodyCheck::Matches(_)));
            checks.count() + captures.iter().filter(|capture| capture.from.expression().is_some()).count()
        };
        self.script.list.iter().map(of_step).sum()
    }

    /// Bytes of the longest request on the wire. `longest_bytes` returns the max length of a value that is not captured.
    pub fn request_bytes_max(&self, longest_bytes: impl Fn(u16) -> u64) -> u64 {
        let value_bytes = self.value_bytes(longest_bytes);
        self.templates().map(|request| request.bytes_max(&value_bytes)).max().unwrap_or(0)
    }

    /// Bytes of encoded requests that all connections share.
    pub fn shared_bytes(&self) -> u64 {
        self.templates().map(|request| request.bytes_max(|_| 0)).sum()
    }

    fn templates(&self) -> impl Iterator<Item = &Template> {
        self.script.list.iter().map(|step| &step.step.request)
    }

    fn value_bytes(&self, longest_bytes: impl Fn(u16) -> u64) -> impl Fn(u16) -> u64 {
        let captures = self.script.list.iter().flat_map(|step| &step.step.captures);
        let captured: Vec<u16> = captures.map(|capture| capture.variable).collect();
        let locations = self.templates().filter_map(|request| Some(request.origin()?.redirects.location));
        let locations: Vec<u16> = locations.collect();
        let cookies: Vec<CookieJar> = self.templates().filter_map(Template::cookies).collect();
        move |variable| match variable {
            jar if cookies.iter().any(|cookies| cookies.jar == jar) => JAR_BYTES_MAX as u64,
            path if cookies.iter().any(|cookies| cookies.path == path) => PATH_BYTES_MAX as u64,
            location if locations.contains(&location) => LOCATION_BYTES_MAX as u64 + 1,
            variable if captured.contains(&variable) => CAPTURED_BYTES_MAX as u64,
            variable => longest_bytes(variable),
        }
    }

    fn step(&self, number: u16) -> Option<&Step> {
        self.script.list.get(usize::from(number)).map(|prepared| &prepared.step)
    }
}

impl Script for Http1 {
    type Conversation = HttpConversation;

    fn open(&self, number: u32) -> HttpConversation {
        let conversation = HttpConversation::new(Arc::clone(&self.script));
        let compares = self.script.compares && number < first_replies::CONNECTIONS;
        let conversation = if compares { conversation.with_comparison() } else { conversation };
        let samples = self.script.samples && number < SAMPLED_CONNECTIONS;
        if samples { conversation.with_sampling() } else { conversation }
    }

    fn needs(&self, step: u16, variable: u16) -> bool {
        let uses = |step: &Step| {
            step.request.variables().chain(step.checks.variables()).any(|used| used == variable)
        };
        self.step(step).is_some_and(uses)
    }

    fn inspects_replies(&self, step: u16) -> bool {
        self.script
            .list
            .get(usize::from(step))
            .is_some_and(|prepared| prepared.keeps_body || prepared.first_part.is_some())
    }

    fn is_idempotent(&self, step: u16) -> bool {
        self.step(step).is_some_and(|step| step.request.is_idempotent())
    }

    fn parts(&self) -> u16 {
        let parts =
            |request: &Template| request.origin().map_or(0, |origin| u16::from(origin.redirects.max) + 1);
        self.templates().take(self.script.count).map(parts).fold(0, u16::saturating_add)
    }

    fn footprint(&self, longest_bytes: &dyn Fn(u16) -> u64) -> Footprint {
        let compared_bytes = if self.script.compares { COMPARED_BYTES_MAX } else { 0 };
        let sampled_bytes = if self.script.samples { SAMPLED_MEMORY_BYTES_MAX } else { 0 };
        Footprint {
            kept_bytes: self.kept_bytes_max(longest_bytes),
            request_bytes: self.request_bytes_max(longest_bytes),
            shared_bytes: self.shared_bytes() + compared_bytes + sampled_bytes,
            expressions: self.expressions() as u64,
        }
    }

    fn quote(&mut self) {
        self.quote_bodies();
    }
}
