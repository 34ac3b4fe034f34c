//! Blocking connection to a peer, for checks before a load and for loading data.

use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

use record::ErrorClass;
use rustix::io::Errno;
use rustix::net::{RecvFlags, recv};
use wire::sql::Session as SqlSession;
use wire::{Channel, Greeting, PeerFault};

use super::probe::{ProbeError, with_tls_help};
use super::tls::{Session, TlsPeer};
use crate::job::{Endpoint, Peer};

/// Max bytes per read.
const BUFFER_BYTES: usize = 64 * 1024;
/// Length of the prefix of an answer from which [`plaintext_server_error`] recognizes a server without TLS.
const ANSWER_BYTES: usize = 32;
/// Max rounds of a greeting. The longest log-in in use has six.
const ROUNDS_MAX: u32 = 1000;

/// Time that a server gets, after a TLS 1.3 handshake, to reject the client's certificate.
const VERDICT_TIMEOUT: Duration = Duration::from_millis(500);

/// Unencrypted or TLS connection that is read and written like a file. A call that takes longer than the time-out fails with
/// [`io::ErrorKind::TimedOut`] or [`io::ErrorKind::WouldBlock`].
pub struct BlockingConnection {
    stream: Stream,
    endpoint: String,
    tls: Option<TlsPeer>,
    is_tls_on_request: bool,
    session: Option<Box<Session>>,
    /// Buffer of the latest read from the socket.
    buffer: Vec<u8>,
    /// Bytes that were decrypted, or that followed the greeting, and that may not have been read by the caller yet.
    plain: Vec<u8>,
    taken: usize,
    timeout: Duration,
    opened_at: Instant,
}

/// Blocking socket.
pub(super) enum Stream {
    Tcp(TcpStream),
    Unix(UnixStream),
}

impl BlockingConnection {
    /// Connects to the first address of a peer, or, if the peer fails over, to the first one that answers. Runs the TLS
    /// handshake if TLS starts right after connecting. The time-out applies to each address.
    pub fn open(peer: &Peer, timeout: Duration) -> Result<Self, ProbeError> {
        Self::open_first(peer, |_, only| Self::open_only(only, timeout))
    }

    /// Like [`BlockingConnection::open`], but also runs the greeting of a channel, TLS included. Skips addresses whose greeting fails, unless the
    /// log-in is rejected permanently.
    pub(super) fn open_greeted(
        peer: &Peer,
        channel: &mut dyn Channel,
        timeout: Duration,
    ) -> Result<Self, ProbeError> {
        Self::open_first(peer, |address, only| {
            let mut line = Self::open_only(only, timeout)?;
            channel.set_address(address);
            let greeted = line.greet(channel);
            greeted.inspect_err(|_| channel.forget()).map(|()| line)
        })
    }

    /// Like [`BlockingConnection::open`], but also logs a session in, TLS included. Skips addresses whose log-in fails, unless it is rejected
    /// permanently.
    pub fn open_logged_in(
        peer: &Peer,
        session: &mut dyn SqlSession,
        timeout: Duration,
    ) -> Result<Self, ProbeError> {
        Self::open_first(peer, |address, only| {
            let mut line = Self::open_only(only, timeout)?;
            session.set_address(address);
            let logged_in = line.log_in(session);
            logged_in.inspect_err(|_| session.forget()).map(|()| line)
        })
    }

    /// Opens the first address of a peer that can be opened; only the first address if the peer does not fail over. If all fail, returns
    /// the first error, or the error that is final.
    fn open_first(
        peer: &Peer,
        mut open: impl FnMut(u16, &Peer) -> Result<Self, ProbeError>,
    ) -> Result<Self, ProbeError> {
        let tried = if peer.selection.fails_over() { peer.endpoints.len() } else { 1 };
        let mut first_error = None;
        for address in 0..tried {
            match open(address as u16, &peer.at(address)) {
                Ok(line) => return Ok(line),
                Err(error) if error.is_final() => return Err(error),
                Err(error) => first_error = first_error.or(Some(error)),
            }
        }
        first_error.map_or_else(|| open(0, peer), Err)
    }

    /// Connects to the first and only address of a peer.
    fn open_only(peer: &Peer, timeout: Duration) -> Result<Self, ProbeError> {
        let opened_at = Instant::now();
        let endpoint = &peer.endpoints[0];
        let stream = Stream::open(endpoint, timeout)
            .map_err(|error| ProbeError::connect(endpoint.to_string(), &error, timeout))?;
        let mut line = Self {
            stream,
            endpoint: endpoint.to_string(),
            tls: peer.tls.clone(),
            is_tls_on_request: peer.tls_on_request,
            session: None,
            buffer: vec![0; BUFFER_BYTES],
            plain: Vec::new(),
            taken: 0,
            timeout,
            opened_at,
        };
        if line.tls.is_some() && !peer.tls_on_request {
            line.secure()?;
        }
        Ok(line)
    }

