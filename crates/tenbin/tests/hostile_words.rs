//! Texts from servers are escaped on the terminal, regardless of their content and place.

use std::io::{self, Read as _, Write as _};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::process::Command;
use std::thread;
use std::time::Duration;

use crate::support::{Home, Output, Started, TENBIN};
use servers::FakePostgres;
use servers::fake_postgres::{Peer, authentication, error_or_notice, one_row, parameter, ready};

/// Clears the screen, rings the bell, returns the carriage, deletes a line, reverses the direction, and imitates an error of the
/// program.
const WORDS: &str = "no\x1b[2J\x07\r\u{9b}2K\u{202e}live\nerror: all is lost";
/// Escaped beginning of [`WORDS`].
const SEEN: &str = "no\\u{1b}[2J\\u{7}\\r\\u{9b}2K\\u{202e}live";

#[track_caller]
fn assert_harmless(name: &str, output: &Output, is_said: bool) {
    for text in [&output.stdout, &output.stderr] {
        let acts = |character: &char| {
            (character.is_control() && *character != '\n') || ('\u{202a}'..='\u{202e}').contains(character)
        };
        let found = text.chars().find(acts);
        assert_eq!(found, None, "{name}: {output:?}");
        assert!(!text.contains("\nerror: all"), "{name}: {output:?}");
    }
    let said = [&output.stdout[..], &output.stderr].concat();
    assert!(!is_said || said.contains(SEEN), "{name}: the words are lost: {output:?}");
}

fn server(behave: impl Fn(&mut Peer) -> io::Result<()> + Send + Sync + 'static) -> FakePostgres {
    FakePostgres::start(behave).expect("a port")
}

/// A server that rejects clients with [`WORDS`].
fn rejecting_server(sqlstate: &'static str) -> FakePostgres {
    server(move |peer| {
        peer.start_up()?;
        peer.say(&error_or_notice(b'E', "FATAL", sqlstate, WORDS))?;
        peer.read_message().map(drop)
    })
}

/// A server that accepts clients, has [`WORDS`] as its version, and rejects every statement with them.
fn accepting_server() -> FakePostgres {
    server(move |peer| {
        peer.start_up()?;
        peer.say(&[authentication(0, b""), parameter("server_version", WORDS), ready(b'I')].concat())?;
        loop {
            let (_, text) = peer.read_request()?;
            let is_about_server = String::from_utf8_lossy(&text).contains("max_connections");
            let refusal = || error_or_notice(b'E', "ERROR", "42P01", WORDS);
            let answer = if is_about_server { one_row(WORDS) } else { refusal() };
            peer.say(&[answer, ready(b'I')].concat())?;
        }
    })
}

/// A MySQL server that sends these packets in turn, and waits for an answer to each.
fn mysql(payloads: Vec<Vec<u8>>) -> (String, thread::JoinHandle<()>) {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port");
    let url = format!("mysql://tester:sesame@{}/db", listener.local_addr().expect("an address"));
    let serve = move |mut stream: TcpStream| -> io::Result<()> {
        stream.set_read_timeout(Some(Duration::from_secs(20)))?;
        for (number, payload) in payloads.iter().enumerate() {
            let [a, b, c, ..] = payload.len().to_le_bytes();
            stream.write_all(&[&[a, b, c, 2 * number as u8], payload.as_slice()].concat())?;
            let _ = stream.read(&mut [0; 512])?;
        }
        Ok(())
    };
    let serving = thread::spawn(move || {
        if let Ok((stream, _)) = listener.accept() {
            // The client may disconnect early: that is part of the test.
            let _ = serve(stream);
        }
    });
    (url, serving)
}

/// Greeting of MySQL 8 with this authentication plugin.
fn greeting(plugin: &str) -> Vec<u8> {
    let seed = b"12345678901234567890";
    let parts: [&[u8]; 7] = [
        b"\x0a8.0.36\0\x07\0\0\0",
        &seed[..8],
        b"\0\xff\xf7\x2d\x02\0\xff\x01\x15\0\0\0\0\0\0\0\0\0\0",
        &seed[8..],
        b"\0",
        plugin.as_bytes(),
        b"\0",
    ];
    parts.concat()
}

#[test]
fn escapes_text_of_a_log_in() {
    let home = Home::new();
    let load = |url: &str| home.run(&[url, "--workload", "select-only", "-n", "1"]);
    for sqlstate in ["28P01", "53300"] {
        assert_harmless(sqlstate, &load(&rejecting_server(sqlstate).url()), true);
    }
    let scram = server(|peer| {
        peer.start_up()?;
        peer.say(&authentication(10, b"SCRAM-SHA-256\0\0"))?;
        let (_, first) = peer.read_message()?;
        let first = String::from_utf8_lossy(&first).into_owned();
        let nonce = first.rsplit("r=").next().unwrap_or_default().to_owned();
        peer.say(&authentication(11, format!("r={nonce}x,s=QSXCR+Q6sek8bf92,i=4096").as_bytes()))?;
        peer.read_message()?;
        peer.say(&authentication(12, format!("e={WORDS}").as_bytes()))?;
        peer.read_message().map(drop)
    });
    assert_harmless("SCRAM", &load(&scram.url()), true);

    let error = [&b"\xff\x10\x04#08004"[..], WORDS.as_bytes()].concat();
    let plugin = [&b"\xfe"[..], WORDS.as_bytes(), b"\x0012345678901234567890\0"].concat();
    let greeting = greeting("mysql_native_password");
    for (name, payloads) in [("an error of MySQL", vec![error]), ("a plugin", vec![greeting, plugin])] {
        let (url, serving) = mysql(payloads);
        assert_harmless(name, &load(&url), true);
        serving.join().expect("the server ends");
    }
}

#[test]
fn escapes_text_of_queries_and_statements() {
    let home = Home::new();
    let server = accepting_server();
    let missing = home.run(&[&server.url(), "--workload", "select-only", "-n", "1"]);
    assert_harmless("the tables", &missing, true);
    let mut command = Command::new(TENBIN);
    home.isolate(&mut command);
    command.args(["prepare", &server.url(), "--workload", "select-only"]);
    assert_harmless("prepare", &Started::spawn(command).finish(), true);
    std::fs::write(home.path().join("one.sql"), "SELECT 1;\n").expect("written");
    let load = home.run(&[&server.url(), "-f", "one.sql", "-c", "2", "-n", "4"]);
    assert_harmless("a statement", &load, true);
}

#[test]
fn escapes_text_in_check_and_run_of_a_plan() {
    let home = Home::new();
    for (name, server) in [("let in", accepting_server()), ("kept out", rejecting_server("28P01"))] {
        let text = format!(
            "question: How fast?\nscenario: [ workload: select-only ]\nload: {{ users: 1, requests: 4 }}\nurl: {}\n",
            server.url().replace(":sesame@", "@")
        );
        let plan = home.path().join("plan.yaml");
        std::fs::write(&plan, text).expect("written");
        let plan = plan.to_string_lossy().into_owned();
        let mut command = Command::new(TENBIN);
        home.isolate(&mut command);
        command.args(["check", &plan, "--connect"]);
        assert_harmless(&format!("check, {name}"), &Started::spawn(command).finish(), true);
        assert_harmless(&format!("run, {name}"), &home.run(&["run", &plan]), true);
    }
}
