//! JSON format: a contract with other programs. Keys are added at the end, and never renamed.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io;

use evidence::{Bounds, Cause, Distorted, Ending, Failure, GateResult, Generator, Intervention, StudyPlace};
use judge::endings;
use record::{Counts, MinMedianMax};
use serde::Serialize;
use serde_json::{Map, Value};

use self::counted::Counted;
use super::{Format, FormatWriter};
use crate::durations::{Durations, KeyedFigures};
use crate::error::ReportError;
use crate::figures::{ErrorLine, Figures};
use crate::own_figures::{self, OwnFigureObject};
use crate::pools;
use crate::processes;
use crate::shards;
use crate::system;
use crate::text::is_unseen;
use crate::transactions;
use crate::trust;
use crate::view::{Statement, StepView, View};
use crate::written;

mod bottleneck;
mod by_fingerprint;
mod capacity;
mod counted;
mod cpu_profile;
mod event_costs;
mod events;
mod experiment;
mod found;
mod inside;
mod steadiness;
mod study;
mod window;

pub(super) const FORMAT: Format = Format {
    name: "json",
    sentence: "for programs: the schema tenbin.run/1, or tenbin.study/1 of several runs",
    extension: "json",
    way: FormatWriter::Picked {
        runs: |views, out| match views {
            [view] => write(&RunObject::of(view), out),
            _ => write(&StudyObject::of(views), out),
        },
        study: Some(|study, out| write(&study::FullStudyObject::of(study), out)),
        compared: Some(|compared, out| write(&compared.object(), out)),
    },
};

/// Writes one object.
fn write(object: &impl Serialize, out: &mut dyn io::Write) -> Result<(), ReportError> {
    let text = serde_json::to_string_pretty(object).map_err(io::Error::from)?;
    Ok(writeln!(out, "{}", escaped(&text))?)
}

/// Escapes invisible characters, so that a terminal can show the JSON. They can only occur inside strings.
fn escaped(json: &str) -> String {
    let mut escaped = String::with_capacity(json.len());
    for character in json.chars() {
        if character != '\n' && is_unseen(character) {
            for unit in character.encode_utf16(&mut [0; 2]) {
                // Writing to a `String` cannot fail.
                let _ = write!(escaped, "\\u{unit:04x}");
            }
        } else {
            escaped.push(character);
        }
    }
    escaped
}

#[derive(Serialize)]
struct StudyObject<'a> {
    schema: &'static str,
    runs: Vec<RunObject<'a>>,
    comparison: Option<()>,
    bottlenecks: [(); 0],
}

impl<'a> StudyObject<'a> {
    /// Object of runs that were named one by one.
    fn of(views: &'a [View<'_>]) -> Self {
        let runs = views.iter().map(RunObject::of).collect();
        Self { schema: "tenbin.study/1", runs, comparison: None, bottlenecks: [] }
    }
}

