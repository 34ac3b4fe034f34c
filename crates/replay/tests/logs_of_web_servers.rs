//! Requests of access logs.

use replay::{Action, Layout, LogError, LoggedResult, Reason};

use crate::support::{counts, read, read_with};

fn requests(entries: &[replay::Entry]) -> Vec<(&str, &str)> {
    entries
        .iter()
        .map(|entry| match &entry.action {
            Action::Request { method, target, .. } => (method.as_str(), target.as_str()),
            other => panic!("{other:?} is no request"),
        })
        .collect()
}

#[test]
fn combined_and_common_formats_are_detected() {
    let log = "\
10.0.0.1 - - [02/Jan/2026:03:04:05 +0000] \"GET /a?b=1 HTTP/1.1\" 200 12 \"-\" \"curl \\x22x\\x22\"
10.0.0.1 - bob [02/Jan/2026:05:04:06 +0200] \"HEAD /b HTTP/2.0\" 404 0 \"http://a \\\"b\\\"\" \"x\" extra
10.0.0.1 - - [02/Jan/2026:03:04:06 +0000] \"POST /c HTTP/1.1\" 201 0 \"-\" \"-\"
10.0.0.1 - - [02/Jan/2026:03:04:06 +0000] \"\\x16\\x03\\x01\" 400 0 \"-\" \"-\"
10.0.0.1 - - [02/Jan/2026:03:04:06 +0000] \"-\" 408 0 \"-\" \"-\"
10.0.0.1 - - [02/Jan/2026:03:04:06 +0000] \"GET /\\x0d\\x0aX: y HTTP/1.1\" 400 0 \"-\" \"-\"
torn line
";
    let (entries, skipped) = read(log, "combined");
    assert_eq!(requests(&entries), [("GET", "/a?b=1"), ("HEAD", "/b")]);
    assert_eq!(entries[1].at_ns - entries[0].at_ns, 1_000_000_000);
    assert_eq!((&*entries[1].user, &entries[1].result), ("bob", &LoggedResult::Status(404)));
    assert_eq!(counts(&skipped), [(Reason::Unparsable, 1), (Reason::NoBody, 1), (Reason::BadRequest, 3)]);
    let common = "::1 - - [02/Jan/2026:03:04:05 +0000] \"GET / HTTP/1.0\" 200 12\n";
    assert_eq!(requests(&read(common, "common").0), [("GET", "/")]);
}

#[test]
fn custom_formats_of_nginx_and_apache_are_read() {
    let read = |pattern: &str, line: &str| {
        let layout = Layout { prefix: None, pattern: Some(pattern.to_owned()) };
        read_with(line.as_bytes(), Some("access"), &layout).map(|(entries, ..)| entries)
    };
    let nginx = read(
        r#"$msec ${request_time}s [$time_local] $host "$request" $status $upstream"#,
        "1767323045.500 0.250s [02/Jan/2026:03:04:05 +0000] shop.test \"GET /a HTTP/1.1\" 200 10.0.0.1:80\n",
    )
    .unwrap();
    assert_eq!(nginx[0].at_ns, 1_767_323_045_250_000_000, "nginx writes a line at the end of a request");
    assert_eq!((nginx[0].duration_ns, &*nginx[0].database), (Some(250_000_000), "shop.test"));
    let apache = read(
        r#"%h %l %u %t "%r" %>s %b %D"#,
        "::1 - - [02/Jan/2026:03:04:05 +0000] \"GET /a HTTP/1.1\" 200 - 1500\n",
    )
    .unwrap();
    assert_eq!((apache[0].at_ns, apache[0].duration_ns), (1_767_323_045_000_000_000, Some(1_500_000)));
    let json = read(
        r#"{"t":"$time_iso8601","m":"$request_method","u":"$request_uri","s":$status}"#,
        "{\"t\":\"2026-01-02T03:04:05+00:00\",\"m\":\"GET\",\"u\":\"/a\\\"b\",\"s\":200}\n",
    )
    .unwrap();
    assert_eq!(requests(&json), [("GET", "/a\"b")]);
    for wrong in ["$request", "$time_local $status", "$request$time_local", "%r"] {
        assert!(matches!(read(wrong, "x\n"), Err(LogError::Layout(_))), "{wrong}");
    }
}

#[test]
fn caddy_requests_are_read() {
    let log = "{\"level\":\"info\",\"ts\":1767323045.5,\"msg\":\"handled request\",\"request\":{\"method\":\"GET\",\"host\":\"a\",\"uri\":\"/x\"},\"duration\":0.25,\"status\":200}
{\"level\":\"info\",\"ts\":1767323045.5,\"msg\":\"serving initial configuration\"}
";
    let (entries, skipped) = read(log, "caddy");
    assert_eq!(requests(&entries), [("GET", "/x")]);
    assert_eq!(entries[0].at_ns, 1_767_323_045_250_000_000);
    assert_eq!(counts(&skipped), [(Reason::NoStatement, 1)]);
}
