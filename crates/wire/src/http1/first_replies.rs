//! Compares a connection's first replies: detects different requests that get equal short bodies.

use alloc::vec::Vec;

use super::template::target_of;
use crate::conversation::FirstReplies;

/// Number of connections that compare their first replies.
pub(super) const CONNECTIONS: u32 = 8;
/// Max replies of a connection that are compared.
const REPLIES_MAX: u32 = 64;
/// Max bytes of a body that counts as short.
pub(super) const SHORT_BYTES_MAX: usize = 200;
/// Max bytes that are kept of a body as it arrives; it may be compressed.
pub(super) const KEPT_BYTES_MAX: usize = 4096;
/// Max bytes of a request's body that are hashed.
const REQUEST_BYTES_MAX: usize = 4096;

/// Comparison of a connection's replies so far. Only few connections have one, and only for requests without checks of the body.
#[derive(Debug, Default)]
pub(super) struct Comparison {
    /// Hash of the request in flight.
    request: u64,
    /// Hashes of the distinct requests.
    requests: Vec<u64>,
    replies: u32,
    body: Vec<u8>,
    differs: bool,
}

impl Comparison {
    /// Sets the request that the next reply answers.
    pub(super) fn begin(&mut self, request: &[u8]) {
        let head_end = memchr::memmem::find(request, b"\r\n\r\n").map_or(request.len(), |at| at + 4);
        let body = &request[head_end..];
        self.request = hash(&[target_of(request), &body[..body.len().min(REQUEST_BYTES_MAX)]]);
    }

    /// Compares a reply. `body` is the decoded body. `None` if the reply was rejected. Returns whether the next reply is compared,
    /// too.
    pub(super) fn take(&mut self, body: Option<&[u8]>) -> bool {
        let is_short = |body: &&[u8]| !body.is_empty() && body.len() <= SHORT_BYTES_MAX;
        let Some(body) = body.filter(is_short).filter(|body| self.replies == 0 || self.body == *body) else {
            self.differs = true;
            return false;
        };
        if self.replies == 0 {
            self.body = body.to_vec();
        }
        self.replies += 1;
        if !self.requests.contains(&self.request) {
            self.requests.push(self.request);
        }
        self.replies < REPLIES_MAX
    }

    /// Result so far. `redacted` removes secrets from a body. `None` if no reply was compared.
    pub(super) fn summary(&self, redacted: impl Fn(&[u8]) -> Vec<u8>) -> Option<FirstReplies> {
        let body = (!self.differs).then(|| redacted(&self.body));
        let is_any = self.replies > 0 || self.differs;
        is_any.then(|| FirstReplies { requests: self.requests.clone(), replies: self.replies, body })
    }
}

/// FNV-1a hash, with a separator after each part.
fn hash(parts: &[&[u8]]) -> u64 {
    let bytes = parts.iter().flat_map(|part| part.iter().copied().chain([0xff]));
    bytes.fold(0xcbf2_9ce4_8422_2325, |sum, byte| (sum ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn summary(replies: &[(&str, Option<&[u8]>)]) -> Option<FirstReplies> {
        let mut comparison = Comparison::default();
        for (request, body) in replies {
            comparison.begin(request.as_bytes());
            comparison.take(*body);
        }
        comparison.summary(<[u8]>::to_vec)
    }

    #[test]
    fn distinguishes_requests_by_target_and_body() {
        let [one, two] = ["GET /a HTTP/1.1\r\nX: 1\r\n\r\n", "GET /a HTTP/1.1\r\nX: 2\r\n\r\n"];
        let [post, other] = ["POST /a HTTP/1.1\r\n\r\none", "POST /a HTTP/1.1\r\n\r\ntwo"];
        let body = Some(&b"ok"[..]);
        let replies = summary(&[(one, body), (two, body), (post, body), (other, body)]).unwrap();
        assert_eq!((replies.requests.len(), replies.replies, replies.body), (3, 4, Some(b"ok".to_vec())));
    }

    #[test]
    fn differing_or_long_body_leaves_no_common_body() {
        let long = [b'x'; SHORT_BYTES_MAX + 1];
        let request = "GET / HTTP/1.1\r\n\r\n";
        for body in [Some(&b"no"[..]), Some(&b""[..]), Some(&long[..]), None] {
            let replies = summary(&[(request, Some(b"ok")), (request, body)]).unwrap();
            assert_eq!(replies.body, None, "{body:?}");
        }
        assert_eq!(summary(&[]), None);
    }
}
