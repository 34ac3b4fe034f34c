//! Requests have the content that flags define, and replies are checked against the expected ones.

use crate::tls;
use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::os::unix::net::UnixListener;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use crate::support::{Home, answering, assert_identity, built_in, errors, number, server, url};
use serde_json::Value;
use target::Settings;
use target::scripted::Step;

const REPLY: &str = "HTTP/1.1 200 OK\r\nServer: known\r\nContent-Length: 13\r\n\r\nhello, world\n";

/// Sends five requests to a server with a known reply. Returns the number of rejected replies, and class and message of each error.
fn checked(flags: &[&str]) -> (u64, Vec<(String, String)>) {
    let (home, server) = (Home::new(), answering(REPLY));
    let run = home.json(&[&[url(server.address(), "/").as_str(), "-n", "5", "-c", "1"][..], flags].concat());
    assert_identity(&run);
    assert_eq!(server.connections(), 2, "the probe's, and one that is kept whatever the check says");
    let errors = run["errors"].as_array().expect("a list");
    let text = |value: &Value| value.as_str().expect("text").to_owned();
    let list = errors.iter().map(|error| (text(&error["class"]), text(&error["message"]))).collect();
    (number(&run, "outcomes.rejected"), list)
}

#[test]
fn passed_checks_reject_no_reply() {
    for flags in [
        &["--expect-status", "200"][..],
        &["--expect-status", "404,2xx"],
        &["--expect-status", "100-299"],
        &["--expect-body", "hello", "--expect-body", "world"],
        &["--expect-body-regex", "^hello, [a-z]+\n$"],
        &["--expect-header", "server"],
        &["--expect-header", "Server: kno"],
        &["--expect-size", "13"],
        &["--expect-size", "1..1KiB"],
        &["--expect-size", "..13B"],
    ] {
        assert_eq!(checked(flags), (0, Vec::new()), "{flags:?}");
    }
}

#[test]
fn failed_checks_reject_replies_and_give_the_reason() {
    for (flags, class, message) in [
        (&["--expect-status", "404,500-599"][..], "status", "status 200, expected 404, 500–599"),
        (&["--expect-body", "goodbye"], "check_body", "the body does not contain \"goodbye\""),
        (
            &["--expect-body", "hello", "--expect-body-regex", "^world"],
            "check_body",
            "the body does not match /^world/",
        ),
        (&["--expect-header", "X-None"], "check_header", "header X-None is missing"),
        (&["--expect-header", "Server: other"], "check_header", "header Server does not contain \"other\""),
        (&["--expect-size", "14..20"], "check_size", "the body does not have 14 to 20 bytes"),
    ] {
        assert_eq!(checked(flags), (5, vec![(class.to_owned(), message.to_owned())]), "{flags:?}");
    }
}

#[test]
fn statuses_are_counted_regardless_of_checks() {
    let (home, target) = (Home::new(), built_in());
    let url = url(target.address(), "/status?code=503");
    let run = home.json(&[url.as_str(), "-n", "20", "-c", "2"]);
    assert_eq!((number(&run, "outcomes.rejected"), errors(&run, "status")), (20, 20));
    assert_eq!(number(&run, "statuses.503"), 20);
    let run = home.json(&[url.as_str(), "-n", "20", "-c", "2", "--expect-status", "503"]);
    assert_eq!((number(&run, "outcomes.ok"), errors(&run, "status")), (20, 0));
}

/// A server that records its requests and answers each connection once. It ends with the test.
fn recording() -> (SocketAddr, Arc<Mutex<Vec<String>>>) {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port");
    let address = listener.local_addr().expect("an address");
    let asked = Arc::new(Mutex::new(Vec::new()));
    let keep = Arc::clone(&asked);
    thread::spawn(move || {
        for socket in listener.incoming().map_while(Result::ok) {
            let text = read_request(socket);
            keep.lock().expect("no panic").extend(text);
        }
    });
    (address, asked)
}

/// Text of one request. `None` if the peer only connected.
fn read_request(mut socket: TcpStream) -> Option<String> {
    socket.set_read_timeout(Some(Duration::from_secs(5))).expect("a time-out");
    let (mut bytes, mut piece) = (Vec::new(), [0; 16 * 1024]);
    loop {
        let count = socket.read(&mut piece).ok().filter(|count| *count > 0)?;
        bytes.extend_from_slice(&piece[..count]);
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let Some((head, body)) = text.split_once("\r\n\r\n") else { continue };
        let length = head.lines().find_map(|line| line.strip_prefix("Content-Length: "));
        if body.len() >= length.map_or(0, |length| length.parse().expect("a length")) {
            socket.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n").expect("answered");
            return Some(text);
        }
    }
}

