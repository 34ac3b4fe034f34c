//! Fake PostgreSQL server for tests, which sends arbitrary messages, valid or not.

use std::io::{self, Read as _, Write as _};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::thread;
use std::time::Duration;

/// Timeout of all waits.
const TIMEOUT: Duration = Duration::from_secs(20);
/// Maximum length of a client message in tests.
const MESSAGE_BYTES_MAX: u32 = 1 << 20;

/// Server with a scripted behavior. Dropping it stops accepting connections.
#[derive(Debug)]
pub struct FakePostgres {
    address: SocketAddr,
    accepted: Arc<AtomicU32>,
    is_over: Arc<AtomicBool>,
}

/// Connection that is passed to the behavior. Calls fail after the client has disconnected, which ends the behavior.
#[derive(Debug)]
pub struct Peer {
    stream: TcpStream,
    /// Number of the connection, from 0.
    pub number: u32,
}

/// Client message: tag and body.
pub type Heard = (u8, Vec<u8>);

impl FakePostgres {
    /// Starts a server that runs `behave` for each connection, on a separate thread.
    ///
    /// # Errors
    ///
    /// If no port is available.
    pub fn start(behave: impl Fn(&mut Peer) -> io::Result<()> + Send + Sync + 'static) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        let address = listener.local_addr()?;
        let (accepted, is_over) = (Arc::new(AtomicU32::new(0)), Arc::new(AtomicBool::new(false)));
        let (counted, over, behave) = (Arc::clone(&accepted), Arc::clone(&is_over), Arc::new(behave));
        thread::spawn(move || {
            for stream in listener.incoming() {
                if over.load(Ordering::Relaxed) {
                    return;
                }
                let Ok(stream) = stream else { continue };
                let number = counted.fetch_add(1, Ordering::Relaxed);
                let behave = Arc::clone(&behave);
                thread::spawn(move || {
                    let is_set = stream.set_read_timeout(Some(TIMEOUT)).is_ok()
                        && stream.set_write_timeout(Some(TIMEOUT)).is_ok()
                        && stream.set_nodelay(true).is_ok();
                    if is_set {
                        // A disconnected client ends the behavior, which is not an error.
                        let _ = behave(&mut Peer { stream, number });
                    }
                });
            }
        });
        Ok(Self { address, accepted, is_over })
    }

    /// Returns the address that the server listens on.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Returns the server's URL with a user and a password.
    pub fn url(&self) -> String {
        format!("postgres://tester:sesame@{}/db?sslmode=disable", self.address)
    }

    /// Returns the number of accepted connections.
    pub fn accepted(&self) -> u32 {
        self.accepted.load(Ordering::Relaxed)
    }
}

impl Drop for FakePostgres {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Relaxed);
        // Wakes the listener, which then checks the stop flag.
        let _ = TcpStream::connect(self.address);
    }
}

impl Peer {
    /// Reads a StartupMessage, SSLRequest, or CancelRequest, which share a format. Returns the bytes after the length.
    ///
    /// # Errors
    ///
    /// If the client has disconnected, or sent an invalid message.
    pub fn start_up(&mut self) -> io::Result<Vec<u8>> {
        self.body()
    }

    /// Reads a StartupMessage, and accepts the client without authentication.
    ///
    /// # Errors
    ///
    /// If the client has disconnected, or sent an invalid message.
    pub fn accept_login(&mut self) -> io::Result<()> {
        self.start_up()?;
        self.say(&[authentication(0, b""), parameter("server_version", "15.0"), ready(b'I')].concat())
    }

    /// Reads a message.
    ///
    /// # Errors
    ///
    /// If the client has disconnected, or sent an invalid message.
    pub fn read_message(&mut self) -> io::Result<Heard> {
        let mut tag = [0];
        self.stream.read_exact(&mut tag)?;
        Ok((tag[0], self.body()?))
    }

    /// Reads messages up to one that needs a reply: a simple query, a Sync, or a Terminate. Returns its tag, and the text of the
    /// last Query or Parse.
    ///
    /// # Errors
    ///
    /// If the client has disconnected, or sent an invalid message.
    pub fn read_request(&mut self) -> io::Result<Heard> {
        loop {
            let (tag, bytes) = self.read_message()?;
            match tag {
                b'Q' | b'S' => return Ok((tag, bytes)),
                b'X' => return Err(io::ErrorKind::UnexpectedEof.into()),
                _ => {}
            }
        }
    }