#[derive(Serialize)]
struct RunObject<'a> {
    schema: &'static str,
    run: RunFacts<'a>,
    verdict: &'static str,
    validity: ValidityObject<'a>,
    #[serde(flatten)]
    figures: FiguresObject,
    steps: Vec<StepObject<'a>>,
    errors: Vec<ErrorObject<'a>>,
    generator: GeneratorObject,
    system: Option<SystemObject>,
    // Keys from here on were added after the first version of the contract.
    title: &'a str,
    load: String,
    model: &'static str,
    variant: Option<&'a str>,
    study: Option<&'a str>,
    #[serde(flatten)]
    details: Details,
    planned_left: Option<u64>,
    #[serde(skip_serializing_if = "is_zero")]
    retried: u64,
    /// Warm-up figures. `None` for load tools, because they do not report them.
    warm_up: Option<WarmUp>,
    spread: Option<SpreadObject>,
    tls: Option<&'a str>,
    #[serde(skip_serializing_if = "is_zero")]
    resumed_handshakes: u64,
    dns_us: Option<f64>,
    stamps: &'a [String],
    notes: &'a [String],
    place: Option<PlaceObject<'a>>,
    block: Option<u32>,
    generator_cores_used: Option<f64>,
    cores: Vec<CoreObject<'a>>,
    failure: Option<FailureObject<'a>>,
    gates: Vec<GateObject<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    own_figures: Vec<OwnFigureObject>,
    not_available: Vec<NotAvailable<'a>>,
    bottleneck: Option<bottleneck::BottleneckObject>,
    #[serde(flatten)]
    counted: Counted,
    throughput_without_connect_per_s: Option<f64>,
    steadiness: Option<steadiness::SteadinessObject<'a>>,
    outage: Option<window::OutageObject>,
    #[serde(skip_serializing_if = "Option::is_none")]
    connections_by_process: Option<processes::ConnectionsObject>,
    #[serde(skip_serializing_if = "Option::is_none")]
    steady_start: Option<&'a evidence::SteadyStart>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pools: Vec<pools::PoolObject>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    shards: Vec<shards::BalanceObject>,
    #[serde(skip_serializing_if = "Option::is_none")]
    written: Option<written::WrittenObject>,
    events: Vec<events::EventObject<'a>>,
    /// Stored baseline of a run outside a study.
    baseline: Option<serde_json::Value>,
    /// Readings from inside the database under load.
    database: Option<inside::InsideObject<'a>>,
    /// Physical cost by name, per request or as a size in bytes, over the whole load. `None` if nothing is known.
    cost: Option<std::collections::BTreeMap<String, f64>>,
    /// CPU profile of the system. `None` if the run was not profiled.
    profile: Option<cpu_profile::ProfileObject>,
    /// Ending of a command that made only this run. `None` while the run is in progress.
    ending: Option<&'static str>,
}

#[derive(Serialize)]
struct PlaceObject<'a> {
    block: u32,
    position: u32,
    system: &'a str,
    variant: &'a str,
    knobs: BTreeMap<&'a str, &'a str>,
    load: &'a str,
    stage: &'a str,
    users: Option<u32>,
    rate_per_s: Option<f64>,
    /// Intervention of an experiment. `None` for other runs.
    intervention: Option<&'a str>,
}

#[derive(Serialize)]
struct CoreObject<'a> {
    name: &'a str,
    busy: f64,
}

#[derive(Serialize)]
struct FailureObject<'a> {
    stage: &'a str,
    process: Option<&'a str>,
    what: &'a str,
    way_out: &'a str,
}

#[derive(Serialize)]
struct GateObject<'a> {
    text: &'a str,
    step: Option<&'a str>,
    observed: Option<f64>,
    /// Bounds of the figure. Both are null if unknown; `high` alone is null if nothing limits the figure.
    low: Option<f64>,
    high: Option<f64>,
    limit: f64,
    unit: &'a str,
    holds: bool,
    decision: &'static str,
    /// Number of requests that would likely decide the gate.
    samples_needed: Option<u64>,
}

#[derive(Serialize)]
struct NotAvailable<'a> {
    probe: &'a str,
    because: &'a str,
}

#[derive(Serialize)]
struct RunFacts<'a> {
    id: &'a str,
    started_at: String,
    duration_s: Option<f64>,
    warm_up_s: f64,
    plan_hash: &'a str,
    tenbin_version: &'a str,
    host: &'a Value,
}

#[derive(Serialize)]
struct ValidityObject<'a> {
    verdict: &'static str,
    causes: &'a [Cause],
    // Level of validity of each figure.
    figures: BTreeMap<&'static str, &'static str>,
    // Observations with a negligible effect on the figures.
    notes: &'a [Cause],
    // Intervals that contain the true figures, excluding sampling error. `null` if the effect of the generator is unknown.
    bounds: Option<BTreeMap<String, BoundsObject>>,
}

#[derive(Serialize)]
struct BoundsObject {
    low: f64,
    /// `null` if nothing limits the figure from above.
    high: Option<f64>,
}

impl<'a> ValidityObject<'a> {
    fn of(view: &'a View<'_>) -> Self {
        let validity = &view.validity;
        let bound = |(name, bounds): (String, Bounds)| {
            (
                name,
                BoundsObject { low: thousandths(bounds.low()), high: bounds.finite_high().map(thousandths) },
            )
        };
        let level = |figure: Distorted| (figure.name(), validity.of(figure).name());
        Self {
            verdict: validity.verdict.name(),
            causes: &validity.causes,
            figures: Distorted::ALL.into_iter().map(level).collect(),
            notes: &validity.notes,
            bounds: trust::bounds(view).map(|all| all.into_iter().map(bound).collect()),
        }
    }
}

