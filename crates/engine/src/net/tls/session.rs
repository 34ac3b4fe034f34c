//! State of one TLS connection: decrypts received records and encrypts sent bytes.

use std::sync::Arc;

use record::ErrorClass;
use rustls::HandshakeKind;
use rustls::client::UnbufferedClientConnection;
use rustls::unbuffered::{ConnectionState, EncodeError, EncryptError, UnbufferedStatus};

use super::TlsPeer;
use super::fault::{Fault, fault};

/// Max bytes of a TLS record, overhead included, rounded up.
const RECORD_BYTES: usize = 16 * 1024 + 512;
/// Max ciphertext that is kept while a message is incomplete. A TLS peer stays far below.
const INCOMING_BYTES_MAX: usize = 256 * 1024;

/// Client side of one TLS connection.
pub(crate) struct Session {
    tls: UnbufferedClientConnection,
    /// Start of the handshake by the clock of a worker; 0 if no worker set it.
    pub(crate) begun_ns: u64,
    /// Ciphertext of an incomplete record.
    incoming: Vec<u8>,
    /// Ciphertext that the socket has not taken yet.
    pub(crate) outgoing: Vec<u8>,
    pub(crate) is_established: bool,
    pub(crate) peer_closed: bool,
}

impl Session {
    /// Creates a session with an address of a peer. Its first flight is then in `outgoing`.
    pub(crate) fn new(peer: &TlsPeer, address: usize) -> Result<Self, Fault> {
        let tls =
            UnbufferedClientConnection::new(Arc::clone(&peer.config), peer.name(address)).map_err(fault)?;
        let mut session = Self {
            tls,
            begun_ns: 0,
            incoming: Vec::new(),
            outgoing: Vec::new(),
            is_established: false,
            peer_closed: false,
        };
        session.process(&mut [], &mut Vec::new())?;
        Ok(session)
    }

    /// Decrypts received bytes in place and appends the plaintext to `plain`.
    pub(crate) fn receive(&mut self, bytes: &mut [u8], plain: &mut Vec<u8>) -> Result<(), Fault> {
        if self.incoming.is_empty() {
            let used = self.process(bytes, plain)?;
            self.incoming.extend_from_slice(&bytes[used..]);
        } else {
            let mut incoming = std::mem::take(&mut self.incoming);
            incoming.extend_from_slice(bytes);
            let used = self.process(&mut incoming, plain)?;
            incoming.drain(..used);
            if !incoming.is_empty() {
                self.incoming = incoming;
            }
        }
        if self.incoming.len() > INCOMING_BYTES_MAX {
            return Err(Fault {
                class: ErrorClass::TlsError,
                sentence: "the peer sent a TLS message without end".into(),
            });
        }
        Ok(())
    }

    /// Encrypts `plain` and appends the records to `outgoing`.
    pub(crate) fn send(&mut self, plain: &[u8]) -> Result<(), Fault> {
        let UnbufferedStatus { state, .. } = self.tls.process_tls_records(&mut []);
        let ConnectionState::WriteTraffic(mut traffic) = state.map_err(fault)? else {
            return Err(Fault {
                class: ErrorClass::TlsError,
                sentence: "the peer closed its side of TLS".into(),
            });
        };
        let (mut start, mut room) = (self.outgoing.len(), plain.len() + plain.len() / RECORD_BYTES * 64 + 64);
        loop {
            self.outgoing.resize(start + room, 0);
            match traffic.encrypt(plain, &mut self.outgoing[start..]) {
                Ok(written) => {
                    start += written;
                    self.outgoing.truncate(start);
                    return Ok(());
                }
                Err(EncryptError::InsufficientSize(needed)) => room = needed.required_size,
                Err(EncryptError::EncryptExhausted) => {
                    return Err(Fault {
                        class: ErrorClass::TlsError,
                        sentence: "the TLS keys are worn out".into(),
                    });
                }
            }
        }
    }

    /// Removes the first `sent` bytes of `outgoing`, which the socket took.
    pub(crate) fn consume_outgoing(&mut self, sent: usize) {
        if sent == self.outgoing.len() {
            self.outgoing.clear();
        } else {
            self.outgoing.drain(..sent);
        }
    }

    /// Returns the server's own certificate, DER-encoded. `None` before it was received.
    pub(crate) fn peer_certificate(&self) -> Option<&[u8]> {
        Some(self.tls.peer_certificates()?.first()?.as_ref())
    }

    /// Returns whether the handshake resumed a session of an earlier connection, without certificates.
    pub(crate) fn is_resumed(&self) -> bool {
        self.tls.handshake_kind() == Some(HandshakeKind::Resumed)
    }

    /// Returns the negotiated version, cipher suite, and key exchange. `None` before they are negotiated.
    pub(crate) fn description(&self) -> Option<String> {
        let version = self.tls.protocol_version()?;
        let suite = self.tls.negotiated_cipher_suite()?;
        let group = self
            .tls
            .negotiated_key_exchange_group()
            .map_or(String::new(), |group| format!(" {:?}", group.name()));
        Some(format!("{version:?} {:?}{group}", suite.suite()).replace("TLSv1_", "TLSv1."))
    }

    /// Lets rustls process ciphertext until it needs more. Returns the number of bytes that it consumed.
    fn process(&mut self, bytes: &mut [u8], plain: &mut Vec<u8>) -> Result<usize, Fault> {
        let mut used = 0;
        loop {
            let UnbufferedStatus { mut discard, state, .. } =
                self.tls.process_tls_records(&mut bytes[used..]);
            let goes_on = match state.map_err(fault)? {
                ConnectionState::EncodeTlsData(mut data) => {
                    let start = self.outgoing.len();
                    let written = match data.encode(&mut []) {
                        Err(EncodeError::InsufficientSize(needed)) => {
                            self.outgoing.resize(start + needed.required_size, 0);
                            data.encode(&mut self.outgoing[start..]).unwrap_or(0)
                        }
                        Ok(written) => written,
                        Err(EncodeError::AlreadyEncoded) => 0,
                    };
                    self.outgoing.truncate(start + written);
                    true
                }
                ConnectionState::TransmitTlsData(data) => {
                    data.done();
                    true
                }
                ConnectionState::ReadTraffic(mut traffic) => {
                    while let Some(record) = traffic.next_record() {
                        let record = record.map_err(fault)?;
                        discard += record.discard;
                        plain.extend_from_slice(record.payload);
                    }
                    true
                }
                ConnectionState::WriteTraffic(_) => {
                    self.is_established = true;
                    false
                }
                ConnectionState::PeerClosed => {
                    // rustls reports this state on every call, so the loop ends here.
                    self.peer_closed = true;
                    false
                }
                ConnectionState::Closed => {
                    self.peer_closed = true;
                    false
                }
                _ => false,
            };
            used += discard;
            if !goes_on {
                return Ok(used);
            }
        }
    }
}
