//! `/bytes`: replies with a body of a given length.

use super::{Endpoint, Work};
use crate::query::{Query, bad_request};
use crate::reply::{Body, Reply};

/// Maximum length of the body, in bytes.
const BODY_BYTES_MAX: u64 = 64 * 1024 * 1024;

pub(super) const ENDPOINT: Endpoint = Endpoint {
    path: "/bytes",
    sentence: "Answers `n` bytes (at most 67108864): the alphabet over and over, made while it is sent.",
    example: "/bytes?n=1024",
    methods: &["GET", "HEAD"],
    keys: &["n"],
    prepare,
};

fn prepare(query: &Query<'_>) -> Result<Work, Reply> {
    match query.number("n")? {
        Some(n) if n <= BODY_BYTES_MAX => {
            Ok(Work::Ready(Reply { status: 200, headers: Vec::new(), body: Body::Filler(n) }))
        }
        Some(n) => Err(bad_request(&format!("n must be at most {BODY_BYTES_MAX}, found {n}"))),
        None => Err(bad_request("n is missing; try /bytes?n=1024")),
    }
}
