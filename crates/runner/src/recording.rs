//! Records facts learned before a load: version of the server, scale, and protocol.

use engine::Endpoint;
use evidence::NewRun;
use plan::{Plan, Select, Trust};
use serde_json::json;

use crate::prepare::Prepared;

/// Adds facts from the first connection to the record of an SQL run. Returns them in words.
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
    // The hash covers what was requested, so it does not change.
    if let (Some(scale), true) = (prepared.learnt.scale, sql.is_scale_asked) {
        new.plan_json["sql"]["scale"] = json!(scale);
    }
    Some(words)
}

/// Note on a missing client certificate. The server may serve such clients, or reject their requests.
const NO_CERTIFICATE: &str =
    "the server asked for a client certificate, and was shown none; --cert FILE --key FILE presents one";

/// Records facts about the connections to an HTTP server. Returns them in words.
pub(crate) fn record_way(plan: &Plan, prepared: &Prepared, new: &mut NewRun) -> Vec<String> {
    let missing = prepared.is_certificate_missing.then(|| NO_CERTIFICATE.to_owned());
    record_addresses(plan, prepared, new).into_iter().chain(missing).collect()
}

/// Records the addresses of the load, and returns how they are chosen; `None` if there is only one.
fn record_addresses(plan: &Plan, prepared: &Prepared, new: &mut NewRun) -> Option<String> {
    let addresses: Vec<String> = prepared.endpoints.iter().map(Endpoint::to_string).collect();
    if addresses.len() < 2 {
        return None;
    }
    // The hash covers what was requested, so it does not change.
    new.plan_json["addresses"] = json!(addresses);
    let rule = match plan.endpoints.iter().find_map(|endpoint| endpoint.select.as_ref()) {
        Some(Select::Cluster(_)) => "commands go to the node of their slot, of",
        Some(Select::First) => "connections go to the first that answers, of",
        Some(Select::InTurn | Select::Hash(..)) | None => "connections go in turn to",
    };
    let words = format!("{rule} {}", addresses.join(", "));
    new.plan_text = format!("{}; {words}", new.plan_text);
    Some(words)
}
