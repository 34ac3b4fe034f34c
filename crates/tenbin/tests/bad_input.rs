//! Wrong input is rejected before anything is sent. The error says what is wrong, where, and what to do.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::process::Command;
use std::thread;

use crate::support::{self, Home, Output, Started, TENBIN, answering, built_in, url};
use target::scripted::{Scripted, blackhole, closed_port};

/// A server that must get no connection.
fn untouched() -> Scripted {
    answering("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
}

/// Asserts that nothing was printed to stdout, sent, or stored, and compares the errors. `{server}` is replaced by the server's address.
#[track_caller]
fn assert_refused(arguments: &[&str], code: i32, expected: &str) {
    let (home, server) = (Home::new(), untouched());
    let address = server.address().to_string();
    let arguments: Vec<String> =
        arguments.iter().map(|argument| argument.replace("{server}", &address)).collect();
    let output = home.run(&arguments);
    assert_eq!(output.stderr.replace(&address, "{server}"), expected, "{arguments:?}");
    assert_nothing_sent_or_stored(&output, code, &server, &home);
}

#[track_caller]
fn assert_nothing_sent_or_stored(output: &Output, code: i32, server: &Scripted, home: &Home) {
    assert_eq!((output.code, output.stdout.as_str()), (Some(code), ""), "{output:?}");
    assert_eq!(server.requests(), 0);
    assert_eq!(home.history(), Vec::<serde_json::Value>::new());
}

const URL: &str = "http://{server}/";
const SECURE: &str = "https://{server}/";

#[test]
fn rejects_wrong_urls() {
    let way_out = "  help: write http://HOST[:PORT]/PATH or https://…; `tenbin --help` lists the commands\n1 error; nothing was sent\n";
    for (text, what) in [
        (
            "gopher://127.0.0.1/",
            "unknown URL scheme; known are http, https, tcp, redis, rediss, redis+sentinel, rediss+sentinel, mongodb, memcached, couchbase, memcached+binary, postgres, postgresql, mysql, mariadb, sqlite",
        ),
        (
            "file:///etc/passwd",
            "unknown URL scheme; known are http, https, tcp, redis, rediss, redis+sentinel, rediss+sentinel, mongodb, memcached, couchbase, memcached+binary, postgres, postgresql, mysql, mariadb, sqlite",
        ),
        ("xyzzy", "this is neither a command nor a URL"),
        ("", "this is neither a command nor a URL"),
        ("http:///", "this is not a URL: empty host"),
        ("http://127.0.0.1:99999/", "this is not a URL: invalid port number"),
        ("http://127.0.0.1:0/", "port 0 cannot be connected to"),
        ("http://[::1/", "this is not a URL: invalid IPv6 address"),
    ] {
        assert_refused(&[text], 2, &format!("error: {text:?}: {what}\n{way_out}"));
    }
}

#[test]
fn rejects_addresses_that_may_not_be_loaded() {
    let only = "Tenbin loads loopback and private addresses only\n  help: run it on the target's own network";
    for (host, class) in [
        ("8.8.8.8", "a public address"),
        ("[2001:4860::8888]", "a public address"),
        ("169.254.169.254", "a link-local address (often a cloud's metadata service)"),
        ("0.0.0.0", "no address of a server"),
        ("224.0.0.1", "a multicast address"),
        ("134744072", "a public address"),
    ] {
        let consent =
            if class == "a public address" { ", or add --allow-public if the server is yours" } else { "" };
        let shown = if host == "134744072" { "8.8.8.8" } else { host.trim_matches(['[', ']']) };
        assert_refused(
            &[&format!("http://{host}/")],
            2,
            &format!("error: {shown} is {class}, and {only}{consent}\n"),
        );
    }
}

#[test]
fn reports_unreachable_hosts_ports_and_sockets() {
    let home = Home::new();
    let output = home.run(&["http://no-such-host.invalid/"]);
    assert_eq!(output.code, Some(1), "{output:?}");
    let expected = "error: cannot resolve no-such-host.invalid: ";
    assert!(output.stderr.starts_with(expected), "{output:?}");
    assert!(output.stderr.ends_with("\n  help: check the spelling, or write an IP address\n"), "{output:?}");

    let port = closed_port().expect("a port");
    let address = port.address();
    assert_refused(
        &[&format!("http://{address}/")],
        1,
        &format!(
            "error: cannot connect to {address}: connection refused\n  help: \
             start the server, or correct the port\n"
        ),
    );
    let hole = blackhole().expect("a full queue");
    let address = hole.address();
    assert_refused(
        &[&format!("http://{address}/"), "--connect-timeout", "200ms"],
        1,
        &format!(
            "error: cannot connect to {address}: no answer within 200ms\n  help: \
             correct the address, or check firewalls on the way\n"
        ),
    );
    let socket = home.path().join("none");
    let shown = socket.display();
    assert_refused(
        &[URL, "--unix-socket", &shown.to_string()],
        1,
        &format!(
            "error: cannot connect to unix:{shown}: there is no such socket\n  help: start the server, or correct the path\n"
        ),
    );
}

#[test]
fn rejects_wrong_numbers_and_units() {
    for (arguments, place, what, way_out) in [
        (["-d", "0s"], "-d", "the duration must be greater than 0", "write a duration such as 10s"),
        (["-d", "1e9s"], "-d", "\"1e9s\" is not a duration", "write a value such as 10s, 200ms, 5m"),
        (["-d", "999999h"], "-d", "999999h is more than the limit of a year", "correct the value"),
        (["-c", "0"], "-c", "0 is not between 1 and 1000000", "write a number from 1 to 1000000"),
        (["-c-5", "-n5"], "-c", "\"-5\" is not a whole number", "write a value such as 100, 10k, 2M"),
        (
            ["-n", "0"],
            "-n",
            "0 is not between 1 and 281474976710655",
            "write a number from 1 to 281474976710655",
        ),
        (["-n", "NaN"], "-n", "\"NaN\" is not a whole number", "write a value such as 100, 10k, 2M"),
        (["-R", "0"], "-R", "the rate must be greater than 0", "write a rate such as 500/s"),
        (["-R", "10x"], "-R", "\"10x\" is not a rate", "write a value such as 500/s, 10k/s, 90/min"),
        (["-R", "1e308"], "-R", "\"1e308\" is not a rate", "write a value such as 500/s, 10k/s, 90/min"),
        (
            ["--timeout", "0s"],
            "--timeout",
            "the duration must be greater than 0",
            "write a duration such as 10s",
        ),
        (
            ["--warm-up", "soon"],
            "--warm-up",
            "\"soon\" is not a duration",
            "write a value such as 10s, 200ms, 5m",
        ),
        (["--threads", "0"], "--threads", "0 is not between 1 and 1024", "write a number from 1 to 1024"),
        (["--seed", "x"], "--seed", "\"x\" is not a whole number below 2^64", "write --seed 42"),
        (["--pin=abc", "-c5"], "--pin", "\"abc\" is not a list of cores", "write --pin auto or --pin 1,2"),
        (
            ["--think", "soon"],
            "--think",
            "\"soon\" is not a duration",
            "write 100ms, 50ms..150ms (uniform), exp:100ms (exponential), or 18s+exp:12s (both)",
        ),
        (
            ["--think", "2s..1s"],
            "--think",
            "\"2s..1s\" has its end before its start",
            "write 100ms, 50ms..150ms (uniform), exp:100ms (exponential), or 18s+exp:12s (both)",
        ),
        (
            ["--stages", "10s"],
            "--stages",
            "\"10s\" has no colon",
            "write TIME:RATE,TIME:RATE such as 10s:100/s,30s:500/s",
        ),
        (["--stages", "0s:100/s"], "--stages", "the stages have no duration", "write 10s:100/s,30s:500/s"),
        (
            ["--expect-status", "2xx,999"],
            "--expect-status",
            "\"2xx,999\" is not a list of statuses between 100 and 599",
            "write statuses such as 200,201, 2xx, or 200-299",
        ),
        (
            ["--expect-size", "2KiB..1KiB"],
            "--expect-size",
            "\"2KiB..1KiB\" has its end before its start",
            "write 1KiB..2KiB",
        ),
        (["-H", "no colon"], "-H", "\"no …\" has no colon", "write -H 'Name: value'"),
        (
            ["--expect-body-regex", "("],
            "--expect-body-regex",
            "\"(\": error: unclosed group",
            "use the syntax of Rust's regex crate, which has no look-around and no back-references",
        ),
        (
            ["-m", "G ET"],
            "request",
            "the method \"G ET\" is not a word such as GET or POST",
            "see the example: -X POST -H 'Name: value' -b 'body'",
        ),
        (
            ["-H", "X: a\r\nEvil: b"],
            "request",
            "the value of header X has a line break or a NUL byte",
            "see the example: -X POST -H 'Name: value' -b 'body'",
        ),
        (
            ["-H", "Content-Length: 5"],
            "request",
            "the header Content-Length follows from the body and cannot be given",
            "see the example: -X POST -H 'Name: value' -b 'body'",
        ),
        (
            ["--body-file", "/no/such/file"],
            "--body-file",
            "/no/such/file: No such file or directory (os error 2)",
            "name a readable file of at most 64 MiB",
        ),
        (
            ["--body-file", "/dev/zero"],
            "--body-file",
            "/dev/zero is not a regular file",
            "name a readable file of at most 64 MiB",
        ),
        (
            ["--json", "@/no/such/file"],
            "--json",
            "/no/such/file: No such file or directory (os error 2)",
            "name a readable file of at most 64 MiB",
        ),
        (
            ["-b", "@/no/such/file"],
            "--body",
            "/no/such/file: No such file or directory (os error 2)",
            "name a readable file of at most 64 MiB",
        ),
    ] {
        let expected = format!("error: {place}: {what}\n  help: {way_out}\n1 error; nothing was sent\n");
        assert_refused(&[&[URL][..], &arguments].concat(), 2, &expected);
    }
}

#[test]
fn https_url_of_an_ssh_port_is_advised_to_correct_the_port_only() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address");
    let server = thread::spawn(move || {
        let (mut stream, _) = listener.accept().expect("a client");
        stream.write_all(b"SSH-2.0-OpenSSH_9.2p1\r\n").expect("a banner");
        // Closing the socket with unread bytes would reset the connection before the client reads the banner.
        let _ = stream.read_to_end(&mut Vec::new());
    });
    let output = Home::new().run(&[&format!("https://{address}/"), "-n", "1"]);
    server.join().expect("a banner was sent");
    assert_eq!(output.code, Some(1), "{output:?}");
    assert!(output.stderr.contains("an SSH server answered: correct the port"), "{output:?}");
    assert!(!output.stderr.contains("plain HTTP") && !output.stderr.contains("expects TLS"), "{output:?}");
}