    /// Sends bytes, valid or not.
    ///
    /// # Errors
    ///
    /// If the client has disconnected.
    pub fn say(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.stream.write_all(bytes)
    }

    fn body(&mut self) -> io::Result<Vec<u8>> {
        let mut length = [0; 4];
        self.stream.read_exact(&mut length)?;
        let length = u32::from_be_bytes(length);
        if !(4..=MESSAGE_BYTES_MAX).contains(&length) {
            return Err(io::ErrorKind::InvalidData.into());
        }
        let mut body = vec![0; length as usize - 4];
        self.stream.read_exact(&mut body)?;
        Ok(body)
    }
}

/// Builds a message with any tag.
pub fn message(tag: u8, body: &[u8]) -> Vec<u8> {
    let length = (body.len() as u32 + 4).to_be_bytes();
    [&[tag], &length[..], body].concat()
}

/// Builds an authentication message. `kind` is 0 for OK, 3 for a clear-text password, 5 for MD5, 10 for SASL, and 11 and 12 for
/// later SASL messages.
pub fn authentication(kind: u32, rest: &[u8]) -> Vec<u8> {
    message(b'R', &[&kind.to_be_bytes()[..], rest].concat())
}

/// Builds a ParameterStatus message.
pub fn parameter(name: &str, value: &str) -> Vec<u8> {
    message(b'S', &[name.as_bytes(), b"\0", value.as_bytes(), b"\0"].concat())
}

/// Builds a ReadyForQuery message; `status` is I, T, or E.
pub fn ready(status: u8) -> Vec<u8> {
    message(b'Z', &[status])
}

/// Builds an ErrorResponse (tag E) or a NoticeResponse (tag N).
pub fn error_or_notice(tag: u8, severity: &str, sqlstate: &str, text: &str) -> Vec<u8> {
    let field = |code: &[u8], text: &str| [code, text.as_bytes(), b"\0"].concat();
    let fields = [field(b"S", severity), field(b"V", severity), field(b"C", sqlstate), field(b"M", text)];
    message(tag, &[fields.concat(), b"\0".to_vec()].concat())
}

/// Builds a result with one text value: RowDescription, DataRow, and CommandComplete.
pub fn one_row(value: &str) -> Vec<u8> {
    [description(1), row(&[value]), complete("SELECT 1")].concat()
}

/// Builds a RowDescription of text columns.
pub fn description(columns: u16) -> Vec<u8> {
    let mut body = columns.to_be_bytes().to_vec();
    for number in 0..columns {
        body.extend_from_slice(format!("c{number}\0").as_bytes());
        body.extend_from_slice(&[0, 0, 0, 0, 0, 0, 0, 0, 0, 25, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0, 0]);
    }
    message(b'T', &body)
}

/// Builds a DataRow of text values.
pub fn row(values: &[&str]) -> Vec<u8> {
    let mut body = (values.len() as u16).to_be_bytes().to_vec();
    for value in values {
        body.extend_from_slice(&(value.len() as u32).to_be_bytes());
        body.extend_from_slice(value.as_bytes());
    }
    message(b'D', &body)
}

/// Builds a CommandComplete message.
pub fn complete(tag: &str) -> Vec<u8> {
    message(b'C', &[tag.as_bytes(), b"\0"].concat())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_have_their_length() {
        assert_eq!(ready(b'I'), [b'Z', 0, 0, 0, 5, b'I']);
        assert_eq!(error_or_notice(b'N', "W", "01000", "x")[0], b'N');
        assert_eq!(error_or_notice(b'E', "E", "42601", "x")[0], b'E');
        let row = row(&["ab"]);
        assert_eq!(row, [b'D', 0, 0, 0, 12, 0, 1, 0, 0, 0, 2, b'a', b'b']);
    }

    #[test]
    fn client_is_accepted_and_read() {
        let server = FakePostgres::start(|peer| {
            peer.accept_login()?;
            let (tag, text) = peer.read_request()?;
            peer.say(&[&[tag], &text[..]].concat())
        })
        .unwrap();
        let mut client = TcpStream::connect(server.address()).unwrap();
        client.set_read_timeout(Some(TIMEOUT)).unwrap();
        client.write_all(&[0, 0, 0, 8, 0, 3, 0, 0]).unwrap();
        client.write_all(&message(b'Q', b"SELECT 1\0")).unwrap();
        let mut heard = Vec::new();
        client.read_to_end(&mut heard).unwrap();
        assert!(heard.ends_with(b"QSELECT 1\0"), "{heard:?}");
        assert_eq!(server.accepted(), 1);
    }
}
