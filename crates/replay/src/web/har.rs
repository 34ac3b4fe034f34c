//! HTTP Archives (HAR 1.2), as browsers and proxies save them: one JSON document with headers and bodies.

use serde::Deserialize;
use serde::de::IgnoredAny;

use crate::entry::{Action, Entry, LoggedResult};
use crate::fingerprint;
use crate::formats::Format;
use crate::instant;
use crate::output::{Output, Reader};
use crate::skipped::Reason;

/// Entry in [`crate::FORMATS`].
pub(crate) const FORMAT: Format = Format {
    name: "har",
    sentence: "HTTP archive of a browser or proxy (HAR), up to 256 MiB",
    traffic: &super::TRAFFIC,
    count,
    open: |_, _| Ok(Box::new(Har::default())),
};

/// Max bytes of an archive. The whole document stays in memory until its end.
const DOCUMENT_BYTES_MAX: usize = 256 << 20;
/// Headers that belong to the connection or to the length of the body, which is new.
const OWN_HEADERS: [&str; 10] = [
    "host",
    "connection",
    "content-length",
    "transfer-encoding",
    "keep-alive",
    "te",
    "trailer",
    "upgrade",
    "expect",
    "proxy-authorization",
];

/// Reader of the format.
#[derive(Debug, Default)]
pub(crate) struct Har {
    document: Vec<u8>,
    is_too_long: bool,
}

impl Reader for Har {
    fn line(&mut self, line: &[u8], out: &mut Output) {
        if self.document.len() + line.len() >= DOCUMENT_BYTES_MAX {
            if !self.is_too_long {
                out.skip(Reason::TooLong);
            }
            self.is_too_long = true;
            return;
        }
        self.document.extend_from_slice(line);
        self.document.push(b'\n');
    }

    fn end(&mut self, out: &mut Output) {
        let document = std::mem::take(&mut self.document);
        if self.is_too_long {
            return;
        }
        let document = document.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&document);
        match serde_json::from_slice::<Document>(document) {
            Ok(document) => document.log.entries.into_iter().for_each(|request| request.emit(out)),
            Err(_) => out.skip(Reason::Unparsable),
        }
    }
}

/// Number of requests at the beginning of an archive.
fn count(sample: &[u8]) -> usize {
    let text = sample.strip_prefix(b"\xef\xbb\xbf").unwrap_or(sample).trim_ascii_start();
    if !text.starts_with(b"{") || memchr::memmem::find(text, b"\"log\"").is_none() {
        return 0;
    }
    memchr::memmem::find_iter(text, b"\"startedDateTime\"").count()
}

#[derive(Debug, Deserialize)]
struct Document {
    log: HarLog,
}

