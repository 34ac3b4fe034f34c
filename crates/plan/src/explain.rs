//! Describes a plan as text, without secrets.

use load::{Closed, Load, Open, Schedule, Stop, ThinkTime};
use wire::step::Unit;

use crate::check_load::{CheckedLoad, Destination};
use crate::endpoint::{Endpoint, Trust};
use crate::plan::{Plan, PlannedStep, Stacks, first_end_ns};
use crate::study::Study;
use crate::units::{show_duration, show_rate};

/// Unit of a load in which users run several steps.
const ITERATION: &str = "iteration";
/// Unit of a load in which steps have different units.
const STEP: &str = "step";
/// Suffix for the words of a load during which the system's stacks are sampled.
pub(crate) const PROFILED_SUFFIX: &str = ", profiled";

impl CheckedLoad {
    /// Amount of load and its end, as text.
    pub(crate) fn words(&self, unit: Unit) -> (String, String) {
        let unit = unit.noun();
        (
            load_words(&self.load, self.pipeline, unit)
                + &growth_suffix(self.grows_to)
                + &lifetime_suffix(self.connection_lifetime_ns)
                + profile_suffix(self.profile),
            stop_words(&self.stop, self.extend, self.warm_up_ns, unit),
        )
    }
}

impl Study {
    /// Words for a load of the study, as its runs have them.
    pub fn run_words(&self, load: usize) -> String {
        if let Some(tool) = &self.loads[load].tool {
            return tool.load_words();
        }
        if let Some(replay) = &self.loads[load].replay {
            return replay.words();
        }
        let followed = self.loads[load].scenario.as_ref().map(|scenario| self.with_scenario(scenario, load));
        let study = followed.as_ref().unwrap_or(self);
        let script = &study.script;
        let unit = if script.scenarios.has_later_steps() { ITERATION } else { unit(&script.steps) };
        let destination = Destination { unit: script.unit(), ..Destination::default() };
        let checked = study.loads[load].spec.clone().check(destination, &mut Vec::new());
        load_words(&checked.load, checked.pipeline, unit)
            + &growth_suffix(checked.grows_to)
            + profile_suffix(checked.profile)
    }
}

impl Study {
    /// Notes for loads that external load generators make.
    pub fn tool_stamps(&self) -> Vec<String> {
        let mut stamps: Vec<String> = Vec::new();
        for load in &self.loads {
            let stamp = load.tool.as_ref().map(|tool| tool_stamp(tool.tool));
            let words =
                stamp.map(
                    |stamp| if self.loads.len() > 1 { format!("load {}: {stamp}", load.name) } else { stamp },
                );
            stamps.extend(words.filter(|words| !stamps.contains(words)));
        }
        if !stamps.is_empty() {
            stamps.push("percentiles of a tool over several runs are medians over runs".to_owned());
        }
        stamps
    }
}

impl Plan {
    /// Words for the load: `100 users, closed`.
    pub fn load_words(&self) -> String {
        let is_of_tool = self.tool().is_some();
        self.unprofiled_load_words() + if is_of_tool { "" } else { profile_suffix(self.profile) }
    }

    /// Words for the load, without the suffix of profiled loads.
    pub fn unprofiled_load_words(&self) -> String {
        if let Some(tool) = self.tool() {
            return tool_words(tool.tool.name, tool.users);
        }
        if let Some(replay) = &self.replay {
            return replay.words();
        }
        let unit = if self.scenarios.has_later_steps() { ITERATION } else { unit(&self.steps) };
        load_words(&self.load, self.pipeline, unit)
            + &growth_suffix(self.grows_to)
            + &lifetime_suffix(self.connection_lifetime_ns)
    }

    /// Words for the end of the load: `10s after 2s of warm-up`.
    pub fn stop_words(&self) -> String {
        if let Some(replay) = &self.replay {
            return replay.stop_words();
        }
        stop_words(&self.stop, self.extend, self.warm_up_ns, unit(&self.steps))
    }

    /// Notes about how the result was measured, which belong with every result.
    pub fn stamps(&self) -> Vec<String> {
        if let Some(action) = self.tool() {
            return vec![tool_stamp(action.tool)];
        }
        let trusting = |endpoint: &&Endpoint| endpoint.peer().tls == Some(Trust::Anything);
        let flag = |endpoint: &Endpoint| endpoint.load.insecure_flag();
        let insecure = self.endpoints.iter().filter(trusting).find_map(flag);
        let insecure = insecure.map(|flag| format!("TLS certificates were not verified ({flag})"));
        let in_process = self.endpoints.iter().any(Endpoint::is_in_process);
        let in_process =
            in_process.then_some("SQLite runs within the generator: its CPU time is the generator's");
        insecure.into_iter().chain(in_process.map(str::to_owned)).collect()
    }
}

/// Noun for one run of these steps.
fn unit(steps: &[PlannedStep]) -> &'static str {
    let first = steps.first().map(PlannedStep::unit).unwrap_or_default();
    if steps.iter().all(|step| step.unit() == first) { first.noun() } else { STEP }
}

/// Note that belongs with figures that an external load generator reported.
fn tool_stamp(tool: &loadtools::Tool) -> String {
    format!("{} makes the load: times are as it reports them, {}", tool.name, tool.times)
}

/// Words for the load of an external load generator: `wrk, 20 users`.
pub(crate) fn tool_words(name: &str, users: Option<u32>) -> String {
    match users {
        Some(1) => format!("{name}, 1 user"),
        Some(users) => format!("{name}, {users} users"),
        None => name.to_owned(),
    }
}

