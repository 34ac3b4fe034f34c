//! Greetings before the first request: log-ins, TLS on request, and rejections.

use std::io::{BufRead, BufReader, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use crate::support::lines::{Answer, Lines};
use crate::support::tls::Authority;
use crate::support::{
    self,
    acts::{Act, acts, greeting},
};
use crate::support::{MS, SECOND, closed, count, finish_with, lasting, limit, run, tcp};
use engine::{BlockingConnection, Endpoint, Job, Peer, TlsPeer, TlsTrust};
use rustls::{ServerConfig, ServerConnection, StreamOwned};
use wire::{Script, Serial};

/// Accepts every log-in, and answers every request with OK.
fn friendly(_: usize, line: &str) -> Answer {
    Answer::Say(if line.starts_with("hello") { "welcome\n" } else { "ok\n" })
}

#[test]
fn log_in_precedes_first_request_and_counts_as_connect_time() {
    let server = Lines::start(|_, line| match line {
        line if line.starts_with("hello") => Answer::Later(Duration::from_millis(120), "welcome\n"),
        _ => Answer::Say("ok\n"),
    });
    let done = run(closed(tcp(server.address), 2, count(10)), greeting(&[Act::Say("a", None)]));
    done.assert_all_ok(10);
    assert_eq!((done.tally.connections, done.tally.connect.count()), (2, 2));
    assert!(done.tally.connect.min_ns().is_some_and(|min_ns| min_ns >= 119 * MS), "{:?}", done.tally.connect);
    let mut received_lines = server.received_lines();
    received_lines.truncate(2);
    received_lines.sort();
    for (number, lines) in received_lines.iter().enumerate() {
        assert_eq!(lines[0], format!("hello {number}"), "connections have their numbers");
        assert!(lines[1..].iter().all(|line| line == "a"), "{lines:?}");
    }
}

#[test]
fn log_in_may_take_several_rounds_in_any_pieces() {
    let server = Lines::start(|number, line| match (number, line) {
        (0, _) => Answer::Say("more\n"),
        (1, "here is more") => Answer::Say("wait\nwait\nmo"),
        (1, _) => Answer::Close,
        _ => Answer::Say("ok\n"),
    });
    // The rest of the second round never arrives, so the connect deadline ends the greeting.
    let job = Job { connect_timeout_ns: 200 * MS, ..closed(once(tcp(server.address)), 1, lasting(50 * MS)) };
    let done = run(job, greeting(&[Act::Say("a", None)]));
    assert_eq!((done.tally.counts.ok, done.errors("timeout_login")), (0, 1), "{:?}", done.classes());

    let server = Lines::start(|number, _| match number {
        0 => Answer::Say("more\n"),
        1 => Answer::Say("wait\nwait\nwelcome\n"),
        _ => Answer::Say("ok\n"),
    });
    run(closed(tcp(server.address), 1, count(5)), greeting(&[Act::Say("a", None)])).assert_all_ok(5);
    assert_eq!(server.received_lines()[0][..3], ["hello 0", "here is more", "a"]);
}

#[test]
fn rejected_log_in_ends_the_load_without_retries() {
    let server = Lines::start(|_, _| Answer::SayAndClose("never\n"));
    let job = Job { threads: 2, ..closed(tcp(server.address), 8, lasting(20 * SECOND)) };
    let limit = Duration::from_secs(10);
    let (done, broke) = finish_with(engine::start(job, greeting(&[Act::Say("a", None)])).unwrap(), limit);
    assert_eq!(broke, ["the server says: nobody knows you"]);
    assert_eq!((done.tally.counts.sent, done.tally.counts.ok), (0, 0));
    assert!(server.received_lines().iter().filter(|lines| !lines.is_empty()).count() <= 8);

    // Rejected log-ins of connections opened within the load end it as well.
    let server = Lines::start(|_, _| Answer::SayAndClose("never\n"));
    let job = closed(once(tcp(server.address)), 4, lasting(20 * SECOND));
    let (done, broke) = finish_with(engine::start(job, greeting(&[Act::Say("a", None)])).unwrap(), limit);
    assert_eq!((broke.len(), done.tally.counts.ok), (1, 0));
    assert_eq!(done.tally.counts.sent, done.tally.counts.unfinished);
    assert!(server.received_lines().iter().filter(|lines| !lines.is_empty()).count() <= 4);
}

#[test]
fn broken_log_in_has_its_own_error_class() {
    let server = Lines::start(|_, _| Answer::Close);
    let job = closed(once(tcp(server.address)), 1, count(2));
    run(job, greeting(&[Act::Say("a", None)])).assert_all_failed("login_closed", 2);

    let server = Lines::start(|_, _| Answer::Reset);
    let job = closed(once(tcp(server.address)), 1, count(2));
    run(job, greeting(&[Act::Say("a", None)])).assert_all_failed("login_reset", 2);

    let server = Lines::start(|_, _| Answer::Say("bananas\n"));
    let job = closed(once(tcp(server.address)), 1, count(2));
    run(job, greeting(&[Act::Say("a", None)])).assert_all_failed("protocol_error", 2);
}

#[test]
fn connections_go_to_all_addresses_in_turn() {
    let servers = [Lines::start(friendly), Lines::start(friendly), Lines::start(friendly)];
    let endpoints = servers.iter().map(|server| Endpoint::Tcp(server.address)).collect();
    let peer = Peer { endpoints, ..tcp(servers[0].address) };
    let job = Job { threads: 2, ..closed(peer, 6, count(60)) };
    run(job, greeting(&[Act::Say("a", None)])).assert_all_ok(60);
    for (number, server) in servers.into_iter().enumerate() {
        let received_lines = server.received_lines();
        let mut first: Vec<_> = received_lines.iter().filter_map(|lines| lines.first()).collect();
        first.sort();
        assert_eq!(first, [&format!("hello {number}"), &format!("hello {}", number + 3)]);
    }
}

#[test]
fn sends_farewell_once() {
    let server = Lines::start(friendly);
    let mut script = greeting(&[Act::Say("a", None)]);
    script.farewell = "bye\n";
    run(closed(tcp(server.address), 2, count(20)), script.clone()).assert_all_ok(20);
    let received_lines = server.received_lines();
    for lines in received_lines.iter().filter(|lines| !lines.is_empty()) {
        assert_eq!(lines.iter().filter(|line| *line == "bye").count(), 1, "{lines:?}");
        assert_eq!(lines.last().map(String::as_str), Some("bye"));
    }

    let server = Lines::start(friendly);
    let job = closed(once(tcp(server.address)), 1, count(3));
    run(job, script).assert_all_ok(3);
    let received_lines = server.received_lines();
    assert_eq!(
        received_lines.iter().filter(|lines| lines.last().is_some_and(|line| line == "bye")).count(),
        3
    );
}

/// Starts a server that switches to TLS after the first line, and then accepts everything.
fn start_tls_after_first_line(authority: &Authority, extra: &'static str) -> SocketAddr {
    let identity = authority.sign_localhost();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(identity.chain.clone(), identity.key.clone_key())
        .unwrap();
    let config = Arc::new(config);
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let address = listener.local_addr().unwrap();
    thread::spawn(move || {
        for socket in listener.incoming().take(64) {
            let config = Arc::clone(&config);
            thread::spawn(move || serve_tls(&socket?, config, extra));
        }
    });
    address
}

fn serve_tls(socket: &TcpStream, config: Arc<ServerConfig>, extra: &str) -> std::io::Result<()> {
    socket.set_read_timeout(Some(Duration::from_secs(20)))?;
    let mut line = String::new();
    // Reads only the first line: the client waits for the answer before it sends more.
    BufReader::with_capacity(64, socket).read_line(&mut line)?;
    let mut plain = socket;
    plain.write_all(format!("secure\n{extra}").as_bytes())?;
    let tls = ServerConnection::new(config).map_err(std::io::Error::other)?;
    let mut stream = BufReader::new(StreamOwned::new(tls, socket.try_clone()?));
    loop {
        let mut line = String::new();
        if stream.read_line(&mut line)? == 0 {
            return Ok(());
        }
        let answer = if line.starts_with("hello in secret") { "welcome\n" } else { "ok\n" };
        stream.get_mut().write_all(answer.as_bytes())?;
        stream.get_mut().flush()?;
    }
}

/// Returns a peer with a connection for each request.
fn once(peer: Peer) -> Peer {
    Peer { keep_alive: false, ..peer }
}

fn on_request(address: SocketAddr, authority: &Authority) -> Peer {
    let tls = TlsPeer::new("localhost", &TlsTrust::Authorities(authority.path())).unwrap();
    Peer { tls_on_request: true, ..Peer::of(Endpoint::Tcp(address), Some(tls)) }
}

#[test]
fn log_in_may_switch_to_tls() {
    let authority = Authority::new("of greetings");
    let peer = on_request(start_tls_after_first_line(&authority, ""), &authority);
    let done = run(closed(peer.clone(), 2, count(20)), greeting(&[Act::Say("a", None)]));
    done.assert_all_ok(20);
    assert_eq!((done.tally.connect.count(), done.tally.tls.count()), (2, 2));

    let mut line = BlockingConnection::open(&peer, Duration::from_secs(5)).unwrap();
    line.greet(&mut Serial::new(greeting(&[]).open(0))).unwrap();
    assert!(line.tls().is_some_and(|tls| tls.contains("TLSv1.3")));
}

#[test]
fn rejects_unencrypted_bytes_after_switch_to_tls() {
    let authority = Authority::new("of smuggled bytes");
    let peer = on_request(start_tls_after_first_line(&authority, "ok\n"), &authority);
    let job = closed(once(peer), 1, count(2));
    run(job, greeting(&[Act::Say("a", None)])).assert_all_failed("excess_bytes", 2);
}

#[test]
fn rejects_switch_to_tls_without_configuration() {
    let server = Lines::start(|_, _| Answer::Say("secure\n"));
    let job = closed(once(tcp(server.address)), 1, count(2));
    run(job, greeting(&[Act::Say("a", None)])).assert_all_failed("tls_error", 2);
}

#[test]
fn asks_a_question_before_the_load() {
    let server = Lines::start(friendly);
    let script = greeting(&[Act::Say("a", None), Act::Pause(MS), Act::Say("b", None)]);
    let asked = engine::ask(&tcp(server.address), script.open(0), Duration::from_secs(5)).unwrap();
    assert_eq!((asked.reply.status, asked.reply.rejection), (1, None));
    assert_eq!(server.received_lines()[0], ["hello 0", "a", "b"]);

    let server = Lines::start(|_, _| Answer::Say("never\n"));
    let error = engine::ask(&tcp(server.address), script.open(0), Duration::from_secs(5)).unwrap_err();
    assert!(error.to_string().contains("login_refused): the server says: nobody knows you"), "{error}");

    let server = Lines::start(|_, line| if line == "a" { Answer::Close } else { friendly(0, line) });
    let error = engine::ask(&tcp(server.address), script.open(0), Duration::from_secs(5)).unwrap_err();
    assert!(error.to_string().contains("(closed_before_reply)"), "{error}");

    let server = Lines::start(|_, line| if line == "a" { Answer::Silence } else { friendly(0, line) });
    let error = engine::ask(&tcp(server.address), script.open(0), Duration::from_millis(100)).unwrap_err();
    assert!(error.to_string().contains("no answer within 100ms"), "{error}");
    let server = Lines::start(|_, line| if line == "a" { Answer::Reset } else { Answer::Say("welcome\n") });
    let error = engine::ask(&tcp(server.address), script.open(0), Duration::from_secs(5)).unwrap_err();
    assert!(
        error.to_string().contains("(reset_before_reply): the peer reset the connection instead"),
        "{error}"
    );
}

#[test]
fn blocking_connection_reads_and_writes_like_a_file() {
    let server = Lines::start(friendly);
    let mut line = BlockingConnection::open(&tcp(server.address), Duration::from_secs(5)).unwrap();
    line.greet(&mut Serial::new(greeting(&[]).open(3))).unwrap();
    let mut answers = BufReader::new(line);
    for _ in 0..3 {
        answers.get_mut().write_all(b"x\n").unwrap();
        let mut answer = String::new();
        answers.read_line(&mut answer).unwrap();
        assert_eq!(answer, "ok\n");
    }
    drop(answers);
    assert_eq!(server.received_lines()[0], ["hello 3", "x", "x", "x"]);

    let authority = Authority::new("of lines");
    let peer = on_request(start_tls_after_first_line(&authority, ""), &authority);
    let mut line = BlockingConnection::open(&peer, Duration::from_secs(5)).unwrap();
    line.greet(&mut Serial::new(greeting(&[]).open(0))).unwrap();
    assert!(line.tls().is_some());
    let mut answers = BufReader::new(line);
    answers.get_mut().write_all(b"x\n").unwrap();
    let mut answer = String::new();
    answers.read_line(&mut answer).unwrap();
    assert_eq!(answer, "ok\n");
}

#[test]
fn replacement_of_closed_idle_connection_logs_in_again() {
    let server = Lines::start(|number, line| match (number, line) {
        (0, _) => Answer::Say("welcome\n"),
        (1, _) => Answer::Say("ok\n"),
        _ => Answer::Close,
    });
    let mut job = closed(tcp(server.address), 1, count(3));
    if let load::Load::Closed(closed) = &mut job.load {
        closed.think_time = load::ThinkTime::Constant { ns: 60 * MS };
    }
    let limit = limit(&job);
    let (done, _) = finish_with(engine::start(job, acts_with_bye()).unwrap(), limit);
    // The first request of each connection is answered. The server closes when the second one arrives.
    assert_eq!((done.tally.counts.ok, done.errors("closed_before_reply")), (2, 1), "{:?}", done.classes());
    assert!(server.received_lines().iter().all(|lines| lines.is_empty() || lines[0] == "hello 0"));
}

fn acts_with_bye() -> support::acts::Acts {
    support::acts::Acts { greets: true, ..acts(&[Act::Say("a", None)]) }
}
