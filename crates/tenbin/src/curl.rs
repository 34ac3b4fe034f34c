//! Flags of curl: supported ones, ones with a different meaning here, and unsupported ones.

use std::ffi::OsStr;
use std::path::Path;

use plan::Fault;

use crate::arguments::{is_server, with_scheme};

/// Meaning of a curl flag in Tenbin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Meaning {
    /// Supported with curl's meaning.
    Same,
    /// Supported with a different meaning. An argument that only makes sense for curl is an error.
    Other,
    /// Unsupported. The error names the replacement.
    Refused,
}

/// One row of the table of curl flags.
struct CurlFlag {
    /// Short and long form, separated by a comma.
    names: &'static str,
    meaning: Meaning,
    /// Meaning in Tenbin, or what to write instead.
    words: &'static str,
}

const fn same(names: &'static str, words: &'static str) -> CurlFlag {
    CurlFlag { names, meaning: Meaning::Same, words }
}

const fn other(names: &'static str, words: &'static str) -> CurlFlag {
    CurlFlag { names, meaning: Meaning::Other, words }
}

const fn unsupported(names: &'static str, words: &'static str) -> CurlFlag {
    CurlFlag { names, meaning: Meaning::Refused, words }
}

/// All known flags of curl. docs/curl.md has this list as a table.
const CURL_FLAGS: &[CurlFlag] = &[
    same("-X", "method; the long form is --method"),
    same("-H, --header", "header"),
    same("--json", "body with Content-Type and Accept: application/json; @PATH reads a file"),
    same("-F, --form", "multipart form: name=text, name=@file, name=<file, ;type=, and ;filename="),
    same("-u, --user", "Basic authentication; the password is not asked for"),
    same("--cookie", "cookies to send; a file of cookies is not read"),
    same("-k, --insecure", "accepts any certificate; an error for http://"),
    same("--cacert, --cert, --key", "PEM files"),
    same("--resolve", "address of a host and port"),
    same("--unix-socket", "path of a socket"),
    same("--connect-timeout", "maximum time of connecting"),
    other("-b", "request body; write --cookie 'name=value' for cookies"),
    other("-c", "connections; a plan with `cookies: true` keeps cookies"),
    other("-d", "duration; write -b TEXT or --json TEXT for a body"),
    other("-f", "SQL script; statuses from 400 are errors without a flag"),
    other("-L", "latency limit of transactions; a plan with `redirects: N` follows redirects"),
    other("-m", "method; write --timeout TIME for --max-time"),
    other("-n", "number of requests"),
    other("-o", "file of the report"),
    other("-s", "scale factor of pgbench's tables; there is no output to silence"),
    unsupported("--data", "-b TEXT -H 'Content-Type: application/x-www-form-urlencoded'"),
    unsupported("--data-raw", "-b TEXT -H 'Content-Type: application/x-www-form-urlencoded'"),
    unsupported("--data-urlencode", "-b TEXT, encoded, -H 'Content-Type: application/x-www-form-urlencoded'"),
    unsupported("--data-binary", "--body-file PATH, or -b TEXT"),
    unsupported("--upload-file", "-X PUT --body-file PATH"),
    unsupported("--request", "-X METHOD"),
    unsupported("-I, --head", "-X HEAD"),
    unsupported("-G, --get", "the parameters in the URL: 'http://HOST/PATH?name=value'"),
    unsupported("--url", "the URL without a flag: tenbin URL"),
    unsupported("-A, --user-agent", "-H 'User-Agent: NAME'"),
    unsupported("-e, --referer", "-H 'Referer: URL'"),
    unsupported("--oauth2-bearer", "-H 'Authorization: Bearer TOKEN'"),
    unsupported("--compressed", "-H 'Accept-Encoding: gzip'"),
    unsupported("--cookie-jar", "a plan with `cookies: true`: tenbin init"),
    unsupported("--location", "a plan with `redirects: N`: tenbin init; or the URL that it redirects to"),
    unsupported("--max-time", "--timeout TIME"),
    unsupported("--retry", "nothing: a request that failed is a result"),
    unsupported("--fail", "nothing: statuses from 400 are errors; --expect-status 200 sets others"),
    unsupported("-E", "--cert PATH"),
    unsupported("-x, --proxy", "the URL of the server: there is no HTTP proxy"),
    unsupported("--http1.1", "nothing: requests are HTTP/1.1"),
    unsupported("--http2", "nothing: there is no HTTP/2, and requests are HTTP/1.1"),
    unsupported("-v, --verbose", "tenbin check PLAN, which prints the requests of a plan as they are sent"),
    unsupported("-S, --silent", "nothing: there is no output of replies to silence"),
    unsupported("-w, --write-out", "--format json, which has times and statuses"),
];

