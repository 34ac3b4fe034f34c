//! Records facts learned before a load: version of the server, scale, and protocol.

use engine::Endpoint;
use evidence::NewRun;
use plan::{Plan, Select};
use serde_json::json;

use crate::databases;
use crate::prepare::Prepared;

/// Records the facts that systems reported over their first connections. Returns them as text. `None` if they reported none.
pub(crate) fn record_facts(plan: &Plan, prepared: &Prepared, new: &mut NewRun) -> Option<String> {
    // Databases are the last endpoints.
    let kind = databases::kind_at(plan.endpoints.last()?);
    (kind.record_facts)(plan, prepared, new)
}

/// Records the facts that systems reported, or how connections reach them if they reported none. Returns them as text.
pub(crate) fn record(plan: &Plan, prepared: &Prepared, new: &mut NewRun) -> Vec<String> {
    match record_facts(plan, prepared, new) {
        Some(words) => vec![words],
        None => (databases::kind_at(plan.endpoint()).record_connection)(plan, prepared, new),
    }
}

/// Note on a missing client certificate. The server may serve such clients, or reject their requests.
const NO_CERTIFICATE: &str =
    "the server asked for a client certificate, and was shown none; --cert FILE --key FILE presents one";

/// Records facts about the connections to an HTTP server. Returns them as text.
pub(crate) fn record_connection(plan: &Plan, prepared: &Prepared, new: &mut NewRun) -> Vec<String> {
    let missing = prepared.is_certificate_missing.then(|| NO_CERTIFICATE.to_owned());
    record_addresses(plan, prepared, new).into_iter().chain(missing).collect()
}

/// Records the addresses of the load, and returns how they are chosen. `None` if there is only one.
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