#[test]
fn counted_load_without_an_ok_answer_is_degraded() {
    let server = answering("SSH-2.0-OpenSSH_9.2p1\r\n");
    let output = Home::new().run(&[&url(server.address(), "/"), "-n", "5", "-c", "1"]);
    assert_eq!(output.code, Some(6), "{output:?}");
    assert!(output.stdout.contains("none of 5 requests ended ok"), "{output:?}");
    assert!(output.stdout.contains("an SSH server answered: correct the port"), "{output:?}");
}

#[test]
fn plain_http_on_the_port_of_an_https_url_is_named() {
    let (home, server) = (Home::new(), built_in());
    let output = home.run(&[&format!("https://{}/", server.address()), "-n", "1"]);
    let expected = "(tls_protocol): the server speaks plain HTTP\n  help: check that the port expects TLS; for plain HTTP, write http://";
    assert!(output.stderr.contains(expected), "{output:?}");
}

#[test]
fn rejects_contradictory_flags() {
    let waits = "it requires a load with -c, and -R or --stages sends without waiting for replies";
    let no_rate = "it requires a load with a rate";
    let one_of_two = "remove one of the two";
    let add_rate = "add -R (or --stages), or remove it";
    let only_one = "use one of them";
    let cases: &[(&[&str], &str, &str, &str)] = &[
        (&[URL, "-R", "5", "--think", "1s"], "--think", waits, one_of_two),
        (&[URL, "-R", "5", "--pacing", "1s"], "--pacing", waits, one_of_two),
        (&[URL, "-R", "5", "--ramp-up", "1s"], "--ramp-up", waits, one_of_two),
        (&[URL, "-R", "5", "--throughput", "1"], "--throughput", waits, one_of_two),
        (&[URL, "--stages", "1s:5", "--think", "1s"], "--think", waits, one_of_two),
        (&[URL, "--shed-after", "1s"], "--shed-after", no_rate, add_rate),
        (&[URL, "--arrivals", "poisson"], "--arrivals", no_rate, add_rate),
        (&[URL, "--ramp-from", "5"], "--ramp-from", no_rate, add_rate),
        (&[URL, "-R", "5", "--stages", "1s:5"], "-R and --stages", "both set the rate", only_one),
        (
            &[URL, "-d", "5s", "--stages", "1s:5"],
            "-d and --stages",
            "the stages set the duration",
            "remove -d",
        ),
        (
            &[URL, "-R", "5", "--ramp-from", "1", "-n", "5"],
            "--ramp-from",
            "a ramp requires a duration",
            "add -d 30s",
        ),
        (
            &[URL, "--ramp-up", "10s", "-d", "5s"],
            "--ramp-up",
            "the load ends before the ramp-up does",
            "shorten --ramp-up, or lengthen -d",
        ),
        (
            &[URL, "-R", "5", "--shed-after", "10us"],
            "--shed-after",
            "the generator itself may delay a request that long",
            "write 1ms or more",
        ),
        (
            &[URL, "--stages", "1s:0,1s:0"],
            "--stages",
            "the rate is 0 in all stages",
            "give a stage a rate, such as 10s:100/s",
        ),
        (
            &[URL, "--stages", "1s:5", "--warm-up", "1s"],
            "--warm-up",
            "the warm-up would run at a rate of 0",
            "start at a rate, such as --ramp-from 10/s or --stages 0s:10/s,…",
        ),
        (
            &[URL, "-m", "HEAD", "--expect-body", "x"],
            "--expect-body",
            "a reply to HEAD has no body",
            "remove it, or use another method",
        ),
        (
            &["http://user:pass@{server}/", "-H", "authorization: Bearer x"],
            "-H Authorization",
            "both the URL and a header contain credentials",
            "remove the user and the password from the URL",
        ),
        (
            &[URL, "--timeout", "1s", "--connect-timeout", "2s"],
            "--connect-timeout",
            "it is longer than the timeout of the whole request (1s)",
            "shorten it, or lengthen --timeout",
        ),
        (
            &[URL, "-c", "2", "--threads", "3"],
            "--threads",
            "3 threads cannot share 2 connections",
            "use at most 2 threads",
        ),
        (&[URL, "-b", "x", "--body-file", "y"], "--body and --body-file", "both set the body", only_one),
        (
            &[SECURE, "-k", "--cacert", "y"],
            "--cacert and --insecure",
            "one verifies certificates and the other does not",
            only_one,
        ),
        (&[URL, "-k"], "--insecure", "the URL is http: there is no TLS", "remove it, or write https://"),
        (
            &[URL, "--cacert", "y"],
            "--cacert",
            "the URL is http: there is no TLS",
            "remove it, or write https://",
        ),
    ];
    for (arguments, place, what, way_out) in cases {
        let expected = format!("error: {place}: {what}\n  help: {way_out}\n1 error; nothing was sent\n");
        assert_refused(arguments, 2, &expected);
    }
}

