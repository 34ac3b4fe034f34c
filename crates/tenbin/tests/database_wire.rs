//! Databases that answer wrongly, too much, or not at all: errors have the right class, and no transaction is lost or hangs.

use std::io;
use std::time::Duration;

use crate::support::{self, Home, Output};
use serde_json::Value;
use servers::FakePostgres;
use servers::fake_postgres::{
    Peer, authentication, complete, description, error_or_notice, message, one_row, ready, row,
};

/// Max time until a rejected connection is reported. Nothing is retried.
const AT_ONCE: Duration = Duration::from_secs(10);

fn server(behave: impl Fn(&mut Peer) -> io::Result<()> + Send + Sync + 'static) -> FakePostgres {
    FakePostgres::start(behave).expect("a port")
}

/// A server that lets every client in and answers each request by its number on the connection, from 0.
fn answering(answer: impl Fn(u32) -> Vec<u8> + Send + Sync + 'static) -> FakePostgres {
    server(move |peer| {
        peer.accept_login()?;
        for number in 0.. {
            peer.read_request()?;
            peer.say(&answer(number))?;
        }
        Ok(())
    })
}

fn script(home: &Home, text: &str) -> String {
    let path = home.path().join("script.sql");
    std::fs::write(&path, text).expect("written");
    path.display().to_string()
}

fn load(server: &FakePostgres, text: &str, more: &[&str]) -> (Output, Option<Value>) {
    let home = Home::new();
    let (url, script) = (server.url(), script(&home, text));
    let mut arguments = vec![url.as_str(), "-f", &script, "--format", "json", "--seed", "1"];
    arguments.extend(more);
    let output = home.run(&arguments);
    assert!(!format!("{output:?}").contains("sesame"), "the password is shown: {output:?}");
    let json = serde_json::from_str(&output.stdout).ok();
    (output, json)
}

/// Outcomes of a run, after the accounting identity was checked.
#[track_caller]
fn counted(json: &Value) -> [u64; 5] {
    let count = |pointer: &str| json.pointer(pointer).and_then(Value::as_u64).expect(pointer);
    let outcomes = ["ok", "rejected", "failed", "timed_out", "unfinished"]
        .map(|name| count(&format!("/outcomes/{name}")));
    assert_eq!(count("/offered/planned"), count("/offered/sent") + count("/offered/not_sent"), "{json}");
    assert_eq!(count("/offered/sent"), outcomes.iter().sum::<u64>(), "{json}");
    outcomes
}

fn classes(json: &Value) -> Vec<String> {
    let errors = json["errors"].as_array().expect("errors");
    errors.iter().map(|error| error["class"].as_str().expect("a class").to_owned()).collect()
}

/// Answer to all other requests, including requests before the load.
fn fine() -> Vec<u8> {
    [one_row("1"), ready(b'I')].concat()
}

#[test]
fn error_anywhere_in_an_answer_is_a_rejection_and_the_next_request_works() {
    let error = || error_or_notice(b'E', "ERROR", "22012", "division by zero");
    for (place, wrong) in [
        ("alone", [error(), ready(b'I')].concat()),
        ("after the description", [description(1), error(), ready(b'I')].concat()),
        ("after a row", [description(1), row(&["1"]), error(), ready(b'I')].concat()),
        ("after a notice", [error_or_notice(b'N', "NOTICE", "00000", "x"), error(), ready(b'I')].concat()),
    ] {
        let server = answering(move |number| if number % 2 == 0 { fine() } else { wrong.clone() });
        let (output, json) = load(&server, "SELECT 1;\n", &["-c", "2", "-n", "40"]);
        let json = json.unwrap_or_else(|| panic!("{place}: {output:?}"));
        let [ok, refused, failed, ..] = counted(&json);
        assert_eq!((ok + refused, failed), (40, 0), "{place}: {json}");
        assert!(refused >= 18, "{place}: {json}");
        assert_eq!(classes(&json), ["sql_error"], "{place}");
        assert!(json.to_string().contains("22012: division by zero"), "{place}: {json}");
    }
}