/// Replacement for a flag that exists only in curl. `None` if the flag is not in the list, or exists here.
pub(crate) fn flag_replacement(name: &str) -> Option<&'static str> {
    let mut rows = CURL_FLAGS.iter().filter(|row| row.meaning == Meaning::Refused);
    rows.find(|row| row.names.split(", ").any(|known| known == name)).map(|row| row.words)
}

/// Replacement for a flag that takes a value in Tenbin, but not in curl.
pub(crate) fn without_value(name: &str) -> Option<&'static str> {
    match name {
        "-L" => {
            Some("a plan with `redirects: N` to follow redirects (tenbin init); -L 100ms is a latency limit")
        }
        "-s" => Some("nothing to silence the output, -s 10 for the scale factor of pgbench's tables"),
        "-f" => Some("nothing to fail on a status: from 400 they are errors; -f script.sql runs a script"),
        _ => None,
    }
}

/// Values of the flags that have another meaning in curl.
pub(crate) struct CurlValues<'a> {
    pub(crate) url: Option<&'a str>,
    pub(crate) connections: Option<&'a str>,
    pub(crate) duration: Option<&'a str>,
    pub(crate) body: Option<&'a str>,
    pub(crate) method: Option<&'a str>,
    /// Whether a `-H` flag sets Content-Type.
    pub(crate) has_type: bool,
    /// Flags that take a value in Tenbin, but not in curl. One of them may have consumed the URL as its value.
    pub(crate) taken: [(&'static str, Option<&'a str>); 3],
}

const FORM_TYPE: &str = "-H 'Content-Type: application/x-www-form-urlencoded'";

/// Returns an error for each argument that only makes sense in curl.
pub(crate) fn misread_arguments(words: &CurlValues<'_>) -> Vec<Fault> {
    let taken = words.taken.iter().filter(|_| words.url.is_none()).filter_map(|(flag, value)| {
        let url = value.filter(|value| is_server(value))?;
        let help = format!("write {}", without_value(flag)?);
        Some(Fault::new(*flag, format!("it takes a value, and took the URL {url}"), help))
    });
    let connections = words.connections.filter(|text| is_file_name(text)).map(|text| {
        let help = "write -c 50 for connections; a plan with `cookies: true` keeps cookies: tenbin init";
        Fault::new("-c", format!("{text:?} is not a number of connections"), help)
    });
    let method = words.method.filter(|text| text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.'));
    let method = method.filter(|text| !text.is_empty()).map(|text| {
        let help =
            format!("write --timeout {text}s for the maximum time of a request, or -X GET for a method");
        Fault::new("-m", format!("{text:?} is not a method"), help)
    });
    let duration = words.duration.and_then(data);
    taken.chain(connections).chain(method).chain(duration).chain(body(words)).collect()
}

/// Error for `-d` with a body, which is data in curl.
fn data(text: &str) -> Option<Fault> {
    let what = "it is a duration, and this is data as in curl -d";
    let help = match (text.chars().next()?, text.split_once('=')) {
        ('{' | '[', _) => "write --json '{…}' for a body of JSON, or -d 10s for a duration".to_owned(),
        ('@', _) => format!("write --body-file {} for a body, or -d 10s for a duration", &text[1..]),
        // Left out, because the value may be a secret.
        (_, Some((name, _))) => {
            format!("write -b '{name}=…' {FORM_TYPE} for a form, or -d 10s for a duration")
        }
        _ => return None,
    };
    Some(Fault::new("-d", what, help))
}

/// Error for `-b` with cookies, or with the name of a file.
fn body(words: &CurlValues<'_>) -> Option<Fault> {
    let text = words.body?;
    if words.has_type || !words.url.is_some_and(|url| plan::begins_as_request_url(&with_scheme(url))) {
        return None;
    }
    if let (Some((name, _)), true) = (text.split_once('='), words.method.is_none() && is_cookies(text)) {
        let what = "it is a request body, and this may be cookies as in curl -b";
        let help = format!("write --cookie '{name}=…' for cookies, or -b '{name}=…' {FORM_TYPE} for a form");
        return Some(Fault::new("-b", what, help));
    }
    let is_file = is_file_name(text) && Path::new(text).is_file();
    is_file.then(|| {
        let help = format!("write -b @{text} to send the file, or --cookie 'name=value' for cookies");
        Fault::new("-b", format!("it sends the text {text:?}, which is the name of a file"), help)
    })
}

/// Whether a text is `name=value`, or several such pairs separated by `; `.
fn is_cookies(text: &str) -> bool {
    let is_plain = |text: &str| {
        !text.is_empty()
            && text.bytes().all(|byte| byte.is_ascii_graphic() && !b"&\",;\\{}[]<>".contains(&byte))
    };
    let is_name =
        |name: &str| name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte));
    let mut pairs = text.split("; ").map(|pair| pair.split_once('='));
    pairs.all(|pair| pair.is_some_and(|(name, value)| is_plain(name) && is_name(name) && is_plain(value)))
}