#[test]
fn reports_all_errors_at_once() {
    let expected = "\
error: --body and --body-file: both set the body
  help: use one of them
error: -H: \"no …\" has no colon
  help: write -H 'Name: value'
error: --expect-status: \"999\" is not a list of statuses between 100 and 599
  help: write statuses such as 200,201, 2xx, or 200-299
error: -c: 0 is not between 1 and 1000000
  help: write a number from 1 to 1000000
error: -d: \"ten\" is not a duration
  help: write a value such as 10s, 200ms, 5m
error: --think: it requires a load with -c, and -R or --stages sends without waiting for replies
  help: remove one of the two
error: --seed: \"abc\" is not a whole number below 2^64
  help: write --seed 42
error: --arrivals: unknown arrivals \"often\"
  help: write even or poisson
error: -R: \"10x\" is not a rate
  help: write a value such as 500/s, 10k/s, 90/min
error: --timeout: the duration must be greater than 0
  help: write a duration such as 10s
10 errors; nothing was sent
";
    let arguments = "-d ten -c 0 -R 10x --timeout 0s --think 1s --expect-status 999 --body-file /no --body x --seed abc --arrivals often";
    let mut arguments: Vec<&str> = arguments.split(' ').collect();
    arguments.extend([URL, "-H", "no colon"]);
    assert_refused(&arguments, 2, expected);
}

