//! TLS errors: their classes and their sentences.

use record::ErrorClass;
use rustls::{AlertDescription, CertificateError};

/// Error that ends a TLS connection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Fault {
    /// Class of the error.
    pub(crate) class: ErrorClass,
    /// Sentence for messages.
    pub(crate) sentence: String,
}

/// Converts an error of rustls.
pub(super) fn fault(error: rustls::Error) -> Fault {
    use rustls::Error;
    let class = match &error {
        Error::InvalidCertificate(reason) => match reason {
            CertificateError::Expired | CertificateError::ExpiredContext { .. } => ErrorClass::TlsExpired,
            CertificateError::NotValidYet | CertificateError::NotValidYetContext { .. } => {
                ErrorClass::TlsNotYetValid
            }
            CertificateError::UnknownIssuer => ErrorClass::TlsUnknownIssuer,
            CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. } => {
                ErrorClass::TlsWrongHost
            }
            CertificateError::Revoked => ErrorClass::TlsRevoked,
            _ => ErrorClass::TlsCertificate,
        },
        Error::AlertReceived(AlertDescription::ProtocolVersion) | Error::PeerIncompatible(_) => {
            ErrorClass::TlsIncompatible
        }
        Error::AlertReceived(_) => ErrorClass::TlsAlert,
        Error::InvalidMessage(_) | Error::InappropriateMessage { .. } => ErrorClass::TlsProtocol,
        _ => ErrorClass::TlsError,
    };
    Fault { class, sentence: sentence(&error) }
}

/// Describes an error of rustls in a sentence.
pub(super) fn sentence(error: &rustls::Error) -> String {
    use rustls::Error;
    match error {
        Error::InvalidCertificate(reason) => certificate_sentence(reason),
        Error::AlertReceived(AlertDescription::CertificateRequired) => {
            "the peer requires a client certificate, and was shown none".to_owned()
        }
        Error::AlertReceived(alert) => {
            format!("the peer ended TLS with the alert \"{}\"", variant_words(alert))
        }
        Error::PeerIncompatible(why) => {
            format!("the peer has no TLS in common with this program: {}", variant_words(why))
        }
        Error::PeerMisbehaved(why) => format!("the peer broke TLS: {}", variant_words(why)),
        Error::InvalidMessage(why) => {
            format!("the peer sent a malformed TLS message: {}", variant_words(why))
        }
        Error::InappropriateMessage { got_type, .. } => {
            format!("the peer sent a TLS message out of turn: {}", variant_words(got_type))
        }
        Error::InappropriateHandshakeMessage { got_type, .. } => {
            format!("the peer sent a TLS handshake message out of turn: {}", variant_words(got_type))
        }
        other => other.to_string(),
    }
}

fn certificate_sentence(reason: &CertificateError) -> String {
    use CertificateError as Reason;
    let what = match reason {
        Reason::Expired | Reason::ExpiredContext { .. } => "the certificate has expired",
        Reason::NotValidYet | Reason::NotValidYetContext { .. } => "the certificate is not valid yet",
        Reason::UnknownIssuer => "no trusted authority signed the certificate",
        Reason::NotValidForName => "the certificate is for another name",
        Reason::NotValidForNameContext { presented, .. } if presented.is_empty() => {
            "the certificate names no host"
        }
        Reason::NotValidForNameContext { expected, presented } => {
            let presented = presented.iter().map(|name| strip_type(name)).collect::<Vec<_>>().join(", ");
            return format!("the certificate is not for {}: it is for {presented}", expected.to_str());
        }
        Reason::Revoked => "the certificate was revoked",
        Reason::BadEncoding => "the certificate is malformed",
        Reason::BadSignature => "the signature of the certificate is wrong",
        Reason::Other(why) => {
            return format!("the certificate cannot be used: {}", in_words(&why.0.to_string()));
        }
        reason => return format!("the certificate cannot be used: {}", variant_words(reason)),
    };
    what.to_owned()
}

/// Strips the type that rustls puts around a name: `DnsName("example.com")` becomes `example.com`.
fn strip_type(name: &str) -> &str {
    let inside = name.split_once('(').and_then(|(_, rest)| rest.strip_suffix(')'));
    inside.unwrap_or(name).trim_matches('"')
}

/// Returns the name of an enum variant as words: `HandshakeFailure` becomes "handshake failure".
fn variant_words(case: &impl std::fmt::Debug) -> String {
    in_words(&format!("{case:?}"))
}

fn in_words(name: &str) -> String {
    let mut words = String::with_capacity(name.len() + 8);
    let mut was_small = false;
    for character in name.chars() {
        if character.is_uppercase() && was_small {
            words.push(' ');
        }
        was_small = character.is_lowercase() || character.is_ascii_digit();
        words.extend(character.to_lowercase());
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn enum_variants_are_rendered_as_words() {
        for (error, words) in [
            (
                rustls::Error::AlertReceived(AlertDescription::HandshakeFailure),
                "the peer ended TLS with the alert \"handshake failure\"",
            ),
            (
                rustls::Error::InvalidCertificate(CertificateError::BadEncoding),
                "the certificate is malformed",
            ),
            (
                rustls::Error::InvalidCertificate(CertificateError::InvalidOcspResponse),
                "the certificate cannot be used: invalid ocsp response",
            ),
        ] {
            assert_eq!(sentence(&error), words);
        }
    }
}