    /// Runs the greeting of a channel within the time-out, TLS included.
    pub fn greet(&mut self, channel: &mut dyn Channel) -> Result<(), ProbeError> {
        self.run_greeting(channel)
    }

    /// Like [`BlockingConnection::greet`], for a session without a script.
    pub fn log_in(&mut self, session: &mut dyn SqlSession) -> Result<(), ProbeError> {
        self.run_greeting(session)
    }

    /// Sets the time-out of later reads and writes. `None`: they wait forever.
    pub fn set_timeout(&mut self, timeout: Option<Duration>) -> io::Result<()> {
        self.timeout = timeout.unwrap_or(Duration::MAX);
        self.stream.set_timeout(timeout)
    }

    /// Returns the TLS version, cipher suite, and key exchange. `None` without TLS.
    pub fn tls(&self) -> Option<String> {
        self.session.as_ref().and_then(|session| session.description())
    }

    /// Returns whether the server asked for a client certificate and none is configured.
    pub fn is_certificate_missing(&self) -> bool {
        self.tls.as_ref().is_some_and(|tls| tls.identity.is_requested() && !tls.identity.is_present())
    }

    /// Returns the time since the connection began to be opened.
    pub fn age(&self) -> Duration {
        self.opened_at.elapsed()
    }

    /// Returns the address of the peer, as text for messages.
    pub fn endpoint(&self) -> &str {
        &self.endpoint
    }

    /// Returns whether an idle connection cannot be used again: the peer closed it, or sent unsolicited bytes.
    pub(super) fn is_stale(&self) -> bool {
        self.plain.len() > self.taken || self.stream.has_input()
    }

    fn run_greeting<G: Greeter + ?Sized>(&mut self, greeter: &mut G) -> Result<(), ProbeError> {
        let begun = Instant::now();
        let mut greeting = greeter.greet();
        let mut bytes = Vec::new();
        for _ in 0..ROUNDS_MAX {
            match greeting {
                Greeting::Done => {}
                Greeting::Send => {
                    self.write_all(greeter.outgoing()).map_err(|error| self.broken(&error))?;
                    let count = greeter.outgoing().len();
                    greeter.sent(count);
                }
                Greeting::Await => {}
                Greeting::Secure => {
                    if !bytes.is_empty() {
                        let reason = "unencrypted bytes arrived where TLS was expected".to_owned();
                        return Err(self.refused(ErrorClass::ExcessBytes, reason));
                    }
                    self.secure()?;
                    if let Some(certificate) = self.session.as_ref().and_then(|tls| tls.peer_certificate()) {
                        greeter.certificate(certificate);
                    }
                    greeting = greeter.secured();
                    continue;
                }
            }
            if greeting == Greeting::Done {
                // Bytes after the greeting are the first that a read returns.
                self.plain.drain(..self.taken);
                self.taken = 0;
                self.plain.splice(..0, bytes);
                return Ok(());
            }
            if bytes.is_empty() {
                if begun.elapsed() > self.timeout {
                    return Err(
                        self.refused(ErrorClass::TimeoutLogin, format!("no end within {:?}", self.timeout))
                    );
                }
                self.read_some(&mut bytes)?;
            }
            let outcome = greeter.greeted(&bytes);
            let (used, next) = outcome.map_err(|fault| self.refused(fault.class, fault.message()))?;
            bytes.drain(..used.min(bytes.len()));
            if used == 0 && next == Greeting::Await {
                self.read_some(&mut bytes)?;
            }
            greeting = next;
        }
        Err(self.refused(ErrorClass::ProtocolError, "the log-in has no end".to_owned()))
    }

    fn read_some(&mut self, bytes: &mut Vec<u8>) -> Result<(), ProbeError> {
        let start = bytes.len();
        bytes.resize(start + BUFFER_BYTES, 0);
        let count = self.read(&mut bytes[start..]).map_err(|error| self.broken(&error))?;
        bytes.truncate(start + count);
        if count == 0 {
            return Err(self.refused(ErrorClass::LoginClosed, "the peer closed the connection".to_owned()));
        }
        Ok(())
    }

    fn broken(&self, error: &io::Error) -> ProbeError {
        match error.kind() {
            io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut => {
                self.refused(ErrorClass::TimeoutLogin, format!("no answer within {:?}", self.timeout))
            }
            io::ErrorKind::ConnectionReset => self.refused(
                ErrorClass::LoginReset,
                "the peer reset the connection within the log-in".to_owned(),
            ),
            _ => self.refused(ErrorClass::LoginReset, error.to_string()),
        }
    }

