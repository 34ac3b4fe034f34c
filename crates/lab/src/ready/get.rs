//! Makes a single HTTP GET without a client library, and checks for a 2xx status.

use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use crate::deadline::Deadline;

const CONNECT_TIMEOUT: Duration = Duration::from_millis(500);
/// Time of one read, after which the caller may interrupt.
const SLICE: Duration = Duration::from_millis(25);
/// Max length of the status line.
const STATUS_BYTES_MAX: usize = 4096;
/// Max bytes of the body that are read and discarded, so that the server can finish.
const BODY_BYTES_MAX: usize = 1 << 20;
const BODY_WAIT: Duration = Duration::from_millis(200);

/// Makes one request. The error is the end of a sentence, such as "was refused" or "was answered with 503".
pub(crate) fn attempt(
    address: SocketAddr,
    path: &str,
    deadline: Deadline,
    interrupted: &dyn Fn() -> bool,
) -> Result<(), String> {
    let mut stream = connect(address, deadline)?;
    let path = encoded(path);
    let request = format!(
        "GET {path} HTTP/1.1\r\nHost: {address}\r\nUser-Agent: tenbin\r\nAccept: */*\r\nConnection: close\r\n\r\n"
    );
    let lost = |error: std::io::Error| format!("was cut off ({error})");
    stream.set_write_timeout(Some(CONNECT_TIMEOUT)).map_err(lost)?;
    stream.set_read_timeout(Some(SLICE)).map_err(lost)?;
    stream.write_all(request.as_bytes()).map_err(lost)?;
    let mut answer = Vec::new();
    let status = loop {
        if let Some(status) = status(&answer)? {
            break status;
        }
        if deadline.is_over() || interrupted() {
            return Err("was not answered".to_owned());
        }
        let mut piece = [0; 1024];
        match stream.read(&mut piece) {
            Ok(0) => return Err("was closed without an answer".to_owned()),
            Ok(count) => answer.extend_from_slice(&piece[..count]),
            Err(error) if is_wait(error.kind()) => {}
            Err(error) => return Err(lost(error)),
        }
    };
    drain(&mut stream);
    if (200..300).contains(&status) { Ok(()) } else { Err(format!("was answered with {status}")) }
}

/// Connects. The error is the end of a sentence.
pub(crate) fn connect(address: SocketAddr, deadline: Deadline) -> Result<TcpStream, String> {
    let wait = deadline.left().clamp(Duration::from_millis(1), CONNECT_TIMEOUT);
    TcpStream::connect_timeout(&address, wait).map_err(|error| match error.kind() {
        ErrorKind::ConnectionRefused => "was refused".to_owned(),
        kind if is_wait(kind) => "was not accepted".to_owned(),
        _ => format!("failed: {error}"),
    })
}

fn is_wait(kind: ErrorKind) -> bool {
    matches!(kind, ErrorKind::WouldBlock | ErrorKind::TimedOut | ErrorKind::Interrupted)
}

/// Parses the status. `None` if the status line is incomplete.
fn status(answer: &[u8]) -> Result<Option<u16>, String> {
    let Some(end) = answer.iter().position(|byte| *byte == b'\n') else {
        let is_too_long = answer.len() > STATUS_BYTES_MAX;
        return if is_too_long { Err("was answered by no HTTP".to_owned()) } else { Ok(None) };
    };
    let line = String::from_utf8_lossy(&answer[..end]);
    let mut words = line.split_whitespace();
    let is_http = words.next().is_some_and(|word| word.starts_with("HTTP/"));
    let status = words.next().and_then(|word| word.parse().ok());
    match status {
        Some(status) if is_http => Ok(Some(status)),
        _ => Err("was answered by no HTTP".to_owned()),
    }
}

fn drain(stream: &mut TcpStream) {
    let until = Deadline::after(BODY_WAIT);
    let (mut seen, mut piece) = (0, [0; 16 << 10]);
    while seen < BODY_BYTES_MAX && !until.is_over() {
        match stream.read(&mut piece) {
            Ok(count) if count > 0 => seen += count,
            Err(error) if is_wait(error.kind()) => {}
            _ => return,
        }
    }
}

/// Encodes a path, which must not contain spaces or line breaks.
fn encoded(path: &str) -> String {
    let slash = if path.starts_with('/') { "" } else { "/" };
    let mut encoded = slash.to_owned();
    for byte in path.bytes() {
        if byte.is_ascii_graphic() {
            encoded.push(char::from(byte));
        } else {
            encoded.push_str(&format!("%{byte:02X}"));
        }
    }
    encoded
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn path_cannot_inject_into_the_request() {
        assert_eq!(encoded("/a?b=1&c=%20"), "/a?b=1&c=%20");
        assert_eq!(encoded("a b\r\nX: y"), "/a%20b%0D%0AX:%20y");
        assert_eq!(encoded(""), "/");
    }

    #[test]
    fn status_is_parsed_once_its_line_is_complete() {
        assert_eq!(status(b"HTTP/1.1 20"), Ok(None));
        assert_eq!(status(b"HTTP/1.1 204 No Content\r\n"), Ok(Some(204)));
        assert!(status(b"220 mail.example ESMTP\r\n").is_err());
        assert!(status(&[b'x'; 5000]).is_err());
    }
}
