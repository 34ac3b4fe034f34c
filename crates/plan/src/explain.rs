//! A plan in words, and as JSON for the record; neither shows a secret.

use load::{Closed, Load, Open, Order, Spacing, ThinkTime};
use serde_json::{Value, json};

use crate::plan::{Pin, Plan, PlannedStep, Trust};
use crate::units::{show_duration, show_rate};

/// Headers whose values may be shown; any other may hold a secret, whatever its name.
const SHOWN_HEADERS: [&str; 9] = [
    "accept",
    "accept-encoding",
    "accept-language",
    "cache-control",
    "connection",
    "content-type",
    "host",
    "range",
    "user-agent",
];

impl Plan {
    /// The load in a few words: `100 users, closed`.
    pub fn load_words(&self) -> String {
        match &self.load {
            Load::Closed(closed) => closed_words(closed),
            Load::Open(open) => open_words(open),
        }
    }

    /// When it ends, in a few words: `10s after 2s of warm-up`.
    pub fn stop_words(&self) -> String {
        let time = self.stop.at_ns.map(|at_ns| show_duration(at_ns - self.warm_up_ns));
        let count = self.stop.requests.map(|requests| format!("{requests} requests"));
        let both = [count, time].into_iter().flatten().collect::<Vec<_>>().join(" or ");
        match self.warm_up_ns {
            0 => both,
            ns => format!("{both} after {} of warm-up", show_duration(ns)),
        }
    }

    /// What a reader of the result must know about how it was got.
    pub fn stamps(&self) -> Vec<String> {
        match self.peer.tls {
            Some(Trust::Anything) => vec!["TLS certificates were not verified (--insecure)".to_owned()],
            _ => Vec::new(),
        }
    }

    /// All of it as JSON, for the record and its hash. Secrets are replaced.
    pub fn to_json(&self) -> Value {
        let scenarios = self.scenarios.list.iter().map(|scenario| {
            let visits: Vec<Value> = match &scenario.order {
                Order::InTurn(visits) => visits.iter().map(|visit| json!({ "step": visit.step })).collect(),
                Order::Mix(visits) => visits
                    .iter()
                    .map(|(visit, weight)| json!({ "step": visit.step, "weight": weight }))
                    .collect(),
            };
            json!({ "name": scenario.name, "share": scenario.share, "visits": visits })
        });
        json!({
            "title": self.title,
            "steps": self.steps.iter().map(step_json).collect::<Vec<Value>>(),
            "scenarios": scenarios.collect::<Vec<Value>>(),
            "variables": self.variables,
            "unix_socket": self.peer.unix_socket.as_ref().map(|path| path.display().to_string()),
            "tls": self.peer.tls.as_ref().map(|trust| match trust {
                Trust::System => "system",
                Trust::Authorities(_) => "cacert",
                Trust::Anything => "insecure",
            }),
            "load": self.load_words(),
            "stop": { "at_ns": self.stop.at_ns, "requests": self.stop.requests },
            "warm_up_ns": self.warm_up_ns,
            "timeout_ns": self.timeout_ns,
            "connect_timeout_ns": self.connect_timeout_ns,
            "threads": self.threads,
            "pin": match &self.pin {
                Pin::No => json!("no"),
                Pin::Auto => json!("auto"),
                Pin::Cores(cores) => json!(cores),
            },
            "seed": self.seed,
            "log_per_second": self.log_per_second,
        })
    }
}

fn step_json(step: &PlannedStep) -> Value {
    let PlannedStep { name, request, checks, captures } = step;
    let headers = request.headers.iter().map(|(name, value)| {
        let is_shown = SHOWN_HEADERS.iter().any(|shown| name.eq_ignore_ascii_case(shown));
        json!([name, if is_shown { value.as_str() } else { "(not shown)" }])
    });
    json!({
        "name": name,
        "method": request.method,
        "host": request.host,
        "headers": headers.collect::<Vec<Value>>(),
        "body_bytes": request.body.as_ref().map(Vec::len),
        "keep_alive": request.keep_alive,
        "expect": {
            "status": checks.status.to_string(),
            "headers": checks.headers.iter().map(|check| check.name.as_str()).collect::<Vec<_>>(),
            "body_checks": checks.bodies.len(),
            "size": checks.size.map(|size| json!([size.min_bytes, size.max_bytes])),
        },
        "saves": captures.iter().map(|capture| capture.variable).collect::<Vec<_>>(),
    })
}

fn closed_words(closed: &Closed) -> String {
    let mut words = format!("{} user{}, closed", closed.users, if closed.users == 1 { "" } else { "s" });
    if closed.ramp_up_ns > 0 {
        words += &format!(", coming in over {}", show_duration(closed.ramp_up_ns));
    }
    words += &match closed.think_time {
        ThinkTime::None => String::new(),
        ThinkTime::Constant { ns } => format!(", thinking {}", show_duration(ns)),
        ThinkTime::Uniform { min_ns, max_ns } => {
            format!(", thinking {} to {}", show_duration(min_ns), show_duration(max_ns))
        }
        ThinkTime::Exponential { mean_ns } => {
            format!(", thinking {} on average (exponential)", show_duration(mean_ns))
        }
    };
    if closed.pacing_ns > 0 {
        words += &format!(", one request every {} each", show_duration(closed.pacing_ns));
    }
    if let Some(per_s) = closed.throughput_per_s {
        words += &format!(", at most {} together", show_rate(per_s));
    }
    words
}

fn open_words(open: &Open) -> String {
    let rates: Vec<f64> =
        open.profile.segments().iter().flat_map(|part| [part.from_per_s, part.to_per_s]).collect();
    let (first, last) = (rates.first().copied().unwrap_or(0.0), rates.last().copied().unwrap_or(0.0));
    let rate = if rates.iter().all(|rate| *rate == first) {
        show_rate(first)
    } else {
        format!("{} to {} (peak {})", show_rate(first), show_rate(last), show_rate(open.profile.peak_per_s()))
    };
    let spacing = match open.spacing {
        Spacing::Even => "even",
        Spacing::Poisson { .. } => "Poisson",
    };
    let shed = open.shed_after_ns.map_or(String::new(), |ns| format!(", shed after {}", show_duration(ns)));
    format!("{rate}, open, {spacing}, over {} connections{shed}", open.connections)
}
