//! Rules for the generator's cores: its own use of them, and its waits for them.

use evidence::{Distorted, Distortion, Level};

use super::distortion::{OwnDelay, cap_levels};
use super::environment::Process;
use super::evidence::Evidence;
use super::words::{Finding, found, own_core, percent};
use crate::causes::{Doubt, MEASURED_ITSELF, NO_CORE};
use crate::words;

/// Share of a core above which a thread may limit the result.
pub(super) const CPU_SUSPECT: f64 = 0.9;
/// Consequence of a thread above `CPU_SUSPECT`, in words.
pub(super) const MAY_LIMIT: &str = "the generator, not the target, may be the bottleneck";
/// Share of time for which a thread may wait for a core before the run is suspect.
const WAIT_SUSPECT: f64 = 0.05;
/// Min CPU use of other processes, as a share of the waiting time, at which they caused the wait.
const OTHERS_OF_WAIT: f64 = 0.5;
/// Min share of a core at which a process is named as the cause.
const OTHERS_MIN: f64 = 0.3;

impl Doubt {
    /// A worker was runnable without a core.
    pub const GENERATOR_WAITED: Self = Self {
        code: "generator_waited",
        words: NO_CORE,
        suspect: "5 % of the time, and a figure is touched",
        invalid: "never",
        looks_at: "a worker was ready to run and had no core",
        distorts: &Distorted::ALL,
        is_limit: false,
        is_lateness: true,
    };

    /// A thread of the generator was busy nearly all the time.
    pub const GENERATOR_CPU: Self = Self {
        code: "generator_cpu",
        words: MEASURED_ITSELF,
        suspect: "a thread above 90 % of a core",
        invalid: "never",
        looks_at: "over any ten seconds, or over a shorter load",
        distorts: &Distorted::ALL,
        is_limit: true,
        is_lateness: false,
    };
}

/// Reports the busiest thread, over any ten seconds or over a shorter load.
pub(super) fn generator_cpu(evidence: &Evidence<'_>) -> Option<Finding> {
    let share =
        evidence.busiest_10s_share.or(evidence.busiest_share()).filter(|share| *share > CPU_SUSPECT)?;
    let over = if evidence.busiest_10s_share.is_some() { " over ten seconds" } else { "" };
    let sentence = format!(
        "the generator's busiest thread used {} of a core{over}: {MAY_LIMIT}",
        words::percent(share, 0)
    );
    let remedy = "read the throughput as a lower bound; use more --threads on free cores, or another machine";
    Some(found(Level::Suspect, sentence, remedy).distorting(limit_distortions(evidence)))
}

/// Returns the distortions by a generator at its limit. The throughput of a faster one is unknown.
pub(super) fn limit_distortions(evidence: &Evidence<'_>) -> Vec<Distortion> {
    let own = OwnDelay::of(evidence).map(|own| own.of_times(evidence));
    let times = own.unwrap_or([Distorted::Mean, Distorted::Tail].map(unknown));
    let all = [unknown(Distorted::Throughput)].into_iter().chain(times);
    cap_levels(all.collect(), Level::Suspect)
}

/// Reports threads that were runnable without a core. Waits caused by the system under load are normal on one machine;
/// waits caused by other processes are a disturbance. The effect on figures follows from delays of sends and reads;
/// without such delays, the finding is a note.
pub(super) fn waited_for_a_core(evidence: &Evidence<'_>) -> Option<Finding> {
    let share =
        evidence.run_queue_wait_share().filter(|share| evidence.is_long() && *share > WAIT_SUSPECT)?;
    let over_s = evidence.environment.over_s.max(evidence.wall_ns() as f64 / 1e9);
    let others = evidence.environment.others.first().filter(|used| used.cpu_s >= OTHERS_MIN * over_s);
    let others_s: f64 = evidence.environment.others.iter().map(|used| used.cpu_s).sum();
    let is_theirs = others.is_some() && others_s >= OTHERS_OF_WAIT * share * over_s;
    let switched = evidence.involuntary_per_s().filter(|per_s| *per_s >= 50.0);
    let switched = switched
        .map_or_else(String::new, |per_s| format!(", with {per_s:.0} involuntary context switches/s"));
    let who = match others.filter(|_| is_theirs) {
        Some(Process { pid, name, cpu_s }) => {
            format!("; process {pid} ({name}) used {} cores meanwhile", words::decimal(cpu_s / over_s, 2))
        }
        None => String::new(),
    };
    let sentence =
        format!("a generator thread waited for a core for {} of the time{switched}{who}", percent(share));
    let own_core = own_core(evidence.planned);
    let remedy = if is_theirs {
        format!("let nothing else run during a measurement; or {own_core}")
    } else {
        own_core.to_owned()
    };
    let distorts = cap_levels(waiting_distortions(evidence), Level::Suspect);
    Some(found(Level::Suspect, sentence, remedy).distorting(distorts))
}

/// Returns the possible distortions by waiting for a core. The share of throughput that a closed load can lose is at
/// most the share of time for which its threads waited.
fn waiting_distortions(evidence: &Evidence<'_>) -> Vec<Distortion> {
    let waited = evidence.mean_run_queue_wait_share().unwrap_or(1.0).min(1.0);
    let Some(own) = OwnDelay::of(evidence) else {
        let throughput = Distortion { by_share: Some(-waited), ..unknown(Distorted::Throughput) };
        return [throughput, unknown(Distorted::Mean), unknown(Distorted::Tail)].to_vec();
    };
    own.distortions(evidence, waited)
}

fn unknown(figure: Distorted) -> Distortion {
    Distortion::with_unknown_size(figure, Level::Suspect)
}
