//! Finds the likely bottleneck of a system: a ranked list of causes, each with its readings for and against. A cause is only
//! suspected, because nothing was changed to confirm it; [`crate::diagnosis`] does that.
//!
//! Each resource has a file with its rules, and `RULES` lists the rules. `cause.rs` ranks the causes that they report.

use std::collections::BTreeMap;

use ::evidence::{Distorted, EvidenceError, Run, Study};

use crate::causes::Resource;
use crate::counting::{self, Counted};
use crate::eligibility::{Eligibility, eligibility_by};
use crate::endpoint_pool::EndpointPool;
use crate::measured::Measured;
use crate::rung::Rung;
use crate::setting::Setting;
use crate::signals::Signals;
use crate::words::many;

mod bandwidth;
mod busy_connections;
mod cause;
mod connections;
mod cpu;
mod database;
mod delayed_ack;
mod dependencies;
mod disks;
mod errors;
mod event_loop;
mod evidence;
mod generator;
mod held_lock;
mod host;
mod in_process;
mod jvm;
mod key_value_store;
mod listen_queue;
mod little;
mod load;
mod maintenance;
mod memory;
mod messages;
mod not_running;
mod one_core;
mod open_files;
mod pauses;
mod pool;
mod pressure;
mod quota;
mod refusals;
mod retries;
mod statements;
mod stopped;
mod threads;
mod unknown;
mod unserved;
mod words;

#[cfg(test)]
mod planted;
#[cfg(test)]
mod tests;

pub(crate) use cause::suspected;
pub use cause::{Bottleneck, Certainty, Reading, Refutation, Scope};
pub use evidence::{CombinedFigures, Evidence, RunEvidence};
pub use messages::messages_alone;
use words::percent;

/// A rule: the resources that it reports, its row of `docs/why.md`, and its function.
pub struct Rule {
    /// Resources that it may report.
    pub finds: &'static [Resource],
    /// Condition under which it reports; `{limits}` stands for the causes of doubt that make the generator the limit.
    pub when: &'static str,
    /// Reason for the threshold.
    pub why: &'static str,
    /// Refutations: readings that always prevent the rule from reporting.
    pub refuted_by: &'static [Refutation],
    /// Rung of evidence of its causes.
    pub rung: Rung,
    /// Period that its readings must cover.
    covers: Coverage,
    find: fn(&Evidence<'_>) -> Option<Bottleneck>,
}

impl Rule {
    /// Returns the cause that the rule reports; `None` if there is none, or if a reading refutes it.
    fn cause(&self, evidence: &Evidence<'_>) -> Option<Bottleneck> {
        let is_refuted = self.refuted_by.iter().any(|refutation| (refutation.is_read)(evidence));
        if is_refuted { None } else { Some((self.find)(evidence)?.on(self.rung)) }
    }
}

/// Period that the readings of a rule must cover.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Coverage {
    /// A whole run, because some readings are not available per second.
    Runs,
    /// Seconds of an event. Another rule covers whole runs.
    Seconds,
    /// A whole run, or seconds of one.
    Any,
}

/// All rules. Among causes of equal rank, the cause of the earlier rule comes first. A rule whose rung is arithmetic names no resource
/// of the system.
pub const RULES: &[Rule] = &[
    generator::GENERATOR_LIMITED,
    load::OPEN_LOAD_SERVED,
    messages::SERVER_MESSAGES,
    connections::CONNECTION_LIMIT,
    refusals::REFUSALS,
    refusals::HELD_BACK,
    refusals::SLEEP_THAT_ADAPTS,
    busy_connections::CONNECTIONS_OF_THE_LOAD,
    busy_connections::SHARED_CONNECTIONS,
    busy_connections::POOL_OF_AN_ENDPOINT,
    errors::ERRORS,
    retries::RETRIES,
    load::PAUSES_OF_USERS,
    load::SINGLE_USER,
    load::ON_THE_WAY,
    quota::CPU_QUOTA,
    quota::NEAR_CPU_QUOTA,
    one_core::ONE_CORE_ALLOWED,
    stopped::PROCESSES,
    not_running::PROCESSES,
    not_running::NO_LISTENER,
    pauses::PAUSES,
    pauses::COLLECTIONS,
    cpu::LOW_PRIORITY,
    cpu::ALL_CORES,
    key_value_store::SLOW_COMMAND,
    key_value_store::BLOCKED_CLIENTS,
    one_core::ONE_THREAD,
    key_value_store::COMMAND_THREAD,
    key_value_store::EVICTIONS,
    key_value_store::LOG_SYNCS,
    key_value_store::SNAPSHOT_FORKS,
    memory::LIMIT_OF_MEMORY,
    statements::WITHOUT_INDEX,
    database::WAITS_INSIDE,
    database::BUFFERS_TOO_SMALL,
    maintenance::MAINTENANCE,
    open_files::OPEN_FILES,
    disks::LIMIT_OF_DISKS,
    jvm::JVM_COLLECTIONS,
    held_lock::HELD_LOCK,
    jvm::MONITORS,
    event_loop::BLOCKED,
    dependencies::ROUND_TRIPS,
    dependencies::CONNECTION_PER_REQUEST,
    dependencies::SLOW_SERVER,
    dependencies::BUFFERS,
    threads::DISKS_OF_THREADS,
    threads::FULL_LOG_PIPE,
    threads::SLOW_DEPENDENCY,
    threads::EVENT_LOOP_DEPENDENCY,
    threads::PIPED_DEPENDENCY,
    threads::PROCESS_PER_REQUEST,
    threads::PROCESS_LOCK,
    delayed_ack::DELAYED_ACKS,
    bandwidth::BANDWIDTH,
    pool::POOL,
    one_core::ONE_CORE,
    host::STOLEN_CORES,
    memory::MEMORY,
    disks::DISKS,
    one_core::ONE_CORE_IN_TURNS,
    one_core::ONE_THREAD_AT_A_TIME,
    cpu::WAITS_FOR_A_CORE,
    load::USERS_INDEPENDENT,
    in_process::CALLS_IN_PROCESS,
    listen_queue::ACCEPT_QUEUE,
    unserved::USERS_UNSERVED,
];

