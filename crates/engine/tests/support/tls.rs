//! Small blocking TLS server, and an authority that signs valid and invalid certificates for it.
#![allow(dead_code, reason = "each test file uses its own part")]

use std::io::{Read, Write};
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use rcgen::{
    BasicConstraints, Certificate, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair, date_time_ymd,
};
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::danger::ClientCertVerifier;
use rustls::server::{NoClientAuth, WebPkiClientVerifier};
use rustls::{RootCertStore, ServerConfig, ServerConnection, StreamOwned, SupportedProtocolVersion};

/// Time-out of reads and writes of the server.
const TIMEOUT: Duration = Duration::from_secs(10);

impl Identity {
    /// Writes the certificate to a PEM file.
    pub(crate) fn file(&self) -> tempfile::NamedTempFile {
        let mut file = tempfile::NamedTempFile::new().expect("a file");
        file.write_all(self.pem.as_bytes()).expect("written");
        file
    }

    /// Writes the private key to a PEM file.
    pub(crate) fn key_file(&self) -> tempfile::NamedTempFile {
        let mut file = tempfile::NamedTempFile::new().expect("a file");
        file.write_all(self.key_pem.as_bytes()).expect("written");
        file
    }

    /// Writes certificate and private key to one PEM file.
    pub(crate) fn file_of_both(&self) -> tempfile::NamedTempFile {
        let mut file = self.file();
        file.write_all(self.key_pem.as_bytes()).expect("written");
        file
    }
}

/// Server's end of a connection.
pub(crate) type Stream = StreamOwned<ServerConnection, Wire>;

/// Certificate chain with its private key.
#[derive(Clone)]
pub(crate) struct Identity {
    pub(crate) chain: Vec<CertificateDer<'static>>,
    pub(crate) key: Arc<PrivateKeyDer<'static>>,
    pem: String,
    key_pem: String,
}

/// Certificate authority of one test, with its certificate in a file.
pub(crate) struct Authority {
    issuer: CertifiedIssuer<'static, KeyPair>,
    folder: tempfile::TempDir,
}

impl Authority {
    /// Creates an authority. Certificates find their issuer by name, so each authority needs a name of its own.
    pub(crate) fn new(name: &str) -> Self {
        let mut params = CertificateParams::new([]).expect("no alternative names");
        params.distinguished_name.push(DnType::CommonName, name);
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let key = KeyPair::generate().expect("a key");
        let issuer = CertifiedIssuer::self_signed(params, key).expect("an authority");
        let folder = tempfile::tempdir().expect("a folder");
        std::fs::write(folder.path().join("ca.pem"), issuer.pem()).expect("written");
        Self { issuer, folder }
    }

    /// Returns the path of the authority's certificate.
    pub(crate) fn path(&self) -> PathBuf {
        self.folder.path().join("ca.pem")
    }

    /// Signs a certificate for `names`, after `change` has modified its parameters.
    pub(crate) fn sign(&self, names: &[&str], change: impl FnOnce(&mut CertificateParams)) -> Identity {
        let names: Vec<String> = names.iter().map(ToString::to_string).collect();
        let mut params = CertificateParams::new(names).expect("names");
        change(&mut params);
        let key = KeyPair::generate().expect("a key");
        let certificate = params.signed_by(&key, &self.issuer).expect("a certificate");
        identity(&certificate, &key)
    }

    /// Signs a valid certificate for localhost.
    pub(crate) fn sign_localhost(&self) -> Identity {
        self.sign(&["localhost"], |_| ())
    }
}

/// Creates a self-signed certificate for localhost.
pub(crate) fn self_signed(change: impl FnOnce(&mut CertificateParams)) -> Identity {
    let mut params = CertificateParams::new(["localhost".to_owned()]).expect("a name");
    change(&mut params);
    let key = KeyPair::generate().expect("a key");
    identity(&params.self_signed(&key).expect("a certificate"), &key)
}

fn identity(certificate: &Certificate, key: &KeyPair) -> Identity {
    let key_pem = key.serialize_pem();
    let key = PrivateKeyDer::try_from(key.serialize_der()).expect("a key");
    Identity { chain: vec![certificate.der().clone()], key: Arc::new(key), pem: certificate.pem(), key_pem }
}

/// Makes a certificate that expired long ago.
pub(crate) fn expired(params: &mut CertificateParams) {
    (params.not_before, params.not_after) = (date_time_ymd(2000, 1, 1), date_time_ymd(2001, 1, 1));
}

/// Makes a certificate that becomes valid in the far future.
pub(crate) fn not_yet_valid(params: &mut CertificateParams) {
    (params.not_before, params.not_after) = (date_time_ymd(2500, 1, 1), date_time_ymd(2501, 1, 1));
}

/// Server's socket, which can be limited to small writes.
pub(crate) struct Wire {
    socket: TcpStream,
    /// Max bytes per write; 0 means no limit.
    drip: usize,
}

impl Wire {
    /// Shuts down one or both directions without a TLS `close_notify` alert.
    pub(crate) fn shut_down(&self, how: Shutdown) {
        // The client may have closed already.
        let _ = self.socket.shutdown(how);
    }
}

impl Read for Wire {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        self.socket.read(buffer)
    }
}

