//! HTTP/1.1, the client's side (RFC 9110, RFC 9112).
//!
//! ```text
//!           begin()        head complete         body complete
//!   Idle ─────────► Head ────────────────► Body ───────────────► Idle
//!                    ▲ └─ 1xx: again ─┘     │
//!                    │                      ├ Sized      left bytes of Content-Length
//!                    │                      ├ Chunked    sizes, data, trailers
//!                    │                      └ UntilClose the close is the end
//! ```

mod checks;
mod chunked;
mod fault;
mod framing;
mod request;
mod samples;
mod talk;

pub use checks::{BodyCheck, Checks, HeaderCheck, KEPT_BODY_BYTES_MAX, SizeCheck, StatusSet};
pub use request::{Request, RequestFault};
pub use talk::Talk;

use alloc::boxed::Box;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::sync::Arc;

use crate::Protocol;
use crate::conversation::{Conversation, Refusal, Script};

/// The entry of [`crate::PROTOCOLS`].
pub const PROTOCOL: Protocol = Protocol {
    name: "http1",
    sentence: "HTTP/1.1 over TCP, TLS or a Unix socket.",
    schemes: &["http", "https"],
    open: || {
        let request = Request::get("localhost", "/").encode().unwrap_or_default();
        let mut talk = Http1::new(request, false, Checks::default()).open();
        talk.begin();
        Box::new(talk)
    },
    samples: samples::all,
};

/// The scenario "send this request again and again, and check each reply".
#[derive(Clone, Debug)]
pub struct Http1 {
    script: Arc<Fixed>,
}

/// What all connections share: the request, encoded once, and what its replies are held against.
#[derive(Debug)]
struct Fixed {
    request: Box<[u8]>,
    is_head: bool,
    checks: Checks,
}

impl Http1 {
    /// From a request as [`Request::encode`] makes it. The reply to HEAD has no body, whatever its header says.
    pub fn new(request: Box<[u8]>, is_head: bool, checks: Checks) -> Self {
        Self { script: Arc::new(Fixed { request, is_head, checks }) }
    }

    /// Bytes of a reply's body that a connection may keep, for checks.
    pub fn kept_body_bytes_max(&self) -> u64 {
        if self.script.checks.need_body() { KEPT_BODY_BYTES_MAX as u64 } else { 0 }
    }

    /// Bytes of one request on the wire.
    pub fn request_bytes(&self) -> usize {
        self.script.request.len()
    }
}

impl Script for Http1 {
    type Talk = Talk;

    fn open(&self) -> Talk {
        Talk::new(Arc::clone(&self.script))
    }

    fn explain(&self, refusal: Refusal) -> String {
        match refusal.class {
            "status" => format!("status {}, expected {}", refusal.code, self.script.checks.status),
            _ => self.script.checks.explain(refusal.code).unwrap_or_else(|| refusal.class.to_string()),
        }
    }
}