    /// Waits briefly for the server's decision on the client certificate, if it asked for one: in TLS 1.3 it can reject the
    /// certificate after the handshake.
    pub(super) fn await_verdict(&mut self) -> Result<(), ProbeError> {
        let (Some(tls), Some(session)) = (&self.tls, &mut self.session) else { return Ok(()) };
        if !tls.identity.is_requested() {
            return Ok(());
        }
        let refused =
            |class: ErrorClass, reason| ProbeError::Tls { endpoint: self.endpoint.clone(), class, reason };
        let broken = |error: &io::Error| refused(ErrorClass::TlsReset, error.to_string());
        let within = VERDICT_TIMEOUT.min(self.timeout);
        self.stream.set_timeout(Some(within)).map_err(|error| broken(&error))?;
        let (class, sentence) = match self.stream.read(&mut self.buffer) {
            Ok(0) => {
                (ErrorClass::TlsClosed, "the peer closed after it asked for a client certificate".to_owned())
            }
            Ok(count) => match session.receive(&mut self.buffer[..count], &mut self.plain) {
                Ok(()) => return Ok(()),
                Err(fault) => (fault.class, fault.sentence),
            },
            Err(error) => match error.kind() {
                io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut => return Ok(()),
                _ => return Err(broken(&error)),
            },
        };
        Err(refused(class, with_tls_help(class, sentence, tls, self.is_tls_on_request)))
    }

    fn refused(&self, class: ErrorClass, reason: String) -> ProbeError {
        ProbeError::Greeting { endpoint: self.endpoint.clone(), class, reason }
    }

    /// Switches to TLS.
    fn secure(&mut self) -> Result<(), ProbeError> {
        let endpoint = self.endpoint.clone();
        let refused =
            |class: ErrorClass, reason| ProbeError::Tls { endpoint: endpoint.clone(), class, reason };
        let timeout = self.timeout;
        let broken = |error: io::Error| match error.kind() {
            io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut => {
                refused(ErrorClass::TimeoutTls, format!("no answer within {timeout:?}; does it speak TLS?"))
            }
            io::ErrorKind::ConnectionReset => {
                refused(ErrorClass::TlsReset, "the peer reset the connection within the handshake".to_owned())
            }
            _ => refused(ErrorClass::TlsError, format!("the handshake broke off: {error}")),
        };
        let (Some(tls), None) = (&self.tls, &self.session) else {
            return Err(refused(
                ErrorClass::TlsError,
                "the log-in asks for TLS where there is none to go over to".into(),
            ));
        };
        let mut session = Session::new(tls, 0).map_err(|fault| refused(fault.class, fault.sentence))?;
        let until = Instant::now().checked_add(self.timeout);
        while !session.is_established {
            self.stream.write_all(&std::mem::take(&mut session.outgoing)).map_err(broken)?;
            let count = self.stream.read(&mut self.buffer).map_err(broken)?;
            if until.is_some_and(|until| Instant::now() > until) {
                return Err(broken(io::ErrorKind::TimedOut.into()));
            }
            if count == 0 {
                return Err(refused(
                    ErrorClass::TlsClosed,
                    "the peer closed during the handshake; does it speak TLS?".into(),
                ));
            }
            // Decryption overwrites the buffer.
            let answer = self.buffer[..count.min(ANSWER_BYTES)].to_vec();
            let received = session.receive(&mut self.buffer[..count], &mut self.plain);
            received.map_err(|fault| {
                let other =
                    plaintext_server_error(&answer).filter(|_| fault.class == ErrorClass::TlsProtocol);
                let (class, sentence) = other.unwrap_or((fault.class, fault.sentence));
                refused(class, with_tls_help(class, sentence, tls, self.is_tls_on_request))
            })?;
        }
        // The last flight is sent so that the peer does not log an incomplete handshake.
        self.stream.write_all(&std::mem::take(&mut session.outgoing)).map_err(broken)?;
        self.session = Some(Box::new(session));
        Ok(())
    }
}

impl Read for BlockingConnection {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        if out.is_empty() {
            return Ok(0);
        }
        while self.taken == self.plain.len() {
            let Some(session) = &mut self.session else { return self.stream.read(out) };
            self.taken = 0;
            self.plain.clear();
            let count = if session.peer_closed { 0 } else { self.stream.read(&mut self.buffer)? };
            if count == 0 {
                return Ok(0);
            }
            let received = session.receive(&mut self.buffer[..count], &mut self.plain);
            received.map_err(|fault| io::Error::new(io::ErrorKind::InvalidData, fault.sentence))?;
            self.stream.write_all(&std::mem::take(&mut session.outgoing))?;
        }
        let count = out.len().min(self.plain.len() - self.taken);
        out[..count].copy_from_slice(&self.plain[self.taken..self.taken + count]);
        self.taken += count;
        Ok(count)
    }
}

