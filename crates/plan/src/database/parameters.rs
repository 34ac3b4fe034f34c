//! Parameters of connection URLs: all that the servers' own clients know, and how each is supported here.

use super::written::UrlParts;
use crate::fault::Fault;
use crate::file::near;

/// A parameter that a server's own client knows.
#[derive(Debug)]
pub(super) struct Parameter {
    /// Name in a URL.
    pub(super) name: &'static str,
    /// Environment variable that gives its default. `None` if there is none, or it is not read.
    pub(super) variable: Option<&'static str>,
    /// Support of its values.
    pub(super) support: Support,
}

/// Support of a parameter.
#[derive(Debug)]
pub(super) enum Support {
    /// Supported with the effect that it has in the server's client.
    Full,
    /// Accepted, because it cannot change what is sent. Holds the reason.
    #[allow(dead_code, reason = "the documents have it")]
    NoEffect(&'static str),
    /// Only these values are accepted, because they match the behavior of Tenbin. Others are rejected with the reason.
    Only(&'static [&'static str], &'static str),
    /// Rejected. Holds the reason and help.
    Rejected(&'static str, &'static str),
}

/// Shorthand for tables: a parameter without an environment variable.
pub(super) const fn parameter(name: &'static str, support: Support) -> Parameter {
    Parameter { name, variable: None, support }
}

/// Finds a parameter by name.
pub(super) fn find<'a>(table: &'a [Parameter], name: &str) -> Option<&'a Parameter> {
    table.iter().find(|parameter| parameter.name == name)
}

/// Checks parameters from one source. `place` is shown in errors.
pub(super) fn check<'a>(
    table: &[Parameter],
    given: impl Iterator<Item = (&'a str, &'a str)>,
    place: &str,
    faults: &mut Vec<Fault>,
) {
    for (name, value) in given {
        let mut wrong = |what: String, help: String| faults.push(Fault::new(place, what, help));
        match find(table, name).map(|parameter| &parameter.support) {
            Some(Support::Full | Support::NoEffect(_)) => {}
            Some(Support::Only(values, _)) if value.is_empty() || values.contains(&value) => {}
            Some(Support::Only(values, reason)) => {
                let help = format!("write {name}={}, or remove it", values.join(&format!(" or {name}=")));
                wrong(format!("{name}={} is not supported: {reason}", value.escape_debug()), help);
            }
            Some(Support::Rejected(reason, help)) => {
                wrong(format!("{name} is not supported: {reason}"), (*help).to_owned());
            }
            None => {
                let known = table.iter().filter(|known| matches!(known.support, Support::Full));
                let names: Vec<&str> = known.map(|known| known.name).collect();
                let help = match near::nearest(name, names.iter().copied()) {
                    Some(near) => format!("write {near}"),
                    None => format!("write one of {}", names.join(", ")),
                };
                wrong(format!("unknown parameter {name:?}"), help);
            }
        }
    }
}

impl UrlParts {
    /// Checks the parameters of the URL against a table.
    pub(super) fn check_parameters(&self, table: &[Parameter], faults: &mut Vec<Fault>) {
        let given = self.parameters.iter().map(|(name, value)| (name.as_str(), value.as_str()));
        check(table, given, &self.shown, faults);
    }
}
