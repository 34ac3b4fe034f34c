//! TLS configuration, made once before the load: trusted authorities, names, client certificate, and application protocols.

use std::path::PathBuf;
use std::sync::Arc;

use rustls::client::{Resumption, WebPkiServerVerifier};
use rustls::crypto::CryptoProvider;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, RootCertStore};

use super::certificate_check::CertificateCheck;
use super::fault::sentence;
use super::identity::{ClientFiles, Identity};
use super::insecure::AnyCertificate;

/// Number of servers whose sessions are kept to be resumed. A server has a few sessions at a time.
const SESSIONS_MAX: usize = 256;

/// Server certificates that are accepted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TlsTrust {
    /// Certificates issued by the system's authorities.
    System,
    /// Certificates issued by the authorities in this PEM file, and the certificates in the file themselves.
    Authorities(PathBuf),
    /// Certificates issued by the authorities in this PEM file, or by the system's if `None`, for any host name.
    AnyName(Option<PathBuf>),
    /// Any certificate. The identity of the peer is unknown, which results must state.
    Anything,
}

/// TLS side of a peer: its names, and the checks that it must pass.
#[derive(Clone, Debug)]
pub struct TlsPeer {
    pub(crate) config: Arc<ClientConfig>,
    /// Names by address of the peer. The first also serves addresses without a name of their own.
    names: Arc<[ServerName<'static>]>,
    /// Client certificate that is presented on request.
    pub(crate) identity: Arc<Identity>,
}

/// Reason why TLS cannot be set up.
#[derive(Debug, thiserror::Error)]
pub enum TlsError {
    /// Host is neither a DNS name nor an IP address.
    #[error("{0:?} is not a name that a certificate can have\n  help: write a host name or an IP address")]
    Name(String),
    /// System's list of authorities is empty or unreadable.
    #[error(
        "the system has no list of certificate authorities ({0})\n  help: install ca-certificates, or name a file with --cacert"
    )]
    NoSystemAuthorities(String),
    /// File of authorities has no usable certificate.
    #[error("{} has no PEM certificate that can be used ({reason})\n  help: give a file of CERTIFICATE blocks", path.display())]
    Authorities {
        /// Path of the file.
        path: PathBuf,
        /// Reason.
        reason: String,
    },
    /// File of the client certificate has no usable certificate.
    #[error("{} has no PEM certificate that can be used ({reason})\n  help: give a file of CERTIFICATE blocks", path.display())]
    Certificate {
        /// Path of the file.
        path: PathBuf,
        /// Reason.
        reason: String,
    },
    /// Only a certificate file was given, and it has no private key.
    #[error("{} has no private key for the client certificate\n  help: name the file of the key with --key", cert.display())]
    NoKey {
        /// Path of the certificate file.
        cert: PathBuf,
    },
    /// File has no usable private key.
    #[error("{} has no private key that can be used ({reason})\n  help: give a file with a PRIVATE KEY block", path.display())]
    Key {
        /// Path of the file.
        path: PathBuf,
        /// Reason.
        reason: String,
    },
    /// Private key is encrypted. This program does not ask for passphrases.
    #[error("the private key in {0} is encrypted\n  help: write it without its passphrase: openssl pkey -in {0} -out plain.pem", path.display())]
    EncryptedKey {
        /// Path of the key file.
        path: PathBuf,
    },
    /// Certificate and private key do not match.
    #[error("the private key in {} does not match the certificate in {}\n  help: name the key that the certificate was made for", key.display(), cert.display())]
    KeyDoesNotMatch {
        /// Path of the certificate file.
        cert: PathBuf,
        /// Path of the key file.
        key: PathBuf,
    },
    /// TLS library rejected the configuration.
    #[error("TLS cannot be set up: {0}")]
    Library(#[from] rustls::Error),
}

impl TlsError {
    /// Returns whether a file given by the user caused the error, not this machine.
    pub fn is_about_file(&self) -> bool {
        matches!(
            self,
            Self::Authorities { .. }
                | Self::Certificate { .. }
                | Self::NoKey { .. }
                | Self::Key { .. }
                | Self::EncryptedKey { .. }
                | Self::KeyDoesNotMatch { .. }
        )
    }
}

fn server_name(host: &str) -> Result<ServerName<'static>, TlsError> {
    ServerName::try_from(host.trim_matches(['[', ']']).to_owned())
        .map_err(|_| TlsError::Name(host.to_owned()))
}

