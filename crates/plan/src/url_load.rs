//! Writes the load of a URL with protocol-specific steps as the text of a plan, for commands that run plans on running servers.

use serde_json::{Map, Value as Json};
use url::Url;
use wire::Protocol;
use wire::step::{Step, StepDefinition, Value};

use crate::command_mix::{CommandMix, CommandMixSpec};
use crate::fault::Fault;
use crate::query_step;
use crate::request::{access_of, escape_braces, url_fault};
use crate::requests::protocol_of_url;

/// Running server with protocol-specific steps, and the load on it as the text of a plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UrlLoad {
    /// URL of the system: without the query, which is a step.
    pub url: String,
    /// Host, port, and path, such as `127.0.0.1:6379/2`.
    pub name: String,
    /// The sections `scenario` and `data`, each on one line.
    pub text: String,
}

/// Protocol of a URL, if it owns its steps.
fn owner(url: &str) -> Option<(&'static Protocol, &'static StepDefinition)> {
    let protocol = protocol_of_url(url)?;
    Some((protocol, protocol.own_steps()?))
}

/// Whether the protocol of a URL has protocol-specific steps, as `redis://` does.
pub fn owns_steps(url: &str) -> bool {
    owner(url).is_some()
}

impl UrlLoad {
    /// Reads a URL and the flags of a command mix. The query of the URL is the step; without one, the mix is the load.
    ///
    /// # Errors
    ///
    /// All errors in the URL and in the flags. A password in the URL is one, because the text of a plan is stored.
    pub fn read(text: &str, mix: &CommandMixSpec) -> Result<Self, Vec<Fault>> {
        if let Some(fault) = url_fault(text) {
            return Err(vec![fault]);
        }
        let (Ok(url), Some((_, own))) = (Url::parse(text), owner(text)) else {
            return Err(vec![Fault::new(
                "URL",
                "its protocol has no steps of its own",
                "write a plan: tenbin init",
            )]);
        };
        let mut faults = Vec::new();
        if let Some(log_in) = own.log_in {
            if url.password().is_some() {
                let help = format!(
                    "leave it out, and set {}; or write a plan: tenbin init",
                    log_in.password_variable
                );
                faults.push(Fault::new("URL", "a URL with a password is not supported here", help));
            }
            let wrong = (log_in.check)(&access_of(&url)).err();
            faults.extend(wrong.map(|wrong| Fault::new("URL", wrong.what, wrong.help)));
        }
        let sections = sections(&url, own, mix, &mut faults);
        match sections {
            Some(text) if faults.is_empty() => Ok(Self { url: without_step(&url), name: name(&url), text }),
            _ => Err(faults),
        }
    }
}

/// URL of the system: without the parts of the query that are a step.
fn without_step(url: &Url) -> String {
    let options = access_of(url).options;
    let mut system = url.clone();
    system.set_query(None);
    if !options.is_empty() {
        system.query_pairs_mut().extend_pairs(options);
    }
    system.set_fragment(None);
    system.into()
}

/// Host, port, and path of a URL.
fn name(url: &Url) -> String {
    let default = wire::find_scheme(url.scheme()).map_or(0, |(_, scheme)| scheme.port);
    let port = url.port().unwrap_or(default);
    let host = url.host_str().unwrap_or_default();
    format!("{host}:{port}{}", url.path().trim_end_matches('/'))
}

/// The sections `scenario` and `data` of a plan. `None` if there are errors.
fn sections(
    url: &Url,
    own: &StepDefinition,
    mix: &CommandMixSpec,
    faults: &mut Vec<Fault>,
) -> Option<String> {
    let unwritten = |faults: &mut Vec<Fault>| {
        let what = format!("a load of {} cannot be given by flags here", own.noun);
        faults.push(Fault::new("URL", what, "write a plan: tenbin init"));
    };
    if let Some(workload) = own.workload.filter(|_| !query_step::has_step(url, own)) {
        let CommandMix { steps, variables, data, .. } = mix.check(workload, faults)?;
        let written: Option<Vec<Json>> =
            steps.iter().map(|step| written(step.as_ref(), steps.len() > 1)).collect();
        let source = data.first().and_then(|data| source(&data.source));
        let (Some(steps), Some(variable), Some(source)) = (written, variables.first(), source) else {
            unwritten(faults);
            return None;
        };
        let data = Json::Object(Map::from_iter([(variable.clone(), source)]));
        return Some(format!("scenario: {}\ndata: {data}\n", Json::Array(steps)));
    }
    for (flag, _) in mix.given().into_iter().filter(|(_, is_given)| *is_given) {
        faults.push(Fault::new(flag, "the query of the URL is the step", "remove one of the two"));
    }
    let step = query_step::read(url, own, None);
    let step = step.map_err(|wrong| faults.push(Fault::new(wrong.part, wrong.what, wrong.help))).ok()?;
    match written(step.as_ref(), false) {
        Some(step) => Some(format!("scenario: {}\n", Json::Array(vec![step]))),
        None => {
            unwritten(faults);
            None
        }
    }
}

/// A step as an item of `scenario`. `None` if its protocol does not write steps.
fn written(step: &dyn Step, is_drawn: bool) -> Option<Json> {
    let (key, value) = step.written()?;
    let mut entries = Map::from_iter([(key.to_owned(), value_json(&value)?)]);
    // The title is used as a name, in which braces are literal.
    entries.insert("name".to_owned(), escape_braces(&step.title()).into());
    if is_drawn {
        entries.insert("weight".to_owned(), 1.into());
    }
    Some(Json::Object(entries))
}

/// Value in plan syntax. `None` if it is not text.
fn value_json(value: &Value) -> Option<Json> {
    let text = |bytes: &[u8]| str::from_utf8(bytes).ok().map(Json::from);
    match value {
        Value::Text(value) => text(&value.template),
        Value::Bytes(bytes) => text(bytes),
        Value::Size(size) => Some(size.bytes.into()),
        Value::Count(count) => Some((*count).into()),
        Value::Truth(truth) => Some((*truth).into()),
        Value::Variable(_) => None,
        Value::Nothing => Some(Json::Null),
        Value::List(items) => items.iter().map(value_json).collect::<Option<Vec<_>>>().map(Json::Array),
        Value::Table(entries) => {
            let entries = entries.iter().map(|(key, value)| Some(((*key).to_owned(), value_json(value)?)));
            entries.collect::<Option<Map<_, _>>>().map(Json::Object)
        }
        Value::Named(entries) => {
            let entries = entries.iter().map(|(name, value)| Some((name.clone(), value_json(value)?)));
            entries.collect::<Option<Map<_, _>>>().map(Json::Object)
        }
    }
}

/// Source of keys in plan syntax. `None` for a source that command mixes do not have.
fn source(source: &load::values::Source) -> Option<Json> {
    use load::values::Source;
    let (kind, min, max) = match source {
        Source::Uniform { min, max } => ("uniform", min, max),
        Source::Zipf { min, max, .. } => ("zipf", min, max),
        Source::Latest { min, max, .. } => ("latest", min, max),
        Source::Sequence { from, until: Some(until), .. } => ("sequence", from, until),
        _ => return None,
    };
    Some(Json::Object(Map::from_iter([(kind.to_owned(), format!("{min}..{max}").into())])))
}
