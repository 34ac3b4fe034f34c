//! Reads the keys of a system over TLS: `insecure`, `cacert`, `cert`, `key`, and `resume-tls`.

use wire::step::requests;

use super::reading::Reading;
use super::tree::Node;
use crate::study::TlsText;

const KEYS: [&str; 5] = ["insecure", "cacert", "cert", "key", "resume-tls"];

/// Reads the keys. `url` is the URL of the system, with its variables.
pub(crate) fn read(node: &Node, url: &str, known: &[String], reading: &mut Reading<'_>) -> TlsText {
    let first = KEYS.iter().find_map(|key| node.entry(key));
    let mut secure = requests().schemes.iter().filter(|scheme| scheme.is_secure);
    let is_secure =
        secure.any(|scheme| url.strip_prefix(scheme.name).is_some_and(|rest| rest.starts_with("://")));
    if let Some(entry) = first.filter(|_| !is_secure) {
        let what = format!("`{}` requires a `url` that begins with https://", entry.key);
        let help = "remove it, or write https://; a database has parameters for certificates in its URL";
        reading.at(entry.key_at, what, help);
    }
    let insecure = node.text_of("insecure") == Some("true");
    if let Some(entry) = node.entry("cacert").filter(|_| insecure) {
        let what = "`cacert` verifies certificates, and `insecure` accepts any";
        reading.at(entry.key_at, what, "remove one of them");
    }
    if let Some(entry) = node.entry("key").filter(|_| node.entry("cert").is_none()) {
        let what = "`key` requires a client certificate";
        reading.at(entry.key_at, what, "add `cert: FILE` with the certificate of this key");
    }
    let resume_tls = node.text_of("resume-tls") == Some("true");
    let mut path = |key: &str| {
        let value = node.get(key)?;
        Some(reading.braced(value, value.text()?, known))
    };
    TlsText { insecure, cacert: path("cacert"), cert: path("cert"), key: path("key"), resume_tls }
}

/// Reports these keys at the top of a plan with `systems`, because there they apply to `url`.
pub(crate) fn report_misplaced(root: &Node, reading: &mut Reading<'_>) {
    for entry in KEYS.iter().filter_map(|key| root.entry(key)) {
        let what = format!("`{0}` requires `url`; a system has its own `{0}`", entry.key);
        reading.at(entry.key_at, what, "move it into the systems");
    }
}