#[derive(Serialize)]
struct StepObject<'a> {
    name: &'a str,
    #[serde(flatten)]
    figures: FiguresObject,
    errors: Vec<ErrorObject<'a>>,
    #[serde(flatten)]
    details: Details,
    #[serde(flatten)]
    counted: Counted,
    statements: Vec<StatementObject<'a>>,
}

#[derive(Serialize)]
struct StatementObject<'a> {
    name: &'a str,
    #[serde(flatten)]
    figures: FiguresObject,
    errors: Vec<ErrorObject<'a>>,
    #[serde(flatten)]
    details: Details,
    share_of_time: Option<f64>,
}

/// Figures in the first version of the contract.
#[derive(Serialize)]
struct FiguresObject {
    offered: Offered,
    outcomes: Outcomes,
    throughput_per_s: Option<f64>,
    received_bytes: Option<u64>,
    sent_bytes: Option<u64>,
    response_time_us: KeyedFigures,
    service_time_us: KeyedFigures,
    lateness_us: KeyedFigures,
}

/// Figures that were added later.
#[derive(Serialize)]
struct Details {
    jmeter_throughput_per_s: Option<f64>,
    window: Option<window::WindowObject>,
    connections: Option<u64>,
    statuses: BTreeMap<u16, u64>,
    first_byte_us: KeyedFigures,
    connect_time_us: KeyedFigures,
    tls_time_us: KeyedFigures,
    response_time_ok_us: KeyedFigures,
    response_time_rejected_us: KeyedFigures,
    service_time_ok_us: KeyedFigures,
    service_time_rejected_us: KeyedFigures,
    lateness_ok_us: KeyedFigures,
    lateness_rejected_us: KeyedFigures,
    /// Deprecated copy of `response_time_rejected_us`, kept through 0.x. The next two keys are deprecated as well.
    response_time_refused_us: KeyedFigures,
    service_time_refused_us: KeyedFigures,
    lateness_refused_us: KeyedFigures,
}

#[derive(Serialize)]
struct Offered {
    planned: u64,
    sent: u64,
    /// `None` if the load tool does not report it. `unfinished` is `None` in this case, too.
    not_sent: Option<u64>,
}

#[derive(Serialize)]
struct Outcomes {
    ok: u64,
    /// Deprecated copy of `rejected`, kept through 0.x in its old place.
    refused: u64,
    failed: u64,
    timed_out: u64,
    unfinished: Option<u64>,
    rejected: u64,
}

#[derive(Serialize)]
struct WarmUp {
    offered: Offered,
    outcomes: Outcomes,
    connections: Option<u64>,
}

#[derive(Serialize)]
struct ErrorObject<'a> {
    class: &'a str,
    message: &'a str,
    count: u64,
    // Properties of the error class. `None` if the class is not in the list.
    outcome: Option<&'static str>,
    blame: Option<&'static str>,
    explanation: Option<&'static str>,
    help: Option<&'static str>,
}

/// Resource usage of the load generator. All values are null for a run without an ending.
#[derive(Default, Serialize)]
struct GeneratorObject {
    cpu_user_s: Option<f64>,
    cpu_sys_s: Option<f64>,
    rss_peak_bytes: Option<u64>,
    threads: Option<u32>,
    wake_lag_p99_us: Option<f64>,
    thread_cpu_share_max: Option<f64>,
    cpu_us_per_request: Option<f64>,
    wake_lag_max_us: Option<f64>,
    run_queue_wait_share: Option<f64>,
    heartbeat_max_us: Option<f64>,
    busiest_10s_share: Option<f64>,
    involuntary_per_s: Option<f64>,
    steal_share: Option<f64>,
    throttled_s: Option<f64>,
    client_share_of_tail: Option<f64>,
    mean_in_flight: Option<f64>,
    little_ratio: Option<f64>,
    ceiling_per_s: Option<f64>,
    read_delay_mean_us: Option<f64>,
    read_delay_p99_us: Option<f64>,
    /// Tool that generated the load. `None` if it was Tenbin's engine.
    tool: Option<ToolObject>,
}

