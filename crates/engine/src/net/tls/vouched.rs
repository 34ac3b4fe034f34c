//! Accepts what named authorities vouch for, and certificates that were themselves named as trusted, as OpenSSL does.

use std::sync::Arc;

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::{WebPkiServerVerifier, verify_server_name};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::server::ParsedCertificate;
use rustls::{CertificateError, DigitallySignedStruct, Error, SignatureScheme};

/// The word of the library for a certificate that is an authority's and shown as a server's own.
const AUTHORITY_AS_SERVER: &str = "CaUsedAsEndEntity";

/// Checks the issuer, the dates and, unless any will do, the name of a certificate.
#[derive(Debug)]
pub(super) struct Vouched {
    pub(super) verifier: Arc<WebPkiServerVerifier>,
    /// Those in the file that was named: a server may show one of them as its own.
    pub(super) named: Vec<CertificateDer<'static>>,
    /// Databases are often reached by another name.
    pub(super) is_any_name: bool,
}

impl Vouched {
    /// Whether nothing is wrong with a certificate but that no authority signed it for a server, and it was named itself. The
    /// library says so only of certificates whose dates are right.
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

impl ServerCertVerifier for Vouched {
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
            // The name is looked at last: everything else is right.
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