#[test]
fn failed_transaction_is_rolled_back_and_counted_once() {
    let server = server(|peer| {
        peer.accept_login()?;
        let mut is_open = false;
        loop {
            let (_, text) = peer.read_request()?;
            let text = String::from_utf8_lossy(&text).to_uppercase();
            let answer = if text.starts_with("BEGIN") {
                is_open = true;
                [complete("BEGIN"), ready(b'T')].concat()
            } else if text.starts_with("ROLLBACK") {
                is_open = false;
                [complete("ROLLBACK"), ready(b'I')].concat()
            } else if text.starts_with("UPDATE") {
                [error_or_notice(b'E', "ERROR", "40001", "could not serialize access"), ready(b'E')].concat()
            } else {
                [one_row("1"), ready(if is_open { b'T' } else { b'I' })].concat()
            };
            peer.say(&answer)?;
        }
    });
    let text = "BEGIN;\nUPDATE t SET a = 1;\nCOMMIT;\n";
    let (output, json) = load(&server, text, &["-c", "1", "-n", "10"]);
    let json = json.unwrap_or_else(|| panic!("{output:?}"));
    assert_eq!(counted(&json), [0, 10, 0, 0, 0], "{json}");
    assert_eq!(classes(&json), ["serialization_failure"]);
    let (output, json) = load(&server, text, &["-c", "1", "-n", "10", "--max-tries", "3"]);
    let json = json.unwrap_or_else(|| panic!("{output:?}"));
    assert_eq!(counted(&json), [0, 10, 0, 0, 0], "{json}");
    assert_eq!(json["tries"]["retries"], 20, "{json}");
}

#[test]
fn floods_of_notices_use_no_memory_and_lose_nothing() {
    let flood: Vec<u8> = error_or_notice(b'N', "NOTICE", "00000", &"x".repeat(200)).repeat(1_000);
    let server = answering(move |number| {
        if number == 3 { [flood.repeat(100), fine()].concat() } else { [flood.clone(), fine()].concat() }
    });
    let (output, json) = load(&server, "SELECT 1;\n", &["-c", "1", "-n", "20"]);
    let json = json.unwrap_or_else(|| panic!("{output:?}"));
    assert_eq!(counted(&json), [20, 0, 0, 0, 0], "{json}");
    let rss_bytes = json["generator"]["rss_peak_bytes"].as_u64().expect("memory");
    assert!(rss_bytes < 100 << 20, "{rss_bytes} bytes");
}