impl Resource {
    /// Returns the resource with the given code; `None` if this version does not know it.
    pub fn named(code: &str) -> Option<Self> {
        let all = RULES.iter().flat_map(|rule| rule.finds).chain([
            &Self::UNKNOWN,
            &Self::PARAMETER,
            &Self::IO_LIMIT,
        ]);
        all.copied().find(|known| known.code == code)
    }

    /// No known resource.
    pub const UNKNOWN: Self = Self::new("unknown", "not known");

    /// Row of `docs/why.md` for an unknown bottleneck: when it is reported, and why.
    pub const WHEN_UNKNOWN: [&str; 2] = [
        "nothing above matched",
        "an honest answer, with the three highest readings. One run of a closed load without think time cannot show whether more users \
         would get more",
    ];
}

/// Min share of time at which a core, a thread, or a disk counts as saturated. The rest passes between two requests.
pub const SATURATED_MIN_SHARE: f64 = 0.9;
/// Max share of time at which cores count as not saturated.
const UNSATURATED_MAX_SHARE: f64 = 0.75;
/// Min share of a limit on files or connections at which the limit counts as reached.
const LIMIT_REACHED_MIN_SHARE: f64 = 0.95;
/// Min share of ended requests at which errors are reported.
const REPORTED_ERRORS_MIN_SHARE: f64 = 0.01;

/// Returns all causes that rules report and no reading refutes, most likely first; only `unknown` if there is none. If
/// no request ended ok, returns only the most frequent error, because other readings explain nothing then; empty if
/// there is none.
pub fn causes(evidence: &Evidence<'_>) -> Vec<Bottleneck> {
    if evidence.together.counts.ok == 0 {
        return errors::nothing_served(evidence).into_iter().collect();
    }
    let mut ranked = found(evidence, Coverage::Runs);
    ranked.iter_mut().take(1).for_each(|first| {
        add_error_share(first, evidence);
        first.because.extend(pauses::stopped_by_events(evidence).map(|words| format!("; {words}")));
        // Activity of other processes is no cause by itself, but it casts doubt on one.
        let is_theirs = [Resource::UNKNOWN, Resource::MACHINE_CPU, Resource::STEAL].contains(&first.resource);
        first.against.extend(unknown::disturbance(evidence).filter(|_| !is_theirs));
    });
    ranked
}

/// Like [`causes`], for some seconds of a run, even if no request ended ok in them, and without remarks on the whole
/// run.
pub(crate) fn causes_of_seconds(evidence: &Evidence<'_>) -> Vec<Bottleneck> {
    let mut ranked = found(evidence, Coverage::Seconds);
    let unknown = ranked.iter_mut().filter(|cause| cause.certainty == Certainty::Unknown);
    unknown.for_each(|cause| cause.next.clear());
    ranked
}

/// Returns the causes that the rules for `covers` report and no reading refutes, most likely first; only `unknown` if
/// there is none.
fn found(evidence: &Evidence<'_>, covers: Coverage) -> Vec<Bottleneck> {
    let rules = RULES.iter().filter(|rule| [covers, Coverage::Any].contains(&rule.covers));
    let found = rules.filter_map(|rule| rule.cause(evidence));
    let mut ranked = cause::ranked(found.collect());
    if ranked.is_empty() {
        ranked.push(unknown::unknown(evidence));
    }
    ranked.iter_mut().filter(|cause| cause.resource.is_of_the_machine).for_each(|cause| {
        cause.because.push_str(unsampled_remark(evidence));
    });
    ranked
}