#[derive(Debug, Deserialize)]
struct HarLog {
    entries: Vec<HarEntry>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct HarEntry {
    started_date_time: String,
    /// Milliseconds.
    #[serde(default)]
    time: Option<f64>,
    request: HarRequest,
    #[serde(default)]
    response: Option<HarResponse>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct HarRequest {
    method: String,
    url: String,
    #[serde(default)]
    headers: Vec<Header>,
    #[serde(default)]
    post_data: Option<PostData>,
    #[serde(default)]
    body_size: Option<f64>,
}

#[derive(Debug, Deserialize)]
struct Header {
    name: String,
    value: String,
}

#[derive(Debug, Deserialize)]
struct PostData {
    #[serde(default)]
    text: Option<String>,
    /// Marks a body that is not text.
    #[serde(default)]
    encoding: Option<IgnoredAny>,
}

#[derive(Debug, Deserialize)]
struct HarResponse {
    #[serde(default)]
    status: Option<f64>,
}

impl HarEntry {
    fn emit(self, out: &mut Output) {
        let Some((at_ns, _)) = instant::iso(self.started_date_time.as_bytes()) else {
            return out.skip(Reason::NoTime);
        };
        let HarRequest { method, url, headers, post_data, body_size } = self.request;
        let Some((host, target)) = split(&url) else { return out.skip(Reason::BadRequest) };
        let is_token = !method.is_empty() && method.bytes().all(|byte| byte.is_ascii_uppercase());
        if !is_token || !target.bytes().all(|byte| byte > b' ' && byte != 0x7f) {
            return out.skip(Reason::BadRequest);
        }
        let is_encoded = post_data.as_ref().is_some_and(|data| data.encoding.is_some());
        let body = post_data.and_then(|data| data.text).filter(|_| !is_encoded);
        if body.is_none() && (is_encoded || body_size.is_some_and(|bytes| bytes > 0.0)) {
            return out.skip(Reason::NoBody);
        }
        let is_sent = |header: &Header| {
            // Names with a colon are HTTP/2 pseudo-headers.
            let is_token = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
            !header.name.is_empty()
                && header.name.bytes().all(is_token)
                && header.value.bytes().all(|byte| byte >= b' ' && byte != 0x7f)
                && !OWN_HEADERS.contains(&header.name.to_ascii_lowercase().as_str())
        };
        let headers = headers.into_iter().filter(is_sent).map(|header| (header.name, header.value)).collect();
        let duration_ns = self.time.filter(|ms| (0.0..1e12).contains(ms)).map(|ms| (ms * 1e6) as u64);
        // Status 0 means a request without a reply.
        let status = self
            .response
            .and_then(|response| response.status)
            .filter(|status| (100.0..1000.0).contains(status));
        out.push(Entry {
            session: None,
            at_ns,
            user: "".into(),
            database: host.into(),
            fingerprint: fingerprint::of_request(&method, target),
            action: Action::Request { method, target: target.to_owned(), headers, body },
            duration_ns,
            result: status.map_or(LoggedResult::Unknown, |status| LoggedResult::Status(status as u16)),
            rows: None,
        });
    }
}

/// Host, and path with query, of a URL. `None` if it is not one of HTTP.
fn split(url: &str) -> Option<(&str, &str)> {
    let (_, rest) = url.split_once("://").filter(|(scheme, _)| (super::TRAFFIC.fits_scheme)(scheme))?;
    let rest = rest.split('#').next()?;
    let end = rest.find(['/', '?']).unwrap_or(rest.len());
    let (host, target) = rest.split_at(end);
    let host = host.rsplit('@').next().unwrap_or(host);
    match target {
        "" => Some((host, "/")),
        target if target.starts_with('/') => Some((host, target)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::{Format, Layout};
    use crate::log::Log;

    const ARCHIVE: &str = r#"{ "log": { "version": "1.2", "creator": { "name": "x" }, "entries": [
      { "startedDateTime": "2026-01-02T03:04:05.250Z", "time": 12.5,
        "request": { "method": "POST", "url": "https://shop.test/cart?id=4711#top", "bodySize": 7,
          "headers": [ { "name": ":authority", "value": "shop.test" }, { "name": "Host", "value": "shop.test" },
            { "name": "Content-Type", "value": "application/json" } ],
          "postData": { "mimeType": "application/json", "text": "{\"a\":1}" } },
        "response": { "status": 201, "content": { "text": "long" } } },
      { "startedDateTime": "2026-01-02T03:04:06Z", "request": { "method": "GET", "url": "http://shop.test" }, "response": { "status": 0 } },
      { "startedDateTime": "2026-01-02T03:04:07Z", "request": { "method": "PUT", "url": "http://shop.test/a", "bodySize": 9 } },
      { "startedDateTime": "2026-01-02T03:04:08Z", "request": { "method": "GET", "url": "ws://shop.test/" } },
      { "startedDateTime": "yesterday", "request": { "method": "GET", "url": "http://shop.test/" } }
    ] } }"#;

    #[test]
    fn requests_have_their_headers_and_bodies() {
        assert_eq!(Format::detect(ARCHIVE.as_bytes()).map(|format| format.name), Some("har"));
        let mut log = Log::open(ARCHIVE.as_bytes(), None, &Layout::default()).expect("an archive");
        let first = log.next_entry().expect("it is read").expect("a request");
        assert_eq!((first.at_ns % 1_000_000_000, first.duration_ns), (250_000_000, Some(12_500_000)));
        assert_eq!((&*first.database, &first.result), ("shop.test", &LoggedResult::Status(201)));
        assert!(!first.fingerprint.contains("4711"), "{}", first.fingerprint);
        let Action::Request { method, target, headers, body } = first.action else { panic!("no request") };
        assert_eq!(
            (method.as_str(), target.as_str(), body.as_deref()),
            ("POST", "/cart?id=4711", Some("{\"a\":1}"))
        );
        assert_eq!(headers, [("Content-Type".to_owned(), "application/json".to_owned())]);
        let second = log.next_entry().expect("it is read").expect("a request");
        assert_eq!((second.action.text(), &second.result), ("/", &LoggedResult::Unknown));
        assert_eq!(log.next_entry().expect("it is read"), None);
        let reasons: Vec<(Reason, u64)> =
            log.skipped().list().map(|(reason, count, _)| (reason, count)).collect();
        assert_eq!(reasons, [(Reason::NoTime, 1), (Reason::NoBody, 1), (Reason::BadRequest, 1)]);
    }

    #[test]
    fn cut_archive_is_counted_as_unparsable() {
        let cut = &ARCHIVE[..ARCHIVE.len() / 2];
        let mut log = Log::open(cut.as_bytes(), None, &Layout::default()).expect("an archive");
        assert_eq!(log.next_entry().expect("it is read"), None);
        assert_eq!(log.skipped().count(Reason::Unparsable), 1);
    }
}
