//! `/status`: the cheapest reply, with a given status.

use super::{Endpoint, Work};
use crate::query::{Query, bad_request};
use crate::reply::Reply;

pub(super) const ENDPOINT: Endpoint = Endpoint {
    path: "/status",
    sentence: "Answers 13 bytes, \"hello, world\" and a line end, with status `code` (200 to 599, default 200).",
    example: "/status?code=503",
    methods: &["GET", "HEAD", "POST"],
    keys: &["code"],
    prepare,
};

fn prepare(query: &Query<'_>) -> Result<Work, Reply> {
    match query.number("code")?.unwrap_or(200) {
        code @ 200..=599 => {
            Ok(Work::Ready(Reply::fixed(code, if code == 205 { "" } else { "hello, world\n" })))
        }
        other => Err(bad_request(&format!("code must be from 200 to 599, found {other}"))),
    }
}
