//! The binary protocol of memcached, as clients of Couchbase speak it.
//!
//! ```text
//!   new link ── [SASL_AUTH, PLAIN] ── [SELECT_BUCKET] ──► Idle
//! ```
//!
//! Requests have the virtual bucket of their key, and one server is asked for all of them.

mod reader;
mod request;
mod samples;
mod workload;

pub(super) use reader::ReplyParser;
pub(super) use request::{OPERATIONS, Operation, Request};

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::content::Kind;
use super::log_in::{Identity, Message};
use super::step::{self, MemcachedStep};
use crate::protocol::{Compile, Open, Protocol, Scheme};
use crate::step::{Access, Key, Kind as ValueKind, LogIn, ReplyKeys, StepDefinition, StepValueError};
use request::{SASL_AUTH, SELECT_BUCKET};

/// Scheme of a Couchbase node, in which keys have virtual buckets.
const COUCHBASE: &str = "couchbase";
/// Option of a URL with the number of virtual buckets.
const VBUCKETS: &str = "vbuckets";
/// Number of virtual buckets of Couchbase, unless it runs on macOS.
const VBUCKETS_DEFAULT: u32 = 1024;
/// Max number of virtual buckets, which have 15 bits of a hash.
const VBUCKETS_MAX: u32 = 1 << 15;

/// Entry in [`crate::PROTOCOLS`].
pub const PROTOCOL: Protocol = Protocol {
    name: "couchbase",
    sentence: "The binary protocol of memcached and Couchbase: operations on keys and their responses.",
    schemes: &[
        Scheme { name: COUCHBASE, port: 11210, is_secure: false },
        Scheme { name: "memcached+binary", port: 11211, is_secure: false },
    ],
    alpn: &[],
    compile: Compile::Steps(&STEPS),
    open: Open::Conversation(|| {
        let step = MemcachedStep::binary(Vec::from([b"get".to_vec(), b"k".to_vec()]), "get k".into());
        super::open_in_flight(&step.unwrap_or_default(), Identity::binary(VBUCKETS_DEFAULT, Vec::new()))
    }),
    samples: samples::all,
};

/// Definition of the protocol's steps.
const STEPS: StepDefinition = StepDefinition {
    noun: "the binary protocol of memcached",
    says: "the operation that is requested",
    url: "couchbase://127.0.0.1:11210/bucket",
    query: "?couchbase=noop",
    keys: &[Key {
        name: "couchbase",
        sentence: "An operation of the binary protocol of memcached, split into words, or a list of its words: get KEY, \
                   set KEY VALUE [EXPTIME [FLAGS]], cas KEY VALUE UNIQUE [EXPTIME [FLAGS]], incr KEY NUMBER [INITIAL EXPTIME], and \
                   others. The URL of the system is couchbase://[USER:PASSWORD@]HOST:PORT/BUCKET, or memcached+binary://HOST:PORT.",
        example: "\"set user:{id} {value}\"",
        kind: ValueKind::TextOrTexts,
    }],
    body: None,
    reply: Some(ReplyKeys { expect: &step::EXPECT, save: &step::SAVE }),
    log_in: Some(LogIn {
        password_variable: "MEMCACHED_PASSWORD",
        options: &[VBUCKETS],
        requires_tls: |_| false,
        check: |access| identity(access).map(drop),
    }),
    pipeline_max: 1,
    workload: Some(&workload::WORKLOAD),
    records: None,
    read: |written| step::read(written, MemcachedStep::binary),
    compile: |load| super::compile(load, identity),
};

/// Reads the log-in from the parts of a URL.
fn identity(access: &Access) -> Result<Identity, StepValueError> {
    let wrong = |what: String, help: &str| StepValueError { path: Vec::new(), what, help: help.into() };
    let is_couchbase = access.scheme.is_empty() || access.scheme.eq_ignore_ascii_case(COUCHBASE);
    let vbuckets = match access.option(VBUCKETS) {
        None => Some(if is_couchbase { VBUCKETS_DEFAULT } else { 1 }),
        Some(text) => text.parse().ok().filter(|count| (1..=VBUCKETS_MAX).contains(count)),
    };
    let vbuckets = vbuckets.ok_or_else(|| {
        let what = format!("`{VBUCKETS}` is no number from 1 to {VBUCKETS_MAX}");
        wrong(what, "write vbuckets=1024, or remove it")
    })?;
    let bucket = access.path.as_str();
    if !bucket.is_empty() && !is_couchbase {
        let what = format!("memcached has no buckets, and the path of the URL is {bucket:?}");
        return Err(wrong(what, "write memcached+binary://HOST:PORT, or couchbase://HOST:PORT/BUCKET"));
    }
    let mut messages = Vec::new();
    let mut add = |operation: &'static Operation, key: &[u8], value: &[u8]| {
        let bytes = request::fixed(operation, key, value);
        messages.push(Message { bytes, operation: Some(operation), success: Kind::Ok });
    };
    if let Some(user) = access.user.as_deref().filter(|user| !user.is_empty()) {
        let password = access.password.as_ref().map_or("", |password| password.0.as_str());
        if user.contains('\0') || password.contains('\0') {
            return Err(wrong("user or password has a zero byte".into(), "correct them in the URL"));
        }
        // SASL PLAIN (RFC 4616): no authorization identity, user, password.
        add(&SASL_AUTH, b"PLAIN", format!("\0{user}\0{password}").as_bytes());
    }
    if !bucket.is_empty() {
        add(&SELECT_BUCKET, bucket.as_bytes(), b"");
    }
    Ok(Identity::binary(vbuckets, messages))
}
