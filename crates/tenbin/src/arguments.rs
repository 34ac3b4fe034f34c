//! Accepts arguments in the forms of other load testers, and converts them to Tenbin's form.

use std::borrow::Cow;
use std::convert::Infallible;
use std::ffi::{OsStr, OsString};
use std::net::IpAddr;
use std::path::Path;

/// File extensions of plans.
pub(crate) const PLAN_EXTENSIONS: [&str; 2] = ["yaml", "yml"];

/// Extensions of files that are read as a plan if they exist. JSON is YAML. For files of other tools, the error names the equivalent in a
/// plan.
const OTHER_PLAN_EXTENSIONS: [&str; 9] = ["json", "js", "mjs", "ts", "jmx", "py", "lua", "txt", "scala"];

/// Arguments of this process, with `run` before a plan: `tenbin plan.yaml` is `tenbin run plan.yaml`.
pub(crate) fn given(arguments: impl Iterator<Item = OsString>) -> Vec<OsString> {
    let mut arguments: Vec<OsString> = arguments.collect();
    let is_other = |first: &OsString| {
        let path = Path::new(first);
        path.extension().is_some_and(|ending| OTHER_PLAN_EXTENSIONS.iter().any(|other| ending == *other))
            && path.is_file()
    };
    if arguments.get(1).is_some_and(|first| is_plan(first) || is_other(first)) {
        arguments.insert(1, "run".into());
    }
    arguments
}

/// Whether an argument names a plan file, and not a URL.
pub(crate) fn is_plan(argument: &OsStr) -> bool {
    let has_ending = Path::new(argument)
        .extension()
        .is_some_and(|ending| PLAN_EXTENSIONS.iter().any(|plan| ending == *plan));
    has_ending && !is_server(&argument.to_string_lossy())
}

/// Whether a text is the URL or the address of a server.
pub(crate) fn is_server(text: &str) -> bool {
    text.contains("://") || is_address(text)
}

/// Splits `NAME=URL` into the name and the URL. The name is `None` if there is none.
pub(crate) fn named_url(text: &str) -> (Option<&str>, &str) {
    let is_name = |name: &str| {
        !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte))
    };
    match text.split_once('=') {
        Some((name, url)) if is_name(name) => (Some(name), url),
        _ => (None, text),
    }
}

/// Parses an argument `URL` or `NAME=URL`, in which the URL may be written as a connection string of libpq. Other texts stay as they
/// are, because errors that show them must hide passwords.
#[allow(clippy::unnecessary_wraps, reason = "a parser of arguments returns a result")]
pub(crate) fn url_argument(text: &str) -> Result<String, Infallible> {
    let whole = plan::url_of_connection_string(text);
    if whole != text {
        return Ok(whole.into_owned());
    }
    Ok(match named_url(text) {
        (Some(name), url) => format!("{name}={}", plan::url_of_connection_string(url)),
        (None, _) => text.to_owned(),
    })
}

/// Adds `http://` to an address without a scheme, such as `localhost:8080/path`.
pub(crate) fn with_scheme(text: &str) -> Cow<'_, str> {
    if is_address(text) { format!("http://{text}").into() } else { text.into() }
}

/// Whether a text is `HOST:PORT`, an IP address, or `localhost`, with or without a path.
fn is_address(text: &str) -> bool {
    if text.contains("://") {
        return false;
    }
    let authority = text.split(['/', '?', '#']).next().unwrap_or_default();
    let is_port = |port: &str| !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit());
    let is_host = |host: &str| {
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || b".-_".contains(&byte);
        !host.is_empty() && (host.bytes().all(plain) || is_ip(host))
    };
    match authority.rsplit_once(':') {
        Some((host, port)) if is_port(port) && is_host(host) => true,
        _ => authority == "localhost" || is_ip(authority),
    }
}