/// Words for a profiled load. Sampling costs time, so profiled loads are compared only with each other.
fn profile_suffix(profile: Option<Stacks>) -> &'static str {
    if profile.is_some() { PROFILED_SUFFIX } else { "" }
}

/// Words for the lifetime of connections. New connections cost time, so loads with different lifetimes are not compared.
fn lifetime_suffix(lifetime_ns: Option<u64>) -> String {
    lifetime_ns.map_or_else(String::new, |ns| format!(", connections renewed every {}", show_duration(ns)))
}

/// Words for the max number of connections of a load that opens them on demand.
fn growth_suffix(grows_to: Option<u32>) -> String {
    grows_to.map_or(String::new(), |max| format!(", up to {max} as needed"))
}

/// Words for a load. `unit` is the noun for one iteration.
fn load_words(load: &Load, pipeline: u32, unit: &str) -> String {
    if pipeline <= 1 {
        return serial_load_words(load, unit);
    }
    // The text counts connections, so users are divided by the concurrent requests per connection.
    let of_connections = match load {
        Load::Closed(closed) => Load::Closed(Closed { users: closed.users / pipeline, ..closed.clone() }),
        Load::Open(open) => Load::Open(Open { connections: open.connections / pipeline, ..open.clone() }),
    };
    format!("{}, {pipeline} {unit}s under way on each connection", serial_load_words(&of_connections, unit))
}

fn serial_load_words(load: &Load, unit: &str) -> String {
    match load {
        Load::Closed(closed) => closed_words(closed, unit),
        Load::Open(open) if unit == ITERATION && matches!(open.schedule, Schedule::Rate(..)) => {
            format!("iterations at {}", open_words(open))
        }
        Load::Open(open) => open_words(open),
    }
}

fn stop_words(stop: &Stop, extend: u32, warm_up_ns: u64, unit: &str) -> String {
    let measured = |at_ns: u64| show_duration(at_ns - warm_up_ns);
    let time = stop.at_ns.map(|at_ns| match first_end_ns(stop, extend, warm_up_ns) {
        Some(first_ns) => format!("{} to {}, until steady,", measured(first_ns), measured(at_ns)),
        None => measured(at_ns),
    });
    let count = stop.requests.map(|requests| format!("{requests} {unit}s"));
    let both = [count, time].into_iter().flatten().collect::<Vec<_>>().join(" or ");
    match warm_up_ns {
        0 => both,
        ns => format!("{both} after {} of warm-up", show_duration(ns)),
    }
}

/// Words for a closed load. `unit` is the noun for what pauses and limits count.
fn closed_words(closed: &Closed, unit: &str) -> String {
    let mut words = format!("{} user{}, closed", closed.users, if closed.users == 1 { "" } else { "s" });
    if let Some(schedule) = &closed.schedule {
        words += &format!(", playing {}", schedule_words(schedule));
    }
    if closed.ramp_up_ns > 0 {
        words += &format!(", ramping up over {}", show_duration(closed.ramp_up_ns));
    }
    words += &match closed.think_time {
        ThinkTime::None => String::new(),
        ThinkTime::Constant { ns } => format!(", thinking {}", show_duration(ns)),
        ThinkTime::Uniform { min_ns, max_ns } => {
            format!(", thinking {} to {}", show_duration(min_ns), show_duration(max_ns))
        }
        ThinkTime::Exponential { constant_ns: 0, mean_ns } => {
            format!(", thinking {} on average (exponential)", show_duration(mean_ns))
        }
        ThinkTime::Exponential { constant_ns, mean_ns } => {
            let (constant, mean) = (show_duration(constant_ns), show_duration(mean_ns));
            format!(", thinking {constant} and {mean} on average (exponential)")
        }
    };
    if closed.pacing_ns > 0 {
        words += &format!(", one {unit} every {} each", show_duration(closed.pacing_ns));
    }
    if let Some(per_s) = closed.throughput_per_s {
        let of_what = if unit != ITERATION { "" } else { " iterations" };
        words += &format!(", at most {}{of_what} together", show_rate(per_s));
    }
    words
}

fn open_words(open: &Open) -> String {
    let schedule = match &open.schedule {
        Schedule::Rate(..) => schedule_words(&open.schedule),
        Schedule::Recorded(_) | Schedule::Streamed(_) => format!("{}, open", schedule_words(&open.schedule)),
    };
    let shed = open.shed_after_ns.map_or(String::new(), |ns| format!(", shed after {}", show_duration(ns)));
    format!("{schedule}, over {} connections{shed}", open.connections)
}

fn schedule_words(schedule: &Schedule) -> String {
    let (profile, spacing) = match schedule {
        Schedule::Rate(profile, spacing) => (profile, spacing),
        Schedule::Recorded(recording) => {
            return match recording.arrivals().len() {
                1 => "1 recorded arrival".to_owned(),
                arrivals => format!("{arrivals} recorded arrivals"),
            };
        }
        Schedule::Streamed(_) => return "recorded arrivals".to_owned(),
    };
    let rates: Vec<f64> =
        profile.segments().iter().flat_map(|part| [part.from_per_s, part.to_per_s]).collect();
    let (first, last) = (rates.first().copied().unwrap_or(0.0), rates.last().copied().unwrap_or(0.0));
    let rate = if rates.iter().all(|rate| *rate == first) {
        show_rate(first)
    } else {
        format!("{} to {} (peak {})", show_rate(first), show_rate(last), show_rate(profile.peak_per_s()))
    };
    format!("{rate}, open, {}", spacing.process.title)
}