impl Write for BlockingConnection {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let Some(session) = &mut self.session else { return self.stream.write(bytes) };
        let count = bytes.len().min(BUFFER_BYTES);
        let sealed = session.send(&bytes[..count]);
        sealed.map_err(|fault| io::Error::new(io::ErrorKind::BrokenPipe, fault.sentence))?;
        self.stream.write_all(&std::mem::take(&mut session.outgoing))?;
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Stream {
    pub(super) fn open(endpoint: &Endpoint, timeout: Duration) -> io::Result<Self> {
        let stream = match endpoint {
            Endpoint::Tcp(address) => {
                let stream = TcpStream::connect_timeout(address, timeout)?;
                stream.set_nodelay(true)?;
                Self::Tcp(stream)
            }
            Endpoint::Unix(path) => {
                // A blocking connect would wait forever if the backlog is full.
                let stream = UnixStream::from(super::unix::dial(path)?.socket.into_fd());
                stream.set_nonblocking(false)?;
                Self::Unix(stream)
            }
        };
        stream.set_timeout(Some(timeout))?;
        Ok(stream)
    }

    /// Returns whether a read would not wait: there are bytes, an end of stream, or an error.
    fn has_input(&self) -> bool {
        let flags = RecvFlags::PEEK | RecvFlags::DONTWAIT;
        let read = match self {
            Self::Tcp(stream) => recv(stream, &mut [0_u8; 1], flags),
            Self::Unix(stream) => recv(stream, &mut [0_u8; 1], flags),
        };
        !matches!(read, Err(Errno::AGAIN))
    }

    fn set_timeout(&self, timeout: Option<Duration>) -> io::Result<()> {
        match self {
            Self::Tcp(stream) => {
                stream.set_read_timeout(timeout)?;
                stream.set_write_timeout(timeout)
            }
            Self::Unix(stream) => {
                stream.set_read_timeout(timeout)?;
                stream.set_write_timeout(timeout)
            }
        }
    }
}

impl Read for Stream {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        loop {
            let read = match self {
                Self::Tcp(stream) => stream.read(out),
                Self::Unix(stream) => stream.read(out),
            };
            match read {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                read => return read,
            }
        }
    }
}

impl Write for Stream {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Tcp(stream) => stream.write(bytes),
            Self::Unix(stream) => stream.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Greeting interface that channels and SQL sessions share.
trait Greeter {
    /// Notes that `count` bytes of [`Greeter::outgoing`] were sent.
    fn sent(&mut self, _count: usize) {}
    fn greet(&mut self) -> Greeting;
    fn greeted(&mut self, bytes: &[u8]) -> Result<(usize, Greeting), PeerFault>;
    fn certificate(&mut self, der: &[u8]);
    fn secured(&mut self) -> Greeting;
    fn outgoing(&self) -> &[u8];
}

impl Greeter for dyn Channel + '_ {
    fn greet(&mut self) -> Greeting {
        Channel::greet(self)
    }

    fn greeted(&mut self, bytes: &[u8]) -> Result<(usize, Greeting), PeerFault> {
        Channel::greeted(self, bytes)
    }

    fn certificate(&mut self, der: &[u8]) {
        Channel::certificate(self, der);
    }

    fn secured(&mut self) -> Greeting {
        Channel::secured(self)
    }

    fn outgoing(&self) -> &[u8] {
        Channel::outgoing(self)
    }

    fn sent(&mut self, count: usize) {
        Channel::sent(self, count);
    }
}

impl Greeter for dyn SqlSession + '_ {
    fn greet(&mut self) -> Greeting {
        SqlSession::greet(self)
    }

    fn greeted(&mut self, bytes: &[u8]) -> Result<(usize, Greeting), PeerFault> {
        SqlSession::greeted(self, bytes)
    }

    fn certificate(&mut self, der: &[u8]) {
        SqlSession::certificate(self, der);
    }

    fn secured(&mut self) -> Greeting {
        SqlSession::secured(self)
    }

    fn outgoing(&self) -> &[u8] {
        SqlSession::outgoing(self)
    }
}

/// Recognizes the answer of a server without TLS, from its first bytes: class of the error, and what the server speaks.
fn plaintext_server_error(answer: &[u8]) -> Option<(ErrorClass, String)> {
    wire::step::with_extra_keys().find_map(|(_, further)| (further.recognize_plaintext)(answer))
}
