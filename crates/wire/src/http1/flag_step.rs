//! Reads a step from flags of a command line.

use alloc::string::{String, ToString};
use alloc::sync::Arc;
use alloc::vec;
use alloc::vec::Vec;

use super::checks::{BodyCheck, Checks, HeaderCheck};
use super::expected::Expected;
use super::http_step::HttpStep;
use super::read_expect::{expression, no_body, size, statuses};
use super::request::Request;
use crate::braces;
use crate::step::{EXPECT, FlagStep, Step, StepValueError, TextError};

/// Reads a step. Its host and its connection come from the system that it is sent to.
pub(super) fn read(flags: &FlagStep<'_>, wrong: &mut Vec<StepValueError>) -> Arc<dyn Step> {
    let request = Request {
        method: flags.method.into(),
        headers: flags.headers.to_vec(),
        body: flags.body.map(<[u8]>::to_vec),
        ..Request::get("127.0.0.1", flags.target)
    };
    let faults = request.encode().err().unwrap_or_default();
    wrong.extend(faults.iter().map(|fault| StepValueError {
        path: Vec::new(),
        what: fault.to_string(),
        help: "see the example: -X POST -H 'Name: value' -b 'body'".into(),
    }));
    let checks = checks(flags, wrong);
    Arc::new(HttpStep { request: literal(request), checks, captures: Vec::new() })
}

/// Escapes the braces in all texts of a request.
fn literal(request: Request) -> Request {
    let text = |text: &str| String::from_utf8_lossy(&braces::literal(text.as_bytes())).into_owned();
    Request {
        target: text(&request.target),
        headers: request.headers.iter().map(|(name, value)| (name.clone(), text(value))).collect(),
        body: request.body.as_deref().map(braces::literal),
        ..request
    }
}

fn checks(flags: &FlagStep<'_>, wrong: &mut Vec<StepValueError>) -> Checks {
    let texts = |key: &'static str| {
        flags.expect.iter().filter(move |(of, _)| *of == key).map(|(_, text)| text.as_str())
    };
    let mut report = |key: &'static str, (what, help): TextError| {
        wrong.push(StepValueError { path: vec![EXPECT, key], what, help });
    };
    if flags.method == "HEAD" && texts("body").chain(texts("body-matches")).next().is_some() {
        report("body", no_body());
    }
    let contained = texts("body").map(|text| BodyCheck::Contains(text.into()));
    let mut bodies: Vec<BodyCheck> = contained.collect();
    for text in texts("body-matches") {
        match expression(text) {
            Ok(expression) => bodies.push(BodyCheck::Matches(expression)),
            Err(error) => report("body-matches", error),
        }
    }
    let status = texts("status").next_back().map(statuses);
    let status = status.and_then(|read| read.map_err(|error| report("status", error)).ok());
    let bounds = texts("size").next_back().map(|text| size(text, flags.size_bytes));
    let bounds = bounds.and_then(|read| read.map_err(|error| report("size", error)).ok());
    Checks {
        status: status.unwrap_or_default(),
        headers: texts("headers").map(header).collect(),
        bodies,
        size: bounds,
    }
}

/// Reads `NAME`, or `NAME: TEXT` for a header whose value must contain the text.
fn header(text: &str) -> HeaderCheck {
    let (name, value) = text.split_once(':').map_or((text, None), |(name, value)| (name, Some(value)));
    HeaderCheck { name: name.trim().into(), contains: value.map(|value| Expected::from(value.trim())) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn flags<'a>(method: &'a str, expect: &'a [(&'static str, String)]) -> FlagStep<'a> {
        let size_bytes = |text: &str| text.parse().map_err(|_| "no size".into());
        FlagStep { method, target: "/{x}?a={b}", headers: &[], body: Some(b"{c}"), expect, size_bytes }
    }

    #[test]
    fn braces_in_flags_are_literal() {
        let mut wrong = Vec::new();
        let step = read(&flags("POST", &[("body", "{d}".into())]), &mut wrong);
        let step = step.downcast::<HttpStep>().expect("a step of HTTP");
        assert_eq!((step.request.target.as_str(), wrong), ("/{{x}}?a={{b}}", Vec::new()));
        assert_eq!(step.request.body.as_deref(), Some(&b"{{c}}"[..]));
        assert!(matches!(&step.checks.bodies[..], [BodyCheck::Contains(text)] if text.as_slice() == b"{d}"));
    }

    #[test]
    fn errors_in_checks_name_their_keys() {
        let expect = [("body-matches", "("), ("status", "99"), ("size", "2..1"), ("status", "98")];
        let expect = expect.map(|(key, text)| (key, text.to_string()));
        let mut wrong = Vec::new();
        read(&flags("HEAD", &expect), &mut wrong);
        let keys: Vec<&str> = wrong.iter().filter_map(|wrong| wrong.path.last().copied()).collect();
        assert_eq!(keys, ["body", "body-matches", "status", "size"]);
        assert!(wrong[2].what.contains("98"), "the last value counts: {wrong:?}");
    }
}
