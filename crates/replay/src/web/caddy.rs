//! Caddy's access log: one JSON object per line.

use serde_json::Value;

use super::Access;
use crate::formats::{Format, count_records};
use crate::instant;
use crate::output::{Output, Reader};
use crate::skipped::Reason;

/// Entry in [`crate::FORMATS`].
pub(crate) const FORMAT: Format = Format {
    name: "caddy",
    sentence: "Caddy, JSON",
    traffic: &super::TRAFFIC,
    count: |sample| count_records(sample, is_record),
    open: |_, _| Ok(Box::new(Caddy)),
};

/// Reader of the format.
#[derive(Debug, Default)]
pub(crate) struct Caddy;

impl Reader for Caddy {
    fn line(&mut self, line: &[u8], out: &mut Output) {
        let Ok(object) = serde_json::from_slice::<Value>(line) else { return out.skip(Reason::Unparsable) };
        let request = &object["request"];
        if !request.is_object() {
            return out.skip(Reason::NoStatement);
        }
        let text = |value: &'_ Value| value.as_str().map(str::to_owned).unwrap_or_default();
        let time = match &object["ts"] {
            Value::String(text) => instant::iso(text.as_bytes()).map(|(ns, _)| ns),
            Value::Number(number) => instant::epoch(number.to_string().as_bytes()),
            _ => None,
        };
        let duration_ns = match &object["duration"] {
            Value::Number(number) => {
                number.as_f64().filter(|s| (0.0..1e9).contains(s)).map(|s| (s * 1e9) as u64)
            }
            _ => None,
        };
        let [user, host, method, target] = [
            text(&object["user_id"]),
            text(&request["host"]),
            text(&request["method"]),
            text(&request["uri"]),
        ];
        let status = object["status"].as_u64().and_then(|status| u16::try_from(status).ok());
        Access {
            at_ns: time,
            user: &user,
            host: &host,
            method: &method,
            target: &target,
            status,
            duration_ns,
            is_end: true,
        }
        .emit(out);
    }

    fn end(&mut self, _out: &mut Output) {}
}

/// Whether a line is a request in this format.
fn is_record(line: &[u8]) -> bool {
    serde_json::from_slice::<Value>(line).is_ok_and(|object| object["request"]["uri"].is_string())
}