impl Write for Wire {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        let end = if self.drip == 0 { bytes.len() } else { self.drip.min(bytes.len()) };
        self.socket.write(&bytes[..end])
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// Running TLS server. Dropping it stops it.
pub(crate) struct TlsServer {
    address: SocketAddr,
    connections: Arc<AtomicUsize>,
    over: Arc<AtomicBool>,
}

impl TlsServer {
    /// Starts a server that runs `act` on a thread per connection, until an error of that connection.
    pub(crate) fn start(
        identity: &Identity,
        version: &'static SupportedProtocolVersion,
        drip: usize,
        act: impl Fn(&mut Stream) -> std::io::Result<()> + Send + Sync + 'static,
    ) -> Self {
        Self::start_with(identity, version, None, &[], drip, act)
    }

    /// Like [`Self::start`]. Asks clients for a certificate if there is a verifier for it.
    fn start_with(
        identity: &Identity,
        version: &'static SupportedProtocolVersion,
        clients: Option<Arc<dyn ClientCertVerifier>>,
        alpn: &[&str],
        drip: usize,
        act: impl Fn(&mut Stream) -> std::io::Result<()> + Send + Sync + 'static,
    ) -> Self {
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let mut config = ServerConfig::builder_with_provider(provider)
            .with_protocol_versions(&[version])
            .expect("a version")
            .with_client_cert_verifier(clients.unwrap_or_else(|| Arc::new(NoClientAuth)))
            .with_single_cert(identity.chain.clone(), identity.key.clone_key())
            .expect("a certificate and its key");
        config.alpn_protocols = alpn.iter().map(|name| name.as_bytes().to_vec()).collect();
        let (config, act) = (Arc::new(config), Arc::new(act));
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port");
        let address = listener.local_addr().expect("an address");
        let (connections, over) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicBool::new(false)));
        let (counter, is_over) = (Arc::clone(&connections), Arc::clone(&over));
        thread::spawn(move || {
            for socket in listener.incoming() {
                if is_over.load(Ordering::Acquire) {
                    break;
                }
                let Ok(socket) = socket else { continue };
                counter.fetch_add(1, Ordering::AcqRel);
                let (config, act) = (Arc::clone(&config), Arc::clone(&act));
                thread::spawn(move || {
                    let connection = ServerConnection::new(config).expect("a connection");
                    for set in [TcpStream::set_read_timeout, TcpStream::set_write_timeout] {
                        set(&socket, Some(TIMEOUT)).expect("a time-out");
                    }
                    socket.set_nodelay(true).expect("no delay");
                    // An error of one connection ends only this connection.
                    let _ = act(&mut StreamOwned::new(connection, Wire { socket, drip }));
                });
            }
        });
        Self { address, connections, over }
    }

    /// Starts a server that answers every request with `reply`.
    pub(crate) fn answering(identity: &Identity, reply: Vec<u8>) -> Self {
        Self::start(identity, &rustls::version::TLS13, 0, move |stream| answer_all(stream, &reply))
    }

    /// Like [`Self::answering`], for clients that offer this application protocol, or none.
    pub(crate) fn with_alpn_protocol(identity: &Identity, alpn: &str, reply: Vec<u8>) -> Self {
        let act = move |stream: &mut Stream| answer_all(stream, &reply);
        Self::start_with(identity, &rustls::version::TLS13, None, &[alpn], 0, act)
    }

    /// Like [`Self::answering`], for clients that present a certificate of this authority. Others are rejected, or served if
    /// `is_optional`.
    pub(crate) fn requiring_client_certificate(
        identity: &Identity,
        version: &'static SupportedProtocolVersion,
        authority: &Authority,
        is_optional: bool,
        reply: Vec<u8>,
    ) -> Self {
        let mut roots = RootCertStore::empty();
        roots.add(authority.issuer.der().clone()).expect("an authority");
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let clients = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider);
        let clients = if is_optional { clients.allow_unauthenticated() } else { clients };
        let clients = clients.build().expect("a verifier");
        Self::start_with(identity, version, Some(clients), &[], 0, move |stream| answer_all(stream, &reply))
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    pub(crate) fn connections(&self) -> usize {
        self.connections.load(Ordering::Acquire)
    }
}

impl Drop for TlsServer {
    fn drop(&mut self) {
        self.over.store(true, Ordering::Release);
        // Wakes the thread that blocks in accept.
        let _ = TcpStream::connect(self.address);
    }
}

fn answer_all(stream: &mut Stream, reply: &[u8]) -> std::io::Result<()> {
    loop {
        read_request(stream)?;
        stream.write_all(reply)?;
        stream.flush()?;
    }
}

/// Reads one request, its body included.
pub(crate) fn read_request(stream: &mut Stream) -> std::io::Result<()> {
    let (mut bytes, mut piece) = (Vec::new(), [0; 16 * 1024]);
    let head_bytes = loop {
        if let Some(at) = bytes.windows(4).position(|window| window == b"\r\n\r\n") {
            break at + 4;
        }
        match stream.read(&mut piece)? {
            0 => return Err(std::io::ErrorKind::UnexpectedEof.into()),
            count => bytes.extend_from_slice(&piece[..count]),
        }
    };
    let head = String::from_utf8_lossy(&bytes[..head_bytes]).to_ascii_lowercase();
    let length = head.lines().find_map(|line| line.strip_prefix("content-length: "));
    let body_bytes: usize = length.map_or(0, |length| length.parse().expect("a length"));
    let mut left = (head_bytes + body_bytes) - bytes.len();
    while left > 0 {
        match stream.read(&mut piece)? {
            0 => return Err(std::io::ErrorKind::UnexpectedEof.into()),
            count => left -= count,
        }
    }
    Ok(())
}
