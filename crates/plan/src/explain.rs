//! A plan in words, without secrets.

use load::{Closed, Load, Open, Spacing, ThinkTime};

use crate::plan::{Plan, Trust};
use crate::units::{show_duration, show_rate};

impl Plan {
    /// The load in a few words: `100 users, closed`.
    pub fn load_words(&self) -> String {
        match &self.load {
            Load::Closed(closed) => {
                closed_words(closed, if self.scenarios.has_sequels() { "iteration" } else { self.unit() })
            }
            Load::Open(open) if self.scenarios.has_sequels() => format!("iterations at {}", open_words(open)),
            Load::Open(open) => open_words(open),
        }
    }

    /// When it ends, in a few words: `10s after 2s of warm-up`.
    pub fn stop_words(&self) -> String {
        let measured = |at_ns: u64| show_duration(at_ns - self.warm_up_ns);
        let time = self.stop.at_ns.map(|at_ns| match self.first_end_ns() {
            Some(first_ns) => format!("{} to {}, until it is steady,", measured(first_ns), measured(at_ns)),
            None => measured(at_ns),
        });
        let count = self.stop.requests.map(|requests| format!("{requests} {}s", self.unit()));
        let both = [count, time].into_iter().flatten().collect::<Vec<_>>().join(" or ");
        match self.warm_up_ns {
            0 => both,
            ns => format!("{both} after {} of warm-up", show_duration(ns)),
        }
    }

    /// What one step is.
    fn unit(&self) -> &'static str {
        match &self.sql {
            Some(_) if self.is_mixed() => "step",
            Some(_) => "transaction",
            None => "request",
        }
    }

    /// What a reader of the result must know about how it was got.
    pub fn stamps(&self) -> Vec<String> {
        match self.peer.tls {
            Some(Trust::Anything) if self.sql.is_none() => {
                vec!["TLS certificates were not verified (--insecure)".to_owned()]
            }
            _ => match &self.sql {
                Some(sql) if sql.database.file.is_some() => {
                    vec!["SQLite runs within the generator: its CPU time is the generator's".to_owned()]
                }
                _ => Vec::new(),
            },
        }
    }
}

/// `unit` is what pauses and limits count.
fn closed_words(closed: &Closed, unit: &str) -> String {
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
        words += &format!(", one {unit} every {} each", show_duration(closed.pacing_ns));
    }
    if let Some(per_s) = closed.throughput_per_s {
        let of_what = if unit != "iteration" { "" } else { " iterations" };
        words += &format!(", at most {}{of_what} together", show_rate(per_s));
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