/// External load generator. `None` if it was Tenbin's engine.
#[derive(Serialize)]
struct ToolObject {
    name: String,
    version: Option<String>,
    command: Vec<String>,
    times: String,
    resolution_us: f64,
}

#[derive(Serialize)]
struct SystemObject {
    name: Value,
    variant: Value,
    cpu_s: Value,
    rss_peak_bytes: Value,
    #[serde(flatten)]
    more: Map<String, Value>,
}

#[derive(Serialize)]
struct SpreadObject {
    connections: u64,
    requests: Three,
    response_mean_us: Option<Three>,
    response_max_us: Option<Three>,
}

#[derive(Serialize)]
struct Three {
    min: f64,
    median: f64,
    max: f64,
}

impl<'a> RunObject<'a> {
    fn of(view: &'a View<'_>) -> Self {
        let (run, new, ending) = (view.run, &view.run.new, view.run.ending.as_ref());
        let place = new.place.as_ref();
        Self {
            schema: "tenbin.run/1",
            run: RunFacts {
                id: run.id.as_str(),
                started_at: view.started_at().to_string(),
                duration_s: view.duration_s().map(thousandths),
                warm_up_s: thousandths(new.warm_up_ns as f64 / 1e9),
                plan_hash: &new.plan_hash,
                tenbin_version: &new.tenbin_version,
                host: &new.host,
            },
            verdict: view.verdict.name(),
            validity: ValidityObject::of(view),
            figures: FiguresObject::of(&view.whole),
            steps: view.steps.iter().map(StepObject::of).collect(),
            errors: errors(&view.whole.errors),
            generator: ending.map(|ending| GeneratorObject::of(&ending.generator, view)).unwrap_or_default(),
            system: system::object(view).map(SystemObject::of),
            title: &new.title,
            load: new.load_in_words(),
            model: new.model.name(),
            variant: place.map(|(_, place)| place.variant.as_str()),
            study: place.map(|(study, _)| study.as_str()),
            details: Details::of(&view.whole),
            planned_left: ending.map(|ending| ending.planned_left),
            retried: view.whole.retried(),
            warm_up: (!view.whole.is_of_tool).then(|| WarmUp {
                offered: Offered::of(&view.warm_up),
                outcomes: Outcomes::of(&view.warm_up),
                connections: view.warm_up.connections,
            }),
            spread: ending.and_then(|ending| ending.spread.as_ref()).map(SpreadObject::of),
            tls: ending.and_then(|ending| ending.tls.as_deref()),
            resumed_handshakes: ending.map_or(0, |ending| ending.resumed_handshakes),
            dns_us: ending.and_then(|ending| ending.resolved_ns).map(|ns| microseconds(ns as f64)),
            stamps: &new.stamps,
            notes: &view.notes,
            place: view.place().map(PlaceObject::of),
            block: view.place().map(|place| place.block),
            generator_cores_used: view.generator_cores_used().map(thousandths),
            cores: cores(view),
            failure: ending.and_then(|ending| ending.failure.as_ref()).map(FailureObject::of),
            gates: run.gates().iter().map(GateObject::of).collect(),
            own_figures: own_figures::objects(run),
            not_available: ending.map(not_available).unwrap_or_default(),
            bottleneck: bottleneck::of_run(view),
            counted: Counted::of(&view.whole),
            throughput_without_connect_per_s: transactions::per_s_without_connect(view).map(thousandths),
            steadiness: crate::steadiness::of(view).map(steadiness::SteadinessObject::of),
            outage: crate::outage::of(view).map(window::OutageObject::of),
            connections_by_process: ending
                .and_then(|ending| ending.connections_by_process.as_ref())
                .map(processes::ConnectionsObject::of),
            steady_start: ending.and_then(|ending| ending.steady_start.as_ref()),
            pools: pools::objects(view),
            shards: shards::objects(view),
            written: written::object(view),
            events: events::of_run(view),
            baseline: crate::baseline::object_of_run(view),
            database: inside::of_run(view),
            cost: crate::physical_cost::object(view),
            profile: cpu_profile::of_run(view),
            ending: ending.map(|ending| endings::of_run(ending, run.gates()).row().name),
        }
    }
}