/// Whether a host is an IP address, such as `127.0.0.1` or `[::1]`.
fn is_ip(host: &str) -> bool {
    let inner = host.strip_prefix('[').and_then(|host| host.strip_suffix(']'));
    match inner.unwrap_or(host).parse::<IpAddr>() {
        Ok(address) => address.is_ipv4() == inner.is_none(),
        Err(_) => false,
    }
}

/// Adds the unit `s` to a duration that is a bare number.
pub(crate) fn with_seconds(text: &str) -> Cow<'_, str> {
    if is_bare(text) { format!("{}s", text.trim()).into() } else { text.into() }
}

/// Adds the unit `s` to the duration of each stage that is a bare number.
pub(crate) fn stages_with_seconds(text: &str) -> String {
    let stage = |stage: &str| match stage.split_once(':') {
        Some((time, rate)) => format!("{}:{rate}", with_seconds(time)),
        None => stage.to_owned(),
    };
    text.split(',').map(stage).collect::<Vec<_>>().join(",")
}

fn is_bare(text: &str) -> bool {
    let text = text.trim();
    text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.') && text.parse::<f64>().is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn adds_http_scheme_to_address() {
        for text in [
            "localhost:8080",
            "127.0.0.1",
            "127.0.0.1:99999/a?b=c:d",
            "localhost/x",
            "[::1]:80",
            "[::1]/",
            "db-1.internal:80",
        ] {
            assert_eq!(with_scheme(text), format!("http://{text}"));
        }
        for text in [
            "",
            "histroy",
            "http://a:1",
            "sqlite:/tmp/a.db",
            "mailto:a",
            ":80",
            "a b:80",
            "::1",
            "plan.yaml",
            "host/path",
        ] {
            assert_eq!(with_scheme(text), text);
        }
    }

    #[test]
    fn splits_name_from_url() {
        assert_eq!(named_url("express=localhost:4000"), (Some("express"), "localhost:4000"));
        assert_eq!(named_url("b-2=postgres://h/d?a=b"), (Some("b-2"), "postgres://h/d?a=b"));
        for text in ["localhost:4000/?a=b", "http://h/a=b", "=http://h", "postgres:///d?host=/tmp"] {
            assert_eq!(named_url(text), (None, text));
        }
    }

    #[test]
    fn connection_string_with_and_without_name_becomes_url() {
        for (text, url) in [
            ("host=db dbname=shop", "postgres://db/shop"),
            ("a=host=db dbname=shop", "a=postgres://db/shop"),
            ("a=dbname=shop", "a=postgres:///shop"),
            ("host=localhost:8080", "host=localhost:8080"),
            ("a=http://b/?c=d", "a=http://b/?c=d"),
        ] {
            assert_eq!(url_argument(text), Ok(url.to_owned()), "{text}");
        }
    }

    #[test]
    fn inserts_run_before_plan() {
        let given = |words: &[&str]| {
            let words = given(words.iter().map(OsString::from));
            words.iter().map(|word| word.to_string_lossy().into_owned()).collect::<Vec<_>>()
        };
        assert_eq!(
            given(&["tenbin", "plans/a.yaml", "--quick"]),
            ["tenbin", "run", "plans/a.yaml", "--quick"]
        );
        assert_eq!(given(&["tenbin", "check", "a.yaml"]), ["tenbin", "check", "a.yaml"]);
        assert_eq!(given(&["tenbin", "http://host/a.yaml"]), ["tenbin", "http://host/a.yaml"]);
        assert_eq!(given(&["tenbin"]), ["tenbin"]);
    }

    #[test]
    fn adds_seconds_to_bare_number() {
        assert_eq!(with_seconds("10"), "10s");
        assert_eq!(with_seconds(" 1.5 "), "1.5s");
        for text in ["", "10ms", "-5", "1e9", "soon", ".", "1.2.3"] {
            assert_eq!(with_seconds(text), text);
        }
        assert_eq!(stages_with_seconds("10:100,5s:7/s"), "10s:100,5s:7/s");
    }
}
