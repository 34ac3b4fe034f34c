//! Renders the first requests and transactions of each step as the first runs of a study send them. The code that generates the
//! load compiles, draws, and encodes them.

use std::net::Ipv4Addr;
use std::path::Path;

use plan::{Action, Environment, Pin, Plan, PlannedStep, Study, mask_secrets};

use crate::cores::Cores;
use crate::prepare::{Refusal, cores, job};
use crate::protocol::Steps;
use crate::run_error::RunError;
use crate::threads::{GeneratorThreads, is_named_here};

/// Maximum number of requests per step.
const SHOWN_MAX: usize = 3;
/// Maximum length of a rendered body, or of the statements of a transaction, in bytes.
const BODY_BYTES_MAX: usize = 400;
/// First placeholder for ports that are chosen when the system starts.
const FIRST_PORT: u16 = 64_001;

/// First requests of a step.
#[derive(Clone, Debug)]
pub struct Rendered {
    /// Name of the step.
    pub step: String,
    /// Up to three requests or transactions, without secrets. Arbitrary text.
    pub sent: Vec<String>,
}

/// First requests of every step, for the first variant under each load. Values saved from replies appear as their names in braces.
///
/// # Errors
///
/// The plan of a load cannot be built or compiled.
pub fn rendered(study: &Study, tenbin: &Path) -> Result<Vec<Rendered>, RunError> {
    let ports: Vec<(String, u16)> = study.ports(0).into_iter().zip(FIRST_PORT..).collect();
    let environment =
        Environment { ports: &ports, dir: Path::new("/{dir}"), tenbin, host: Ipv4Addr::LOCALHOST };
    let launch = study.launch(0, &environment);
    let chosen = Cores::choose(&study.pin, &engine::allowed_cores());
    let generator = chosen.map_err(|fault| RunError::Plan(vec![fault]))?.generator;
    let mut all: Vec<Rendered> = Vec::new();
    for load in 0..study.loads.len() {
        let mut plan = study.plan(load, &launch).map_err(RunError::Plan)?;
        if !generator.is_empty() {
            plan.pin = Pin::Cores(generator.clone());
        }
        // Requests of an external load generator are unknown, and requests of a log are not shown.
        if plan.replay.is_some() || plan.steps.iter().any(|step| matches!(step.action, Action::Tool(_))) {
            continue;
        }
        let of_load = of_plan(&plan, &ports).map_err(|refusal| match refusal {
            Refusal::Plan(fault) => RunError::Plan(vec![fault]),
            other => RunError::Plan(vec![plan::Fault::new("scenario", other.to_string(), "correct it")]),
        })?;
        let is_new = |one: &Rendered| !one.sent.is_empty() && !all.iter().any(|known| known.step == one.step);
        let new: Vec<Rendered> = of_load.into_iter().filter(is_new).collect();
        all.extend(new);
    }
    Ok(all)
}

fn of_plan(plan: &Plan, ports: &[(String, u16)]) -> Result<Vec<Rendered>, Refusal> {
    let steps = Steps::recorded(plan)?;
    let threads = GeneratorThreads::choose(plan, &cores(&plan.pin)?, is_named_here(plan));
    let job = engine::Job { threads: threads.count, ..job(plan) };
    let saved = saved(plan);
    let marks = |text: String| substitute_names(text, &saved, ports);
    let values: Vec<(u16, Vec<u8>)> =
        saved.iter().map(|(variable, name)| (*variable, format!("{{{name}}}").into_bytes())).collect();
    let requests = steps.first_requests(&job, SHOWN_MAX, &values);
    let rendered = plan.steps.iter().zip(requests).map(|(step, requests)| Rendered {
        step: step.name.clone(),
        sent: requests.sent.iter().map(|bytes| marks(request_text(plan, bytes))).collect(),
    });
    Ok(rendered.collect())
}

/// Variables that replies set, with their names.
fn saved(plan: &Plan) -> Vec<(u16, &str)> {
    let mut saved = plan.errands.saved();
    saved.extend(plan.steps.iter().flat_map(PlannedStep::saves));
    saved.sort_unstable();
    saved.dedup();
    let name = |variable: u16| plan.variables.get(usize::from(variable)).map(String::as_str);
    saved.into_iter().filter_map(|variable| Some((variable, name(variable)?))).collect()
}

/// A request as text, without secrets, with the start of its body.
fn request_text(plan: &Plan, bytes: &[u8]) -> String {
    let bytes = plan.secrets.redact(bytes);
    let head_bytes = bytes.windows(4).position(|window| window == b"\r\n\r\n").map_or(0, |end| end + 4);
    let (head, body) = bytes.split_at(head_bytes);
    let cut = body.len().min(BODY_BYTES_MAX);
    let mut text = String::from_utf8_lossy(head).replace("\r\n", "\n");
    text.push_str(&String::from_utf8_lossy(&body[..cut]));
    if cut < body.len() {
        text.push_str(&format!("… ({} bytes in all)", body.len()));
    }
    mask_secrets(&text)
}

/// Substitutes names for values that are not known yet: saved values, whose encoding and length do not matter, and ports.
fn substitute_names(mut text: String, saved: &[(u16, &str)], ports: &[(String, u16)]) -> String {
    let mut is_open = false;
    for (_, name) in saved {
        let mark = format!("{{{name}}}");
        text = text.replace(&format!("%7B{name}%7D"), &mark);
        is_open |= text.contains(&mark);
    }
    for (name, port) in ports {
        let name = if name.is_empty() { "port".to_owned() } else { format!("port.{name}") };
        text = text.replace(&format!("127.0.0.1:{port}"), &format!("127.0.0.1:{{{name}}}"));
    }
    let lines = text.lines().map(|line| match line.starts_with("Content-Length: ") && is_open {
        true => "Content-Length: …",
        false => line,
    });
    lines.collect::<Vec<_>>().join("\n")
}