impl<'a> StepObject<'a> {
    fn of(step: &'a StepView<'_>) -> Self {
        let figures = &step.figures;
        let whole_ns = transactions::whole_ns(figures, step.statements.iter().map(|of| &of.figures));
        let statement = |statement: &'a Statement<'_>| StatementObject {
            name: statement.name,
            figures: FiguresObject::of(&statement.figures),
            errors: errors(&statement.figures.errors),
            details: Details::of(&statement.figures),
            share_of_time: transactions::share_of_time(&statement.figures, whole_ns).map(counted::share),
        };
        Self {
            name: step.name,
            figures: FiguresObject::of(figures),
            errors: errors(&figures.errors),
            details: Details::of(figures),
            counted: Counted::of(figures),
            statements: step.statements.iter().map(statement).collect(),
        }
    }
}

impl<'a> PlaceObject<'a> {
    fn of(place: &'a StudyPlace) -> Self {
        let StudyPlace { system, variant, knobs, load, stage, intervention, .. } = place;
        let knobs = knobs.iter().map(|(knob, value)| (knob.as_str(), value.as_str())).collect();
        Self {
            block: place.block,
            position: place.position,
            system,
            variant,
            knobs,
            load,
            stage,
            users: place.users,
            rate_per_s: place.rate_per_s,
            intervention: intervention.as_ref().map(Intervention::name),
        }
    }
}

impl<'a> FailureObject<'a> {
    fn of(failure: &'a Failure) -> Self {
        let Failure { stage, process, what, way_out } = failure;
        Self { stage, process: process.as_deref(), what, way_out }
    }
}

impl<'a> GateObject<'a> {
    fn of(gate: &'a GateResult) -> Self {
        let GateResult { text, step, observed, bounds, limit, unit, decision, samples_needed } = gate;
        Self {
            text,
            step: step.as_deref(),
            observed: *observed,
            low: bounds.map(Bounds::low),
            high: bounds.and_then(Bounds::finite_high),
            limit: *limit,
            unit,
            holds: gate.holds(),
            decision: decision.name(),
            samples_needed: *samples_needed,
        }
    }
}

impl FiguresObject {
    fn of(figures: &Figures) -> Self {
        Self {
            offered: Offered::of(figures),
            outcomes: Outcomes::of(figures),
            throughput_per_s: figures.answers_per_s().map(thousandths),
            received_bytes: figures.received_bytes,
            sent_bytes: figures.sent_bytes,
            response_time_us: times(&figures.response.all),
            service_time_us: times(&figures.service.all),
            lateness_us: times(&figures.lateness.all),
        }
    }
}

impl Details {
    fn of(figures: &Figures) -> Self {
        Self {
            jmeter_throughput_per_s: figures.jmeter_throughput_per_s().map(thousandths),
            window: figures.window.as_ref().map(window::WindowObject::of),
            connections: figures.connections,
            statuses: figures.statuses.clone(),
            first_byte_us: times(&figures.first_byte),
            connect_time_us: times(&figures.connect),
            tls_time_us: times(&figures.tls),
            response_time_ok_us: times(&figures.response.ok),
            response_time_rejected_us: times(&figures.response.rejected),
            service_time_ok_us: times(&figures.service.ok),
            service_time_rejected_us: times(&figures.service.rejected),
            lateness_ok_us: times(&figures.lateness.ok),
            lateness_rejected_us: times(&figures.lateness.rejected),
            response_time_refused_us: times(&figures.response.rejected),
            service_time_refused_us: times(&figures.service.rejected),
            lateness_refused_us: times(&figures.lateness.rejected),
        }
    }
}

impl Offered {
    fn of(figures: &Figures) -> Self {
        let Counts { planned, sent, not_sent, .. } = figures.counts;
        Self { planned, sent, not_sent: (!figures.is_of_tool).then_some(not_sent) }
    }
}

impl Outcomes {
    fn of(figures: &Figures) -> Self {
        let Counts { ok, rejected, failed, timed_out, unfinished, .. } = figures.counts;
        // Only some tools report unfinished requests, so a zero from a tool is omitted.
        let unfinished = (!figures.is_of_tool || unfinished > 0).then_some(unfinished);
        Self { ok, refused: rejected, failed, timed_out, unfinished, rejected }
    }
}

