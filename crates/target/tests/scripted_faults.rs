//! The scripted server executes its script exactly, and leaves nothing behind.

use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};
use target::scripted::{Script, Step, blackhole, closed_port, start};

const TIMEOUT: Duration = Duration::from_secs(10);

fn connect(address: std::net::SocketAddr) -> TcpStream {
    let socket = TcpStream::connect_timeout(&address, TIMEOUT).expect("a loopback connection");
    socket.set_read_timeout(Some(TIMEOUT)).expect("a time-out");
    socket
}

#[test]
fn loop_reads_complete_requests_and_replies() {
    let answer = Script(vec![Step::ReadRequest, Step::Send(b"ok".to_vec())]);
    let server = start(move |_| Script(vec![Step::Loop(Box::new(answer.clone()))])).expect("a server");
    let mut socket = connect(server.address());
    // Two requests in one write, the first with a body, then one request byte by byte.
    let two = b"POST / HTTP/1.1\r\nContent-Length: 4\r\n\r\n\r\n\r\nGET / HTTP/1.1\r\n\r\n";
    socket.write_all(two).expect("sent");
    for byte in b"GET / HTTP/1.1\r\n\r\n" {
        socket.write_all(&[*byte]).expect("sent");
    }
    let mut answers = [0; 6];
    socket.read_exact(&mut answers).expect("three answers");
    assert_eq!(&answers, b"okokok");
    assert_eq!((server.connections(), server.requests()), (1, 3));
}

#[test]
fn each_connection_gets_the_script_of_its_number() {
    let server = start(|number| Script(vec![Step::Send(number.to_string().into_bytes())])).expect("a server");
    for number in 0..5 {
        let mut text = String::new();
        connect(server.address()).read_to_string(&mut text).expect("an orderly end");
        assert_eq!(text, number.to_string());
    }
    assert_eq!(server.connections(), 5);
}

#[test]
fn reset_and_close_are_distinguishable() {
    let server = start(|number| {
        let last = if number == 0 { Step::Reset } else { Step::CloseGracefully };
        Script(vec![
            Step::ReadBytes(1),
            Step::Send(b"half".to_vec()),
            Step::Wait(Duration::from_millis(50)),
            last,
        ])
    })
    .expect("a server");
    for (number, reset) in [(0, true), (1, false)] {
        let mut socket = connect(server.address());
        socket.write_all(b"x").expect("sent");
        let mut bytes = Vec::new();
        let end = socket.read_to_end(&mut bytes);
        assert_eq!(
            end.as_ref().err().map(std::io::Error::kind),
            reset.then_some(ErrorKind::ConnectionReset),
            "{number}"
        );
        assert_eq!(bytes, b"half");
    }
}

#[test]
fn slow_bytes_arrive_in_pieces_and_completely() {
    let slowly =
        Step::SendSlowly { bytes: b"drip drop".to_vec(), every: Duration::from_millis(10), chunk: 2 };
    let server = start(move |_| Script(vec![slowly.clone()])).expect("a server");
    let mut socket = connect(server.address());
    let (mut all, mut piece) = (Vec::new(), [0; 64]);
    let begun = Instant::now();
    loop {
        let n = socket.read(&mut piece).expect("an orderly end");
        if n == 0 {
            break;
        }
        all.extend_from_slice(&piece[..n]);
    }
    assert_eq!(all, b"drip drop");
    assert!(begun.elapsed() >= Duration::from_millis(40), "five pieces have four pauses between them");
}

#[test]
fn endless_and_silent_scripts_end_with_the_server() {
    let server = start(|number| match number % 4 {
        0 => Script(vec![Step::SendForever { bytes: vec![b'x'; 1000], every: None }]),
        1 => Script(vec![Step::HoldOpen]),
        2 => Script(vec![Step::Wait(Duration::MAX)]),
        _ => Script(vec![Step::Loop(Box::new(Script(vec![Step::ReadRequest])))]),
    })
    .expect("a server");
    let mut sockets: Vec<_> = (0..100).map(|_| connect(server.address())).collect();
    let mut some = [0; 100_000];
    sockets[0].read_exact(&mut some).expect("a flood");
    let address = server.address();
    let begun = Instant::now();
    server.stop();
    assert!(begun.elapsed() < TIMEOUT);
    for socket in &mut sockets {
        // Bytes in transit may still be read. Then the stream ends, normally or by a reset.
        let _ = std::io::copy(socket, &mut std::io::sink());
    }
    assert_eq!(TcpStream::connect(address).expect_err("nobody listens").kind(), ErrorKind::ConnectionRefused);
}

#[test]
fn blackhole_leaves_connects_pending() {
    let hole = blackhole().expect("a full queue");
    for _ in 0..3 {
        let error =
            TcpStream::connect_timeout(&hole.address(), Duration::from_millis(200)).expect_err("silence");
        assert_eq!(error.kind(), ErrorKind::TimedOut);
    }
}

#[test]
fn closed_port_refuses_connections() {
    let port = closed_port().expect("a port");
    for _ in 0..3 {
        let error = TcpStream::connect_timeout(&port.address(), TIMEOUT).expect_err("a refusal");
        assert_eq!(error.kind(), ErrorKind::ConnectionRefused);
    }
}
