//! Requests of a user with a session, for tests that feed arbitrary replies to it.

use alloc::borrow::ToOwned;
use alloc::boxed::Box;
use alloc::vec;
use alloc::vec::Vec;

use regex::bytes::Regex;

use super::{
    BodyCheck, Capture, CaptureSource, Checks, CookieJar, Http1, JsonPath, Redirects, Request, Step, Template,
};
use crate::conversation::{Conversation, Script as _};
use crate::secrets::Secrets;

/// Variables of the texts; the last three are hidden.
const NAMES: [&str; 6] = ["header", "json", "body", "(cookies)", "(path)", "(location)"];

/// See [`crate::step::ExtraKeys::sample_session`].
pub(super) fn open(path: &str, [in_header, in_body]: &[Regex; 2]) -> Option<Box<dyn Conversation>> {
    let captures = [
        CaptureSource::HeaderPart("X-Token".to_owned(), in_header.clone()),
        CaptureSource::Json(JsonPath::read(path).ok()?),
        CaptureSource::Body(in_body.clone()),
    ];
    let captures = (0..).zip(captures).map(|(variable, from)| Capture { variable, from }).collect();
    let checks = Checks { bodies: vec![BodyCheck::Contains(b"a".to_vec())], ..Checks::default() };
    let first = Step { request: compiled(Request::get("localhost", "/"))?, checks, captures };
    let second = Request {
        method: "POST".to_owned(),
        headers: vec![("X-Header".to_owned(), "{header}{json}".to_owned())],
        body: Some(b"{\"a\": \"{body}\"}".to_vec()),
        ..Request::get("localhost", "/{json}?a={body}")
    };
    let second = Step { request: compiled(second)?, checks: Checks::default(), captures: Vec::new() };
    Some(Box::new(Http1::new(vec![first, second], NAMES.len() as u16).with_body_quotes().open(0)))
}

/// Compiles a request that keeps cookies and follows redirects.
fn compiled(request: Request) -> Option<Template> {
    let request = Request {
        cookies: Some(CookieJar { jar: 3, path: 4 }),
        redirects: Some(Redirects { max: 3, location: 5, is_secure: false }),
        ..request
    };
    Template::compile(&request, &NAMES.map(str::to_owned), &Secrets::default()).ok()
}