/// Durations in microseconds.
fn times(durations: &Durations) -> KeyedFigures {
    KeyedFigures::of(durations, microseconds)
}

impl GeneratorObject {
    fn of(generator: &Generator, view: &View<'_>) -> Self {
        Self {
            cpu_user_s: Some(generator.cpu_user_s),
            cpu_sys_s: Some(generator.cpu_sys_s),
            rss_peak_bytes: Some(generator.rss_peak_bytes),
            threads: generator.tool.is_none().then_some(generator.threads),
            wake_lag_p99_us: generator.wake_lag_p99_us,
            thread_cpu_share_max: generator.thread_cpu_share_max,
            cpu_us_per_request: view.generator_us_per_request().map(thousandths),
            wake_lag_max_us: generator.wake_lag_max_us,
            run_queue_wait_share: generator.run_queue_wait_share,
            heartbeat_max_us: generator.heartbeat_max_us,
            busiest_10s_share: generator.busiest_10s_share,
            involuntary_per_s: generator.involuntary_per_s,
            steal_share: generator.steal_share,
            throttled_s: generator.throttled_s,
            client_share_of_tail: generator.client_share_of_tail,
            mean_in_flight: generator.mean_in_flight,
            little_ratio: generator.little_ratio,
            ceiling_per_s: generator.ceiling_per_s,
            read_delay_mean_us: generator.read_delay_mean_us.map(thousandths),
            read_delay_p99_us: generator.read_delay_p99_us,
            tool: generator.tool.as_ref().map(|tool| ToolObject {
                name: tool.name.clone(),
                version: tool.version.clone(),
                command: tool.command.clone(),
                times: tool.times.clone(),
                resolution_us: microseconds(tool.resolution_ns as f64),
            }),
        }
    }
}

impl SystemObject {
    fn of(mut system: Map<String, Value>) -> Self {
        let mut take = |key| system.remove(key).unwrap_or_default();
        let (name, variant) = (take("name"), take("variant"));
        let (cpu_s, rss_peak_bytes) = (take("cpu_s"), take("rss_peak_bytes"));
        Self { name, variant, cpu_s, rss_peak_bytes, more: system }
    }
}

impl SpreadObject {
    fn of(spread: &record::Spread) -> Self {
        let three = |figures: MinMedianMax, scale: fn(f64) -> f64| Three {
            min: scale(figures.min),
            median: scale(figures.median),
            max: scale(figures.max),
        };
        Self {
            connections: spread.connections,
            requests: three(spread.requests, thousandths),
            response_mean_us: spread.response_mean_ns.map(|figures| three(figures, microseconds)),
            response_max_us: spread.response_max_ns.map(|figures| three(figures, microseconds)),
        }
    }
}

fn errors(lines: &[ErrorLine]) -> Vec<ErrorObject<'_>> {
    fn object(line: &ErrorLine) -> ErrorObject<'_> {
        let ErrorLine { class, message, count } = line;
        let known = class.known();
        ErrorObject {
            class: class.as_str(),
            message,
            count: *count,
            outcome: known.and_then(record::ErrorClass::outcome).map(record::Outcome::name),
            blame: known.map(|class| class.blame().name()),
            explanation: known.map(record::ErrorClass::words),
            help: known.map(record::ErrorClass::help),
        }
    }
    lines.iter().map(object).collect()
}

fn cores<'a>(view: &'a View<'_>) -> Vec<CoreObject<'a>> {
    let cores = view.measured.resources.iter().flat_map(|resources| &resources.cores);
    cores.map(|core| CoreObject { name: &core.name, busy: thousandths(core.busy) }).collect()
}

fn not_available(ending: &Ending) -> Vec<NotAvailable<'_>> {
    ending.not_available.iter().map(|(probe, because)| NotAvailable { probe, because }).collect()
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it so")]
fn is_zero(count: &u64) -> bool {
    *count == 0
}

fn microseconds(ns: f64) -> f64 {
    ns.round() / 1e3
}

fn thousandths(value: f64) -> f64 {
    (value * 1e3).round() / 1e3
}
