//! Reads one metric of an exporter in the text format of Prometheus, over HTTP.

use std::io::{Read, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::time::{Duration, Instant};

use url::Url;

use super::source::number;
use crate::consent::PublicLoads;
use crate::resolve;

/// Max size of a reply. A large exporter has a few megabytes.
const REPLY_BYTES_MAX: usize = 16 << 20;

/// Value of the metric `name` at `url`, which has the scheme http.
pub(super) fn read(url: &str, name: &str, within: Duration) -> Result<f64, String> {
    let body = get(url, within)?;
    value(&body, name)
}

/// Body of a reply with status 200.
fn get(url: &str, within: Duration) -> Result<String, String> {
    let ends = Instant::now() + within;
    let parsed = Url::parse(url).map_err(|error| format!("{url} is no URL: {error}"))?;
    let host = parsed.host_str().unwrap_or_default();
    let address = (host.trim_matches(['[', ']']), parsed.port().unwrap_or(80)).to_socket_addrs();
    let address = address.ok().and_then(|mut all| all.next());
    let address = address.ok_or_else(|| format!("the host {host:?} has no address"))?;
    if let Some(why) = resolve::forbidden(&address.ip().to_string(), &PublicLoads::default()) {
        return Err(why.to_string());
    }
    let failed = |error: std::io::Error| format!("{url}: {error}; see whether the exporter runs");
    let mut stream = TcpStream::connect_timeout(&address, within).map_err(failed)?;
    stream.set_write_timeout(Some(within)).map_err(failed)?;
    let path = match parsed.query() {
        Some(query) => format!("{}?{query}", parsed.path()),
        None => parsed.path().to_owned(),
    };
    // A reply to HTTP/1.0 ends with the connection, and is never chunked.
    let request = format!("GET {path} HTTP/1.0\r\nHost: {host}\r\nAccept: text/plain\r\n\r\n");
    stream.write_all(request.as_bytes()).map_err(failed)?;
    let mut reply = Vec::new();
    let mut buffer = [0; 64 * 1024];
    loop {
        let left = ends.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(format!("{url} did not end its reply within {} s", within.as_secs()));
        }
        stream.set_read_timeout(Some(left)).map_err(failed)?;
        let read = stream.read(&mut buffer).map_err(failed)?;
        if read == 0 {
            break;
        }
        if reply.len() + read > REPLY_BYTES_MAX {
            return Err(format!("{url} sends more than 16 MiB; name a smaller page"));
        }
        reply.extend_from_slice(&buffer[..read]);
    }
    let head_end = reply.windows(4).position(|window| window == b"\r\n\r\n");
    let head_end = head_end.ok_or_else(|| format!("{url} gave no HTTP reply"))?;
    let head = String::from_utf8_lossy(&reply[..head_end]);
    let status = head.split(' ').nth(1).unwrap_or_default();
    if status != "200" {
        let shown: String = status.chars().take(3).collect();
        return Err(format!("{url} replied with status {shown:?}; correct its path"));
    }
    Ok(String::from_utf8_lossy(&reply[head_end + 4..]).into_owned())
}

/// Value of a metric in a page: of the series with these labels, or of the only one with this name.
fn value(page: &str, name: &str) -> Result<f64, String> {
    let wanted = without_spaces(name);
    let mut found: Vec<(&str, &str)> = Vec::new();
    for line in page.lines().filter(|line| !line.starts_with('#')) {
        let Some((series, rest)) = split(line) else { continue };
        let is_it = match wanted.contains('{') {
            true => without_spaces(series) == wanted,
            false => series.split('{').next() == Some(wanted.as_str()),
        };
        if is_it {
            found.push((series, rest));
        }
    }
    match found.as_slice() {
        [] => Err(format!("the exporter has no metric {name}; see the names that it has")),
        [(_, value)] => number(value.split_whitespace().next().unwrap_or_default()),
        [(first, _), ..] => {
            let first: String = first.chars().take(100).collect();
            Err(format!(
                "{} series have the name {name}; name one with its labels, such as {first}",
                found.len()
            ))
        }
    }
}

/// Splits a line at the end of its name and labels.
fn split(line: &str) -> Option<(&str, &str)> {
    let end = match line.find('{') {
        Some(_) => line.rfind('}')? + 1,
        None => line.find(char::is_whitespace)?,
    };
    Some((line[..end].trim(), &line[end..]))
}

fn without_spaces(text: &str) -> String {
    text.chars().filter(|sign| !sign.is_whitespace()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: &str = "# HELP queue Waiting jobs.\n# TYPE queue gauge\nqueue 7 1700000000\n\
                        calls_total{code=\"200\",path=\"/a b\"} 12\ncalls_total{code=\"500\"} 1e3\nbad NaN\n";

    #[test]
    fn reads_metric_by_name_and_labels() {
        assert_eq!(value(PAGE, "queue"), Ok(7.0));
        assert_eq!(value(PAGE, "calls_total{code=\"500\"}"), Ok(1000.0));
        assert_eq!(value(PAGE, "calls_total{ code=\"200\", path=\"/a b\" }"), Ok(12.0));
    }

    #[test]
    fn ambiguous_missing_and_infinite_values_are_errors() {
        for (name, why) in [
            ("calls_total", "2 series have the name"),
            ("que", "has no metric que"),
            ("bad", "not a finite number"),
            ("calls_total{code=\"404\"}", "has no metric"),
        ] {
            let error = value(PAGE, name).expect_err(name);
            assert!(error.contains(why), "{error}");
        }
    }
}