#[test]
fn impossible_log_in_ends_the_load_at_once_without_a_retry() {
    let sasl = |mechanisms: &str| authentication(10, mechanisms.replace(' ', "\0").as_bytes());
    let challenge = |peer: &mut Peer, salt: &str, iterations: &str| -> io::Result<()> {
        peer.start_up()?;
        peer.say(&authentication(10, b"SCRAM-SHA-256\0\0"))?;
        let (_, first) = peer.read_message()?;
        let first = String::from_utf8_lossy(&first).into_owned();
        let nonce = first.rsplit("r=").next().unwrap_or_default().to_owned();
        peer.say(&authentication(11, format!("r={nonce}server,s={salt},i={iterations}").as_bytes()))
    };
    type Behaviour = Box<dyn Fn(&mut Peer) -> io::Result<()> + Send + Sync>;
    let refusing = move |bytes: Vec<u8>| -> Behaviour {
        Box::new(move |peer: &mut Peer| {
            peer.start_up()?;
            peer.say(&bytes)?;
            let _ = peer.read_message();
            Ok(())
        })
    };
    let cases: Vec<(&str, Behaviour, &str)> = vec![
        (
            "wrong password",
            refusing(error_or_notice(
                b'E',
                "FATAL",
                "28P01",
                "password authentication failed for user \"tester\"",
            )),
            "28P01",
        ),
        ("unknown mechanism", refusing(sasl("SCRAM-SHA-3-4096  ")), "SCRAM-SHA-256"),
        ("password in the clear", refusing(authentication(3, b"")), "clear"),
        ("md5", refusing(authentication(5, b"salt")), "MD5"),
        (
            "as many iterations as fit",
            Box::new(move |peer| {
                challenge(peer, "QSXCR+Q6sek8bf92", "2147483648")?;
                let _ = peer.read_message();
                Ok(())
            }),
            "rounds",
        ),
        (
            "a server that does not know the password itself",
            Box::new(move |peer| {
                challenge(peer, "QSXCR+Q6sek8bf92", "4096")?;
                peer.read_message()?;
                peer.say(&authentication(12, b"v=AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="))?;
                peer.say(&[authentication(0, b""), ready(b'I')].concat())?;
                let _ = peer.read_message();
                Ok(())
            }),
            "does not know the password",
        ),
    ];
    for (name, behave, word) in cases {
        let server = server(behave);
        let (output, json) = load(&server, "SELECT 1;\n", &["-c", "8", "-d", "5s"]);
        assert_eq!((output.code, json), (Some(1), None), "{name}: {output:?}");
        assert!(output.stderr.contains(word), "{name}: {}", output.stderr);
        assert!(output.took < AT_ONCE, "{name}: {:?}", output.took);
        assert!(server.accepted() <= 2, "{name}: {} connections", server.accepted());
    }
}

#[test]
fn inconsistent_answers_end_the_connection_as_failures() {
    let with_length = |tag: u8, length: u32| [&[tag], &length.to_be_bytes()[..], b"abcdefgh"].concat();
    let bad_row = |fields: u16| message(b'D', &fields.to_be_bytes());
    for (name, wrong) in [
        ("length 0", with_length(b'C', 0)),
        ("length 3", with_length(b'C', 3)),
        ("length -1", with_length(b'T', u32::MAX)),
        ("length 2^31", with_length(b'E', 1 << 31)),
        ("unknown tag", message(b'?', b"")),
        ("more fields than there are", [description(1), bad_row(9)].concat()),
        (
            "a field that is longer than its row",
            [description(1), message(b'D', &[0, 1, 0, 0, 0, 99, 1])].concat(),
        ),
        ("a status that is none", [complete("SELECT 0"), message(b'Z', b"Q")].concat()),
        ("a second log-in", [authentication(0, b""), ready(b'I')].concat()),
    ] {
        let server = answering(move |number| if number % 8 == 7 { wrong.clone() } else { fine() });
        let (output, json) =
            load(&server, "SELECT 1 AS one \\gset\n", &["-c", "2", "-n", "60", "--timeout", "3s"]);
        let json = json.unwrap_or_else(|| panic!("{name}: {output:?}"));
        let [ok, refused, failed, timed_out, unfinished] = counted(&json);
        assert_eq!((ok + failed, refused, timed_out, unfinished), (60, 0, 0, 0), "{name}: {json}");
        assert!((5..=20).contains(&failed), "{name}: {json}");
        let classes = classes(&json);
        assert!(
            classes.iter().all(|class| class == "protocol_error" || class == "excess_bytes"),
            "{name}: {classes:?}"
        );
    }
}