/// Text of the only request of a load with these flags, and the address of its server.
fn asked(path: &str, flags: &[&str]) -> (String, String) {
    let (home, (address, texts)) = (Home::new(), recording());
    let run = home
        .json(&[&[url(address, path).as_str(), "-n", "1", "-c", "1", "--no-keepalive"][..], flags].concat());
    assert_eq!(number(&run, "outcomes.ok"), 1, "{run}");
    let texts = texts.lock().expect("no panic");
    assert_eq!(texts.len(), 1);
    assert_eq!(number(&run, "sent_bytes"), texts[0].len() as u64);
    (texts[0].clone(), address.to_string())
}

#[test]
fn server_gets_the_request_of_the_flags() {
    let agent = concat!("tenbin/", env!("CARGO_PKG_VERSION"));
    let (text, host) = asked("/a%20path?q=1&r=%2F#fragment", &[]);
    assert_eq!(
        text,
        format!(
            "GET /a%20path?q=1&r=%2F HTTP/1.1\r\nHost: {host}\r\nUser-Agent: {agent}\r\nAccept: */*\r\nConnection: close\r\n\r\n"
        )
    );
    let flags =
        ["-m", "PUT", "-H", "X-One: 1", "-H", "accept: text/plain", "-H", "Host: other.test", "-b", "a body"];
    let (text, _) = asked("/", &flags);
    assert_eq!(
        text,
        format!(
            "PUT / HTTP/1.1\r\nUser-Agent: {agent}\r\nContent-Length: 6\r\nConnection: close\r\n\
             X-One: 1\r\naccept: text/plain\r\nHost: other.test\r\n\r\na body"
        )
    );
}

#[test]
fn json_sets_content_type_unless_a_header_does() {
    let (text, _) = asked("/", &["--json", "{\"a\": {b}}"]);
    assert!(text.starts_with("POST / HTTP/1.1\r\n") && text.ends_with("\r\n\r\n{\"a\": {b}}"), "{text}");
    assert!(text.contains("\r\nContent-Type: application/json\r\n"), "{text}");
    let (text, _) = asked("/", &["--json", "{}", "-X", "PATCH", "-H", "content-type: a/b"]);
    assert!(text.starts_with("PATCH / HTTP/1.1\r\n") && text.contains("content-type: a/b"), "{text}");
    assert!(!text.contains("Content-Type: application/json"), "{text}");
    let (home, server) = (Home::new(), built_in());
    let both = home.run(&[url(server.address(), "/").as_str(), "--json", "{}", "-b", "x"]);
    assert_eq!(both.code, Some(2), "{both:?}");
}

#[test]
fn body_implies_post_and_may_be_a_file() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("body");
    std::fs::write(&file, "from a file\n").expect("written");
    for flags in [["-b", "from a file\n"], ["--body-file", file.to_str().expect("a plain path")]] {
        let (text, _) = asked("/", &flags);
        assert!(text.starts_with("POST / HTTP/1.1\r\n"), "{text}");
        assert!(
            text.contains("\r\nContent-Length: 12\r\n") && text.ends_with("\r\n\r\nfrom a file\n"),
            "{text}"
        );
    }
}

#[test]
fn url_that_rejects_everything_ends_early_and_quotes_the_body() {
    let (home, server) =
        (Home::new(), answering("HTTP/1.1 404 Not Found\r\nContent-Length: 7\r\n\r\nno item"));
    let begun = Instant::now();
    let output = home.run(&[&url(server.address(), "/"), "-R", "50", "-d", "60s"]);
    assert!(begun.elapsed() < Duration::from_secs(45), "{output:?}");
    assert_eq!(output.code, Some(1), "{output:?}");
    let quoted = "status 404, expected 200–399; the body begins with \"no item\"";
    assert!(output.stderr.contains("every request was rejected, also those of a single user"), "{output:?}");
    assert!(output.stderr.contains(quoted) && output.stderr.contains("help: correct the URL"), "{output:?}");
}

#[test]
fn url_with_truncated_replies_only_ends_early() {
    let text = "HTTP/1.1 200 OK\r\nContent-Length: 700\r\nConnection: close\r\n\r\ntoo short";
    let answer = vec![Step::ReadRequest, Step::Send(text.as_bytes().to_vec()), Step::CloseGracefully];
    let (home, server) = (Home::new(), server(answer));
    let begun = Instant::now();
    let output = home.run(&[&url(server.address(), "/"), "-R", "50", "-d", "60s"]);
    assert!(begun.elapsed() < Duration::from_secs(45), "{output:?}");
    assert_eq!(output.code, Some(1), "{output:?}");
    let said = "no request got a usable reply, also those of a single user: step \"GET /\": ";
    assert!(output.stderr.contains(said) && output.stderr.contains("help: correct the URL"), "{output:?}");
}