impl TlsPeer {
    /// Creates a peer with the host name `host`. No application protocol is offered.
    pub fn new(host: &str, trust: &TlsTrust) -> Result<Self, TlsError> {
        let names = Arc::from([server_name(host)?]);
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let builder =
            ClientConfig::builder_with_provider(provider.clone()).with_safe_default_protocol_versions()?;
        let mut config = match trust {
            TlsTrust::System => builder.with_root_certificates(system_authorities()?).with_no_client_auth(),
            TlsTrust::Authorities(path) => {
                let custom_verifier = custom_verifier(authorities_in(path)?, false, provider)?;
                builder.dangerous().with_custom_certificate_verifier(custom_verifier).with_no_client_auth()
            }
            TlsTrust::AnyName(path) => {
                let no_names = || system_authorities().map(|roots| (roots, Vec::new()));
                let roots = path.as_ref().map_or_else(no_names, authorities_in)?;
                let custom_verifier = custom_verifier(roots, true, provider)?;
                builder.dangerous().with_custom_certificate_verifier(custom_verifier).with_no_client_auth()
            }
            TlsTrust::Anything => builder
                .dangerous()
                .with_custom_certificate_verifier(Arc::new(AnyCertificate::new()))
                .with_no_client_auth(),
        };
        // Without resumption every handshake is a full one, as for a new user, and threads share no cache.
        config.resumption = Resumption::disabled();
        let identity = Arc::new(Identity::default());
        config.client_auth_cert_resolver = identity.clone();
        Ok(Self { config: Arc::new(config), names, identity })
    }

    /// Sets the host name that the certificate at each address must match, in the order of the addresses. Without hosts, all
    /// addresses keep the name of the peer.
    pub fn with_names<'a>(mut self, hosts: impl Iterator<Item = &'a str>) -> Result<Self, TlsError> {
        let names: Arc<[_]> = hosts.map(server_name).collect::<Result<_, _>>()?;
        if !names.is_empty() {
            self.names = names;
        }
        Ok(self)
    }

    /// Returns the host name of an address.
    pub(crate) fn name(&self, address: usize) -> ServerName<'static> {
        self.names.get(address).unwrap_or(&self.names[0]).clone()
    }

    /// Returns the peer with only one of its addresses.
    pub(crate) fn at(&self, address: usize) -> Self {
        Self { names: Arc::from([self.name(address)]), ..self.clone() }
    }

    /// Lets a connection resume a session of an earlier one, as browsers do, if the server offers it. All threads share the sessions.
    #[must_use]
    pub fn with_resumption(mut self) -> Self {
        Arc::make_mut(&mut self.config).resumption = Resumption::in_memory_sessions(SESSIONS_MAX);
        self
    }

    /// Sets the client certificate that is presented if the server asks for one.
    pub fn with_client_certificate(mut self, files: &ClientFiles) -> Result<Self, TlsError> {
        self.identity = Arc::new(Identity::read(files)?);
        Arc::make_mut(&mut self.config).client_auth_cert_resolver = self.identity.clone();
        Ok(self)
    }

    /// Sets the application protocols that are offered by ALPN (RFC 7301), in order of preference. An empty list offers none.
    pub fn with_alpn(mut self, names: &[&str]) -> Self {
        Arc::make_mut(&mut self.config).alpn_protocols =
            names.iter().map(|name| name.as_bytes().to_vec()).collect();
        self
    }
}

fn system_authorities() -> Result<RootCertStore, TlsError> {
    let found = rustls_native_certs::load_native_certs();
    let mut store = RootCertStore::empty();
    store.add_parsable_certificates(found.certs);
    if store.is_empty() {
        let reason = found.errors.first().map_or_else(|| "none found".to_owned(), ToString::to_string);
        return Err(TlsError::NoSystemAuthorities(reason));
    }
    Ok(store)
}

/// Authorities, and the certificates of the file that lists them.
type Roots = (RootCertStore, Vec<CertificateDer<'static>>);

fn custom_verifier(
    (roots, named): Roots,
    is_any_name: bool,
    provider: Arc<CryptoProvider>,
) -> Result<Arc<CertificateCheck>, TlsError> {
    let verifier = WebPkiServerVerifier::builder_with_provider(Arc::new(roots), provider).build();
    // The store of roots is not empty, so this error is unexpected.
    let verifier = verifier.map_err(|error| rustls::Error::General(error.to_string()))?;
    Ok(Arc::new(CertificateCheck { verifier, named, is_any_name }))
}

fn authorities_in(path: &PathBuf) -> Result<Roots, TlsError> {
    let fault = |reason: String| TlsError::Authorities { path: path.clone(), reason };
    let (mut store, mut named) = (RootCertStore::empty(), Vec::new());
    for certificate in CertificateDer::pem_file_iter(path).map_err(|error| fault(error.to_string()))? {
        let certificate = certificate.map_err(|error| fault(error.to_string()))?;
        store.add(certificate.clone()).map_err(|error| fault(sentence(&error)))?;
        named.push(certificate);
    }
    if store.is_empty() { Err(fault("no certificate in it".to_owned())) } else { Ok((store, named)) }
}