#[test]
fn outcome_after_a_lost_connection_is_unknown_only_if_a_write_may_be_committed() {
    // The first connections are closed before the last request is answered. Later connections are served.
    for (name, text, expected) in [
        ("a read", "SELECT 1;\n", "closed_before_reply"),
        ("a write of its own", "INSERT INTO t VALUES (1);\n", "commit_unknown"),
        ("a commit", "BEGIN;\nINSERT INTO t VALUES (1);\nCOMMIT;\n", "commit_unknown"),
    ] {
        let server = server(move |peer| {
            peer.accept_login()?;
            let mut is_open = false;
            for asked in 0.. {
                let (_, text) = peer.read_request()?;
                let text = String::from_utf8_lossy(&text).to_uppercase();
                let is_last = text.starts_with("COMMIT") || (!is_open && !text.starts_with("BEGIN"));
                is_open = (is_open || text.starts_with("BEGIN")) && !text.starts_with("COMMIT");
                if is_last && asked >= 6 {
                    return Ok(());
                }
                peer.say(&[one_row("1"), ready(if is_open { b'T' } else { b'I' })].concat())?;
            }
            Ok(())
        });
        let (output, json) = load(&server, text, &["-c", "1", "-n", "30"]);
        let json = json.unwrap_or_else(|| panic!("{name}: {output:?}"));
        let [ok, refused, failed, ..] = counted(&json);
        assert_eq!((ok + failed, refused), (30, 0), "{name}: {json}");
        assert!(failed > 0, "{name}: {json}");
        let classes = classes(&json);
        assert!(classes.iter().any(|class| class == expected), "{name}: {classes:?}");
        if expected != "commit_unknown" {
            assert!(!classes.iter().any(|class| class == "commit_unknown"), "{name}: {classes:?}");
        }
    }
}

/// A server that answers BEGIN, and then calls `then`.
fn after_begin(then: impl Fn(&mut Peer) -> io::Result<()> + Send + Sync + 'static) -> FakePostgres {
    server(move |peer| {
        peer.accept_login()?;
        loop {
            let (_, text) = peer.read_request()?;
            if text.starts_with(b"BEGIN") {
                peer.say(&[complete("BEGIN"), ready(b'T')].concat())?;
                then(peer)?;
            } else {
                peer.say(&fine())?;
            }
        }
    })
}

#[test]
fn last_error_of_a_server_during_a_pause_is_reported() {
    let text = "BEGIN;\n\\sleep 400 ms\nCOMMIT;\n";
    let server = after_begin(|peer| {
        let words = "terminating connection due to idle-in-transaction timeout";
        peer.say(&error_or_notice(b'E', "FATAL", "25P03", words))?;
        Err(io::ErrorKind::BrokenPipe.into())
    });
    let (output, json) = load(&server, text, &["-c", "2", "-n", "6"]);
    let json = json.unwrap_or_else(|| panic!("{output:?}"));
    assert_eq!(counted(&json), [0, 6, 0, 0, 0], "{json}");
    assert_eq!(classes(&json), ["idle_timeout"], "{json}");
    assert!(json.to_string().contains("25P03: terminating connection due to idle-in-transaction"), "{json}");

    let server = after_begin(|_| Err(io::ErrorKind::BrokenPipe.into()));
    let (output, json) = load(&server, text, &["-c", "2", "-n", "6"]);
    let json = json.unwrap_or_else(|| panic!("{output:?}"));
    assert_eq!(
        (counted(&json), classes(&json)),
        ([0, 0, 6, 0, 0], vec!["closed_in_pause".to_owned()]),
        "{json}"
    );
    assert!(json.to_string().contains("within a pause of the request"), "{json}");
}

#[test]
fn commit_answered_with_rollback_is_not_ok() {
    let server = after_begin(|peer| {
        peer.read_request()?;
        peer.say(&[complete("ROLLBACK"), ready(b'I')].concat())
    });
    let (output, json) = load(&server, "BEGIN;\nCOMMIT;\n", &["-c", "2", "-n", "6"]);
    let json = json.unwrap_or_else(|| panic!("{output:?}"));
    assert_eq!(counted(&json), [0, 6, 0, 0, 0], "{json}");
    assert_eq!(classes(&json), ["rolled_back"], "{json}");
}

