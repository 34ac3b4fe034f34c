//! Client certificate, presented to servers that ask for one.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use rustls::client::ResolvesClientCert;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::sign::CertifiedKey;
use rustls::{Error, InconsistentKeys, SignatureScheme};

use super::config::TlsError;
use super::fault::sentence;

/// Markers of encrypted keys in PEM files: PKCS #8, and the older format of OpenSSL.
const ENCRYPTED: [&str; 2] = ["BEGIN ENCRYPTED PRIVATE KEY", "Proc-Type: 4,ENCRYPTED"];

/// PEM files with a client certificate and its private key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClientFiles {
    /// File with the certificate, followed by intermediate certificates up to an authority that the server trusts.
    pub cert: PathBuf,
    /// File with the private key. `None`: the key is in the certificate file.
    pub key: Option<PathBuf>,
}

/// Client certificate, if there is one, and whether a server has asked for it.
#[derive(Debug, Default)]
pub(crate) struct Identity {
    key: Option<Arc<CertifiedKey>>,
    is_requested: AtomicBool,
}

impl Identity {
    /// Reads the files. The private key stays in memory.
    pub(super) fn read(files: &ClientFiles) -> Result<Self, TlsError> {
        let ClientFiles { cert, key } = files;
        let chain = chain(cert)?;
        let key_path = key.as_ref().unwrap_or(cert);
        let der = private_key(cert, key_path)?;
        let provider = rustls::crypto::ring::default_provider();
        let certified = CertifiedKey::from_der(chain, der, &provider).map_err(|error| match error {
            Error::InconsistentKeys(InconsistentKeys::KeyMismatch) => {
                TlsError::KeyDoesNotMatch { cert: cert.clone(), key: key_path.clone() }
            }
            error => TlsError::Key { path: key_path.clone(), reason: sentence(&error) },
        })?;
        Ok(Self { key: Some(Arc::new(certified)), is_requested: AtomicBool::new(false) })
    }

    /// Returns whether a server has asked for a client certificate so far.
    pub(crate) fn is_requested(&self) -> bool {
        self.is_requested.load(Ordering::Relaxed)
    }

    /// Returns whether there is a certificate to present.
    pub(crate) fn is_present(&self) -> bool {
        self.key.is_some()
    }
}

impl ResolvesClientCert for Identity {
    fn resolve(&self, _authorities: &[&[u8]], _schemes: &[SignatureScheme]) -> Option<Arc<CertifiedKey>> {
        self.is_requested.store(true, Ordering::Relaxed);
        self.key.clone()
    }

    fn has_certs(&self) -> bool {
        self.key.is_some()
    }
}

fn chain(path: &Path) -> Result<Vec<CertificateDer<'static>>, TlsError> {
    let fault = |reason: String| TlsError::Certificate { path: path.to_owned(), reason };
    let found = CertificateDer::pem_file_iter(path).map_err(|error| fault(error.to_string()))?;
    let chain = found.collect::<Result<Vec<_>, _>>().map_err(|error| fault(error.to_string()))?;
    if chain.is_empty() { Err(fault("no certificate in it".to_owned())) } else { Ok(chain) }
}

fn private_key(cert: &Path, path: &Path) -> Result<PrivateKeyDer<'static>, TlsError> {
    let fault = |reason: String| TlsError::Key { path: path.to_owned(), reason };
    let text = fs::read(path).map_err(|error| fault(error.to_string()))?;
    let is_encrypted =
        ENCRYPTED.iter().any(|mark| text.windows(mark.len()).any(|part| part == mark.as_bytes()));
    if is_encrypted {
        return Err(TlsError::EncryptedKey { path: path.to_owned() });
    }
    PrivateKeyDer::from_pem_slice(&text).map_err(|error| match error {
        rustls::pki_types::pem::Error::NoItemsFound if path == cert => {
            TlsError::NoKey { cert: cert.to_owned() }
        }
        rustls::pki_types::pem::Error::NoItemsFound => fault("no private key in it".to_owned()),
        error => fault(error.to_string()),
    })
}
