//! Simple HTTP client for tests: writes given bytes, and reads one reply at a time.
#![allow(dead_code, reason = "each test file uses its own part")]

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

/// Timeout that is longer than any operation here, but ends a hanging test.
pub(crate) const TIMEOUT: Duration = Duration::from_secs(20);

/// One connection.
pub(crate) struct Client {
    reader: BufReader<TcpStream>,
}

/// One reply.
#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
}

impl Client {
    pub(crate) fn connect(address: SocketAddr) -> Self {
        let socket = TcpStream::connect_timeout(&address, TIMEOUT).expect("a loopback connection");
        socket.set_read_timeout(Some(TIMEOUT)).expect("a time-out");
        socket.set_write_timeout(Some(TIMEOUT)).expect("a time-out");
        socket.set_nodelay(true).expect("no delay");
        Self { reader: BufReader::new(socket) }
    }

    pub(crate) fn write(&mut self, bytes: &[u8]) {
        self.reader.get_mut().write_all(bytes).expect("written");
    }

    pub(crate) fn send(&mut self, method: &str, target: &str, body: &[u8]) {
        let length = body.len();
        let head = format!("{method} {target} HTTP/1.1\r\nHost: test\r\nContent-Length: {length}\r\n\r\n");
        self.write(&[head.as_bytes(), body].concat());
    }

    pub(crate) fn get(&mut self, target: &str) -> Reply {
        self.send("GET", target, b"");
        self.reply()
    }

    pub(crate) fn post(&mut self, target: &str, body: &[u8]) -> Reply {
        self.send("POST", target, body);
        self.reply()
    }

    /// Reads one reply with its body.
    pub(crate) fn reply(&mut self) -> Reply {
        let mut reply = self.head();
        let bytes = reply.header("content-length").map_or(0, |text| text.parse().expect("a length"));
        reply.body = vec![0; bytes];
        self.reader.read_exact(&mut reply.body).expect("a whole body");
        reply
    }

    /// Reads the head of one reply.
    pub(crate) fn head(&mut self) -> Reply {
        let status_line = self.line();
        let status = status_line.split(' ').nth(1).expect("a status").parse().expect("a number");
        let mut headers = Vec::new();
        loop {
            let line = self.line();
            let Some((name, value)) = line.split_once(": ") else { break };
            headers.push((name.to_owned(), value.to_owned()));
        }
        Reply { status, headers, body: Vec::new() }
    }

    /// Reads until the connection ends. An error counts as the end.
    pub(crate) fn rest(&mut self) -> Vec<u8> {
        let mut rest = Vec::new();
        let _ = self.reader.read_to_end(&mut rest);
        rest
    }

    pub(crate) fn socket(&self) -> &TcpStream {
        self.reader.get_ref()
    }

    fn line(&mut self) -> String {
        let mut line = String::new();
        self.reader.read_line(&mut line).expect("a line");
        assert!(line.ends_with("\r\n"), "the connection ended within {line:?}");
        line.trim_end().to_owned()
    }
}

impl Reply {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    pub(crate) fn number(&self, name: &str) -> u64 {
        self.header(name).unwrap_or_else(|| panic!("no {name} in {self:?}")).parse().expect("a number")
    }

    pub(crate) fn text(&self) -> &str {
        std::str::from_utf8(&self.body).expect("text")
    }
}

/// Waits until `condition` is true, and fails the test if it never is.
pub(crate) fn until(what: &str, mut condition: impl FnMut() -> bool) {
    let deadline = std::time::Instant::now() + TIMEOUT;
    while !condition() {
        assert!(std::time::Instant::now() < deadline, "never: {what}");
        std::thread::sleep(Duration::from_millis(1));
    }
}