#[test]
fn ssh_server_ends_a_load_of_many_requests_early_and_is_named() {
    // The server keeps the connection open until the client closes it.
    let server = server(vec![Step::Send(b"SSH-2.0-x\r\n".to_vec()), Step::ReadBytes(1 << 20)]);
    let home = Home::new();
    let begun = Instant::now();
    let output = home.run(&[&url(server.address(), "/"), "-n", "100000"]);
    assert!(begun.elapsed() < Duration::from_secs(45), "{output:?}");
    assert_eq!(output.code, Some(1), "{output:?}");
    assert!(output.stderr.contains("an SSH server answered: correct the port"), "{output:?}");
}

#[test]
fn flags_of_curl_have_the_meaning_of_curl() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("body.json");
    std::fs::write(&file, "{\"a\": 1}\n").expect("written");
    let at_file = format!("@{}", file.display());
    for flags in [["--json", &at_file], ["-b", &at_file], ["--body-file", &at_file[1..]]] {
        let (text, _) = asked("/", &flags);
        assert!(text.contains("\r\nContent-Type: application/json\r\n"), "{flags:?}: {text}");
        assert!(text.ends_with("\r\n\r\n{\"a\": 1}\n"), "{flags:?}: {text}");
    }
    let (text, _) = asked("/", &["-u", "user:pass", "--cookie", "a=b; c=d"]);
    assert!(text.contains("\r\nAuthorization: Basic dXNlcjpwYXNz\r\nCookie: a=b; c=d\r\n"), "{text}");
    let (text, _) = asked("/", &["-F", "user=me", "-F", &format!("order={at_file}")]);
    assert!(text.starts_with("POST / HTTP/1.1\r\n"), "{text}");
    assert!(text.contains("\r\nContent-Type: multipart/form-data; boundary=tenbin-"), "{text}");
    assert!(
        text.contains("name=\"user\"\r\n\r\nme\r\n") && text.contains("filename=\"body.json\""),
        "{text}"
    );
}

#[test]
fn rejects_arguments_of_curl_and_names_the_flag_to_write() {
    let (home, server) = (Home::new(), built_in());
    let url = url(server.address(), "/");
    for (flags, error) in [
        (
            &["-d", "a=b"][..],
            "-d: it is a duration, and this is data as in curl -d\n  help: write -b 'a=…' -H ",
        ),
        (
            &["-b", "sid=1"],
            "-b: it is a request body, and this may be cookies as in curl -b\n  help: write --cookie 'sid=…' ",
        ),
        (&["-c", "cookies.txt"], "-c: \"cookies.txt\" is not a number of connections\n  help: write -c 50 "),
        (&["-u", "me"], "-u: the password is missing\n  help: write -u me:PASSWORD"),
        (&["-u", "5"], "-u: the password is missing\n  help: write -u 5:PASSWORD; for 5 users, -c 5"),
        (
            &["--cookie", "cookies.txt"],
            "--cookie: \"cookies.txt\" is not name=value\n  help: write --cookie 'name=value'",
        ),
        (
            &["--json", "@-"],
            "--json: standard input is not read\n  help: write the body to a file: --json @body.json",
        ),
        (&["-L"], "-L: it takes a value\n  help: write a plan with `redirects: N`"),
    ] {
        let output = home.run(&[&[url.as_str()][..], flags].concat());
        assert_eq!(output.code, Some(2), "{flags:?}: {output:?}");
        assert!(output.stderr.starts_with(&format!("error: {error}")), "{flags:?}: {output:?}");
    }
    assert_eq!(server.counters().accepted, 0);
}

#[test]
fn user_in_the_url_is_sent_as_basic_authorization() {
    let (home, (address, texts)) = (Home::new(), recording());
    home.json(&[&format!("http://user:pass@{address}/"), "-n", "1", "-c", "1", "--no-keepalive"]);
    let texts = texts.lock().expect("no panic");
    assert!(texts[0].contains("\r\nAuthorization: Basic dXNlcjpwYXNz\r\n"), "{texts:?}");
}

#[test]
fn reply_to_head_has_no_body() {
    let (home, target) = (Home::new(), built_in());
    let url = url(target.address(), "/bytes?n=100000");
    let run = home.json(&[url.as_str(), "-m", "HEAD", "-n", "50", "-c", "2"]);
    assert_eq!((number(&run, "outcomes.ok"), number(&run, "connections")), (50, 2));
    assert!(number(&run, "received_bytes") < 50 * 1_000);
}