/// Whether a text is one word with a file extension, such as `cookies.txt`.
fn is_file_name(text: &str) -> bool {
    let ending = Path::new(text).extension().and_then(OsStr::to_str);
    !text.contains(char::is_whitespace)
        && ending.is_some_and(|ending| ending.starts_with(|first: char| first.is_ascii_alphabetic()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rejects_arguments_of_curl_and_names_the_flag_to_write() {
        let none = CurlValues {
            url: Some("localhost:1"),
            connections: None,
            duration: None,
            body: None,
            method: None,
            has_type: false,
            taken: [("-L", None), ("-s", None), ("-f", None)],
        };
        let taken = [("-L", Some("http://a/")), ("-s", None), ("-f", None)];
        for (words, place, help) in [
            (CurlValues { connections: Some("cookies.txt"), ..none }, "-c", "write -c 50 "),
            (CurlValues { duration: Some("a=b"), ..none }, "-d", "write -b 'a=…' -H 'Content-Type: "),
            (CurlValues { duration: Some("{\"a\": 1}"), ..none }, "-d", "write --json "),
            (CurlValues { duration: Some("@a.json"), ..none }, "-d", "write --body-file a.json "),
            (CurlValues { body: Some("sid=s3cr3t"), ..none }, "-b", "write --cookie 'sid=…' "),
            (CurlValues { body: Some("a=b; c=d"), ..none }, "-b", "write --cookie 'a=…' "),
            (CurlValues { method: Some("5"), ..none }, "-m", "write --timeout 5s "),
            (CurlValues { url: None, taken, ..none }, "-L", "write a plan with `redirects: N` "),
        ] {
            let faults = misread_arguments(&words);
            let [fault] = faults.as_slice() else { panic!("one error: {faults:?}") };
            assert_eq!(fault.place, place);
            assert!(fault.help.starts_with(help) && !fault.help.contains("s3cr3t"), "{fault:?}");
        }
        for words in [
            CurlValues { connections: Some("10"), duration: Some("10s"), body: Some("hello, world"), ..none },
            CurlValues { connections: Some("ten"), duration: Some("soon"), body: Some("a=b&c=d"), ..none },
            CurlValues { body: Some("a=b"), has_type: true, ..none },
            CurlValues { body: Some("a=b"), method: Some("PUT"), ..none },
            CurlValues { body: Some("a=b"), url: Some("tcp://localhost:1"), ..none },
        ] {
            assert_eq!(misread_arguments(&words), []);
        }
    }

    #[test]
    fn documentation_has_the_list_of_curl_flags() {
        let cell = |meaning| match meaning {
            Meaning::Same => "same",
            Meaning::Other => "other",
            Meaning::Refused => "refused",
        };
        let names = |names: &str| {
            names.split(", ").map(|name| format!("`curl {name}`")).collect::<Vec<_>>().join(", ")
        };
        let rows = CURL_FLAGS
            .iter()
            .map(|row| format!("| {} | {} | {} |\n", names(row.names), cell(row.meaning), row.words));
        let table = format!(
            "| flag | here | meaning, or what to write |\n|---|---|---|\n{}",
            rows.collect::<String>()
        );
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/curl.md");
        let text = std::fs::read_to_string(&path).expect("docs/curl.md");
        let start = text.find("| flag |").expect("a table");
        let end = text[start..].find("\n\n").map_or(text.len(), |end| start + end + 1);
        if std::env::var_os("UPDATE").is_some() {
            let updated = format!("{}{table}{}", &text[..start], &text[end..]);
            return std::fs::write(&path, updated).expect("written");
        }
        assert_eq!(text[start..end], table, "UPDATE=1 cargo test -p tenbin --bins curl writes it");
    }
}