#[test]
fn rejects_unknown_flags() {
    for arguments in [
        &[URL, "--frobnicate"][..],
        &[URL, "--thread", "5"],
        &[URL, "--format"],
        &["check", "plan.yaml", "another"],
        &["history", "--frobnicate"],
    ] {
        let (home, server) = (Home::new(), untouched());
        let arguments: Vec<String> =
            arguments.iter().map(|text| text.replace("{server}", &server.address().to_string())).collect();
        let output = home.run(&arguments);
        assert!(output.stderr.contains("For more information, try '--help'."), "{output:?}");
        assert_nothing_sent_or_stored(&output, 2, &server, &home);
    }
    let known: Vec<&str> = report::FORMATS.iter().map(|format| format.name).collect();
    let said = format!("error: --format \"xml\" is not known\n  help: write one of {}\n", known.join(", "));
    assert_refused(&[URL, "--format", "xml"], 2, &said);
}

#[test]
fn rejects_unreadable_certificate_authorities() {
    let place = |file: &str| format!("error: {file} has no PEM certificate that can be used (");
    let home = Home::new();
    let empty = home.path().join("empty.pem");
    std::fs::write(&empty, "nothing here").expect("written");
    for file in ["/no/such/file", empty.to_str().expect("a plain path")] {
        let server = untouched();
        let output = home.run(&[&format!("https://{}/", server.address()), "--cacert", file]);
        assert!(output.stderr.starts_with(&place(file)), "{output:?}");
        assert!(output.stderr.ends_with("\n  help: give a file of CERTIFICATE blocks\n"), "{output:?}");
        assert_nothing_sent_or_stored(&output, 2, &server, &home);
    }
}