/// Starts a server with 100 connections that answers from process 9. At log-in it reports the process `told`: any other number indicates a
/// pooler.
fn with_room(told: u32) -> FakePostgres {
    server(move |peer| {
        peer.start_up()?;
        let key = message(b'K', &[told.to_be_bytes(), [1; 4]].concat());
        peer.say(&[authentication(0, b""), key, ready(b'I')].concat())?;
        loop {
            let (_, text) = peer.read_request()?;
            let is_about_room = String::from_utf8_lossy(&text).contains("max_connections");
            let values: &[&str] = if is_about_room { &["15.0", "100", "3", "9"] } else { &["1"] };
            let columns = description(values.len() as u16);
            peer.say(&[columns, row(values), complete("SELECT 1"), ready(b'I')].concat())?;
        }
    })
}

#[test]
fn limit_of_connections_does_not_apply_to_a_pooler() {
    let more = ["-c", "120", "-n", "240"];
    let (output, json) = load(&with_room(7), "SELECT 1;\n", &more);
    let json = json.unwrap_or_else(|| panic!("{output:?}"));
    assert_eq!(counted(&json), [240, 0, 0, 0, 0], "{json}");
    assert!(json.to_string().contains("PostgreSQL 15.0, through a pooler"), "{json}");

    let (output, json) = load(&with_room(9), "SELECT 1;\n", &more);
    assert_eq!((output.code, json), (Some(1), None), "{output:?}");
    assert!(output.stderr.contains("the server takes 100 connections, 3 of which are taken"), "{output:?}");
    assert!(output.stderr.contains("--no-room-check"), "{output:?}");
    let (output, json) = load(&with_room(9), "SELECT 1;\n", &[&more[..], &["--no-room-check"]].concat());
    let json = json.unwrap_or_else(|| panic!("{output:?}"));
    assert_eq!(counted(&json), [240, 0, 0, 0, 0], "{json}");

    let home = Home::new();
    for (key, code) in [("", 1), (", room-check: false", 0)] {
        let server = with_room(9);
        let url = server.url().replace(":sesame@", "@");
        let text = format!(
            "question: How fast?\nscenario: [ transaction: [ SELECT 1 ] ]\nurl: {url}\n\
             load: {{ users: 120, requests: 240{key} }}\n"
        );
        std::fs::write(home.path().join("plan.yaml"), text).expect("written");
        let mut command = std::process::Command::new(support::TENBIN);
        home.isolate(&mut command);
        command.args(["check", "plan.yaml", "--connect"]);
        let output = support::Started::spawn(command).finish();
        assert_eq!(output.code, Some(code), "{output:?}");
    }
}

#[test]
fn server_without_free_connections_is_a_rejection() {
    let server = server(|peer| {
        // The probe, the session that reads counters before the load, and one connection of the load are let in.
        if peer.number < 3 {
            peer.accept_login()?;
            loop {
                peer.read_request()?;
                peer.say(&fine())?;
            }
        }
        peer.start_up()?;
        let state = if peer.number % 2 == 0 { "53300" } else { "57P03" };
        peer.say(&error_or_notice(b'E', "FATAL", state, "not now"))
    });
    let (output, json) = load(&server, "SELECT 1;\n", &["-c", "3", "-d", "1s"]);
    let json = json.unwrap_or_else(|| panic!("{output:?}"));
    let [ok, refused, failed, ..] = counted(&json);
    assert!(ok > 0 && refused > 1 && failed == 0, "{json}");
    let mut classes = classes(&json);
    classes.sort_unstable();
    assert_eq!(classes, ["server_shutdown", "too_many_connections"], "{json}");
}

#[test]
fn missing_privilege_is_reported_with_the_grant_to_ask_for() {
    let server = answering(|_| {
        let words = "permission denied for table pgbench_branches";
        [error_or_notice(b'E', "ERROR", "42501", words), ready(b'I')].concat()
    });
    let output = Home::new().run(&[&server.url(), "--workload", "select-only", "-n", "1"]);
    assert_eq!(output.code, Some(1), "{output:?}");
    assert!(
        output.stderr.contains("permission denied for table pgbench_branches\n  help: grant tester"),
        "{output:?}"
    );
    assert!(!output.stderr.contains("create the tables"), "{output:?}");
}
