//! Certificate verifier for a file of authorities. It also accepts the certificates in the file themselves as server certificates,
//! as OpenSSL does.

use std::sync::Arc;

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::{WebPkiServerVerifier, verify_server_name};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::server::ParsedCertificate;
use rustls::{CertificateError, DigitallySignedStruct, Error, SignatureScheme};

/// Error of rustls for a CA certificate that a server presents as its own.
const AUTHORITY_AS_SERVER: &str = "CaUsedAsEndEntity";

/// Checks issuer, dates, and host name of a certificate; the host name unless `is_any_name`.
#[derive(Debug)]
pub(super) struct CertificateCheck {
    pub(super) verifier: Arc<WebPkiServerVerifier>,
    /// Certificates in the file of authorities. A server may present one of them as its own.
    pub(super) named: Vec<CertificateDer<'static>>,
    /// Whether the host name is ignored. Databases are often reached under a name that the certificate lacks.
    pub(super) is_any_name: bool,
}

impl CertificateCheck {
    /// Returns whether a certificate is in the file of authorities, and its only problem is that no authority issued it as a server
    /// certificate. rustls reports this error only if the dates are valid.
    fn is_named(&self, certificate: &CertificateDer<'_>, error: &Error) -> bool {
        let is_unsigned = match error {
            Error::InvalidCertificate(CertificateError::UnknownIssuer) => true,
            Error::InvalidCertificate(CertificateError::Other(why)) => {
                why.0.to_string() == AUTHORITY_AS_SERVER
            }
            _ => false,
        };
        is_unsigned && self.named.contains(certificate)
    }
}

impl ServerCertVerifier for CertificateCheck {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        let verified =
            self.verifier.verify_server_cert(end_entity, intermediates, server_name, ocsp_response, now);
        let verified = match verified {
            Err(error) if self.is_named(end_entity, &error) => {
                verify_server_name(&ParsedCertificate::try_from(end_entity)?, server_name)
                    .map(|()| ServerCertVerified::assertion())
            }
            verified => verified,
        };
        match verified {
            // The name is checked last, so everything else is valid.
            Err(Error::InvalidCertificate(
                CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. },
            )) if self.is_any_name => Ok(ServerCertVerified::assertion()),
            verified => verified,
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.verifier.verify_tls12_signature(message, certificate, signed)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.verifier.verify_tls13_signature(message, certificate, signed)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.verifier.supported_verify_schemes()
    }
}