#[test]
fn large_bodies_are_received_and_counted() {
    let (home, target) = (Home::new(), built_in());
    let url = url(target.address(), "/bytes?n=3000000");
    let run = home.json(&[url.as_str(), "-n", "8", "-c", "2", "--expect-size", "3000000"]);
    assert_eq!(number(&run, "outcomes.ok"), 8);
    let received = number(&run, "received_bytes");
    assert!((24_000_000..24_010_000).contains(&received), "{received}");
}

#[test]
fn without_keep_alive_every_request_connects() {
    let (home, target) = (Home::new(), built_in());
    let url = url(target.address(), "/status");
    let run = home.json(&[url.as_str(), "-n", "30", "-c", "3", "--no-keepalive"]);
    assert_eq!((number(&run, "outcomes.ok"), number(&run, "connections")), (30, 30));
    assert_eq!(target.counters().accepted, 31, "and one to look whether somebody is there");
}

#[test]
fn unix_socket_is_loaded_like_a_port() {
    let home = Home::new();
    let socket = home.path().join("target.sock");
    let target =
        target::start(Settings { unix: Some(socket.clone()), ..Settings::default() }).expect("a target");
    let shown = socket.to_str().expect("a plain path");
    // The host name is only for the Host header. It is not resolved.
    let run =
        home.json(&["http://no-such-host.invalid/status", "--unix-socket", shown, "-n", "200", "-c", "4"]);
    assert_eq!((number(&run, "outcomes.ok"), target.counters().requests), (200, 200));
    let dead = home.path().join("dead.sock");
    drop(UnixListener::bind(&dead).expect("a socket"));
    let output = home.run(&["http://localhost/", "--unix-socket", dead.to_str().expect("a plain path")]);
    assert_eq!(output.code, Some(1), "{output:?}");
    assert!(output.stderr.contains("connection refused"), "{output:?}");
}

#[test]
fn verifies_certificates_by_default() {
    let home = Home::new();
    let authority = tls::Authority::new("an authority of the test");
    let cacert = authority.path();
    let cacert = cacert.to_str().expect("a plain path");
    let reply = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok".to_vec();
    let good = tls::TlsServer::answering(&authority.sign(&["127.0.0.1"], |_| ()), reply.clone());
    let https = |server: &tls::TlsServer| format!("https://{}/", server.address());
    let load = ["-n", "20", "-c", "2"];

    let run = home.json(&[&[https(&good).as_str(), "--cacert", cacert][..], &load].concat());
    assert_eq!((number(&run, "outcomes.ok"), &run["stamps"]), (20, &Value::Array(Vec::new())));
    assert!(run["tls"].as_str().expect("a version").starts_with("TLSv1.3 "), "{}", run["tls"]);
    assert!(run["tls_time_us"]["max"].is_number());

    let run = home.json(&[&[https(&good).as_str(), "-k"][..], &load].concat());
    assert_eq!(number(&run, "outcomes.ok"), 20);
    assert_eq!(run["stamps"][0], "TLS certificates were not verified (--insecure)");

    let expired = authority.sign(&["127.0.0.1"], tls::expired);
    let early = authority.sign(&["127.0.0.1"], tls::not_yet_valid);
    let elsewhere = authority.sign(&["other.test"], |_| ());
    for (class, identity) in [
        ("tls_expired", expired),
        ("tls_not_yet_valid", early),
        ("tls_wrong_host", elsewhere),
        ("tls_unknown_issuer", tls::self_signed(|_| ())),
    ] {
        let server = tls::TlsServer::answering(&identity, reply.clone());
        let output = home.run(&[https(&server).as_str(), "--cacert", cacert, "-n", "1", "-c", "1"]);
        assert_eq!((output.code, output.stdout.as_str()), (Some(1), ""), "{class}: {output:?}");
        assert!(output.stderr.contains(class) && output.stderr.contains("--insecure"), "{class}: {output:?}");
        let run = home.json(&[&[https(&server).as_str(), "-k"][..], &load].concat());
        assert_eq!(number(&run, "outcomes.ok"), 20, "{class}");
    }
}

#[test]
fn reports_http_server_on_https_url_and_the_reverse() {
    let (home, target) = (Home::new(), built_in());
    let output = home.run(&[&format!("https://{}/status", target.address()), "-k", "-n", "1"]);
    assert_eq!(output.code, Some(1), "{output:?}");
    assert!(output.stderr.contains("check that the port expects TLS"), "{output:?}");
    let authority = tls::Authority::new("an authority of the test");
    let server = tls::TlsServer::answering(&authority.sign_localhost(), Vec::new());
    let run = home.json(&[url(server.address(), "/").as_str(), "-n", "2", "-c", "1", "--timeout", "1s"]);
    assert_eq!((number(&run, "outcomes.ok"), number(&run, "outcomes.failed")), (0, 2), "{}", run["errors"]);
}