#[test]
fn rejects_missing_core() {
    let (home, server) = (Home::new(), untouched());
    let output = home.run(&[&url(server.address(), "/"), "--pin=1000"]);
    let expected = "error: --pin: core 1000 is not one that this process may use\n";
    assert!(output.stderr.starts_with(expected), "{output:?}");
    assert_nothing_sent_or_stored(&output, 2, &server, &home);
}

#[test]
fn reports_too_low_hard_limit_of_descriptors() {
    let (home, server) = (Home::new(), untouched());
    let mut command = Command::new("prlimit");
    command.args(["--nofile=64:64", TENBIN, &url(server.address(), "/"), "-c", "50", "--threads", "2"]);
    command.arg("--store").arg(home.store());
    home.isolate(&mut command);
    let output = Started::spawn(command).finish();
    assert_eq!(
        output.stderr,
        "error: this machine is too small for the load: need 84 file descriptors, have 64\n  help: \
         raise the hard limit (ulimit -Hn 84) or use fewer connections (-c)\n"
    );
    assert_nothing_sent_or_stored(&output, 1, &server, &home);
}

#[test]
fn raises_soft_limit_of_descriptors() {
    let (home, server) = (Home::new(), untouched());
    let mut command = Command::new("prlimit");
    command.args(["--nofile=64:1024", TENBIN, &url(server.address(), "/"), "-c", "100", "-n", "200"]);
    command.args(["--format", "json"]).arg("--store").arg(home.store());
    home.isolate(&mut command);
    let output = Started::spawn(command).finish();
    assert_eq!(support::number(&output.json(), "outcomes.ok"), 200);
}

#[test]
fn reports_too_few_local_ports() {
    // A separate network namespace, in which the range of local ports can be narrowed.
    let (home, inner) = (
        Home::new(),
        r#"
        ip link set lo up && echo "40000 40049" > /proc/sys/net/ipv4/ip_local_port_range || exit 77
        exec "$0" http://127.0.0.1:80/ -c 51 --threads 1 --store runs.sqlite
    "#,
    );
    let mut command = Command::new("unshare");
    command.args(["--map-root-user", "--net", "sh", "-c", inner, TENBIN]);
    home.isolate(&mut command);
    let output = Started::spawn(command).finish();
    assert!(
        output.code != Some(77) && !output.stderr.contains("unshare"),
        "this test needs a network of its own: run it as root, or allow user namespaces, and \
         `apt-get install util-linux iproute2`: {output:?}"
    );
    assert_eq!(
        output.stderr,
        "error: this machine is too small for the load: need 51 local ports to the target, \
         have 50\n  help: widen net.ipv4.ip_local_port_range, use a Unix socket (--unix-socket), or use fewer connections (-c)\n"
    );
    assert_eq!((output.code, output.stdout.as_str()), (Some(1), ""));
}

#[test]
fn commands_reject_unknown_runs() {
    let home = Home::new();
    let shown = home.store().display().to_string();
    let missing = format!(
        "error: there is no store at {shown}\n  help: a first run creates it; or name another with --store\n"
    );
    for arguments in [&["report"][..], &["report", "last", "--format", "json"]] {
        let output = home.run(arguments);
        assert_eq!((output.code, output.stderr), (Some(2), missing.clone()), "{arguments:?}");
    }
    let none = home.run(&["history"]);
    let said = format!("no runs in {shown} yet; tenbin URL makes one\n");
    assert_eq!((none.code, none.stdout, none.stderr), (Some(0), said, String::new()));
    assert_eq!(home.json(&["history"]), serde_json::json!([]));
    assert!(!home.store().exists(), "looking makes no file");
    home.json(&[&url(untouched().address(), "/"), "-n", "1", "-c", "1"]);
    let output = home.run(&["report", "nope"]);
    let unknown =
        format!("error: no run in {shown} is called \"nope\"\n  help: `tenbin history` lists them\n");
    assert_eq!((output.code, output.stderr), (Some(2), unknown));
}
