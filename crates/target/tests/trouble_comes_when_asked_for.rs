//! Trouble begins when it is requested.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use target::{Running, Settings, Trouble, TroubleKind};

const LASTING: Duration = Duration::from_millis(300);

fn target(kind: TroubleKind) -> Running {
    let trouble = Some(Trouble { kind, lasting: LASTING });
    target::start(Settings { trouble, ..Settings::default() }).expect("a target")
}

fn connect(running: &Running) -> TcpStream {
    let stream = TcpStream::connect(running.address()).expect("a connection");
    stream.set_read_timeout(Some(Duration::from_secs(20))).expect("a time-out");
    stream
}

/// Requests a path, and returns the status line.
fn get(stream: &mut TcpStream, path: &str) -> std::io::Result<String> {
    write!(stream, "GET {path} HTTP/1.1\r\nHost: t\r\n\r\n")?;
    let mut bytes = [0; 4096];
    let length = stream.read(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes[..length]).split(' ').nth(1).unwrap_or_default().to_owned())
}

#[test]
fn stall_and_rejection_last_their_duration() {
    let stalled = target(TroubleKind::Stall);
    let mut stream = connect(&stalled);
    assert_eq!(get(&mut stream, "/bytes?n=1").unwrap(), "200");
    let begun = Instant::now();
    stalled.begin_trouble();
    assert_eq!(get(&mut stream, "/bytes?n=1").unwrap(), "200");
    assert!(begun.elapsed() >= LASTING - Duration::from_millis(1), "{:?}", begun.elapsed());

    let rejecting = target(TroubleKind::Reject);
    let mut stream = connect(&rejecting);
    assert_eq!(get(&mut stream, "/bytes?n=1").unwrap(), "200");
    let begun = Instant::now();
    rejecting.begin_trouble();
    let status = get(&mut stream, "/bytes?n=1").unwrap();
    assert!(status == "503" || begun.elapsed() > LASTING, "{status}");
    std::thread::sleep(
        (begun + LASTING + Duration::from_millis(5)).saturating_duration_since(Instant::now()),
    );
    assert_eq!(get(&mut stream, "/bytes?n=1").unwrap(), "200");
}

#[test]
fn all_connections_are_reset_and_new_ones_served() {
    let running = target(TroubleKind::Reset);
    let mut streams: Vec<TcpStream> = (0..4).map(|_| connect(&running)).collect();
    for stream in &mut streams {
        assert_eq!(get(stream, "/bytes?n=1").unwrap(), "200");
    }
    running.begin_trouble();
    for stream in &mut streams {
        let ended = stream.read(&mut [0]).map_err(|error| error.kind());
        assert!(matches!(ended, Ok(0) | Err(std::io::ErrorKind::ConnectionReset)), "{ended:?}");
    }
    assert_eq!(get(&mut connect(&running), "/bytes?n=1").unwrap(), "200");
}
