//! What was learnt before a load begins, as its record says it: the server's version, the scale, and the protocol.

use engine::Endpoint;
use evidence::NewRun;
use plan::{Plan, Trust};
use serde_json::json;

use crate::prepare::Prepared;

/// Puts what the first connection taught into the record of a run of SQL. Returns it in words, too.
pub(crate) fn record(plan: &Plan, prepared: &Prepared, new: &mut NewRun) -> Option<String> {
    let sql = plan.sql()?;
    if new.system_version.is_none() {
        new.system_version.clone_from(&prepared.learnt.version);
    }
    let mut words = sql.words(prepared.learnt.scale);
    let is_encrypted = prepared.tls.is_some();
    if is_encrypted && plan.peers().any(|peer| peer.tls == Some(Trust::Anything)) {
        new.stamps.push(format!("TLS certificates were not verified ({} verifies them)", sql.verified_by()));
    }
    let way = match (is_encrypted, &sql.database.file) {
        (_, Some(_)) => None,
        (true, None) => Some("over TLS"),
        (false, None) if plan.peers().all(|peer| peer.unix_socket.is_some()) => Some("over a Unix socket"),
        (false, None) => Some("without TLS"),
    };
    words.extend(way.map(|way| format!(", {way}")));
    new.plan_text = format!("{}; {words}", new.plan_text);
    // The hash stays that of what was asked for.
    if let (Some(scale), true) = (prepared.learnt.scale, sql.is_scale_asked) {
        new.plan_json["sql"]["scale"] = json!(scale);
    }
    Some(words)
}

/// A server may serve clients without a certificate, or reject their requests.
const NO_CERTIFICATE: &str =
    "the server asked for a client certificate, and was shown none; --cert FILE --key FILE presents one";

/// Keeps what a reader must know of the way to a server of HTTP. Returns it in words, too.
pub(crate) fn record_way(prepared: &Prepared, new: &mut NewRun) -> Vec<String> {
    let missing = prepared.is_certificate_missing.then(|| NO_CERTIFICATE.to_owned());
    record_addresses(prepared, new).into_iter().chain(missing).collect()
}

/// Keeps the addresses that connections use in turn, if there are several.
fn record_addresses(prepared: &Prepared, new: &mut NewRun) -> Option<String> {
    let addresses: Vec<String> = prepared.endpoints.iter().map(Endpoint::to_string).collect();
    if addresses.len() < 2 {
        return None;
    }
    // The hash stays that of what was asked for.
    new.plan_json["addresses"] = json!(addresses);
    let words = format!("connections go in turn to {}", addresses.join(", "));
    new.plan_text = format!("{}; {words}", new.plan_text);
    Some(words)
}
