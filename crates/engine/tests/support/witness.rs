//! HTTP server that records every request, and puts a unique token into each reply.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use super::acceptor::Acceptor;

/// Idle time after which the server closes a connection.
const SILENCE_MAX: Duration = Duration::from_secs(20);

/// Recorded request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Seen {
    /// Number of the request in order of arrival, from 0.
    pub(crate) connection: usize,
    pub(crate) target: String,
    pub(crate) body: String,
    /// Token of its reply, in header X-Token and as JSON `{"token": …}`; empty if the request was rejected.
    pub(crate) token: String,
}

/// Running server. Dropping it stops it.
pub(crate) struct Witness {
    pub(crate) address: SocketAddr,
    seen: Arc<Mutex<Vec<Seen>>>,
    _acceptor: Acceptor,
}

impl Witness {
    /// Starts the server, which holds every request for `hold`. Targets that begin with `/no` are answered 500, all others 200.
    pub(crate) fn start(hold: Duration) -> Self {
        let seen = Arc::new(Mutex::new(Vec::new()));
        let all = Arc::clone(&seen);
        let acceptor = Acceptor::start(move |connection, socket, _| {
            // Serving ends with the connection.
            let _ = serve(connection, socket, &all, hold);
        });
        Self { address: acceptor.address, seen, _acceptor: acceptor }
    }

    /// Returns the requests so far, in order of arrival.
    pub(crate) fn seen(&self) -> Vec<Seen> {
        self.seen.lock().expect("no thread died").clone()
    }

    /// Returns the requests by connection, each in order of arrival.
    pub(crate) fn by_connection(&self) -> Vec<Vec<Seen>> {
        let mut connections: Vec<Vec<Seen>> = Vec::new();
        for seen in self.seen() {
            connections.resize_with(connections.len().max(seen.connection + 1), Vec::new);
            connections[seen.connection].push(seen);
        }
        connections
    }
}

/// Serves a connection. Returns `None` at its end.
fn serve(connection: usize, socket: &TcpStream, all: &Mutex<Vec<Seen>>, hold: Duration) -> Option<()> {
    socket.set_read_timeout(Some(SILENCE_MAX)).ok()?;
    socket.set_nodelay(true).ok()?;
    let (mut reader, mut writer) = (BufReader::new(socket), socket);
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok().filter(|count| *count > 0)?;
        let target = line.split(' ').nth(1)?.to_owned();
        let mut length = 0;
        loop {
            let mut line = String::new();
            reader.read_line(&mut line).ok().filter(|count| *count > 0)?;
            if line.trim().is_empty() {
                break;
            }
            if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
                length = value.trim().parse().ok()?;
            }
        }
        let mut body = vec![0; length];
        reader.read_exact(&mut body).ok()?;
        let body = String::from_utf8(body).ok()?;
        let is_refused = target.starts_with("/no");
        let token = {
            let mut all = all.lock().ok()?;
            let token = if is_refused { String::new() } else { format!("t{}", all.len()) };
            all.push(Seen { connection, target, body, token: token.clone() });
            token
        };
        thread::sleep(hold);
        let (status, json) = (if is_refused { 500 } else { 200 }, format!("{{\"token\": \"{token}\"}}"));
        let reply = format!(
            "HTTP/1.1 {status} X\r\nX-Token: {token}\r\nContent-Length: {}\r\n\r\n{json}",
            json.len()
        );
        writer.write_all(reply.as_bytes()).ok()?;
    }
}