/// Returns the most likely cause; `None` if no request ended.
pub fn bottleneck(evidence: &Evidence<'_>) -> Option<Bottleneck> {
    causes(evidence).into_iter().next()
}

/// Returns a remark for causes on the machine if the system itself was not sampled; otherwise an empty string.
fn unsampled_remark(evidence: &Evidence<'_>) -> &'static str {
    match (evidence.is_system_read() || evidence.is_in_process(), evidence.is_local()) {
        (true, _) => "",
        (false, true) => "; the system itself was not read",
        (false, false) => "; the system itself was not read, and may run elsewhere",
    }
}

/// Adds the share of failed requests to the first cause of any kind.
fn add_error_share(first: &mut Bottleneck, evidence: &Evidence<'_>) {
    let errors = evidence.together.error_share();
    if errors >= REPORTED_ERRORS_MIN_SHARE && !first.resource.tells_errors {
        let many = many(evidence.together.unit);
        first.because.push_str(&format!("; in addition, {} of the {many} did not end ok", percent(errors)));
    }
}

/// Bottleneck of a configuration under a load.
#[derive(Clone, Debug, PartialEq)]
pub struct SettingBottleneck {
    /// Name of the load.
    pub load: String,
    /// System and variant.
    pub setting: Setting,
    /// Likely bottleneck.
    pub bottleneck: Bottleneck,
}

/// Returns the bottlenecks of every configuration of a study from its runs so far, finished or not. Uses the eligible
/// runs; without any, the ineligible ones.
pub fn bottlenecks(study: &Study) -> Result<Vec<SettingBottleneck>, EvidenceError> {
    let by_position: BTreeMap<u32, &Run> =
        study.runs.iter().filter_map(|run| Some((run.new.place.as_ref()?.1.position, run))).collect();
    let mut found = Vec::new();
    for load in study.new.loads_of_places() {
        for Counted { places, others, .. } in counting::counted(study, load) {
            let Some(place) = places.first().or(others.first()) else { continue };
            let runs: Vec<&Run> =
                places.iter().filter_map(|place| by_position.get(&place.position).copied()).collect();
            let bottleneck = of_runs(&runs)?;
            let of_setting = |bottleneck| SettingBottleneck {
                load: load.to_owned(),
                setting: Setting::of(place),
                bottleneck,
            };
            found.extend(bottleneck.map(of_setting));
        }
    }
    Ok(found)
}

/// Returns the bottleneck of runs of one configuration under one load. Uses runs with trusted throughput; without any,
/// the other ones.
pub fn of_runs(runs: &[&Run]) -> Result<Option<Bottleneck>, EvidenceError> {
    Ok(causes_of_runs(runs)?.into_iter().next())
}

/// Returns all causes of runs, most likely first. Uses runs with trusted throughput, even if their tail is not trusted;
/// without any, the other runs.
pub fn causes_of_runs(runs: &[&Run]) -> Result<Vec<Bottleneck>, EvidenceError> {
    let valid = with_throughput(runs, Eligibility::Valid);
    let runs = if valid.is_empty() { with_throughput(runs, Eligibility::Invalid) } else { valid };
    causes_of_all(&runs, false)
}

/// Returns the causes of runs that failed the conditions of a search, and the number of these runs. Uses only runs with
/// trusted throughput. Empty if there is no such run, or if no request ended.
pub fn causes_of_failed(runs: &[&Run]) -> Result<(Vec<Bottleneck>, usize), EvidenceError> {
    let valid = with_throughput(runs, Eligibility::Valid);
    Ok((causes_of_all(&valid, true)?, valid.len()))
}

fn with_throughput<'a>(runs: &[&'a Run], wanted: Eligibility) -> Vec<&'a Run> {
    let is_wanted = |run: &&&Run| eligibility_by(run, Some(Distorted::Throughput)) == wanted;
    runs.iter().filter(is_wanted).copied().collect()
}

fn causes_of_all(runs: &[&Run], has_failed: bool) -> Result<Vec<Bottleneck>, EvidenceError> {
    let Some(together) = CombinedFigures::of(runs)? else { return Ok(Vec::new()) };
    let measured = runs.iter().map(|run| Measured::of(run)).collect::<Result<Vec<_>, _>>()?;
    let pools = runs.iter().map(|run| EndpointPool::of_run(run)).collect::<Result<Vec<_>, _>>()?;
    let signals: Vec<Option<Signals>> = runs.iter().map(|run| Signals::of(run)).collect();
    let evidence = |at: usize| RunEvidence {
        run: runs[at],
        measured: &measured[at],
        signals: signals[at].as_ref(),
        in_flight: None,
        pools: &pools[at],
    };
    Ok(causes(&Evidence { runs: (0..runs.len()).map(evidence).collect(), together, has_failed }))
}
